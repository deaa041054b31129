"""SAUC-SVM's norm on any space, and the certificate that comes with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .gram import Gram
from .rounding import gamma
from .spaces import Rows, Space
from .structure import Scatter, check_structure, whitener


class Structured:
    """Any space with the structured norm |f|^2 + structure * s'R s, coordinates unchanged.

    The certificate of SAUC-SVM in the original coordinates, independent of any whitening: for
    every y, |sum c_i k_i|^2 in the dual norm is at most

        |sum_i e_i k_i|^2 + structure y'R y,    e = c - structure R y,

    with equality at the scores y of the representer; so a y that is slightly off costs a little
    tightness and never validity. [SAUC, eq. (12)]
    """

    def __init__(self, base: Space, scatter: Scatter, structure: float):
        self.base, self.scatter, self.structure = base, scatter, check_structure(structure)
        self.n, self.dim, self.reach = base.n, base.dim, base.reach
        self._recent: list[tuple[np.ndarray, np.ndarray]] = []
        self._factor: np.ndarray | None = None

    def blocks(self) -> Iterator[slice]:
        """Yield the base's slices."""
        return self.base.blocks()

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the base's scores: (n,)."""
        return self.base.scores(w)

    def norm2(self, w: np.ndarray) -> float:
        """Return |f|^2 + structure s'R s."""
        scores = self.base.scores(w)
        spread = float((scores * self.scatter.times(scores)).sum())
        return self.base.norm2(w) + self.structure * max(spread, 0.0)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return the structured inner product."""
        both = float((self.scores(w) * self.scatter.times(self.scores(other))).sum())
        return self.base.inner(w, other) + self.structure * both

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the base's scores and their rounding: (n,) each."""
        return self.base.careful_scores(w)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return the base's bound, and that of the spread of the scores."""
        scores, error = self.base.careful_scores(w)
        size = float(np.abs(scores - scores.mean()).max())
        slip = float(error.max()) + gamma(self.n + 16) * size
        return self.base.norm2_error(w) + self.structure * 2 * slip * (2 * size + slip)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the representer of c in the structured norm, in the base's coordinates."""
        for known, found in self._recent:
            if np.array_equal(known, c):
                return found
        if isinstance(self.base, Rows):
            found = self._pull_rows(self.base, c)
        elif isinstance(self.base, Gram):
            found = self._pull_gram(self.base, c)
        else:
            found = self._pull_iteratively(c)
        self._recent = [*self._recent[-1:], (c.copy(), found)]
        return found

    def _pull_rows(self, base: Rows, c: np.ndarray) -> np.ndarray:
        if self._factor is None:
            self._factor = whitener(base, self.scatter, self.structure)
        return scipy.linalg.cho_solve((self._factor, True), base.pull(c))

    def _pull_gram(self, base: Gram, c: np.ndarray) -> np.ndarray:
        Q = self.scatter.root()
        if self._factor is None:
            M = np.eye(Q.shape[1]) + self.structure * Q.T @ base.K @ Q
            self._factor = scipy.linalg.cholesky(M, lower=True)
        inner = scipy.linalg.cho_solve((self._factor, True), Q.T @ base.scores(c))
        return c - self.structure * (Q @ inner)

    def _pull_iteratively(self, c: np.ndarray) -> np.ndarray:
        """Solve (I + structure R K) theta = c by GMRES; accuracy decides tightness only."""

        def times(theta: np.ndarray) -> np.ndarray:
            theta = np.ravel(theta)
            return theta + self.structure * self.scatter.times(self.base.scores(theta))

        operator = scipy.sparse.linalg.LinearOperator((self.n, self.n), matvec=times)
        return scipy.sparse.linalg.gmres(operator, c, rtol=1e-12, restart=80, maxiter=5)[0]

    def _correction(self, c: np.ndarray) -> tuple[np.ndarray, float]:
        """Return e = c - structure R y and structure y'R y, y the scores of the representer."""
        y = self.base.scores(self.pull(c))
        moved = self.scatter.times(y)
        return c - self.structure * moved, self.structure * max(float((y * moved).sum()), 0.0)

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return the upper bound of the class docstring."""
        e, spread = self._correction(c)
        return self.base.dual_norm2(e) + spread

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return the base's bound at e, and the rounding of the two products with R."""
        e, spread = self._correction(c)
        size = float(np.abs(c).sum()) + float(np.abs(e).sum())
        slip = gamma(self.n + 16) * size * self.reach
        norm = float(np.sqrt(self.base.dual_norm2(e)))
        return (
            self.base.dual_norm2_error(e)
            + slip * (2 * norm + slip)
            + gamma(2 * self.n + 16) * spread
        )
