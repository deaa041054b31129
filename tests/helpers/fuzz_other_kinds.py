"""More kinds of problems of the fuzzer: audits of scores, proof files, features chosen."""

from __future__ import annotations

import re
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import naive
import proofs
from aucert.approx import SHTAUC
from aucert.exact import AllPairs, best_subset, certify, solve
from aucert.exact.proof import write_proof
from fuzz_rows import hard_lam, hard_loss, hard_rows, hard_weight
from fuzz_truth import LinearTruth
from fuzzing import Found
from subset_problems import trying_all

FIELDS = ("lam", "w", "offset", "scale", "u", "v", "cap", "bins", "half", "w_dual")
CLAIMS = ("primal", "dual", "gap")


def scores(rng: np.random.Generator, found: Found) -> None:
    """Audits of scores: those of a function, nearly so, rounded in print, and none of it."""
    hard = hard_rows(rng, 30, form="plain")
    X = hard.true
    if rng.uniform() < 0.3:  # one positive row far away, as its score fits anything
        X = X.copy()
        X[np.flatnonzero(hard.positive)[0], 0] = 10.0 ** rng.uniform(4, 9)
    if rng.uniform() < 0.2:
        X = X.copy()
        X[:, -1] *= 10.0 ** rng.uniform(-12, -6)
    lam, loss = hard_lam(rng, X), hard_loss(rng)
    tight = solve(X, hard.y, lam, loss=loss, tol=1e-12, max_time=2.0)
    kind = ("exact", "printed", "nearly", "other", "below", "constant")[rng.integers(6)]
    s = _some_scores(rng, kind, X, tight.w, hard.positive)
    found.name = f"scores {kind}, {hard.name}, {loss}, lam {lam:.2g}"
    audit = certify(X, hard.y, lam, scores=s, loss=loss)
    truth = LinearTruth(X, hard.positive, lam, loss, AllPairs())
    least = truth.objective(tight.w)
    listed = naive.weighted_pairs(hard.positive.tolist(), AllPairs())
    mean = naive.sums(naive.exact(s), listed, loss).value
    wrong, rounding = [], Fraction(audit.rounding)
    if Fraction(audit.dual) - rounding > least:
        wrong.append(f"the dual {audit.dual:.6g} exceeds F(best) = {float(least):.6g}")
    if audit.gap is not None:
        assert audit.primal is not None
        if mean > Fraction(audit.primal) + rounding:
            said, true = audit.primal, float(mean)
            wrong.append(f"objective {said:.6g}, but the scores' mean loss alone is {true:.6g}")
        if mean - least > Fraction(audit.gap) + rounding:
            said, true = audit.gap, float(mean - least)
            wrong.append(f"a gap of {said:.6g}, but it is at least {true:.6g}")
    found.judged(wrong)


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
    if kind == "below":  # a positive row on top, the other positive rows below all negative ones
        s = np.where(positive, -1.0, 0.0) + 0.1 * rng.normal(size=s.size)
        s[np.flatnonzero(positive)[0]] = 10.0 ** rng.uniform(4, 9)
    return s


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
        changed, text = _mutated(rng, proof)
        try:
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


