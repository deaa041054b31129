"""The largest flow against linear programmes, for all pairs and on a staircase."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.pairs import ordered_pairs
from aucert.exact.pairs.marginals import largest_flow
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from loops import each, seeds
from ordered_naive import Naive, naive_ordered

Flow = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def random_flow(seed: int) -> Flow:
    """Return u, v, a, b: ties, zeros, marginals of a true alpha, or nearly, or not at all."""
    rng = np.random.default_rng(seed)
    p, q = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    a, b = rng.uniform(0.1, 1, p), rng.uniform(0.1, 1, q)
    if seed % 3 == 0:  # whole numbers: many ties and zeros
        a, b = rng.integers(0, 3, p).astype(float), rng.integers(0, 3, q).astype(float)
        a[0], b[0] = 1.0, 1.0
    a, b = a / a.sum(), b / b.sum()
    alpha = np.clip(rng.normal(0.5, 0.6, size=(p, q)), 0, 1) * np.outer(a, b)
    u, v = alpha.sum(axis=1), alpha.sum(axis=0)
    kind = seed % 4
    if kind == 1:
        u = u * rng.uniform(0.5, 2, p)
    elif kind == 2:
        u, v = rng.permutation(u), rng.permutation(v)
    elif kind == 3:
        u = rng.integers(0, 3, p) / 2 * a
        v = rng.integers(0, 3, q) / 2 * b
    return u, v, a, b


def by_linear_program(i: Any, j: Any, caps: Any, u: np.ndarray, v: np.ndarray) -> float:
    """The largest sum of 0 <= flow <= caps over the pairs, with row sums <= u, column sums <= v."""
    m, columns = len(i), np.arange(len(i))
    sides = [sp.csr_matrix((np.ones(m), (k, columns)), (w.size, m)) for k, w in ((i, u), (j, v))]
    bounds, limits = [(0, float(cap)) for cap in caps], np.concatenate([u, v])
    found = linprog(-np.ones(m), A_ub=sp.vstack(sides), b_ub=limits, bounds=bounds, method="highs")
    return -float(found.fun)


@each("seed", seeds(150))
def test_largest_flow_is_that_of_the_linear_programme(seed: int) -> None:
    u, v, a, b = random_flow(seed)
    i, j = (k.ravel() for k in np.indices((u.size, v.size)))
    wanted = by_linear_program(i, j, a[i] * b[j], u, v)
    assert largest_flow(u, v, a, b) == pytest.approx(wanted, abs=1e-9)


def test_tiny_weights_beside_large_ones_keep_the_flow_accurate() -> None:
    """What is left of the caps is added up: subtracted from the whole it would be lost."""
    a, b = np.ones(10), np.concatenate([[1.0], np.full(1000, 7e-20)])
    u, v = np.zeros(10), 0.15 * b
    u[0], v[0] = 1.0, 0.0
    flow = largest_flow(u, v, a, b)
    assert flow == pytest.approx(1000 * 0.15 * 7e-20, rel=1e-12)


def some_case(seed: int) -> tuple[OrderedPairs, Naive, np.ndarray, np.ndarray]:
    """Pairs of weights 0 and 1, and marginals that may be infeasible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    group, key = rng.integers(0, 1 + seed % 2, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    a[:2], b[:2], group[:2], key[:2] = 1, 1, 0, [0, 1]
    share = 1.0 + group if seed % 4 == 1 else None
    naive = naive_ordered(group, key, a, b, None, share)
    alpha = rng.uniform(0, 1, len(naive.i)) if seed % 3 else rng.integers(0, 2, len(naive.i))
    carried = alpha * np.array([float(w) for w in naive.weight])
    u, v = np.zeros(n), np.zeros(n)
    np.add.at(u, naive.i, carried)
    np.add.at(v, naive.j, carried)
    if seed % 5:
        u = rng.permutation(u) if seed % 5 == 1 else u * rng.uniform(0, 2, n)
        v = v + rng.uniform(0, 0.05, n) * rng.integers(0, 2, n)
    return OrderedPairs(group, key, a, b, share=share), naive, u, v


@each("seed", seeds(60))
def test_flow_and_deficiency_of_ordered_pairs_are_those_of_the_linear_program(seed: int) -> None:
    pairs, naive, u, v = some_case(seed)
    flow, missing, rounding = pairs.deficiency(u, v)
    wanted = by_linear_program(naive.i, naive.j, naive.weight, u, v)
    assert flow == pytest.approx(wanted, abs=1e-9)
    assert missing == pytest.approx(max(float(u.sum() + v.sum()) - 2 * wanted, 0.0), abs=2e-9)
    assert 0 <= rounding < 1e-12 and (rounding > 0 or u.sum() + v.sum() == 0)
    if seed % 5 == 0:
        assert missing <= rounding  # they are marginals of the alpha that they were made from


def test_weights_and_large_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    key, u = np.arange(5), np.zeros(5)
    with pytest.raises(InputError, match="0 or 1"):
        OrderedPairs(None, key, upper=[0, 1, 2, 1, 1]).deficiency(u, u)
    monkeypatch.setattr(ordered_pairs, "LARGEST_LEVEL", 4)
    with pytest.raises(TooLargeError, match="give the scores"):
        OrderedPairs(None, key).deficiency(u, u)
