"""Rows that change between two readings are seen at any time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import certify, solve
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, Ridge, pair_problem, split_labels
from aucert.exact.spaces.blocks import STRETCH, Fingerprints, StreamedRows
from loops import each

RNG = np.random.default_rng(4)
X = RNG.normal(size=(3000, 3))
POSITIVE = X[:, 0] + RNG.normal(size=3000) > 0.5


class Changing:
    """Rows whose reading number `after` and later ones are those of another matrix."""

    def __init__(self, X: np.ndarray, other: np.ndarray, after: int):
        self.X, self.other, self.after, self.count = X, other, after, 0
        self.shape = X.shape

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.count += 1
        return (self.X if self.count <= self.after else self.other)[rows]


def problem_over(source: Any, block: int = 1000) -> Problem:
    return pair_problem(StreamedRows(source, block), POSITIVE, AllPairs(), HINGE, Ridge(1e-2))


def swapped() -> np.ndarray:
    """The same rows, a positive one exchanged with a negative one."""
    other = X.copy()
    i, j = np.flatnonzero(POSITIVE)[0], np.flatnonzero(~POSITIVE)[-1]
    other[[i, j]] = X[[j, i]]
    return other


def readings_before_and_in_a_certificate() -> tuple[int, int]:
    source = Changing(X, X, 10**9)
    problem = problem_over(source)
    before = source.count
    w = np.ones(3)
    Certificate.of(problem, w, Minorant.from_weights(problem, w, 64, 2))
    return before, source.count


def test_a_certificate_is_refused_at_whatever_reading_the_rows_change() -> None:
    before, whole = readings_before_and_in_a_certificate()
    assert whole >= before + 6  # two passes of three blocks at least
    w = np.ones(3)
    for after in range(before, whole - 1):  # the last block is read with the others' change
        problem = problem_over(Changing(X, swapped(), after))
        with pytest.raises(InputError, match="changed while it was read") as refused:
            Certificate.of(problem, w, Minorant.from_weights(problem, w, 64, 2))
        assert "nothing is proved" in str(refused.value)


@each("kind", [np.float64, np.float32])
@each("call", ["solve", "certify"])
def test_a_file_that_changes_during_a_solve_is_named(tmp_path: Path, kind: Any, call: str) -> None:
    path = tmp_path / "X.npy"
    np.save(path, X.astype(kind))
    mapped = np.load(path, mmap_mode="r")
    other = np.load(path, mmap_mode="r+")

    def change(*_: object) -> None:
        other[[0, -1]] = other[[-1, 0]]
        other.flush()

    class Hooked(np.memmap):
        def __getitem__(self, rows: Any) -> Any:
            self.count = getattr(self, "count", 0) + 1
            if self.count == 150:  # after the first pass, which 64 samples and 1 block make
                change()
            return np.memmap.__getitem__(self, rows)

    source = mapped if call == "solve" else mapped.view(Hooked)
    with pytest.raises(InputError, match=r"X\.npy changed while it was read"):
        if call == "solve":
            solve(source, POSITIVE, 1e-2, callback=change)
        else:
            space = StreamedRows(source, 100)
            certify(space, POSITIVE, w=np.ones(3), lam=1e-2, refine=False)


def test_a_memory_map_that_stays_is_certified_as_an_array_is(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = solve(mapped, POSITIVE, 1e-2, tol=1e-6)
    wanted = solve(StreamedRows(X), POSITIVE, 1e-2, tol=1e-6)
    assert found.certificate == wanted.certificate


def changes() -> dict[str, np.ndarray]:
    size = 3 * STRETCH + 7
    base = np.random.default_rng(0).normal(size=(size, 1))
    base[5] = base[6]
    made = {"nothing": base.copy()}
    for name, places in {
        "the first": [0],
        "the last": [size - 1],
        "two signs": [3, 3 + STRETCH],
        "two signs of a stretch": [8, 9],
        "all signs": list(range(size)),
    }.items():
        made[name] = base.copy()
        made[name][places] *= -1
    made["two rows swapped"] = base.copy()
    made["two rows swapped"][[10, 2000]] = base[[2000, 10]]
    made["the order"] = base[::-1].copy()
    made["the last bit"] = base.copy()
    made["the last bit"][77] = np.nextafter(base[77], np.inf)
    made["the sign of zero"], made["nothing but zeros"] = base * 0 + 0.0, base * 0 + 0.0
    made["the sign of zero"][11] = -0.0
    return made


@each("name", [name for name in changes() if not name.startswith("nothing")])
def test_every_change_is_seen(name: str) -> None:
    made = changes()
    base = made["nothing but zeros" if name == "the sign of zero" else "nothing"]
    for _ in range(20):
        marks = Fingerprints("it")
        marks.checked(slice(0, base.size), base)
        assert np.array_equal(marks.checked(slice(0, base.size), base.copy()), base)
        with pytest.raises(InputError, match="it changed while it was read"):
            marks.checked(slice(0, base.size), made[name])


def test_the_block_that_was_checked_does_not_change_afterwards() -> None:
    block = X[:50].copy()
    held = Fingerprints("it").checked(slice(0, 50), block)
    block[:] = 0.0
    assert np.array_equal(held, X[:50])


def test_labels_and_weights_on_disk_are_read_once(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", POSITIVE.astype(int))
    y = np.load(tmp_path / "y.npy", mmap_mode="r+")
    np.save(tmp_path / "weight.npy", np.ones(3000))
    weight = np.load(tmp_path / "weight.npy", mmap_mode="r+")
    mask, pairs = split_labels(y)[0], AllPairs(weight)
    y[:], weight[:] = 0, 0.0
    assert np.array_equal(mask, POSITIVE)
    assert pairs.weight is not None and pairs.weight.all()
