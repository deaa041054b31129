"""Proof files: what a certificate rests on, written down so that `check_proof` can verify it alone.

What a file claims is what the checker verified in plain float64, so that it holds on any machine.
The format is in `docs/proof-files.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.solution import Solution
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..pairs.kinds import ordered_pairs_of
from ..pairs.ordered_pairs import OrderedPairs
from ..pairs.partitioned_pairs import pairs_in
from ..problem.problem import Problem, Ridge, split_labels
from ..problem.risk import Alpha, Evidence, Mean, Scores, Weights
from ..spaces.partitions import Block, PartitionedRows
from ..spaces.rows import partitions_of
from ..tools.arrays import as_float64
from ..tools.atomic_files import write_atomically
from . import check_partitions, check_proof

FORMAT = 2  # of the files written here; the checkers read older ones too
MARGIN = 0.02  # part of the verified gap added to either bound: another machine rounds otherwise
LARGEST_REPETITION = 1 << 26  # row weights in a proof file are whole numbers below this
BLOCK = 1 << 16  # rows that are read at a time

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Proof:
    """What a proof file claims."""

    path: Path
    kind: str
    primal: float
    dual: float
    gap: float


def write_proof(
    path: str | Path, X: object, y: object, lam: float, solution: Solution,
    positive: object = None, sample_weight: object = None, *,
    qid: object = None, time: object = None, event: object = None,
) -> Proof:  # fmt: skip
    """Write the proof file of a solution of the linear hinge problem, over all or ordered pairs.

    [ScalingUp, eq. (3)]. Returned is what the file claims: what the checker verified in float64, a
    little widened. A problem that a proof file cannot hold, and evidence that does not support the
    solution's certificate on these data, raise `InputError`.

    Parameters
    ----------
    path : str or Path; a file there is replaced only by a complete, verified one
    X : array (n, d) of dense rows, also memory-mapped or any with `shape` and row slices
    y : array (n,) of two kinds of labels; grades with `qid`; None with `time`
    lam : float > 0
    solution : Solution of this problem
    positive : label, by default the larger one
    sample_weight : array (n,) of whole numbers >= 0, below 2^26: how often each row counts
    qid : array (n,) of numbers or words, the query of each row as in `solve`
    time, event : arrays (n,), times, and whether the event was seen
    """
    lam = Ridge(lam).lam
    if qid is None and time is None and event is None:
        mask, label, _ = split_labels(y, positive)
        return _write(path, X, lam, solution, mask, sample_weight, {"positive": label})
    pairs = ordered_pairs_of(y, qid, time, event, sample_weight)
    kind = "survival" if qid is None else "query"
    seen = np.ones(pairs.n) if event is None else event
    held = {"time": time, "event": seen} if qid is None else {"y": y, "qid": qid}
    data = {name: np.asarray(column) for name, column in held.items()}
    data |= {name: np.asarray(x.tolist()) for name, x in data.items() if x.dtype.kind == "O"}
    columns = check_proof.ordering(kind, data, {}, {})
    return _write(path, X, lam, solution, columns, sample_weight, {"pairs": kind}, pairs)


def write_proof_of(problem: Problem, solution: Solution, path: str | Path) -> Proof:
    """Write the proof file of a solution of `problem` to `path`, as `write_proof` does, for the
    hinge over all or ordered pairs of dense rows, in memory or streamed. [ScalingUp, eq. (3)]

    The data's labels are True and False. Those of ordered pairs are the columns `key`, `group`,
    `upper`, `lower` and `share` instead, as in `OrderedPairs`, where a row's weight is its own.
    """
    pairs = problem.pairs
    if problem.loss != HINGE or not isinstance(pairs, AllPairs | OrderedPairs):
        raise InputError("a proof file is for the hinge, not another loss or a list of pairs")
    source: object = problem.space.source
    if source is None:
        raise InputError(
            "a proof file is for linear rows: write the features of a kernel or a structure as "
            "rows, and prove the problem over them"
        )
    given = path, source, problem.lam, solution
    if isinstance(pairs, OrderedPairs):
        return _write(*given, *columns_of(pairs), {"pairs": "ordered"}, pairs)
    return _write(*given, pairs.positive, pairs.weight, {"positive": True})


def _write(
    path: str | Path, source: object, lam: float, solution: Solution, order: Any, weight: object,
    named: dict[str, Any], pairs: OrderedPairs | None = None,
) -> Proof:  # fmt: skip
    """Write the proof over classes, `order` the mask, or ordered pairs, `order` their columns."""
    X = as_rows(source)
    n, d = (int(size) for size in X.shape)
    labels = len(order) if pairs is None else pairs.n
    if labels != n:
        raise InputError(f"{n} rows, but labels of shape ({labels},)")
    w = np.asarray(solution.w, dtype=float)
    if w.shape != (d,):
        raise InputError(f"linear weights of {d} features, but the solution has shape {w.shape}")
    repeats = repetitions(weight, n)
    if pairs is None:
        _check_label(named["positive"])
        named, c = {"pairs": "classes", **named}, solution.witness.c
        found = solution.witness.evidence
        if isinstance(found, Alpha):
            raise InputError("a proof file is for all pairs: this solution is one of a pair list")
        if isinstance(found, Weights):
            kind, evidence = "weights", _of_weights(found, np.asarray(found.w, dtype=float))
        elif c.shape != order.shape:
            raise InputError(f"a witness of {c.size} rows does not belong to data of {order.size}")
        else:
            kind, (u, v, cap) = "marginals", integer_marginals(c, order, repeats)
            evidence = {"u": u, "v": v, "cap": np.int64(cap), "scale": np.float64(1.0)}
    else:
        kind, evidence = ordered_evidence(solution.witness.evidence, pairs, order, repeats)
    fields: dict[str, Any] = {"format": np.int64(FORMAT), "kind": kind, **named}
    offset = np.zeros(d)  # the mean row, about: any offset is right, a central one saves digits
    for start in range(0, n, BLOCK):
        block = np.asarray(X[start : start + BLOCK], dtype=float)
        # What is not finite is for the checker to refuse, by its right name.
        offset += np.nan_to_num(block, posinf=0.0, neginf=0.0).sum(axis=0) / n
    fields |= {"lam": np.float64(lam), "w": w, "offset": offset, **evidence}
    arrays = {name: np.asarray(value) for name, value in fields.items()}
    upper, lower, digest = _checked(check_proof.bounds, arrays, X, order, repeats, np.float64)
    gap = upper - lower
    if not _supports(solution, gap):
        # Of badly scaled data float64 may verify less; the long format tells that from other data.
        top, low, _ = check_proof.bounds(arrays, X, order, repeats)
        gap = top - low
    if not _supports(solution, gap):
        raise InputError(
            f"the evidence proves a gap of {float(gap):.3g} on these data, the solution reports "
            f"{solution.certificate.gap:.3g}: give the data, lam and weights that were solved, "
            "with the hinge over all pairs, and scale features of very different size"
        )
    return _save(path, {**arrays, "sha256": np.asarray(digest)}, upper, lower, np.savez)


def _check_label(positive: object) -> None:
    if np.asarray(positive).dtype.kind not in "biufU":
        raise InputError(f"the positive label {positive!r} is neither a number nor text")


def _save(
    path: str | Path, arrays: dict[str, np.ndarray], upper: Fraction, lower: Fraction,
    write: Callable[..., None],
) -> Proof:  # fmt: skip
    path, claims = Path(path), claims_of(upper, lower)
    named = dict(zip(("primal", "dual", "gap"), map(np.asarray, claims), strict=True))
    write_atomically(path, lambda file: write(file, **arrays, **named))
    return Proof(path, str(arrays["kind"]), *claims)


def claims_of(upper: Fraction, lower: Fraction) -> tuple[float, float, float]:
    """Return what is claimed of the primal, the dual and the gap where so much was verified."""
    gap = float(upper - lower)
    primal = float(np.nextafter(float(upper) + MARGIN * gap, np.inf))
    dual = max(float(np.nextafter(float(lower) - MARGIN * gap, -np.inf)), 0.0)
    return primal, dual, (1 + 3 * MARGIN) * gap


def _supports(solution: Solution, gap: Fraction) -> bool:
    """Whether the evidence proves about as much as the solution's certificate says."""
    reported = solution.certificate
    # The checker's own rounding is about 1e-12 for any objective.
    return float(gap) <= 2 * reported.gap + 1e-6 * reported.primal + 1e-11


