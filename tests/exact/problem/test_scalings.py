"""Everybody's scaling gives the minimiser that its own objective has; peers' models lie there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    AllPairs,
    Certificate,
    InputError,
    certify,
    lam_from_C,
    ordered_problem,
    query_pairs,
    solve,
    survival_pairs,
)
from aucert.exact.problem.problem import linear_problem
from aucert.exact.problem.scalings import (
    SCALINGS,
    C_from_lam,
    convention_loss,
    convention_name,
    objective_scale,
)
from decimal_losses import mean_of
from loops import each, refuses
from naive import exact, products, weighted_pairs


def data():
    rng = np.random.default_rng(7)
    y = np.arange(20) % 3 == 0
    return rng.normal(size=(20, 2)) + 0.8 * y[:, None], y


def own_objective(
    convention: str, loss: str, C: float, X: np.ndarray, y: np.ndarray, w: np.ndarray
) -> float:
    """The objective as its authors write it, over the pairs one by one."""
    half, share, pairs = 0.5 * sum(w * w), sum(y) / len(y), weighted_pairs(y.tolist(), AllPairs())
    mean = float(mean_of(loss, products(exact(X), exact(w)), pairs))
    total = len(pairs) * mean
    return {
        "prsvm": half + C / 2 * total,
        "scikit-survival": half + C / 2 * total,
        "dlib": half + C * mean,
        "roclab": C * half + mean,  # gradient: lambda beta - column means of the slopes
        "torch": C * half + mean,  # weight_decay adds C w to the gradient
        "sht-authors": share * (1 - share) * mean + C * half,
    }.get(convention, half + C * total)


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


def test_a_convention_has_forgiving_names_a_loss_of_its_own_and_an_inverse():
    names = {"SVMrank": "svm-rank", "sklearn": "scikit-learn", "PyTorch": "torch"}
    for name, meant in (*names.items(), ("Liblinear_RankSVM", "liblinear-ranksvm")):
        assert convention_name(name) == meant
    assert convention_loss("liblinear-ranksvm") == "squared_hinge"
    assert convention_loss("dlib") == "hinge"
    assert convention_loss("roclab", "squared_hinge") == "squared_hinge"
    with pytest.raises(InputError, match="liblinear-ranksvm has the loss squared_hinge, not hinge"):
        convention_loss("liblinear-ranksvm", "hinge")
    for convention in SCALINGS:
        lam = lam_from_C(0.37, 120, convention, 0.2)
        assert C_from_lam(lam, 120, convention, 0.2) == pytest.approx(0.37, rel=1e-14)


X = np.array(
    [
        *([0.3, -1.2], [1.1, 0.4], [-0.7, 0.9], [0.2, 0.1], [-1.5, -0.3], [0.8, 1.6]),
        *([-0.1, -0.8], [1.9, -0.5], [-0.6, 0.2], [0.5, 0.7], [-1.1, 1.3], [0.9, -1.4]),
    ]
)
TIME = np.array([2.1, 0.7, 5.3, 3.2, 8.8, 1.4, 4.0, 1.9, 6.1, 2.7, 7.5, 0.9])
EVENT = np.array([1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1], dtype=bool)
GRADE = np.array([2, 1, 0, 2, 0, 1, 1, 2, 0, 1, 0, 2])
QUERY = np.repeat([0, 1], 6)
FAST = np.array([-0.8074647704180663, 0.01944021814958207])

"""coef_ of scikit-survival 0.28.0: FastSurvivalSVM(alpha=0.5, rank_ratio=1, tol=1e-12)."""

HINGE = np.array([0.41999999911697616, -0.08599999951610804])

"""-(coef_ @ X)[0] of scikit-survival 0.28.0: HingeLossSurvivalSVM(alpha=0.01, pairs="all")."""

BOOSTER = np.array([1.0470389, -0.82287663])

"""Weights of XGBoost 3.2.0: gblinear, rank:pairwise, reg_lambda=0.2, 300 rounds in float32."""


PAIRS = {"survival": survival_pairs(TIME, EVENT).count(), "rank": query_pairs(QUERY, GRADE).count()}
ORDERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "survival": (None, {"time": TIME, "event": EVENT}),
    "rank": (GRADE, {"qid": QUERY}),
}


@each(
    ("kind", "loss", "w", "lam", "most"),
    [
        # its coef_ has the opposite sign
        ("survival", "squared_hinge", -FAST, lam_from_C(0.5, PAIRS["survival"], "sksurv"), 1e-10),
        ("survival", "hinge", HINGE, lam_from_C(0.01, PAIRS["survival"], "sksurv-hinge"), 1e-7),
        ("rank", "logistic", BOOSTER, 0.2 * len(X) / PAIRS["rank"], 1e-8),
    ],
)
def test_recorded_models_of_peers_are_optimal_at_the_lam_that_their_constant_means(
    kind: str, loss: str, w: np.ndarray, lam: float, most: float
) -> None:
    """At half of it, at twice it and with the other sign they are not."""
    y, order = ORDERS[kind]
    for factor, sign in ((1, 1), (0.5, 1), (2, 1), (1, -1)):
        witness = solve(X, y, factor * lam, loss=loss, tol=1e-11, **order).witness
        problem = ordered_problem(X, y, factor * lam, loss=loss, **order)
        gap = Certificate.of(problem, sign * w, witness).relative_gap
        assert gap is not None
        assert gap < most if factor * sign == 1 else gap > (1e-3 if sign == 1 else 0.1)


def test_certify_converts_the_c_of_a_peer_over_ordered_pairs():
    fast = certify(X, None, w=-FAST, rival="scikit-survival", C=0.5, time=TIME, event=EVENT)
    assert fast.relative_gap is not None and fast.relative_gap < 1e-8
    hinge = certify(X, None, w=HINGE, rival="sksurv-hinge", C=0.01, time=TIME, event=EVENT)
    assert hinge.relative_gap is not None and hinge.relative_gap < 1e-6
    count = query_pairs(QUERY, GRADE).count()
    ranked = certify(X, GRADE, w=BOOSTER, rival="svm-rank", C=0.1, qid=QUERY)
    given = certify(X, GRADE, lam_from_C(0.1, count, "svm-rank"), w=BOOSTER, qid=QUERY)
    assert (ranked.lam, ranked.primal) == (given.lam, given.primal)
    with pytest.raises(InputError, match="give lam"):
        equal = query_pairs(QUERY, GRADE, share="equal")
        certify(X, None, w=BOOSTER, rival="svm-rank", C=0.1, pairs=equal)
    refuses("sht-authors", certify, X, GRADE, w=BOOSTER, rival="sht-authors", C=0.1, qid=QUERY)
