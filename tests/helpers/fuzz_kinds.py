"""The kinds of problems of the fuzzer: solutions and audits of weights, in every space."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.exact import ROCSVM, AllPairs, PairList, Solution, certify, solve
from aucert.exact.exact_certificate import ExactCertificate
from fuzz_other_kinds import proof_fields, scores, sparse_auc, subset
from fuzz_rows import (
    Hard,
    hard_labels,
    hard_lam,
    hard_loss,
    hard_pairs,
    hard_rows,
    hard_sparse,
    hard_values,
    hard_weight,
)
from fuzz_truth import Claim, LinearTruth, NaiveTruth, faults, true_gram
from fuzzing import Found, Kind

TIGHT = {"tol": 1e-12, "max_time": 2.0}
"""How a strong point is looked for; how strong it is decides what is seen, not what is true."""


def linear(rng: np.random.Generator, found: Found) -> None:
    """Dense rows in every form, of every size: `solve`."""
    if rng.uniform() < 0.03:
        y = hard_labels(rng, 5500)
        X = hard_values(rng, y, 2, str(rng.choice(["gaussian", "ties", "offset"])))
        hard = Hard(X, X, y, "many rows")
    else:
        hard = hard_rows(rng)
    _solved(rng, hard, found)


def sparse(rng: np.random.Generator, found: Found) -> None:
    """Sparse rows that are not canonical, linear and with kernels."""
    if rng.uniform() < 0.65:
        _solved(rng, hard_sparse(rng), found)
    else:
        _kernel_solved(rng, hard_sparse(rng, 9), ["rbf", "laplacian"][rng.integers(2)], found)


def _solved(rng: np.random.Generator, hard: Hard, found: Found) -> None:
    lam, loss = hard_lam(rng, hard.true), hard_loss(rng)
    pairs = hard_pairs(rng, hard.true, hard.y)
    method = _method(rng, loss, hard.y.size)
    tol = float(10.0 ** rng.integers(-12, 0))
    found.name = (
        f"{hard.name}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, {method}, tol {tol:.0e}"
    )
    untouched = _copied(hard.X)
    solution = solve(hard.X, hard.y, lam, loss=loss, pairs=pairs, method=method, tol=tol)
    found.judged(_rewritten(hard.X, untouched))
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    above = solution.witness.weights is not None
    claim = Claim.of(solution.w, solution.certificate, above)
    found.judged(_against(truth, claim, tight) + _evidence_faults(truth, solution))


def _method(rng: np.random.Generator, loss: str, n: int) -> str:
    if loss != "hinge" or rng.uniform() < 0.6:
        return "auto"
    return str(rng.choice(["newton", "cutting-plane", "lifted"] if n < 30 else ["newton", "auto"]))


def _against(truth: LinearTruth, claim: Claim, tight: Solution) -> list[str]:
    """Return the faults of a claim, given a solution of the same problem with a small gap."""
    radius = ExactCertificate.of(truth.problem, tight.w, tight.witness).radius
    return faults(claim, truth, tight.w, radius)


def _evidence_faults(truth: LinearTruth, solution: Solution) -> list[str]:
    """Compare the dual with that of its evidence, where both are of the same alpha."""
    witness, certificate = solution.witness, solution.certificate
    smoothed = witness.scores is not None and witness.width > 0
    marginals = witness.scores is None and witness.alpha is None
    if truth.problem.loss.name == "hinge" and (smoothed or marginals):
        return []
    exact = ExactCertificate.of(truth.problem, solution.w, witness).dual
    excess = Fraction(certificate.dual) - exact
    if excess > Fraction(certificate.rounding):
        return [f"the dual exceeds that of its evidence by {float(excess):.3g}"]
    return []


def _copied(X: Any) -> Any:
    return X.copy() if hasattr(X, "copy") else X


def _rewritten(X: Any, before: Any) -> list[str]:
    """Return whether the caller's data were written to."""
    if hasattr(X, "indices"):
        parts = [(getattr(X, name), getattr(before, name)) for name in ("data", "indices")]
    else:
        parts = [(np.asarray(getattr(m, "data", m)), np.asarray(getattr(n, "data", n)))
                 for m, n in ([(X, before)] if hasattr(X, "row") else [])]  # fmt: skip
        if not parts:
            parts = [(np.asarray(X), np.asarray(before))]
    same = all(np.array_equal(a, b) for a, b in parts)
    return [] if same else ["the caller's data were written to"]