def _of_weights(evidence: Weights, w: np.ndarray) -> dict[str, Any]:
    grid = {"bins": np.int64(evidence.bins), "half": np.int64(evidence.half)}
    return {"w_dual": w, **grid, "scale": np.float64(evidence.scale)}


def integer_marginals(
    c: np.ndarray, mask: np.ndarray, repeats: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return whole-number marginals of each copy of a row, and the cap of a pair of copies: c_i /
    r_i rounded down to units 1 / (cap n_pos n_neg)."""
    sums = [int(repeats[side].sum()) for side in (mask, ~mask)]
    cap = 1 << max(61 - max(sums).bit_length(), 0)
    units = np.longdouble(cap) * np.longdouble(sums[0]) * np.longdouble(sums[1])
    whole = []
    for side, sign, others in ((mask, 1, sums[1]), (~mask, -1, sums[0])):
        mass = np.maximum(sign * c[side], 0.0).astype(np.longdouble)
        number = np.floor(mass / np.maximum(repeats[side], 1) * units)
        whole.append(np.minimum(number, np.longdouble(cap * others)).astype(np.int64))
    return whole[0], whole[1], cap


def repetitions(weight: object, n: int, which: str = "the weight of row {}") -> np.ndarray:
    if weight is None:
        return np.ones(n, dtype=np.int64)
    r = as_float64(weight, "the weights")
    if r.shape != (n,):
        raise InputError(f"{n} rows, but weights of shape {r.shape}")
    fine = (r >= 0) & (r < LARGEST_REPETITION) & (r == np.floor(r))
    if not fine.all():
        row = int(np.argmin(fine))
        raise InputError(
            f"{which.format(row)} is {r[row]}: a proof file takes whole numbers "
            f"from 0 to {LARGEST_REPETITION - 1}, how often each row counts"
        )
    return r.astype(np.int64)


def columns_of(pairs: OrderedPairs) -> tuple[Columns, np.ndarray]:
    """Return the columns "ordered" of a proof's data, and how often each row counts: (n,)."""
    if pairs.gain is not None:
        raise InputError("a proof file has no gains: pairs of one group weigh alike in it")
    a, b = pairs.by_row()
    if ((a != b) & (a > 0) & (b > 0)).any():
        row = int(np.flatnonzero((a != b) & (a > 0) & (b > 0))[0])
        raise InputError(
            f"a proof file has one weight per row: row {row} counts {a[row]} times above others "
            f"and {b[row]} times below them"
        )
    columns = {"key": pairs.key, "group": np.asarray(pairs.group), "upper": a > 0, "lower": b > 0}
    if pairs.share is not None:
        equal = isinstance(pairs.share, str)
        columns["share"] = np.ones(pairs.n) if equal else np.asarray(pairs.share, dtype=float)
    return columns, np.maximum(a, b)


def ordered_evidence(
    evidence: Evidence | None, pairs: OrderedPairs, columns: Columns, repeats: np.ndarray
) -> tuple[str, dict[str, Any]]:
    if isinstance(evidence, Alpha):
        # What each copy of a row carries above and below, in parts of what a pair can carry.
        listed = pairs.listed()
        assert listed is not None  # there would be no alpha otherwise
        (i, j, _), (a, b) = listed, pairs.by_row()
        cap = 1 << max(60 - pairs.mass.bit_length(), 0)
        whole = np.floor(np.clip(evidence.alpha, 0.0, 1.0) * float(cap)).astype(np.int64)
        u, v = np.zeros((2, pairs.n), dtype=np.int64)
        np.add.at(u, i, whole * b[j])
        np.add.at(v, j, whole * a[i])
        return "marginals", {"u": u, "v": v, "cap": np.int64(cap), "scale": np.float64(1.0)}
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


def _bits(size: float) -> int:
    """Return the least e with size < 2^e, at least -900."""
    return int(np.frexp(max(size, 2.0**-900))[1])


class RowBlocks:
    """A source of row slices as a matrix."""

    ndim = 2

    def __init__(self, source: Any):
        self.source, self.shape = source, tuple(source.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return np.asarray(self.source[rows])


def as_rows(X: Any) -> np.ndarray | RowBlocks:
    """Return X as something that the checker can read in blocks of rows."""
    if sp.issparse(X):
        raise InputError("a proof file is for dense rows: give X.toarray(), if it fits")
    if hasattr(X, "shape") and hasattr(X, "__getitem__") and not hasattr(X, "__array__"):
        rows: np.ndarray | RowBlocks = RowBlocks(X)
    else:
        rows = np.asarray(X)
        if rows.dtype.kind not in "fiub":
            raise InputError(f"X must be a matrix of numbers, not of {rows.dtype}")
        if type(X) not in (np.ndarray, np.memmap):  # these the checker promotes, block by block
            rows = as_float64(X, "X", "a matrix of numbers")
    if len(rows.shape) != 2 or 0 in rows.shape:
        raise InputError(f"X must be a non-empty matrix; its shape is {rows.shape}")
    return rows


def _checked(work: Any, *given: Any) -> Any:
    """Return what a function of the checker does; its refusals are sentences to the user."""
    try:
        return work(*given)
    except (ValueError, TypeError, OverflowError) as problem:
        raise InputError(f"no proof file can be written: {problem}") from None


def write_partitioned_proof(
    path: str | Path, rows: PartitionedRows, lam: float, solution: Solution, positive: object = True
) -> Proof:
    """Write the proof file of a solution over rows in partitions: two more passes over the rows.

    [ScalingUp, eq. (3)]. The claims are checked before the file takes its name. A solution of
    another problem, or one that the sums do not support, raises `InputError`.

    Parameters
    ----------
    path : str or Path
    rows : PartitionedRows, whose row weights are whole and below 2^26
    lam : float > 0
    solution : Solution
        Of the linear hinge problem over all pairs of these rows, by method "descent": where few
        rows are solved in memory, "auto" ends at a dual point that is not one over partitions.
    positive : label of the positive rows where a partition is given to the checker
    """
    if partitions_of(rows) is None:
        raise InputError("these rows are not in partitions: use write_proof")
    if rows.grouped is not None:
        raise InputError("there are no proof files over partitions for the pairs within queries")
    space: Any = rows
    evidence = solution.witness.evidence
    problem = Problem(space, Mean(pairs_in(rows.facts), HINGE), Ridge(lam))
    if not isinstance(evidence, Weights):
        raise InputError("this dual point is not one over partitions: solve with method='descent'")
    _check_label(positive)
    w, dual = problem.check_weights(solution.w), problem.check_weights(evidence.w)
    points = [w] if np.array_equal(w, dual) else [w, dual]
    facts, offset, bits = space.facts, space.offset, int(evidence.bins).bit_length()
    # The largest q so that scores in units 2^-q, and sums of their residuals, fit below 2^61.
    reach = np.maximum(offset - facts.low, facts.high - offset)
    far = max(float(np.abs(w) @ reach) for w in points)
    mass = int(facts.mass.sum()) if facts.weighted else max(n for n, _ in facts.sizes.values())
    spread = 61 - int(np.frexp(1.01 * far + 1)[1])
    units = min(spread, 61 - mass.bit_length() + bits - 1)
    shift = units + 1 - bits

    def scored(blocks: Iterator[Block], index: int) -> dict[int, Any]:
        """Hash, size, and the cells of each point, of one partition."""
        digest, sizes, sides, weights = sha256(), [0.0], [np.zeros(0, bool)], [np.zeros(0, "i8")]
        held: list[list[np.ndarray]] = [[np.zeros(0, np.int64)] for _ in points]
        for columns, positive, weight, *_ in blocks:
            digest.update(np.ascontiguousarray(columns.T, dtype="<f8").tobytes())
            sides.append(positive.copy())  # blocks may reuse their memory
            weights.append(repetitions(weight, positive.size, "a row weight"))
            for k, w in enumerate(points):
                S, far = _checked(check_partitions.scores, columns, offset, w, units)
                held[k].append(S)
                sizes += [far] * (k == 0)
        up, r = np.concatenate(sides), np.concatenate(weights)
        digest.update(up.tobytes() + r.astype("<i8").tobytes())
        cells = [_checked(check_partitions.cells, np.concatenate(S), up, r, shift) for S in held]
        return {index: (digest.hexdigest(), max(sizes), cells)}

    parts = [part for _, part in sorted(space.total(scored, or_).items())]
    minus, plus = check_partitions.merged([cells[-1] for _, _, cells in parts])
    tables = check_partitions.table(minus, plus, evidence.bins, evidence.half)
    # How finely the numbers of each column are read: about 2^-60 of the largest.
    most = np.maximum(np.abs(facts.low), np.abs(facts.high))
    places = np.clip(60 - np.frexp(most)[1], -1000, 1000).astype(np.int64)

    def pulled(blocks: Iterator[Block], index: int) -> dict[int, list[int]]:
        total = [0] * dual.size
        for columns, positive, weight, *_ in blocks:
            S, _ = _checked(check_partitions.scores, columns, offset, dual, units)
            r = repetitions(weight, positive.size, "a row weight")
            given = columns, S >> shift, positive, r, tables, places
            part = _checked(check_partitions.pulls, *given)
            total = [a + b for a, b in zip(total, part, strict=True)]
        return {index: total}

    pulls = space.total(pulled, or_)
    fields: dict[str, Any] = {
        "format": np.int64(1), "kind": "partitions", "positive": positive,
        "lam": np.float64(problem.lam), "w": w, **_of_weights(evidence, dual),
        "offset": offset, "units": np.int64(units), "places": places,
        "sha256": [digest for digest, _, _ in parts], "size": [size for _, size, _ in parts],
        "pulls": [[str(g) for g in pulls[k]] for k in range(space.parts)],
    }  # fmt: skip
    for k, name in zip(range(len(points)), ("cells", "dual_cells"), strict=False):
        held = [cells[k] for _, _, cells in parts]
        fields[name] = np.concatenate(held, axis=1)
        fields[f"{name}_ends"] = np.cumsum([part.shape[1] for part in held]).astype(np.int64)
    arrays = {name: np.asarray(value) for name, value in fields.items()}
    upper, lower, _ = _checked(check_partitions.whole, arrays)
    if not _supports(solution, upper - lower):
        raise InputError(
            f"the partitions' sums prove a gap of {float(upper - lower):.3g}, the solution reports "
            f"{solution.certificate.gap:.3g}: scale features of very different size"
        )
    return _save(path, arrays, upper, lower, np.savez_compressed)


def save_partitions(rows: PartitionedRows, folder: str | Path) -> list[Path]:
    """Write each partition of `rows` as a file that the checker reads, and return the names. The
    `folder` is one of the machines that hold the rows, each of which writes its own. The files hold
    `X`, `y`, true on positive rows, and `weight` where rows have weights."""
    where, dim = str(folder), rows.dim

    def saved(blocks: Iterator[Block], index: int) -> dict[int, str]:
        held, sides, weights = [np.zeros((0, dim))], [np.zeros(0, bool)], []
        for columns, positive, weight, *_ in blocks:
            held.append(columns.T.copy())  # blocks may reuse their memory
            sides.append(positive.copy())
            weights += [] if weight is None else [weight.copy()]
        data = {"X": np.concatenate(held), "y": np.concatenate(sides)}
        data |= {"weight": np.concatenate(weights)} if weights else {}
        path = Path(where) / f"partition-{index:06d}.npz"
        write_atomically(path, lambda file: np.savez(file, **data))
        return {index: str(path)}

    return [Path(name) for _, name in sorted(rows.total(saved, or_).items())]
