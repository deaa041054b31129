"""`solve` and `certify` with `worst_of`: the largest of the groups' means over their own pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import PairList, certify, query_pairs, solve
from aucert.exact.errors import InputError
from aucert.exact.problem.penalties import ElasticNet, Ridge
from convex_programs import worst_reference
from loops import each
from ordered_naive import naive_survival

RNG = np.random.default_rng(2)
N = 40
Y = (np.arange(N) % 5 < 2).astype(int)
MEMBER = np.array(["north", "south", "west"])[RNG.integers(0, 3, N)]
X = np.round(
    RNG.normal(size=(N, 2)) + Y[:, None] * np.where(MEMBER == "west", 0.2, 1.0)[:, None], 1
)
QID, TIME, EVENT = RNG.integers(0, 2, N), np.ceil(9 * RNG.random(N)), RNG.random(N) < 0.7
LAM = 0.05

Pair = tuple[int, int, float]


def within(pairs: list[tuple[int, int, float]]) -> list[list[Pair]]:
    """The pairs of each group, with weights that add up to one."""
    found = []
    for name in np.unique(MEMBER):
        held = [p for p in pairs if MEMBER[p[0]] == MEMBER[p[1]] == name and p[2] > 0]
        mass = sum(c for _, _, c in held)
        found.append([(i, j, c / mass) for i, j, c in held])
    return found


WEIGHT = RNG.integers(0, 3, N)
SURVIVAL = naive_survival(TIME, EVENT)
CLASSES = [(i, j, 1.0) for i in range(N) for j in range(N) if Y[i] > Y[j]]
CASES: dict[str, tuple[dict[str, Any], list[Pair]]] = {
    "classes": ({"y": Y}, CLASSES),
    "other class": ({"y": Y, "positive": 0}, [(j, i, c) for i, j, c in CLASSES]),
    "weighted": (
        {"y": Y, "sample_weight": WEIGHT},
        [(i, j, float(WEIGHT[i] * WEIGHT[j])) for i, j, _ in CLASSES],
    ),
    "queries": ({"y": Y, "qid": QID}, [p for p in CLASSES if QID[p[0]] == QID[p[1]]]),
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
    best, w = worst_reference(X, within(pairs), loss, Ridge(LAM))
    found = solve(X, lam=LAM, worst_of=MEMBER, loss=loss, tol=1e-5, **asked).certificate
    assert found.dual <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.primal
    assert found.relative_gap is not None and found.relative_gap < 1e-4
    audit = certify(X, lam=LAM, w=w, worst_of=MEMBER, loss=loss, max_time=2.0, **asked)
    assert audit.primal == pytest.approx(best, rel=1e-7)
    assert audit.n_pairs == sum(map(len, within(pairs)))
    assert "the worst of 3 groups" in audit.statement


def test_kernels_and_penalties_go_with_groups() -> None:
    kernel = solve(X, Y, LAM, worst_of=MEMBER, kernel="rbf", gamma=0.5, tol=1e-3).certificate
    assert kernel.relative_gap is not None and kernel.relative_gap < 1e-2
    best, _ = worst_reference(X, within(CLASSES), "hinge", ElasticNet(LAM, 0.05))
    found = solve(X, Y, LAM, l1=0.05, worst_of=MEMBER, tol=1e-5).certificate
    assert found.dual <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.primal


def test_equal_rows_of_two_groups_stay_apart() -> None:
    rows, y = np.tile([[0.0], [1.0]], (600, 1)), np.tile([0, 1], 600)
    member = np.arange(1200) < 600
    y[:6] = 1 - y[:6]  # the first group is harder
    first = solve(rows, y, LAM, worst_of=member, tol=1e-4).certificate
    alone = solve(rows[:600], y[:600], LAM, tol=1e-4).certificate
    assert first.dual <= alone.primal + 1e-9 and alone.dual <= first.primal + 1e-9


@each(
    ("more", "why"),
    [
        ({"worst_of": MEMBER[:-1]}, "40 rows, but worst_of of shape"),
        ({"worst_of": MEMBER[:, None]}, "label a row"),
        ({"worst_of": np.arange(N) == 0}, "no two rows of group True"),
        ({"fpr_max": 0.5}, "worst_of goes without"),
        ({"structure": 1.0}, "worst_of goes without"),
        ({"pairs": PairList(np.array([0]), np.array([2]))}, "makes the pairs"),
        ({"y": None, "pairs": query_pairs(QID, Y, share="equal")}, "no share"),
        ({"method": "descent"}, "mean over pairs"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict, why: str) -> None:
    with pytest.raises(InputError, match=why):
        solve(X, **({"y": Y, "lam": LAM, "worst_of": MEMBER} | more))


def test_scores_and_rivals_have_no_worst_group() -> None:
    for more in ({"lam": LAM, "scores": X[:, 0]}, {"rival": "dlib", "C": 1.0, "w": [1.0, 0.0]}):
        with pytest.raises(InputError, match="needs weights and lam"):
            certify(X, Y, worst_of=MEMBER, **more)
