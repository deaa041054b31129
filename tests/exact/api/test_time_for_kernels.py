"""A limit of time covers the features of a large kernel, and the certificate stays true."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import aucert.exact.api.solve as solving_module
import aucert.exact.formulation.formulation as formulation_module
import aucert.exact.spaces.factor as factor_module
import aucert.exact.structured as structured_module
from aucert.exact import ROCSVM, TooLargeError, certify, solve
from aucert.exact.api.solve import solve_both
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.request import Options, Request
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


def test_structure_on_more_features_than_its_matrix_may_have_is_cut_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    shape = {"kernel": "rbf", "gamma": 0.5, "structure": 1.0}
    whole = solve(X, y, lam=1e-2, **shape).certificate
    for module in (factor_module, structured_module):
        monkeypatch.setattr(module, "SQUARE_LIMIT", 15)
    with pytest.raises(TooLargeError, match="and 15 is the most"):
        solve(X, y, lam=1e-2, **shape)
    found = solve(X, y, lam=1e-2, max_time=60.0, **shape).certificate
    assert found.dual <= whole.primal and found.primal >= whole.dual
    assert found.gap > whole.gap


def test_features_that_do_not_fit_are_refused_or_cut_under_a_limit_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    shape = {"kernel": "rbf", "gamma": 0.5}
    whole = solve(X, y, lam=1e-2, **shape).certificate
    monkeypatch.setattr(factor_module, "FEATURE_NUMBERS", 80 * 12 + 5)
    with pytest.raises(TooLargeError, match=r"80 rows needs more than 12 features.*Nystrom"):
        solve(X, y, lam=1e-2, **shape)
    found = solve(X, y, lam=1e-2, max_time=60.0, **shape)
    assert found.status == Status.STALLED  # not for want of time
    assert found.certificate.dual <= whole.primal and found.certificate.primal >= whole.dual
    narrow = solve(X[:, :1].round(0), y, lam=1e-2, **shape)  # few different rows: they fit
    assert narrow.status == Status.CERTIFIED


def test_an_audit_of_coefficients_bounds_the_same_optimum_with_features_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    shape = {"kernel": "rbf", "gamma": 0.5}
    whole = solve(X, y, lam=1e-2, **shape)
    monkeypatch.setattr(factor_module, "FEATURE_NUMBERS", 80 * 12 + 5)
    with pytest.raises(TooLargeError, match="set max_time"):
        certify(X, y, lam=1e-2, w=whole.w, **shape)
    audit = certify(X, y, lam=1e-2, w=whole.w, max_time=60.0, **shape)
    assert audit.primal == pytest.approx(whole.certificate.primal, rel=1e-9)
    assert audit.dual is not None and audit.gap is not None and audit.primal is not None
    assert audit.dual <= whole.certificate.primal and 0 < audit.gap < audit.primal


def test_limit_of_time_is_named_where_it_cut_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    with pytest.warns(match="time ran out"):
        model = ROCSVM(lam=1e-2, kernel="rbf", gamma=0.5, max_time=1e-9).fit(X, y)
    assert model.status_ == Status.TIME_LIMIT
    assert model.certificate_.gap > 0


def test_features_cut_by_time_are_no_stalled_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    column_by_column(monkeypatch)
    monkeypatch.setattr(factor_module, "FEATURE_NUMBERS", 80 * 5)
    request = Request.of(1e-2, "squared_hinge", kernel="rbf", gamma=0.5)
    for spent, status in ((1.0, Status.STALLED), (31.0, Status.TIME_LIMIT)):
        ticks = iter([0.0, spent])
        monkeypatch.setattr(solving_module, "clock", SimpleNamespace(monotonic=ticks.__next__))
        found = solve_both(X, y, request, Options(max_time=60.0))[1]
        assert found.status == status