def estimator(rng: np.random.Generator, found: Found) -> None:
    """`ROCSVM` with row weights, dense or sparse."""
    hard = hard_sparse(rng) if rng.integers(2) else hard_rows(rng, 40)
    lam, loss = hard_lam(rng, hard.true), hard_loss(rng)
    weight = hard_weight(rng, hard.y) if rng.integers(2) else None
    found.name = f"ROCSVM, {hard.name}, {loss}, lam {lam:.2g}, weights {weight is not None}"
    try:
        model = ROCSVM(lam=lam, loss=loss).fit(hard.X, hard.y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    pairs = AllPairs(weight)
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    found.judged(_against(truth, Claim.of(model.coef_[0], model.certificate_), tight))


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
    streamed = isinstance(hard.X, np.memmap)
    wrong = _against(truth, Claim.of(w, audit, streamed), tight)
    found.judged(wrong + order_faults(truth, audit, w, tight))


def order_faults(truth: LinearTruth, audit: Any, w: np.ndarray, tight: Solution) -> list[str]:
    """Return what is false in the count of pairs whose order at the optimum is certain.

    A pair can only count if the model orders it so, and the optimum may: within the exact radius of
    a strong point. Float64 decides, with room for its rounding.
    """
    problem, pairs = truth.problem, truth.problem.pairs
    X, positive = problem.space.raw, problem.positive
    if isinstance(pairs, PairList):
        i, j = pairs.i, pairs.j
    else:
        i, j = (
            np.repeat(np.flatnonzero(positive), problem.n_neg),
            np.tile(np.flatnonzero(~positive), problem.n_pos),
        )
    radius = ExactCertificate.of(problem, tight.w, tight.witness).radius
    apart = X[i] - X[j]
    far, size = np.linalg.norm(apart, axis=1), np.abs(X[i]) + np.abs(X[j])
    wrong = []
    for sign, count, name in ((1, audit.n_right, "right"), (-1, audit.n_wrong, "wrong")):
        of_model = sign * (apart @ w) + 1e-13 * (size @ np.abs(w)) > 0
        room = radius * far + 1e-13 * (size @ np.abs(tight.w))
        possible = int((of_model & (sign * (apart @ tight.w) + room > 0)).sum())
        if count > possible:
            wrong.append(f"{count} pairs said to be certainly {name}, of {possible} possible")
    return wrong


def kernel(rng: np.random.Generator, found: Found) -> None:
    """Gaussian and Laplacian kernels of dense rows."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "offset", "wide"])))
    _kernel_solved(rng, hard, ["rbf", "laplacian"][rng.integers(2)], found)


def structured(rng: np.random.Generator, found: Found) -> None:
    """The structured norm, of features and of kernels."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "wide", "equal"])))
    structure = float(10.0 ** rng.uniform(-3, 4))
    name = ["linear", "rbf", "laplacian"][rng.integers(3)]
    _kernel_solved(rng, hard, name, found, structure)


def _kernel_solved(
    rng: np.random.Generator, hard: Hard, name: str, found: Found, structure: float = 0.0
) -> None:
    """Solve with a kernel, and judge by kernel values to 2^-160."""
    lam = float(10.0 ** rng.uniform(-5, 1)) if name != "linear" else hard_lam(rng, hard.true)
    loss, pairs = hard_loss(rng), hard_pairs(rng, hard.true, hard.y)
    gamma = None if name == "linear" else float(10.0 ** rng.uniform(-3, 1))
    source = ["full", "sampled"][rng.integers(2)]
    found.name = (
        f"{hard.name}, {name}, gamma {gamma}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, "
        f"structure {structure:.2g} {source}"
    )
    shape: Any = {"kernel": name, "gamma": gamma, "loss": loss, "pairs": pairs}
    shape |= {"structure": structure, "structure_source": source}
    untouched = _copied(hard.X)
    solution = solve(hard.X, hard.y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **shape)
    found.judged(_rewritten(hard.X, untouched))
    tight = solve(hard.true, hard.y, lam, **shape, **TIGHT)
    featured = gamma is None
    rows = naive.exact(hard.true) if gamma is None else true_gram(hard.true, name, gamma)
    rest = (hard.positive, lam, loss, pairs, structure, source)
    truth = NaiveTruth(rows, not featured, *rest)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


def precomputed(rng: np.random.Generator, found: Found) -> None:
    """A kernel matrix of whole numbers, so that what is stored is semidefinite exactly."""
    n = int(rng.integers(2, 12))
    y = hard_labels(rng, n)
    F = np.round(2 * rng.normal(size=(n, int(rng.integers(1, n + 2)))))
    K = (F @ F.T) * 2.0 ** int(rng.integers(-20, 20))
    lam, loss = hard_lam(rng, F) + float(np.abs(K).max()) * 1e-6, hard_loss(rng)
    pairs = hard_pairs(rng, F, y)
    found.name = f"precomputed, n {n}, {loss}, lam {lam:.2g}, {type(pairs).__name__}"
    shape: Any = {"kernel": "precomputed", "loss": loss, "pairs": pairs}
    solution = solve(K, y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **shape)
    tight = solve(K, y, lam, **shape, **TIGHT)
    truth = NaiveTruth(naive.exact(K), True, y == 1, lam, loss, pairs)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


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
        X = small.astype(np.longdouble) + np.longdouble(2) ** 52 / 3
        rows = naive.exact(X)
    else:
        whole = [[int(x) + 1_700_000_000_000_000_000 for x in row] for row in small.tolist()]
        X = np.array(whole, dtype=object if kind == "objects" else kind)
        rows = naive.exact(np.zeros((n, 2)))
        rows = [[Fraction(x) for x in row] for row in whole]
    lam = float(10.0 ** rng.uniform(0, 6))
    solution = solve(X, y, lam)
    if rows is None:
        found.judged([f"a certificate of {kind} numbers"])
        return
    tight = solve(small.astype(float), y, lam, **TIGHT)
    truth = NaiveTruth(rows, False, y == 1, lam, "hinge", AllPairs())
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


KINDS: list[Kind] = [
    *(linear, sparse, scores, linear, kernel, linear, sparse, weights, subset, linear),
    *(structured, scores, proof_fields, linear, sparse, estimator, kernel, casts, linear),
    *(precomputed, linear, sparse_auc),
]
"""Twenty-two in turn; seed s has kind s modulo their number."""
