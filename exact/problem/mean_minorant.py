"""How a mean over pairs makes minorants: sum c dual(alpha) and the signed marginals of alpha."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss, shrunk_dual
from ..losses.registry import HINGE, OURS, SQUARED_HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.marginals import deficiency
from ..pairs.ordered.ordered_pairs import WEIGHT_UNITS
from ..pairs.partitioned_pairs import PartitionedOrder, PartitionedPairs
from ..sums.assembled import PairSums
from ..tools.checks import check_count
from ..tools.rounding import UNIT, gamma, short_chain, short_sum
from .evidence import Alpha, Marginals, Scores, Weights
from .minorant import Minorant

LARGEST_WIDTH = 1e150  # Largest smoothing: sums at wider ones could overflow.


def check_scale(scale: float) -> float:
    """Return `scale` as a float; `InputError` unless it is a number in [0, 1]."""
    if np.ndim(scale) or not 0 <= scale <= 1:
        raise InputError(f"scale must be between 0 and 1, not {scale}")
    return float(scale)


def check_width(width: float) -> float:
    """Return `width` as a float; `InputError` unless it is a number from 0 to `LARGEST_WIDTH`."""
    if np.ndim(width) or not 0 <= float(width) <= LARGEST_WIDTH:
        raise InputError(f"width must be >= 0 and at most {LARGEST_WIDTH:g}, not {width}")
    return float(width)


def of_scores(loss: Loss, evidence: Scores, sums: PairSums) -> Minorant:
    """Return the minorant of alpha = -loss'(margin), given the sums at its scores."""
    scale = check_scale(evidence.scale)
    linear, quadratic = shrunk_dual(loss, sums.total, sums.conjugate)
    value = scale * linear - scale**2 * quadratic
    size = scale * abs(linear) + scale**2 * abs(quadratic)
    return Minorant(
        sums.c if scale == 1 else scale * sums.c,
        value,
        c_error=scale * (sums.rounding + UNIT * float(np.abs(sums.c).sum())),
        value_error=scale * (sums.conjugate_rounding + 3 * sums.rounding) + gamma(8) * size,
        evidence=evidence,
        c_relative=None if sums.relative is None else (sums.relative + UNIT) * (1 + gamma(4)),
    )


# Marginals add up to at most one, but for rounding: squares of such large ones could overflow.
FAR_ABOVE_ONE = 1e100


def of_marginals(pairs: Any, loss: Loss, evidence: Marginals) -> Minorant:
    """Return the minorant of given marginals, corrected for what is infeasible in them.

    With another loss marginals do not determine the dual value, and over a list of pairs no sort
    tells whether they are feasible.
    """
    if loss == HINGE and hasattr(pairs, "deficiency"):
        return _of_ordered_marginals(pairs, evidence)
    if loss != HINGE or not isinstance(pairs, AllPairs):
        raise InputError(
            "marginals prove a bound only for the hinge over all pairs: "
            "for another loss or a pair list give the scores or the alpha"
        )
    u, v = np.asarray(evidence.u, dtype=float), np.asarray(evidence.v, dtype=float)
    if u.shape != (pairs.n_pos,) or v.shape != (pairs.n_neg,):
        raise InputError(
            f"marginals of {pairs.n_pos} positive and {pairs.n_neg} negative rows "
            f"are needed, not of shapes {u.shape} and {v.shape}"
        )
    _check_marginals(u, v)
    flow, missing, rounding = deficiency(u, v, *pairs.normalised())
    c = np.empty(pairs.n)
    c[pairs.positive], c[~pairs.positive] = u, -v
    return Minorant(c, flow, missing, rounding, rounding, Marginals(u, v))


