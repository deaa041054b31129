"""The Laplacian of weighted pairs: sum_k c_k d_k d_k' = X'L X for d_k = x_i - x_j."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


class PairGraph:
    """L = D - A - A', A the pairs' weights and D their sums by row, without forming L.

    Parameters
    ----------
    i, j : int arrays (m,)
        Rows of the pairs; a pair may occur more than once.
    c : array (m,)
        Their weights.
    n : int
        Rows.
    """

    def __init__(self, i: np.ndarray, j: np.ndarray, c: np.ndarray, n: int):
        self.down = sp.csr_matrix((c, (i, j)), shape=(n, n))
        self.up = self.down.T  # the same numbers, read as CSC
        self.degree = (np.bincount(i, c, n) + np.bincount(j, c, n)).astype(float)

    def times(self, X: Any) -> Any:
        """Return L X for X of n rows: an array (n,) or (n, d), or a sparse matrix."""
        if sp.issparse(X):
            return sp.diags(self.degree) @ X - self.down @ X - self.up @ X
        out = (self.degree * X.T).T
        out -= self.down @ X
        out -= self.up @ X
        return out