def _mutated(rng: np.random.Generator, proof: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the proof with one or two fields changed, and what was done."""
    changed, done = dict(proof), []
    names = [name for name in FIELDS if name in proof]
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        changed[name], how = _other(rng, changed[name])
        done.append(f"{name} {how}")
    if rng.uniform() < 0.6:  # whoever changes a field changes the claims with it
        width = 10.0 ** rng.uniform(-8, 0)
        claims = {"primal": float(proof["primal"]) * (1 + width), "gap": width}
        claims["dual"] = max(float(proof["dual"]) - width, 0.0)
        changed |= proofs.scalars(**claims)
        done.append(f"claims widened by {width:.1g}")
    return changed, ", ".join(done)


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
    best = solve(data["X"], data["y"], lam, pairs=pairs, tol=1e-12, max_time=2.0).w
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


def subset(rng: np.random.Generator, found: Found) -> None:
    """`best_subset` against all supports in fractions, with near copies and constants."""
    X, y, weight, name = _features(rng)
    d = X.shape[1]
    k = int(rng.integers(1, d + 1))
    ridge = float(10.0 ** rng.uniform(-4, 1)) if rng.integers(2) else 0.0
    method = ["branch-and-bound", "exhaustive"][rng.integers(2)]
    found.name = f"subset, {name}, X {X.shape}, k {k}, ridge {ridge:.2g}, {method}"
    result = best_subset(X, y, k, ridge, sample_weight=weight, method=method, max_time=5.0)
    M, delta = exact_moments(X, y == 1, weight)
    for j in range(d):
        M[j][j] += Fraction(ridge) / 2
    true = trying_all(lambda S: least_on(M, delta, S), d, k)  # type: ignore[arg-type]
    value, wrong = quadratic(M, delta, result.w), []
    if Fraction(result.upper) < value:
        wrong.append(f"F(w) is {float(value):.17g}, above its bound {result.upper:.17g}")
    if not result.dependent and Fraction(result.lower) > true:
        wrong.append(f"the lower bound is {result.lower:.6g}, the optimum {float(true):.6g}")
    if result.proved and value - true > Fraction(1, 10**9) + Fraction(1, 10**15):
        wrong.append(f"proved, but {float(value):.6g} is not the optimum {float(true):.6g}")
    found.judged(wrong)


def sparse_auc(rng: np.random.Generator, found: Found) -> None:
    """`SHTAUC`: its lower bound and `proved_`, also as judged by `best_subset`."""
    X, y, weight, name = _features(rng)
    d = X.shape[1]
    k = int(rng.integers(1, d + 1))
    found.name = f"SHTAUC, {name}, X {X.shape}, k {k}"
    try:
        model = SHTAUC(k=k, random_state=0, max_time=2.0).fit(X, y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    M, delta = exact_moments(X, y == 1, weight)
    true = trying_all(lambda S: least_on(M, delta, S), d, k)  # type: ignore[arg-type]
    value = quadratic(M, delta, model.coef_[0])
    found.judged(_bound_faults(model, value, true))
    bound = best_subset(X, y, k, sample_weight=weight, max_time=5.0)
    model.judge(bound)
    judged = _bound_faults(model, value, true)
    found.judged([f"judged: {text}" for text in judged if model.proved_ or not bound.dependent])


def _bound_faults(model: SHTAUC, value: Fraction, true: Fraction) -> list[str]:
    wrong = []
    if Fraction(model.lower_bound_) > true:
        wrong.append(f"lower_bound_ {model.lower_bound_:.6g} above the optimum {float(true):.6g}")
    if model.proved_ and value - true > Fraction(1, 10**9) + Fraction(1, 10**15):
        wrong.append(f"proved_, but {float(value):.6g} is not the optimum {float(true):.6g}")
    return wrong


def _features(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Any, str]:
    """Return few rows and features, some of them near copies, constant or of far sizes."""
    n, d = int(rng.integers(5, 15)), int(rng.integers(2, 6))
    y = rng.permutation(np.arange(n) < rng.integers(1, n)).astype(int)
    X = rng.normal(size=(n, d)) + rng.uniform(0, 1) * y[:, None]
    name = ("plain", "near copy", "copy", "constant", "sums", "ties", "scales")[rng.integers(7)]
    if name == "near copy":
        X[:, 0] = X[:, 1] * (1 + 10.0 ** rng.uniform(-14, -5) * rng.normal(size=n))
    elif name == "copy":
        X[:, 0] = -2 * X[:, 1]
    elif name == "constant":
        X[:, 0] = 0.1
    elif name == "sums":
        X[:, 0] = X.sum(axis=1)
    elif name == "ties":
        X = np.round(X)
    elif name == "scales":
        X = X * 10.0 ** rng.integers(-9, 9, d)
    weight = hard_weight(rng, y) if rng.uniform() < 0.3 else None
    return X, y, weight, name


def exact_moments(
    X: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return M, the mean of (x_i - x_j)(x_i - x_j)' over the pairs, and the mean of x_i - x_j."""
    rows, d = naive.exact(X), X.shape[1]
    counts = naive.exact(np.ones(len(X)) if weight is None else weight)
    means, seconds = [], []
    for side in (True, False):
        of = [k for k, label in enumerate(positive.tolist()) if label == side]
        mass = sum(counts[k] for k in of)
        share = {k: counts[k] / mass for k in of}
        means.append([sum(share[k] * rows[k][a] for k in of) for a in range(d)])
        seconds.append(
            [[sum(share[k] * rows[k][a] * rows[k][b] for k in of) for b in range(d)]
             for a in range(d)]
        )  # fmt: skip
    (p, q), (P, Q) = means, seconds
    M = [[P[a][b] + Q[a][b] - p[a] * q[b] - q[a] * p[b] for b in range(d)] for a in range(d)]
    return M, [x - z for x, z in zip(p, q, strict=True)]


def least_on(M: list[list[Fraction]], delta: list[Fraction], support: list[int]) -> Fraction:
    """Return the least w'M w - 2 w'delta + 1 over w on the support, by elimination."""
    A = [[M[a][b] for b in support] for a in support]
    right, least = [delta[a] for a in support], Fraction(1)
    for k in range(len(A)):
        if A[k][k] == 0:
            continue  # M is semidefinite: its row is zero then, and so is the right side
        least -= right[k] ** 2 / A[k][k]
        for i in range(k + 1, len(A)):
            factor = A[i][k] / A[k][k]
            right[i] -= factor * right[k]
            A[i] = [x - factor * z for x, z in zip(A[i], A[k], strict=True)]
    return least


def quadratic(M: list[list[Fraction]], delta: list[Fraction], w: np.ndarray) -> Fraction:
    """Return w'M w - 2 w'delta + 1."""
    v = naive.exact(w)
    both = naive.products(M, v)
    return sum((x * (z - 2 * e) for x, z, e in zip(v, both, delta, strict=True)), Fraction(1))
