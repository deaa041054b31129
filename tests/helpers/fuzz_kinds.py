"""The kinds of problems of the fuzzer: solutions, audits of weights and scores, subsets, proofs,
kernels, losses of one's own, numbers that float64 does not hold, and rows that change.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.approx import FSAUC, SHTAUC, SOLAM, SPAM, IncompleteROCSVM, RankSVM
from aucert.exact import (
    ROCSVM,
    AllPairs,
    PairList,
    Rows,
    Solution,
    StreamedRows,
    best_subset,
    certify,
    regularization_path,
    solve,
)
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.problem.minorant import Alpha, Scores, Weights
from aucert.exact.proof import check_proof
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.gram import Gram
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from aucert.exact.tools.exact_numbers import float_above, float_below
from cutting import Changing
from decimal_losses import mean_of
from fuzzing import (
    TIGHT,
    Found,
    Hard,
    Kind,
    LinearTruth,
    NaiveTruth,
    bound_faults,
    faults_next_to,
    hard_labels,
    hard_lam,
    hard_loss,
    hard_pairs,
    hard_rows,
    hard_sparse,
    hard_values,
    hard_weight,
    over,
    rewritten,
    stored,
    true_gram,
)
from own_parts import Polynomial, RoundedHinge
from pairwise import ExactSquare
from proofs import Stated, scalars
from subset_problems import AWKWARD, awkward

KINDS_OF_SCORES = (
    *("exact", "printed", "nearly", "other", "below", "constant", "far", "tiny", "far", "tiny"),
    "printed",
)


def scores(rng: np.random.Generator, found: Found) -> None:
    """Audits of scores: those of a function, nearly so, rounded in print, and none of it."""
    hard = hard_rows(rng, 30, form="plain")
    X, kind = hard.true, KINDS_OF_SCORES[rng.integers(len(KINDS_OF_SCORES))]
    if kind in ("far", "tiny"):
        X = hard_values(rng, hard.y, 1 + X.shape[1], "gaussian")
        if kind == "far":  # one positive row far away: next to its score the others are rounding
            X[np.flatnonzero(hard.positive)[0], 0] = 10.0 ** rng.uniform(7, 11)
        else:
            X[:, -1] *= 10.0 ** rng.uniform(-17, -5)
    lam, loss = hard_lam(rng, X), hard_loss(rng)
    if kind in ("far", "tiny"):
        lam = float(10.0 ** rng.uniform(-5, 1))
    tight = solve(X, hard.y, lam, loss=loss, **TIGHT)
    w0 = tight.w.copy()
    if kind == "tiny":
        w0[-1] = rng.normal() * 10.0 ** rng.uniform(0, 10)
    s = _some_scores(rng, kind, X, w0, hard.positive)
    found.name = f"scores {kind}, {hard.name}, {loss}, lam {lam:.2g}"
    audit = certify(X, hard.y, lam, scores=s, loss=loss)
    truth = LinearTruth(X, hard.positive, lam, loss, AllPairs())
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


def _some_scores(
    rng: np.random.Generator, kind: str, X: np.ndarray, w: np.ndarray, positive: np.ndarray
) -> np.ndarray:
    """Return scores (n,) of one kind."""
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
    name = str(rng.choice(AWKWARD))
    X, y, k, weight, ridge = awkward(int(rng.integers(1 << 30)), name)
    method = ["branch-and-bound", "exhaustive"][rng.integers(2)]
    found.name = f"subset, {name}, X {X.shape}, k {k}, ridge {ridge:.2g}, {method}"
    result = best_subset(X, y, k, ridge, sample_weight=weight, method=method, max_time=5.0)
    true = ExactSquare(X, y, weight, ridge)
    value, least = true.value(result.w), true.best(k)
    wrong = over("F is above its bound", value, result.upper)
    wrong += over("the lower bound is above the optimum", result.lower, least)
    if result.proved:
        wrong += over("proved, but F is above the optimum", value, least + PROVED)
    found.judged(wrong)


PROVED = Fraction(1, 10**9) + Fraction(1, 10**15)
"""How far above the optimum what is proved may be."""


def sparse_auc(rng: np.random.Generator, found: Found) -> None:
    """`SHTAUC`: its lower bound and `proved_`, also as judged by `best_subset`."""
    name = str(rng.choice(AWKWARD))
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


def proof_fields(rng: np.random.Generator, found: Found) -> None:
    """Proof files with changed fields and claims: refused, or true."""
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant", "offset", "separable"]))
    hard = hard_rows(rng, 30, shape, "plain")
    r = rng.integers(0, 4, hard.y.size) if rng.integers(2) else np.ones(hard.y.size, int)
    r[[np.flatnonzero(hard.y == label)[0] for label in (0, 1)]] = 2
    lam = hard_lam(rng, hard.true)
    found.name = f"proof, {hard.name}, lam {lam:.2g}"
    stated = Stated(hard.true, "classes", {"y": hard.positive}, r)
    solution = stated.solve(lam, tol=1e-6)
    proof = stated.written(lam, solution)
    if proof["kind"] != "weights" and rng.integers(2):  # a dual point made from weights
        proof = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
        fields = {"kind": "weights", "w_dual": solution.w, "bins": 2**10}
        proof |= scalars(**fields, half=int(rng.integers(0, 20)))
    damaged(rng, found, stated, proof, stated.solve(lam, **TIGHT).w)


def damaged(
    rng: np.random.Generator, found: Found, stated: Stated, proof: dict[str, Any], tight: np.ndarray
) -> None:
    """Judge what the checker says of a proof with changed fields, about changed columns."""
    for _ in range(6):
        changed, text = mutated(rng, proof, [name for name in FIELDS if name in proof])
        other = stated
        if rng.integers(3) == 0:
            name = str(rng.choice([*stated.columns, "weight"]))
            text += f", {name} of the rows changed"
            if name == "weight":
                r = stated.r.copy()
                r[rng.integers(r.size)] += 1
                other = replace(stated, r=r)
            else:
                columns = {name: rng.permutation(stated.columns[name])}
                other = replace(stated, columns=stated.columns | columns)
        try:
            if rng.uniform() < 0.7:  # whoever changes a field claims what can be verified then
                text += ", claims as tight as can be"
                upper, lower, digest = other.check(check_proof.bounds, changed)
                changed |= claims_of(upper, lower) | scalars(sha256=digest)
            verdict = other.check(check_proof.check, changed)
        except ValueError:
            found.refused += 1
            continue
        wrong = _verified(other, changed, verdict, tight)
        found.judged([f"{text}: {fault}" for fault in wrong])


def claims_of(upper: Fraction, lower: Fraction) -> dict[str, Any]:
    """Return the claims of the bounds that a checker finds, and of no less."""
    claims = {"primal": float_above(upper), "dual": float_below(lower)}
    return scalars(**claims, gap=float_above(upper - lower))


def _verified(stated: Stated, proof: dict[str, Any], verdict: str, tight: np.ndarray) -> list[str]:
    """Return what is false in a verdict and in the claims that it let pass."""
    lam, pairs = float(proof["lam"]), stated.pairs()

    def objective(w: np.ndarray) -> Fraction:
        scores = naive.products(naive.exact(stated.X), naive.exact(w))
        return mean_of("hinge", scores, pairs) + Fraction(lam) / 2 * naive.norm2(naive.exact(w))

    rivals = [tight, stated.solve(lam, tol=1e-9, max_time=0.2).w]
    return verified_faults(proof, verdict, objective, rivals)


def verified_faults(
    proof: dict[str, Any], verdict: str, objective: Any, rivals: list[np.ndarray]
) -> list[str]:
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


def mutated(
    rng: np.random.Generator, proof: dict[str, Any], names: list[str]
) -> tuple[dict[str, Any], str]:
    """Return the proof with one or two fields changed, and what was done."""
    changed, done = dict(proof), []
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        changed[name], how = _other(rng, changed[name])
        done.append(f"{name} {how}")
    return changed, ", ".join(done)


def _other(rng: np.random.Generator, value: np.ndarray) -> tuple[np.ndarray, str]:
    """Return a field changed in one of several ways."""
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
    """Gaussian and Laplacian kernels of dense rows."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "offset", "wide"])))
    if rng.uniform() < 0.15:  # so many features that distances are made of products
        y = hard_labels(rng, 7)
        X = hard_values(rng, y, 70, str(rng.choice(["gaussian", "duplicates", "offset"]))) / 8
        hard = Hard(X, X, y, "many features")
    kernel_solved(rng, hard, ["rbf", "laplacian"][rng.integers(2)], found)


