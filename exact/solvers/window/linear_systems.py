"""Linear systems (lam I + sum over active pairs of (c_k / sigma) d_k d_k') p = r, the cheap way.

The matrix is lam I + X'L X with L the weighted Laplacian of the active pairs' graph. Either it is
formed (dim squared), or, with fewer active pairs than coordinates, the Woodbury identity turns it
into a system of their number.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from ...curvature.pair_matrices import PairGraph

DENSE_SIDE = 12_000  # Side of the largest matrix that is formed; above, conjugate gradients.

DEAR = 1e9  # From this many operations on, conjugate gradients are tried before a matrix is formed.

CHOLESKY = 3  # Factoring a matrix of side k takes k^3 over this many multiplications.

# Before a dear matrix is formed, conjugate gradients have so many products to reach this residual.
TRIED, TRIED_PRODUCTS = 0.1, 60

LAST, LAST_PRODUCTS = 1e-6, 1000  # The residual and the products where no matrix is formed at all.


class NewtonSystem:
    """Systems over the rows that a window touches."""

    def __init__(self, rows: Any, i: np.ndarray, j: np.ndarray, c: np.ndarray, lam: float):
        self.rows: Any = rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)
        self.i, self.j, self.c, self.lam = i, j, c, lam
        self.n, self.dim = int(rows.shape[0]), int(rows.shape[1])

    def solve(self, active: np.ndarray, sigma: float, r: np.ndarray) -> np.ndarray:
        """Return p (dim,).

        Parameters
        ----------
        active : int array
            The active pairs.
        sigma : float
            > 0.
        r : array (dim,)
        """
        if active.size == 0:
            return r / self.lam
        weight = self.c[active] / sigma
        few, dim = active.size, self.dim
        # Multiplications that it takes to form the one matrix or the other, and to factor it.
        by_pairs = few**2 * (dim + few / CHOLESKY)
        by_coordinates = dim**2 * (2 * min(few, self.n) + dim / CHOLESKY)
        if min(by_pairs, by_coordinates) > DEAR:
            found, enough = self._by_products(active, weight, r, TRIED, TRIED_PRODUCTS)
            if enough:
                return found
        if min(few if by_pairs < by_coordinates else dim, DENSE_SIDE) < DENSE_SIDE:
            solve = self._by_pairs if by_pairs < by_coordinates else self._by_coordinates
            try:
                return solve(active, weight, r)
            except np.linalg.LinAlgError:
                pass  # lost to rounding: conjugate gradients never form the matrix
        return self._by_products(active, weight, r, LAST, LAST_PRODUCTS)[0]

    def _differences(self, active: np.ndarray) -> Any:
        return self.rows[self.i[active]] - self.rows[self.j[active]]

    def _by_pairs(self, active: np.ndarray, weight: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Woodbury: (r - D'(lam W^-1 + D D')^-1 D r) / lam."""
        D = self._differences(active)
        product = D @ D.T
        K = product if isinstance(product, np.ndarray) else product.toarray()
        K.flat[:: active.size + 1] += self.lam / weight
        solved = scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False),
            np.asarray(D @ r),
            check_finite=False,
        )
        return (r - np.asarray(D.T @ solved)) / self.lam

    def _graph(self, active: np.ndarray, weight: np.ndarray) -> PairGraph:
        return PairGraph(self.i[active], self.j[active], weight, self.n)

    def _by_coordinates(self, active: np.ndarray, weight: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Form lam I + X'L X, or with few active pairs lam I + D'W D."""
        # Of few pairs the differences are fewer than the rows; of many, the Laplacian is less work.
        if active.size < self.n:
            D, root = self._differences(active), np.sqrt(weight)
            scaled = root[:, None] * D if isinstance(D, np.ndarray) else sp.diags(root) @ D
            product = scaled.T @ scaled
        else:
            product = self.rows.T @ self._graph(active, weight).times(self.rows)
        H = product if isinstance(product, np.ndarray) else cast(Any, product).toarray()
        H.flat[:: self.dim + 1] += self.lam
        factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return scipy.linalg.cho_solve(factor, r, check_finite=False)

    def _by_products(
        self, active: np.ndarray, weight: np.ndarray, r: np.ndarray, rtol: float, iterations: int
    ) -> tuple[np.ndarray, bool]:
        """Return what conjugate gradients found, and whether the residual is within `rtol`."""
        graph = self._graph(active, weight)

        def times(v: np.ndarray) -> np.ndarray:
            v = np.ravel(v)
            return self.lam * v + np.asarray(self.rows.T @ graph.times(self.rows @ v))

        operator = scipy.sparse.linalg.LinearOperator((self.dim, self.dim), matvec=times)
        with np.errstate(over="ignore", invalid="ignore"):
            found, info = scipy.sparse.linalg.cg(operator, r, rtol=rtol, maxiter=iterations)
        if not np.isfinite(found).all():  # rows of so different sizes that products overflow
            return np.zeros_like(r), False
        return found, info == 0
