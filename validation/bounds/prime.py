"""Theorem 4', the corrected form of [ScalingUp, Theorem 4], on anybody's data; its hypotheses and
its proof are in `docs/theorem-4-prime.md`. Probability is over the B drawn pairs D_B alone.

    Rp = max |P(k_i - k_j)|,  R2^2 = mean |P(k_i - k_j)|^2,  R = max |k_i - k_j|  over all pairs,
    L = log(2/delta),  l = sqrt(2 L),  z = (R2 + Rp l) / sqrt(B),
    Sp = min(1/sqrt(lam), Rp/lam),  S = min(1/sqrt(lam), R/lam),
    q = c'(K - K~)c,  c the signed marginals of an optimal dual point of the full projected problem,
    q <= 2 lam eps_N,  eps_N = E2 (1/n_pos + 1/n_neg) / (2 lam).

**(A)** p*_P - p* <= q / (2 lam), and |f^_P - f^| <= sqrt(q) / lam.
**(I)** With probability 1 - delta, F(f~_B) - p* is at most q / (2 lam) plus the smaller of
    (R2 + Rp l)(2 R2 + Rp l) / (lam B)   and   2 Sp R2 / sqrt(B) + 2 (1 + Rp Sp) sqrt(L / (2B)).
**(II)** With probability 1 - delta and H = (1 + Rp |f^_P|) sqrt(log(4/delta) / (2B)),
|U(f^) - U_B(f~_B)| is at most the smaller of
    H + max(z^2, q) / (2 lam) + (|f^| + |f~_B|)(z + sqrt(q)) / 2  and  H + (R sqrt(q) + Rp z) / lam.

A priori q is replaced by 2 lam eps_N, |f^| by S, |f^_P| and |f~_B| by Sp. Where solvers stop early,
q / (2 lam) gains the gap of the dual point; with F_B(f~) - p~_B <= eps, z becomes z + sqrt(2 lam
eps) in (I), which gains eps, and (II) gains Rp sqrt(2 eps / lam), and R sqrt(2 gap_full / lam) if
its left side was measured at an f with F(f) - p* <= gap_full. Totals are rounded up: so is each
ingredient (`kernel.py`), and each term by more than it rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exact import InputError, Solution
from ...exact.tools.arrays import check_choice, check_count, check_number
from ...exact.tools.rounding import gamma
from ..extremes import highest, lowest
from .kernel import Approximation, check_approximation
from .printed import Bound, Norms

SEMIDEFINITE = "K - K~ is semidefinite: of Nystrom's features up to their rounding"
HYPOTHESES = (
    "D_B: B pairs drawn independently and uniformly from all pairs, with replacement",
    "lam, B, kernel and landmarks were chosen without a look at D_B",
    SEMIDEFINITE,
)

# Why (I) is called vacuous from 1 on, though its left side can exceed 1.
COMPARED = "f = 0 loses at most 1 on the full problem: from 1 on the bound does not beat that"

UP = 1 + gamma(256)  # more than a term rounds: fewer than 100 operations on numbers >= 0


@dataclass(frozen=True, eq=False)
class Projected:
    """The dual point of the problem with all pairs and K~; D_B does not enter it."""

    marginals: np.ndarray
    gap: float = 0.0

    def __post_init__(self) -> None:
        check_number("gap", self.gap, closed="low")

    @classmethod
    def of(cls, solution: Solution) -> Projected:
        return cls(solution.witness.c, solution.certificate.gap)


def theorem4_prime(
    approximation: Approximation,
    lam: float,
    B: int | None = None,
    *,
    part: str = "II",
    delta: float = 0.05,
    projected: Projected | None = None,
    norms: Norms | None = None,
    eps: float = 0.0,
    gap_full: float = 0.0,
    tuned_over: int = 1,
    with_replacement: bool = True,
    left_side: float | None = None,
) -> Bound:
    """Return a part of Theorem 4', which corrects [ScalingUp, Theorem 4].

    Parameters
    ----------
    approximation : Approximation
    lam : float > 0
    B : int >= 1, optional
        Number of drawn pairs; (A) needs none.
    part : {"II", "I", "A"}
        (II) bounds |U(f^) - U_B(f~_B)|, the paper's quantity; (I) bounds F(f~_B) - p*, what f~_B
        loses on the full problem; (A) bounds p*_P - p*, what the approximation loses, always.
    delta : float in (0, 1)
    projected : Projected, optional
        Makes the bound a posteriori; a priori without.
    norms : Norms, optional
        For (II): full, projected, drawn_projected. What is missing is replaced by S or Sp.
    eps : float >= 0
        f~ is the exact f~_B up to F_B(f~) - p~_B <= eps. Fixed before the draw in (I).
    gap_full : float >= 0
        The f that stands for f^ in `left_side` of (II) has F(f) - p* <= gap_full.
    tuned_over : int >= 1
        Number of settings (of lam, say) of which D_B chose one: delta is divided by it.
    with_replacement : bool
        False is refused: the proof does not cover it.
    left_side : float, optional
        The true error; for (I), F may be U + lam/2 |w|^2 in the features, p* a certified primal.

    Returns
    -------
    Bound
        Terms: (A) "nystrom"; (I) also "sampling"; (II) "hoeffding" and of the smaller branch
        "objectives" and "penalties", or "full change" and "drawn change"; "inexact" for solvers
        that stopped early. `alternatives` has the totals of both forms.

    Raises
    ------
    InputError
        For numbers out of range, or draws without replacement.
    """
    check_choice("part", part, ("A", "I", "II"))
    check_approximation(approximation, lam, delta)
    check_number("eps", eps, closed="low")
    check_number("gap_full", gap_full, closed="low")
    if not with_replacement:
        raise InputError("Theorem 4' is for pairs drawn with replacement: its proof needs that")
    nystrom, gap = _loss(approximation, lam, projected)
    cost = nystrom + gap
    name = f"Theorem 4' ({part}), {'a posteriori' if projected else 'a priori'}"
    if part == "A":
        notes = ("holds always, for any landmarks", SEMIDEFINITE)
        terms = {"nystrom": nystrom, "inexact": gap}
        return _rounded_up(name, terms, left_side=left_side, notes=notes)
    if B is None:
        raise InputError(f"part {part} needs B, the number of drawn pairs")
    notes = HYPOTHESES
    if check_count("tuned_over", tuned_over) > 1:
        notes = (*notes, f"one of {tuned_over} settings was chosen by D_B: delta / {tuned_over}")
    radii = approximation.R, approximation.Rp, approximation.R2
    s = _Sizes(lam, check_count("B", B), delta / tuned_over, *radii)
    given: dict[str, Any] = {"left_side": left_side, "quantities": vars(s)}
    if part == "I":
        forms = s.sampling(eps)
        exact, sampling = lowest(s.sampling().values()), lowest(forms.values())
        inexact = sampling - exact + eps + gap
        terms = {"sampling": exact, "nystrom": nystrom, "inexact": inexact}
        totals = {form: value + eps + cost for form, value in forms.items()}
        return _rounded_up(name, terms, totals, notes=(*notes, COMPARED), **given)
    norms = norms or Norms()
    known = (norms.full, s.S), (norms.projected, s.Sp), (norms.drawn_projected, s.Sp)
    full, f_P, f_B = (most if norm is None else norm for norm, most in known)
    slack = float(s.R * np.sqrt(2 * gap_full / lam) + s.Rp * np.sqrt(2 * eps / lam))
    away = np.sqrt(2 * cost / lam)  # >= |f^_P - f^|
    H = (1 + s.Rp * f_P) * np.sqrt(np.log(4 / s.delta) / (2 * s.B))
    penalties = {"objectives": highest(s.z**2 / (2 * lam), cost)}
    penalties["penalties"] = 0.5 * (full + f_B) * (s.z + lam * away)
    lipschitz = {"full change": s.R * away, "drawn change": s.Rp * s.z / lam}
    branches = {"penalties": penalties, "lipschitz": lipschitz}
    totals = {key: float(H + slack + sum(value.values())) for key, value in branches.items()}
    best = branches[lowest(totals, key=lambda key: totals[key])]
    terms = {"hoeffding": H, **best, "inexact": slack}
    given["quantities"] = vars(s) | {"q": 2 * lam * nystrom}
    return _rounded_up(name, terms, totals, notes=notes, **given)


def sandwich(
    approximation: Approximation, lam: float, full: Projected, projected: Projected
) -> tuple[float, float]:
    """Return bounds of p*_P - p*, u^'E u^ / (2 lam) - gap and u_P'E u_P / (2 lam) + gap_P: (A)."""
    least = approximation.error_interval(full.marginals).low
    low = least / (2 * check_number("lam", lam) * UP) - full.gap * UP
    return highest(low, 0.0), sum(_loss(approximation, lam, projected)) * UP


def _loss(
    approximation: Approximation, lam: float, projected: Projected | None
) -> tuple[float, float]:
    """Return q / (2 lam), and the gap of the dual point."""
    if projected is None:
        n_pos, n_neg = approximation.sizes
        return approximation.E2 * (1 / n_pos + 1 / n_neg) / (2 * lam), 0.0
    return approximation.error_interval(projected.marginals).high / (2 * lam), projected.gap


def _rounded_up(
    name: str, terms: Mapping[str, float], alternatives: Mapping[str, float] = {}, **rest: Any
) -> Bound:
    """Return the bound whose terms are these numbers, by more than they round."""
    up = {key: float(value * UP) for key, value in terms.items()}
    others = {key: float(value * UP) for key, value in alternatives.items()}
    return Bound(name, up, at_least=sum(terms.values()), alternatives=others, **rest)


@dataclass
class _Sizes:
    lam: float
    B: int
    delta: float
    R: float
    Rp: float
    R2: float

    def __post_init__(self) -> None:
        self.L = float(np.log(2 / self.delta))
        self.z = float((self.R2 + self.Rp * np.sqrt(2 * self.L)) / np.sqrt(self.B))
        self.S = float(lowest(self.lam**-0.5, self.R / self.lam))
        self.Sp = float(lowest(self.lam**-0.5, self.Rp / self.lam))

    def sampling(self, eps: float = 0.0) -> dict[str, float]:
        """Return both forms of the term of (I): r (2 R2 + Rp l) / sqrt(B) with r = z/lam +
        sqrt(2 eps/lam) >= |f~ - f^_P|; 2 r R2 / sqrt(B) + (2 + Rp (r + Sp)) sqrt(L/(2B)) with r =
        Sp + sqrt(2 eps/lam)."""
        late, root = np.sqrt(2 * eps / self.lam), np.sqrt(self.B)
        near, far = self.z / self.lam + late, self.Sp + late
        fast = near * (2 * self.R2 + self.Rp * np.sqrt(2 * self.L)) / root
        tail = (2 + self.Rp * (far + self.Sp)) * np.sqrt(self.L / (2 * self.B))
        return {"fast": float(fast), "slow": float(2 * far * self.R2 / root + tail)}


def sampling_term(lam: float, B: int, R: float) -> float:
    """Return what (I) has for drawing B pairs where R is all that is known of the kernel."""
    return lowest(_Sizes(lam, B, 0.05, R, R, R).sampling().values())