def structured(rng: np.random.Generator, found: Found) -> None:
    """The structured norm, of features and of kernels."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "wide", "equal"])))
    structure = float(10.0 ** rng.uniform(-3, 4))
    name = ["linear", "rbf", "laplacian"][rng.integers(3)]
    kernel_solved(rng, hard, name, found, structure)


def kernel_solved(
    rng: np.random.Generator, hard: Hard, name: str, found: Found, structure: float = 0.0
) -> None:
    """Solve with a kernel, and judge by kernel values to 2^-160."""
    lam = float(10.0 ** rng.uniform(-5, 1)) if name != "linear" else hard_lam(rng, hard.true)
    loss, pairs = hard_loss(rng), hard_pairs(rng, hard.true, hard.y)
    gamma = None if name == "linear" else float(10.0 ** rng.uniform(-3, 1))
    found.name = f"{hard.name}, {name}, gamma {gamma}, structure {structure:.2g}"
    asked: Any = {"kernel": name, "gamma": gamma, "structure": structure}
    rows = naive.exact(hard.true) if gamma is None else true_gram(hard.true, name, gamma)
    judged_by(rng, found, hard, rows, lam, loss, pairs, asked)


def judged_by(
    rng: np.random.Generator,
    found: Found,
    hard: Hard,
    rows: list[list[Fraction]],
    lam: float,
    loss: str,
    pairs: Any,
    asked: dict[str, Any],
) -> None:
    """Solve, roughly and well, and judge by the rows or kernel values in fractions."""
    found.name += f", {hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}"
    untouched = stored(hard.X)
    asked = asked | {"lam": lam, "loss": loss, "pairs": pairs}
    solution = solve(hard.X, hard.y, tol=float(10.0 ** rng.integers(-11, -1)), **asked)
    found.judged(rewritten(hard.X, untouched))
    tight = solve(hard.true, hard.y, **asked, **TIGHT)
    structure, valued = asked.get("structure", 0.0), asked["kernel"] != "linear"
    truth = NaiveTruth(rows, valued, hard.positive, lam, loss, pairs, structure)
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
    lam, loss = hard_lam(rng, F) + float(np.abs(K).max()) * 1e-6, hard_loss(rng)
    hard, asked = Hard(K, K, y, f"precomputed, n {n}"), {"kernel": "precomputed"}
    judged_by(rng, found, hard, naive.exact(K), lam, loss, hard_pairs(rng, F, y), asked)


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
    lam, loss = float(10.0 ** rng.uniform(-4, 1)) * top, hard_loss(rng)
    pairs, space = hard_pairs(rng, F, y), Gram(K)
    meant = naive.exact(space.K)
    for i in range(n):
        meant[i][i] += Fraction(space.shift)
    hard, asked = Hard(K, K, y, f"no kernel, n {n}"), {"kernel": "precomputed"}
    judged_by(rng, found, hard, meant, lam, loss, pairs, asked)


def own_kernel(rng: np.random.Generator, found: Found) -> None:
    """A polynomial kernel of one's own, judged by its values in fractions."""
    n = int(rng.integers(3, 11))
    y = hard_labels(rng, n)
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant"]))
    X = hard_values(rng, y, int(rng.integers(1, 4)), shape) * 10.0 ** float(rng.integers(-2, 3))
    degree, rows = int(rng.integers(1, 4)), naive.exact(X)
    K = [[(1 + product) ** degree for product in naive.products(rows, z)] for z in rows]
    lam, loss = float(10.0 ** rng.uniform(-5, 1)), hard_loss(rng)
    hard = Hard(X, X, y, f"polynomial of degree {degree}, {shape}, X {X.shape}")
    asked = {"kernel": Polynomial(degree)}
    judged_by(rng, found, hard, K, lam, loss, hard_pairs(rng, X, y), asked)


