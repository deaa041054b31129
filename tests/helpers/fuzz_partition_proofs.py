"""Kinds of the fuzzer: proof files over partitions, whole ones and changed ones."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from aucert.exact import solve
from aucert.exact.problem.penalties import Ridge
from aucert.exact.proof import check_partitions
from aucert.exact.proof.write import write_partitioned_proof
from aucert.exact.tools.exact_numbers import float_above, float_below
from decimal_losses import mean_of
from fuzz_pairs import exact_scores, of_penalty
from fuzz_partitions import folds, parted, partitioned
from fuzz_rows import hard_lam
from fuzzing import Found, Kind


def partition_proof(rng: np.random.Generator, found: Found) -> None:
    """Proof files over partitions: whole ones pass, changed ones are refused, or true."""
    made = parted(rng, False, whole=True)
    lam, tol = hard_lam(rng, made.X), float(10.0 ** rng.uniform(-7, -1))
    found.name = f"proof, {made.name}, lam {lam:.2g}, tol {tol:.0e}"
    solution = solve(made.rows, None, lam, method="descent", tol=tol, max_time=2.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        write_partitioned_proof(path, made.rows, lam, solution)
        with np.load(path) as file:
            proof = dict(file)
    parts = [
        (
            part.X.astype(float),
            part.positive,
            np.ones(len(part.X)) if part.weight is None else part.weight,
        )
        for part in made.rows.engine.partitions
    ]
    tight = solve(made.rows, None, lam, tol=1e-9, max_time=0.5).w

    def objective(w: np.ndarray, lam: float) -> Fraction:
        return mean_of("hinge", exact_scores(made.X, w), made.pairs) + of_penalty(Ridge(lam), w)

    found.judged(_pass(proof, parts, objective, tight))
    for _ in range(6):
        changed, text = _changed(rng, proof)
        try:
            if rng.uniform() < 0.7:
                upper, lower, _ = check_partitions.whole(changed)
                told = {"primal": float_above(upper), "dual": float_below(lower)}
                told["gap"] = float_above(upper - lower)
                changed |= {name: np.asarray(x) for name, x in told.items()}
                text += ", claims as tight as can be"
            wrong = _pass(changed, parts, objective, tight)
        except (ValueError, TypeError, OverflowError, IndexError, KeyError):
            found.refused += 1
            continue
        found.judged([f"{text}: {one}" for one in wrong])


def _pass(proof: Any, parts: Sequence[Any], objective: Any, tight: np.ndarray) -> list[str]:
    """Return what is false in the verdict over all partitions, or raise what refuses them."""
    verdict = check_partitions.check_whole(proof)
    seen: set[int] = set()
    for X, positive, weight in parts:
        seen.update(check_partitions.check_part(proof, X, positive, weight.astype(np.int64)))
    if len(seen) != len(proof["sha256"]):
        raise ValueError("a partition is left")
    match = re.match(r"gap <= (\S+)", verdict)
    assert match is not None, verdict
    lam, w = float(proof["lam"]), np.asarray(proof["w"])
    value, wrong = objective(w, lam), []
    least = min(value, objective(tight, lam), objective(np.zeros(w.size), lam))
    if value - least > Fraction(float(match[1])):
        wrong.append(f"a gap of {match[1]} verified, it is {float(value - least):.6g}")
    if value > Fraction(float(proof["primal"])) or least < Fraction(float(proof["dual"])):
        wrong.append("F(w) is above the primal claimed, or F below the dual")
    return wrong


def _changed(rng: np.random.Generator, proof: Any) -> tuple[Any, str]:
    """Return the proof with one or two fields changed, and what was done."""
    changed, done = dict(proof), []
    for name in rng.choice(sorted(set(proof) - {"kind", "positive", "format"}), 2, replace=False):
        x = np.array(changed[name])
        how = str(rng.choice(["zeroed", "halved", "one up", "one down", "permuted", "dropped"]))
        if x.dtype.kind == "U" or how in ("permuted", "dropped"):
            if x.ndim == 0 or x.shape[0] < 2:
                continue
            x = x[rng.permutation(x.shape[0])] if how != "dropped" else x[:-1]
            how = "permuted" if how != "dropped" else how
        elif how == "zeroed":
            x = np.zeros_like(x)
        elif how == "halved":
            x = (x // 2) if x.dtype.kind == "i" else x / 2
        else:
            at = tuple(int(rng.integers(size)) for size in x.shape)
            step = 1 if x.dtype.kind == "i" else 10.0 ** rng.uniform(-12, 0) * (1 + abs(x[at]))
            x[at] += step if how == "one up" else -step
        changed[name] = x
        done.append(f"{name} {how}")
    return changed, ", ".join(done)


PARTED: list[Kind] = [partitioned, folds, partitioned, partition_proof]
"""Four in turn; `python tests/helpers/fuzzing.py parted 0:200` runs two hundred."""
