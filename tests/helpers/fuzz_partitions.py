"""Kinds of the fuzzer: rows in partitions, with classes or with groups, folds and proof files."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from aucert.exact import GroupedRows, PartitionedRows, certify, cross_validated_path, solve
from aucert.exact.problem.penalties import Ridge
from aucert.exact.proof import check_partitions
from aucert.exact.proof.write import write_partitioned_proof
from aucert.exact.spaces.groups import fold_of_groups, starts_of_folds
from aucert.exact.spaces.partitions import fold_of
from cutting import cut, cut_groups
from decimal_losses import mean_of
from fuzz_core import QUADRATIC, SMOOTH, claim_faults, whole_of
from fuzz_kinds import claims_of, mutated, verified_faults
from fuzzing import Found, Kind, hard_labels, hard_lam, hard_values
from ordered_naive import naive_ordered
from proofs import written

SHAPES = (
    *("gaussian", "ties", "constant", "duplicates", "columns", "scale", "offset", "heavy"),
    *("far row", "separable", "equal", "gaussian"),
)


@dataclass(frozen=True, eq=False)
class Parted:
    """Rows in partitions, and what they stand for: X as float64 (n, d), and their pairs."""

    rows: PartitionedRows
    X: np.ndarray
    pairs: list[tuple[int, int, Fraction]]
    name: str


def parted(
    rng: np.random.Generator, grouped: bool, whole: bool = False, balanced: bool = False
) -> Parted:
    """Return hard rows in up to six partitions, some of them empty or of one class alone.

    Weights are `whole` numbers, or not, of rows with classes; `balanced`
    classes have the same number of rows.
    """
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    n = n + 15 if balanced else n
    y, shape = hard_labels(rng, n), str(rng.choice(SHAPES))
    if balanced:
        y = rng.permutation(np.arange(n) % 2)
    X = hard_values(rng, y, d, shape)
    if rng.integers(2) and 1e-30 < np.abs(X).max() < 1e30:
        X = X.astype(np.float32)
    weight = rng.integers(0, 4, n).astype(float) if rng.integers(2) else None
    if weight is not None and not grouped and not whole and rng.integers(2):
        weight = 10.0 ** rng.uniform(-6, 6, n)
    if weight is not None:
        weight[[np.flatnonzero(y == label)[0] for label in (0, 1)]] = 1.0
    held = np.ones(n) if weight is None else weight
    group, key = np.zeros(n, dtype=int), y.astype(float)
    if grouped:
        group = np.sort(rng.integers(0, int(rng.integers(1, 6)), n))
        key = rng.integers(0, int(rng.integers(2, 5)), n) / 2
        names: Any = np.array([f"q{one}" for one in group]) if rng.integers(2) else group * 3 - 4
        between = [0, n, *(np.flatnonzero(np.diff(group)) + 1).tolist()]
        places = sorted(rng.choice(between, int(rng.integers(0, 4))).tolist())
        rows: Any = GroupedRows(cut_groups(X, names, key, weight, places))
    else:
        places = sorted(rng.integers(0, n + 1, int(rng.integers(0, 6))).tolist())
        rows = PartitionedRows(cut(X, y == 1, weight, places))
    true = naive_ordered(group, key, held, held)
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    name = f"{shape}, {X.dtype}, X {X.shape}, cut {places}, weights {weight is not None}"
    return Parted(rows, X.astype(float), pairs, name)


def partitioned(rng: np.random.Generator, found: Found) -> None:
    """Solutions and audits over rows in partitions: every loss, classes and groups."""
    grouped = bool(rng.integers(2))
    made = parted(rng, grouped)
    loss = str(rng.choice(["hinge", "hinge", *QUADRATIC, *SMOOTH]))
    lam, method = hard_lam(rng, made.X), str(rng.choice(["auto", "descent"]))
    tol = float(10.0 ** rng.uniform(-9, 0))
    found.name = f"{made.name}, grouped {grouped}, {loss}, lam {lam:.2g}, {method}, tol {tol:.0e}"
    objective = whole_of(made.X, lambda s: mean_of(loss, s, made.pairs), Ridge(lam))

    def faults(claim: Any, w: np.ndarray) -> list[str]:
        return claim_faults(claim, objective(w), rival, lam)

    asked: Any = {"lam": lam, "loss": loss}
    rough = solve(made.rows, None, method=method, tol=tol, max_time=2.0, **asked)
    tight = solve(made.rows, None, tol=1e-9, max_time=1.0, **asked)
    rival = min(objective(rough.w), objective(tight.w))
    for solution in (rough, tight):
        found.judged(faults(solution.certificate, solution.w))
    w = tight.w * (1 + 10.0 ** rng.uniform(-9, 0) * rng.normal(size=tight.w.size))
    audit = certify(made.rows, None, w=w, refine=bool(rng.integers(2)), max_time=1.0, **asked)
    found.judged(faults(audit, w))


def folds(rng: np.random.Generator, found: Found) -> None:
    """The folds part the rows, keep groups whole, and the ranges of AUC hold the optimum's."""
    grouped, count, seed = bool(rng.integers(2)), int(rng.integers(2, 4)), int(rng.integers(1000))
    made = parted(rng, grouped, whole=True, balanced=True)
    lams = hard_lam(rng, made.X) * 10.0 ** -np.arange(2.0)
    tol = float(10.0 ** rng.uniform(-4, -0.3))
    found.name = f"{made.name}, grouped {grouped}, {count} folds, lams {lams}, tol {tol:.0e}"
    stated = cross_validated_path(made.rows, None, lams, cv=count, seed=seed, tol=tol)
    rows = made.rows
    starts = starts_of_folds(rows, count, seed) if isinstance(rows, GroupedRows) else None
    seen = 0
    for fold in range(count):
        if isinstance(rows, GroupedRows):
            assert starts is not None
            train, test = (fold_rows(x) for x in fold_of_groups(rows, starts, fold, seed))
            cut_apart = set(train[1].tolist()) & set(test[1].tolist())
            found.judged([f"groups {cut_apart} are on both sides"] * bool(cut_apart))
        else:
            train, test = (fold_rows(x) for x in fold_of(rows, fold, count, seed))
        seen += test[0].shape[0]
        total = train[0].shape[0] + test[0].shape[0]
        found.judged([f"{total} rows in both, of {made.X.shape[0]}"] * (total != made.X.shape[0]))
        for k, lam in enumerate(stated.lams):
            low, high = _auc_range(train, test, float(lam))
            wrong = []
            if stated.fold_low[fold, k] > high + 1e-12 or stated.fold_high[fold, k] < low - 1e-12:
                said = (stated.fold_low[fold, k], stated.fold_high[fold, k])
                wrong.append(f"lam {lam:.3g}: the optimum's AUC is in {(low, high)}, not {said}")
            found.judged(wrong)
    found.judged([f"{seen} rows held out of {made.X.shape[0]}"] * (seen != made.X.shape[0]))


