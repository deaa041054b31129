"""Kernels of one's own, partial AUC, and short numbers; `test_requests` has all other wishes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    ROCSVM,
    SQUARED_HINGE,
    ElasticNet,
    InputError,
    Status,
    certify,
    cross_validated_path,
    linear_problem,
    ordered_problem,
    regularization_path,
    solve,
    solve_problem,
)
from loops import each, first_fast
from own_parts import Polynomial

RNG = np.random.default_rng(3)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 2)) + 0.5 * Y[:, None]
LAM = 0.05


def explicit(X: np.ndarray) -> np.ndarray:
    """Features whose products are (1 + x'z)^2."""
    a, b, root = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


def test_ranges_of_held_out_auc_hold_where_k_of_x_and_x_is_not_one() -> None:
    """With k(x, x) = 1 taken for granted, the lengths of new rows were far too short."""
    rough = cross_validated_path(X, Y, [0.5, 0.05], cv=3, kernel=Polynomial(), tol=1e-2)
    sharp = cross_validated_path(explicit(X), Y, [0.5, 0.05], cv=3, tol=1e-10)
    assert (rough.fold_low <= sharp.fold_auc).all() and (sharp.fold_auc <= rough.fold_high).all()
    assert (rough.fold_low < rough.fold_high).any()
    path = regularization_path(X, Y, [0.5, 0.05], kernel=Polynomial())
    same = regularization_path(explicit(X), Y, [0.5, 0.05])
    assert path.aucs == pytest.approx(same.aucs, abs=1e-3)


@dataclass(frozen=True)
class Faulty(Polynomial):
    """A polynomial kernel with a fault planted."""

    fault: str = ""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        K = super().__call__(X, Z)
        if self.fault == "shape":
            return K[:-1]
        if self.fault == "nan":
            return np.full_like(K, np.nan)
        if self.fault == "negative":
            return -K
        if self.fault == "skew":
            return K + 0.01 * (X[:, :1] - Z[:, 0])
        return K

    def diagonal(self, X: Any) -> np.ndarray:
        own = super().diagonal(X)
        return {"diagonal": own * 1.01, "minus": -own}.get(self.fault, own)

    def noise(self, X: Any) -> float:
        return {"noise": np.nan, "loud": 2.0}.get(self.fault, super().noise(X))


@each(
    ("fault", "message"),
    [
        ("shape", "gives shapes"),
        ("nan", "not finite"),
        ("negative", "diagonal|negative eigenvalue"),
        ("skew", "not symmetric"),
        ("diagonal", "diagonal that is not"),
        ("minus", "k\\(x, x\\) < 0"),
        ("noise", "a bound in"),
        ("loud", "a bound in"),
    ],
)
def test_a_false_kernel_is_refused(fault: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(X, Y, LAM, kernel=Faulty(fault=fault))


def partial_rows(shift: float = 2.0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + shift * y[:, None], 2), y


@pytest.mark.slow
@each("kernel", ["linear", "rbf"])
@each("loss", first_fast(["hinge", "logistic"]))
def test_solve_and_certify_agree(kernel: str, loss: str) -> None:
    X, y = partial_rows()
    meant = {"kernel": kernel, "loss": loss, "fpr_max": 0.3, "tpr_min": 0.25}
    found = solve(X, y, 0.1, tol=1e-7, **meant)
    assert found.status == "certified"
    audit = certify(X, y, 0.1, w=found.w, tol=1e-6, **meant)
    assert audit.status == "certified"
    assert audit.primal == pytest.approx(found.certificate.primal, rel=1e-9)
    assert f"partial AUC ({loss}, the worst 15 positive and 12 negative rows)" in audit.statement
    whole = certify(X, y, 0.1, w=found.w, kernel=kernel, loss=loss)
    assert whole.gap is not None and whole.gap > 1e-3
    assert audit.primal is not None and whole.primal is not None
    assert audit.primal > whole.primal
    model = ROCSVM(0.1, tol=1e-7, **meant).fit(X, y)
    assert model.certificate_.primal == pytest.approx(found.certificate.primal, rel=1e-6)


def test_a_trivial_surrogate_is_said() -> None:
    X, y = partial_rows(0.0)
    with pytest.warns(UserWarning, match="weights zero are optimal") as of_solve:
        solve(X, y, 0.1, fpr_max=0.1, tpr_min=0.7, tol=1e-6)
    with pytest.warns(UserWarning, match="weights zero are optimal") as of_fit:
        ROCSVM(0.1, fpr_max=0.1, tpr_min=0.7, tol=1e-6).fit(X, y)
    said = [*of_solve, *of_fit]
    assert [warning.filename for warning in said] == [__file__] * len(said)  # the user's own line


def test_short_numbers_are_taken_as_they_are() -> None:
    for kind in (np.float32, np.float16, np.longdouble):
        for asked in ({"lam": 0.05, "l1": 0.1}, {"lam": 0.05, "structure": 0.3}, {"lam": 0.3}):
            short: dict[str, Any] = {name: kind(value) for name, value in asked.items()}
            plain: dict[str, Any] = {name: float(value) for name, value in short.items()}
            one, other = (solve(X, Y, **numbers) for numbers in (short, plain))
            assert one.w.tolist() == other.w.tolist()
            held = one.certificate
            assert held.primal == other.certificate.primal
            assert all(type(x) is float for x in (held.primal, held.dual, held.gap, held.rounding))


def test_stated_problems_have_the_optimum_of_their_data() -> None:
    found, best = solve_problem(linear_problem(X, Y, 0.01), np.ones(2), tol=1e-9), solve(X, Y, 0.01)
    assert found.status == Status.CERTIFIED
    assert found.certificate.primal == pytest.approx(best.certificate.primal)
    qid = np.arange(60) // 6
    ranked = solve_problem(ordered_problem(X, Y, 0.01, qid=qid), method="descent")
    best = solve(X, Y, 0.01, qid=qid)
    assert ranked.certificate.primal == pytest.approx(best.certificate.primal)
    squared = linear_problem(X, Y, 1.0, SQUARED_HINGE)
    sparse = solve_problem(replace(squared, penalty=ElasticNet(0.0, 0.05)), tol=1e-8)
    assert sparse.zeros_proved is not None
