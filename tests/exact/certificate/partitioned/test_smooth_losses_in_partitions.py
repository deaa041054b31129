"""Smooth losses over partitions: pair by pair, any way to cut the rows, the optimum in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.evaluation import Evaluator, gather
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.formulation.partitioned import partitioned_problem
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import ALL_LOSSES, SmoothHinge
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem
from aucert.exact.spaces import partitions as engine
from aucert.exact.spaces.partitions import LocalEngine, PartitionedRows, Reply, Task
from aucert.exact.sums.binned import squared_ruler
from aucert.exact.sums.convolved import smooth_ruler
from cutting import cut
from loops import each, seeds

SMOOTH = [loss for name, loss in ALL_LOSSES.items() if name != "hinge"] + [SmoothHinge(0.3)]
BY_BIN = [loss for loss in SMOOTH if loss.name not in ("square", "exponential")]


def some_rows(n: int, d: int, seed: int, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    positive[:2] = True, False
    X = rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0
    return (np.round(2 * X) if whole else X), positive


def rows_in(
    X: np.ndarray, positive: np.ndarray, parts: int, weight: np.ndarray | None = None
) -> PartitionedRows:
    rng = np.random.default_rng(parts)
    places = sorted(rng.integers(0, X.shape[0] + 1, parts - 1).tolist())
    return PartitionedRows(cut(X, positive, weight, places))


def over(space: PartitionedRows, loss: Any, lam: float = 1e-2) -> Problem:
    problem = partitioned_problem(space, None, Request.of(lam, loss))
    assert problem is not None
    return problem


def alpha_by_hand(loss: Any, s: np.ndarray, r: np.ndarray, K: float) -> np.ndarray:
    """Return alpha of every pair of scores, at the bins that the evaluation states."""
    if loss.name in ("square", "exponential"):
        return loss.alpha(s[:, None] - r[None])
    a, b = np.floor(K * s), np.floor(K * r)
    m = a[:, None] - b[None]
    if loss.name == "squared_hinge":
        z = 1 - (s[:, None] - r[None])
        return np.where(K - m >= 1, 2 * z, 0.0)
    return loss.alpha(m / K)


@each("kept", [True, False])
@each("parts", [1, 5])
@each("seed", seeds(4))
@each("loss", SMOOTH, ids=lambda loss: f"{loss.name}{loss.smoothness:.2g}")
def test_an_evaluation_is_that_of_its_pairs_within_its_bounds(
    loss: Any, seed: int, parts: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties, one positive row, a constant column, weights and a far row among them."""
    if not kept:
        monkeypatch.setattr(engine, "KEPT_NUMBERS", 0)
    X, positive = some_rows(50, 2, seed, whole=seed == 1)
    weight = np.random.default_rng(1).random(50) + 0.1 if seed == 3 else None
    if seed == 2:
        positive[:] = False
        positive[17], X[:, 1] = True, 3.0
    if seed == 0 and loss.name != "exponential":
        X[7, 0] = 500.0
    space = rows_in(X, positive, parts, weight)
    w = np.random.default_rng(seed).normal(size=2)
    found = Evaluator(over(space, loss)).at(w, 32)
    scores = np.zeros(50)
    for k in range(2):
        scores += (X[:, k] - space.offset[k]) * w[k]
    mass = np.ones(50) if weight is None else weight
    share = np.outer(mass[positive], mass[~positive]).astype(np.longdouble)
    share /= share.sum()
    s, r = scores[positive], scores[~positive]
    alpha = alpha_by_hand(loss, s, r, float(found.bins))
    tiny = 1e-13 * (1 + float((share * np.abs(alpha)).sum()) * float(np.abs(scores).max()))
    assert abs(float((share * loss.dual(alpha)).sum()) - found.total) <= found.total_rounding + tiny
    u, v = (share * alpha).sum(axis=1), (share * alpha).sum(axis=0)
    Z = X - space.offset
    pull = (u @ Z[positive] - v @ Z[~positive]).astype(float)
    assert np.linalg.norm(pull - found.pull) <= found.pull_error + tiny * (1 + space.reach)
    true = float((share * loss.value(s[:, None] - r[None])).sum())
    assert found.loss + found.loss_rounding >= true - tiny
    if found.bins > 1:
        assert found.loss <= true + found.loss_rounding + tiny + loss.smoothness / 2 / found.bins**2
    else:
        assert found.loss <= true + found.loss_rounding + tiny
    # What it says of other weights: U(w) >= V - g'w.
    for other in np.random.default_rng(9).normal(size=(5, 2)):
        there = Z @ other
        margins = there[positive][:, None] - there[~positive][None]
        if loss.name == "exponential" and float(margins.min()) < -50:
            continue
        U = float((share * loss.value(margins)).sum())
        room = found.total_rounding + found.pull_error * float(np.linalg.norm(other))
        assert found.total - float(found.pull @ other) - room <= U * (1 + 1e-12) + tiny


