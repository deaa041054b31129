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

from ..certificate.solution import Solution
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..pairs.ordered.asked import ordered_pairs_of
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.problem import Problem, Ridge, split_labels
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from ..tools.atomic_files import write_atomically
from . import check_proof
from .claims import claims_of, supports
from .evidence import evidence_of, repetitions
from .ordered import Columns, as_column, columns_of, ordered_evidence
from .rows_of_proofs import RowBlocks, as_rows, middle

FORMAT = 2  # Version of the format written here; the checker reads format 1 too.


@dataclass(frozen=True)
class Proof:
    """What a proof file claims."""

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
    *,
    qid: object = None,
    time: object = None,
    event: object = None,
) -> Proof:
    """Write the proof file of a solution of the linear hinge problem, over all or ordered pairs.

    [ScalingUp, eq. (3)]. The file is verified before it takes its name.

    Parameters
    ----------
    path : str or Path
        Where to write; a file of that name is replaced only by a complete one.
    X : array (n, d)
        Dense rows, also memory-mapped or any `Source`.
    y : array (n,) or None
        Two kinds of labels; grades with `qid`; None with `time`.
    lam : float
        > 0.
    solution : Solution
        Of this problem.
    positive : label, optional
        The larger one by default.
    sample_weight : array (n,), optional
        Whole numbers >= 0, below 2^26: how often each row counts.
    qid : array (n,), optional
        The query of each row, as in `solve`: numbers or words.
    time, event : arrays (n,), optional
        Times, and whether the event was seen.

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
    lam = Ridge(lam).lam
    if qid is None and time is None and event is None:
        mask, label, _ = split_labels(y, positive)
        return _write(Path(path), as_rows(X), mask, label, lam, solution, sample_weight)
    pairs = ordered_pairs_of(y, qid, time, event, sample_weight)
    kind = "survival" if qid is None else "query"
    seen = np.ones(pairs.n) if event is None else event
    held = {"time": time, "event": seen} if qid is None else {"y": y, "qid": qid}
    data = {name: as_column(column) for name, column in held.items()}
    order = check_proof.ordering(kind, data, {}, {})
    told = _Ordered(kind, order, pairs)
    return _write(Path(path), as_rows(X), told, None, lam, solution, sample_weight)


def write_proof_of(problem: Problem, solution: Solution, path: str | Path) -> Proof:
    """Write the proof file of a solution of `problem`.

    The data's labels are True and False. Those of ordered pairs are the columns `key`, `group`,
    `upper`, `lower` and `share` instead, as in `OrderedPairs`, where a row's weight is its own.

    [ScalingUp, eq. (3)]

    Parameters
    ----------
    problem : Problem
        Hinge over all or ordered pairs of dense rows, in memory or streamed.
    solution : Solution
    path : str or Path

    Raises
    ------
    InputError
        As `write_proof`.
    """
    pairs = problem.pairs
    if problem.loss != HINGE or not isinstance(pairs, AllPairs | OrderedPairs):
        raise InputError(
            "a proof file is for the hinge over all or ordered pairs, not another loss or a list"
        )
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
    label, weight = True, None
    if isinstance(pairs, OrderedPairs):
        columns, weight = columns_of(pairs)
        told, label = _Ordered("ordered", columns, pairs), None
    else:
        told, weight = pairs.positive, pairs.weight
    return _write(Path(path), as_rows(source), told, label, problem.lam, solution, weight)


@dataclass(frozen=True, eq=False)
class _Ordered:
    """Ordered pairs, and the columns of the data that say them to the checker."""

    kind: str
    columns: Columns
    pairs: OrderedPairs

    @property
    def shape(self) -> tuple[int, ...]:
        """One entry a row."""
        return (self.pairs.n,)


def _write(
    path: Path,
    X: np.ndarray | RowBlocks,
    told: np.ndarray | _Ordered,
    label: object,
    lam: float,
    solution: Solution,
    weight: object,
) -> Proof:
    n, d = (int(size) for size in X.shape)
    if told.shape != (n,):
        raise InputError(f"{n} rows, but labels of shape {told.shape}")
    w = np.asarray(solution.w, dtype=float)
    if w.shape != (d,):
        raise InputError(
            f"a proof file is for linear weights of {d} features; the solution has shape {w.shape}"
        )
    repeats = repetitions(weight, n)
    if isinstance(told, _Ordered):
        order, named = told.columns, {"pairs": told.kind}
        evidence = solution.witness.evidence
        kind, evidence = ordered_evidence(evidence, told.pairs, told.columns, repeats)
    else:
        if np.asarray(label).dtype.kind not in "biufU":
            raise InputError(f"the positive label {label!r} is neither a number nor text")
        order, named = told, {"pairs": "classes", "positive": label}
        kind, evidence = evidence_of(solution.witness, told, repeats)
    fields: dict[str, Any] = {
        "format": np.int64(FORMAT),
        "kind": kind,
        **named,
        "lam": np.float64(lam),
        "w": w,
        "offset": middle(X),
        **evidence,
    }
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in fields.items()}
    try:
        upper, lower, digest = check_proof.bounds(arrays, X, order, repeats, np.float64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise InputError(f"no proof file can be written: {problem}") from None
    if not supports(solution, upper - lower):
        # Of badly scaled data float64 may verify less; the long format tells that from other data.
        top, low, _ = check_proof.bounds(arrays, X, order, repeats)
        _compare(solution, top - low)
    primal, dual, gap = claims_of(upper, lower)
    claims = {"primal": primal, "dual": dual, "gap": gap}
    arrays |= {name: np.asarray(value) for name, value in claims.items()}
    _save(path, {**arrays, "sha256": np.asarray(digest)})
    return Proof(path, kind, primal, dual, gap)


def _compare(solution: Solution, gap: Fraction) -> None:
    """Raise `InputError` if the evidence proves far less than the solution's certificate says."""
    if not supports(solution, gap):
        raise InputError(
            f"the evidence proves a gap of {float(gap):.3g} on these data, the solution reports "
            f"{solution.certificate.gap:.3g}: give the data, lam and weights that were solved, "
            "with the hinge over all pairs, and scale features of very different size"
        )


def _save(path: Path, arrays: dict[str, Any]) -> None:
    write_atomically(path, lambda file: np.savez(file, **arrays))
