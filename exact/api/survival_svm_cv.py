"""The survival support vector machine that chooses its own lam, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..classifier.inputs import draw_seed
from ..formulation.ordered import ordered_problem
from ..formulation.penalty_grid import strengthened, unit_penalty
from ..formulation.request import Request
from ..losses.loss import Loss
from ..problem.problem import Problem
from ..tools.checks import check_choice, check_number
from .folds import RowOrder
from .path_selection import CHOICES, CVPath, cross_validate
from .survival_svm import SurvivalSVM


class SurvivalSVMCV(SurvivalSVM):
    """A survival SVM with the lam of the highest cross-validated C, solved with proof.

    The objective is that of `SurvivalSVM`, the penalty's weight chosen as `ROCSVMCV` does: along a
    path of falling lam each fold is solved with warm starts and certificates, Harrell's C of its
    held-out rows averaged, and the whole problem solved at the chosen lam.

    Parameters
    ----------
    lams : array (k,), optional
        > 0, the candidates; by default `n_lams` of them, as in `regularization_path`.
    loss, tol, max_time, sign
        As in `SurvivalSVM`.
    groups : array (n_features_in_,), optional
        As in `SurvivalSVM`, with l1_ratio > 0.
    l1_ratio : float
        In [0, 1]: the penalty is lam ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1).
    n_lams : int
    cv : int, splitter or iterable
        A number of folds, with the same share of events where there are enough; or anything of
        scikit-learn that splits rows, which gets the events as y; or pairs of index arrays.
    choice : {"best", "one-se"}
        The lam of the highest mean, or the largest one within one standard error of it.
    cv_tol : float
        Relative gap to reach in the folds.
    random_state : int, RandomState or None
        Shuffles the folds.
    n_jobs : int, optional
        Folds solved at once, in processes of their own; -1 for one a core. 1 by default.

    Attributes
    ----------
    lam_ : float
        The lam chosen.
    cv_path_ : CVPath
        Held-out C of each fold and lam, with the range in which the exact optimum's lies.
    All others as in `SurvivalSVM`.
    """

    lam_: float
    cv_path_: CVPath

    def __init__(
        self,
        lams: object = None,
        *,
        loss: str | Loss = "hinge",
        tol: float = 1e-6,
        max_time: float | None = None,
        l1_ratio: float = 0.0,
        groups: object = None,
        sign: object = None,
        n_lams: int = 20,
        cv: object = 5,
        choice: str = "best",
        cv_tol: float = 1e-6,
        random_state: object = None,
        n_jobs: int | None = None,
    ):
        self.lams = lams
        self.loss = loss
        self.tol = tol
        self.max_time = max_time
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.sign = sign
        self.n_lams = n_lams
        self.cv = cv
        self.choice = choice
        self.cv_tol = cv_tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail, and why."""
        why = "nine of its ten rows have one time: whatever the folds, one has no comparable rows"
        return {"check_fit2d_1feature": why}

    def _problem(self, rows: Any, times: np.ndarray, seen: np.ndarray) -> Problem:
        """Choose lam, and return the problem of all rows at it."""
        check_choice("choice", self.choice, CHOICES)
        penalty = unit_penalty(self.l1_ratio, self.groups, self.sign)
        self.cv_path_ = cross_validate(
            rows,
            None,
            Request.of(None, self.loss, penalty=penalty),
            self.lams,
            None,
            self.cv,
            draw_seed(self.random_state),
            None,
            self.n_lams,
            tol=check_number("cv_tol", self.cv_tol),
            max_time=self.max_time,
            n_jobs=self.n_jobs,
            order=RowOrder.of_times(times, seen),
        )
        self.lam_ = self.cv_path_.lam_of(self.choice)
        problem = ordered_problem(rows, None, 1.0, loss=self.loss, time=times, event=seen)
        return replace(problem, penalty=strengthened(penalty, self.lam_))
