"""Error bounds on anybody's data: what a bound is here, and [ScalingUp, Theorem 4] as printed.

`prime.py` has the corrected theorem, `steps.py` the steps of the printed proof,
`sht.py` the convergence theorem of sparse AUC. How to call them: `docs/bounds.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from ...exact.errors import InputError
from ...exact.pairs.all_pairs import PairList
from ...exact.tools.checks import check_choice, check_count, check_number
from ..extremes import above, highest
from .kernel import Approximation, check_approximation

DELTA = 0.05
# The exponent of n in the last term: in print, and as (21) put into (18) gives it.
PRINTED, REPAIRED = 1.5, 2.5
IN_FLOATS = "evaluated in floating point, without a bound of its rounding"

RARELY = 1e-3  # Chance that N_max exceeds what stands for it where no pairs are given.


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
        """The right side; infinite where it is undefined.

        Of Theorem 4' it is rounded up, ingredients included; of the theorems as printed, and of
        [SHT, Theorem 1], it is evaluated in floating point, and a note says so.
        """
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
        """The bound over the true error, infinite where that is zero; None where not known."""
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
    """Norms |f| of the exact minimisers, or upper bounds of them; None where not known.

    full : of f^, all pairs and the kernel itself
    drawn : of f^_B, the drawn pairs and the kernel itself
    projected : of f^_P, all pairs and the approximation
    drawn_projected : of f~_B, the drawn pairs and the approximation
    """

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
    """The quantities in the right side of [ScalingUp, Theorem 4].

    C, C_B, C_tilde bound |f^|^2, |f^_B|^2 and |f~_B|^2; N_max is the largest number of times that
    one row is drawn; E2 the spectral norm of K - K~; lam_min and lam_plus the smallest and the
    smallest nonzero eigenvalue of K and K~; K_max the largest root of K_ii.
    """

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
        return (
            float(A1 * np.sqrt(np.log(4 / self.delta) / self.B)),
            float(self.N_max / self.B * A2 * self.E2 * np.sqrt(self.n)),
            float(self.N_max / self.B * last),
        )

    def bound(self, exponent: float = PRINTED, root: float = 0.5) -> float:
        """Return the right side."""
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
        K and K~ on the rows.
    lam : float
        > 0.
    B : int, optional
        Number of drawn pairs; the length of `pairs` by default.
    delta : float in (0, 1)
    pairs : PairList, optional
        The drawn pairs, for the realised N_max.
    N_max : float, optional
        The largest number of times that one row is drawn. With neither, a number that it exceeds
        with probability 0.001 at most.
    C : {"1/lam", "2/lam", "realised"}
        The bounds C, C_B, C~_B of the squared norms. 1/lam always holds, and so does 2/lam;
        "realised" takes them from `norms`: full, drawn, drawn_projected.
    norms : Norms, optional
    p : float
        Power of the sum in A3: 1/2 in the theorem, 1 in the appendix's displays.
    power : float
        Of n in the last term: 3/2 in print, 5/2 as the algebra gives.
    left_side : float, optional
        The true |U(f^) - U_B(f~_B)|.

    Returns
    -------
    Bound
        Terms "A1", "A2", "A3". Where floating point cannot tell lam_min from 0 the total is
        infinite and `at_least` has the value at the largest possible lam_min. The right side
        falls as lam_min grows.

    Raises
    ------
    InputError
        For numbers out of range, pairs of other rows, or norms that are missing.
    """
    check_approximation(approximation, lam)
    check_number("delta", delta, 0.0, 1.0)
    check_number("p", p)
    check_number("power", power)
    B = _count_of(B, pairs)
    notes = ["D_B: B pairs drawn uniformly, with replacement", IN_FLOATS]
    if pairs is None and N_max is None:
        N_max, tail = often(*approximation.sizes, B)
        notes.append(f"N_max is replaced by {N_max:g}, exceeded with probability {tail:.1g}")
    elif pairs is not None and N_max is None:
        N_max = float(B * pairs.on(approximation.positive).row_mass().max())
    N_max = check_number("N_max", N_max)
    lam_min, lam_plus = approximation.lam_min, approximation.lam_plus
    spectrum = approximation.E2, lam_min.low, lam_plus.low
    rest = *_squares(C, lam, norms), approximation.K_max, delta
    formula = Theorem4(approximation.n, B, lam, N_max, *spectrum, *rest)
    upper = replace(formula, lam_min=lam_min.high, lam_plus=lam_plus.high)
    if lam_min.high == 0:
        notes.append("K is singular: the bound is undefined")
    elif lam_min.low == 0:
        notes.append(f"the smallest eigenvalue of K is below {lam_min.high:.1g}, maybe 0")
    return Bound(
        f"Theorem 4, n^{power:g}, p = {p:g}, C {C}",
        dict(zip(("A1", "A2", "A3"), formula.terms(power, p), strict=True)),
        left_side,
        at_least=upper.bound(power, p),
        quantities={name: float(value) for name, value in vars(formula).items()},
        notes=tuple(notes),
    )


def _squares(C: str, lam: float, norms: Norms | None) -> tuple[float, float, float]:
    """Return C, C_B and C~_B."""
    check_choice("C", C, ("realised", "1/lam", "2/lam"))
    if C != "realised":
        one = float(C[0]) / lam
        return one, one, one
    known = norms or Norms()
    full, drawn, projected = known.full, known.drawn, known.drawn_projected
    if full is None or drawn is None or projected is None:
        raise InputError(
            'C = "realised" needs the norms full, drawn and drawn_projected: give `norms`'
        )
    return full**2, drawn**2, projected**2


def _count_of(B: int | None, pairs: PairList | None) -> int:
    """Return B, or the number of pairs where it is not given; raise `InputError` on neither."""
    if B is not None:
        return check_count("B", B)
    if pairs is None:
        raise InputError("give B, the number of drawn pairs, or the pairs")
    if np.ptp(pairs.c) > 1e-12 * pairs.c.max():
        raise InputError("the pairs have weights of their own: give B, the number of draws")
    return int(pairs.i.size)


def often(n_pos: int, n_neg: int, B: int, level: float = RARELY) -> tuple[float, float]:
    """Return a t and a bound of P(N_max > t), at most `level`, by a union over the rows."""
    sizes = (n_pos, n_neg)
    t = highest(float(stats.binom.isf(level / (2 * m), B, 1 / m)) for m in sizes)
    return t, float(sum(m * stats.binom.sf(t, B, 1 / m) for m in sizes))
