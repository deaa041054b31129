"""NSAUC and NSVMSGD2 as scikit-learn classifiers with `partial_fit`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...exact.tools.checks import check_choice
from .pair_classifier import PairSGDClassifier


@dataclass(eq=False, repr=False)
class NSAUC(PairSGDClassifier):
    """The stochastic nonlinear AUC machine: Nyström features, then averaged steps on random pairs.

    [Nonlinear, Algorithm 1, Algorithm 3]: over the features, approach the minimum of

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j)).

    It comes near only once lam times the number of steps is well above one. Below that the AUC
    may be good, but the objective stays far from its optimum, and with ``t0="bottou"``, the
    choice of the public code, even above that of w = 0: see `docs/online-methods.md`.
    `certificate_` says what is proved. Standardise the features first. The departures from the
    paper are listed at `aucert.approx.random_pairs.nsauc.PairSGD`.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    kernel, gamma, n_landmarks, landmarks, rcond
        As in `NBAUC`; see `aucert.approx.nystrom.bandwidth` for the papers' rules for gamma.
    max_epochs : int
        Each is n steps, a step one random pair.
    average : {"all", "half"}
        The mean of all points, as in the paper, or of those in the second half of the run, which
        forgets the start.
    t0 : {"scaled", "inverse", "bottou"} or float
        Holds the first steps back, see `aucert.approx.random_pairs.nsauc.starting_time`.
    rskip, askip : int
        Steps between two penalties, and between two averaged points.
    tol : float
        Certified relative gap at which to stop before `max_epochs`; 0 for never.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see `ROCSVM`; in `partial_fit`
        from the scores of the batch.
    max_time : float, optional
        Seconds for the steps.
    random_state : int, RandomState or None
        Draws the landmarks and the pairs.

    Attributes
    ----------
    coef_, dual_coef_, intercept_, classes_, nystrom_
        As in `NBAUC`.
    certificate_, solution_, status_, history_
        After `fit`: how far `coef_` is from the optimum in the span of the landmarks, at most,
        the dual point that proves it, why the run ended, and the objective on the way.
    t0_ : float
    n_iter_ : int
        Steps made.
    n_features_in_, feature_names_in_
        As in `RankSVM`.
    """

    _: KW_ONLY
    average: str = "all"
    askip: int = 16

    def _averaging(self) -> dict[str, Any]:
        check_choice("average", self.average, ("all", "half"))
        return {"average": self.average, "askip": self.askip}


@dataclass(eq=False, repr=False)
class NSVMSGD2(PairSGDClassifier):
    """NSAUC without the average: its last point. [Nonlinear, Section 5.5]

    Parameters
    ----------
    lam, kernel, gamma, n_landmarks, landmarks, rcond, max_epochs, t0, rskip, tol, threshold
        As in `NSAUC`.
    max_time, random_state
        As in `NSAUC`.

    Attributes
    ----------
    coef_, dual_coef_, intercept_, classes_, nystrom_, certificate_, solution_, status_, history_
        As in `NSAUC`.
    t0_, n_iter_, n_features_in_, feature_names_in_
        As in `NSAUC`.
    """
