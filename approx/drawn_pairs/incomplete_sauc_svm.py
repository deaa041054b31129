"""SAUC-SVM at scale: its structure with drawn pairs, with Nyström features, and with both.

No paper has the combination. It needs nothing new: [SAUC, eq. (8)] is an ordinary machine in
whitened features, and that machine may have drawn pairs [ScalingUp, eq. (7)] or Nyström features
[ScalingUp, eq. (11)] like any other. The structure is that of all rows, O(n d^2) operations,
however few pairs are drawn. On features of a size that allows it, `aucert.exact.SAUCSVM` after
`Nystrom` finds the optimum over all pairs itself, with proof; `docs/sauc-at-scale.md` compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ...exact.certificate.solution import Callback, Solution
from ...exact.classifier.base import Progress
from ...exact.classifier.inputs import Matrix
from ...exact.errors import InputError
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.problem.problem import Problem
from ...exact.spaces.rows import Rows
from ...exact.structure.scatter import check_structure
from ..nystrom.nystrom import Nystrom
from .incomplete_roc_svm import IncompleteROCSVM


@dataclass(eq=False, repr=False)
class IncompleteSAUCSVM(IncompleteROCSVM):
    """SAUC-SVM on randomly drawn pairs, fitted by full-batch descent in whitened features.

    [SAUC, eq. (8); ScalingUp, eq. (7)]: minimise over w

        lam/2 (|w|^2 + structure w'Sigma w) + mean over B drawn pairs of loss(w'x_i - w'x_j),

    Sigma = Sigma_+ + Sigma_-, the covariances of the two classes (divided by n) of ALL rows.
    Standardise the features first. For a kernel put `Nystrom` in front, as `incomplete_sauc` does.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    structure : float
        >= 0, weight of the structure relative to |w|^2, the paper's lambda; 0 gives
        `IncompleteROCSVM`, reached by other steps if there are more features than rows.
    n_pairs, replace, loss, optimizer, step, decay, max_iter, tol, threshold, max_time, random_state
        As in `IncompleteROCSVM`; the steps are made in the whitened coordinates.

    Attributes
    ----------
    certificate_ : Certificate
        How far `coef_` is from the optimum of SAUC's problem over ALL pairs, at most.
    incomplete_certificate_ : Certificate
        How far `coef_` is from that of SAUC's problem over the drawn pairs, at most.
    coef_, intercept_, classes_, solution_, status_, n_pairs_, n_iter_, history_
        As in `IncompleteROCSVM`, and so are all others.
    """

    structure: float = 1.0

    def _check_parameters(self) -> None:
        check_structure(self.structure)
        super()._check_parameters()

    def _fit_in_partitions(
        self, X: object, y: object, sample_weight: object, callback: Progress | None
    ) -> None:
        raise InputError(
            "the structure of rows in partitions is not known: take a sample of the rows, or "
            "IncompleteROCSVM, which has none"
        )

    def _solve(
        self,
        rows: Matrix,
        positive: np.ndarray,
        pairs: PairList,
        whole: AllPairs,
        callback: Callback | None,
    ) -> tuple[Solution, Problem, Rows]:
        task = formulate(
            rows, positive, Request.of(self.lam, self.loss, whole, True, structure=self.structure)
        )
        meant = task.meant.with_pairs(pairs)
        work = meant if task.work is task.meant else task.work.with_pairs(pairs)
        assert isinstance(work.space, Rows)
        found = self._solver_for(work.space).solve(work, callback=callback)
        return replace(task, meant=meant, work=work).judge(found, self.tol), meant, work.space


def incomplete_sauc(
    lam: float = 1e-3,
    structure: float = 1.0,
    gamma: float | None = None,
    n_landmarks: int = 100,
    n_pairs: str | int = "n",
    seed: int | None = None,
    with_mean: bool = True,
) -> Pipeline:
    """Return SAUC-SVM with a Gaussian kernel, approximated twice: Nyström features, drawn pairs.

    [SAUC, eq. (12); ScalingUp, eq. (7), eq. (11)]. The structure is that of the scores, so it is
    the same in the features and in the kernel's own space.

    Parameters
    ----------
    lam : float
        > 0, of `IncompleteSAUCSVM`.
    structure : float
        >= 0.
    gamma : float, optional
        > 0, of the Gaussian; 1 / (number of features) by default.
    n_landmarks : int
        At most this many k-means centres.
    n_pairs : "n" or int
        As in `IncompleteROCSVM`.
    seed : int or None
        Chooses the landmarks and draws the pairs.
    with_mean : bool
        Whether to centre the columns; False for sparse input.

    Raises
    ------
    InputError
        If the seed is no whole number. Other parameters are checked when the pipeline is fitted.
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
        raise InputError(f"seed must be a whole number or None, not {seed!r}")
    chosen = Nystrom(gamma=gamma, n_landmarks=n_landmarks, landmarks="kmeans", random_state=seed)
    return Pipeline(
        [
            ("scale", StandardScaler(with_mean=with_mean)),
            ("nystrom", chosen),
            ("sauc", IncompleteSAUCSVM(lam, structure, n_pairs=n_pairs, random_state=seed)),
        ]
    )
