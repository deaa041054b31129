"""The steps of the printed proof of [ScalingUp, Theorem 4], each as a left and a right side.

For anybody's data and any (near) minimisers f^ of the full problem, f^_B of the drawn one and f~_B
of the drawn one with K~. Where a step is wrong as printed the right form stands next to it. With
inexact minimisers the sides are off by what their certified radius allows, and both are evaluated
in floating point, without a bound of its rounding: a verdict needs more room than that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exact import InputError, Problem
from ...exact.tools.checks import check_choice, check_number
from .kernel import Approximation


@dataclass(frozen=True)
class Step:
    """left <= right is what is printed; `corrected` is a right side that does hold, if known."""

    place: str
    left: float
    right: float
    corrected: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the printed inequality holds."""
        return self.left <= self.right


def eq_17(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> Step:
    """Return |U(f^) - U_B(f^_B)| <= max of |U_B(f) - U(f)| over f^ and f^_B. [ScalingUp, eq. (17)]

    Wrong as printed: the two minimise loss plus penalty. `corrected` adds the difference of the
    penalties, lam/2 | |f^_B|^2 - |f^|^2 |, that was left out.
    """
    left, right = _losses(full, drawn, w, w_B)
    penalties = full.lam / 2 * abs(full.space.norm2(w_B) - full.space.norm2(w))
    return Step("eq. (17)", left, right, right + penalties)


def eq_17_objectives(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> Step:
    """Return |p* - p*_B| <= the right side of eq. (17), its correct form. Arguments: `eq_17`."""
    _, right = _losses(full, drawn, w, w_B)
    return Step("eq. (17) for p*", abs(full.objective(w) - drawn.objective(w_B)), right, right)


def hoeffding(
    full: Problem,
    drawn: Problem,
    w: np.ndarray,
    w_B: np.ndarray,
    B: int,
    K_max: float,
    C_max: float,
    delta: float = 0.05,
) -> Step:
    """Return max |U_B(f) - U(f)| <= (1 + 2 K_max sqrt(C_max)) sqrt(log(4/delta) / (2B)).

    The second display after eq. (17), said to hold with probability 1 - delta; f^_B depends on the
    draw, so that Hoeffding's inequality does not apply to it. [ScalingUp, Theorem 4]
    """
    check_number("delta", delta, 0.0, 1.0)
    check_number("C_max", C_max, closed="low")
    right = (1 + 2 * K_max * np.sqrt(C_max)) * np.sqrt(np.log(4 / delta) / (2 * B))
    return Step("Hoeffding", _losses(full, drawn, w, w_B)[1], float(right))


@dataclass(frozen=True, eq=False)
class DrawnPair:
    """f^_B and f~_B as expansions in the rows, for eqs. (18) to (21). [ScalingUp, eq. (16)]"""

    approximation: Approximation
    drawn: Problem
    B: int
    theta_hat: np.ndarray
    theta_tilde: np.ndarray

    def __post_init__(self) -> None:
        for name in ("theta_hat", "theta_tilde"):
            if getattr(self, name).shape != (self.approximation.n,):
                raise InputError(f"{name} must have one number per row: {self.approximation.n}")

    @property
    def N_max(self) -> float:
        """How often the row that is drawn most is drawn."""
        pairs = self.drawn.pairs
        return self.B * float(pairs.row_mass().max())

    @property
    def sum_of_norms(self) -> float:
        """|theta~| + |theta^|, the factor of (20) and (21)."""
        return float(np.linalg.norm(self.theta_tilde) + np.linalg.norm(self.theta_hat))

    def exact(self, theta: np.ndarray) -> np.ndarray:
        """Return K theta: (n,)."""
        return self.approximation.truth.scores(theta)

    def approximate(self, theta: np.ndarray) -> np.ndarray:
        """Return K~ theta: (n,)."""
        V = self.approximation.features
        return V @ (V.T @ theta)

    def loss(self, scores: np.ndarray) -> float:
        """Return U_B at these scores."""
        return self.drawn.sums(scores).value


def least_norm(features: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the theta (n,) of least norm with V'theta = w, so that K~ theta = V w."""
    return np.linalg.lstsq(features.T, w, rcond=None)[0]


def eq_18(pair: DrawnPair, U_full: float | None = None) -> Step:
    """Return |U_B(f^_B) - U_B(f~_B)| <= N_max/B (n K_max |f_D| + sqrt(n) E2 |theta~|).

    [ScalingUp, eq. (18)], with |f_D|^2 = (theta^ - theta~)'K (theta^ - theta~). It holds; the
    printed left side is |U(f^) - U_B(f~_B)|, for which no argument is given.
    """
    at_hat = pair.loss(pair.exact(pair.theta_hat)) if U_full is None else U_full
    left = abs(at_hat - pair.loss(pair.approximate(pair.theta_tilde)))
    a = pair.approximation
    change = np.sqrt(a.truth.norm2(pair.theta_hat - pair.theta_tilde))
    size = float(np.linalg.norm(pair.theta_tilde))
    right = pair.N_max / pair.B * (a.n * a.K_max * change + np.sqrt(a.n) * a.E2 * size)
    return Step("eq. (18)", left, float(right))


def eq_19(pair: DrawnPair) -> Step:
    """Return lam/2 |theta^ - theta~|_H^2 <= F_B,k(theta~) - F_B,k(theta^). [ScalingUp, eq. (19)]"""
    lam, change = pair.drawn.lam, pair.theta_hat - pair.theta_tilde
    left = lam / 2 * pair.approximation.truth.norm2(change)
    return Step("eq. (19)", left, eq_20(pair).left)


def eq_20(pair: DrawnPair, line: str = "first") -> Step:
    """Return F_B,k(theta~) - F_B,k(theta^) and its bound. [ScalingUp, eq. (20)]"""
    check_choice("line", line, ("first", "last"))
    hat, tilde, lam = pair.theta_hat, pair.theta_tilde, pair.drawn.lam
    scores = [(pair.exact(t), pair.approximate(t)) for t in (hat, tilde)]
    (hat_exact, hat_near), (tilde_exact, tilde_near) = scores
    left = pair.loss(tilde_exact) + lam / 2 * float(tilde @ tilde_exact)
    left -= pair.loss(hat_exact) + lam / 2 * float(hat @ hat_exact)
    if line == "first":
        right = pair.loss(tilde_exact) - pair.loss(tilde_near)
        right += pair.loss(hat_near) - pair.loss(hat_exact)
    else:
        a = pair.approximation
        right = pair.N_max * a.E2 * np.sqrt(a.n) / pair.B * pair.sum_of_norms
    penalty = float(tilde @ (tilde_exact - tilde_near) - hat @ (hat_exact - hat_near))
    return Step(f"eq. (20), {line} line", left, float(right), float(right + lam / 2 * penalty))


def eq_21(pair: DrawnPair, p: float = 0.5) -> Step:
    """Return |theta^ - theta~|_H <= sqrt(2 N_max E2 sqrt(n) / (B lam)) (|theta~| + |theta^|)^p.

    [ScalingUp, eq. (21)]. In print the sum stands outside the root (p = 1); (19) and (20) give
    p = 1/2. `corrected` has p = 1/2, which is right for the theta~ of least norm (errata, E4).
    """
    a = pair.approximation
    left = np.sqrt(a.truth.norm2(pair.theta_hat - pair.theta_tilde))
    root = np.sqrt(2 * pair.N_max * a.E2 * np.sqrt(a.n) / (pair.B * pair.drawn.lam))
    right = root * pair.sum_of_norms ** check_number("p", p)
    corrected = root * np.sqrt(pair.sum_of_norms)
    return Step(f"eq. (21), p = {p:g}", float(left), float(right), float(corrected))


def _losses(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> tuple[float, float]:
    """Return both sides of (17)."""
    if full.space is not drawn.space or full.lam != drawn.lam:
        raise InputError("the full and the drawn problem must share their space and lam")
    scores = [full.space.scores(full.check_weights(at)) for at in (w, w_B)]
    U, U_B = np.array([[task.sums(s).value for s in scores] for task in (full, drawn)])
    return abs(float(U[0] - U_B[1])), float(np.abs(U_B - U).max())
