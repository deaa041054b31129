"""The data of the large benchmarks, and the costs that times are divided by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import numpy as np
from sklearn.datasets import make_classification

from ...data.generators import linear

Labelled = tuple[np.ndarray, np.ndarray]

CHUNK = 1 << 17

READ_NUMBERS = 1 << 18
"""Numbers that `reading` reads at a time."""


def plane(n: int, seed: int = 0) -> Labelled:
    """Return two features of the linear model, 20 % positive. [ScalingUp, Section 4.1]"""
    data = linear(n, seed)
    return data.X, data.is_positive


def imbalanced(n: int = 50_000) -> Labelled:
    """Return 50 features, 20 of them informative, 5 % positive."""
    X, y = make_classification(n, 50, n_informative=20, weights=[0.95], random_state=0)
    return X, y.astype(bool)


def memory_mapped(n: int, folder: Path, dtype: type = np.float64) -> Labelled:
    """Return rows and labels in files of `folder`, which are made if they are not there."""
    narrow = "" if dtype is np.float64 else f"_{np.dtype(dtype).name}"
    paths = folder / f"big_{n}_X{narrow}.npy", folder / f"big_{n}_y.npy"
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        X = np.lib.format.open_memmap(paths[0], "w+", dtype, (n, 2))
        y = np.lib.format.open_memmap(paths[1], "w+", bool, (n,))
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            some = rng.random(size) < 0.2
            rows = rng.normal(size=(size, 2)) + some[:, None] * np.array([1.0, 0.5])
            X[start : start + size], y[start : start + size] = rows, some
        X.flush()
        y.flush()
    return np.load(paths[0], mmap_mode="r"), np.load(paths[1], mmap_mode="r")


def reading(X: np.ndarray) -> Callable[[], object]:
    """Return the function that reads the rows once, a block at a time, and multiplies: X'(X w).

    Its time is R, the unit of the benchmarks at scale: it holds no sort, so that it does not change
    with numpy's.
    """
    w, step = np.arange(1.0, X.shape[1] + 1), max(1, READ_NUMBERS // X.shape[1])

    def once() -> object:
        total = np.zeros(X.shape[1])
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            total += (rows @ w) @ rows
        return total

    return once


def naive_gradient(X: np.ndarray, y: np.ndarray, w: np.ndarray, lam: float) -> np.ndarray:
    """Return the subgradient through all pair differences, some positive rows at a time."""
    plus, minus = X[y], X[~y]
    total, step = np.zeros(X.shape[1]), max(1, 2**20 // minus.size)
    for start in range(0, len(plus), step):
        D = (plus[start : start + step, None, :] - minus[None, :, :]).reshape(-1, X.shape[1])
        total += (D @ w < 1.0) @ D
    return lam * w - total / (len(plus) * len(minus))


class PeakMemory:
    """The most anonymous memory that a block of code holds beyond what was held before.

    The operating system counts it (Linux); pages of mapped files are not among it.
    """

    def __init__(self, interval: float = 0.005):
        self.interval, self.peak = interval, 0

    def __enter__(self) -> PeakMemory:
        self.before, self._ended = _anonymous(), Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, _anonymous() - self.before)
            if self._ended.wait(self.interval):
                return


def _anonymous() -> int:
    """Return the bytes of anonymous memory that this process holds, 0 where nobody counts."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    found = [line.split()[1] for line in lines if line.startswith("RssAnon")]
    return 1024 * int(found[0]) if found else 0
