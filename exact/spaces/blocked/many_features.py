"""Whether a kernel is better left as it is than factored into features."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from ..gram import Gram, StreamedGram
from ..gram_factor import RELATIVE_TOL

# Rows, and features a root of the rows, from which a kernel is better left as it is: a factor takes
# n r^2 operations, and r^2 numbers a Hessian are many beside n rows.
PLAIN_FROM, PLAIN_RANK = 1000, 10.0

NEARLY_ALL = 0.9  # Rows have full rank if their factor takes this share of them.


def takes_many_features(space: Gram | StreamedGram) -> bool:
    """Return whether so many features are needed that the kernel is better left as it is.

    The number that would be too many is taken of the rows, evenly spread: a kernel has at least the
    rank that it has on them.
    """
    n = space.n
    if n < PLAIN_FROM:
        return False
    some = np.unique(np.linspace(0, n - 1, min(n, round(PLAIN_RANK * math.sqrt(n)))).astype(int))
    if isinstance(space, Gram):
        K = space.K[np.ix_(some, some)]
    else:
        K = space.kernel(space.X[some], space.X[some])
    top = float(np.diag(K).max())
    if not (np.isfinite(K).all() and top > 0):
        return False
    pstrf = scipy.linalg.get_lapack_funcs("pstrf", (K,))
    return int(pstrf(K, tol=RELATIVE_TOL * top, lower=1)[2]) > NEARLY_ALL * some.size
