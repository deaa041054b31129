"""Widths of the Gaussian kernel: the papers' rules, each a function from the rows to gamma.

`aucert` writes exp(-gamma |x - z|^2). [Nonlinear, Section 5.2] names a number b, "the average
squared distance between the first 80k instances and the mean", and not what is done with it.
[ScalingUp] names no rule; the package of its authors takes one over the number of features.
"""

from __future__ import annotations

import numpy as np

from ..exact.errors import InputError
from ..exact.spaces.kernels import Linear, squared_distances
from ..exact.spaces.rows import check_matrix
from ..exact.tools.checks import check_choice, check_count

READINGS = ("d2/b", "d2/2b", "d2/2b2", "d2*b")


def gamma_one_over_features(X: object) -> float:
    """Return gamma = 1 / d, the default of [ScalingUp]'s authors' package.

    On columns of variance one it is close to `gamma_mean_distance`.
    """
    return 1.0 / check_matrix(X).shape[1]


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
    _check_spread(b)
    return {"d2/b": 1 / b, "d2/2b": 1 / (2 * b), "d2/2b2": 1 / (2 * b * b), "d2*b": b}[reading]


def gamma_median_distance(
    X: object, n_rows: int = 1000, seed: int | np.random.Generator | None = None
) -> float:
    """Return gamma = 1 / (2 median^2) of the distances between rows, the usual "median rule".

    It is in none of the papers; it is here to compare with.
    """
    matrix = check_matrix(X)
    n, wanted = int(matrix.shape[0]), check_count("n_rows", n_rows, 2)
    if n < 2:
        raise InputError("one row has no distances: gamma needs two or more")
    if n > wanted:
        matrix = matrix[np.random.default_rng(seed).choice(n, wanted, replace=False)]
    distances = squared_distances(matrix, matrix)[np.triu_indices(matrix.shape[0], 1)]
    median = float(np.median(distances))
    _check_spread(median)
    return 1 / (2 * median)


def _check_spread(b: float) -> None:
    if not (np.isfinite(b) and b > 0):
        raise InputError(
            f"the squared distances come to {b:g}: the rows are all (or nearly all) equal, "
            "or must be rescaled"
        )
