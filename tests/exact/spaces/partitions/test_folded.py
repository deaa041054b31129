"""The tree of sums over partitions, the blocks of an array, and who works on what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucert.exact import GroupedRows, PartitionedRows, solve
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.spaces.partitions import (
    ArrayPartition,
    Folded,
    LocalEngine,
    Reply,
    Task,
    new_key,
)
from cutting import cut
from loops import each


def count_rows(blocks: Any, index: int) -> str:
    return f"{index}:{sum(block.positive.size for block in blocks)}"


def add(first: Any, second: Any) -> Any:
    return f"({first} {second})" if isinstance(first, str) else first + second


ADDING = Task(count_rows, add)
"""Its answers are floats, or the words that add them up."""


def leaf(index: int, answer: Any) -> Reply:
    return Reply({index: b""}, answer)


def by_hand(names: list[str]) -> str:
    """Return how neighbours are added up, level by level."""
    while len(names) > 1:
        pairs = [names[k : k + 2] for k in range(0, len(names), 2)]
        names = [f"({pair[0]} {pair[1]})" if len(pair) == 2 else pair[0] for pair in pairs]
    return names[0]


@given(st.integers(1, 40).flatmap(lambda n: st.permutations(range(n))), st.randoms())
def test_the_tree_is_the_same_whoever_adds_up_what(order: list[int], rng: Any) -> None:
    count = len(order)
    expected = by_hand([str(k) for k in range(count)])
    cuts = sorted(rng.sample(range(count + 1), rng.randrange(count + 1)))
    whole = Folded(ADDING, count)
    for a, b in zip([0, *cuts], [*cuts, count], strict=True):
        some = Folded(ADDING, count)
        for k in order[a:b]:
            some.add(leaf(k, str(k)), k)
        whole.add_all(some.nodes)
    assert whole.total().answer == expected
    assert set(whole.total().digests) == set(range(count))


@given(st.integers(2, 20), st.data())
def test_one_that_is_missing_or_comes_twice_is_noticed(count: int, data: Any) -> None:
    odd = data.draw(st.integers(0, count - 1))
    order = data.draw(st.permutations(range(count)))
    some = Folded(ADDING, count)
    for k in order:
        if k != odd:
            some.add(leaf(k, 1.0), k)
    with pytest.raises(CertificateError, match=f"partition {odd} has not answered"):
        some.total()
    some.add(leaf(odd, 1.0), odd)
    with pytest.raises(CertificateError, match=f"partition {odd} was counted twice"):
        some.add(leaf(odd, 1.0), odd)
        some.total()


def test_no_answer_at_all_is_noticed() -> None:
    with pytest.raises(CertificateError, match="partition 0 has not answered"):
        Folded(ADDING, 1).total()


def test_how_far_a_pass_is_can_be_heard() -> None:
    stated: list[tuple[int, int]] = []
    parts = cut(np.zeros((3, 2)), np.zeros(3, dtype=bool), None, [1, 2])
    engine = LocalEngine(parts, heard=lambda *far: stated.append(far))
    engine.run(ADDING, new_key())
    assert stated == [(1, 3), (2, 3), (3, 3)]
    engine.heard = None
    engine.run(ADDING, new_key())
    assert len(stated) == 3


@pytest.mark.slow
def test_processes_add_up_and_tell_as_this_one_does() -> None:
    X = np.zeros((37, 2))
    parts = cut(X, np.zeros(37, dtype=bool), None, [*range(1, 35)])
    stated: list[tuple[int, int]] = []
    here, there = LocalEngine(parts), LocalEngine(parts, 2, lambda *far: stated.append(far))
    assert here.run(ADDING, new_key()).answer == there.run(ADDING, new_key()).answer
    assert stated[-1] == (35, 35) and [done for done, _ in stated] == sorted({d for d, _ in stated})


@each("kind", ["<f4", ">f4", "<f8", ">f8", "f2", "i2", "u1", "?"])
@each("turned", [False, True])
def test_blocks_are_the_columns_in_any_format(kind: str, turned: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(60_000, 4)) * 10 % 100, dtype=kind)
    given = np.asfortranarray(X) if turned else X
    part = ArrayPartition(given, np.arange(60_000) % 3 == 0, np.arange(60_000.0))
    blocks = list(part.blocks())
    assert len(blocks) > 1
    found = np.concatenate([block.columns for block in blocks], axis=1)
    assert found.dtype == np.dtype(float)
    assert all(block.columns.flags.c_contiguous for block in blocks)
    np.testing.assert_array_equal(found, X.astype(float).T)


def test_tuples_of_arrays_are_partitions() -> None:
    rng = np.random.default_rng(0)
    X, weight, group = rng.normal(size=(60, 2)), np.arange(60) % 3 + 1.0, np.arange(60) // 10
    key, cuts = X[:, 0] + rng.normal(size=60), [slice(0, 30), slice(30, 60)]
    for arrays in ((X, key > 0), (X, key > 0, weight)):
        rows = PartitionedRows([tuple(array[k] for array in arrays) for k in cuts])
        apart = PartitionedRows(cut(X, key > 0, None if len(arrays) == 2 else weight, [30]))
        one, two = (solve(space, None, 1e-1).certificate for space in (rows, apart))
        assert (one.primal, one.dual) == (two.primal, two.dual)
    for arrays in ((X, group, key), (X, group, key, weight)):
        rows = GroupedRows([tuple(array[k] for array in arrays) for k in cuts])
        assert (rows.n, rows.parts, rows.groups) == (60, 2, 6)
        kept = {"qid": group, "sample_weight": weight if len(arrays) == 4 else None}
        one, two = solve(rows, None, 1e-1).certificate, solve(X, key, 1e-1, **kept).certificate
        assert abs(one.primal - two.primal) <= one.gap + two.gap


@each(
    "space, part, match",
    [
        (PartitionedRows, np.zeros((2, 2)), "must be"),
        (PartitionedRows, (np.zeros((2, 2)),), "must be"),
        (GroupedRows, (np.zeros((2, 2)), [0, 1]), "must be"),
        (PartitionedRows, (np.zeros((2, 2)), [0, 1]), "bool"),
        (PartitionedRows, (np.zeros(2), [False, True]), "matrix"),
        (GroupedRows, (3.0, [0, 1], [0, 1]), "matrix"),
        (PartitionedRows, (np.zeros((2, 2)), [False, True, True]), "3 labels"),
    ],
)
def test_what_is_not_a_partition_is_refused(space: Any, part: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        space([part])
