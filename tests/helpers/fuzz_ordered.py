"""Kinds of the fuzzer: ordered pairs with every penalty, in proof files, and worst groups."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import naive
import proofs
from aucert.exact import Rows, certify, solve
from aucert.exact.losses.registry import ALL_LOSSES, HINGE
from aucert.exact.pairs.kinds import cross_group_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.worst import Worst
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import columns_of, write_proof, write_proof_of
from aucert.exact.tools.exact_numbers import float_above, float_below
from decimal_losses import mean_of
from fuzz_core import QUADRATIC, SMOOTH, grades
from fuzz_pairs import (
    SHAPES,
    exact_scores,
    judge_solver,
    of_penalty,
    solved_ordered,
    solved_tail,
    statistics,
    zeros,
)
from fuzz_penalties import claim_faults, exact_penalty, hard_penalty
from fuzz_proofs import mutated
from fuzz_rows import hard_labels, hard_values
from fuzzing import Found, Kind
from ordered_naive import naive_ordered, naive_survival

Columns = dict[str, Any]
Objective = Callable[[np.ndarray], Fraction]


def penalised_ordered(rng: np.random.Generator, found: Found) -> None:
    """Group lasso, signs and the elastic net over ordered pairs: solutions, and audits of others.

    The pairs are by group and grade, with weights, gains and shares, or those of survival.
    """
    n, d = int(rng.integers(4, 16)), int(rng.integers(1, 5))
    scale = 10.0 ** float(rng.choice([0, 0, 0, -6, 6, -60, 60]))
    X = hard_values(rng, hard_labels(rng, n), d, str(rng.choice(SHAPES))) * scale
    loss = str(rng.choice(["hinge", *QUADRATIC, *SMOOTH]))
    kind = str(rng.choice(["grades", "weights", "gain", "share", "survival"]))
    told: Any
    if kind == "survival":
        time, event = rng.integers(0, max(2, n // 2), n) * 0.1, rng.uniform(size=n) < 0.7
        asked: Any = {"y": None, "time": time, "event": event}
        true = naive_survival(time, event)
    else:
        told, true = grades(rng, n, kind, "auto")
        asked = {"y": None, "pairs": told}
    penalty = hard_penalty(rng, X, d)
    found.name = f"{kind}, X {X.shape}, scale {scale:g}, {loss}, {penalty!r}"
    pairs = list(zip(true.i, true.j, true.weight, strict=True))

    def mean(w: np.ndarray) -> Fraction:
        return mean_of(loss, exact_scores(X, w), pairs)

    asked |= {"loss": loss, "penalty": penalty}
    rough = solve(X, **asked, tol=1e-2, max_time=0.1)
    tight = solve(X, **asked, tol=1e-8, max_time=0.2)
    points = [rough.w, tight.w]
    values = [mean(w) + of_penalty(penalty, w) for w in points]
    rival = min(values)
    for solution, value in zip((rough, tight), values, strict=True):
        found.judged(claim_faults(solution.certificate, value, rival, penalty.l2))
    far = tight.w * (1 + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=d))
    extra = exact_penalty(penalty, naive.exact(far))
    if extra is not None:
        audit = certify(X, **asked, w=far, refine=bool(rng.integers(2)), max_time=0.2)
        found.judged(claim_faults(audit, mean(far) + extra, rival, penalty.l2))


def worst_group(rng: np.random.Generator, found: Found) -> None:
    """The worst of several groups, each with rows of both classes; every loss and penalty."""
    groups, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = 2 * groups + int(rng.integers(0, 10))
    y, member = hard_labels(rng, n), rng.integers(0, groups, n)
    y[: 2 * groups], member[: 2 * groups] = np.arange(2 * groups) % 2, np.arange(2 * groups) // 2
    X = hard_values(rng, y, d, str(rng.choice(SHAPES)))
    loss = str(rng.choice(["hinge", "squared_hinge", "square", *SMOOTH]))
    penalty = hard_penalty(rng, X, d)
    found.name = f"worst of {groups}, X {X.shape}, {loss}, {penalty!r}"
    means, parts = [], []
    for group in range(groups):
        means.append(Mean(cross_group_pairs(y, member, group, group), ALL_LOSSES[loss]))
        mine = member == group
        parts.append(
            [
                (int(i), int(j), Fraction(1))
                for i in np.flatnonzero(mine & (y == 1))
                for j in np.flatnonzero(mine & (y == 0))
            ]
        )

    def objective(w: np.ndarray) -> Fraction:
        s = exact_scores(X, w)
        return max(mean_of(loss, s, part) for part in parts) + of_penalty(penalty, w)

    judge_solver(rng, Problem(Rows(X), Worst(tuple(means)), penalty), objective, found)


def ordered_proof(rng: np.random.Generator, found: Found) -> None:
    """Proof files of ordered pairs: whole ones pass, changed ones are refused, or true."""
    n = int(rng.integers(4, 20)) if rng.uniform() < 0.8 else int(rng.integers(20, 60))
    kind = str(rng.choice(["query", "survival", "ordered"]))
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant", "offset", "separable"]))
    X = hard_values(rng, hard_labels(rng, n), int(rng.integers(1, 4)), shape)
    columns = _columns(rng, n, kind)
    r = rng.integers(0, 4, n) if rng.integers(2) else np.ones(n, dtype=int)
    if kind == "ordered":  # the file is about these columns: a row on no side counts 0 times
        columns, r = columns_of(_pairs(columns, r))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    lam, tol = float(10.0 ** rng.uniform(-5, 2)) * unit**2, float(10.0 ** rng.uniform(-9, -1))
    found.name = f"proof, {kind}, {shape}, X {X.shape}, lam {lam:.2g}, tol {tol:.0e}"
    proof, tight = _written(X, kind, columns, r, lam, tol)
    found.judged(_pass_or_fault(proof, X, kind, columns, r))
    if rng.integers(2):  # the dual point of somebody's scores, rounded to whole numbers
        bins, half = 1 << int(rng.integers(0, 12)), int(rng.integers(0, 40))
        scores = np.floor(bins * (X @ (tight * rng.choice([1.0, 0.9])))).astype(np.int64)
        kept = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
        proof = kept | proofs.scalars(kind="scores", bins=bins, half=half)
        proof["scores"] = scores if np.abs(X @ tight).max() < 1e12 else 0 * scores
    for _ in range(6):
        changed, text = mutated(rng, proof)
        told, weight = columns, r
        if rng.integers(3) == 0:
            told, weight, text = _damaged(rng, columns, r, text)
        try:
            if rng.uniform() < 0.7:  # whoever changes a field claims what can be verified then
                _claim_all(changed, X, kind, told, weight)
                text += ", claims as tight as can be"
            verdict = _verdict(changed, X, kind, told, weight)
        except ValueError:
            found.refused += 1
            continue
        wrong = _verified(changed, X, kind, told, weight, verdict, tight)
        found.judged([f"{text}: {fault}" for fault in wrong])


def _columns(rng: np.random.Generator, n: int, kind: str) -> Columns:
    """Return what orders n rows, with ties; some pair there is in most."""
    names = np.array(["b", "a", "c"])[rng.integers(0, int(rng.integers(1, 4)), n)]
    if kind == "survival":
        return {"time": rng.integers(0, 6, n) / 2, "event": rng.random(n) < 0.7}
    key = rng.integers(0, int(rng.integers(2, 7)), n) / 2
    if kind == "query":
        return {"y": key, "qid": names if rng.integers(2) else rng.integers(0, 3, n)}
    group = np.unique(names, return_inverse=True)[1]
    columns: Columns = {"key": key, "group": group}
    if rng.integers(2):
        columns |= {"upper": rng.random(n) < 0.8, "lower": rng.random(n) < 0.8}
    if rng.integers(2):
        columns["share"] = (10.0 ** rng.uniform(-6, 6, 3))[group]
    return columns


def _pairs(columns: Columns, r: np.ndarray) -> OrderedPairs:
    """Return the pairs of the columns "ordered"."""
    n = r.size
    sides = [np.asarray(columns.get(side, np.ones(n))) * r for side in ("upper", "lower")]
    return OrderedPairs(columns["group"], columns["key"], *sides, share=columns.get("share"))


def _written(
    X: np.ndarray, kind: str, columns: Columns, r: np.ndarray, lam: float, tol: float
) -> tuple[Columns, np.ndarray]:
    """Return the fields of a proof file, and weights near the optimum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        if kind == "ordered":
            problem = Problem(Rows(X), Mean(_pairs(columns, r), HINGE), Ridge(lam))
            asked: Columns = {"y": None, "lam": lam, "pairs": problem.pairs}
            solution = solve(X, **asked, tol=tol)
            write_proof_of(problem, solution, path)
        else:
            asked = {"y": None, "lam": lam, "sample_weight": r, **columns}
            solution = solve(X, **asked, tol=tol)
            write_proof(path, X, solution=solution, **asked)
        with np.load(path) as file:
            return dict(file), solve(X, **asked, tol=1e-9, max_time=0.3).w


