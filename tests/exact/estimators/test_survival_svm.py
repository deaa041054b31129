"""SurvivalSVM, and `solve` by query and over survival times."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from aucert.exact import SurvivalSVM, concordance_index, ordered_problem, solve, survival_pairs
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from ordered_naive import naive_ordered, naive_survival


def some_data(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, times with ties, and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    time = np.round(rng.exponential(np.exp(-X @ [1.0, 0.5, 0.0])), 1)
    return X, time, rng.random(n) < 0.7


def structured(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """As scikit-survival has it."""
    y = np.empty(time.size, dtype=[("status", bool), ("days", float)])
    y["status"], y["days"] = event, time
    return y


def test_both_forms_of_y_are_one_problem() -> None:
    X, time, event = some_data()
    first = SurvivalSVM(0.01).fit(X, time, event)
    second = SurvivalSVM(0.01).fit(sp.csr_matrix(X), structured(time, event))
    assert first.status_ is Status.CERTIFIED
    assert second.coef_ == pytest.approx(first.coef_, abs=1e-2)
    wanted = concordance_index(time, event, first.predict(X)).value
    assert first.score(X, structured(time, event)) == first.score(X, time, event) == wanted > 0.6


def test_the_squared_hinge_is_linear_svc_on_the_differences() -> None:
    X, time, event = some_data(40)
    naive = naive_survival(time, event)
    D = X[naive.i] - X[naive.j]
    lam = 0.1
    signs = np.where(np.arange(len(D)) % 2 == 0, 1, -1)
    svc = LinearSVC(C=1 / (lam * len(D)), fit_intercept=False, tol=1e-10, max_iter=100_000)
    svc.fit(D * signs[:, None], signs)
    model = SurvivalSVM(lam, loss="squared_hinge", tol=1e-10).fit(X, time, event)
    assert model.coef_ == pytest.approx(svc.coef_[0], abs=1e-5)
    assert survival_pairs(time, event).mass == len(D)


def test_scikit_survivals_model_is_inside_the_interval() -> None:
    """On times without ties; where times are tied it breaks the ties at random."""
    try:
        svm = importlib.import_module("sksurv.svm")
    except ImportError:
        pytest.skip("scikit-survival is not installed")
    X, _, event = some_data(200)
    time = np.random.default_rng(5).permutation(200) + 1.0
    pairs = survival_pairs(time, event)
    for lam in (0.01, 1.0):
        alpha = 2 / (lam * pairs.mass)
        theirs = svm.FastSurvivalSVM(alpha=alpha, rank_ratio=1, max_iter=200, tol=1e-10)
        with warnings.catch_warnings():  # it asks for more than rounding leaves
            warnings.simplefilter("ignore")
            theirs.fit(X - X.mean(axis=0), structured(time, event))
        problem = ordered_problem(X, None, lam, loss="squared_hinge", time=time, event=event)
        ours = SurvivalSVM(lam, loss="squared_hinge", tol=1e-9).fit(X, time, event)
        proved, value = ours.certificate_, problem.objective(-theirs.coef_)
        assert proved.dual <= value <= proved.primal * (1 + 1e-6)


def test_solve_by_query_is_linear_svc_on_the_differences() -> None:
    rng = np.random.default_rng(1)
    X, qid, grade = rng.normal(size=(60, 3)), rng.integers(0, 8, 60), rng.integers(0, 3, 60)
    naive = naive_ordered(qid, grade, None, None)
    D = X[naive.i] - X[naive.j]
    signs = np.where(np.arange(len(D)) % 2 == 0, 1, -1)
    svc = LinearSVC(C=1 / (0.1 * len(D)), fit_intercept=False, tol=1e-10, max_iter=100_000)
    svc.fit(D * signs[:, None], signs)
    solution = solve(X, grade, 0.1, loss="squared_hinge", qid=qid)
    assert solution.status is Status.CERTIFIED
    assert solution.w == pytest.approx(svc.coef_[0], abs=1e-4)


def test_in_a_pipeline_and_a_search() -> None:
    X, time, event = some_data(90)
    model = make_pipeline(StandardScaler(), SurvivalSVM(0.01))
    scores = cross_val_score(model, X, structured(time, event), cv=3)
    assert scores.shape == (3,) and (scores > 0.5).all()


def test_a_gap_above_the_tolerance_is_a_warning() -> None:
    X, time, event = some_data(400)
    with pytest.warns(ConvergenceWarning):
        model = SurvivalSVM(1e-6, tol=1e-14, max_time=1e-3).fit(X, time, event)
    assert model.status_ is not Status.CERTIFIED and np.isfinite(model.certificate_.gap)


def test_bad_input_is_refused() -> None:
    X, time, event = some_data(20)
    wrong = np.zeros(20, dtype=[("a", float), ("b", float)])
    for y, seen, message in (
        (time[1:], None, "rows"),
        (wrong, None, "truth values"),
        (structured(time, event), event, "leave event out"),
        (time, ~event & False, "no pair"),
        (np.where(event, np.nan, time), event, "finite"),
    ):
        with pytest.raises(InputError, match=message):
            SurvivalSVM().fit(X, y, seen)
    refused: list[dict[str, Any]] = [
        {"y": time, "qid": time, "time": time},
        {"y": time, "time": time},
        {"y": None, "event": event},
        {"y": None, "qid": time},
        {"y": time, "qid": time, "kernel": "rbf"},
        {"y": time, "qid": time, "l1": 0.1},
        {"y": time, "qid": time, "fpr_max": 0.1},
        {"y": time, "qid": time, "sample_weight": time},
    ]
    for arguments in refused:
        with pytest.raises(InputError):
            solve(X, lam=1.0, **arguments)
    with pytest.raises(InputError, match="give qid"):
        ordered_problem(X, time, 1.0)
    with pytest.raises(InputError, match="lam"):
        SurvivalSVM(0.0).fit(X, time, event)
    with pytest.raises(InputError, match="tol"):
        SurvivalSVM(tol=0.0).fit(X, time, event)


def test_penalties_make_zeros_that_are_proved() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 6))
    time, event = np.exp(-X[:, 0] + 0.3 * rng.normal(size=120)), rng.random(120) < 0.7
    model = SurvivalSVM(0.0, loss="squared_hinge", l1=0.1).fit(X, time, event)
    zeros = model.solution_.zeros_proved
    assert zeros is not None and zeros[1:].all() and not zeros[0]
    assert np.abs(model.coef_[1:]).max() < 1e-6 < model.coef_[0]
    assert model.certificate_.radius is None
    grouped = SurvivalSVM(0.01, loss="squared_hinge", l1=0.3, groups=[0, 0, 1, 1, 2, 2])
    held = grouped.fit(X, time, event).solution_.zeros_proved
    assert held is not None and held.tolist() == [False, False, True, True, True, True]
    signed = SurvivalSVM(0.01, loss="squared_hinge", sign="nonnegative").fit(X, time, event)
    assert (signed.coef_ >= 0).all() and signed.solution_.zeros_proved is not None
    with pytest.raises(InputError, match="lam"):
        SurvivalSVM(0.0).fit(X, time, event)