Rows4 = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def fold_rows(rows: Any) -> Rows4:
    """Return the rows, groups, keys and weights of a part."""
    if isinstance(rows, GroupedRows):
        all_rows = rows.all_rows()
        weight = all_rows.weight
        ones = np.ones(all_rows.key.size)
        return all_rows.rows, all_rows.group, all_rows.key, ones if weight is None else weight
    X, positive, weight, *_ = rows.drawn(1.0, 1.0)
    ones = np.ones(positive.size)
    return X, np.zeros(positive.size), positive.astype(float), ones if weight is None else weight


def _auc_range(train: Rows4, test: Rows4, lam: float) -> tuple[float, float]:
    """Return bounds of the concordance on `test` of the optimum on `train`, pair by pair."""
    X, group, key, weight = train
    used = weight > 0
    X, group, key, weight = X[used], group[used], key[used], weight[used]
    if (group == group[0]).all() and set(key.tolist()) <= {0.0, 1.0}:
        asked: Any = {"y": key, "positive": 1.0}
    else:
        asked = {"y": key, "qid": group}
    if np.unique(key).size == 2 and "qid" in asked:
        asked["positive"] = float(key.max())
    best = solve(X, lam=lam, sample_weight=weight, tol=1e-12, max_time=0.5, **asked)
    radius = float(best.certificate.radius) * (1 + 1e-9)
    X, group, key, weight = test
    true = naive_ordered(group, key, weight, weight)
    low = high = 0.0
    for i, j, share in zip(true.i, true.j, true.weight, strict=True):
        apart = X[i] - X[j]
        margin = float(apart @ best.w)
        room = radius * float(np.linalg.norm(apart))
        room += 1e-13 * float((np.abs(X[i]) + np.abs(X[j])) @ np.abs(best.w))
        low += float(share) * (1.0 if margin > room else 0.0)
        high += float(share) * (0.0 if margin < -room else 1.0)
    return low, high


def partition_proof(rng: np.random.Generator, found: Found) -> None:
    """Proof files over partitions: whole ones pass, changed ones are refused, or true."""
    made = parted(rng, False, whole=True)
    lam, tol = hard_lam(rng, made.X), float(10.0 ** rng.uniform(-7, -1))
    found.name = f"proof, {made.name}, lam {lam:.2g}, tol {tol:.0e}"
    solution = solve(made.rows, None, lam, method="descent", tol=tol, max_time=2.0)
    proof = written(write_partitioned_proof, made.rows, lam, solution)
    tight = solve(made.rows, None, lam, tol=1e-9, max_time=0.5).w
    found.judged(_pass(proof, made, tight))
    for _ in range(6):
        changed, text = mutated(rng, proof, sorted(set(proof) - {"kind", "positive", "format"}))
        try:
            if rng.uniform() < 0.7:
                upper, lower, _ = check_partitions.whole(changed)
                changed |= claims_of(upper, lower)
                text += ", claims as tight as can be"
            wrong = _pass(changed, made, tight)
        except (ValueError, TypeError, OverflowError, IndexError, KeyError):
            found.refused += 1
            continue
        found.judged([f"{text}: {one}" for one in wrong])


def _pass(proof: Any, made: Parted, tight: np.ndarray) -> list[str]:
    """Return what is false in the verdict over all partitions, or raise what refuses them."""
    verdict = check_partitions.check_whole(proof)
    seen: set[int] = set()
    for part in made.rows.engine.partitions:
        weight = np.ones(len(part.X)) if part.weight is None else part.weight
        of = (part.X.astype(float), part.positive, weight.astype(np.int64))
        seen.update(check_partitions.check_part(proof, *of))
    if len(seen) != len(proof["sha256"]):
        raise ValueError("a partition is left")
    penalty = Ridge(float(proof["lam"]))
    objective = whole_of(made.X, lambda s: mean_of("hinge", s, made.pairs), penalty)
    return verified_faults(proof, verdict, objective, [tight, np.zeros(tight.size)])


PARTED: list[Kind] = [partitioned, folds, partitioned, partition_proof]
"""Four in turn."""
