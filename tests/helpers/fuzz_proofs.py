"""Kinds of the fuzzer: proof files with changed fields."""

from __future__ import annotations

import re
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import proofs
from aucert.exact import AllPairs, solve
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof
from aucert.exact.tools.exact_numbers import float_above, float_below
from fuzz_rows import hard_lam, hard_rows
from fuzz_truth import TIGHT, LinearTruth
from fuzzing import Found

FIELDS = ("lam", "w", "offset", "scale", "u", "v", "cap", "bins", "half", "w_dual", "scores")


def proof_fields(rng: np.random.Generator, found: Found) -> None:
    """Proof files with changed fields and claims: refused, or true."""
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant", "offset", "separable"]))
    hard = hard_rows(rng, 30, shape, "plain")
    r = rng.integers(0, 4, hard.y.size) if rng.integers(2) else np.ones(hard.y.size, int)
    r[[np.flatnonzero(hard.y == label)[0] for label in (0, 1)]] = 2
    lam = hard_lam(rng, hard.true)
    found.name = f"proof, {hard.name}, lam {lam:.2g}"
    solution = solve(hard.true, hard.positive, lam, sample_weight=r, tol=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        write_proof(path, hard.true, hard.positive, lam, solution, sample_weight=r)
        with np.load(path) as file:
            proof = dict(file)
    data = {"X": hard.true, "y": hard.positive, "weight": r}
    proof = _other_evidence(rng, proof, solution.w)
    for _ in range(6):
        changed, text = mutated(rng, proof)
        try:
            if rng.uniform() < 0.7:  # whoever changes a field claims what can be verified then
                text += ", claims as tight as can be"
                _claim_all(changed, data)
            verdict = proofs.verdict(changed, data)
        except ValueError:
            found.refused += 1
            continue
        found.judged([f"{text}: {wrong}" for wrong in _verified(changed, data, verdict)])


def _other_evidence(rng: np.random.Generator, proof: dict[str, Any], w: np.ndarray) -> Any:
    """Return the proof, or one of the same claims whose dual point is made from weights."""
    if proof["kind"] == "weights" or rng.integers(2):
        return proof
    kept = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
    fields = proofs.scalars(kind="weights", w_dual=w, bins=2**10, half=int(rng.integers(0, 20)))
    return kept | fields


def mutated(rng: np.random.Generator, proof: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the proof with one or two fields changed, and what was done."""
    changed, done = dict(proof), []
    names = [name for name in FIELDS if name in proof]
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        changed[name], how = _other(rng, changed[name])
        done.append(f"{name} {how}")
    return changed, ", ".join(done)


def _claim_all(proof: dict[str, Any], data: dict[str, Any]) -> None:
    """Claim the bounds that the checker finds in the changed fields, and no less."""
    upper, lower, digest = check_proof.bounds(proof, data["X"], data["y"], data["weight"])
    claims = {"primal": float_above(upper), "dual": float_below(lower)}
    proof |= proofs.scalars(**claims, gap=float_above(upper - lower), sha256=digest)


def _other(rng: np.random.Generator, value: np.ndarray) -> tuple[np.ndarray, str]:
    """Return a field changed in one of several ways."""
    x, how = np.array(value), int(rng.integers(6))
    at = tuple(int(rng.integers(size)) for size in x.shape)
    if how == 0:
        return (x * np.asarray(2, x.dtype)).astype(x.dtype), "doubled"
    if how == 1:
        return np.zeros_like(x), "zeroed"
    if how == 2 and x.ndim and x.size > 1:
        return x[rng.permutation(x.size)], "permuted"
    if how == 3:
        x[at] = -x[at]
        return x, "with one sign changed"
    if how == 4:
        step = 10.0 ** rng.uniform(-12, 0)
        x[at] = x[at] + (int(x[at] * step) + 1 if x.dtype.kind == "i" else step * (1 + abs(x[at])))
        return x, "with one entry moved up"
    x[at] = x[at] / 2 if x.dtype.kind == "f" else x[at] // 2
    return x, "with one entry halved"


def _verified(proof: dict[str, Any], data: dict[str, Any], verdict: str) -> list[str]:
    """Return what is false in a verdict and in the claims that it let pass."""
    match = re.match(r"verified gap <= (\S+)", verdict)
    assert match is not None, verdict
    lam, w = float(proof["lam"]), np.asarray(proof["w"])
    pairs = AllPairs(data["weight"].astype(float))
    truth = LinearTruth(data["X"], data["y"], lam, "hinge", pairs)
    best = solve(data["X"], data["y"], lam, pairs=pairs, **TIGHT).w
    value = truth.objective(w)
    least, wrong = min(value, truth.objective(best)), []
    for name, gap in (("verified", float(match[1])), ("claimed", float(proof["gap"]))):
        if value - least > Fraction(gap):
            wrong.append(f"a gap of {gap:.6g} {name}, it is {float(value - least):.6g}")
    if value > Fraction(float(proof["primal"])):
        wrong.append("F(w) is above the primal claimed")
    if least < Fraction(float(proof["dual"])):
        wrong.append("F(best) is below the dual claimed")
    return wrong