def _verdict(proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray) -> str:
    return check_proof.check(proof, X, check_proof.ordering(kind, columns, proof, {}), r)


def _pass_or_fault(
    proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray
) -> list[str]:
    """Return what is wrong where the checker refuses the file that was written."""
    try:
        _verdict(proof, X, kind, columns, r)
    except ValueError as why:
        return [f"the file that was written is refused: {why}"]
    return []


def _damaged(
    rng: np.random.Generator, columns: Columns, r: np.ndarray, text: str
) -> tuple[Columns, np.ndarray, str]:
    """Return the columns with one permuted or one row's weight changed, and what was done."""
    name = str(rng.choice([*columns, "weight"]))
    if name == "weight":
        other = r.copy()
        other[rng.integers(r.size)] += 1
        return columns, other, f"{text}, a weight raised"
    return columns | {name: rng.permutation(columns[name])}, r, f"{text}, {name} permuted"


def _claim_all(proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray) -> None:
    """Claim the bounds that the checker finds in the changed fields, and no less."""
    order = check_proof.ordering(kind, columns, proof, {})
    upper, lower, digest = check_proof.bounds(proof, X, order, r)
    claims = {"primal": float_above(upper), "dual": float_below(lower)}
    proof |= proofs.scalars(**claims, gap=float_above(upper - lower), sha256=digest)


