"""Proof files: what a certificate rests on, written down so that `check_proof` can verify it alone.

A proof file holds the weights, a dual point (or what regenerates it) and the claimed bounds, never
the data. `check_proof.py` recomputes everything from the file and the data; what is claimed is what
it verified when the file was written, in plain float64, so that it holds on any machine. The format
is in `docs/proof-files.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.solution import Solution
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem, Ridge, split_labels
from ..spaces.rows import Rows
from ..spaces.streamed import Source, StreamedRows
from ..tools.atomic_files import write_atomically
from ..tools.lossless import as_float64
from . import check_proof
from .evidence import evidence_of, repetitions

FORMAT = 1
"""Version of the format written here."""

_MARGIN = 0.02
"""Part of the verified gap added to either bound: another machine rounds otherwise."""

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Proof:
    """What a proof file claims.

    Attributes
    ----------
    path : Path
    kind : {"weights", "marginals"}
        What regenerates the dual point.
    primal : float
        F(w) is at most this.
    dual : float
        The optimum is at least this.
    gap : float
        F(w) exceeds the optimum by at most this.
    """

    path: Path
    kind: str
    primal: float
    dual: float
    gap: float


def write_proof(
    path: str | Path,
    X: object,
    y: object,
    lam: float,
    solution: Solution,
    positive: object = None,
    sample_weight: object = None,
) -> Proof:
    """Write the proof file of a solution of the linear hinge problem over all pairs.

    [ScalingUp, eq. (3)]. The file is verified before it takes its name.

    Parameters
    ----------
    path : str or Path
        Where to write; a file of that name is replaced only by a complete one.
    X : array (n, d)
        Dense rows, also memory-mapped or any `Source`.
    y : array (n,)
        Two kinds of labels.
    lam : float
        > 0.
    solution : Solution
        Of this problem.
    positive : label, optional
        The larger one by default.
    sample_weight : array (n,), optional
        Whole numbers >= 0, below 2^26: how often each row counts.

    Returns
    -------
    Proof
        What the file claims: what the checker verified in float64, a little widened.

    Raises
    ------
    InputError
        If the problem is not one that a proof file can hold, or the evidence does not support the
        solution's certificate on these data.
    """
    mask, label, _ = split_labels(y, positive)
    lam = Ridge(lam).lam
    return _write(Path(path), _as_rows(X), mask, label, lam, solution, sample_weight)


def write_proof_of(problem: Problem, solution: Solution, path: str | Path) -> Proof:
    """Write the proof file of a solution of `problem`; the data's labels are True and False.

    [ScalingUp, eq. (3)]

    Parameters
    ----------
    problem : Problem
        Hinge over all pairs of dense rows, in memory or streamed.
    solution : Solution
    path : str or Path

    Raises
    ------
    InputError
        As `write_proof`.
    """
    if problem.loss != HINGE or not isinstance(problem.pairs, AllPairs):
        raise InputError("a proof file is for the hinge over all pairs, not another loss or a list")
    space = problem.space
    if isinstance(space, StreamedRows):
        source: object = space.source
    elif isinstance(space, Rows):
        source = space.raw
    else:
        raise InputError(
            "a proof file is for linear rows: write the features of a kernel or a structure as "
            "rows, and prove the problem over them"
        )
    weight, mask = problem.pairs.weight, problem.pairs.positive
    return _write(Path(path), _as_rows(source), mask, True, problem.lam, solution, weight)


def _write(
    path: Path,
    X: np.ndarray | _Blocks,
    mask: np.ndarray,
    label: object,
    lam: float,
    solution: Solution,
    weight: object,
) -> Proof:
    n, d = (int(size) for size in X.shape)
    if mask.shape != (n,):
        raise InputError(f"{n} rows, but labels of shape {mask.shape}")
    w = np.asarray(solution.w, dtype=float)
    if w.shape != (d,):
        raise InputError(
            f"a proof file is for linear weights of {d} features; the solution has shape {w.shape}"
        )
    repeats = repetitions(weight, n)
    if np.asarray(label).dtype.kind not in "biufU":
        raise InputError(f"the positive label {label!r} is neither a number nor text")
    kind, evidence = evidence_of(solution.witness, mask, repeats)
    fields: dict[str, Any] = {
        "format": np.int64(FORMAT),
        "kind": kind,
        "positive": label,
        "lam": np.float64(lam),
        "w": w,
        "offset": _mean(X),
        **evidence,
    }
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in fields.items()}
    try:
        upper, lower, digest = check_proof.bounds(arrays, X, mask, repeats, np.float64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise InputError(f"no proof file can be written: {problem}") from None
    if not _supports(solution, upper - lower):
        # Of badly scaled data float64 may verify less; the long format tells that from other data.
        top, low, _ = check_proof.bounds(arrays, X, mask, repeats)
        _compare(solution, top - low)
    gap = float(upper - lower)
    primal = float(np.nextafter(float(upper) + _MARGIN * gap, np.inf))
    dual = max(float(np.nextafter(float(lower) - _MARGIN * gap, -np.inf)), 0.0)
    claims = {"primal": primal, "dual": dual, "gap": (1 + 3 * _MARGIN) * gap}
    arrays |= {name: np.asarray(value) for name, value in claims.items()}
    _save(path, {**arrays, "sha256": np.asarray(digest)})
    return Proof(path, kind, primal, dual, claims["gap"])


def _supports(solution: Solution, gap: Fraction) -> bool:
    """Whether the evidence proves about as much as the solution's certificate says."""
    reported = solution.certificate
    # The checker's own rounding is about 1e-12, whatever the objective is.
    allowed = 2 * (reported.gap + reported.rounding) + 1e-6 * reported.primal + 1e-11
    return float(gap) <= allowed