def own_loss(rng: np.random.Generator, found: Found) -> None:
    """A loss of one's own, the smooth hinge of any corner, over a list of pairs or all."""
    hard = hard_rows(rng, 30, "gaussian", "plain")
    plus, minus = np.flatnonzero(hard.positive), np.flatnonzero(~hard.positive)
    listed = PairList(rng.choice(plus, 40), rng.choice(minus, 40))
    pairs = listed if rng.random() < 0.5 else AllPairs()
    corner, lam = float(10.0 ** rng.uniform(-2, 1)), float(10.0 ** rng.uniform(-2, 2))
    tol = float(10.0 ** rng.integers(-9, 0))
    found.name = f"a loss of one's own, {hard.name}, corner {corner:.2g}, lam {lam:.2g}"
    asked: Any = {"lam": lam, "loss": RoundedHinge(corner), "pairs": pairs}
    solutions = [solve(hard.true, hard.y, **asked, **how) for how in ({"tol": tol}, TIGHT)]
    rows, every = naive.exact(hard.true), naive.weighted_pairs(hard.positive.tolist(), pairs)
    values = []
    for solution in solutions:
        w = naive.exact(solution.w)
        mean = mean_of("smooth_hinge", naive.products(rows, w), every, Fraction(corner))
        values.append(mean + Fraction(lam) / 2 * naive.norm2(w))
    for solution, value in zip(solutions, values, strict=True):
        found.judged(bound_faults(solution.certificate, value, min(values), lam))