def _verified(
    proof: Columns,
    X: np.ndarray,
    kind: str,
    columns: Columns,
    r: np.ndarray,
    verdict: str,
    tight: np.ndarray,
) -> list[str]:
    """Return what is false in a verdict and in the claims that it let pass."""
    match = re.match(r"verified gap <= (\S+)", verdict)
    assert match is not None, verdict
    lam, w = float(proof["lam"]), np.asarray(proof["w"])
    pairs = _enumerated(kind, columns, r)

    def objective(w: np.ndarray) -> Fraction:
        return mean_of("hinge", exact_scores(X, w), pairs) + of_penalty(Ridge(lam), w)

    asked: Columns = {"y": None, "lam": lam, "tol": 1e-9, "max_time": 0.2}
    asked |= {"pairs": _pairs(columns, r)} if kind == "ordered" else {"sample_weight": r, **columns}
    value = objective(w)
    least = min(value, objective(tight), objective(solve(X, **asked).w))
    wrong = []
    for name, gap in (("verified", float(match[1])), ("claimed", float(proof["gap"]))):
        if value - least > Fraction(gap):
            wrong.append(f"a gap of {gap:.6g} {name}, it is {float(value - least):.6g}")
    if value > Fraction(float(proof["primal"])):
        wrong.append("F(w) is above the primal claimed")
    if least < Fraction(float(proof["dual"])):
        wrong.append("F of other weights is below the dual claimed")
    return wrong


def _enumerated(kind: str, columns: Columns, r: np.ndarray) -> list[tuple[int, int, Fraction]]:
    """Return the pairs one by one, with weights that add up to one."""
    n = r.size
    if kind == "survival":
        plain = naive_survival(columns["time"], columns["event"])
        held = [(i, j, Fraction(int(r[i] * r[j]))) for i, j in zip(plain.i, plain.j, strict=True)]
        return [pair for pair in held if pair[2] > 0]
    if kind == "query":
        true = naive_ordered(columns["qid"], columns["y"], r, r)
    else:
        sides = [np.asarray(columns.get(side, np.ones(n))) * r for side in ("upper", "lower")]
        true = naive_ordered(columns["group"], columns["key"], *sides, share=columns.get("share"))
    return list(zip(true.i, true.j, true.weight, strict=True))


PAIRS: list[Kind] = [
    *(solved_ordered, solved_tail, statistics, solved_ordered, zeros),
    *(penalised_ordered, ordered_proof, worst_group, penalised_ordered, ordered_proof),
]
"""Ten in turn; `python tests/helpers/fuzzing.py pairs 0:300` runs three hundred."""
