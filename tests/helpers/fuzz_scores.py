"""Kinds of the fuzzer: audits of scores that came from anywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import naive
from aucert.exact import AllPairs, certify, solve
from fuzz_rows import hard_lam, hard_loss, hard_rows, hard_values
from fuzz_truth import TIGHT, LinearTruth
from fuzzing import Found

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
        if kind == "far":  # one positive row far away: beside its score the others are rounding
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
    wrong, rounding = [], Fraction(audit.rounding)
    if Fraction(audit.dual) > least:
        wrong.append(f"the dual {audit.dual:.6g} exceeds F(best) = {float(least):.6g}")
    if abs(mean - Fraction(audit.loss_value)) > rounding + Fraction(1e-13) * (1 + mean):
        wrong.append(f"a mean loss of {audit.loss_value:.12g}, but it is {float(mean):.12g}")
    if audit.gap is not None:
        assert audit.primal is not None
        if value > Fraction(audit.primal):
            said, true = audit.primal, float(value)
            wrong.append(f"an objective of {said:.10g}, but it is at least {true:.10g}")
        if value - least > Fraction(audit.gap):
            said, true = audit.gap, float(value - least)
            wrong.append(f"a gap of {said:.6g}, but it is at least {true:.6g}")
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
