"""The kinds of problems of the fuzzer: solutions, audits, subsets, proof files, partitions.

The one fact that certificates rest on is judged without any solver: U(s) >= V - c's, at the scores
that the minorant was made from, where it is tight, and at others. U is summed pair by pair in
fractions, or to 60 digits.
"""

import importlib
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

import fuzzing
import naive
from aucert import exact
from aucert.approx import FSAUC, SHTAUC, SOLAM, SPAM, IncompleteROCSVM, RankSVM
from aucert.exact import AllPairs, PairList, Ridge, Rows, StreamedRows, best_subset, certify, solve
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.losses.registry import ALL_LOSSES, SmoothHinge, get_loss
from aucert.exact.pairs.concordance import concordance
from aucert.exact.pairs.kinds import cross_group_pairs, survival_pairs, uno_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.penalties import GroupLasso, Sign, penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Alpha, Evidence, Marginals, Mean, Mix, Scores, Weights
from aucert.exact.problem.tail import Tail, Worst, tail_risk
from aucert.exact.proof import check_partitions, check_proof
from aucert.exact.proof.write import columns_of, write_partitioned_proof
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.gram import Gram
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.tools.rounding import Bound, float_above, float_below
from aucert.validation.checking.check_solver import check_solver
from aucert.validation.reference.problems import reference_problems
from cutting import Changing, cut, cut_groups
from decimal_losses import BEYOND, mean_of, root, tail_pairs
from fuzzing import (
    TIGHT,
    Found,
    Hard,
    hard_labels,
    hard_lam,
    hard_rows,
    hard_values,
    over,
    pick,
    power,
)
from ordered_naive import naive_ordered, naive_survival
from own_parts import Polynomial, RoundedHinge
from pairwise import ExactSquare
from proofs import Stated, scalars, written
from subset_problems import AWKWARD, awkward

KINDS_OF_SCORES = "exact printed nearly other below constant far tiny far tiny printed".split()


def judging(X: np.ndarray, hard: Hard, lam: float, loss="hinge", pairs: Any = None) -> Any:
    asked: Any = {"loss": loss, "pairs": pairs or AllPairs(), **TIGHT}
    truth = fuzzing.LinearTruth(X, hard.positive, lam, loss, pairs)
    return truth, solve(X, hard.y, lam, **asked)


def scores(rng: np.random.Generator, found: Found) -> None:
    """Audits of scores: those of a function, nearly so, rounded in print, and none of it."""
    hard = hard_rows(rng, 30, form="plain")
    X, kind, lam = hard.true, pick(rng, *KINDS_OF_SCORES), hard_lam(rng, hard.true)
    if kind in ("far", "tiny"):
        X, lam = hard_values(rng, hard.y, 1 + X.shape[1], "gaussian"), power(rng, -5, 1)
        if kind == "far":  # one positive row far away: next to its score the others are rounding
            X[np.flatnonzero(hard.positive)[0], 0] = 10.0 ** rng.uniform(7, 11)
        else:
            X[:, -1] *= 10.0 ** rng.uniform(-17, -5)
    loss = fuzzing.hard_loss(rng)
    tight = solve(X, hard.y, lam, loss=loss, **TIGHT)
    w0 = tight.w.copy()
    if kind == "tiny":
        w0[-1] = rng.normal() * 10.0 ** rng.uniform(0, 10)
    s = _some_scores(rng, kind, X, w0, hard.positive)
    found.name = f"scores {kind}, {hard.name}, {loss}, lam {lam:.2g}"
    audit = certify(X, hard.y, lam, scores=s, loss=loss)
    truth = fuzzing.LinearTruth(X, hard.positive, lam, loss, AllPairs())
    least = truth.objective(tight.w)
    listed = naive.weighted_pairs(hard.positive.tolist(), AllPairs())
    mean = naive.sums(naive.exact(s), listed, loss).value
    value = mean + Fraction(lam) / 2 * Fraction(least_length(X, w0, s)) ** 2
    room = Fraction(audit.rounding) + Fraction(1e-13) * (1 + mean)
    wrong = over("the dual is above F(best)", audit.dual, least)
    wrong += over("the mean loss is off", abs(mean - Fraction(audit.loss_value)), room)
    if audit.gap is not None:
        wrong += over("the objective is above the primal", value, audit.primal)
        wrong += over("F - F(best) is above the gap", value - least, audit.gap)
    found.judged(wrong)


def least_length(X: np.ndarray, w0: np.ndarray, s: np.ndarray) -> float:
    """Return a number that |w| is not below for any w whose scores are about as near s as w0's.

    Scores that are nearly those of w0 are those of w0 + e, |X e| small: |w| >= |w0| - |e|. Where
    w0's are not near, or X does not tell its columns apart, zero is returned.
    """
    n, d = X.shape
    centred = X - X.mean(axis=0)
    size = np.abs(X).max(axis=0)
    if n <= d or not (size > 0).all() or not np.abs(X).max() < 1e20:
        return 0.0
    reached, wanted = naive.products(naive.exact(X), naive.exact(w0)), naive.exact(s)
    apart = [float(x - z) for x, z in zip(reached, wanted, strict=True)]
    away = 10 * float(np.ptp(apart)) + 1e-16 * float(np.abs(X).max(axis=0) @ np.abs(w0))
    least = float(np.linalg.svd(centred / size, compute_uv=False)[-1])
    if least < 1e-6:
        return 0.0
    moved = np.sqrt(n) * away / least / size.min()  # the longest e with |X e| <= sqrt(n) away
    return max(float(np.linalg.norm(w0)) * (1 - 1e-9) - float(moved), 0.0)


