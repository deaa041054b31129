"""A kernel matrix held for many products: square tiles of its lower half.

Half of K is half of the memory, and each tile serves two parts of a product while it is in the
cache. Solvers use these products; a certificate makes K anew in float64.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import TooLargeError
from ...tools.threads import in_parts, one_thread, workers
from ..kernel import Kernel

SIDE = 512  # Rows of a tile: one in single precision is a megabyte, which stays in the cache.

# Relative gap from which single precision is enough: it moves the optimum to second order.
SINGLE_FROM = 1e-7

SPARE = 0.8  # Share of the free memory that the tiles may take.

# Sums that a product is made of, whatever the number of threads: so its bits are the same.
PARTS = 8

MEMORY = Path("/proc/meminfo")  # Where Linux says how much memory is free.


def free_memory() -> float:
    """Return the bytes of memory that are free, infinite where the system does not say."""
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
        return 1024.0 * next(int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return np.inf


@dataclass(frozen=True, eq=False)
class Tiles:
    """The lower half of a symmetric matrix in tiles."""

    n: int
    held: list[list[np.ndarray]]

    @classmethod
    def of(
        cls, kernel: Kernel, X: Any, tol: float, stop: Callable[[], bool] = lambda: False
    ) -> Tiles:
        """Return the tiles of a kernel on rows."""
        n = int(X.shape[0])
        dtype = format_for(n, tol)
        parts = [slice(a, min(a + SIDE, n)) for a in range(0, n, SIDE)]
        held: list[list[np.ndarray]] = []
        with one_thread():
            for a, rows in enumerate(parts):
                if stop():
                    break
                row = partial(_tile, kernel, X, dtype, rows)
                held.append(in_parts(row, parts[: a + 1], workers(rows.stop * SIDE)))
        return cls(n, held)

    @property
    def whole(self) -> bool:
        """Whether all tiles were made in time."""
        return len(self.held) * SIDE >= self.n

    def product(self, c: np.ndarray) -> np.ndarray:
        """Return K c for c (n,), to the precision of the tiles."""
        parts = [slice(a, a + SIDE) for a in range(0, self.n, SIDE)]
        pieces = [c[part].astype(self.held[0][0].dtype) for part in parts] if self.held else []

        def work(first: int, worker: int) -> np.ndarray:
            out = np.zeros(self.n)
            for a in range(first, len(self.held), PARTS):
                row = self.held[a]
                own = np.zeros(row[-1].shape[0], dtype=pieces[a].dtype)
                for b, tile in enumerate(row[:-1]):
                    own += tile @ pieces[b]
                    out[parts[b]] += pieces[a] @ tile
                out[parts[a]] += own + row[-1] @ pieces[a]
            return out

        with one_thread():
            sums = in_parts(work, range(PARTS), workers(self.n * self.n // 2))
        return sum(sums[1:], sums[0])


def _tile(
    kernel: Kernel, X: Any, dtype: type[np.floating], rows: slice, columns: slice, worker: int
) -> np.ndarray:
    """Return the values of a kernel on rows and columns of its matrix."""
    return kernel(X[rows], X[columns]).astype(dtype)


def format_for(n: int, tol: float) -> type[np.floating]:
    """Return the format in which half a matrix of side n is held for a relative gap of `tol`."""
    numbers, room = 0.5 * n * (n + SIDE), SPARE * free_memory()
    if tol < SINGLE_FROM and 8 * numbers <= room:
        return np.float64
    if 4 * numbers <= room:
        return np.float32
    raise TooLargeError(
        f"the kernel matrix of {n} rows takes {4 * numbers / 1e9:.3g} GB and "
        f"{room / 1e9:.3g} GB are free for it: take landmarks (aucert.approx.Nystrom) or fewer rows"
    )
