"""Hard data for the fuzzer: rows, labels, weights and pairs, in every form that callers have.

What a caller gives is one thing, the numbers it stands for another: both are returned, the numbers
as float64, which holds them all without rounding.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.nearest_pairs import nearest_pairs

SHAPES = (
    *("gaussian", "ties", "constant", "duplicates", "columns", "scale", "offset", "heavy"),
    *("far row", "separable", "wide", "equal", "gaussian", "ties"),
)
FORMS = (
    *("plain", "fortran", "strided", "reversed", "read-only", "float32", "float16", "int8"),
    *("int64", "bool", "list", "memory map", "longdouble", "plain"),
)
SPARSE_FORMS = ("repeated", "cancelling", "unsorted", "csc", "coo", "float32", "zeros stored")
SCALES = (-150, -139, -99, -60, -20, -8, 8, 20, 60, 98, 150)


@dataclass(frozen=True, eq=False)
class Hard:
    """One data set: what is given, and what it means.

    Attributes
    ----------
    X : object
        As a caller would give it.
    true : float array (n, d)
        The numbers meant.
    y : int array (n,)
    name : str
    """

    X: Any
    true: np.ndarray
    y: np.ndarray
    name: str

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        return self.y == 1


def hard_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return 0 and 1, now and then with one row of a class only."""
    n_pos = [1, n - 1, int(rng.integers(1, n)), max(1, n // 3), max(1, n // 3)][rng.integers(5)]
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[:n_pos]] = 1
    return y


def hard_values(rng: np.random.Generator, y: np.ndarray, d: int, shape: str) -> np.ndarray:
    """Return rows (n, d) of the given shape."""
    X = rng.normal(size=(y.size, d)) + rng.uniform(0, 1.5) * y[:, None]
    if shape == "ties":
        X = np.round(X)
    elif shape == "constant":
        X[:, rng.integers(d)] = 3.7
    elif shape == "duplicates":
        X = X[rng.integers(0, max(1, y.size // 3), y.size)]
    elif shape == "columns":
        X = X * 10.0 ** rng.integers(-30, 30, d)
    elif shape == "scale":
        X = X * 10.0 ** float(rng.choice(SCALES))
    elif shape == "offset":
        X = X + 10.0 ** rng.integers(2, 9)
    elif shape == "heavy":
        X = X * np.exp(3 * rng.normal(size=(y.size, 1)))
    elif shape == "far row":
        X[rng.integers(y.size)] *= 10.0 ** rng.integers(2, 10)
    elif shape == "separable":
        X = X + 8.0 * y[:, None]
    elif shape == "equal":
        X[:] = X[0]
    return X


def hard_rows(
    rng: np.random.Generator, largest: int = 60, shape: str | None = None, form: str | None = None
) -> Hard:
    """Return dense rows in some form; n from 2 to `largest`."""
    shape = shape or str(rng.choice(SHAPES))
    form = form or str(rng.choice(FORMS))
    n = int(np.exp(rng.uniform(np.log(2), np.log(largest + 0.99))))
    d = n + int(rng.integers(1, 9)) if shape == "wide" else int(rng.integers(1, 7))
    y = hard_labels(rng, n)
    X = hard_values(rng, y, d, shape)
    given, true = in_form(X, form)
    return Hard(given, true, y, f"{shape}, {form}, X {X.shape}")


def in_form(X: np.ndarray, form: str) -> tuple[Any, np.ndarray]:
    """Return X as a caller might have it, and the numbers that these are."""
    if form in ("float16", "int8", "bool", "int64", "float32"):
        with np.errstate(over="ignore", under="ignore"):
            small = _narrowed(X, form)
        return small, small.astype(float)
    if form == "fortran":
        return np.asfortranarray(X), X
    if form == "strided":
        wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
        wide[::2, 1::2] = X
        return wide[::2, 1::2], X
    if form == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1], X
    if form == "read-only":
        X = X.copy()
        X.flags.writeable = False
        return X, X
    if form == "list":
        return X.tolist(), X
    if form == "longdouble":
        return X.astype(np.longdouble), X
    if form == "memory map":
        with tempfile.TemporaryFile() as file:
            X.tofile(file)
            file.flush()
            return np.memmap(file, dtype=float, mode="r", shape=X.shape), X
    return X, X


def _narrowed(X: np.ndarray, form: str) -> np.ndarray:
    if form == "bool":
        return X > np.median(X)
    if form in ("int8", "int64"):
        return np.clip(np.round(2 * X), -100, 100).astype(form)
    top = 6e4 if form == "float16" else 1e38
    return np.clip(X, -top, top).astype(form)


def hard_sparse(rng: np.random.Generator, largest: int = 40) -> Hard:
    """Return sparse rows, not canonical: entries that repeat, cancel, are unsorted or zero."""
    form = str(rng.choice(SPARSE_FORMS))
    n, d = int(rng.integers(2, largest + 1)), int(rng.integers(1, 9))
    y = hard_labels(rng, n)
    X = rng.normal(size=(n, d)) + rng.uniform(0, 1.5) * y[:, None]
    X = np.round(X * 2**20) / 2**20  # so that sums of a few entries are exact
    X[rng.uniform(size=X.shape) < rng.uniform(0, 0.9)] = 0.0
    if form == "float32":
        X = X.astype(np.float32).astype(float)
    plain = sp.csr_matrix(X)
    made = {"csc": plain.tocsc, "coo": plain.tocoo}.get(form, lambda: _odd(rng, X, form))()
    return Hard(made, X, y, f"sparse {form}, X {X.shape}")


def _odd(rng: np.random.Generator, X: np.ndarray, form: str) -> sp.csr_matrix:
    """Return a CSR matrix of the rows X whose entries are stored in an odd way."""
    data, columns, ends = [], [], [0]
    for row in X:
        entries = [(k, x) for k, x in enumerate(row.tolist()) if x or form == "zeros stored"]
        if form == "repeated":
            entries = [(k, x / 2) for k, x in entries for _ in range(2)]
        if form == "cancelling":
            for k in rng.integers(0, row.size, 2).tolist():
                big = float(2 ** rng.integers(0, 31))
                entries += [(k, big), (k, -big)]
        if form in ("unsorted", "repeated", "cancelling"):
            entries = [entries[k] for k in rng.permutation(len(entries))]
        data += [x for _, x in entries]
        columns += [k for k, _ in entries]
        ends.append(len(data))
    kind = np.float32 if form == "float32" else float
    parts = (np.array(data, dtype=kind), np.array(columns, dtype=np.int32), np.array(ends))
    return sp.csr_matrix(parts, shape=X.shape)


def hard_lam(rng: np.random.Generator, X: np.ndarray) -> float:
    """Return a lam between 1e-6 and 1e2 in units of the rows' squared size."""
    apart = X - X[0]
    with np.errstate(over="ignore", under="ignore"):
        unit = float(np.median((apart**2).sum(axis=1))) or float((apart**2).max())
    unit = min(max(unit, 1e-90), 1e90) if np.isfinite(unit) and unit > 0 else 1.0
    return float(10.0 ** rng.uniform(-6, 2) * unit)


def hard_weight(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Return row weights: counts, zeros and 1e8, or numbers of far sizes."""
    kind = rng.integers(4)
    if kind == 0:
        weight = rng.integers(0, 4, y.size).astype(float)
    elif kind == 1:
        weight = rng.choice([0.0, 1e8], y.size)
    elif kind == 2:
        weight = rng.choice([0.0, 1.0, 1e8], y.size)
    else:
        weight = 10.0 ** rng.uniform(-9, 9, y.size)
    for label in (0, 1):
        weight[np.flatnonzero(y == label)[0]] = 1.5
    return weight


def hard_pairs(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> AllPairs | PairList:
    """Return all pairs, with row weights or not, or pairs drawn or nearest."""
    choice, plus, minus = rng.uniform(), np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    if choice < 0.5:
        return AllPairs()
    if choice < 0.75:
        return AllPairs(hard_weight(rng, y))
    if choice < 0.85 and float(np.abs(X).max()) < 1e100:
        return nearest_pairs(X, y == 1, int(rng.integers(1, 4)))
    m = int(rng.integers(1, 80))
    weight = 10.0 ** rng.uniform(-6, 6, m) if rng.integers(2) else None
    return PairList(rng.choice(plus, m), rng.choice(minus, m), weight)


def hard_loss(rng: np.random.Generator) -> str:
    """Return the hinge (three in five), the squared hinge or the square."""
    losses = ["hinge", "hinge", "hinge", "squared_hinge", "square"]
    return losses[rng.integers(5)]


def copied(X: Any) -> Any:
    return X.copy() if hasattr(X, "copy") else X


def rewritten(X: Any, before: Any) -> list[str]:
    """Return whether the caller's data were written to."""
    if hasattr(X, "indices"):
        parts = [(getattr(X, name), getattr(before, name)) for name in ("data", "indices")]
    else:
        parts = [(np.asarray(getattr(m, "data", m)), np.asarray(getattr(n, "data", n)))
                 for m, n in ([(X, before)] if hasattr(X, "row") else [])]  # fmt: skip
        if not parts:
            parts = [(np.asarray(X), np.asarray(before))]
    same = all(np.array_equal(a, b) for a, b in parts)
    return [] if same else ["the caller's data were written to"]
