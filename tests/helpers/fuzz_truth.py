"""What is true of a problem, in exact arithmetic, and what a certificate of it gets wrong.

`LinearTruth` is the exact mode; `NaiveTruth` needs nothing of the library but the definitions, and
kernel values to 40 digits. Neither says where the optimum is: each says what F is at any point, so
that a strong point shows a dual, a gap or a radius to be false.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

import naive
from aucert.exact import AllPairs, PairList, linear_problem
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.problem.minorant import Minorant

BITS = 160
"""Kernel values are whole numbers of 2^-160."""

TIGHT: Any = {"tol": 1e-12, "max_time": 2.0}
"""How a strong point is looked for; how strong it is decides what is seen, not what is true."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of weights: the fields of a `Certificate`, each true by itself."""

    w: np.ndarray
    primal: float
    dual: float
    gap: float
    radius: float
    rounding: float
    relative_gap: float | None = None

    @classmethod
    def of(cls, w: np.ndarray, certificate: Any) -> Claim:
        """Return the claim of a `Certificate` or an `Audit`."""
        bounds = (certificate.primal, certificate.dual, certificate.gap)
        more = (certificate.radius, certificate.rounding, certificate.relative_gap)
        return cls(np.asarray(w, dtype=float), *bounds, *more)


class Truth(Protocol):
    """F at any point, the squared distance of two, and lam, as fractions."""

    lam: Fraction

    def objective(self, w: np.ndarray) -> Fraction:
        """Return F(w)."""
        ...

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |f - g|^2."""
        ...


class LinearTruth:
    """The exact mode on the numbers that were meant."""

    def __init__(
        self, X: np.ndarray, positive: np.ndarray, lam: float, loss: str, pairs: Any = None
    ):
        self.problem = linear_problem(X, positive, lam, loss, pairs, positive=True)
        self.X, self.lam = X, Fraction(lam)
        self._none = Minorant.from_scores(self.problem, np.zeros(self.problem.n))

    def objective(self, w: np.ndarray) -> Fraction:
        """Return F(w)."""
        return ExactCertificate.of(self.problem, w, self._none).primal

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |w - other|^2."""
        both = zip(naive.exact(w), naive.exact(other), strict=True)
        return sum(((x - y) ** 2 for x, y in both), Fraction(0))


class NaiveTruth:
    """Double loops over the pairs, for a Gram matrix or rows in fractions, with structure.

    Parameters
    ----------
    rows : list of lists of Fraction
        The Gram matrix of a kernel, or rows of features.
    kernel : bool
        Which of the two.
    """

    def __init__(
        self,
        rows: list[list[Fraction]],
        kernel: bool,
        positive: np.ndarray,
        lam: float,
        loss: str,
        pairs: AllPairs | PairList,
        structure: float = 0.0,
        source: str = "full",
    ):
        self.rows, self.kernel, self.positive = rows, kernel, positive
        self.lam, self.loss, self.structure = Fraction(lam), loss, Fraction(structure)
        listed = naive.weighted_pairs(positive.tolist(), pairs)
        mass = sum(c for _, _, c in listed)
        self.pairs = [(i, j, c / mass) for i, j, c in listed]
        self.spread = self.pairs if source == "sampled" and isinstance(pairs, PairList) else None
        whole = pairs if isinstance(pairs, AllPairs) else AllPairs()
        self.weight = naive.exact(np.ones(positive.size) if whole.weight is None else whole.weight)

    def objective(self, w: np.ndarray) -> Fraction:
        """Return lam/2 (|f|^2 + structure f'Sigma f) + the mean loss."""
        return self.objective_of(naive.exact(w))

    def objective_of(self, w: list[Fraction]) -> Fraction:
        """Return the same of weights in fractions."""
        s = naive.products(self.rows, w)
        mean = sum(c * naive.loss_value(self.loss, s[i] - s[j]) for i, j, c in self.pairs)
        norm2 = self._norm2(w, s)
        if self.structure:
            norm2 += self.structure * self._variance(s)
        return mean + self.lam / 2 * norm2

    def _norm2(self, w: list[Fraction], s: list[Fraction]) -> Fraction:
        both = zip(w, s if self.kernel else w, strict=True)
        return sum((x * y for x, y in both), Fraction(0))

    def _variance(self, s: list[Fraction]) -> Fraction:
        if self.spread is not None:
            mean = sum((c * (s[i] - s[j]) for i, j, c in self.spread), Fraction(0))
            apart = [(s[i] - s[j] - mean, c) for i, j, c in self.spread]
            return sum((c * x * x for x, c in apart), Fraction(0))
        total = Fraction(0)
        for side in (True, False):
            rows = [k for k, label in enumerate(self.positive.tolist()) if label == side]
            mass = sum(self.weight[k] for k in rows)
            mean = sum(self.weight[k] * s[k] for k in rows) / mass
            total += sum(self.weight[k] * (s[k] - mean) ** 2 for k in rows) / mass
        return Fraction(total)

    def distance2(self, w: np.ndarray, other: np.ndarray) -> Fraction:
        """Return |f - g|^2 in the norm of the penalty."""
        apart = [x - y for x, y in zip(naive.exact(w), naive.exact(other), strict=True)]
        s = naive.products(self.rows, apart)
        return self._norm2(apart, s) + self.structure * self._variance(s)


