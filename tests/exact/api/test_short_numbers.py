"""A weight of a shorter or longer format means the number that it is, and proves no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant, Mix, Scores
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem, pair_problem
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.spaces.rows import Rows
from loops import each

FORMATS = [np.float32, np.float16, np.longdouble]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.uniform(size=40) < 0.5
ASKED: list[dict[str, float]] = [
    {"lam": 0.05},
    {"lam": 0.05, "l1": 0.1},
    {"lam": 0.0, "l1": 0.05},
    {"lam": 0.05, "structure": 0.3},
    {"lam": 0.05, "gamma": 0.3},
]


def stated(found: Any) -> tuple[Any, ...]:
    certificate = found.certificate
    numbers = (certificate.primal, certificate.dual, certificate.gap, certificate.rounding)
    assert all(type(number) is float for number in numbers), [type(number) for number in numbers]
    return (*numbers, found.w.tolist())


@each("loss", list(ALL_LOSSES))
@each("asked", ASKED, ids=str)
@each("kind", FORMATS)
def test_solve_takes_it_as_the_float_that_it_is(
    kind: type, asked: dict[str, float], loss: str
) -> None:
    short: dict[str, Any] = {name: kind(value) for name, value in asked.items()}
    plain: dict[str, Any] = {name: float(value) for name, value in short.items()}
    kernel = "rbf" if "gamma" in asked else "linear"
    one, other = (solve(X, Y, **numbers, kernel=kernel, loss=loss) for numbers in (short, plain))
    assert stated(one) == stated(other)


@pytest.mark.slow
@each("kind", FORMATS)
def test_groups_estimators_and_audits_take_it_too(kind: type) -> None:
    both = (kind(0.05), kind(0.1)), (float(kind(0.05)), float(kind(0.1)))
    grouped = [solve(X, Y, lam, l1=l1, groups=[0, 0, 1]) for lam, l1 in both]
    assert stated(grouped[0]) == stated(grouped[1])
    fitted = [ROCSVM(lam=lam, l1=l1).fit(X, Y) for lam, l1 in both]
    assert np.array_equal(fitted[0].coef_, fitted[1].coef_)
    w = grouped[0].w
    audits = [certify(X, Y, lam, w=w, l1=l1) for lam, l1 in both]
    assert audits[0].gap == audits[1].gap and type(audits[0].gap) is float


@each("kind", FORMATS)
@each("loss", ["hinge", "square"])
def test_evidence_takes_it_too(loss: str, kind: type) -> None:
    problem: Problem = pair_problem(Rows(X), Y, AllPairs(), ALL_LOSSES[loss], Ridge(kind(0.05)))
    assert type(problem.lam) is float and type(Gaussian(kind(0.3)).gamma) is float
    scores, width, scale = X[:, 0], kind(0.3 if loss == "hinge" else 0.0), kind(0.7)
    made = [
        Minorant.from_scores(problem, scores, a, b)
        for a, b in ((width, scale), (float(width), float(scale)))
    ]
    made += [
        problem.risk.minorant(Mix(((s, Scores(scores, 0.0, 1.0)),))) for s in (scale, float(scale))
    ]
    for one, other in (made[:2], made[2:]):
        assert one.value == other.value and np.array_equal(one.c, other.c)
        assert (one.value_error, one.c_error) == (other.value_error, other.c_error)
        assert np.asarray(one.value).dtype == np.float64


@each("name", ["y", "groups", "qid", "worst_of"])
def test_a_list_of_lists_is_one_sentence(name: str) -> None:
    ragged = [[0, 1], [2], *([0] for _ in range(38))]
    given: dict[str, Any] = {"y": Y, "l1": 0.1} | {name: ragged}
    with pytest.raises(ValueError, match=r"list of lists|one group a feature"):
        solve(X, given.pop("y"), 0.1, **given)
