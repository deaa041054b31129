"""The sums over partitions, the blocks of an array, and who works on what."""

from __future__ import annotations

from operator import add
from typing import Any

import numpy as np
import pytest

from aucert.exact import GroupedRows, PartitionedRows, solve
from aucert.exact.spaces.partitions import (
    ArrayPartition,
    LocalEngine,
    Task,
    new_key,
)
from cutting import cut
from loops import each


def count_rows(blocks: Any, index: int) -> str:
    return f"{index}:{sum(block.positive.size for block in blocks)}"


ADDING = Task(count_rows, lambda first, second: f"({first} {second})")


@each("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_answers_are_added_up_in_order_and_it_can_be_heard_how_far_a_pass_is(jobs: int) -> None:
    stated: list[tuple[int, int]] = []
    parts = cut(np.zeros((3, 2)), np.zeros(3, dtype=bool), None, [1, 2])
    task = Task(count_rows, add) if jobs > 1 else ADDING  # a lambda is not sent
    engine = LocalEngine(parts, jobs, lambda *far: stated.append(far))
    found = engine.run(task, new_key())
    assert found.answer == ("0:11:12:1" if jobs > 1 else "((0:1 1:1) 2:1)")
    assert stated == [(1, 3), (2, 3), (3, 3)] and set(found.digests) == {0, 1, 2}
    many = cut(np.zeros((200, 2)), np.zeros(200, dtype=bool), None, [*range(1, 150)])
    assert set(LocalEngine(many).run(ADDING, new_key()).digests) == set(range(150))


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