@each("weighted", [False, True])
@each("loss", BY_BIN, ids=lambda loss: f"{loss.name}{loss.smoothness:.2g}")
def test_counts_are_the_same_bits_for_any_partitioning(loss: Any, weighted: bool) -> None:
    X, positive = some_rows(3000, 4, 0)
    weight = np.random.default_rng(1).integers(0, 4, 3000).astype(float) if weighted else None
    w = np.array([1.0, -2.0, 0.5, 0.1])
    held, found = [], []
    for parts in (1, 7, 1000):
        space = rows_in(X, positive, parts, weight)
        sums = Evaluator(over(space, loss))
        found.append(sums.at(w, 64))
        extent = np.array([-30.0, 30.0, -30.0, 30.0])
        squared = loss.name == "squared_hinge"
        ruler = squared_ruler(extent, 64) if squared else smooth_ruler(extent, 64, loss)
        stated = space.total(partial(gather, space.offset, w, ruler, 4 if weighted else 3, True))
        stated = stated.moments(ruler.powers)
        held.append(stated)
    for one, evaluation in zip(held[1:], found[1:], strict=True):
        np.testing.assert_array_equal(one.held[..., 0], held[0].held[..., 0])
        np.testing.assert_array_equal(one.ends, held[0].ends)
        if loss.name != "squared_hinge":
            assert evaluation.total == found[0].total
        room = evaluation.pull_error + found[0].pull_error
        assert np.linalg.norm(evaluation.pull - found[0].pull) <= room < 1e-9


@each("seed", seeds(24))
def test_the_optimum_is_that_in_memory(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 700)), int(rng.integers(1, 6))
    X, positive = some_rows(n, d, seed, whole=seed % 3 == 0)
    weight = rng.integers(1, 4, n).astype(float) if seed % 4 == 1 else None
    if seed % 8 == 3:
        weight = rng.random(n) + 0.1
    loss = SMOOTH[seed % len(SMOOTH)]
    lam = float(10.0 ** rng.uniform(-3, 0))
    held = solve(X, positive, lam, loss=loss, sample_weight=weight, tol=1e-8)
    rows = rows_in(X, positive, int(rng.integers(1, 20)), weight)
    apart = solve(rows, None, lam, loss=loss, tol=1e-6)
    assert apart.status == Status.CERTIFIED
    room = sum(s.certificate.gap for s in (held, apart))
    assert abs(held.certificate.primal - apart.certificate.primal) <= room


@pytest.mark.slow
@each("loss", ["squared_hinge", "logistic", "exponential"])
def test_many_rows_are_solved_and_certified(loss: str) -> None:
    """A sample is solved first; the weights' certificate is that in memory."""
    X, positive = some_rows(60_000, 3, 0)
    rows = rows_in(X, positive, 11)
    found = solve(rows, None, 1e-2, loss=loss, tol=1e-7)
    held = certify(X, positive, 1e-2, loss=loss, w=found.w, tol=1e-7)
    assert found.status == Status.CERTIFIED
    assert held.primal is not None and held.dual is not None
    room = found.certificate.gap + (held.rounding or 0.0)
    assert abs(held.primal - found.certificate.primal) <= room
    audit = certify(rows, None, 1e-2, loss=loss, w=found.w, refine=False)
    assert audit.primal == pytest.approx(held.primal, abs=1e-6)


def test_an_estimator_is_fitted() -> None:
    X, positive = some_rows(3000, 2, 1)
    model = ROCSVM(lam=1e-2, loss="logistic", tol=1e-6).fit(rows_in(X, positive, 4), None)
    held = ROCSVM(lam=1e-2, loss="logistic", tol=1e-6).fit(X, positive)
    np.testing.assert_allclose(model.coef_, held.coef_, atol=3e-3)


@each("loss", [loss.name for loss in SMOOTH[:-1]])
def test_a_shrunk_dual_point_is_a_bound_too(loss: str) -> None:
    X, positive = some_rows(400, 2, 1)
    problem = over(rows_in(X, positive, 3), loss, 0.1)
    best = solve(X, positive, 0.1, loss=loss).certificate
    for scale in (0.0, 0.4, 1.0):
        witness = Minorant.from_weights(problem, np.array([0.3, -0.2]), 64, 0, scale)
        found = Certificate.of(problem, np.zeros(2), witness)
        assert found.dual <= best.primal + found.rounding


def test_a_wrong_sum_over_partitions_is_noticed() -> None:
    X, positive = some_rows(500, 2, 0)

    class Dropping(LocalEngine):
        def run(self, task: Task, key: np.ndarray) -> Reply:
            found = super().run(task, key)
            if hasattr(found.answer, "rows"):
                found.answer.rows -= 1
            return found

    for loss in ("logistic", "square"):
        space = rows_in(X, positive, 5)
        space.engine = Dropping(space.engine.partitions)
        with pytest.raises(CertificateError, match="please report this"):
            Evaluator(over(space, loss)).at(np.array([1.0, 0.5]), 16)


def test_what_cannot_be_done_is_said() -> None:
    X, positive = some_rows(100, 2, 0)
    rows = rows_in(X, positive, 3)

    class Own:
        name, lipschitz, smoothness, nonincreasing = "own", 1.0, 0.25, True

        def __getattr__(self, part: str) -> Any:
            return getattr(ALL_LOSSES["logistic"], part)

    with pytest.raises(InputError, match="have no sums of the loss 'own': choose one of hinge"):
        solve(rows, None, 1e-2, loss=Own())  # type: ignore[arg-type]
    problem = over(rows, "logistic")
    with pytest.raises(InputError, match="has a binned dual point a width or scale"):
        Minorant.from_weights(problem, np.zeros(2), 64, 1)
    far = PartitionedRows(cut(np.array([[0.0], [2e3], [1e3]]), positive[:3] * 1 == 1, None, [1]))
    with pytest.raises(InputError, match="the exponential loss overflows"):
        certify(far, None, 1.0, loss="exponential", w=[1.0], refine=False)
