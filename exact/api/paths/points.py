"""What a regularization path is: solutions at falling lam, each with its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificate.certificate import Certificate
from ...certificate.solution import Solution
from ...formulation.formulation import Formulation


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One lam of a path.

    Attributes
    ----------
    lam : float
    solution : Solution
    auc : float
        Of the training rows, row weights counted, or their concordance; NaN if not asked for.
    """

    lam: float
    solution: Solution
    auc: float

    @property
    def certificate(self) -> Certificate:
        """The solution's own, in the space meant."""
        return self.solution.certificate


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions at falling lam.

    Attributes
    ----------
    points : list of PathPoint
        Largest lam first.
    task : Formulation
        The problem at the largest lam; all others differ in lam alone.
    complete : bool
        False after a time limit or Ctrl-C: the last gap is valid, smaller lam are missing.
    seconds : float
    interrupted : bool
        Whether it was Ctrl-C that ended it.
    """

    points: list[PathPoint]
    task: Formulation
    complete: bool
    seconds: float
    interrupted: bool = False

    @property
    def lams(self) -> np.ndarray:
        """The lam of each point, falling: (k,)."""
        return np.array([point.lam for point in self.points])

    @property
    def weights(self) -> np.ndarray:
        """Weights of the features, or coefficients of k(., x_i) for kernels: (k, dim)."""
        return np.array([point.solution.w for point in self.points])

    @property
    def aucs(self) -> np.ndarray:
        """AUC of the training rows: (k,)."""
        return np.array([point.auc for point in self.points])

    @property
    def gaps(self) -> np.ndarray:
        """Certified gaps: (k,)."""
        return np.array([point.certificate.gap for point in self.points])

    def to_dict(self) -> dict[str, Any]:
        """Return each lam's certificate and AUC as JSON can hold them; `aucert plot` draws them."""
        keys = ("primal", "dual", "gap", "relative_gap", "rounding")
        points = [
            {"lam": point.lam, "auc": None if np.isnan(point.auc) else float(point.auc)}
            | {key: getattr(point.certificate, key) for key in keys}
            | {"status": str(point.solution.status)}
            for point in self.points
        ]
        loss = self.task.meant.loss.name
        return {"path": points, "loss": loss, "complete": self.complete, "seconds": self.seconds}

    def scores(self, X: object) -> np.ndarray:
        """Return the scores of rows (m, d) at each lam: (k, m).

        For a precomputed kernel the rows hold k(x, x_i), (m, n).
        """
        return np.array([self.task.evaluate(point.solution.w, X) for point in self.points])