def _of_ordered_marginals(pairs: Any, evidence: Marginals) -> Minorant:
    """Return the minorant of what each row carries as the upper and as the lower one of a pair."""
    u, v = np.asarray(evidence.u, dtype=float), np.asarray(evidence.v, dtype=float)
    if u.shape != (pairs.n,) or v.shape != (pairs.n,):
        raise InputError(
            f"marginals of {pairs.n} rows as upper and as lower ones are needed, not of shapes "
            f"{u.shape} and {v.shape}"
        )
    _check_marginals(u, v)
    flow, missing, rounding = pairs.deficiency(u, v)
    c = u - v
    c_error = rounding + UNIT * float(np.abs(c).sum()) * (1 + gamma(pairs.n))
    return Minorant(c, flow, missing, c_error, rounding, Marginals(u, v))


def _check_marginals(u: np.ndarray, v: np.ndarray) -> None:
    """Raise `InputError` unless all marginals are finite and >= 0."""
    for name, side in (("u", u), ("v", v)):
        if not np.isfinite(side).all() or (side < 0).any():
            at = int(np.flatnonzero(~(np.isfinite(side) & (side >= 0)))[0])
            raise InputError(f"marginal {name}[{at}] is {side[at]}: marginals are >= 0")
        if side.max(initial=0.0) > FAR_ABOVE_ONE:
            raise InputError(f"a marginal {name} is {side.max():g}: all of them add up to one")


def of_alpha(pairs: Any, loss: Loss, evidence: Alpha) -> Minorant:
    """Return the minorant of an alpha a listed pair, clipped into its box first.

    Ordered pairs have a list, too, where they are few; its weights round, and that is paid for.
    """
    i, j, c, inexact = _listed(pairs)
    alpha = np.asarray(evidence.alpha, dtype=float)
    if alpha.shape != i.shape:
        raise InputError(f"{i.size} pairs, but alpha of shape {alpha.shape}")
    if not np.isfinite(alpha).all():
        at = int(np.flatnonzero(~np.isfinite(alpha))[0])
        raise InputError(f"alpha of pair {at} is {alpha[at]}: it must be finite")
    inside = loss.clip(alpha)
    duals, mass = c * loss.dual(inside), c * inside
    size = np.abs(mass) if loss == HINGE else np.abs(mass) + mass * inside + np.abs(duals)
    m, n = i.size, pairs.n
    signed = np.bincount(i, weights=mass, minlength=n) - np.bincount(j, weights=mass, minlength=n)
    longest = max(int(np.bincount(i).max()), int(np.bincount(j).max()))  # terms of a row's sum
    return Minorant(
        signed,
        float(short_sum(duals)),
        c_error=2 * (gamma(longest + 8) + inexact) * float(short_sum(np.abs(mass))),
        value_error=(gamma(short_chain(m) + 16) + inexact) * float(short_sum(size)),
        evidence=Alpha(inside),
    )


def _listed(pairs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return the rows i and j of listed pairs, their weights, and the weights' relative error."""
    if isinstance(pairs, PairList):
        return pairs.i, pairs.j, pairs.c, 0.0
    listed = getattr(pairs, "listed", None)
    if listed is None:
        raise InputError("alpha belongs to a pair list; all pairs take scores or marginals")
    found = listed()
    if found is None:
        raise InputError("these are too many pairs for an alpha each: give the scores")
    return *found, gamma(WEIGHT_UNITS)


def of_weights(pairs: Any, loss: Loss, evidence: Weights) -> Minorant:
    """Return the evidence alone: its vector is as long as the data and is never held."""
    ordered = isinstance(pairs, PartitionedOrder)
    apart = (isinstance(pairs, PartitionedPairs) or ordered) and type(loss) in OURS
    held = isinstance(pairs, AllPairs) and loss in (HINGE, SQUARED_HINGE)
    if not (held or apart):
        raise InputError("binned dual points are for the hinge over all pairs, or for its square")
    scale = check_scale(evidence.scale)
    bins, half = check_count("bins", evidence.bins), check_count("half", evidence.half, 0)
    # A dual part is concave with dual(0) >= 0: s alpha has at least s times the conjugate sum.
    if loss != HINGE and (half or (scale != 1.0 and not apart)):
        raise InputError(
            "only for the hinge over all pairs has a binned dual point a width or scale"
        )
    same = Weights(evidence.w, bins, half, scale)
    return Minorant(np.zeros(0), np.nan, evidence=same)
