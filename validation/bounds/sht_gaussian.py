"""What [SHT, Theorem 2] says of restricted curvature on Gaussian rows, and what is right.

Rows of both classes are drawn from N(0, Sigma), lam is the least eigenvalue of Sigma^(1/2), r the
share of positives, and s the size of the supports, 2k + k* in the theorem. rho(Sigma), the largest
variance, is 1 throughout: scale the features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...exact.errors import InputError
from ...exact.tools.checks import check_choice, check_count, check_number
from ..extremes import highest

FORMS = ("printed", "corrected")


@dataclass(frozen=True)
class GaussianCurvature:
    """Bounds of the restricted curvature, rho- from below and rho+ from above."""

    minus: float
    plus: float
    base: float
    chance_minus: float
    chance_plus: float

    @property
    def ratio(self) -> float:
        """rho+ / rho-, infinite where rho- is not known to be positive."""
        return self.plus / self.minus if self.minus > 0 else math.inf


def sht_theorem2(
    n: int, d: int, s: int, r: float, b: int, lam: float = 1.0, form: str = "printed"
) -> GaussianCurvature:
    """Return rho- and rho+ for centred Gaussian rows in blocks of b. [SHT, Theorem 2]

        rho- = (lam/2 - 6 sqrt(2) sqrt(s log d / (r n)))^2 - (32/3) s log d / (r n)    (12)
        rho+ = 16 s log d (log(b)/2 + log d) / r                                       (13)

    [SHT, eq. (12), eq. (13)]

    Differs from the paper with form="corrected": 1. A negative base in (12) gives zero, not its
    square. 2. (13) has log n for log b: the largest of all rows is bounded, not that of one block.
    See E37 and E39 in `docs/errata.md`.
    """
    check_choice("form", form, FORMS)
    n, d, b = check_count("n", n), check_count("d", d, 2), check_count("b", b)
    s = check_count("s", s)
    check_number("r", r, high=0.5, closed="high")
    check_number("lam", lam)
    share = s * math.log(d) / (r * n)
    base = lam / 2 - 6 * math.sqrt(2 * share)
    printed = form == "printed"
    square = base**2 if printed else highest(base, 0.0) ** 2
    rows = b if printed else n
    plus = 16 * s * math.log(d) * (math.log(rows) / 2 + math.log(d)) / r
    return GaussianCurvature(
        minus=square - 32 / 3 * share,
        plus=plus,
        base=base,
        chance_minus=1 - math.exp(-r * n / 72) - 2 * s / d,
        chance_plus=1 - s / (2 * d),
    )


def rows_for_curvature(d: int, s: int, r: float, lam: float = 1.0) -> tuple[float, float]:
    """Return the n beyond which the base of (12) is positive, and beyond which all of (12) is.

    288 s log d / (lam^2 r), and (12 sqrt(2) + 2 sqrt(32/3))^2 s log d / (lam^2 r), which is
    552.4 of these units. [SHT, eq. (12)]
    """
    unit = s * math.log(d) / (lam**2 * r)
    return 288 * unit, (12 * math.sqrt(2) + 2 * math.sqrt(32 / 3)) ** 2 * unit


def ratio_coefficients(
    n: int, d: int, s: int, b: int, lam: float = 1.0, form: str = "printed"
) -> tuple[float, float, float]:
    """Return a, b, c of rho(r) = 16 / (a r + b sqrt(r) + c). [SHT, eq. (14)]

    Differs from the paper with form="corrected": the logarithm L = log(b)/2 + log d of the
    coefficient b stands outside the root, as (13) divided by (12) gives. See E40.
    """
    check_choice("form", form, FORMS)
    log_d, L = math.log(check_count("d", d, 2)), math.log(check_count("b", b)) / 2 + math.log(d)
    inside = n * s * log_d * (L if form == "printed" else L**2)
    return (
        lam**2 / (4 * s * log_d * L),
        -6 * math.sqrt(2) * lam / math.sqrt(inside),
        184 / (3 * n * L),
    )


def least_curvature(
    sizes: Sequence[int], d: int, s: int, lam: float = 1.0, eps: float = 0.05
) -> float:
    """Return a lower bound of rho-_s that holds with probability 1 - 2 eps. [SHT, Theorem 2]

        rho-_s >= 2 lam^2 sum over classes of (m/n_c) ((1 - sqrt(s/m) - sqrt(2 log(N/eps)/m))_+)^2

    with m = n_c - 1 and log N = s log(e d / s). Rows are independent, those of a class N(its mean,
    Sigma), labels fixed. M is at least Sigma+ + Sigma-, so that nothing need be subtracted for the
    means, and the means may be any. A class with s > m adds nothing.
    """
    check_number("eps", eps, high=1.0)
    if not 1 <= s <= d:
        raise InputError(f"s must lie between 1 and d = {d}, not {s}")
    logs = s * math.log(math.e * d / s) + math.log(1 / eps)
    total = 0.0
    for size in sizes:
        m = check_count("a class size", size) - 1
        if m >= s:
            base = 1 - math.sqrt(s / m) - math.sqrt(2 * logs / m)
            total += m / size * highest(base, 0.0) ** 2
    return 2 * lam**2 * total
