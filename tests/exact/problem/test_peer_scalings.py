"""Models of the peers lie at the optimum that their scaling says: recorded, and trained here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import (
    Certificate,
    InputError,
    certify,
    lam_from_C,
    ordered_problem,
    query_pairs,
    solve,
    survival_pairs,
)
from loops import each

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


def survival_gap(w: np.ndarray, C: float, convention: str, factor: float = 1.0) -> float:
    """The relative gap of a survival machine at the lam that its C means, times a factor."""
    count = survival_pairs(TIME, EVENT).count()
    lam = factor * lam_from_C(C, count, convention)
    loss = "hinge" if convention.endswith("hinge") else "squared_hinge"
    problem = ordered_problem(X, None, lam, loss=loss, time=TIME, event=EVENT)
    solution = solve(X, None, lam, loss=loss, time=TIME, event=EVENT, tol=1e-11)
    gap = Certificate.of(problem, w, solution.witness).relative_gap
    assert gap is not None
    return gap


def ranking_gap(w: np.ndarray, reg_lambda: float, factor: float = 1.0) -> float:
    """The relative gap of a linear booster at lam = reg_lambda n / M, times a factor."""
    lam = factor * reg_lambda * len(X) / query_pairs(QUERY, GRADE).count()
    problem = ordered_problem(X, GRADE, lam, loss="logistic", qid=QUERY)
    solution = solve(X, GRADE, lam, loss="logistic", qid=QUERY)
    gap = Certificate.of(problem, w, solution.witness).relative_gap
    assert gap is not None
    return gap


def test_the_recorded_fast_survival_svm_is_optimal_at_two_over_alpha_and_pairs():
    assert survival_gap(-FAST, 0.5, "scikit-survival") < 1e-10
    assert survival_gap(FAST, 0.5, "scikit-survival") > 0.5  # its coef_ has the opposite sign
    for factor in (0.5, 2.0):  # and another lam would not do
        assert survival_gap(-FAST, 0.5, "scikit-survival", factor) > 1e-3


def test_the_recorded_hinge_loss_survival_svm_is_optimal_at_one_over_alpha_and_pairs():
    assert survival_gap(HINGE, 0.01, "scikit-survival-hinge") < 1e-7
    assert survival_gap(-HINGE, 0.01, "scikit-survival-hinge") > 0.1
    for factor in (0.5, 2.0):
        assert survival_gap(HINGE, 0.01, "scikit-survival-hinge", factor) > 1e-3


def test_the_recorded_linear_booster_is_optimal_at_its_lambda_times_rows_over_pairs():
    assert ranking_gap(BOOSTER, 0.2) < 1e-8
    for factor in (0.5, 2.0):
        assert ranking_gap(BOOSTER, 0.2, factor) > 1e-3


@each("alpha", [0.02, 1.0])
def test_scikit_survival_itself_is_audited(alpha: float) -> None:
    svm = pytest.importorskip("sksurv.svm", reason="scikit-survival is not installed")
    y = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", bool), ("time", float)])
    fast = svm.FastSurvivalSVM(alpha=alpha, rank_ratio=1, tol=1e-12, max_iter=500).fit(X, y)
    assert survival_gap(-fast.coef_, alpha, "scikit-survival") < 1e-9
    hinge = svm.HingeLossSurvivalSVM(alpha=alpha, pairs="all").fit(X, y)
    assert survival_gap(-(hinge.coef_ @ X)[0], alpha, "scikit-survival-hinge") < 1e-5


@each("reg_lambda", [0.01, 0.5])
def test_xgboosts_linear_booster_itself_is_audited(reg_lambda: float, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    stated = {
        "booster": "gblinear",
        "objective": "rank:pairwise",
        "reg_lambda": reg_lambda,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": len(X),
        "lambdarank_normalization": False,
        "lambdarank_score_normalization": False,
        "updater": "coord_descent",
        "eta": 0.5,
        "tolerance": 0,
    }
    rows = xgboost.DMatrix(X, label=GRADE, qid=QUERY)
    file = tmp_path / "model.json"
    xgboost.train(stated, rows, num_boost_round=1000).save_model(file)
    model = json.loads(file.read_text("utf-8"))["learner"]["gradient_booster"]["model"]
    assert ranking_gap(np.array(model["weights"][:2]), reg_lambda) < 1e-7
    stated |= {"lambdarank_score_normalization": True}  # its default: the gradients of no objective
    xgboost.train(stated, rows, num_boost_round=1000).save_model(file)
    model = json.loads(file.read_text("utf-8"))["learner"]["gradient_booster"]["model"]
    assert ranking_gap(np.array(model["weights"][:2]), reg_lambda) > 1e-4


def test_certify_converts_the_c_of_a_peer_over_ordered_pairs():
    fast = certify(X, None, w=-FAST, rival="scikit-survival", C=0.5, time=TIME, event=EVENT)
    assert fast.relative_gap is not None and fast.relative_gap < 1e-8
    hinge = certify(X, None, w=HINGE, rival="sksurv-hinge", C=0.01, time=TIME, event=EVENT)
    assert hinge.relative_gap is not None and hinge.relative_gap < 1e-6
    count = query_pairs(QUERY, GRADE).count()
    ranked = certify(X, GRADE, w=BOOSTER, rival="svm-rank", C=0.1, qid=QUERY)
    given = certify(X, GRADE, lam_from_C(0.1, count, "svm-rank"), w=BOOSTER, qid=QUERY)
    assert (ranked.lam, ranked.primal) == (given.lam, given.primal)


def test_a_c_that_ordered_pairs_cannot_convert_is_refused():
    with pytest.raises(InputError, match="give lam"):
        equal = query_pairs(QUERY, GRADE, share="equal")
        certify(X, None, w=BOOSTER, rival="svm-rank", C=0.1, pairs=equal)
    with pytest.raises(InputError, match="sht-authors"):
        certify(X, GRADE, w=BOOSTER, rival="sht-authors", C=0.1, qid=QUERY)
