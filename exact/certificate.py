"""The certificate: a dual point, the gap that it proves, and the rounding of both.

For every feasible dual point alpha, with marginals c and conjugate sum V,

    F(w) >= p* >= V - |pull(c)|^2 / (2 lam),

so the difference bounds how far any w is from the optimum, and by strong convexity
``|f - f*| <= sqrt(2 gap / lam)``. Nothing here trusts a solver: `Certificate.of` makes the dual
point anew from its evidence. Proofs are in `docs/certificates.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import CertificateError, InputError
from .marginals import deficiency
from .pairs import AllPairs, PairList
from .problem import Problem
from .rounding import UNIT, gamma


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
    scores, width, scale, alpha : evidence
        What `c` and `value` were made from, if not from the marginals themselves.
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
        sums = problem.sums(np.asarray(scores, dtype=float), width)
        if scale is None:
            scale = _best_scale(problem, sums.c, sums.conjugate)
        if not 0 <= scale <= 1:
            raise InputError(f"scale must be between 0 and 1, not {scale}")
        value = _scaled_value(problem, sums.c, sums.conjugate, scale)
        return cls(
            scale * sums.c,
            value,
            rounding=scale * (sums.rounding + UNIT * float(np.abs(sums.c).sum())),
            value_rounding=scale * (sums.conjugate_rounding + 3 * sums.rounding)
            + gamma(8) * (abs(value) + abs(sums.conjugate)),
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
            Hinge over all pairs: only there do marginals determine the dual value.
        u : array (n_pos,)
            >= 0, in units of the normalised pair weights: they add up to at most one.
        v : array (n_neg,)
            >= 0.

        Raises
        ------
        InputError
            For another loss, a pair list, wrong sizes, negative or non-finite marginals.
        """
        if problem.loss.name != "hinge" or not isinstance(problem.pairs, AllPairs):
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
        a, b = problem.pairs.normalised(problem.positive)
        flow, missing, rounding = deficiency(u, v, a, b)
        c = np.empty(problem.n)
        c[problem.positive], c[~problem.positive] = u, -v
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
        mass = float(np.abs(pairs.c * inside).sum())
        return cls(
            pairs.marginals(inside, problem.n),
            float(duals.sum()),
            rounding=2 * gamma(pairs.i.size + 8) * mass,
            value_rounding=gamma(96) * float(np.abs(duals).sum()),
            alpha=inside,
        )

    def renewed(self, problem: Problem) -> Witness:
        """Return this witness made again from its evidence, so that no claim in it is trusted."""
        if self.alpha is not None:
            return Witness.from_alpha(problem, self.alpha)
        if self.scores is not None:
            return Witness.from_scores(problem, self.scores, self.width, self.scale)
        positive = problem.positive
        return Witness.from_marginals(problem, self.c[positive], -self.c[~positive])


def _best_scale(problem: Problem, c: np.ndarray, conjugate: float) -> float:
    """Return the s in [0, 1] with the best dual value of s alpha."""
    curvature = problem.space.dual_norm2(c) / problem.lam
    total = float(c[problem.positive].sum())
    curvature += 2 * (total - conjugate)  # dual(alpha) = alpha - alpha^2/4 where not linear
    if curvature <= 0:
        return 1.0
    return float(min(max(total / curvature, 0.0), 1.0))


def _scaled_value(problem: Problem, c: np.ndarray, conjugate: float, scale: float) -> float:
    """Return the conjugate sum of scale * alpha."""
    total = float(c[problem.positive].sum())
    return scale * total - scale**2 * (total - conjugate)


