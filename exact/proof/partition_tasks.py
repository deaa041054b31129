"""What a proof file asks of each partition: whole numbers, the same wherever they are computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..spaces.partitions.partition import Block
from ..tools.atomic_files import write_atomically
from . import check_partitions
from .evidence import LARGEST_REPETITION


@dataclass(frozen=True, eq=False)
class CellsTask:
    """Hashes a partition, and counts its rows by the bins of two points' scores."""

    offset: np.ndarray
    points: list[np.ndarray]
    units: int
    shift: int

    def run(self, blocks: Iterator[Block], index: int) -> dict[int, Any]:
        """Return hash, size, and the cells of each point, of one partition."""
        digest, sizes, sides, weights = sha256(), [0.0], [np.zeros(0, bool)], [np.zeros(0, "i8")]
        held: list[list[np.ndarray]] = [[np.zeros(0, np.int64)] for _ in self.points]
        for columns, positive, weight in blocks:
            digest.update(np.ascontiguousarray(columns.T, dtype="<f8").tobytes())
            sides.append(positive.copy())  # blocks may reuse their memory
            weights.append(_whole(weight, positive.size))
            for k, w in enumerate(self.points):
                S, far = _checked(check_partitions.scores, columns, self.offset, w, self.units)
                held[k].append(S)
                sizes += [far] * (k == 0)
        positive, r = np.concatenate(sides), np.concatenate(weights)
        digest.update(positive.tobytes() + r.astype("<i8").tobytes())
        cells = [
            _checked(check_partitions.cells, np.concatenate(S), positive, r, self.shift)
            for S in held
        ]
        return {index: (digest.hexdigest(), max(sizes), cells)}

    def merge(self, first: dict[int, Any], second: dict[int, Any]) -> dict[int, Any]:
        """Return the answers of both."""
        return first | second


@dataclass(frozen=True, eq=False)
class PullsTask:
    """Sums a partition's rows by the marginals of their bins, in whole numbers."""

    offset: np.ndarray
    w: np.ndarray
    units: int
    shift: int
    tables: Any
    places: np.ndarray

    def run(self, blocks: Iterator[Block], index: int) -> dict[int, list[int]]:
        """Return the sum of each column of one partition."""
        total = [0] * self.w.size
        for columns, positive, weight in blocks:
            S, _ = _checked(check_partitions.scores, columns, self.offset, self.w, self.units)
            r = _whole(weight, positive.size)
            part = _checked(
                check_partitions.pulls, columns, S >> self.shift, positive, r, self.tables,
                self.places,
            )  # fmt: skip
            total = [a + b for a, b in zip(total, part, strict=True)]
        return {index: total}

    def merge(self, first: dict[int, list[int]], second: dict[int, list[int]]) -> dict[int, Any]:
        """Return the answers of both."""
        return first | second


@dataclass(frozen=True, eq=False)
class SaveTask:
    """Writes a partition of `dim` columns into a folder, as the checker reads it."""

    folder: str
    dim: int

    def run(self, blocks: Iterator[Block], index: int) -> dict[int, str]:
        """Return the name of the file."""
        rows, sides, weights = [], [np.zeros(0, bool)], []
        for columns, positive, weight in blocks:
            rows.append(columns.T.copy())  # blocks may reuse their memory
            sides.append(positive.copy())
            weights += [] if weight is None else [weight.copy()]
        X = np.concatenate([np.zeros((0, self.dim)), *rows])
        data = {"X": X, "y": np.concatenate(sides)}
        data |= {"weight": np.concatenate(weights)} if weights else {}
        path = Path(self.folder) / f"partition-{index:06d}.npz"
        write_atomically(path, lambda file: np.savez(file, **data))
        return {index: str(path)}

    def merge(self, first: dict[int, str], second: dict[int, str]) -> dict[int, str]:
        """Return the names of both."""
        return first | second


def _whole(weight: np.ndarray | None, n: int) -> np.ndarray:
    """Return whole row weights, or ones."""
    if weight is None:
        return np.ones(n, dtype=np.int64)
    fine = (weight >= 0) & (weight < LARGEST_REPETITION) & (weight == np.floor(weight))
    if not fine.all():
        raise InputError(
            f"a row weight is {weight[int(np.argmin(fine))]}: a proof file takes whole numbers "
            f"from 0 to {LARGEST_REPETITION - 1}, how often each row counts"
        )
    return weight.astype(np.int64)


def _checked(work: Any, *given: Any) -> Any:
    """Return what a function of the checker does; its refusals are sentences to the user."""
    try:
        return work(*given)
    except ValueError as problem:
        raise InputError(f"no proof file can be written: {problem}") from None
