"""Large rows and kernels: a limit of time, threads, and rows read in blocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import aucert.exact.formulation.formulation as formulation_module
import aucert.exact.spaces.factor as factor_module
import aucert.exact.structured as structured_module
from aucert.exact import ROCSVM, TooLargeError, certify, regularization_path, solve
from aucert.exact.api import solve as solving
from aucert.exact.certificate.solution import Status
from aucert.exact.spaces import rows as row_blocks
from loops import each


def column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of more than 20 rows are large."""
    for module in (factor_module, formulation_module):
        monkeypatch.setattr(module, "DENSE_LIMIT", 20)


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of more than 20 rows are factored a column at a time, one second for each."""
    ticks = iter(range(10**6))
    column_by_column(monkeypatch)
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    monkeypatch.setattr(factor_module, "time", clock)


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, (X[:, 0] + rng.normal(size=80) > 0.3).astype(int)


@pytest.mark.usefixtures("few_at_once")
@each("structure", [0.0, 1.0])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_features_cut_short_by_time_bound_the_same_optimum(loss: str, structure: float) -> None:
    X, y = rows()
    shape = {"kernel": "rbf", "gamma": 0.5, "structure": structure, "loss": loss}
    whole = solve(X, y, lam=1e-2, **shape)
    gaps = []
    for seconds in (2.0, 20.0, 60.0, 400.0):
        cut = solve(X, y, lam=1e-2, max_time=seconds, **shape)
        found = cut.certificate
        assert found.dual <= whole.certificate.primal and found.primal >= whole.certificate.dual
        assert (cut.status == Status.CERTIFIED) == found.reaches(1e-9)
        gaps.append(found.gap)
    assert gaps[0] > 1e-3 * whole.certificate.primal and gaps[-1] < 1e-8


@each("structure", [0.0, 1.0])
def test_features_that_do_not_fit_are_refused_or_cut(structure: float, monkeypatch) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    shape = {"kernel": "rbf", "gamma": 0.5, "structure": structure}
    whole, match = solve(X, y, lam=1e-2, **shape).certificate, "and 15 is the most"
    if structure:
        for module in (factor_module, structured_module):
            monkeypatch.setattr(module, "SQUARE_LIMIT", 15)
    else:
        monkeypatch.setattr(factor_module, "FEATURE_NUMBERS", 80 * 12 + 5)
        match = r"80 rows needs more than 12 features.*Nystrom"
        narrow = solve(X[:, :1].round(0), y, lam=1e-2, **shape)  # few different rows: they fit
        assert narrow.status == Status.CERTIFIED
    with pytest.raises(TooLargeError, match=match):
        solve(X, y, lam=1e-2, **shape)
    found = solve(X, y, lam=1e-2, max_time=60.0, **shape)
    assert structure or found.status == Status.STALLED  # not for want of time
    assert found.certificate.dual <= whole.primal and found.certificate.primal >= whole.dual
    assert found.certificate.gap > whole.gap


def many_rows(n: int = 400, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


CALLS: dict[str, dict[str, Any]] = {
    "hinge": {},
    "squared hinge": {"loss": "squared_hinge"},
    "cutting planes": {"method": "cutting-plane"},
    "logistic": {"loss": "logistic"},
    "kernel": {"kernel": "rbf"},
}


@pytest.fixture(params=["held", "blocks"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rows that are held, their products made in parts, or rows read in blocks."""
    monkeypatch.setattr(row_blocks, "SHARED", 1)
    if request.param == "blocks":
        monkeypatch.setattr(solving, "HELD_ROWS", 10)
    return request.param


def test_many_tied_rows_are_solved_to_the_last_digits() -> None:
    """Bins alone stall on them, and a second solve would begin anew."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2))
    y = X @ [1.0, 0.5] + rng.normal(size=len(X)) > 0.8
    found = solve(X.round(), y, 1e-3, tol=1e-9)
    assert found.status == Status.CERTIFIED


@each("name", CALLS)
def test_answers_are_the_same_for_any_number_of_threads(name: str, form: str) -> None:
    if form == "blocks" and name not in ("hinge", "squared hinge"):
        pytest.skip("only these read rows in blocks")
    X, y = many_rows()
    found, w = [], np.linspace(0, 1, X.shape[1])
    for jobs in (1, 2, 4):
        with threadpool_limits(min(jobs, 2), user_api="blas"):  # for any setting of the user
            made = solve(X, y, 0.1, tol=1e-5, n_jobs=jobs, **CALLS[name])
            found.append([made.w.tolist(), made.certificate])
            if name == "hinge":
                audit = certify(X, y, 0.1, w=w, n_jobs=jobs)
                path = regularization_path(X, y, [1.0, 0.1], tol=1e-4, n_jobs=jobs)
                model = ROCSVM(lam=0.1, tol=1e-4, n_jobs=jobs).fit(X, y)
                found[-1] += [audit.primal, audit.dual, path.gaps.tolist(), model.coef_.tolist()]
    assert found[0] == found[1] == found[2]
