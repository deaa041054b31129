"""All pairs, listed pairs and nearest pairs: counts, weights, incidence, and far weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import aucert.exact.pairs.nearest_pairs as module
from aucert.exact import AllPairs, Mean, PairList, StreamedRows, solve
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.validation.data.datasets import load
from decimal_losses import mean_of
from loops import each, refuses
from naive import exact, weighted_pairs
from problems import some_labels

POSITIVE = np.array([True, False, True, False, False])
WEIGHT = np.array([1.0, 2.0, 3.0, 4.0, 2.0])
LISTED = PairList(np.array([0, 0, 2]), np.array([1, 1, 3]), np.array([1.0, 2.0, 1.0])).on(POSITIVE)


def test_counts_weights_and_incidence_are_those_of_the_pairs() -> None:
    assert AllPairs().on(POSITIVE).count() == 6 and LISTED.count() == 3
    assert AllPairs().on(np.arange(4_000_000) < 2_000_000).count() == 4_000_000_000_000
    pairs = AllPairs(WEIGHT).on(POSITIVE)
    few = AllPairs(WEIGHT).on(np.arange(POSITIVE.size) == 0)
    assert pairs.n_pos > 1 and pairs.mass != few.mass  # both are kept, but not for other labels
    assert pairs.on(few.positive).n_pos == 1 and pairs.on(few.positive).mass == few.mass
    assert [side.tolist() for side in pairs.normalised()] == [[0.25, 0.75], [0.25, 0.5, 0.25]]
    assert pairs.row_mass().tolist() == [0.25, 0.25, 0.75, 0.5, 0.25]
    assert LISTED.row_mass().tolist() == [0.75, 0.75, 0.25, 0.25, 0.0]
    scores, alpha = np.array([3.0, 1.0, 0.0, 5.0, 9.0]), np.array([0.5, 1.0, 0.25])
    A = LISTED.incidence()
    assert A.shape == (3, 5)
    assert (A @ scores).tolist() == LISTED.margins(scores).tolist() == [2.0, 2.0, -5.0]
    assert (A.T @ (LISTED.c * alpha)).tolist() == LISTED.marginals(alpha).tolist()
    assert LISTED.marginals(alpha).tolist() == [0.625, -0.625, 0.0625, -0.0625, 0.0]


@each("form", ["auto", "binned"])
@each("loss", ["hinge", "squared_hinge"])
@each("size", [1.0, 1e200, 1e-200])
def test_far_weights_keep_the_bounds(form: Any, loss: str, size: float) -> None:
    y, scores = np.arange(5) < 3, np.array([0.3, -1.7, 2.1, 0.9, -0.4])
    pairs = AllPairs(size * np.array([3e-90, 7e-91, 2e-90, 1.0, 0.3]), form=form)
    found = Mean(pairs.on(y), ALL_LOSSES[loss]).sums(scores)
    true = mean_of(loss, exact(scores), weighted_pairs(y.tolist(), pairs))
    apart, room = true - exact(found.value), exact(found.value_rounding)
    assert apart <= room and (form == "binned" or -apart <= room)


@each("least", [3e-322, 1e-290, 1e-101])
def test_weights_too_far_apart_are_refused(least: float) -> None:
    # Their products would be subnormal numbers, of few digits, or zero: U was off by 0.24 of 1.
    refuses("apart", AllPairs, np.array([3 * least, least, 2 * least, 1.0, 0.3]))
    refuses("apart", PairList, np.array([0, 1]), np.array([3, 4]), np.array([least, 1.0]))


@each("at", range(1, 9))
def test_weights_that_the_caller_changes_meanwhile_stay_what_they_were(at: int) -> None:
    # Evaluations of two problems met in one certificate: its gap was below minus its rounding.
    rng = np.random.default_rng(at)
    y = np.arange(300) % 3 == 0
    rows = rng.normal(size=(300, 3)) + 0.7 * y[:, None]
    given, steps = rng.integers(1, 4, 300).astype(float), []
    kept = given.copy()

    def change(step: Any) -> None:
        steps.append(step)
        if len(steps) == at:
            given[:] = np.where(np.arange(300) % 2, 5.0, 1.0)

    found = solve(StreamedRows(rows), y, 0.01, sample_weight=given, tol=1e-4, callback=change)
    same = solve(StreamedRows(rows), y, 0.01, sample_weight=kept, tol=1e-4)
    assert found.certificate == same.certificate


def test_lists_and_weights_are_their_own() -> None:
    i, j, weight = np.array([0, 2]), np.array([3, 4]), WEIGHT.copy()
    listed, pairs = PairList(i, j).on(POSITIVE), AllPairs(weight).on(POSITIVE)
    i[:], j[:], weight[:] = 2, 3, 1.0
    assert (listed.i.tolist(), listed.j.tolist()) == ([0, 2], [3, 4])
    assert pairs.weight is not None and np.array_equal(pairs.weight, WEIGHT)


def nearest(X: np.ndarray, anchor: int, others: list[int], k: int) -> list[int]:
    """The k nearest of `others`, ties to the lower row number."""
    return sorted(others, key=lambda j: (sum((X[anchor] - X[j]) ** 2), j))[:k]


def naive_pairs(
    X: np.ndarray, positive: np.ndarray, k: int, rule: str, anchor_filter: str
) -> set[tuple[int, int]]:
    """The rules word by word."""
    plus, minus = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
    found = set()
    for i in plus:
        if anchor_filter == "E" and not any(i in nearest(X, j, plus, k) for j in minus):
            continue
        everyone = [r for r in range(len(X)) if r != i]
        if anchor_filter == "A" and not any(j in minus for j in nearest(X, i, everyone, k)):
            continue
        found |= {(i, j) for j in nearest(X, i, minus, k)}
    if rule == "union":
        found |= {(i, j) for j in minus for i in nearest(X, j, plus, k)}
    return found


def as_set(pairs: PairList) -> set[tuple[int, int]]:
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


@given(
    seed=st.integers(0, 2**32),
    rule=st.sampled_from(["none", "E", "A", "union"]),
    grid=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_every_rule_is_its_double_loop(seed: int, rule: str, grid: bool) -> None:
    """On a grid of whole numbers distances tie all the time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    X = rng.integers(-2, 3, (n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    positive = some_labels(rng, n)
    k = int(rng.integers(1, n + 2))
    options = {"rule": "union"} if rule == "union" else {"anchor_filter": rule}
    expected = naive_pairs(X, positive, k, options.get("rule", "anchor"), rule)
    if not expected:
        refuses("keeps no anchor", nearest_pairs, X, positive, k, **options)
        return
    found = nearest_pairs(X, positive, k, **options)
    assert as_set(found) == expected
    assert found.i.size == len(expected), "no pair twice"
    order = list(zip(found.i.tolist(), found.j.tolist(), strict=True))
    assert order == sorted(order)
    assert np.array_equal(found.c, np.full(found.i.size, 1 / found.i.size))


def test_the_result_does_not_depend_on_blocks_or_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("xor:60", seed=3)
    for options in ({"rule": "union"}, {"anchor_filter": "A"}, {"anchor_filter": "E"}):
        whole = as_set(nearest_pairs(data.X, data.is_positive, 4, **options))
        with monkeypatch.context() as patch:
            patch.setattr(module, "_BLOCK_BYTES", 8 * 100)
            assert as_set(nearest_pairs(data.X, data.is_positive, 4, **options)) == whole
        sparse = sp.csr_matrix(data.X)
        assert as_set(nearest_pairs(sparse, data.is_positive, 4, **options)) == whole
