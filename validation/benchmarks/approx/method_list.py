"""The methods of `every_method`, each with its default parameters, behind one call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline, make_pipeline

from ....approx import (
    FSAUC,
    NBAUC,
    NSAUC,
    NSVMSGD2,
    OAM,
    SHTAUC,
    SOLAM,
    SPAM,
    IncompleteROCSVM,
    IncompleteSAUCSVM,
    Nystrom,
    RankSVM,
    SubsampledRankSVM,
    hsg_ht,
    incomplete_sauc,
    kernel_svm,
    linear_svm,
    mean_difference,
    noam,
    nsolam,
    rfauc,
    stoiht,
    top_fisher,
    top_mean_difference,
)
from ....exact import ROCSVM, SAUCSVM, best_subset
from ....exact.api.roc_svm_cv import ROCSVMCV

SPARSE_K = 8
"""Nonzeros of the sparse methods that have no default."""

SUBSET_SECONDS = 20.0
"""Of `best_subset`: it shortens its gap as long as it is let."""

KERNEL_SECONDS = 300.0
"""Of the exact kernel machines."""

KERNEL_ROWS = 20_000
"""For which these are asked, too: their default is linear, and the proof reads n x n values."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Scores of the rows, the proved relative gap where there is one, whether time was short."""

    scores: np.ndarray
    gap: float | None
    out_of_time: bool


@dataclass(frozen=True, eq=False)
class Method:
    """A name, how to fit, and the seconds and rows that it gets at most.

    Attributes
    ----------
    name : str
    make : estimator, or function (X, y, max_time) -> Outcome
    seconds : float
    most_rows : int
    """

    name: str
    make: BaseEstimator | Callable[[np.ndarray, np.ndarray, float], Outcome]
    seconds: float = math.inf
    most_rows: int = 100_000

    def fit(self, X: np.ndarray, y: np.ndarray, max_time: float) -> Outcome:
        """Fit to these rows and labels, for `max_time` seconds at most."""
        max_time = min(max_time, self.seconds)
        if not isinstance(self.make, BaseEstimator):
            return self.make(X, y, max_time)
        model: Any = clone(self.make)
        limits = {k: max_time for k in model.get_params() if k.split("__")[-1] == "max_time"}
        model.set_params(**limits).fit(X, y)
        last = model[-1] if isinstance(model, Pipeline) else model
        return Outcome(model.decision_function(X), relative_gap(last), timed_out(last))


def relative_gap(model: Any) -> float | None:
    """Return what the model proves: its gap over its objective, None if it proves nothing."""
    if hasattr(model, "certificate_"):
        found = model.certificate_
        return found.gap if found.relative_gap is None else found.relative_gap
    if hasattr(model, "gap_"):
        return model.gap_ / max(model.objective_, np.finfo(float).tiny)
    return None


def timed_out(model: Any) -> bool:
    """Return whether a limit of time ended the fit."""
    return getattr(model, "status_", "") == "time_limit"


def _weights(call: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., Outcome]:
    return lambda X, y, max_time: Outcome(X @ call(X, y), None, False)


def _subset(X: np.ndarray, y: np.ndarray, max_time: float) -> Outcome:
    found = best_subset(X, y, k=min(SPARSE_K, X.shape[1]), max_time=max_time)
    gap = found.gap / max(found.upper, np.finfo(float).tiny)
    return Outcome(X @ found.w, gap, found.status == "time_limit")


SEED = 0

METHODS = (
    Method("ROCSVM", ROCSVM()),
    Method("SAUCSVM", SAUCSVM()),
    Method("ROCSVM squared", ROCSVM(loss="squared_hinge")),
    Method("ROCSVM square", ROCSVM(loss="square")),
    Method("ROCSVM rbf", ROCSVM(kernel="rbf"), KERNEL_SECONDS, KERNEL_ROWS),
    Method("SAUCSVM rbf", SAUCSVM(kernel="rbf"), KERNEL_SECONDS, KERNEL_ROWS),
    Method("ROCSVMCV", ROCSVMCV(random_state=SEED)),
    Method("best_subset", _subset, SUBSET_SECONDS),
    Method("Nystrom, ROCSVM", make_pipeline(Nystrom(random_state=SEED), ROCSVM())),
    Method("Nystrom, SAUCSVM", make_pipeline(Nystrom(random_state=SEED), SAUCSVM())),
    Method("IncompleteROCSVM", IncompleteROCSVM(random_state=SEED)),
    Method("IncompleteSAUCSVM", IncompleteSAUCSVM(random_state=SEED)),
    Method("incomplete_sauc", incomplete_sauc(seed=SEED)),
    Method("RankSVM", RankSVM()),
    Method("NBAUC", NBAUC(random_state=SEED)),
    Method("rfauc", rfauc(seed=SEED)),
    Method("SubsampledRankSVM", SubsampledRankSVM(random_state=SEED)),
    Method("NSAUC", NSAUC(random_state=SEED)),
    Method("NSVMSGD2", NSVMSGD2(random_state=SEED)),
    Method("OAM", OAM(random_state=SEED)),
    Method("noam", noam(seed=SEED)),
    Method("nsolam", nsolam(seed=SEED)),
    Method("SOLAM", SOLAM(random_state=SEED)),
    Method("SPAM", SPAM(random_state=SEED)),
    Method("FSAUC", FSAUC(random_state=SEED)),
    Method("SHTAUC", SHTAUC(random_state=SEED)),
    Method("stoiht", _weights(lambda X, y: stoiht(X, y, SPARSE_K).w)),
    Method("hsg_ht", _weights(lambda X, y: hsg_ht(X, y, SPARSE_K).w)),
    Method("mean_difference", _weights(mean_difference)),
    Method("top_mean_difference", _weights(lambda X, y: top_mean_difference(X, y, SPARSE_K))),
    Method("top_fisher", _weights(lambda X, y: top_fisher(X, y, SPARSE_K))),
    Method("linear_svm", linear_svm(seed=SEED)),
    Method("kernel_svm", kernel_svm()),
)
