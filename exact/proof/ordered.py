"""What a proof file holds of ordered pairs: the columns that order the rows, and the evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.evidence import Alpha, Evidence, Scores
from . import check_proof

Columns = dict[str, np.ndarray]


def columns_of(pairs: OrderedPairs) -> tuple[Columns, np.ndarray]:
    """Return the columns "ordered" of a proof's data, and how often each row counts: (n,)."""
    if pairs.gain is not None:
        raise InputError("a proof file has no gains: pairs of one group weigh alike in it")
    a, b = np.empty((2, pairs.n), dtype=np.int64)
    a[pairs.arrangement.order], b[pairs.arrangement.order] = pairs.a, pairs.b
    if ((a != b) & (a > 0) & (b > 0)).any():
        row = int(np.flatnonzero((a != b) & (a > 0) & (b > 0))[0])
        raise InputError(
            f"a proof file has one weight a row: row {row} counts {a[row]} times above others and "
            f"{b[row]} times below them"
        )
    columns = {"key": pairs.key, "group": np.asarray(pairs.group), "upper": a > 0, "lower": b > 0}
    if pairs.share is not None:
        equal = isinstance(pairs.share, str)
        columns["share"] = np.ones(pairs.n) if equal else np.asarray(pairs.share, dtype=float)
    return columns, np.maximum(a, b)


def as_column(values: object) -> np.ndarray:
    """Return a column as plain numbers or text: what is held as objects, too."""
    column = np.asarray(values)
    return np.asarray(column.tolist()) if column.dtype.kind == "O" else column


def ordered_evidence(
    evidence: Evidence | None, pairs: OrderedPairs, columns: Columns, repeats: np.ndarray
) -> tuple[str, dict[str, Any]]:
    """Return the kind of evidence and its fields, in whole numbers."""
    if isinstance(evidence, Alpha):
        return "marginals", _marginals(evidence, pairs)
    if not isinstance(evidence, Scores):
        kind = type(evidence).__name__
        raise InputError(f"a proof file of ordered pairs takes scores or alphas, not {kind}")
    s, width = np.asarray(evidence.scores, dtype=float), float(evidence.width)
    s = s - (float(s.min()) / 2 + float(s.max()) / 2)
    wide = float(np.ptp(s)) + 2 + 2 * width
    nodes = check_proof.arranged(columns, repeats).nodes
    room = [51 - _bits(float(np.abs(s).max())), 61 - (nodes + 2).bit_length() - _bits(wide)]
    if width > 0:
        room.append(61 - int(repeats.sum()).bit_length() - _bits(width))
    k = min(room)
    if k < 0:
        raise InputError("the scores are too far apart for the whole numbers of a proof file")
    return "scores", {
        "scores": np.floor(np.ldexp(s, k)).astype(np.int64),
        "bins": np.int64(1 << k),
        "half": np.int64(round(float(np.ldexp(width, k - 1)))),
        "scale": np.float64(evidence.scale),
    }


def _marginals(evidence: Alpha, pairs: OrderedPairs) -> dict[str, Any]:
    """Return what each copy of a row carries above and below, in parts of what a pair can carry."""
    listed = pairs.listed()
    assert listed is not None  # there would be no alpha otherwise
    i, j, _ = listed
    a, b = np.empty((2, pairs.n), dtype=np.int64)
    a[pairs.arrangement.order], b[pairs.arrangement.order] = pairs.a, pairs.b
    cap = 1 << max(60 - pairs.mass.bit_length(), 0)
    whole = np.floor(np.clip(evidence.alpha, 0.0, 1.0) * float(cap)).astype(np.int64)
    u, v = np.zeros((2, pairs.n), dtype=np.int64)
    np.add.at(u, i, whole * b[j])
    np.add.at(v, j, whole * a[i])
    return {"u": u, "v": v, "cap": np.int64(cap), "scale": np.float64(1.0)}


def _bits(size: float) -> int:
    """Return the least e with size < 2^e, at least -900."""
    return int(np.frexp(max(size, 2.0**-900))[1])