@dataclass(frozen=True)
class Certificate:
    """What is proved about one point of one problem.

    Attributes
    ----------
    primal : float
        F at the point.
    dual : float
        A lower bound of the optimum.
    gap : float
        primal - dual: the point is at most this far from the optimum, up to `rounding`.
    relative_gap : float or None
        gap / primal; None where the primal is zero to rounding.
    radius : float
        sqrt(2 (gap + rounding) / lam): the distance |f - f*| is at most this.
    rounding : float
        A bound of the floating-point error in the gap.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float | None
    radius: float
    rounding: float

    @classmethod
    def of(cls, problem: Problem, w: np.ndarray, witness: Witness) -> Certificate:
        """Return the certificate of the coordinates `w`, everything computed afresh.

        Parameters
        ----------
        problem : Problem
        w : array (dim,)
        witness : Witness
            Any dual point; it is made again from its evidence.

        Raises
        ------
        CertificateError
            If the gap is below minus its rounding, which exact arithmetic excludes.
        InputError
            If the witness does not belong to the problem.
        """
        w = problem.check_weights(w)
        space, lam = problem.space, problem.lam
        scores = space.scores(w)
        primal, primal_rounding = primal_value(problem, scores, space.norm2(w))
        primal_rounding += _score_slip(problem, space.score_error(w), primal)
        primal_rounding += gamma(space.dim + 8) * lam / 2 * space.norm2(w)
        dual, dual_rounding = dual_value(problem, witness.renewed(problem))
        return cls.from_bounds(primal, dual, float(primal_rounding + dual_rounding), lam)

    @classmethod
    def from_bounds(cls, primal: float, dual: float, rounding: float, lam: float) -> Certificate:
        """Return the certificate of an upper and a lower bound with their rounding."""
        difference = primal - dual
        if not difference >= -rounding:
            raise CertificateError(
                f"the gap {difference:g} is below minus its rounding {rounding:g}: "
                "a bound is false, please report this with the data"
            )
        gap = max(difference, 0.0)
        relative = gap / primal if primal > rounding else None
        radius = float(np.sqrt(2 * (gap + rounding) / lam))
        return cls(primal, dual, gap, relative, radius, rounding)

    def reaches(self, tol: float) -> bool:
        """Return whether the relative gap is at most `tol`.

        Where the optimum is below 1e-6 (separable data), an absolute gap of tol / 10 counts:
        F(0) = 1 is then the only scale.
        """
        if self.relative_gap is not None and self.relative_gap <= tol:
            return True
        return self.primal <= 1e-6 and self.gap <= tol / 10


def _score_slip(problem: Problem, error: np.ndarray, primal: float) -> float:
    """Return what errors in the scores can do to the mean loss.

    The hinge has slope at most one in either score; for the squared losses
    |mean (z+e)^2 - mean z^2| <= 2 rms(z) rms(e) + rms(e)^2.
    """
    mass = problem.pairs.row_mass(problem.positive)
    if problem.loss.name == "hinge":
        return float(mass @ error)
    rms = float(np.sqrt(2 * (mass @ error**2)))
    return 2 * float(np.sqrt(primal)) * rms + rms**2


def primal_value(problem: Problem, scores: np.ndarray, norm2: float) -> tuple[float, float]:
    """Return F from scores and |f|^2, and the rounding of its loss part."""
    sums = problem.sums(scores)
    return sums.value + problem.lam / 2 * norm2, sums.value_rounding


def dual_value(problem: Problem, witness: Witness) -> tuple[float, float]:
    """Return the lower bound that a (renewed) witness proves, and its rounding.

    The deficiency of infeasible marginals enters the bound itself: the true pull is at most
    reach * deficiency away.
    """
    space, lam = problem.space, problem.lam
    norm2 = space.dual_norm2(witness.c)
    error = space.dual_norm2_error(witness.c)
    norm = float(np.sqrt(norm2))
    paid = norm + space.reach * witness.deficiency
    top = float(np.sqrt(norm2 + error))
    slip = (error / (top + norm) if top > 0 else 0.0) + space.reach * witness.rounding
    dual = witness.value - paid**2 / (2 * lam)
    rounding = witness.value_rounding + slip * (2 * paid + slip) / (2 * lam)
    return dual, rounding + gamma(8) * (abs(witness.value) + paid**2 / (2 * lam))
