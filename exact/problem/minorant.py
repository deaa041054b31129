"""The one fact that certificates rest on: U(s) >= V - c's for all scores s.

A minorant that its maker made valid is worth no more than its maker's word. So it carries the
evidence that it was made from, and a certificate has the risk make it again: `Risk.minorant` knows
some kinds of evidence and raises `InputError` for the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..pairs.labels import Labelled
from ..sums.assembled import PairSums
from ..tools.rounding import Bound, gamma


@dataclass(frozen=True, eq=False)
class Scores:
    """The slopes of the loss at any scores: alpha = -loss'(margin), shrunk."""

    scores: np.ndarray
    width: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Alpha:
    """One dual variable for each listed pair."""

    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Marginals:
    """The summed alpha of each row's pairs, for the hinge over all pairs."""

    u: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """The slopes at the scores of some weights, rounded down to a grid, for rows read in blocks."""

    w: np.ndarray
    bins: int
    half: int
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Mix:
    """A mixture of other evidence: a mixture of minorants is a minorant."""

    parts: tuple[tuple[float, Evidence], ...]


Evidence = Scores | Alpha | Marginals | Weights | Mix


class Risk(ABC):
    """U: a convex function >= 0 of differences of the n rows' scores. `sums` in the last two is an
    optional shortcut: the risk's own sums at these very scores. A certificate passes them on where
    the risk has an attribute `plain` that is true, or where their rounding is small enough for what
    is asked."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    def plain(self) -> bool:
        """Whether sums are made of float scores anyway: counts, bins, or many rows."""
        return False

    @property
    def smoothness(self) -> float:
        """A bound of loss''; infinite where U has kinks, which a width then smooths."""
        return np.inf

    @abstractmethod
    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return U and the minorant at `scores` (n,), its slopes smoothed over `width`."""

    def careful_sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return the sums that round the least."""
        return self.sums(scores, width)

    def shrunk_dual(self, sums: PairSums) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is at least s p - s^2 q for s in [0, 1]."""
        return sums.conjugate, 0.0

    @abstractmethod
    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        """Return U(scores) and what rounding and errors (n,) of the scores can do to it."""

    @abstractmethod
    def minorant(self, evidence: Evidence, sums: PairSums | None = None) -> Minorant:
        """Return the minorant that `evidence` makes, or raise `InputError` for an unknown kind."""


@dataclass(frozen=True, eq=False)
class Minorant:
    """A number V and a vector c with U(s) >= V - c's for all scores s, and its evidence.

    Risks make them; `from_scores` and `from_marginals` are short forms.

    Attributes
    ----------
    c : array (n,)
        Signed marginals, adding up to zero. Empty where `Weights` are the evidence.
    value : float
        V. For a mean over pairs sum_ij c_ij dual(alpha_ij).
    deficiency : float
        How far (sum of absolute differences) `c` is from that of a true minorant of this value.
        The bound itself pays for it.
    c_error, value_error : float
        Bounds of the rounding in `c` (sum of absolute errors) and in `value`.
    c_relative : float or None
        A bound of the relative rounding of each c_i, where it is known.
    evidence : Evidence or None
        None: `c` holds the marginals of a hinge over all pairs, the positive rows' above zero.
    """

    c: np.ndarray
    value: float
    deficiency: float = 0.0
    c_error: float = 0.0
    value_error: float = 0.0
    evidence: Evidence | None = None
    c_relative: float | None = None

    @classmethod
    def from_scores(
        cls, problem: Any, scores: np.ndarray, width: float = 0.0, scale: float | None = None,
        sums: PairSums | None = None,
    ) -> Minorant:  # fmt: skip
        """Return the minorant of any scores (n,) at the best scale in [0, 1], or a given one;
        `sums`, where the caller has them, are those of the risk there."""
        risk, scores = problem.risk, np.asarray(scores, dtype=float)
        found: PairSums = risk.careful_sums(scores, width) if sums is None else sums
        if scale is None:
            linear, square = risk.shrunk_dual(found)
            scale = float(problem.penalty.best_scale(problem.space, found.c, linear, square))
        return risk.minorant(Scores(scores, width, scale), found)

    @classmethod
    def from_marginals(cls, problem: Any, u: np.ndarray, v: np.ndarray) -> Minorant:
        """Return the minorant of given marginals; see `Marginals`."""
        return problem.risk.minorant(Marginals(u, v))

    def renewed(self, problem: Any, sums: PairSums | None = None) -> Minorant:
        """Return this minorant made again from its evidence, so that no claim in it is trusted;
        `sums` are those of the risk at the evidence's scores and width."""
        evidence = self.evidence
        if evidence is None:
            if not isinstance(problem.pairs, Labelled):
                raise InputError("a minorant without evidence proves nothing for these pairs")
            positive = problem.pairs.positive
            if self.c.shape != positive.shape:
                sizes = f"{self.c.size} rows does not belong to a problem of {positive.size}"
                raise InputError(f"a witness of {sizes}")
            evidence = Marginals(self.c[positive], -self.c[~positive])
        return problem.risk.minorant(evidence, sums)


def mixed(risk: Risk, mix: Mix) -> Minorant:
    """Return the mixture of the minorants that `risk` makes of the parts."""
    shares = [float(share) for share, _ in mix.parts]
    if not shares or not all(np.isfinite(share) and share >= 0 for share in shares):
        raise InputError("a mixture of minorants needs parts, each with a finite share >= 0")
    if sum(map(Fraction, shares)) > 1:
        raise InputError(f"the shares of a mixture add up to more than one: {sum(shares)!r}")
    if any(isinstance(part, Weights) for _, part in mix.parts):
        raise InputError("binned dual points cannot be mixed: they hold no vector of row weights")
    pairs = zip(shares, mix.parts, strict=True)
    made = [(share, risk.minorant(part)) for share, (_, part) in pairs]
    up = gamma(len(made) + 8)
    c = sum((share * part.c for share, part in made), np.zeros(risk.n))
    size = sum(share * float(np.abs(part.c).sum()) for share, part in made)
    values = [share * part.value for share, part in made]
    missing = sum(share * part.deficiency for share, part in made)
    c_error = sum(share * part.c_error for share, part in made) + up * (size + missing)
    value_error = sum(share * part.value_error for share, part in made)
    value_error += up * sum(map(abs, values))
    wide = 1 + gamma(risk.n + len(made) + 16)  # the bounds are sums of rounded numbers themselves
    return Minorant(c, sum(values), missing, c_error * wide, value_error * wide, mix)
