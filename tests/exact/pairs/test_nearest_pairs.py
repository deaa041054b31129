"""Nearest pairs against a double loop, for every rule, and the pair counts of [SAUC, Fig. 3]."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import aucert.exact.pairs.nearest_pairs as module
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.validation.data.datasets import load


def squared_distance(x: np.ndarray, z: np.ndarray) -> float:
    return sum((a - b) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))


def nearest(X: np.ndarray, anchor: int, others: list[int], k: int) -> list[int]:
    """The k nearest of `others`, ties to the lower row number."""
    return sorted(others, key=lambda j: (squared_distance(X[anchor], X[j]), j))[:k]


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
@settings(max_examples=200, deadline=None)
def test_every_rule_is_its_double_loop(seed: int, rule: str, grid: bool) -> None:
    """On a grid of whole numbers distances tie all the time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    X = rng.integers(-2, 3, (n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    k = int(rng.integers(1, n + 2))
    options = {"rule": "union"} if rule == "union" else {"anchor_filter": rule}
    expected = naive_pairs(X, positive, k, options.get("rule", "anchor"), rule)
    if not expected:
        with pytest.raises(InputError, match="keeps no anchor"):
            nearest_pairs(X, positive, k, **options)
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
