"""Everybody's scaling gives the minimiser that its own objective has."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
from sklearn.svm import LinearSVC

from aucert.exact import certify
from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.problem.problem import linear_problem
from aucert.exact.problem.scalings import (
    SCALINGS,
    C_from_lam,
    convention_loss,
    convention_name,
    lam_from_C,
    objective_scale,
)
from loops import each


def data():
    rng = np.random.default_rng(7)
    y = np.arange(20) % 3 == 0
    return rng.normal(size=(20, 2)) + 0.8 * y[:, None], y


def losses_of_all_pairs(X: np.ndarray, y: np.ndarray, w: np.ndarray, loss: str) -> list[float]:
    """The loss of w'(x_i - x_j), one pair after the other."""
    of = {
        "hinge": lambda margin: max(0.0, 1.0 - margin),
        "squared_hinge": lambda margin: max(0.0, 1.0 - margin) ** 2,
        "logistic": lambda margin: math.log(1.0 + math.exp(-margin)),
        "square": lambda margin: (1.0 - margin) ** 2,
    }[loss]
    found = []
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] and not y[j]:
                found.append(of(sum(w * (X[i] - X[j]))))
    return found


def own_objective(
    convention: str, loss: str, C: float, X: np.ndarray, y: np.ndarray, w: np.ndarray
) -> float:
    """The objective as its authors write it, by a double loop over rows."""
    half = 0.5 * sum(w * w)
    every = losses_of_all_pairs(X, y, w, loss)
    if convention in (
        "auc-svm",
        "nonlinear-1",
        "nonlinear-2",
        "svm-rank",
        "knn",
        "scikit-survival-hinge",
    ):
        return half + C * sum(every)
    if convention in ("prsvm", "scikit-survival"):
        return half + C / 2 * sum(every)
    if convention == "liblinear-ranksvm":  # L2-regularised L2-loss ranking
        return half + C * sum(every)
    if convention == "scikit-learn":  # LinearSVC: 1/2 w'w + C sum over the differences
        return half + C * sum(every)
    if convention == "dlib":  # C over the number of ranking pairs
        return half + C / len(every) * sum(every)
    if convention == "roclab":  # gradient: lambda beta - column means of the slopes
        return C * half + sum(every) / len(every)
    if convention == "torch":  # MarginRankingLoss(margin=1), weight_decay adds C w to the gradient
        return sum(every) / len(every) + C * half
    assert convention == "sht-authors"
    share = sum(y) / len(y)
    squares = [(1.0 - sum(w * (p - q))) ** 2 for p in X[y] for q in X[~y]]
    return share * (1 - share) * sum(squares) / len(squares) + C * half


CASES = [(name, loss) for name, scaling in SCALINGS.items() for loss in scaling.losses]


@each(("convention", "loss"), CASES)
def test_the_authors_objective_is_ours_times_the_scale_everywhere(convention, loss):
    X, y = data()
    n_pairs, share, C = int(y.sum() * (~y).sum()), float(y.mean()), 0.03
    lam = lam_from_C(C, n_pairs, convention, share)
    problem = linear_problem(X, y, lam, loss)
    scale = objective_scale(C, n_pairs, convention, share)
    for w in np.random.default_rng(0).normal(size=(5, 2)):
        own = own_objective(convention, loss, C, X, y, w)
        assert own == pytest.approx(scale * problem.objective(w), rel=1e-12)


@each(("convention", "loss"), CASES)
def test_the_minimiser_of_the_converted_problem_minimises_the_authors_objective(convention, loss):
    X, y = data()
    share, C = float(y.mean()), 0.03
    lam = lam_from_C(C, int(y.sum() * (~y).sum()), convention, share)

    def solved(lam: float) -> np.ndarray:
        return solve(X, y.astype(int), lam, loss=loss, tol=1e-12).w

    def objective(v: np.ndarray) -> float:
        return own_objective(convention, loss, C, X, y, v)

    w = solved(lam)
    best = min(
        scipy.optimize.minimize(
            objective, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11}
        ).fun
        for start in (w, np.ones(2))
    )
    assert objective(w) <= best + 1e-9 * abs(best)
    # and a lam off by two would not do
    assert objective(solved(2 * lam)) > best + 1e-7 * abs(best)


def test_linear_svc_on_pair_differences_is_certified():
    X, y = data()
    differences = (X[y][:, None] - X[~y][None]).reshape(-1, 2)
    sign = np.where(np.arange(len(differences)) % 2 == 0, 1.0, -1.0)
    for loss in ("squared_hinge", "hinge"):
        model = LinearSVC(C=0.03, loss=loss, fit_intercept=False, tol=1e-10, max_iter=100_000)
        w = model.fit(differences * sign[:, None], sign).coef_[0]
        audit = certify(X, y.astype(int), w=w, rival="scikit-learn", C=0.03, loss=loss)
        assert audit.relative_gap is not None and audit.relative_gap < 1e-6
        other = certify(X, y.astype(int), w=w, rival="scikit-learn", C=0.06, loss=loss)
        assert other.relative_gap is not None and other.relative_gap > 1e-4


def test_names_are_forgiven_their_capitals_and_aliases():
    for name, meant in (("SVMrank", "svm-rank"), ("Liblinear_RankSVM", "liblinear-ranksvm")):
        assert convention_name(name) == meant
    assert convention_name("sklearn") == "scikit-learn" and convention_name("PyTorch") == "torch"


def test_a_convention_has_its_own_loss_and_refuses_others():
    assert convention_loss("liblinear-ranksvm") == "squared_hinge"
    assert convention_loss("dlib") == "hinge"
    assert convention_loss("roclab", "squared_hinge") == "squared_hinge"
    with pytest.raises(InputError, match="liblinear-ranksvm has the loss squared_hinge, not hinge"):
        convention_loss("liblinear-ranksvm", "hinge")


@each("convention", SCALINGS)
def test_conversion_and_its_inverse_undo_each_other(convention):
    lam = lam_from_C(0.37, 120, convention, 0.2)
    assert C_from_lam(lam, 120, convention, 0.2) == pytest.approx(0.37, rel=1e-14)


@each(
    ("arguments", "message"),
    [
        ((0.0, 10), "C must be > 0"),
        ((float("nan"), 10), "C must be > 0"),
        ((1.0, 0), "n_pairs"),
        ((1.0, 10, "libfm"), "unknown convention"),
        ((1.0, 10, "sht-authors"), "share_pos"),
    ],
)
def test_bad_scalings_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        lam_from_C(*arguments)


def test_bad_lam_is_refused():
    with pytest.raises(InputError, match="lam must be > 0"):
        C_from_lam(-1.0, 10)
