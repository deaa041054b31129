"""The kinds of problems of the fuzzer: solutions and audits of weights, in every space."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from aucert.approx import IncompleteROCSVM, RankSVM
from aucert.exact import (
    ROCSVM,
    AllPairs,
    PairList,
    Solution,
    StreamedRows,
    certify,
    regularization_path,
    solve,
)
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.problem.minorant import Alpha, Scores, Weights
from fuzz_casts import casts
from fuzz_kernels import kernel, kernel_solved, precomputed, structured
from fuzz_losses import own_loss
from fuzz_more import changing, no_kernel, odd_weights, online
from fuzz_proofs import proof_fields
from fuzz_rows import (
    Hard,
    copied,
    hard_labels,
    hard_lam,
    hard_loss,
    hard_pairs,
    hard_rows,
    hard_sparse,
    hard_values,
    hard_weight,
    rewritten,
)
from fuzz_scores import scores
from fuzz_subsets import sparse_auc, subset
from fuzz_truth import TIGHT, Claim, LinearTruth, faults
from fuzzing import Found, Kind


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
    untouched = copied(hard.X)
    solution = solve(hard.X, hard.y, lam, loss=loss, pairs=pairs, method=method, tol=tol)
    found.judged(rewritten(hard.X, untouched))
    truth = LinearTruth(hard.true, hard.positive, lam, loss, pairs)
    tight = solve(hard.true, hard.y, lam, loss=loss, pairs=pairs, **TIGHT)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(_against(truth, claim, tight) + _evidence_faults(truth, solution))


def _method(rng: np.random.Generator, loss: str, n: int) -> str:
    if loss != "hinge" or rng.uniform() < 0.6:
        return "auto"
    few = n < 30
    return str(rng.choice(["descent", "cutting-plane", "lifted"] if few else ["descent", "auto"]))


def _against(truth: LinearTruth, claim: Claim, tight: Solution) -> list[str]:
    """Return the faults of a claim, given a solution of the same problem with a small gap."""
    radius = ExactCertificate.of(truth.problem, tight.w, tight.witness).radius
    return faults(claim, truth, tight.w, radius)


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
    excess = Fraction(certificate.dual) - exact
    if excess > 0:
        return [f"the dual exceeds that of its evidence by {float(excess):.3g}"]
    return []


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
    found.judged(_against(truth, Claim.of(model.coef_[0], model.certificate_), tight))


def in_blocks(rng: np.random.Generator, found: Found) -> None:
    """Rows that are read a few at a time, with row weights or without."""
    hard = hard_rows(rng, 200, form="plain")
    lam, weight = hard_lam(rng, hard.true), None
    if rng.integers(2):
        weight = hard_weight(rng, hard.y)
    source = hard.true.astype(np.float32) if rng.integers(2) and _fits(hard.true) else hard.true
    pairs, tol = AllPairs(weight), float(10.0 ** rng.integers(-9, 0))
    found.name = f"blocks, {hard.name}, lam {lam:.2g}, {source.dtype}, weights {weight is not None}"
    rows = StreamedRows(source, int(rng.integers(1, 40)))
    solution = solve(rows, hard.y, lam, pairs=pairs, tol=tol)
    true = source.astype(float)
    truth = LinearTruth(true, hard.positive, lam, "hinge", pairs)
    tight = solve(true, hard.y, lam, pairs=pairs, **TIGHT)
    found.judged(_against(truth, Claim.of(solution.w, solution.certificate), tight))


def _fits(X: np.ndarray) -> bool:
    return bool(1e-30 < np.abs(X).max() < 1e30)


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
        claim = Claim.of(point.solution.w, point.certificate)
        found.judged(_against(truth, claim, tight))


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
    wrong = _against(truth, Claim.of(w, audit), tight)
    found.judged(wrong + order_faults(truth, audit, w, tight))


def order_faults(truth: LinearTruth, audit: Any, w: np.ndarray, tight: Solution) -> list[str]:
    """Return what is false in the count of pairs whose order at the optimum is certain.

    A pair can only count if the model orders it so, and the optimum may: within the exact radius of
    a strong point. Float64 decides, with room for its rounding.
    """
    problem, pairs = truth.problem, truth.problem.pairs
    X, positive = truth.X, problem.pairs.positive
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


KINDS: list[Kind] = [
    *(linear, sparse, scores, linear, kernel, in_blocks, sparse, weights, subset, linear),
    *(structured, scores, proof_fields, linear, own_loss, estimator, kernel, casts, path),
    *(precomputed, linear, sparse_auc, sparse, structured, scores),
    *(online, changing, no_kernel, odd_weights),
]
"""Twenty-nine in turn; seed s has kind s modulo their number."""
