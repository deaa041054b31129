"""Kinds of the fuzzer: online methods, matrices that are no kernel's, rows and weights that lie."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.approx import FSAUC, SOLAM, SPAM
from aucert.exact import AllPairs, Rows, StreamedRows, certify, solve
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.gram import Gram
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage
from fuzz_rows import hard_labels, hard_lam, hard_loss, hard_pairs, hard_rows, hard_values
from fuzz_subsets import exact_moments, quadratic
from fuzz_truth import TIGHT, Claim, LinearTruth, NaiveTruth, faults
from fuzzing import Found


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
    M, delta = exact_moments(X, y == 1, None)
    penalties = (Fraction(l1), Fraction(l2)) if which == "SPAM" else (Fraction(0), Fraction(0))

    def objective(w: np.ndarray) -> Fraction:
        v = naive.exact(w)
        length, square = sum(map(abs, v)), sum(x * x for x in v)
        return quadratic(M, delta, w) + penalties[0] * length + penalties[1] / 2 * square

    value = objective(model.coef_[0])
    least = min(value, objective(np.zeros(X.shape[1])))
    for w in _rivals(rng, X, y, which, l1, l2, radius):
        least = min(least, objective(w))
    wrong = []
    if abs(value - Fraction(model.objective_)) > Fraction(1e-6) * (1 + value) + Fraction(
        model.gap_
    ):
        wrong.append(f"objective_ is {model.objective_:.6g}, not {float(value):.6g}")
    if np.isfinite(model.gap_):
        if Fraction(model.lower_bound_) > least:
            wrong.append(f"lower_bound_ {model.lower_bound_:.6g} above {float(least):.6g}")
        if value - least > Fraction(model.gap_) * (1 + Fraction(1, 2**50)):
            wrong.append(f"gap_ {model.gap_:.6g}, at least {float(value - least):.6g} is true")
        if model.proved_ and value - least > Fraction(1, 10**9):
            wrong.append(f"proved_, but {float(value - least):.6g} above the optimum")
    told = model.certificate_
    if np.isfinite(told.primal):
        if value > Fraction(told.primal):
            wrong.append(
                f"the certificate's objective is {told.primal:.6g}, not {float(value):.6g}"
            )
        if Fraction(told.dual) > least:
            wrong.append(f"the certificate's bound {told.dual:.6g} is above {float(least):.6g}")
    found.judged(wrong)


def _rivals(
    rng: np.random.Generator,
    X: np.ndarray,
    y: np.ndarray,
    which: str,
    l1: float,
    l2: float,
    radius: float,
) -> list[np.ndarray]:
    """Return strong points of the problem, inside its ball."""
    loss = RowAverage.of(Rows(X), y == 1, AllPairs(), l2 if which == "SPAM" else 0.0)
    ball = {"SPAM": "none", "SOLAM": "l2", "FSAUC": "l1"}[which]
    within = np.inf if ball == "none" else radius
    convex = ConvexSquare(loss, l1 if which == "SPAM" else 0.0, ball, within)
    points = [convex_reference(convex).w]
    if ball != "none":
        order = 2 if ball == "l2" else 1
        length = float(np.linalg.norm(points[0], order))
        points = [points[0] * min(1.0, radius / length * (1 - 1e-12) if length else 1.0)]
    return points


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
    pairs = hard_pairs(rng, F, y)
    found.name = f"no kernel, n {n}, {loss}, lam {lam:.2g}, {type(pairs).__name__}"
    shape: Any = {"kernel": "precomputed", "loss": loss, "pairs": pairs}
    solution = solve(K, y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **shape)
    tight = solve(K, y, lam, **shape, **TIGHT)
    space = Gram(K)
    meant = naive.exact(space.K)
    for i in range(n):
        meant[i][i] += Fraction(space.shift)
    truth = NaiveTruth(meant, True, y == 1, lam, loss, pairs)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


class Changing:
    """Rows of which two of different classes change places after a number of readings."""

    def __init__(self, X: np.ndarray, after: int, swap: tuple[int, int]):
        self.X, self.after, self.swap, self.shape = X.copy(), after, swap, X.shape

    def __getitem__(self, rows: slice, /) -> np.ndarray:
        """Return some rows, as they are now."""
        self.after -= 1
        if self.after == 0:
            self.X[list(self.swap)] = self.X[list(self.swap[::-1])]
        return self.X[rows].copy()


def changing(rng: np.random.Generator, found: Found) -> None:
    """Rows that change while they are read: refused, or a certificate of what they were."""
    hard = hard_rows(rng, 60, "gaussian", "plain")
    swap = tuple(int(rng.choice(np.flatnonzero(side))) for side in (hard.positive, ~hard.positive))
    lam, after = hard_lam(rng, hard.true), int(10.0 ** rng.uniform(0, 3))
    found.name = f"changing after {after} readings, {hard.name}, lam {lam:.2g}"
    source = Changing(hard.true, after, (swap[0], swap[1]))
    rows = StreamedRows(source, int(rng.integers(1, 70)))
    changed = source.after <= 0  # before any claim: then all of it is of the changed rows
    solution = solve(rows, hard.y, lam, tol=float(10.0 ** rng.integers(-9, 0)))
    X = hard.true.copy()
    if changed:
        X[list(swap)] = X[list(swap[::-1])]
    truth = LinearTruth(X, hard.positive, lam, "hinge")
    tight = solve(X, hard.y, lam, **TIGHT)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


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
    claim = Claim.of(np.asarray(given, dtype=float), audit)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))