def casts(rng: np.random.Generator, found: Found) -> None:
    """Numbers that float64 does not hold: to be refused, or to be right."""
    n = int(rng.integers(4, 12))
    y = hard_labels(rng, n)
    kinds = ("int64", "uint64", "masked", "complex", "objects", "longdouble")
    kind = kinds[rng.integers(len(kinds))]
    small = rng.integers(0, 4000, size=(n, 2)) + 300 * y[:, None]
    found.name = f"cast of {kind}, n {n}"
    if kind == "masked":
        X: Any = np.ma.masked_array(small.astype(float), mask=rng.uniform(size=small.shape) < 0.3)
        X.mask[0, 0] = True
        rows = None
    elif kind == "complex":
        X, rows = small + 1j * rng.normal(size=small.shape), None
    elif kind == "longdouble":
        X = small.astype(np.longdouble) / 7 + np.longdouble(2) ** 52
        rows = naive.exact(X)
    else:
        whole = [[int(x) + 1_700_000_000_000_000_000 for x in row] for row in small.tolist()]
        X = np.array(whole, dtype=object if kind == "objects" else kind)
        rows = [[Fraction(x) for x in row] for row in whole]
    lam = float(10.0 ** rng.uniform(0, 6))
    solution = solve(X, y, lam)
    if rows is None:
        found.judged([f"a certificate of {kind} numbers"])
        return
    tight = solve(small.astype(float), y, lam, **TIGHT)
    truth = NaiveTruth(rows, False, y == 1, lam, "hinge", AllPairs())
    found.solved(truth, solution, tight)


def online(rng: np.random.Generator, found: Found) -> None:
    """`objective_`, `gap_`, `lower_bound_` and `proved_` of SPAM, SOLAM and FSAUC."""
    y = hard_labels(rng, int(rng.integers(2, 25)))
    shape = str(
        rng.choice(["gaussian", "ties", "constant", "duplicates", "scale", "offset", "far row"])
    )
    X = hard_values(rng, y, int(rng.integers(1, 5)), shape)
    radius = float(10.0 ** rng.uniform(-3, 2))
    l1, l2 = (float(10.0 ** rng.uniform(-5, 0)) * rng.integers(2) for _ in range(2))
    which = ("SPAM", "SPAM", "SOLAM", "FSAUC")[rng.integers(4)]
    model: Any = {
        "SPAM": SPAM(l1=l1, l2=l2, random_state=0, max_passes=5),
        "SOLAM": SOLAM(radius=radius, random_state=0, max_passes=5),
        "FSAUC": FSAUC(radius=radius, random_state=0, max_passes=5),
    }[which]
    found.name = f"{which}, {shape}, X {X.shape}, l1 {l1:.2g}, l2 {l2:.2g}, radius {radius:.2g}"
    with np.errstate(all="ignore"):
        model.fit(X, y)
    if which != "SPAM":
        l1 = l2 = 0.0
    true = ExactSquare(X, y == 1, None, l2)

    def objective(w: np.ndarray) -> Fraction:
        return true.value(w) + Fraction(l1) * sum(map(abs, naive.exact(w)), Fraction(0))

    value = objective(model.coef_[0])
    rivals = _rivals(X, y, which, l1, l2, radius)
    least = min([value, objective(np.zeros(X.shape[1])), *map(objective, rivals)])
    room = Fraction(1e-6) * (1 + value) + Fraction(model.gap_)
    wrong = over("objective_ is off", abs(value - Fraction(model.objective_)), room)
    if np.isfinite(model.gap_):
        value_in_room = value - Fraction(model.gap_) / 2**50
        wrong += _gap_faults(model, value_in_room, least, Fraction(1, 10**9))
    stated = model.certificate_
    if np.isfinite(stated.primal):
        wrong += over("the certificate's objective is below F", value, stated.primal)
        wrong += over("the certificate's bound is above F(best)", stated.dual, least)
    found.judged(wrong)


