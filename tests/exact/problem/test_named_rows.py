"""A list of few pairs is a problem over the rows it names; the line search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import draw_pairs
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.line_search import root_of_slope
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import SparseWhitened
from loops import each

LOSSES = ["hinge", "squared_hinge", "square"]


def few_pairs(loss: str = "hinge", sparse: bool = False, n: int = 400) -> Problem:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n) < 0.3
    X = np.where(rng.uniform(size=(n, 4)) < 0.5, rng.normal(size=(n, 4)) + y[:, None], 0.0)
    drawn = draw_pairs(y, 60, 1)
    pairs = PairList(drawn.i, drawn.j, rng.uniform(size=60))
    return pair_problem(
        Rows(sp.csr_array(X) if sparse else X), y, pairs, get_loss(loss), Ridge(0.05)
    )


@each("loss", LOSSES)
@each("sparse", [False, True])
def test_objective_gradient_and_certificate_are_those_of_all_rows(loss: str, sparse: bool) -> None:
    whole = few_pairs(loss, sparse)
    near = whole.named_rows()
    assert near.n <= 120 < whole.n and near.n_pairs == whole.n_pairs
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=4)
        assert near.objective(w) == pytest.approx(whole.objective(w), rel=1e-12)
        pulls = [p.space.pull(p.sums(p.space.scores(w)).c) for p in (near, whole)]
        np.testing.assert_allclose(*pulls, rtol=1e-10, atol=1e-13)
        one, other = (
            Certificate.of(p, w, Minorant.from_scores(p, p.space.scores(w))) for p in (near, whole)
        )
        assert one.gap == pytest.approx(other.gap, rel=1e-9)


def test_all_pairs_and_long_lists_stay_as_they_are() -> None:
    whole = few_pairs()
    assert whole.with_pairs(AllPairs()).named_rows().n == whole.n
    long = whole.with_pairs(draw_pairs(whole.pairs.positive, 4 * whole.n, 0))
    assert long.named_rows() is long


def test_rows_that_are_no_matrix_or_would_be_refused_alone_stay_whole() -> None:
    sparse = few_pairs(sparse=True)
    assert isinstance(sparse.space, Rows)
    whitened = sparse.over(SparseWhitened(sparse.space, np.eye(4)))
    assert whitened.named_rows() is whitened
    X = np.array([[1.0], [-1.0], [2.0], [3.0], [1e-150], [2e-150]])
    pairs, positive = PairList(np.array([4]), np.array([5])), np.array([1, 0, 1, 0, 1, 0]) == 1
    tiny = pair_problem(Rows(X), positive, pairs, get_loss("hinge"), Ridge(0.1))
    assert tiny.named_rows() is tiny


def counted(slope: Callable[[float], float]) -> tuple[Callable[[float], float], list[float]]:
    """Return the slope, and the list of its arguments as it grows."""
    calls: list[float] = []

    def seen(t: float) -> float:
        calls.append(t)
        return slope(t)

    return seen, calls


@each("root", [1e-3, 0.3, 1.0, 7.0, 1e4])
def test_it_finds_the_root_loosely(root: float) -> None:
    slope, calls = counted(lambda t: (t - root) * (1 + 3 * (t > root)))
    found = root_of_slope(slope, -root, loose=0.3)
    assert calls[-1] == found and abs(slope(found)) <= 0.3 * root
    assert len(calls) < 16


def test_a_slope_that_does_not_fall_is_left_at_once() -> None:
    slope, calls = counted(lambda t: t)
    assert root_of_slope(slope, 0.0) == root_of_slope(slope, np.nan) == 0.0 and not calls


@each("root", [0.02, 0.5, 0.97])
def test_a_jump_is_closed_in_from_both_sides(root: float) -> None:
    slope, calls = counted(lambda t: 1e9 if t > root else -1.0)
    low = root_of_slope(slope, -1.0, 0.0, 200, limit=1.0, narrow=1e-3)
    assert low <= root <= min(t for t in calls if t > root) <= low / (1 - 1e-3)
    assert len(calls) < 60


def test_the_limit_is_kept_where_the_slope_still_falls() -> None:
    slope, calls = counted(lambda t: t - 50.0)
    assert root_of_slope(slope, -50.0, 0.1, limit=3.0) == 3.0 and max(calls) == 3.0
    assert root_of_slope(slope, -50.0, 0.1, limit=1.0) == 1.0


def test_a_trial_that_is_refused_is_not_the_end() -> None:
    slope, calls = counted(lambda t: t - 0.5)
    found = root_of_slope(slope, -0.5, 1.0, accept=lambda t: t < 0.6)
    assert calls[0] == 1.0 and found < 0.6


def test_where_the_time_is_up_the_last_trial_is_the_answer() -> None:
    slope, calls = counted(lambda t: t - 0.01)
    found = root_of_slope(slope, -0.01, 0.1, stop=lambda: len(calls) == 2)
    assert found == calls[1] and len(calls) == 2
