"""What a bound is here, and [ScalingUp, Theorem 4] as printed: its right side, the steps of its
proof, and an instance on which it is false. How to call them: `docs/bounds.md`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from ...exact import InputError, PairList, Problem
from ...exact.tools.arrays import check_choice, check_count, check_number
from ..extremes import above, highest, lowest
from .kernel import Approximation, check_approximation

DELTA = 0.05
# The exponent of n in the last term: in print, and as (21) put into (18) gives it.
PRINTED, REPAIRED = 1.5, 2.5
IN_FLOATS = "evaluated in floating point, without a bound of its rounding"


@dataclass(frozen=True)
class Bound:
    """The right side of a theorem, term by term, next to the left side where that is known."""

    name: str
    terms: Mapping[str, float]
    left_side: float | None = None
    limit: float = 1.0
    at_least: float = 0.0
    alternatives: Mapping[str, float] = field(default_factory=dict)
    quantities: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """The right side, infinite where it is undefined. Theorem 4' is rounded up, ingredients
        included; the others are evaluated in floating point, and a note says so."""
        return float(sum(self.terms.values()))

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing."""
        return not self.total < self.limit

    @property
    def violated(self) -> bool | None:
        """Whether the left side is above the bound; None where it is not known."""
        return None if self.left_side is None else above(self.left_side, self.total)

    @property
    def ratio(self) -> float | None:
        """The bound over the true error, infinite where that is zero."""
        if self.left_side is None:
            return None
        return self.total / self.left_side if above(self.left_side, 0.0) else float("inf")

    def __str__(self) -> str:
        left = "" if self.left_side is None else f"{self.left_side:.4g} <= "
        parts = " + ".join(f"{value:.4g} ({name})" for name, value in self.terms.items())
        say = ", which says nothing" if self.vacuous else ""
        return f"{self.name}: {left}{self.total:.4g} = {parts}{say}"


@dataclass(frozen=True)
class Norms:
    """Upper bounds of the norms of the exact minimisers: f^ (full), f^_B (drawn), f^_P (projected)
    and f~_B (drawn_projected). None where not known."""

    full: float | None = None
    drawn: float | None = None
    projected: float | None = None
    drawn_projected: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                check_number(f"the norm `{name}`", value, closed="low")


@dataclass(frozen=True)
class Theorem4:
    """The right side of [ScalingUp, Theorem 4]. C, C_B, C_tilde bound |f^|^2, |f^_B|^2, |f~_B|^2;
    one row is drawn N_max times at most; E2 = |K - K~|; lam_min and lam_plus are the least
    (nonzero) eigenvalues of K and K~; K_max is the largest root of a K_ii."""

    n: float
    B: float
    lam: float
    N_max: float
    E2: float
    lam_min: float
    lam_plus: float
    C: float
    C_B: float
    C_tilde: float
    K_max: float = 1.0
    delta: float = DELTA

    def terms(self, exponent: float = PRINTED, root: float = 0.5) -> tuple[float, float, float]:
        """Return the term of sampling and the two of Nystrom."""
        A1 = (1 + 2 * self.K_max * np.sqrt(highest(self.C, self.C_B))) / np.sqrt(2)
        A2 = np.sqrt(self.C_tilde / self.lam_plus) if self.lam_plus else np.inf
        norms = np.sqrt(self.C / self.lam_min) + A2 if self.lam_min else np.inf
        A3 = self.K_max * np.sqrt(2 / self.lam) * norms**root
        last = A3 * np.sqrt(self.N_max * self.E2 * self.n**exponent / self.B)
        first = A1 * np.sqrt(np.log(4 / self.delta) / self.B)
        second = self.N_max / self.B * A2 * self.E2 * np.sqrt(self.n)
        return float(first), float(second), float(self.N_max / self.B * last)

    def bound(self, exponent: float = PRINTED, root: float = 0.5) -> float:
        return sum(self.terms(exponent, root))