def _compare(solution: Solution, gap: Fraction) -> None:
    """Raise `InputError` if the evidence proves far less than the solution's certificate says."""
    if not _supports(solution, gap):
        raise InputError(
            f"the evidence proves a gap of {float(gap):.3g} on these data, the solution reports "
            f"{solution.certificate.gap:.3g}: give the data, lam and weights that were solved, "
            "with the hinge over all pairs, and scale features of very different size"
        )


class _Blocks:
    """Any source of row slices, seen as a matrix that is read slice by slice."""

    ndim = 2

    def __init__(self, source: Source):
        self.source, self.shape = source, tuple(source.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return np.asarray(self.source[rows])


def _as_rows(X: Any) -> np.ndarray | _Blocks:
    """Return X as something that the checker can read in blocks of rows."""
    if sp.issparse(X):
        raise InputError("a proof file is for dense rows: give X.toarray(), if it fits")
    if hasattr(X, "shape") and hasattr(X, "__getitem__") and not hasattr(X, "__array__"):
        rows: np.ndarray | _Blocks = _Blocks(X)
    else:
        rows = np.asarray(X)
        if rows.dtype.kind not in "fiub":
            raise InputError(f"X must be a matrix of numbers, not of {rows.dtype}")
        if type(X) not in (np.ndarray, np.memmap):  # these the checker promotes, block by block
            rows = as_float64(X, "X", "a matrix of numbers")
    if len(rows.shape) != 2 or 0 in rows.shape:
        raise InputError(f"X must be a non-empty matrix; its shape is {rows.shape}")
    return rows


def _mean(X: np.ndarray | _Blocks) -> np.ndarray:
    """Return the mean of the rows, about: any offset is right, a central one saves digits."""
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), _BLOCK):
        block = np.asarray(X[start : start + _BLOCK], dtype=float)
        # What is not finite is for the checker to refuse, by its right name.
        total += np.nan_to_num(block, posinf=0.0, neginf=0.0).sum(axis=0) / len(X)
    return total


def _save(path: Path, arrays: dict[str, Any]) -> None:
    write_atomically(path, lambda file: np.savez(file, **arrays))
