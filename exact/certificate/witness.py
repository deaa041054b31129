"""Dual points with the evidence to make them again.

A dual point that its maker made feasible is worth no more than its maker's word. So a witness
carries what it was made from (scores, marginals, or an alpha a pair), and a certificate makes it
anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..losses.loss import shrunk_dual
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.marginals import deficiency
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..sums.assembled import PairSums
from ..tools.checks import check_count
from ..tools.rounding import UNIT, gamma, short_chain, short_sum

LONG_ROWS = 300_000
"""Rows up to which a certificate evaluates its sums in the long format."""


@dataclass(frozen=True, eq=False)
class Witness:
    """A dual point that its maker made feasible, with the evidence to make it again.

    Use the three makers. Attributes:

    c : array (n,)
        Signed marginals, >= 0 on positive rows and <= 0 on negative ones where alpha >= 0.
    value : float
        The conjugate sum: sum_ij c_ij dual(alpha_ij).
    deficiency : float
        How far (sum of absolute differences) `c` is from feasible marginals; the certificate
        pays for it.
    rounding, value_rounding : float
        Bounds of the rounding in `c` (sum of absolute errors) and in `value`.
    scores, width, scale, alpha, weights, bins, half : evidence
        What `c` and `value` were made from, if not from the marginals themselves. For rows read
        in blocks `c` is empty: `weights`, `bins` and `half` regenerate it.
    """

    c: np.ndarray
    value: float
    deficiency: float = 0.0
    rounding: float = 0.0
    value_rounding: float = 0.0
    scores: np.ndarray | None = None
    width: float = 0.0
    scale: float = 1.0
    alpha: np.ndarray | None = None
    weights: np.ndarray | None = None
    bins: int = 0
    half: int = 0

    @classmethod
    def from_weights(
        cls, problem: Problem, w: np.ndarray, bins: int, half: int, scale: float = 1.0
    ) -> Witness:
        """Return the dual point of the scores of `w`, rounded down to a grid; see `bins`.

        Parameters
        ----------
        problem : Problem
            Hinge over all pairs.
        w : array (dim,)
            Any weights.
        bins : int
            Bins a unit, a power of two.
        half : int
            Half width of the smoothing in bins, >= 0.
        scale : float in [0, 1]
            Shrinks alpha.
        """
        if problem.loss != HINGE or not isinstance(problem.pairs, AllPairs):
            raise InputError("binned dual points are for the hinge over all pairs")
        if not 0 <= scale <= 1:
            raise InputError(f"scale must be between 0 and 1, not {scale}")
        bins, half = check_count("bins", bins), check_count("half", half, 0)
        return cls(np.zeros(0), np.nan, scale=scale, weights=w, bins=bins, half=half)

    @classmethod
    def from_scores(
        cls, problem: Problem, scores: np.ndarray, width: float = 0.0, scale: float | None = None
    ) -> Witness:
        """Return the dual point alpha = -loss'(margin) of any scores, shrunk by its best factor.

        Parameters
        ----------
        problem : Problem
        scores : array (n,)
            Any scores: feasibility does not depend on them, only the size of the gap does.
        width : float
            Smoothing of the hinge.
        scale : float in [0, 1], optional
            Shrinks alpha, which keeps it feasible; the best one by default.
        """
        if not (np.isfinite(width) and width >= 0):
            raise InputError(f"width must be >= 0 and finite, not {width}")
        scores = np.asarray(scores, dtype=float)
        sums = problem.sums(careful(problem, scores), width)
        return cls.of_sums(problem, sums, scores, width, scale)

    @classmethod
    def of_sums(
        cls,
        problem: Problem,
        sums: PairSums,
        scores: np.ndarray,
        width: float,
        scale: float | None = None,
    ) -> Witness:
        """Return what `from_scores` returns, given the `sums` at these scores and width."""
        if scale is None:
            scale = _best_scale(problem, sums)
        if not 0 <= scale <= 1:
            raise InputError(f"scale must be between 0 and 1, not {scale}")
        linear, quadratic = shrunk_dual(problem.loss, sums.total, sums.conjugate)
        value = scale * linear - scale**2 * quadratic
        size = scale * abs(linear) + scale**2 * abs(quadratic)
        return cls(
            scale * sums.c,
            value,
            rounding=scale * (sums.rounding + UNIT * float(np.abs(sums.c).sum())),
            value_rounding=scale * (sums.conjugate_rounding + 3 * sums.rounding) + gamma(8) * size,
            scores=scores,
            width=width,
            scale=scale,
        )

    @classmethod
    def from_marginals(cls, problem: Problem, u: np.ndarray, v: np.ndarray) -> Witness:
        """Return the dual point of given marginals, corrected for what is infeasible in them.

        Parameters
        ----------
        problem : Problem
            Hinge over all pairs: with another loss marginals do not determine the dual value, and
            over a list of pairs no sort tells whether they are feasible.
        u : array (n_pos,)
            >= 0, in units of the normalised pair weights: they add up to at most one.
        v : array (n_neg,)
            >= 0.

        Raises
        ------
        InputError
            For another loss, a pair list, wrong sizes, negative or non-finite marginals.
        """
        if problem.loss != HINGE or not isinstance(problem.pairs, AllPairs):
            raise InputError(
                "marginals prove a bound only for the hinge over all pairs: "
                "for another loss or a pair list give the scores or the alpha"
            )
        u, v = np.asarray(u, dtype=float), np.asarray(v, dtype=float)
        if u.shape != (problem.n_pos,) or v.shape != (problem.n_neg,):
            raise InputError(
                f"marginals of {problem.n_pos} positive and {problem.n_neg} negative rows "
                f"are needed, not of shapes {u.shape} and {v.shape}"
            )
        for name, side in (("u", u), ("v", v)):
            if not np.isfinite(side).all() or (side < 0).any():
                at = int(np.flatnonzero(~(np.isfinite(side) & (side >= 0)))[0])
                raise InputError(f"marginal {name}[{at}] is {side[at]}: marginals are >= 0")
        a, b = problem.pairs.normalised()
        flow, missing, rounding = deficiency(u, v, a, b)
        c = np.empty(problem.n)
        c[problem.pairs.positive], c[~problem.pairs.positive] = u, -v
        return cls(c, flow, missing, rounding, rounding)

    @classmethod
    def from_alpha(cls, problem: Problem, alpha: np.ndarray) -> Witness:
        """Return the dual point of an alpha a pair, clipped into its box first.

        Parameters
        ----------
        problem : Problem
            With a `PairList`.
        alpha : array (m,)
            In units where the hinge's box is [0, 1].
        """
        if not isinstance(problem.pairs, PairList):
            raise InputError("alpha belongs to a pair list; all pairs take scores or marginals")
        pairs, alpha = problem.pairs, np.asarray(alpha, dtype=float)
        if alpha.shape != pairs.i.shape:
            raise InputError(f"{pairs.i.size} pairs, but alpha of shape {alpha.shape}")
        if not np.isfinite(alpha).all():
            at = int(np.flatnonzero(~np.isfinite(alpha))[0])
            raise InputError(f"alpha of pair {at} is {alpha[at]}: it must be finite")
        inside = problem.loss.clip(alpha)
        duals = pairs.c * problem.loss.dual(inside)
        mass, square = np.abs(pairs.c * inside), pairs.c * inside**2
        size = mass if problem.loss == HINGE else mass + square + np.abs(duals)
        m = pairs.i.size
        return cls(
            pairs.marginals(inside),
            float(short_sum(duals)),
            rounding=2 * gamma(m + 8) * float(short_sum(mass)),
            value_rounding=gamma(short_chain(m) + 16) * float(short_sum(size)),
            alpha=inside,
        )

    def renewed(self, problem: Problem, sums: PairSums | None = None) -> Witness:
        """Return this witness made again from its evidence, so that no claim in it is trusted.

        `sums`, where the caller has them, are those of the problem at `scores` and `width`.
        """
        if self.weights is not None:
            return Witness.from_weights(problem, self.weights, self.bins, self.half, self.scale)
        if self.alpha is not None:
            return Witness.from_alpha(problem, self.alpha)
        if self.scores is not None:
            if sums is not None:
                return Witness.of_sums(problem, sums, self.scores, self.width, self.scale)
            return Witness.from_scores(problem, self.scores, self.width, self.scale)
        positive = problem.pairs.positive
        if self.c.shape != positive.shape:
            raise InputError(
                f"a witness of {self.c.size} rows does not belong to a problem of {positive.size}"
            )
        return Witness.from_marginals(problem, self.c[positive], -self.c[~positive])


def careful(problem: Problem, scores: np.ndarray) -> np.ndarray:
    """Return scores in the long format where sums then round less, while n is moderate.

    The marginals of the hinge over all pairs are counts, exact in any format.
    """
    counted = isinstance(problem.pairs, AllPairs) and problem.pairs.weight is None
    if problem.loss == HINGE and counted:
        return scores
    return scores.astype(np.longdouble if scores.size <= LONG_ROWS else float)


def _best_scale(problem: Problem, sums: PairSums) -> float:
    """Return the s in [0, 1] with the best dual value of s alpha."""
    space, c = problem.space, sums.c
    # Any scale is valid, so rows need not take their careful norm.
    norm2 = space.norm2(space.pull(c)) if type(space) is Rows else space.dual_norm2(c)
    linear, quadratic = shrunk_dual(problem.loss, sums.total, sums.conjugate)
    curvature = norm2 / problem.lam + 2 * quadratic
    return float(min(max(linear / curvature, 0.0), 1.0)) if curvature > 0 else 1.0