def theorem4(
    approximation: Approximation,
    lam: float,
    B: int | None = None,
    *,
    delta: float = 0.05,
    pairs: PairList | None = None,
    N_max: float | None = None,
    C: str = "1/lam",
    norms: Norms | None = None,
    p: float = 0.5,
    power: float = PRINTED,
    left_side: float | None = None,
) -> Bound:
    """Return the right side of Theorem 4 as printed. [ScalingUp, Theorem 4]

    With probability 1 - delta over D_B it is said to bound |U(f^) - U_B(f~_B)|:

        A1 sqrt(log(4/delta) / B) + N_max/B (A2 E2 sqrt(n) + A3 sqrt(N_max E2 n^power / B)),
        A1 = (1 + 2 K_max sqrt(max(C, C_B))) / sqrt(2),    A2 = sqrt(C~_B / lam~+),
        A3 = K_max sqrt(2 / lam) (sqrt(C / lam_min) + sqrt(C~_B / lam~+))^p.

    As printed (power 3/2) it is false, see E7 in `docs/errata.md`, and with power 5/2 unproved.

    Parameters
    ----------
    approximation : Approximation
    lam, p, power : float > 0
        p is 1/2 in the theorem, 1 in the appendix; power is 3/2 in print, 5/2 as algebra gives.
    B : int >= 1, optional
        Number of drawn pairs; the length of `pairs` by default.
    delta : float in (0, 1)
    pairs : PairList, optional
        The drawn pairs, for the realised N_max.
    N_max : float > 0, optional
        How often one row is drawn at most. With neither, what is exceeded with probability 0.001.
    C : {"1/lam", "2/lam", "realised"}
        The bounds C, C_B, C~_B. The first two always hold; "realised" takes them from `norms`.
    norms : Norms, optional
        full, drawn, drawn_projected.
    left_side : float, optional
        The true |U(f^) - U_B(f~_B)|.

    Returns
    -------
    Bound
        Terms "A1", "A2", "A3". Where floating point cannot tell lam_min from 0, the total is
        infinite, and `at_least` is the value at the largest possible lam_min.

    Raises
    ------
    InputError
        For numbers out of range, pairs of other rows, or norms that are missing.
    """
    check_approximation(approximation, lam, delta)
    check_number("p", p)
    check_number("power", power)
    if B is None:
        if pairs is None:
            raise InputError("give B, the number of drawn pairs, or the pairs")
        if np.ptp(pairs.c) > 1e-12 * pairs.c.max():
            raise InputError("the pairs have weights of their own: give B, the number of draws")
        B = int(pairs.i.size)
    B, K = check_count("B", B), approximation
    notes = ["D_B: B pairs drawn uniformly, with replacement", IN_FLOATS]
    if N_max is None and pairs is not None:
        N_max = float(B * pairs.on(K.positive).row_mass().max())
    elif N_max is None:
        N_max, tail = often(*K.sizes, B)
        notes.append(f"N_max is replaced by {N_max:g}, exceeded with probability {tail:.1g}")
    check_choice("C", C, ("realised", "1/lam", "2/lam"))
    if C == "realised":
        known = norms or Norms()
        given = (known.full, known.drawn, known.drawn_projected)
        squares = [norm**2 for norm in given if norm is not None]
        if len(squares) < 3:
            missing = "the norms full, drawn and drawn_projected: give `norms`"
            raise InputError(f'C = "realised" needs {missing}')
    else:
        squares = [float(C[0]) / lam] * 3
    sizes = K.n, B, lam, check_number("N_max", N_max), K.E2, K.lam_min.low, K.lam_plus.low
    formula = Theorem4(*sizes, *squares, K_max=K.K_max, delta=delta)
    if K.lam_min.high == 0:
        notes.append("K is singular: the bound is undefined")
    elif K.lam_min.low == 0:
        notes.append(f"the smallest eigenvalue of K is below {K.lam_min.high:.1g}, maybe 0")
    return Bound(
        f"Theorem 4, n^{power:g}, p = {p:g}, C {C}",
        dict(zip(("A1", "A2", "A3"), formula.terms(power, p), strict=True)),
        left_side,
        at_least=replace(formula, lam_min=K.lam_min.high, lam_plus=K.lam_plus.high).bound(power, p),
        quantities={name: float(value) for name, value in vars(formula).items()},
        notes=tuple(notes),
    )


def often(n_pos: float, n_neg: float, B: float, level: float = 1e-3) -> tuple[float, float]:
    """Return a t and a bound of P(N_max > t), at most `level`, by a union over the rows."""
    sizes = (n_pos, n_neg)
    t = highest(float(stats.binom.isf(level / (2 * m), B, 1 / m)) for m in sizes)
    return t, float(sum(m * stats.binom.sf(t, B, 1 / m) for m in sizes))


