"""The same bits for one, two and four threads: of solutions, certificates and paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from aucert.exact import ROCSVM, certify, regularization_path, solve
from aucert.exact.api import solve as solving
from aucert.exact.certificate.audit import Audit
from aucert.exact.spaces import rows as row_blocks
from loops import each

JOBS = (1, 2, 4)


def rows(n: int = 400, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
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


@each("name", CALLS)
def test_solutions_are_the_same_for_any_number_of_threads(name: str, form: str) -> None:
    if form == "blocks" and name not in ("hinge", "squared hinge"):
        pytest.skip("only these read rows in blocks")
    X, y = rows()
    found = []
    for jobs in JOBS:
        with threadpool_limits(min(jobs, 2), user_api="blas"):  # for any setting of the user
            found.append(solve(X, y, 0.1, tol=1e-5, n_jobs=jobs, **CALLS[name]))
    for other in found[1:]:
        assert np.array_equal(other.w, found[0].w)
        assert other.certificate == found[0].certificate


def bounds(found: Audit) -> tuple[float | None, ...]:
    return found.primal, found.dual, found.rounding


def test_certificates_paths_and_models_are_the_same(form: str) -> None:
    X, y = rows()
    w = np.linspace(0, 1, X.shape[1])
    for call in (
        lambda jobs: bounds(certify(X, y, 0.1, w=w, n_jobs=jobs)),
        lambda jobs: regularization_path(X, y, [1.0, 0.1], tol=1e-4, n_jobs=jobs).gaps.tolist(),
        lambda jobs: ROCSVM(lam=0.1, tol=1e-4, n_jobs=jobs).fit(X, y).coef_.tolist(),
    ):
        assert call(1) == call(2) == call(4)
