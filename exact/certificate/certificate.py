"""The certificate: the gap that a dual point proves, and the rounding of it.

For every feasible dual point alpha, with marginals c and conjugate sum V,

    F(w) >= p* >= V - |pull(c)|^2 / (2 lam),

so the difference bounds how far any w is from the optimum, and by strong convexity
``|f - f*| <= sqrt(2 gap / lam)``. Nothing here trusts a solver: `Certificate.of` makes the dual
point anew from its evidence. Proofs are in `docs/certificates.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import CertificateError
from ..losses.loss import loss_slip
from ..pairs.pair_list import PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..sums.assembled import PairSums
from ..tools.rounding import UNIT, above, gamma
from .witness import LONG_ROWS, Witness, careful

WORTHWHILE = 0.25
"""Share of the gap that rounding may be before the long format is worth its cost."""

__all__ = ["Certificate", "Witness", "careful_primal", "dual_value", "evaluated", "score_slip"]


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
        gap / primal, up to `rounding` as the gap is: (F - p*) / F is at most (gap + rounding) /
        primal. None where the primal is zero to rounding.
    radius : float
        sqrt(2 (gap + rounding) / lam), rounded up: the distance |f - f*| is at most this.
    rounding : float
        A bound of the floating-point error in the gap.
    as_saved : bool
        True where it was read from a file and not computed here: it is what the file says, of data
        that nobody has looked at again. `recertify` makes a new one from the model and its data.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float | None
    radius: float
    rounding: float
    as_saved: bool = field(default=False, init=False, compare=False)

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
        primal, primal_rounding, dual, dual_rounding = evaluated(problem, w, witness)
        if dual - dual_rounding < 0:
            dual, dual_rounding = 0.0, 0.0  # F >= 0 needs no witness
        return cls.from_bounds(primal, dual, primal_rounding + dual_rounding, problem.lam)

    @classmethod
    def from_bounds(cls, primal: float, dual: float, rounding: float, lam: float) -> Certificate:
        """Return the certificate of an upper and a lower bound with their rounding."""
        difference = primal - dual
        if not difference >= -rounding:
            raise CertificateError(
                f"the gap {difference:g} is below minus its rounding {rounding:g}: "
                "a bound is false, please report this with the data"
            )
        gap, dual = max(difference, 0.0), min(dual, primal)
        relative = gap / primal if primal > rounding else None
        # Each step up covers the rounding of one operation: difference, sum, quotient and root.
        whole = above(above(gap) + rounding) if difference > 0 else rounding
        radius = above(np.sqrt(above(2 * above(whole) / lam)))
        return cls(primal, dual, gap, relative, radius, rounding)

    def reaches(self, tol: float) -> bool:
        """Return whether the gap, rounding included, is proved to be at most `tol` of F.

        (F - p*) / F grows with F, so that it is at most (gap + rounding) / primal wherever F is
        within its rounding. Where F is proved to be at most 1e-6 (separable data), an absolute
        gap of tol / 10 counts: F(0) = 1 is then the only scale.
        """
        proved = above(above(self.gap) + self.rounding)
        floor = tol / 10 if above(self.primal + self.rounding) <= 1e-6 else 0.0
        return proved <= max(tol * self.primal, floor)


def evaluated(
    problem: Problem, w: np.ndarray, witness: Witness
) -> tuple[float, float, float, float]:
    """Return F(w), its rounding, the witness's own lower bound, and its rounding.

    The lower bound may be below zero here; a certificate then takes zero.
    """
    w = problem.check_weights(w)
    if witness.weights is not None:
        return _evaluated_in_bins(problem, w, witness.renewed(problem))
    if type(problem.space) is Rows:
        scores = problem.space.scores(w)
        shared = _shared_sums(problem, scores, witness)
        renewed = witness.renewed(problem, shared)
        shared = shared or problem.sums(scores)
        bounds = _evaluated_plainly(problem, problem.space, w, renewed, shared)
        if bounds[1] + bounds[3] <= WORTHWHILE * (bounds[0] - bounds[2]):
            return bounds
    else:
        renewed = witness.renewed(problem)
    dual, dual_rounding = dual_value(problem, renewed)
    return *careful_primal(problem, w), dual, float(dual_rounding)


def careful_primal(problem: Problem, w: np.ndarray) -> tuple[float, float]:
    """Return F(w) and a bound of its error, from scores in the long format while n is moderate."""
    space, lam = problem.space, problem.lam
    scores, error = space.careful_scores(w)
    if problem.n > LONG_ROWS:
        scores, error = scores.astype(float), error + UNIT * np.abs(scores).astype(float)
    sums = problem.sums(scores)
    primal = sums.value + lam / 2 * space.norm2(w)
    return primal, _primal_rounding(problem, sums, error, primal, space.norm2_error(w))


def _primal_rounding(
    problem: Problem, sums: PairSums, error: np.ndarray, primal: float, norm2_error: float
) -> float:
    """Return a bound of the error in `primal`, the sum of loss and penalty; two units are spare."""
    rounding = sums.value_rounding + score_slip(problem, error, sums.value + sums.value_rounding)
    rounding += problem.lam / 2 * norm2_error
    return float((rounding + gamma(6) * primal) * (1 + gamma(16)))


def _evaluated_plainly(
    problem: Problem, space: Rows, w: np.ndarray, witness: Witness, sums: PairSums
) -> tuple[float, float, float, float]:
    """Return the bounds of `evaluated` without the long format: cheap, with more rounding.

    `sums` are those at the plain scores of `w`, at any width.
    """
    lam = problem.lam
    primal, error = sums.value + lam / 2 * space.norm2(w), space.score_error(w)
    rounding = _primal_rounding(problem, sums, error, primal, space.norm2_error(w))
    norm = float(np.linalg.norm(space.pull(witness.c)))
    slip = space.pull_error(witness.c) + gamma(space.dim + 8) * norm
    dual, dual_rounding = _dual_of_norm(problem, witness, norm, slip)
    return primal, rounding, dual, float(dual_rounding)


def _shared_sums(problem: Problem, scores: np.ndarray, witness: Witness) -> PairSums | None:
    """Return the sums at `scores` if the witness is to be made from these very numbers.

    The value never depends on the width, so that one evaluation serves both bounds. Where the
    witness wants its sums in the long format it keeps its own.
    """
    if witness.scores is None or not 0 <= witness.width < np.inf:
        return None
    same = np.array_equal(scores, witness.scores) and careful(problem, scores) is scores
    return problem.sums(scores, witness.width) if same else None


def _evaluated_in_bins(
    problem: Problem, w: np.ndarray, witness: Witness
) -> tuple[float, float, float, float]:
    """Return the bounds of `evaluated` from binned sums: two passes, four if the points differ."""
    from .evaluate_rows import binned_at

    lam, weights = problem.lam, problem.check_weights(witness.weights)
    dual = binned_at(problem, weights, witness.bins, witness.half)
    primal = dual if np.array_equal(w, weights) else binned_at(problem, w, witness.bins, 0)
    scale = witness.scale
    return (
        primal.primal(lam),
        primal.primal_rounding(lam),
        dual.dual(lam, scale),
        dual.dual_rounding(lam, scale),
    )


def score_slip(problem: Problem, error: np.ndarray, upper_loss: float) -> float:
    """Return what errors (n,) in the scores can do to the mean loss; see `losses.loss`.

    `upper_loss` is at least the mean loss without the errors. The sums over rows round too.
    """
    mass = problem.pairs.row_mass()
    listed = problem.pairs.i.size if isinstance(problem.pairs, PairList) else 0
    up = 1 + gamma(problem.n + listed + 16)
    slip = loss_slip(problem.loss, mass, error * up, max(upper_loss, 0.0) * up)
    return slip * up * (1 + gamma(8))


def dual_value(problem: Problem, witness: Witness) -> tuple[float, float]:
    """Return the lower bound that a (renewed) witness proves, and its rounding.

    The deficiency of infeasible marginals enters the bound itself: the true pull is at most
    reach * deficiency away.
    """
    if witness.weights is not None:
        from .evaluate_rows import binned_at

        found = binned_at(problem, witness.weights, witness.bins, witness.half)
        scale, lam = witness.scale, problem.lam
        return found.dual(lam, scale), found.dual_rounding(lam, scale)
    space = problem.space
    norm2 = space.dual_norm2(witness.c)
    error = space.dual_norm2_error(witness.c)
    norm = float(np.sqrt(norm2))
    top = float(np.sqrt(norm2 + error))
    slip = error / (top + norm) * (1 + gamma(8)) if top > 0 else 0.0
    return _dual_of_norm(problem, witness, norm, slip)


def _dual_of_norm(
    problem: Problem, witness: Witness, norm: float, norm_error: float
) -> tuple[float, float]:
    """Return the lower bound and its rounding, given |pull(c)| and the rounding of that."""
    lam, reach = problem.lam, problem.space.reach
    paid = norm + reach * witness.deficiency
    slip = norm_error + reach * witness.rounding
    dual = witness.value - paid**2 / (2 * lam)
    rounding = witness.value_rounding + slip * (2 * paid + slip) / (2 * lam)
    size = abs(witness.value) + paid**2 / (2 * lam)
    return dual, (rounding + gamma(10) * size) * (1 + gamma(16))