# The steps of the printed proof of [ScalingUp, Theorem 4], each as a left and a right side, for any
# (near) minimisers f^ of the full problem, f^_B of the drawn one and f~_B of the drawn one with K~.
# Inexact minimisers change the sides by what their certified radius allows, and both are evaluated
# in floating point: a verdict needs more room than that.


@dataclass(frozen=True)
class Step:
    """left <= right is what is printed; `corrected` is a right side that does hold, if known."""

    place: str
    left: float
    right: float
    corrected: float | None = None

    @property
    def holds(self) -> bool:
        return self.left <= self.right


def eq_17(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> Step:
    """Return |U(f^) - U_B(f^_B)| <= max of |U_B(f) - U(f)| over f^ and f^_B. [ScalingUp, eq. (17)]
    Wrong as printed: the two minimise loss plus penalty. `corrected` adds the difference of the
    penalties, lam/2 | |f^_B|^2 - |f^|^2 |, that was left out."""
    left, right = _losses(full, drawn, w, w_B)
    penalties = full.lam / 2 * abs(full.space.norm2(w_B) - full.space.norm2(w))
    return Step("eq. (17)", left, right, right + penalties)


def eq_17_objectives(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> Step:
    """Return |p* - p*_B| <= the right side of eq. (17), its correct form."""
    _, right = _losses(full, drawn, w, w_B)
    return Step("eq. (17) for p*", abs(full.objective(w) - drawn.objective(w_B)), right, right)


def hoeffding(
    full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray,
    B: int, K_max: float, C_max: float, delta: float = DELTA,
) -> Step:  # fmt: skip
    """Return max |U_B(f) - U(f)| <= (1 + 2 K_max sqrt(C_max)) sqrt(log(4/delta) / (2B)), the second
    display after eq. (17), said to hold with probability 1 - delta. f^_B depends on the draw, so
    that Hoeffding's inequality does not apply to it. [ScalingUp, Theorem 4]"""
    check_number("delta", delta, 0.0, 1.0)
    check_number("C_max", C_max, closed="low")
    right = (1 + 2 * K_max * np.sqrt(C_max)) * np.sqrt(np.log(4 / delta) / (2 * B))
    return Step("Hoeffding", _losses(full, drawn, w, w_B)[1], float(right))


def _losses(full: Problem, drawn: Problem, w: np.ndarray, w_B: np.ndarray) -> tuple[float, float]:
    if full.space is not drawn.space or full.lam != drawn.lam:
        raise InputError("the full and the drawn problem must share their space and lam")
    scores = [full.space.scores(full.check_weights(at)) for at in (w, w_B)]
    U, U_B = np.array([[task.sums(s).value for s in scores] for task in (full, drawn)])
    return abs(float(U[0] - U_B[1])), float(np.abs(U_B - U).max())


@dataclass(eq=False)
class DrawnPair:
    """f^_B and f~_B as expansions in the rows, for eqs. (18) to (21). [ScalingUp, eq. (16)]"""

    approximation: Approximation
    drawn: Problem
    B: int
    theta_hat: np.ndarray
    theta_tilde: np.ndarray

    def __post_init__(self) -> None:
        a, hat, tilde = self.approximation, self.theta_hat, self.theta_tilde
        for name, theta in (("theta_hat", hat), ("theta_tilde", tilde)):
            if theta.shape != (a.n,):
                raise InputError(f"{name} must have one number per row: {a.n}")
        K, V = a.truth, a.features
        # K theta and K~ theta of each; their losses; |theta~| + |theta^|; |theta^ - theta~|_H^2.
        self.scores = [(K.scores(theta), V @ (V.T @ theta)) for theta in (hat, tilde)]
        self.losses = [[self.drawn.sums(s).value for s in both] for both in self.scores]
        self.sum_of_norms = float(np.linalg.norm(tilde) + np.linalg.norm(hat))
        self.change2 = K.norm2(hat - tilde)

    @property
    def N_max(self) -> float:
        """How often the row that is drawn most is drawn."""
        return self.B * float(self.drawn.pairs.row_mass().max())


def eq_18(pair: DrawnPair) -> Step:
    """Return |U_B(f^_B) - U_B(f~_B)| <= N_max/B (n K_max |f_D| + sqrt(n) E2 |theta~|). [ScalingUp,
    eq. (18)], with |f_D| = |theta^ - theta~|_H. It holds; the printed left side is
    |U(f^) - U_B(f~_B)|, for which no argument is given."""
    a, (hat, _), (_, tilde) = pair.approximation, *pair.losses
    change, size = np.sqrt(pair.change2), float(np.linalg.norm(pair.theta_tilde))
    right = pair.N_max / pair.B * (a.n * a.K_max * change + np.sqrt(a.n) * a.E2 * size)
    return Step("eq. (18)", abs(hat - tilde), float(right))


def eq_19(pair: DrawnPair) -> Step:
    """Return lam/2 |theta^ - theta~|_H^2 <= F_B,k(theta~) - F_B,k(theta^). [ScalingUp, eq. (19)]"""
    return Step("eq. (19)", pair.drawn.lam / 2 * pair.change2, eq_20(pair).left)


def eq_20(pair: DrawnPair, line: str = "first") -> Step:
    """Return F_B,k(theta~) - F_B,k(theta^) and its bound. [ScalingUp, eq. (20)]"""
    check_choice("line", line, ("first", "last"))
    hat, tilde, lam, a = pair.theta_hat, pair.theta_tilde, pair.drawn.lam, pair.approximation
    (hat_exact, hat_near), (tilde_exact, tilde_near) = pair.scores
    (U_hat, U_hat_near), (U_tilde, U_tilde_near) = pair.losses
    left = U_tilde + lam / 2 * float(tilde @ tilde_exact)
    left -= U_hat + lam / 2 * float(hat @ hat_exact)
    right = pair.N_max * a.E2 * np.sqrt(a.n) / pair.B * pair.sum_of_norms
    if line == "first":
        right = U_tilde - U_tilde_near + (U_hat_near - U_hat)
    penalty = float(tilde @ (tilde_exact - tilde_near) - hat @ (hat_exact - hat_near))
    return Step(f"eq. (20), {line} line", left, float(right), float(right + lam / 2 * penalty))


def eq_21(pair: DrawnPair, p: float = 0.5) -> Step:
    """Return |theta^ - theta~|_H <= sqrt(2 N_max E2 sqrt(n) / (B lam)) (|theta~| + |theta^|)^p.

    [ScalingUp, eq. (21)]. In print the sum stands outside the root (p = 1); (19) and (20) give
    p = 1/2, as `corrected` has it: right for the theta~ of least norm (errata, E4)."""
    a, sizes = pair.approximation, pair.sum_of_norms
    root = np.sqrt(2 * pair.N_max * a.E2 * np.sqrt(a.n) / (pair.B * pair.drawn.lam))
    right, corrected = (float(root * sizes**power) for power in (check_number("p", p), 0.5))
    return Step(f"eq. (21), p = {p:g}", float(np.sqrt(pair.change2)), right, corrected)


@dataclass(eq=False)
class ClusterInstance:
    """The instance on which [ScalingUp, Theorem 4] as printed is false, in closed form.

    n rows, half of each class. A mixed cluster holds a share q of them, half of each class; the
    others lie in m pure clusters of equal size, half of these positive. With eta that of the
    cluster, K = (1 - eta) [same cluster] + eta [same row] is positive definite. One landmark is
    drawn uniformly: with probability q it lies in the mixed cluster, and then f~_B can tell no pure
    cluster from another, while f^ separates them. By symmetry f^ is P and -P on the positive and
    negative rows of pure clusters, Q and -Q on those of the mixed one. With
    kappa = eta + (1 - eta) (1 - q) n / m the large eigenvalue of K on a pure cluster,

        F = (1-q)^2 [1-2P]_+ + q^2 [1-2Q]_+ + 2q(1-q) [1-P-Q]_+
            + lam n/2 ((1-q) P^2 / kappa + q Q^2 / eta_mixed).
    """

    n: float
    m: int
    q: float
    eta_mixed: float
    eta_pure: float
    lam: float

    def __post_init__(self) -> None:
        n, q, lam, eta = self.n, self.q, self.lam, self.eta_mixed
        kappa = self.eta_pure + (1 - self.eta_pure) * (1 - q) * n / self.m
        # While P + Q < 1 they separate; P stays at 1/2 where its hinge has a kink.
        curvature = lam * (1 - q) * n / kappa
        P, Q = 2 * (1 - q) / curvature, 2 * eta / (lam * n)
        if P > 0.5:  # the pure pairs are beyond the margin: only the mixed ones still pull
            P = highest(0.5, 2 * q * (1 - q) / curvature)
        if P + Q > 1 or Q > 0.5:
            raise InputError(f"lam = {lam:g} is too small for the closed form: raise lam")
        pure = (1 - q) ** 2 * highest(0.0, 1 - 2 * P)
        self.loss = pure + q**2 * (1 - 2 * Q) + 2 * q * (1 - q) * (1 - P - Q)  # U(f^)
        self.norm2 = n * ((1 - q) * P**2 / kappa + q * Q**2 / eta)  # |f^|^2
        # With the landmark in the mixed cluster: |K - K~|, and the nonzero eigenvalue of K~.
        self.kernel_error = highest(kappa, eta * (1 - eta) * (q * n - 1) + eta)
        self.landmark_eigenvalue = (1 - eta) ** 2 * (q * n - 1) + 1
        self.smallest_eigenvalue = lowest(eta, self.eta_pure)  # of K

    def pull(self, B: float, missed: float) -> float:
        """Return what |g| exceeds with probability `missed` at most. The landmark lies in the mixed
        cluster, so that f~_B = b v with v the column of K and b one number; g, the mean over the
        drawn pairs of v_i - v_j, is the mean of B draws in [-1, 1] with |E g| <= 2 eta_mixed / n.
        Hoeffding: |g - E g| <= sqrt(2 log(2 / missed) / B) but with probability `missed`."""
        return float(2 * self.eta_mixed / self.n + np.sqrt(2 * np.log(2 / missed) / B))

    def left_side(self, B: float, missed: float = 1e-6) -> float:
        """Return a lower bound of |U(f^) - U_B(f~_B)|; it does not hold with probability `missed`.
        The loss at b is 1 - g b or more (see `pull`): |b| <= |g| / lam, 1 - g^2 / lam <= U_B <= 1.
        """
        return 1 - self.pull(B, missed) ** 2 / self.lam - self.loss

    def theorem4(self, B: float, N_max: float, norms: tuple[float, ...] = ()) -> Theorem4:
        """Return the right side of Theorem 4, the landmark in the mixed cluster. `norms` are C, C_B
        and C~_B, by default 1/lam each, which is always valid."""
        sizes = (self.kernel_error, self.smallest_eigenvalue, self.landmark_eigenvalue)
        return Theorem4(self.n, B, self.lam, N_max, *sizes, *(norms or (1 / self.lam,) * 3))

    def dense(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return K (n, n), the mask of the positive rows, and a row of the mixed cluster."""
        n, size = int(self.n), (1 - self.q) * self.n / self.m
        mixed = round(self.q * n)
        if self.m % 2 or mixed % 2 or size != int(size) or mixed != self.q * n:
            raise InputError("m and q n must be even, and (1 - q) n / m a whole number")
        cluster = np.concatenate([np.zeros(mixed, int), 1 + np.arange(n - mixed) // int(size)])
        eta = np.where(cluster == 0, self.eta_mixed, self.eta_pure)
        K = (1 - eta) * (cluster[:, None] == cluster[None, :]) + np.diag(eta)
        return K, np.where(cluster == 0, np.arange(n) % 2 == 0, cluster % 2 == 1), 0


def most_often(n: float, B: float, level: float = 0.1) -> tuple[float, float]:
    """Return a t and a bound of P(N_max > t) for balanced classes, by a union over the n rows. The
    binomial tail of a row is exact up to n = 1e12, where the floats of a quantile end; beyond it is
    Chernoff's, P(X >= a) <= exp(a - mean) (mean / a)^a for a > mean."""
    if n <= 1e12:
        return often(n / 2, n / 2, B, level)
    mean = 2 * B / n
    a = np.arange(int(mean) + 2, int(10 * mean) + 200, dtype=float)
    tails = n * np.exp(a - mean - a * np.log(a / mean))
    at = int(np.argmax(tails <= level))
    return float(a[at]) - 1, float(tails[at])