def true_gram(X: np.ndarray, kernel: str, gamma: float) -> list[list[Fraction]]:
    """Return k(x_i, x_j) to 2^-160, from the definitions."""
    rows, context = naive.exact(X), Context(prec=60)
    found = [[Fraction(1)] * len(rows) for _ in rows]
    for i, x in enumerate(rows):
        for j in range(i):
            apart = [a - b for a, b in zip(x, rows[j], strict=True)]
            far = sum((abs(a) if kernel == "laplacian" else a * a) for a in apart)
            far *= Fraction(gamma)
            value = Fraction(0)
            if far < 700:
                power = context.divide(Decimal(-far.numerator), Decimal(far.denominator))
                value = Fraction(context.exp(power))
            value = Fraction(int(value * (1 << BITS)), 1 << BITS)
            found[i][j] = found[j][i] = value
    return found


def bound_faults(
    claim: Any, value: Fraction, least: Fraction, slack: Fraction = Fraction(0)
) -> list[str]:
    """Return what is false in the bounds of a claim; nothing is added to them for rounding.

    Parameters
    ----------
    claim : Claim, Certificate or Audit
    value, least : Fraction
        F at the weights, and an upper bound of the optimum.
    slack : Fraction
        What the two may be off by.
    """
    wrong = []
    upper, lower = Fraction(claim.primal), Fraction(claim.dual)
    if value > upper + slack:
        wrong.append(f"F is {float(value - upper):.3g} above the primal {claim.primal!r}")
    if upper - Fraction(claim.rounding) > value + slack:
        low = float(upper - value)
        wrong.append(f"the primal is {low:.3g} above F, its rounding {claim.rounding:.3g}")
    if lower > least + slack:
        wrong.append(f"the dual exceeds F(best) by {float(lower - least):.3g}")
    if Fraction(claim.gap) < upper - lower:
        wrong.append(f"the gap {claim.gap!r} is below primal - dual")
    if value - least > Fraction(claim.gap) + slack:
        wrong.append(f"the gap is at least {float(value - least):.6g}, not {claim.gap:.6g}")
    share = claim.relative_gap
    if upper > 0 and (share is None or (value - least) > (Fraction(share) + slack) * value):
        wrong.append(f"the relative gap is at least {float((value - least) / value)}, not {share}")
    return wrong


def faults(claim: Claim, truth: Truth, best: np.ndarray, best_radius: float = np.inf) -> list[str]:
    """Return what is false in a claim, given the best point that is known.

    Parameters
    ----------
    best : array (dim,)
        F there is an upper bound of the optimum.
    best_radius : float
        The optimum is at most so far from it.
    """
    value = truth.objective(claim.w)
    least = min(value, truth.objective(best))
    wrong = bound_faults(claim, value, least)
    upper, lower = Fraction(claim.primal), Fraction(claim.dual)
    if Fraction(claim.radius) ** 2 * truth.lam < 2 * (upper - lower):
        wrong.append(f"the radius {claim.radius:.17g} is below sqrt(2 (primal - dual) / lam)")
    if best_radius < np.inf:
        far = Fraction(claim.radius) + Fraction(best_radius)
        if truth.distance2(claim.w, best) > far * far:
            wrong.append(f"the optimum is farther than the radius {claim.radius:.6g}")
    return wrong
