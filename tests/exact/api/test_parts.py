"""Kernels and losses of one's own, penalties, partial AUC and the worst of groups, by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    ROCSVM,
    SAUCSVM,
    SQUARED_HINGE,
    ElasticNet,
    InputError,
    Ridge,
    Rows,
    Status,
    certify,
    cross_validated_path,
    linear_problem,
    ordered_problem,
    regularization_path,
    solve,
    solve_problem,
)
from aucert.exact.problem.penalties import penalty_from
from convex_programs import reference, worst_reference
from loops import each, first_fast
from ordered_naive import naive_survival
from own_parts import Box, Polynomial, RoundedHinge, WeightedL1

RNG = np.random.default_rng(3)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 2)) + 0.5 * Y[:, None]
LAM = 0.05


def explicit(X: np.ndarray) -> np.ndarray:
    """Features whose products are (1 + x'z)^2."""
    a, b, root = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


@each("structure", [0.0, 0.7])
@each("loss", ["hinge", "squared_hinge", "square", RoundedHinge()])
def test_a_polynomial_kernel_is_the_linear_machine_in_its_features(
    loss: Any, structure: float
) -> None:
    asked = {"loss": loss, "structure": structure, "tol": 1e-7}
    own = solve(X, Y, LAM, kernel=Polynomial(), **asked)
    rows = solve(explicit(X), Y, LAM, **asked)
    assert own.status == rows.status == Status.CERTIFIED
    assert own.certificate.primal == pytest.approx(rows.certificate.primal, rel=2e-7)
    audit = certify(X, Y, LAM, kernel=Polynomial(), w=own.w, **asked)
    assert audit.gap is not None and audit.gap <= 2e-7 * own.certificate.primal
    with_scores = certify(X, Y, LAM, kernel=Polynomial(), scores=explicit(X) @ rows.w, **asked)
    assert with_scores.dual == pytest.approx(rows.certificate.primal, rel=1e-6)
    model = SAUCSVM(LAM, structure, kernel=Polynomial()).set_params(loss=loss, tol=1e-7).fit(X, Y)
    new = np.random.default_rng(4).normal(size=(7, 2))
    off = model.decision_function(new) - explicit(new) @ rows.w
    assert np.ptp(off) <= 4e-3  # scores have a common constant free


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


PRNG = np.random.default_rng(1)
PY = np.arange(30) % 3 == 0
PX = np.round(PRNG.normal(size=(30, 4)) + 0.5 * PY[:, None], 1)
PX[5], PY[5] = PX[8], PY[8]  # equal rows of one class become one
PPAIRS = [
    (i, j, 1 / (PY.sum() * (~PY).sum())) for i in np.flatnonzero(PY) for j in np.flatnonzero(~PY)
]
WISHES: list[dict[str, Any]] = [
    {"lam": 0.1, "l1": 0.02},
    {"lam": 0.0, "l1": 0.02},
    {"lam": 0.1, "l1": 0.02, "groups": ["a", "a", "b", "b"]},
    {"lam": 0.1, "sign": "nonnegative"},
    {"lam": 0.1, "l1": 0.02, "sign": [0, 1]},
    {"penalty": Box(0.1, -0.01, 0.03)},
    {"penalty": WeightedL1(0.1, np.array([0.0, 0.01, 0.02, 0.03]))},
]


@each("wish", WISHES, ids=str)
@each("loss", ["squared_hinge", RoundedHinge()], ids=["square", "own"])
def test_solve_and_certify_agree_with_clarabel(wish: dict[str, Any], loss: Any) -> None:
    penalty = wish.get("penalty") or penalty_from(**wish)
    name = loss if isinstance(loss, str) else loss.name
    best, _ = reference(np.asarray(Rows(PX).X), PPAIRS, name, penalty)
    found = solve(PX, PY, loss=loss, tol=1e-7, **wish)
    assert found.status == "certified" and found.method == "proximal"
    certificate = found.certificate
    assert certificate.dual <= best + 1e-8
    assert best - 1e-8 <= certificate.primal
    w = np.array([0.5, 0.2, 0.1, 0.0])
    audit = certify(PX, PY, w=w, loss=loss, tol=1e-7, **wish)
    assert audit.gap is not None and audit.primal is not None
    assert audit.dual <= best + 1e-8
    assert audit.primal - best == pytest.approx(audit.gap, abs=1e-6)
    assert (audit.radius is None) == (penalty.l2 == 0)


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


GRNG = np.random.default_rng(2)
N = 40
GY = (np.arange(N) % 5 < 2).astype(int)
MEMBER = np.array(["north", "south", "west"])[GRNG.integers(0, 3, N)]
GX = np.round(
    GRNG.normal(size=(N, 2)) + GY[:, None] * np.where(MEMBER == "west", 0.2, 1.0)[:, None], 1
)
QID, TIME, EVENT = GRNG.integers(0, 2, N), np.ceil(9 * GRNG.random(N)), GRNG.random(N) < 0.7
GLAM = 0.05
Pair = tuple[int, int, float]


def within(pairs: list[tuple[int, int, float]]) -> list[list[Pair]]:
    """The pairs of each group, with weights that add up to one."""
    found = []
    for name in np.unique(MEMBER):
        held = [p for p in pairs if MEMBER[p[0]] == MEMBER[p[1]] == name and p[2] > 0]
        mass = sum(c for _, _, c in held)
        found.append([(i, j, c / mass) for i, j, c in held])
    return found


WEIGHT = GRNG.integers(0, 3, N)
SURVIVAL = naive_survival(TIME, EVENT)
CLASSES = [(i, j, 1.0) for i in range(N) for j in range(N) if GY[i] > GY[j]]
CASES: dict[str, tuple[dict[str, Any], list[Pair]]] = {
    "classes": ({"y": GY}, CLASSES),
    "other class": ({"y": GY, "positive": 0}, [(j, i, c) for i, j, c in CLASSES]),
    "weighted": (
        {"y": GY, "sample_weight": WEIGHT},
        [(i, j, float(WEIGHT[i] * WEIGHT[j])) for i, j, _ in CLASSES],
    ),
    "queries": ({"y": GY, "qid": QID}, [p for p in CLASSES if QID[p[0]] == QID[p[1]]]),
    "survival": (
        {"y": None, "time": TIME, "event": EVENT},
        [(i, j, 1.0) for i, j in zip(SURVIVAL.i, SURVIVAL.j, strict=True)],
    ),
}


@pytest.mark.slow
@each("loss", ["hinge", "squared_hinge"])
@each("kind", CASES)
def test_the_optimum_of_the_listed_pairs_lies_in_the_interval(kind: str, loss: str) -> None:
    asked, pairs = CASES[kind]
    best, w = worst_reference(GX, within(pairs), loss, Ridge(GLAM))
    found = solve(GX, lam=GLAM, worst_of=MEMBER, loss=loss, tol=1e-5, **asked).certificate
    assert found.dual <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.primal
    assert found.relative_gap is not None and found.relative_gap < 1e-4
    audit = certify(GX, lam=GLAM, w=w, worst_of=MEMBER, loss=loss, max_time=2.0, **asked)
    assert audit.primal == pytest.approx(best, rel=1e-7)
    assert audit.n_pairs == sum(map(len, within(pairs)))
    assert "the worst of 3 groups" in audit.statement


def test_kernels_penalties_and_short_numbers_are_taken_as_they_are() -> None:
    kernel = solve(GX, GY, GLAM, worst_of=MEMBER, kernel="rbf", gamma=0.5, tol=1e-3).certificate
    assert kernel.relative_gap is not None and kernel.relative_gap < 1e-2
    best, _ = worst_reference(GX, within(CLASSES), "hinge", ElasticNet(GLAM, 0.05))
    found = solve(GX, GY, GLAM, l1=0.05, worst_of=MEMBER, tol=1e-5).certificate
    assert found.dual <= best * (1 + 1e-7) and best * (1 - 1e-7) <= found.primal
    for kind in (np.float32, np.float16, np.longdouble):
        for asked in ({"lam": 0.05, "l1": 0.1}, {"lam": 0.05, "structure": 0.3}, {"lam": 0.3}):
            short: dict[str, Any] = {name: kind(value) for name, value in asked.items()}
            plain: dict[str, Any] = {name: float(value) for name, value in short.items()}
            one, other = (solve(GX, GY, **numbers) for numbers in (short, plain))
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