def _rivals(
    X: np.ndarray, y: np.ndarray, which: str, l1: float, l2: float, radius: float
) -> list[np.ndarray]:
    """Return strong points of the problem, inside its ball."""
    ball, order = {"SPAM": ("none", 0), "SOLAM": ("l2", 2), "FSAUC": ("l1", 1)}[which]
    within = radius if order else np.inf
    loss = RowAverage.of(Rows(X), y == 1, AllPairs(), l2)
    point = convex_reference(ConvexSquare(loss, l1, ball, within)).w
    length = float(np.linalg.norm(point, order)) if order else 0.0
    return [point * min(1.0, radius / length * (1 - 1e-12))] if length else [point]


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
    truth = LinearTruth(X, hard.positive, lam, "hinge")
    tight = solve(X, hard.y, lam, **TIGHT)
    found.solved(truth, solution, tight)


def odd_weights(rng: np.random.Generator, found: Found) -> None:
    """Weights that float64 does not hold, to be refused, or of odd formats, to be right."""
    hard = hard_rows(rng, 20, "gaussian", "plain")
    lam, d = hard_lam(rng, hard.true), hard.true.shape[1]
    kind = ("complex", "masked", "int64", "float16", "strided", "longdouble", "list")[
        rng.integers(7)
    ]
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
    truth = LinearTruth(hard.true, hard.positive, lam, "hinge")
    tight = solve(hard.true, hard.y, lam, **TIGHT)
    found.judged(faults_next_to(truth, np.asarray(given, dtype=float), audit, tight))


def linear(rng: np.random.Generator, found: Found) -> None:
    """Dense rows in every form, of every size: `solve`."""
    if rng.uniform() < 0.03:
        y = hard_labels(rng, 5500)
        X = hard_values(rng, y, 2, str(rng.choice(["gaussian", "ties", "offset"])))
        hard = Hard(X, X, y, "many rows")
    else:
        hard = hard_rows(rng, 60 if rng.uniform() < 0.8 else 400)
    _solved(rng, hard, found)


def sparse(rng: np.random.Generator, found: Found) -> None:
    """Sparse rows that are not canonical, linear and with kernels."""
    if rng.uniform() < 0.65:
        _solved(rng, hard_sparse(rng), found)
    else:
        kernel_solved(rng, hard_sparse(rng, 9), ["rbf", "laplacian"][rng.integers(2)], found)


def _solved(rng: np.random.Generator, hard: Hard, found: Found) -> None:
    lam, loss = hard_lam(rng, hard.true), hard_loss(rng)
    pairs = hard_pairs(rng, hard.true, hard.y)
    method = _method(rng, loss, hard.y.size)
    tol = float(10.0 ** rng.integers(-12, 0))
    found.name = (
        f"{hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, {method}, tol {tol:.0e}"
    )
    untouched = stored(hard.X)
    solution = solve(hard.X, hard.y, lam, loss=loss, pairs=pairs, method=method, tol=tol)
    found.judged(rewritten(hard.X, untouched))
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    wrong = faults_next_to(truth, solution.w, solution.certificate, tight)
    found.judged(wrong + _evidence_faults(truth, solution))


def _method(rng: np.random.Generator, loss: str, n: int) -> str:
    if loss != "hinge" or rng.uniform() < 0.6:
        return "auto"
    few = n < 30
    return str(rng.choice(["descent", "cutting-plane", "lifted"] if few else ["descent", "auto"]))


def _evidence_faults(truth: LinearTruth, solution: Solution) -> list[str]:
    """Compare the dual with that of its evidence, where both are of the same alpha."""
    witness, certificate = solution.witness, solution.certificate
    evidence = witness.evidence
    smoothed = isinstance(evidence, Scores) and evidence.width > 0
    marginals = not isinstance(evidence, Scores | Alpha)
    if truth.problem.loss.name == "hinge" and (smoothed or marginals):
        return []
    if isinstance(evidence, Weights):  # the exact mode takes no bins, and has another alpha
        return []
    exact = ExactCertificate.of(truth.problem, solution.w, witness).dual
    return over("the dual is above that of its evidence", certificate.dual, exact)


