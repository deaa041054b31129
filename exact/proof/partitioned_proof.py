"""Proof files of rows in partitions: sums of each partition beside its hash.

`check_partitions.py` checks the file's claims from these sums, and the sums of one partition at a
time from its rows. All of them are whole numbers, made by the checker's own functions, so that they
are the same bits on every machine and for every cut of the rows into blocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..certificate.solution import Solution
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.partitioned_pairs import pairs_in
from ..problem.evidence import Weights
from ..problem.problem import Problem, Ridge
from ..problem.risk import Mean
from ..spaces.partitions.grouped.grouped_rows import GroupedRows
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..tools.atomic_files import write_atomically
from . import check_partitions
from .claims import claims_of, supports
from .partition_tasks import CellsTask, PullsTask, SaveTask
from .proof_file import Proof

FORMAT = 1  # Version of the format written here.

# Scores in units are below two to this power, and so is a partition's sum of their residuals.
LARGEST_UNITS = 61


def write_partitioned_proof(
    path: str | Path, rows: PartitionedRows, lam: float, solution: Solution, positive: object = True
) -> Proof:
    """Write the proof file of a solution over rows in partitions: two more passes over the rows.

    [ScalingUp, eq. (3)]. The claims are checked before the file takes its name.

    Parameters
    ----------
    path : str or Path
    rows : PartitionedRows
        Row weights are whole and below 2^26.
    lam : float
        > 0.
    solution : Solution
        Of the linear hinge problem over all pairs of these rows, by method "descent": where few
        rows are solved in memory, "auto" ends at a dual point that is not one over partitions.
    positive : label
        What the labels of positive rows are where a partition is given to the checker.

    Raises
    ------
    InputError
        If the solution is one of another problem, or the sums do not support its certificate.
    """
    if not isinstance(rows, PartitionedRows):
        raise InputError("these rows are not in partitions: use write_proof")
    if isinstance(rows, GroupedRows):
        raise InputError("there are no proof files over partitions for the pairs within queries")
    space: Any = rows
    evidence = solution.witness.evidence
    problem = Problem(space, Mean(pairs_in(rows.facts), HINGE), Ridge(lam))
    if not isinstance(evidence, Weights):
        raise InputError(
            "the solution's dual point is not one over partitions: solve these rows with "
            "method='descent'"
        )
    if np.asarray(positive).dtype.kind not in "biufU":
        raise InputError(f"the positive label {positive!r} is neither a number nor text")
    w, dual = problem.check_weights(solution.w), problem.check_weights(evidence.w)
    points = [w] if np.array_equal(w, dual) else [w, dual]
    units = _units(problem, points, evidence.bins)
    shift = units + 1 - int(evidence.bins).bit_length()
    found = space.run(CellsTask(space.offset, points, units, shift))
    parts = [found[k] for k in range(space.parts)]
    minus, plus = check_partitions.merged([cells[-1] for _, _, cells in parts])
    tables = check_partitions.table(minus, plus, evidence.bins, evidence.half)
    places = _places(space)
    pulls = space.run(PullsTask(space.offset, dual, units, shift, tables, places))
    arrays: dict[str, Any] = {
        "format": np.int64(FORMAT),
        "kind": "partitions",
        "positive": positive,
        "lam": np.float64(problem.lam),
        "w": w,
        "w_dual": dual,
        "offset": space.offset,
        "bins": np.int64(evidence.bins),
        "half": np.int64(evidence.half),
        "scale": np.float64(evidence.scale),
        "units": np.int64(units),
        "places": places,
        "sha256": [digest for digest, _, _ in parts],
        "size": [size for _, size, _ in parts],
        "pulls": [[str(g) for g in pulls[k]] for k in range(space.parts)],
        **_flat("cells", [cells[0] for _, _, cells in parts]),
    }
    if len(points) > 1:
        arrays |= _flat("dual_cells", [cells[1] for _, _, cells in parts])
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    try:
        upper, lower, _ = check_partitions.whole(arrays)
    except (ValueError, TypeError, OverflowError) as problem_found:
        raise InputError(f"no proof file can be written: {problem_found}") from None
    if not supports(solution, upper - lower):
        raise InputError(
            f"the partitions' sums prove a gap of {float(upper - lower):.3g}, the solution reports "
            f"{solution.certificate.gap:.3g}: scale features of very different size"
        )
    primal, low, gap = claims_of(upper, lower)
    arrays |= {"primal": np.asarray(primal), "dual": np.asarray(low), "gap": np.asarray(gap)}
    write_atomically(Path(path), lambda file: np.savez_compressed(file, **arrays))
    return Proof(Path(path), "partitions", primal, low, gap)


def save_partitions(rows: PartitionedRows, folder: str | Path) -> list[Path]:
    """Write each partition as a file that the checker reads, and return the names.

    Parameters
    ----------
    rows : PartitionedRows
    folder : str or Path
        Of the machines that hold the rows, each of which writes its own. The files hold `X`, `y`,
        true on positive rows, and `weight` where rows have weights.
    """
    made = rows.run(SaveTask(str(folder), rows.dim))
    return [Path(made[k]) for k in range(rows.parts)]


def _units(problem: Problem, points: list[np.ndarray], bins: int) -> int:
    """Return the largest q so that scores in units 2^-q, and sums of their residuals, fit."""
    space: Any = problem.space
    facts = space.facts
    below, above = space.offset - facts.low, facts.high - space.offset
    far = max(float(np.abs(w) @ np.maximum(below, above)) for w in points)
    mass = int(facts.mass.sum()) if facts.weighted else max(n for n, _ in facts.sizes.values())
    spread = LARGEST_UNITS - int(np.frexp(1.01 * far + 1)[1])
    return min(spread, LARGEST_UNITS - mass.bit_length() + bins.bit_length() - 1)


def _places(space: PartitionedRows) -> np.ndarray:
    """Return how finely the numbers of each column are read: about 2^-60 of the largest."""
    most = np.maximum(np.abs(space.facts.low), np.abs(space.facts.high))
    return np.clip(60 - np.frexp(most)[1], -1000, 1000).astype(np.int64)


def _flat(name: str, parts: list[np.ndarray]) -> dict[str, Any]:
    ends = np.cumsum([part.shape[1] for part in parts])
    return {name: np.concatenate(parts, axis=1), f"{name}_ends": ends.astype(np.int64)}
