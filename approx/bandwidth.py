"""The width of the Gaussian kernel exp(-gamma |x - z|^2) in [Nonlinear]; [ScalingUp] has no rule.

[Nonlinear, Section 5.2] names a number b, "the average squared distance between the first 80k
instances and the mean", but does not say how it is used.
"""

from __future__ import annotations

import numpy as np

from ..exact.errors import InputError
from ..exact.spaces.kernels import Linear
from ..exact.spaces.rows import check_matrix
from ..exact.tools.arrays import check_choice, check_count

READINGS = ("d2/b", "d2/2b", "d2/2b2", "d2*b")


def gamma_mean_distance(X: object, reading: str = "d2/b", first: int = 80_000) -> float:
    """Return gamma from b, the mean squared distance from the mean. [Nonlinear, Section 5.2]

    b = 1/m sum_i |x_i - mean|^2 over the first m rows. On standardised columns b = d, so that
    "d2/b" is gamma = 1 / d.
    """
    check_choice("reading", reading, READINGS)
    matrix = check_matrix(X)[: check_count("first", first)]
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    if isinstance(matrix, np.ndarray):
        b = float(Linear().diagonal(matrix - mean).mean())
    else:
        b = float(Linear().diagonal(matrix).mean() - mean @ mean)
    if not (np.isfinite(b) and b > 0):
        raise InputError(
            f"the squared distances come to {b:g}: the rows are all (or nearly all) equal, "
            "or must be rescaled"
        )
    return {"d2/b": 1 / b, "d2/2b": 1 / (2 * b), "d2/2b2": 1 / (2 * b * b), "d2*b": b}[reading]