def estimator(rng: np.random.Generator, found: Found) -> None:
    """Estimators with a certificate over all pairs, row weights, dense or sparse rows."""
    hard = hard_sparse(rng) if rng.integers(2) else hard_rows(rng, 40)
    lam, loss = hard_lam(rng, hard.true), hard_loss(rng)
    weight = hard_weight(rng, hard.y) if rng.integers(2) else None
    kind = ("exact", "exact", "drawn", "newton")[rng.integers(4)]
    model: Any = ROCSVM(lam=lam, loss=loss)
    if kind == "drawn":
        loss = "hinge"
        model = IncompleteROCSVM(lam=lam, random_state=0, max_iter=300)
    elif kind == "newton":
        loss, model = "squared_hinge", RankSVM(lam=lam)
    found.name = (
        f"{kind} estimator, {hard.name}, {loss}, lam {lam:.2g}, weights {weight is not None}"
    )
    try:
        model.fit(hard.X, hard.y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    pairs = AllPairs(weight)
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    found.judged(faults_next_to(truth, model.coef_[0], model.certificate_, tight))


def in_blocks(rng: np.random.Generator, found: Found, loss: str = "hinge") -> None:
    """Rows that are read a few at a time, with row weights or without."""
    hard = hard_rows(rng, 200 if loss == "hinge" else 60, form="plain")
    lam, weight = hard_lam(rng, hard.true), None
    if rng.integers(2):
        weight = hard_weight(rng, hard.y)
    source = hard.true
    if loss == "hinge" and rng.integers(2) and 1e-30 < np.abs(source).max() < 1e30:
        source = source.astype(np.float32)
    pairs, tol = AllPairs(weight), float(10.0 ** rng.integers(-9, 0))
    found.name = f"blocks, {hard.name}, lam {lam:.2g}, {source.dtype}, weights {weight is not None}"
    rows = StreamedRows(source, int(rng.integers(1, 40)))
    solution = solve(rows, hard.y, lam, loss=loss, pairs=pairs, tol=tol)
    true = source.astype(float)
    truth = LinearTruth(true, hard.positive, lam, loss, pairs)
    found.solved(truth, solution, solve(true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT))


def squared_in_blocks(rng: np.random.Generator, found: Found) -> None:
    """The same with the squared hinge."""
    in_blocks(rng, found, "squared_hinge")


def path(rng: np.random.Generator, found: Found) -> None:
    """Every point of a path of lam."""
    hard = hard_sparse(rng) if rng.integers(2) else hard_rows(rng, 40)
    loss, pairs = hard_loss(rng), hard_pairs(rng, hard.true, hard.y)
    lams = hard_lam(rng, hard.true) * 10.0 ** -np.arange(4.0)
    found.name = f"path, {hard.name}, {loss}, lams {lams}, {type(pairs).__name__}"
    points = regularization_path(hard.X, hard.y, lams, loss=loss, pairs=pairs).points
    for point in points:
        truth = LinearTruth(hard.true, hard.positive, point.lam, loss, pairs)
        tight = solve(hard.true, hard.y, point.lam, loss=loss, pairs=pairs, **TIGHT)
        found.solved(truth, point.solution, tight)


def weights(rng: np.random.Generator, found: Found) -> None:
    """Audits of somebody's weights, refined or not, and the pairs whose order they make certain."""
    hard = hard_rows(rng, 30)
    lam, loss = hard_lam(rng, hard.true), hard_loss(rng)
    pairs = hard_pairs(rng, hard.true, hard.y)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    w = tight.w * (1 + 10.0 ** rng.uniform(-12, 0) * rng.normal(size=tight.w.size))
    if rng.uniform() < 0.3:
        w = np.round(w, 3)
    refine = bool(rng.integers(2))
    found.name = f"audit, {hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, {refine}"
    audit = certify(hard.X, hard.y, lam, w=w, loss=loss, pairs=pairs, refine=refine)
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    wrong = faults_next_to(truth, w, audit, tight)
    found.judged(wrong + order_faults(truth, audit, w, tight))


def order_faults(truth: LinearTruth, audit: Any, w: np.ndarray, tight: Solution) -> list[str]:
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


KINDS: list[Kind] = [
    *(linear, sparse, scores, linear, kernel, in_blocks, sparse, weights, subset, linear),
    *(structured, scores, proof_fields, linear, own_loss, estimator, kernel, casts, path),
    *(precomputed, linear, sparse_auc, sparse, structured, scores),
    *(online, changing, no_kernel, odd_weights),
]
"""Twenty-nine in turn; seed s has kind s modulo their number."""
