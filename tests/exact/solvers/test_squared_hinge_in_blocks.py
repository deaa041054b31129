"""The squared hinge over rows in blocks: the optimum of the rows in memory, with a certificate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aucert.exact.api import solve as solving
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.evaluation import Evaluator
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant, Weights
from aucert.exact.problem.problem import Problem, Ridge
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.blocks import StreamedRows
from loops import each


def data(kind: str, seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(n, 3)), rng.random(n) < 0.4, None
    X[y, 0] += 1.0
    if kind == "ties":
        X = np.round(X)
    elif kind == "constant":
        X[:, 1] = 7.0
    elif kind == "one positive":
        y = np.arange(n) == 5
    elif kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "outlier":
        X[0] = 1e4
    elif kind == "weights":
        weight = rng.uniform(0.5, 3, n)
    elif kind == "wide":
        X = np.hstack([X, rng.normal(size=(n, 30))])
    return X, y, weight


@each(
    "kind",
    ["plain", "ties", "constant", "one positive", "duplicates", "outlier", "weights", "wide"],
)
@each("lam", [1e-4, 1.0])
def test_blocks_and_memory_agree(kind: str, lam: float) -> None:
    X, y, weight = data(kind, 1)
    tol = 1e-6 if kind == "outlier" else 1e-8  # its size costs digits, in memory too
    how = {"lam": lam, "loss": "squared_hinge", "sample_weight": weight, "tol": tol}
    held = solve(X, y, **how).certificate
    found = solve(StreamedRows(X, block=100), y, **how)
    streamed = found.certificate
    assert found.status == Status.CERTIFIED
    slack = held.gap + streamed.gap
    assert abs(held.primal - streamed.primal) <= slack


def test_many_rows_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X, y, _ = data("plain", 2, 70_000)
    monkeypatch.setattr(solving, "HELD_NUMBERS", 1000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows in (X, mapped):
        found = solve(rows, y, lam=1e-3, loss="squared_hinge", tol=1e-9)
        assert found.status == Status.CERTIFIED and isinstance(found.minorant.evidence, Weights)


def problem_of(X: np.ndarray, y: np.ndarray, lam: float = 1e-2) -> Problem:
    risk = Mean(AllPairs().on(y), SQUARED_HINGE)
    return Problem(StreamedRows(X, block=64), risk, Ridge(lam))


@each("bins", [8, 512])
def test_an_evaluation_bounds_the_true_sums(bins: int) -> None:
    X, y, _ = data("plain", 3)
    problem, w = problem_of(X, y), np.array([0.7, -0.2, 0.1])
    found = Evaluator(problem).at(w, bins)
    scores = (X - StreamedRows(X).offset) @ w
    z = 1 - scores[y][:, None] + scores[~y][None, :]
    true = float((np.maximum(z, 0) ** 2).mean())
    assert true <= found.loss + found.loss_rounding <= true + 1 / bins**2
    certificate = Certificate.of(problem, w, Minorant.from_weights(problem, w, bins, 0))
    assert certificate.primal >= true + 0.005 * float(w @ w)
    best = solve(X, y, lam=1e-2, loss="squared_hinge", tol=1e-10).certificate
    assert certificate.dual <= best.primal


def test_what_it_cannot_do_is_refused() -> None:
    X, y, _ = data("plain", 4)
    problem = problem_of(X, y)
    for bad in (
        lambda: Descent().solve(Problem(problem.space, problem.risk, Ridge(1.0)), X[0, :2]),
        lambda: Minorant.from_weights(problem, X[0], 8, 2),
        lambda: Minorant.from_weights(problem, X[0], 8, 0, 0.5),
    ):
        with pytest.raises(InputError):
            bad()


def test_the_time_limit_is_kept() -> None:
    X, y, _ = data("plain", 5, 60_000)
    found = solve(StreamedRows(X), y, lam=1e-3, loss="squared_hinge", tol=1e-14, max_time=1e-3)
    assert found.status == Status.TIME_LIMIT
    assert found.certificate.gap >= 0
