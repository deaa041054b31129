"""The claim: proof files of ordered pairs hold the optimum, and damaged ones are refused."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.api.solve import solve
from ....exact.proof import check_proof
from ....exact.proof.write import write_proof
from ..claim import Context, Outcome, Verdict
from .draws import LAM, draws, graded_pairs, timed_pairs, with_ridge
from .enumerated import Judged, judge_bounds, mean_loss, outcome

Columns = dict[str, np.ndarray]


def proof_file_of_ordered_pairs_holds_the_optimum(context: Context) -> Outcome:
    found = [_one(*case) for case in _problems(context)]
    let_pass = [name for _, names in found for name in names]
    judged = outcome(case for case, _ in found)
    if not let_pass:
        return judged
    details = {**judged.details, "damaged files that were not refused": let_pass}
    return replace(
        judged,
        verdict=Verdict.FAILS,
        measured=f"{len(let_pass)} damaged files are not refused",
        details=details,
    )


def _problems(context: Context) -> Iterator[tuple[np.ndarray, str, Columns, list]]:
    """Rows, which pairs their columns mean, the columns, and the pairs one by one."""
    for X, rng in draws(context):
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        yield X, "query", {"y": grade, "qid": qid}, graded_pairs(qid, grade)
        time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
        yield X, "survival", {"time": time, "event": event}, timed_pairs(time, event)


def _one(X: np.ndarray, kind: str, columns: Columns, pairs: list) -> tuple[Judged, list[str]]:
    """Return what a file comes to, and which damage to it the checker lets pass."""
    asked: dict[str, Any] = {"y": None, **columns}
    solution = solve(X, lam=LAM, tol=1e-9, **asked)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        write_proof(path, X, lam=LAM, solution=solution, **asked)
        with np.load(path) as file:
            proof = dict(file)
    primal, dual, gap = (float(proof[name]) for name in ("primal", "dual", "gap"))
    verified = _verified(proof, X, kind, columns)
    relative = gap / primal if verified else 1.0  # what is not verified proves nothing
    case = judge_bounds(
        proof["w"], primal, dual, relative, with_ridge(mean_loss(X, pairs, "hinge"))
    )
    better = 1e-9 * primal
    damaged = {
        "no gap": (proof | {"gap": np.asarray(0.0)}, X),
        "a larger lower bound": (proof | {"dual": np.asarray(dual + better)}, X),
        "a smaller upper bound": (proof | {"primal": np.asarray(primal - better)}, X),
        "other weights": (proof | {"w": proof["w"] * 1.01}, X),
        "rows in another order": (proof, X[::-1].copy()),
    }
    return case, [name for name, (p, x) in damaged.items() if _verified(p, x, kind, columns)]


def _verified(proof: Columns, X: np.ndarray, kind: str, columns: Columns) -> bool:
    """Whether the checker verifies the file against these rows and columns."""
    order = check_proof.ordering(kind, columns, proof, {})
    try:
        check_proof.check(proof, X, order, np.ones(len(X)))
    except ValueError:
        return False
    return True