def _some_scores(rng: Any, kind: str, X: Any, w: np.ndarray, positive: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        s = X @ w
    s = np.nan_to_num(s, posinf=1e100, neginf=-1e100)
    if kind == "printed":
        return np.array([float(f"{x:.{rng.integers(2, 14)}g}") for x in s])
    if kind == "nearly":
        return s + 10.0 ** rng.uniform(-16, -3) * rng.normal(size=s.size)
    if kind == "other":
        return rng.normal(size=s.size)
    if kind == "constant":
        return np.full(s.size, 0.3)
    if kind == "far":  # the far row's score fits anything: push the other positive rows down
        s = X[:, 0] - 3.0 * positive + 0.1 * rng.normal(size=s.size)
        s[np.flatnonzero(positive)[0]] = X[np.flatnonzero(positive)[0], 0]
        return s
    if kind == "below":  # a positive row on top, the other positive rows below all negative ones
        s = np.where(positive, -1.0, 0.0) + 0.1 * rng.normal(size=s.size)
        s[np.flatnonzero(positive)[0]] = 10.0 ** rng.uniform(4, 9)
    return s


def subset(rng: np.random.Generator, found: Found) -> None:
    """`best_subset` against all supports in fractions, with near copies and constants."""
    name = pick(rng, *AWKWARD)
    X, y, k, weight, ridge = awkward(int(rng.integers(1 << 30)), name)
    method = pick(rng, "branch-and-bound", "exhaustive")
    found.name = f"subset, {name}, X {X.shape}, k {k}, ridge {ridge:.2g}, {method}"
    result = best_subset(X, y, k, ridge, sample_weight=weight, method=method, max_time=5.0)
    true = ExactSquare(X, y, weight, ridge)
    value, least = true.value(result.w), true.best(k)
    wrong = over("F is above its bound", value, result.upper)
    wrong += over("the lower bound is above the optimum", result.lower, least)
    if result.proved:
        wrong += over("proved, but F is above the optimum", value, least + PROVED)
    found.judged(wrong)


PROVED = Fraction(1, 10**9) + Fraction(1, 10**15)  # what is proved may be so far from the optimum


def sparse_auc(rng: np.random.Generator, found: Found) -> None:
    """`SHTAUC`: its lower bound and `proved_`, also as judged by `best_subset`."""
    name = pick(rng, *AWKWARD)
    X, y, k, weight, _ = awkward(int(rng.integers(1 << 30)), name)
    found.name = f"SHTAUC, {name}, X {X.shape}, k {k}"
    try:
        model = SHTAUC(k=k, random_state=0, max_time=2.0).fit(X, y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    true = ExactSquare(X, y, weight)
    value, least = true.value(model.coef_[0]), true.best(k)
    found.judged(_gap_faults(model, value, least, PROVED))
    model.judge(best_subset(X, y, k, sample_weight=weight, max_time=5.0))
    found.judged(_gap_faults(model, value, least, PROVED))


def _gap_faults(model: Any, value: Fraction, least: Fraction, proved: Fraction) -> list[str]:
    wrong = over("F - F(best) is above gap_", value - least, model.gap_)
    wrong += over("lower_bound_ is above the optimum", model.lower_bound_, least)
    if model.proved_:
        wrong += over("proved_, but F is above the optimum", value, least + proved)
    return wrong


FIELDS = ("lam", "w", "offset", "scale", "u", "v", "cap", "bins", "half", "w_dual", "scores")


def proof_fields(rng: np.random.Generator, found: Found, kind: str = "classes") -> None:
    """Proof files: whole ones pass, those with changed fields and claims are refused, or true."""
    n = int(rng.integers(4, 20)) if rng.uniform() < 0.8 else int(rng.integers(20, 60))
    shape = pick(rng, "gaussian", "ties", "duplicates", "constant", "offset", "separable")
    y = hard_labels(rng, n)
    X = hard_values(rng, y, int(rng.integers(1, 4)), shape)
    r = rng.integers(0, 4, n) if rng.integers(2) else np.ones(n, dtype=int)
    if kind == "classes":
        r[[np.flatnonzero(y == label)[0] for label in (0, 1)]] = 2
    stated = Stated(X, kind, {"y": y == 1} if kind == "classes" else _columns(rng, n, kind), r)
    if kind == "ordered":  # the file is about these columns: a row on no side counts 0 times
        stated = Stated(X, kind, *columns_of(stated.ordered_pairs()))
    lam, tol = power(rng, -5, 2) * fuzzing.unit_of(X) ** 2, power(rng, -9, -1)
    found.name = f"proof, {kind}, {shape}, X {X.shape}, lam {lam:.2g}, tol {tol:.0e}"
    solution, tight = stated.solve(lam, tol=tol), stated.solve(lam, tol=1e-9, max_time=0.3).w
    proof = stated.written(lam, solution)
    try:
        found.judged([])
        stated.check(check_proof.check, proof)
    except ValueError as why:
        found.false.append(f"the file that was written is refused: {why}")
    if proof["kind"] != "weights" and rng.integers(2):  # a dual point of weights, or of scores
        proof = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
        proof |= scalars(bins=1 << int(rng.integers(0, 12)), half=int(rng.integers(0, 40)))
        if kind == "classes":
            proof |= scalars(kind="weights", w_dual=solution.w)
        else:
            scores = np.floor(proof["bins"] * (X @ (tight * rng.choice([1.0, 0.9]))))
            whole = (scores if np.abs(scores).max() < 1e15 else 0 * scores).astype(np.int64)
            proof |= scalars(kind="scores", scores=whole)

    def bounds(changed: dict[str, Any]) -> tuple[Fraction, Fraction, Any]:
        upper, lower, digest = other.check(check_proof.bounds, changed)
        return upper, lower, {"sha256": digest}

    def passes(changed: dict[str, Any]) -> str:
        return other.check(check_proof.check, changed)

    def faults(changed: dict[str, Any], verdict: str) -> list[str]:
        pairs, penalty = other.pairs(), Ridge(float(changed["lam"]))
        objective = whole_of(other.X, lambda s: mean_of("hinge", s, pairs), penalty)
        rival = other.solve(penalty.l2, tol=1e-9, max_time=0.2).w
        return verified_faults(changed, verdict, objective, [tight, rival])

    for _ in range(6):
        other, text = stated, ""
        if rng.integers(3) == 0:
            name = pick(rng, *stated.columns, "weight")
            text = f"{name} of the rows changed, "
            if name == "weight":
                other = replace(stated, r=stated.r + (np.arange(n) == rng.integers(n)))
            else:
                columns = {name: rng.permutation(stated.columns[name])}
                other = replace(stated, columns=stated.columns | columns)
        names = [name for name in FIELDS if name in proof]
        damaged(rng, found, proof, names, (bounds, passes, faults), text)


def ordered_proof(rng: np.random.Generator, found: Found) -> None:
    proof_fields(rng, found, pick(rng, "query", "survival", "ordered"))


def damaged(rng: Any, found: Found, proof: Any, names: Any, checker: Any, text="") -> None:
    """Judge what is said of a proof with one or two fields changed, and with claims to fit.

    The checker: the bounds that fields verify, with a digest; their verdict; its faults; refusals.
    """
    (bounds, passes, faults, *refusals), changed = checker, dict(proof)
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        changed[name], how = _other(rng, changed[name])
        text += f"{name} {how}, "
    try:
        if rng.uniform() < 0.7:  # whoever changes a field claims what can be verified then
            upper, lower, digest = bounds(changed)
            claims = {"primal": float_above(upper), "dual": float_below(lower)}
            changed |= scalars(**claims, gap=float_above(upper - lower), **digest)
            text += "claims as tight as can be"
        verdict = passes(changed)
    except (ValueError, *refusals):
        found.refused += 1
    else:
        found.judged([f"{text}: {fault}" for fault in faults(changed, verdict)])


def verified_faults(proof: dict[str, Any], verdict: str, objective: Any, rivals: Any) -> list[str]:
    """Return what is false in a verdict and in the claims of its proof."""
    match = re.match(r"(?:verified )?gap <= (\S+)", verdict)
    assert match is not None, verdict
    value = objective(np.asarray(proof["w"]))
    least = min(value, *map(objective, rivals))
    return [
        *over("F - F(best) is above the gap verified", value - least, float(match[1])),
        *over("F - F(best) is above the gap claimed", value - least, float(proof["gap"])),
        *over("F is above the primal claimed", value, float(proof["primal"])),
        *over("the dual claimed is above F(best)", float(proof["dual"]), least),
    ]


def _other(rng: np.random.Generator, value: np.ndarray) -> tuple[np.ndarray, str]:
    x, how = np.array(value), int(rng.integers(7))
    if x.dtype.kind == "U" or (how in (2, 6) and x.ndim and x.size > 1):
        if x.ndim == 0:
            return x, "kept"
        return (x[:-1], "cut short") if how == 6 else (x[rng.permutation(x.shape[0])], "permuted")
    if how == 0:
        return (x * np.asarray(2, x.dtype)).astype(x.dtype), "doubled"
    if how == 1:
        return np.zeros_like(x), "zeroed"
    at = tuple(int(rng.integers(size)) for size in x.shape)
    if how == 3:
        x[at] = -x[at]
        return x, "with one sign changed"
    if how == 4:
        step = 10.0 ** rng.uniform(-12, 0)
        x[at] = x[at] + (int(x[at] * step) + 1 if x.dtype.kind == "i" else step * (1 + abs(x[at])))
        return x, "with one entry moved up"
    x[at] = x[at] / 2 if x.dtype.kind == "f" else x[at] // 2
    return x, "with one entry halved"


def kernel(rng: np.random.Generator, found: Found) -> None:
    hard = hard_rows(rng, 10, pick(rng, "gaussian", "ties", "duplicates", "offset", "wide"))
    if rng.uniform() < 0.15:  # so many features that distances are made of products
        y = hard_labels(rng, 7)
        X = hard_values(rng, y, 70, pick(rng, "gaussian", "duplicates", "offset")) / 8
        hard = Hard(X, X, y, "many features")
    kernel_solved(rng, hard, pick(rng, "rbf", "laplacian"), found)


def structured(rng: np.random.Generator, found: Found) -> None:
    hard = hard_rows(rng, 10, pick(rng, "gaussian", "ties", "duplicates", "wide", "equal"))
    structure, name = power(rng, -3, 4), pick(rng, "linear", "rbf", "laplacian")
    kernel_solved(rng, hard, name, found, structure)


def kernel_solved(rng: Any, hard: Hard, name: str, found: Found, structure: float = 0.0) -> None:
    gamma, rows = None if name == "linear" else power(rng, -3, 1), naive.exact(hard.true)
    found.name = f"{name}, gamma {gamma}, structure {structure:.2g}, "
    if gamma is not None:
        rows = fuzzing.true_gram(hard.true, name, gamma)
    lam = hard_lam(rng, hard.true) if gamma is None else power(rng, -5, 1)
    asked: Any = {"gamma": gamma, "structure": structure, "kernel": name, "lam": lam}
    asked["pairs"] = fuzzing.hard_pairs(rng, hard.true, hard.y)
    judged_by(rng, found, hard, rows, **asked)


def judged_by(rng: np.random.Generator, found: Found, hard: Hard, rows: Any, **asked: Any) -> None:
    """Solve, roughly and well, and judge by the rows or kernel values in fractions."""
    asked["loss"] = loss = fuzzing.hard_loss(rng)
    lam, pairs, valued = asked["lam"], asked["pairs"], asked["kernel"] != "linear"
    found.name += f"{hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}"
    untouched = fuzzing.stored(hard.X)
    solution = solve(hard.X, hard.y, tol=10.0 ** rng.integers(-11, -1), **asked)
    found.judged(fuzzing.rewritten(hard.X, untouched))
    tight, structure = solve(hard.true, hard.y, **asked, **TIGHT), asked.get("structure", 0.0)
    truth = fuzzing.NaiveTruth(rows, valued, hard.positive, lam, loss, pairs, structure)
    found.solved(truth, solution, tight)


def precomputed(rng: np.random.Generator, found: Found) -> None:
    """A kernel matrix, of whole numbers mostly: what is stored is semidefinite exactly then."""
    n = int(rng.integers(2, 12))
    y = hard_labels(rng, n)
    F = np.round(2 * rng.normal(size=(n, int(rng.integers(1, n + 2)))))
    K = (F @ F.T) * 2.0 ** int(rng.integers(-20, 20))
    if rng.uniform() < 0.3:
        F = rng.normal(size=(n, 3))
        K = np.exp(-((F[:, None] - F[None]) ** 2).sum(axis=2))
    lam, pairs = hard_lam(rng, F) + float(np.abs(K).max()) * 1e-6, fuzzing.hard_pairs(rng, F, y)
    hard = Hard(K, K, y, f"precomputed, n {n}")
    judged_by(rng, found, hard, naive.exact(K), lam=lam, pairs=pairs, kernel="precomputed")


def no_kernel(rng: np.random.Generator, found: Found) -> None:
    """A kernel matrix with eigenvalues at or below zero, or not symmetric: refused, or as said.

    What is said is of the average with the transpose, with up to `Gram.shift` on its diagonal.
    """
    n = int(rng.integers(2, 12))
    y = hard_labels(rng, n)
    F = rng.normal(size=(n, int(rng.integers(1, 4)))) * 10.0 ** rng.integers(-3, 4)
    K = F @ F.T
    top = float(np.abs(K).max())
    K = K - float(rng.choice([0.0, 10.0 ** rng.uniform(-18, -10)])) * top * np.eye(n)
    if rng.integers(2):
        K = K + 10.0 ** rng.uniform(-18, -9) * top * rng.normal(size=K.shape)
    lam, pairs, space = power(rng, -4, 1) * top, fuzzing.hard_pairs(rng, F, y), Gram(K)
    meant, hard = naive.exact(space.K), Hard(K, K, y, f"no kernel, n {n}")
    for i in range(n):
        meant[i][i] += Fraction(space.shift)
    judged_by(rng, found, hard, meant, lam=lam, pairs=pairs, kernel="precomputed")


def own_kernel(rng: np.random.Generator, found: Found) -> None:
    """A polynomial kernel of one's own, judged by its values in fractions."""
    hard = hard_rows(rng, 10, pick(rng, "gaussian", "ties", "duplicates", "constant"), "plain")
    X, degree = hard.true * 10.0 ** float(rng.integers(-2, 3)), int(rng.integers(1, 4))
    K = [[(1 + p) ** degree for p in naive.products(naive.exact(X), z)] for z in naive.exact(X)]
    hard, pairs = replace(hard, X=X, true=X), fuzzing.hard_pairs(rng, X, hard.y)
    found.name = f"polynomial of degree {degree}, "
    judged_by(rng, found, hard, K, lam=power(rng, -5, 1), pairs=pairs, kernel=Polynomial(degree))


def own_loss(rng: np.random.Generator, found: Found) -> None:
    """A loss of one's own, the smooth hinge of any corner, over a list of pairs or all."""
    hard = hard_rows(rng, 30, "gaussian", "plain")
    pairs = fuzzing.listed_pairs(rng, hard.y, 40) if rng.random() < 0.5 else AllPairs()
    corner, lam = power(rng, -2, 1), power(rng, -2, 2)
    found.name = f"a loss of one's own, {hard.name}, corner {corner:.2g}, lam {lam:.2g}"
    asked: Any = {"lam": lam, "loss": RoundedHinge(corner), "pairs": pairs}
    rough = solve(hard.true, hard.y, tol=10.0 ** rng.integers(-9, 0), **asked)
    every = naive.weighted_pairs(hard.positive.tolist(), pairs)
    bend, ridge = Fraction(corner), Ridge(lam)
    objective = whole_of(hard.true, lambda s: mean_of("smooth_hinge", s, every, bend), ridge)
    both_judged(objective, ridge, rough, solve(hard.true, hard.y, **asked, **TIGHT), found)


def online(rng: np.random.Generator, found: Found) -> None:
    """`objective_`, `gap_`, `lower_bound_` and `proved_` of SPAM, SOLAM and FSAUC."""
    shape = pick(rng, "gaussian", "ties", "constant", "duplicates", "scale", "offset", "far row")
    hard = hard_rows(rng, 25, shape, "plain")
    X, y, radius = hard.true, hard.y, power(rng, -3, 2)
    l1, l2 = (power(rng, -5, 0) * rng.integers(2) for _ in range(2))
    which = pick(rng, "SPAM", "SPAM", "SOLAM", "FSAUC")
    given: Any = {"random_state": 0, "max_passes": 5}
    model, ball, order = {
        "SPAM": (SPAM(l1=l1, l2=l2, **given), "none", 0),
        "SOLAM": (SOLAM(radius=radius, **given), "l2", 2),
        "FSAUC": (FSAUC(radius=radius, **given), "l1", 1),
    }[which]
    found.name = f"{which}, {hard.name}, l1 {l1:.2g}, l2 {l2:.2g}, radius {radius:.2g}"
    with np.errstate(all="ignore"):
        model.fit(X, y)
    if which != "SPAM":
        l1 = l2 = 0.0
    true = ExactSquare(X, y == 1, None, l2)

    def objective(w: np.ndarray) -> Fraction:
        return true.value(w) + Fraction(l1) * sum(map(abs, naive.exact(w)), Fraction(0))

    value, loss = objective(model.coef_[0]), RowAverage.of(Rows(X), y == 1, AllPairs(), l2)
    rival = convex_reference(ConvexSquare(loss, l1, ball, radius if order else np.inf)).w
    length = float(np.linalg.norm(rival, order)) if order else 0.0
    rival = rival * min(1.0, radius / length * (1 - 1e-12)) if length else rival  # in the ball
    least = min(value, objective(0 * rival), objective(rival))
    room = Fraction(1e-6) * (1 + value) + Fraction(model.gap_)
    wrong = over("objective_ is off", abs(value - Fraction(model.objective_)), room)
    if np.isfinite(model.gap_):
        wrong += _gap_faults(model, value, least, PROVED)
    stated = model.certificate_
    if np.isfinite(stated.primal):
        wrong += over("the certificate's objective is below F", value, stated.primal)
        wrong += over("the certificate's bound is above F(best)", stated.dual, least)
    found.judged(wrong)


def changing(rng: np.random.Generator, found: Found) -> None:
    """Rows that change while they are read: refused, or a certificate of what they were."""
    hard = hard_rows(rng, 60, "gaussian", "plain")
    swap = tuple(int(rng.choice(np.flatnonzero(side))) for side in (hard.positive, ~hard.positive))
    lam, after = hard_lam(rng, hard.true), int(10.0 ** rng.uniform(0, 3))
    found.name = f"changing after {after} readings, {hard.name}, lam {lam:.2g}"
    other = hard.true.copy()
    other[list(swap)] = other[list(swap[::-1])]
    source = Changing(hard.true, other, after)
    rows = StreamedRows(source, int(rng.integers(1, 70)))
    # Before any claim: then all of it is of the changed rows.
    X = other if source.count > after else hard.true
    solution = solve(rows, hard.y, lam, tol=float(10.0 ** rng.integers(-9, 0)))
    truth, tight = judging(X, hard, lam)
    found.solved(truth, solution, tight)


def odd_weights(rng: np.random.Generator, found: Found) -> None:
    """Weights that float64 does not hold, to be refused, or of odd formats, to be right."""
    hard = hard_rows(rng, 20, "gaussian", "plain")
    lam, d = hard_lam(rng, hard.true), hard.true.shape[1]
    kind = pick(rng, "complex", "masked", "int64", "float16", "strided", "longdouble", "list")
    w = rng.normal(size=d)
    given: Any = {
        "complex": w + 1j,
        "masked": np.ma.masked_array(w, mask=np.arange(d) == 0),
        "int64": np.arange(d) + 2**53 + 1,
        "float16": w.astype(np.float16),
        "strided": np.repeat(w, 2)[::2],
        "longdouble": w.astype(np.longdouble) * (1 + np.longdouble(2) ** -60),
        "list": w.tolist(),
    }[kind]
    found.name = f"weights {kind}, {hard.name}, lam {lam:.2g}"
    audit = certify(hard.true, hard.y, lam, w=given, refine=bool(rng.integers(2)))
    if kind in ("complex", "masked", "int64") and not (kind == "int64" and d == 0):
        found.judged([f"a certificate of {kind} weights"])
        return
    truth, tight = judging(hard.true, hard, lam)
    found.judged(fuzzing.faults_next_to(truth, np.asarray(given, dtype=float), audit, tight))


def linear(rng: np.random.Generator, found: Found) -> None:
    """Dense rows in every form, of every size: `solve`."""
    if rng.uniform() < 0.03:
        y = hard_labels(rng, 5500)
        X = hard_values(rng, y, 2, pick(rng, "gaussian", "ties", "offset"))
        hard = Hard(X, X, y, "many rows")
    else:
        hard = hard_rows(rng, 60 if rng.uniform() < 0.8 else 400)
    _solved(rng, hard, found)


def sparse(rng: np.random.Generator, found: Found) -> None:
    """Sparse rows that are not canonical, linear and with kernels."""
    if rng.uniform() < 0.65:
        _solved(rng, fuzzing.hard_sparse(rng), found)
    else:
        kernel_solved(rng, fuzzing.hard_sparse(rng, 9), pick(rng, "rbf", "laplacian"), found)


def _solved(rng: np.random.Generator, hard: Hard, found: Found) -> None:
    lam, loss = hard_lam(rng, hard.true), fuzzing.hard_loss(rng)
    pairs = fuzzing.hard_pairs(rng, hard.true, hard.y)
    few = ("descent", "cutting-plane", "lifted") if hard.y.size < 30 else ("descent", "auto")
    method = "auto" if loss != "hinge" or rng.uniform() < 0.6 else pick(rng, *few)
    tol, kind = 10.0 ** rng.integers(-12, 0), type(pairs).__name__
    found.name = f"{hard.name}, {loss}, lam {lam:.2g}, {kind}, {method}, tol {tol:.0e}"
    untouched = fuzzing.stored(hard.X)
    solution = solve(hard.X, hard.y, lam, loss=loss, pairs=pairs, method=method, tol=tol)
    found.judged(fuzzing.rewritten(hard.X, untouched))
    truth, tight = judging(hard.true, hard, lam, loss, pairs)
    found.solved(truth, solution, tight)
    evidence = solution.witness.evidence
    if isinstance(evidence, Weights):  # the exact mode takes no bins, and has another alpha
        return
    if loss != "hinge" or isinstance(evidence, Alpha) or getattr(evidence, "width", 1.0) == 0:
        if isinstance(pairs, PairList) and isinstance(evidence, Scores):  # its margins are rounded
            margins = evidence.scores[pairs.i] - evidence.scores[pairs.j]
            evidence = Alpha(evidence.scale * get_loss(loss).alpha(margins, evidence.width))
        witness = replace(solution.witness, evidence=evidence)
        true = ExactCertificate.of(truth.problem, solution.w, witness).dual
        stated = solution.certificate.dual
        found.judged(over("the dual is above that of its evidence", stated, true))


def estimator(rng: np.random.Generator, found: Found) -> None:
    """Estimators with a certificate over all pairs, row weights, dense or sparse rows."""
    hard = fuzzing.hard_sparse(rng) if rng.integers(2) else hard_rows(rng, 40)
    lam, loss = hard_lam(rng, hard.true), fuzzing.hard_loss(rng)
    weight = fuzzing.hard_weight(rng, hard.y) if rng.integers(2) else None
    kind = pick(rng, "exact", "exact", "drawn", "newton")
    model: Any = exact.ROCSVM(lam=lam, loss=loss)
    if kind == "drawn":
        loss = "hinge"
        model = IncompleteROCSVM(lam=lam, random_state=0, max_iter=300)
    elif kind == "newton":
        loss, model = "squared_hinge", RankSVM(lam=lam)
    found.name = f"{kind} estimator, {hard.name}, {loss}, {lam:.2g}, weights {weight is not None}"
    try:
        model.fit(hard.X, hard.y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    truth, tight = judging(hard.true, hard, lam, loss, AllPairs(weight))
    found.judged(fuzzing.faults_next_to(truth, model.coef_[0], model.certificate_, tight))


def in_blocks(rng: np.random.Generator, found: Found, loss: str = "hinge") -> None:
    """Rows that are read a few at a time, with row weights or without."""
    hard = hard_rows(rng, 200 if loss == "hinge" else 60, form="plain")
    lam, weight = hard_lam(rng, hard.true), None
    if rng.integers(2):
        weight = fuzzing.hard_weight(rng, hard.y)
    source = hard.true
    if loss == "hinge" and rng.integers(2) and 1e-30 < np.abs(source).max() < 1e30:
        source = source.astype(np.float32)
    pairs, tol = AllPairs(weight), float(10.0 ** rng.integers(-9, 0))
    found.name = f"blocks, {hard.name}, lam {lam:.2g}, {source.dtype}, weights {weight is not None}"
    rows = StreamedRows(source, int(rng.integers(1, 40)))
    solution = solve(rows, hard.y, lam, loss=loss, pairs=pairs, tol=tol)
    truth, tight = judging(source.astype(float), hard, lam, loss, pairs)
    found.solved(truth, solution, tight)


def squared_in_blocks(rng: np.random.Generator, found: Found) -> None:
    in_blocks(rng, found, "squared_hinge")


def path(rng: np.random.Generator, found: Found) -> None:
    hard = fuzzing.hard_sparse(rng) if rng.integers(2) else hard_rows(rng, 40)
    loss, pairs = fuzzing.hard_loss(rng), fuzzing.hard_pairs(rng, hard.true, hard.y)
    lams = hard_lam(rng, hard.true) * 10.0 ** -np.arange(4.0)
    found.name = f"path, {hard.name}, {loss}, lams {lams}, {type(pairs).__name__}"
    points = exact.regularization_path(hard.X, hard.y, lams, loss=loss, pairs=pairs).points
    for point in points:
        truth, tight = judging(hard.true, hard, point.lam, loss, pairs)
        found.solved(truth, point.solution, tight)


def weights(rng: np.random.Generator, found: Found) -> None:
    """Audits of somebody's weights, refined or not, and the pairs whose order they make certain."""
    hard = hard_rows(rng, 30)
    lam, loss = hard_lam(rng, hard.true), fuzzing.hard_loss(rng)
    pairs = fuzzing.hard_pairs(rng, hard.true, hard.y)
    truth, tight = judging(hard.true, hard, lam, loss, pairs)
    w = tight.w * (1 + 10.0 ** rng.uniform(-12, 0) * rng.normal(size=tight.w.size))
    if rng.uniform() < 0.3:
        w = np.round(w, 3)
    refine = bool(rng.integers(2))
    found.name = f"audit, {hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, {refine}"
    audit = certify(hard.X, hard.y, lam, w=w, loss=loss, pairs=pairs, refine=refine)
    wrong = fuzzing.faults_next_to(truth, w, audit, tight)
    found.judged(wrong + order_faults(truth, audit, w, tight))


def order_faults(truth: Any, audit: Any, w: np.ndarray, tight: Any) -> list[str]:
    """Return what is false in the count of pairs whose order at the optimum is certain.

    A pair can only count if the model orders it so, and the optimum may: within the exact radius of
    a strong point. Float64 decides, with room for its rounding.
    """
    pairs, X, radius = truth.problem.pairs, truth.X, truth.radius(tight)
    if isinstance(pairs, PairList):
        i, j = pairs.i, pairs.j
    else:
        i, j = np.nonzero(np.logical_and.outer(pairs.positive, ~pairs.positive))
    apart = X[i] - X[j]
    far, size = np.linalg.norm(apart, axis=1), np.abs(X[i]) + np.abs(X[j])
    wrong = []
    for sign, count, name in ((1, audit.n_sure_right, "right"), (-1, audit.n_sure_wrong, "wrong")):
        of_model = sign * (apart @ w) + 1e-13 * (size @ np.abs(w)) > 0
        room = radius * far + 1e-13 * (size @ np.abs(tight.w))
        possible = int((of_model & (sign * (apart @ tight.w) + room > 0)).sum())
        if count > possible:
            wrong.append(f"{count} pairs said to be certainly {name}, of {possible} possible")
    return wrong


SMOOTH = ("logistic", "smooth_hinge", "exponential")
QUADRATIC = ("hinge", "squared_hinge", "square")


@dataclass(frozen=True)
class Core:
    """A risk of the library, U of exact scores by its definition, and how `solve` is asked."""

    risk: Any
    truth: Callable[[Sequence[Fraction]], Fraction]
    name: str
    asked: dict[str, Any] = field(default_factory=dict)


def hard_scores(rng: np.random.Generator, n: int, loss: str) -> np.ndarray:
    """Return scores (n,): ties, margins of one, far ones, tiny and huge ones, of long digits."""
    s, rises = rng.normal(size=n).astype(np.longdouble), loss == "exponential"
    steep = rises or loss == "logistic"
    kinds: dict[str, Callable[[], Any]] = {
        "plain": lambda: s,
        "ties": lambda: np.round(2 * s) / 2,
        "edge": lambda: np.round(s) + rng.choice([0.0, 2.0**-52, -(2.0**-53), 1e-9], n),
        "far": lambda: s * 10.0 ** rng.uniform(0, 2.2 if rises else 6),
        "one far": lambda: np.where(np.arange(n) == rng.integers(n), 100 if rises else 1e6, 1) * s,
        "offset": lambda: s + 10.0 ** rng.integers(1, 9),
        "tiny": lambda: s * 10.0 ** -rng.integers(3, 150),
        "huge": lambda: s if steep else s * 10.0 ** rng.integers(7, 150),
    }
    s = kinds[pick(rng, *kinds)]()
    if rng.integers(2):
        return s.astype(float)
    return s + rng.normal(size=n).astype(np.longdouble) * np.abs(s) * np.longdouble(2) ** -58


def judge(rng: np.random.Generator, core: Core, loss: str, found: Found) -> None:
    """Judge the value, its slip, and every kind of minorant that the risk makes."""
    found.name, risk, n = core.name, core.risk, core.risk.n
    s = hard_scores(rng, n, loss)
    width = float(rng.choice([0.0, 0.0, 1e-3, 0.5, 20.0]))
    true = core.truth(naive.exact(s))
    sums = risk.sums(s, width)
    error = np.abs(s).astype(float) * 10.0 ** rng.uniform(-17, -1) * rng.integers(0, 2, n)
    upper = risk.upper(s, error)
    found.judged(value_faults(true, Bound(sums.value, sums.value_rounding, sums.excess)))
    moved = s + (error * rng.choice([-1.0, 1.0, 0.5], n) * (1 - 1e-9)).astype(np.longdouble)
    far = core.truth(naive.exact(moved))
    most = Fraction(upper.value) + Fraction(upper.error)
    found.judged(over("U next to the scores is above `upper`", far * (1 - BEYOND), most))
    scale = float(rng.choice([1.0, 1.0, 0.3, 0.0]))
    short = s.astype(float)
    evidence: list[Evidence] = [Scores(short, width, scale), Scores(-short, 0.0, scale)]
    shares = (0.3, 0.7) if rng.integers(2) else (0.25, 0.5)
    evidence.append(Mix(tuple(zip(shares, evidence, strict=True))))
    evidence += other_evidence(rng, risk, loss)
    others = [naive.exact(x) for x in (short, -short, 2 * short, np.zeros(n), rng.normal(size=n))]
    points = [s for s in others if loss != "exponential" or max(s) - min(s) < 1000]
    values = [core.truth(s) for s in points]
    for one in evidence:
        found.judged(minorant_faults(risk.minorant(one), points, values, type(one).__name__))


def other_evidence(rng: np.random.Generator, risk: Any, loss: str) -> list[Evidence]:
    """Return an alpha a listed pair, or marginals, where the risk makes minorants of them."""
    pairs = getattr(risk, "pairs", None)
    if isinstance(pairs, PairList):
        return [Alpha(rng.normal(size=pairs.i.size) * 10.0 ** rng.uniform(-2, 2))]
    rows = pairs.listed() if isinstance(pairs, OrderedPairs) else None
    if rows is not None and rng.integers(2):
        return [Alpha(rng.normal(size=rows[0].size) * 10.0 ** rng.uniform(-2, 2))]
    weighty = isinstance(pairs, OrderedPairs) and int(max(pairs.a.max(), pairs.b.max())) > 1
    if loss != "hinge" or not isinstance(pairs, OrderedPairs) or weighty or pairs.gain is not None:
        return []
    u, v = rng.exponential(size=(2, pairs.n)) / pairs.n * 10.0 ** rng.uniform(-3, 1)
    net = risk.sums(rng.normal(size=pairs.n), 0.5).c
    return [Marginals(u, v), Marginals(np.maximum(net, 0.0), np.maximum(-net, 0.0))]


def value_faults(true: Fraction, stated: Bound) -> list[str]:
    apart, slack, error = true - Fraction(stated.value), true * BEYOND, Fraction(stated.error)
    wrong = over("U is above its value and error", apart, error + slack)
    most = error + Fraction(stated.excess) + slack
    return wrong + over("U is below its value, error and excess", -apart, most)


def minorant_faults(minorant: Any, points: Any, values: Sequence[Fraction], name: str) -> list[str]:
    """Return where V - c's exceeds U by more than the minorant's own bounds."""
    c = naive.exact(minorant.c)
    least = Fraction(minorant.value) - Fraction(minorant.value_error)
    apart = Fraction(minorant.c_error) + Fraction(minorant.deficiency)
    wrong = []
    for s, true in zip(points, values, strict=True):
        middle, reach = (max(s) + min(s)) / 2, (max(s) - min(s)) / 2
        below = least - sum(x * (y - middle) for x, y in zip(c, s, strict=True)) - apart * reach
        wrong += over(f"the minorant of {name} is above U", below, true * (1 + BEYOND))
    return wrong


def ordered_core(rng: np.random.Generator, n: int, kind: str, form: str, loss: str) -> Core:
    """Return ordered pairs: by group and grade, with weights, gains or shares, or of survival."""
    asked: dict[str, Any] = {}
    if kind in ("survival", "uno"):
        time = rng.integers(0, max(2, n // 2), n).astype(float) * 0.1
        event = rng.uniform(size=n) < 0.6
        if kind == "uno":
            made = uno_pairs(time, event, float(np.median(time)))
            weight = np.asarray(made.upper)  # deaths from tau on are not upper rows
            true = naive_survival(time, event & (weight > 0), weight, event)
        else:
            made, true = survival_pairs(time, event), naive_survival(time, event)
            asked = {"time": time, "event": event}
        stated = OrderedPairs(made.group, made.key, made.upper, made.lower, form=form)
    else:
        stated, true = grades(rng, n, kind, form)
        asked = {"pairs": stated}
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    assert stated.count() == len(pairs), f"{stated.count()} pairs are counted, not {len(pairs)}"
    risk = Mean(stated, ALL_LOSSES[loss])
    return Core(risk, lambda s: mean_of(loss, s, pairs), f"{kind}, n {n}, {form}, {loss}", asked)


def ordered(rng: np.random.Generator, found: Found) -> None:
    """Ordered pairs: groups, grades, survival, Uno's weights, gains and shares."""
    n = int(rng.integers(3, 13)) if rng.uniform() < 0.8 else int(rng.integers(40, 60))
    form = pick(rng, "auto", "binned")
    loss = pick(rng, "hinge", "hinge", *QUADRATIC, *SMOOTH)
    kind = pick(rng, "grades", "weights", "floats", "gain", "share", "survival", "uno")
    core = ordered_core(rng, n, kind, form, loss)
    judge(rng, core, loss, found)


def grades(rng: np.random.Generator, n: int, kind: str, form: str) -> tuple[OrderedPairs, Any]:
    """Return ordered pairs by group and grade, and the same one by one."""
    group = rng.integers(0, rng.integers(1, 4), n) if rng.integers(2) else None
    key = rng.integers(0, rng.integers(2, 6), n)
    upper: Any = None
    lower = gain = share = None
    if kind == "weights":
        top = int(rng.choice([1, 3, 2**30, 2**51]))
        upper, lower = rng.integers(0, top + 1, (2, n))
    elif kind == "floats":
        upper = rng.integers(1, 2**30, n) * 2.0 ** rng.integers(-15, 6, n)
    elif kind == "gain":
        gain = key * int(rng.choice([1, 3, 10**6])) + int(rng.choice([0, 10**6]))
    elif kind == "share":
        codes = np.zeros(n, dtype=int) if group is None else group
        share = (10.0 ** rng.uniform(-9, 9, 4))[codes]
    stated = OrderedPairs(group, key, upper, lower, gain, share, form)
    return stated, naive_ordered(group, key, upper, lower, gain, share)


RATES = ("0.1", "0.3", "0.5", "1", "0.05", "0.123456789012345678")


def tail_core(rng: np.random.Generator, y: np.ndarray, loss: str, *rates: str, **form: Any) -> Core:
    """Return partial AUC: parts of rows, less than one row, one row, both ways."""
    fpr, tpr = Fraction(pick(rng, *rates)), 1 - Fraction(pick(rng, *rates))
    pairs = AllPairs(**form).on(y == 1)
    risk = tail_risk(pairs, ALL_LOSSES[loss], fpr, tpr)
    assert isinstance(risk, Tail) or (fpr, tpr) == (1, 0), "a part of the range is not a tail"
    kp, kq = max((1 - tpr) * pairs.n_pos, Fraction(1)), max(fpr * pairs.n_neg, Fraction(1))

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, tail_pairs(s, (y == 1).tolist(), kp, kq))

    name = f"tail, n {y.size}, {loss}, fpr {float(fpr):g}, tpr {float(tpr):g}"
    return Core(risk, truth, name)


def tail(rng: np.random.Generator, found: Found) -> None:
    y = hard_labels(rng, int(rng.integers(3, 16)))
    loss = pick(rng, "hinge", "hinge", "squared_hinge", *SMOOTH)
    judge(rng, tail_core(rng, y, loss, *RATES, bins=1 << 12), loss, found)


def smooth(rng: np.random.Generator, found: Found) -> None:
    """Smooth losses: by one convolution of bins, one by one, or as a product; weights 0 and 1e8."""
    n = int(rng.integers(3, 16))
    y = hard_labels(rng, n)
    loss = pick(rng, *SMOOTH)
    corner = float(rng.choice([1.0, 1.0, 0.001, 0.3, 1000.0]))
    rule: Any = SmoothHinge(corner) if loss == "smooth_hinge" else ALL_LOSSES[loss]
    weight = fuzzing.hard_weight(rng, y) if rng.integers(2) else None
    choice = rng.integers(4)
    if choice == 0:
        pairs: Any = fuzzing.listed_pairs(rng, y, int(rng.integers(1, 30))).on(y == 1)
    else:
        form, bins = ("binned" if choice == 1 else "auto"), 1 << int(rng.integers(0, 14))
        pairs = AllPairs(weight, form=form, bins=bins).on(y == 1)
    listed = naive.weighted_pairs((y == 1).tolist(), pairs)
    name = f"smooth, n {n}, {loss}, corner {corner:g}, way {choice}, weights {weight is not None}"

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, listed, Fraction(corner))

    judge(rng, Core(Mean(pairs, rule), truth, name), loss, found)


FEW_SHAPES = ("gaussian", "ties", "constant", "duplicates", "equal")
FEW_FORMS = ("plain", "float32", "int8", "strided", "read-only", "longdouble", "list")


def penalised(rng: np.random.Generator, found: Found) -> None:
    """Elastic net, lasso, group lasso, signs, over classes or ordered pairs; every loss.

    Solutions, certificates of any weights and scores, and audits; a tight point is their rival.
    """
    n, d = int(rng.integers(4, 14)), int(rng.integers(1, 5))
    y, shape = hard_labels(rng, n), pick(rng, *FEW_SHAPES, "columns")
    values = hard_values(rng, y, d, shape)
    if shape == "columns":
        values = values / np.abs(values).max(axis=0) * 10.0 ** rng.integers(-4, 5, d)
    scale = 10.0 ** float(rng.choice([0, 0, 0, -6, 6, -60, 60]))
    given, X = fuzzing.in_form(values, pick(rng, *FEW_FORMS))
    if scale != 1:
        given = X = values * scale
    loss = pick(rng, "hinge", *QUADRATIC, *SMOOTH)
    if rng.integers(2):
        kind = pick(rng, "grades", "weights", "gain", "share", "survival")
        core = ordered_core(rng, n, kind, "auto", loss)
    else:
        pairs = naive.weighted_pairs((y == 1).tolist(), AllPairs())
        risk = Mean(AllPairs().on(y == 1), ALL_LOSSES[loss])
        core = Core(risk, lambda s: mean_of(loss, s, pairs), f"classes, {loss}", {"y": y})
    penalty = hard_penalty(rng, X, d)
    found.name = f"{core.name}, {shape}, X {X.shape}, scale {scale:g}, {penalty!r}"
    objective = whole_of(X, core.truth, penalty)
    asked: Any = {"y": None, "loss": loss, "penalty": penalty, **core.asked}
    tight = solve(given, **asked, tol=1e-8, max_time=0.2)
    rough = solve(given, **asked, tol=1e-2, max_time=0.1)
    rival = both_judged(objective, penalty, rough, tight, found)
    far = tight.w * (1 + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=d))
    if exact_penalty(penalty, naive.exact(far)) is None:
        return
    problem, value = Problem(Rows(given), core.risk, penalty), objective(far)
    near = problem.space.scores(tight.w) * (1 + 10.0 ** rng.uniform(-9, -1))
    width = float(rng.choice([0.0, 1e-3, 0.3]))
    claims: list[Any] = [
        exact.Certificate.of(problem, far, witness)
        for witness in (exact.Minorant.from_scores(problem, near, width), tight.witness)
    ]
    claims.append(certify(given, **asked, w=far, refine=bool(rng.integers(2)), max_time=0.2))
    for claim in claims:
        found.judged(claim_faults(claim, value, rival, penalty.l2))


def hard_penalty(rng: np.random.Generator, X: np.ndarray, d: int) -> Any:
    unit = fuzzing.unit_of(X)
    l1 = power(rng, -4, 0) * unit
    l2 = power(rng, -5, 1) * unit**2 * int(rng.integers(0, 4) > 0)
    if l2 > 0 and rng.integers(4) == 0:
        return Ridge(l2)
    groups = rng.integers(0, 2, d) if rng.integers(3) == 0 else None
    choice = int(rng.integers(3))
    sign = [None, "nonnegative", [int(rng.integers(d))]][choice]
    if l2 > 0 and groups is None and sign is not None and rng.integers(2):
        l1 = 0.0
    return penalty_from(l2, l1, groups, sign)


def whole_of(X: np.ndarray, mean: Callable[[list[Fraction]], Fraction], penalty: Any) -> Any:
    """Return F by its definition; weights must keep the signs of the penalty."""
    rows = naive.exact(X)

    def objective(w: np.ndarray) -> Fraction:
        extra = exact_penalty(penalty, naive.exact(w))
        assert extra is not None, "a weight has a sign that the penalty forbids"
        return mean(naive.products(rows, naive.exact(w))) + extra

    return objective


def exact_penalty(penalty: Any, w: Sequence[Fraction]) -> Fraction | None:
    """Return the penalty by its definition; None where a sign is broken."""
    inner = penalty.penalty if isinstance(penalty, Sign) else penalty
    l2, l1 = Fraction(penalty.l2), Fraction(getattr(inner, "l1", 0.0))
    groups = inner.groups.tolist() if isinstance(inner, GroupLasso) else list(range(len(w)))
    if isinstance(penalty, Sign):
        bound = range(len(w)) if penalty.columns is None else penalty.columns.tolist()
        if any(w[k] < 0 for k in bound):
            return None
    value = l2 / 2 * Fraction(naive.norm2(w))
    for group in set(groups):
        inside = [x for x, of in zip(w, groups, strict=True) if of == group]
        size = Fraction(len(inside) if isinstance(inner, GroupLasso) else 1)
        value += l1 * root(size * Fraction(naive.norm2(inside)))
    return value


def claim_faults(claim: Any, value: Fraction, rival: Fraction, l2: float) -> list[str]:
    """Return what is false in a claim about weights of objective `value`, known to 50 digits."""
    return fuzzing.bound_faults(claim, value, min(value, rival), l2, value * BEYOND)


def checked_solver(rng: np.random.Generator, found: Found) -> None:
    """`check_solver`: what passes is within the tolerance, and no gap is understated."""
    problems = reference_problems()
    some = [problems[k] for k in rng.choice(len(problems), 3, replace=False)]
    loss, tol = pick(rng, *QUADRATIC), power(rng, -8, -1)
    noise, turn = 10.0 ** rng.uniform(-12, 0), int(rng.integers(8))
    found.name = f"check_solver, {loss}, tol {tol:.2g}, noise {noise:.2g}, {turn}"

    def fit(X: np.ndarray, y: np.ndarray, lam: float, sample_weight: Any = None) -> Any:
        w = solve(X, y, lam, loss=loss, sample_weight=sample_weight, tol=1e-10, max_time=0.3).w
        w = w * (1 + noise * rng.normal(size=w.size))
        if turn == 0:
            w[0] = [np.nan, np.inf, 1e200, -1e99][rng.integers(4)]
        return w.tolist() if turn == 1 else w.astype(np.float32) if turn == 2 else w

    names = [problem.name for problem in some]
    report = check_solver(fit, loss=loss, tol=tol, only=names, isolate=False)
    for row in report.rows:
        problem = row.problem
        if row.w is None:
            found.judged(["a pass without weights"] * (row.verdict == "pass"))
            continue
        pairs = AllPairs(problem.sample_weight)
        try:
            truth = fuzzing.LinearTruth(problem.X, problem.y == 1, problem.lam, loss, pairs)
            value = truth.objective(row.w)
        except exact.InputError:
            found.judged(["weights pass whose F cannot be had"] * (row.verdict == "pass"))
            continue
        best = solve(problem.X, problem.y, problem.lam, loss=loss, pairs=pairs, **TIGHT)
        least = min(truth.objective(best.w), value)
        above, wrong = value - least, over("the lower bound is above F(best)", row.lower, least)
        if row.verdict == "pass":
            most = Fraction(tol) * max(least, Fraction(1, 10**7))
            wrong += over("what passes is above the tolerance", above, most)
        if row.gap is not None:
            wrong += over("F - F(best) is above the gap", above, row.gap)
        found.judged([f"{problem.name}: {text}" for text in wrong])


def solved_tail(rng: np.random.Generator, found: Found) -> None:
    """The general solvers of partial AUC: one-way, two-way, every loss that never grows."""
    hard = hard_rows(rng, 20, pick(rng, *FEW_SHAPES), "plain")
    X, n = hard.true, hard.y.size
    core = tail_core(rng, hard.y, pick(rng, "hinge", "squared_hinge", *SMOOTH), *RATES[:4])
    judge_solver(X, core, Ridge(power(rng, -5, 1) * fuzzing.unit_of(X) ** 2), found)
    shares = 0.999 * rng.dirichlet(np.ones(4))
    widths = rng.choice([0, 0.3], size=4)
    if not isinstance(core.risk, Tail):
        return
    mixed = zip(shares.tolist(), widths.tolist(), strict=True)
    parts = tuple((x, Scores(rng.normal(size=n), width)) for x, width in mixed)
    minorant = core.risk.minorant(Mix(parts))
    points = [naive.exact(rng.normal(size=n) * 10.0 ** rng.integers(-2, 2)) for _ in range(3)]
    found.judged(minorant_faults(minorant, points, [*map(core.truth, points)], "mixture"))


def judge_solver(X: np.ndarray, core: Core, penalty: Any, found: Found) -> None:
    """Judge a rough and a tight solution, each other's rivals, in fractions."""
    found.name = f"{core.name}, X {X.shape}, {penalty!r}"
    problem = Problem(Rows(X), core.risk, penalty)
    rough = choose_solver(problem, "auto", 1e-3, 0.2).solve(problem)
    tight = choose_solver(problem, "auto", 1e-9, 0.3).solve(problem, w0=rough.w)
    both_judged(whole_of(X, core.truth, penalty), penalty, rough, tight, found)


def both_judged(objective: Any, penalty: Any, rough: Any, tight: Any, found: Found) -> Fraction:
    """Judge two solutions of one problem by each other; return the lesser objective."""
    values = [objective(rough.w), objective(tight.w)]
    for solution, value in zip((rough, tight), values, strict=True):
        found.judged(claim_faults(solution.certificate, value, min(values), penalty.l2))
    return min(values)


def zeros(rng: np.random.Generator, found: Found) -> None:
    """Weights that are proved to be zero: those of a tight solution are, to its radius."""
    hard = hard_rows(rng, 40, pick(rng, "gaussian", "ties", "duplicates"), "plain")
    X, y, unit = hard.true, hard.y, fuzzing.unit_of(hard.true)
    more: dict[str, Any] = {"lam": power(rng, -2, 0) * unit**2, "l1": power(rng, -2, 0) * unit}
    more["loss"] = pick(rng, "hinge", *QUADRATIC, "logistic", "smooth_hinge")
    if rng.integers(3) == 0:
        more["sign"] = "nonnegative"
    elif rng.integers(2):
        more["groups"] = rng.integers(0, 3, X.shape[1])
    found.name = f"zeros, X {X.shape}, {more}"
    rough = solve(X, y, tol=power(rng, -5, -1), max_time=0.2, **more)
    tight = solve(X, y, tol=1e-8, max_time=0.3, **more)
    assert rough.zeros_proved is not None
    off = np.abs(tight.w[rough.zeros_proved])
    wrong = off > tight.certificate.radius
    text = f"{int(wrong.sum())} weights are not zero, up to {off.max(initial=0):.3g}"
    found.judged([text] * bool(wrong.any()))


def statistics(rng: np.random.Generator, found: Found) -> None:
    """The concordance with its counts, pair by pair in fractions."""
    n = int(rng.integers(4, 30))
    scores = np.round(rng.normal(size=n), int(rng.integers(0, 3))) * 10.0 ** rng.integers(-8, 8)
    form, kind = pick(rng, "auto", "binned"), pick(rng, "grades", "weights")
    stated, true = grades(rng, n, kind, form)
    found.name = f"statistics, n {n}, {kind}, {form}"
    signs = [int(np.sign(scores[i] - scores[j])) for i, j in zip(true.i, true.j, strict=True)]
    value = sum(w * Fraction(1 + s, 2) for w, s in zip(true.weight, signs, strict=True))
    wanted = (float(value), *(signs.count(k) for k in (1, -1, 0)))
    said = concordance(stated, scores)
    read = (said.value, said.concordant, said.discordant, said.tied_risk)
    found.judged([f"C and its counts are {read}, not {wanted}"] * (read != wanted))


def worst_group(rng: np.random.Generator, found: Found) -> None:
    """The worst of several groups, each with rows of both classes; every loss and penalty."""
    groups, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = 2 * groups + int(rng.integers(0, 10))
    y, member = hard_labels(rng, n), rng.integers(0, groups, n)
    y[: 2 * groups], member[: 2 * groups] = np.arange(2 * groups) % 2, np.arange(2 * groups) // 2
    X = hard_values(rng, y, d, pick(rng, *FEW_SHAPES))
    loss = pick(rng, "hinge", "squared_hinge", "square", *SMOOTH)
    penalty = hard_penalty(rng, X, d)
    means, parts = [], []
    for group in range(groups):
        means.append(Mean(cross_group_pairs(y, member, group, group), ALL_LOSSES[loss]))
        mine = member == group
        i, j = np.nonzero(np.logical_and.outer(mine & (y == 1), mine & (y == 0)))
        parts.append([(int(a), int(b), Fraction(1)) for a, b in zip(i, j, strict=True)])

    def truth(s: Sequence[Fraction]) -> Fraction:
        return max(mean_of(loss, s, part) for part in parts)

    name = f"worst of {groups}, {loss}"
    judge_solver(X, Core(Worst(tuple(means)), truth, name), penalty, found)


def _columns(rng: np.random.Generator, n: int, kind: str) -> dict[str, Any]:
    """Return what orders n rows, with ties; some pair there is in most."""
    names = np.array(["b", "a", "c"])[rng.integers(0, int(rng.integers(1, 4)), n)]
    if kind == "survival":
        return {"time": rng.integers(0, 6, n) / 2, "event": rng.random(n) < 0.7}
    key = rng.integers(0, int(rng.integers(2, 7)), n) / 2
    if kind == "query":
        return {"y": key, "qid": names if rng.integers(2) else rng.integers(0, 3, n)}
    group = np.unique(names, return_inverse=True)[1]
    columns: dict[str, Any] = {"key": key, "group": group}
    if rng.integers(2):
        columns |= {"upper": rng.random(n) < 0.8, "lower": rng.random(n) < 0.8}
    if rng.integers(2):
        columns["share"] = (10.0 ** rng.uniform(-6, 6, 3))[group]
    return columns


def lowered(rng: np.random.Generator) -> dict[str, Any]:
    """Return thresholds by name: each way is taken in some problems, alone or with others."""

    def whole(low: int, high: int) -> int:
        return int(rng.integers(low, high))

    ways: list[dict[str, Any]] = [
        {"api.solve.STREAM_FROM_ROWS": 1, "api.solve.STREAM_FROM_NUMBERS": 1},
        {"api.solve.MOSTLY_DIFFERENT": float(whole(0, 2))},
        {"spaces.rows.LARGE": 1, "problem.risk.LONG_ROWS": 0, "problem.risk.NEGLIGIBLE": 1.0},
        {"spaces.blocks.FEW_COLUMNS": whole(1, 8)},
        {"spaces.blocks.STRETCH_NUMBERS": whole(1, 60), "spaces.blocks.workers": lambda numbers: 3},
        {"tools.compiling.IMPORT_PRICE": np.inf, "tools.compiling.COMPILE_PRICE": np.inf},
        {f"spaces.factor.PLAIN_{name}": value for name, value in (("FROM", 2), ("RANK", 0.7))}
        | {"spaces.factor.NEARLY_ALL": -1.0},
        {"formulation.formulation.DENSE_LIMIT": 1, "spaces.gram.COLUMN_BLOCK": whole(1, 5)},
        {"spaces.gram.BLOCK_BYTES": 8 * whole(1, 40), "spaces.gram.SIDE": whole(1, 5)},
        {"sums.convolved.FEW_PAIRS": 0, "sums.convolved.LARGEST_GRID": 1 << whole(4, 16)},
    ]
    return {name: value for way in ways if rng.integers(2) for name, value in way.items()}


def on_other_routes(kind: fuzzing.Kind) -> fuzzing.Kind:
    """Make small problems take the routes of large ones."""

    def routed(rng: np.random.Generator, found: Found) -> None:
        block, init = int(rng.integers(1, 40)), StreamedRows.__init__

        def made(self: StreamedRows, source: Any, rows: int | None = None) -> None:
            init(self, source, rows or block)

        with ExitStack() as stack:
            grid = {"sums.binned.LARGEST_GRID": 1 << int(rng.integers(10, 23))}
            for name, value in (lowered(rng) | grid).items():
                module, _, attribute = name.rpartition(".")
                at = importlib.import_module(f"aucert.exact.{module}")
                stack.enter_context(mock.patch.object(at, attribute, value))
            stack.enter_context(mock.patch.object(StreamedRows, "__init__", made))
            kind(rng, found)

    routed.__name__ = kind.__name__
    return routed


PARTED_SHAPES = (
    *("gaussian", "ties", "constant", "duplicates", "columns", "scale", "offset", "heavy"),
    *("far row", "separable", "equal", "gaussian"),
)


@dataclass(frozen=True, eq=False)
class Parted:
    """Rows in partitions, and what they stand for: X as float64 (n, d), and their pairs."""

    rows: exact.PartitionedRows
    X: np.ndarray
    pairs: list[tuple[int, int, Fraction]]
    name: str


def parted(rng: Any, grouped: bool, whole: bool = False, balanced: bool = False) -> Parted:
    """Return hard rows in up to six partitions, some of them empty or of one class alone.

    Weights are `whole` numbers, or not, of rows with classes; `balanced`
    classes have the same number of rows.
    """
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    n = n + 15 if balanced else n
    y, shape = hard_labels(rng, n), pick(rng, *PARTED_SHAPES)
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
        rows: Any = exact.GroupedRows(cut_groups(X, names, key, weight, places))
    else:
        places = sorted(rng.integers(0, n + 1, int(rng.integers(0, 6))).tolist())
        rows = exact.PartitionedRows(cut(X, y == 1, weight, places))
    true = naive_ordered(group, key, held, held)
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    name = f"{shape}, {X.dtype}, X {X.shape}, cut {places}, weights {weight is not None}"
    return Parted(rows, X.astype(float), pairs, name)


def partitioned(rng: np.random.Generator, found: Found) -> None:
    """Solutions and audits over rows in partitions: every loss, classes and groups."""
    grouped = bool(rng.integers(2))
    made = parted(rng, grouped)
    loss = pick(rng, "hinge", "hinge", *QUADRATIC, *SMOOTH)
    lam, method = hard_lam(rng, made.X), pick(rng, "auto", "descent")
    tol = power(rng, -9, 0)
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
    tol = power(rng, -4, -0.3)
    found.name = f"{made.name}, grouped {grouped}, {count} folds, lams {lams}, tol {tol:.0e}"
    stated = exact.cross_validated_path(made.rows, None, lams, cv=count, seed=seed, tol=tol)
    rows = made.rows
    seen = 0
    for fold, parts in enumerate(rows.folds(count, seed)):
        train, test = map(fold_rows, parts)
        if grouped:
            cut_apart = set(train[1].tolist()) & set(test[1].tolist())
            found.judged([f"groups {cut_apart} are on both sides"] * bool(cut_apart))
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
    if isinstance(rows, exact.GroupedRows):
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
    lam, tol = hard_lam(rng, made.X), power(rng, -7, -1)
    found.name = f"proof, {made.name}, lam {lam:.2g}, tol {tol:.0e}"
    solution = solve(made.rows, None, lam, method="descent", tol=tol, max_time=2.0)
    proof = written(write_partitioned_proof, made.rows, lam, solution)
    tight = solve(made.rows, None, lam, tol=1e-9, max_time=0.5).w
    found.judged(_false(proof, _passes(proof, made), made, tight))
    names = sorted(set(proof) - {"kind", "positive", "format"})

    def bounds(changed: Any) -> Any:
        return *check_partitions.whole(changed)[:2], {}

    def passes(changed: Any) -> str:
        return _passes(changed, made)

    def faults(changed: Any, verdict: str) -> list[str]:
        return _false(changed, verdict, made, tight)

    refused = (TypeError, OverflowError, IndexError, KeyError)
    for _ in range(6):
        damaged(rng, found, proof, names, (bounds, passes, faults, *refused))


def _passes(proof: Any, made: Parted) -> str:
    verdict = check_partitions.check_whole(proof)
    seen: set[int] = set()
    for part in made.rows.engine.partitions:
        weight = np.ones(len(part.X)) if part.weight is None else part.weight
        of = (part.X.astype(float), part.positive, weight.astype(np.int64))
        seen.update(check_partitions.check_part(proof, *of))
    if len(seen) != len(proof["sha256"]):
        raise ValueError("a partition is left")
    return verdict


def _false(proof: Any, verdict: str, made: Parted, tight: np.ndarray) -> list[str]:
    """Return what is false in a verdict over all partitions."""
    penalty = Ridge(float(proof["lam"]))
    objective = whole_of(made.X, lambda s: mean_of("hinge", s, made.pairs), penalty)
    return verified_faults(proof, verdict, objective, [tight, np.zeros(tight.size)])


# The table of kinds: seed s of a list has kind s modulo its length.

KINDS: list[fuzzing.Kind] = [
    *(linear, sparse, scores, linear, kernel, in_blocks, sparse, weights, subset, linear),
    *(structured, scores, proof_fields, linear, own_loss, estimator, kernel, path),
    *(precomputed, linear, sparse_auc, sparse, structured, scores),
    *(online, changing, no_kernel, odd_weights),
]
CORE: list[fuzzing.Kind] = [
    *(ordered, smooth, tail, ordered, penalised, smooth),
    *(tail, ordered, own_kernel, smooth, tail, checked_solver),
]
PAIRS: list[fuzzing.Kind] = [
    *(penalised, solved_tail, statistics, penalised, zeros),
    *(penalised, ordered_proof, worst_group, penalised, ordered_proof),
]
PLAIN: list[fuzzing.Kind] = [
    *(linear, squared_in_blocks, smooth, kernel, in_blocks, estimator),
    *(linear, squared_in_blocks, tail, kernel, weights, structured),
]
ROUTES: list[fuzzing.Kind] = [on_other_routes(kind) for kind in PLAIN]
PARTED: list[fuzzing.Kind] = [partitioned, folds, partitioned, partition_proof]
