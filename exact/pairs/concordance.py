"""AUC with DeLong's variance, Harrell's C, Uno's C, the AUC over groups, and comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..sums.tree import placements
from ..tools.arrays import as_float64, check_choice, check_number, check_scores
from .all_pairs import AllPairs
from .auc import auc
from .kinds import Train, as_survival, group_auc_pairs, survival_pairs, uno_pairs
from .ordered_pairs import OrderedPairs


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic that is a mean over pairs, with what each row contributes to its variance.

    Attributes
    ----------
    value : float
    influence : array (n,), or one number for each group of rows
        How far each moves the statistic. The sum of their squares is its variance, that of products
        the covariance of two statistics of the same rows.
    """

    value: float
    influence: np.ndarray

    @property
    def standard_error(self) -> float:
        return float(np.linalg.norm(self.influence))

    def interval(self, level: float = 0.95, logit: bool = False) -> tuple[float, float]:
        """Return the confidence interval of the normal approximation, within [0, 1].

        Where the standard error is zero, as where scores part the classes or are all equal, it is
        one point, which shows nothing of other rows.

        Parameters
        ----------
        level : float in (0, 1)
        logit : bool
            Whether to take it on the scale log(x / (1 - x)), where it never leaves (0, 1).
        """
        from scipy.special import ndtri  # it takes a tenth of the time of the whole import

        z = float(ndtri(0.5 + check_number("level", level, 0.0, 1.0) / 2))
        half = z * self.standard_error
        if not logit or not 0 < self.value < 1:
            return max(0.0, self.value - half), min(1.0, self.value + half)
        middle = np.log(self.value / (1 - self.value))
        half /= self.value * (1 - self.value)
        low, high = (1 / (1 + np.exp(-x)) for x in (middle - half, middle + half))
        return float(low), float(high)


@dataclass(frozen=True)
class Comparison:
    """The difference of two statistics of the same rows, the first less the second.

    Attributes
    ----------
    difference, standard_error : float
    z : float
        Difference over standard error; 0 where both are zero, NaN where only the latter is: an
        estimated variance of zero says nothing about other rows.
    p_value : float
        Two-sided, by the normal approximation; 1 and NaN in these two cases.
    interval : (float, float)
        Confidence interval of the difference; both ends are NaN where `z` is.
    """

    difference: float
    standard_error: float
    z: float
    p_value: float
    interval: tuple[float, float]


def compare_models(first: Estimate, second: Estimate, level: float = 0.95) -> Comparison:
    """Return the comparison of two statistics of the same rows, such as two models' AUC.

    [DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 1988]

    Parameters
    ----------
    first, second : Estimate
        Of the same kind, on the same rows in the same order.
    level : float in (0, 1), of the confidence interval

    Raises
    ------
    InputError
        If the numbers of rows differ.
    """
    from scipy.special import ndtr, ndtri

    level = check_number("level", level, 0.0, 1.0)
    if first.influence.shape != second.influence.shape:
        both = f"{first.influence.size} and of {second.influence.size} rows or groups"
        raise InputError(f"statistics of {both}: compare two models on the same rows and units")
    difference = first.value - second.value
    error = float(np.linalg.norm(first.influence - second.influence))
    half = float(ndtri(0.5 + level / 2)) * error
    if error > 0:
        z = difference / error
    else:
        z = half = 0.0 if difference == 0 else math.nan
    p_value = float(2 * ndtr(-abs(z)))
    return Comparison(difference, error, z, p_value, (difference - half, difference + half))


def delong(scores: object, positive: object) -> Estimate:
    """Return the AUC, a tie counting one half, with the variance of DeLong et al.

    [DeLong, DeLong and Clarke-Pearson, Biometrics 1988; Sun and Xu, IEEE SPL 2014] With V_i the
    share of the negatives below positive i and V_j that of the positives above negative j, the
    variance is S+ / n+ + S- / n-, the sample variances of the V over the rows of each class. The
    `influence` is (V - AUC) / sqrt(m (m - 1)) for the rows of a class of m.

    Parameters
    ----------
    scores : array (n,)
    positive : bool array (n,)

    Raises
    ------
    InputError
        If a score is not finite, or a class has fewer than two rows.
    """
    values, mask = as_float64(scores, "scores"), np.asarray(positive)
    if mask.dtype != bool or mask.ndim != 1:
        raise InputError("positive must be a boolean array, True on the positive rows")
    check_scores(values, mask)
    order = np.argsort(values, kind="stable")
    plus, minus = order[mask[order]], order[~mask[order]]
    n_pos, n_neg = plus.size, minus.size
    if min(n_pos, n_neg) < 2:
        raise InputError("DeLong's variance needs at least two rows of each class")
    doubled = np.empty(mask.size, dtype=np.int64)  # twice the partners in the right order
    high, low = values[plus], values[minus]
    doubled[plus] = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    doubled[minus] = 2 * n_pos - np.searchsorted(high, low, "left")
    doubled[minus] -= np.searchsorted(high, low, "right")
    right = sum(doubled[plus].tolist())  # may pass 2^63
    area = right / (2 * n_pos * n_neg)
    influence = np.empty(mask.size)
    for rows, m, others in ((plus, n_pos, n_neg), (minus, n_neg, n_pos)):
        share = doubled[rows] / (2.0 * others)
        influence[rows] = (share - area) / np.sqrt(m * (m - 1.0))
    return Estimate(area, influence)


@dataclass(frozen=True, eq=False)
class Concordance(Estimate):
    """The share of pairs in the right order, a tie counting one half, with its pairs.

    Attributes
    ----------
    value : float, the index
    influence : array (n,), or (groups,)
        As in `Estimate`: (p_i - value q_i) / mass, with q_i what the pairs of a row weigh and p_i
        what those in the right order do. The sum of squares is the infinitesimal jackknife. With
        units="groups" the same of each group that has a pair, times sqrt(groups / (groups - 1)).
    concordant, discordant, tied_risk : int
        Pairs in the right order, in the wrong one, and of equal scores; without weights.
    tied_time : int
        Pairs of equal times: an event and a row censored at its time.
    """

    concordant: int
    discordant: int
    tied_risk: int
    tied_time: int = 0


def concordance(
    pairs: OrderedPairs, scores: object, tied_tol: float = 0.0, units: str = "rows"
) -> Concordance:
    """Return the concordance of scores over any ordered pairs.

    Parameters
    ----------
    pairs : OrderedPairs
    scores : array (n,), finite
    tied_tol : float >= 0
        Scores no further apart are tied.
    units : {"rows", "groups"}
        What the standard error takes as drawn independently. "groups" is for queries and users:
        rows of one have more in common than rows of two.

    Raises
    ------
    InputError
        If a score is missing or not finite, the pairs have gains, or fewer than two groups that
        are to be the units have a pair.
    """
    check_choice("units", units, ("rows", "groups"))
    values = as_float64(scores, "scores")
    check_scores(values, pairs.key)
    tolerance = check_number("tied_tol", tied_tol, closed="low")
    if pairs.gain is not None:
        raise InputError("the concordance counts pairs: leave the gain out")
    at, weights, terms = pairs.arrangement, pairs.weights, list(pairs.weights.terms)
    ranked, factor = values[at.order], weights.factor[at.group]
    ordered, exact = np.zeros(pairs.n), 0
    for term in terms:
        found = placements(at, ranked, term.a, term.b, tolerance)
        up, low = 2 * found[0] + found[1], 2 * found[2] + found[3]  # twice what is in order
        ordered += float(term.coefficient) * factor * (term.a * up + term.b * low) / 2
        exact += term.coefficient * sum((term.a * up).tolist())
    whole = pairs.row_mass()[at.order]  # each pair stands at two rows of its group
    shared = weights.shared
    value = float(ordered.sum() / whole.sum()) if shared else exact / (2 * weights.mass)
    right_of, mass_of = (np.bincount(at.group, weights=part) / 2 for part in (ordered, whole))
    held = mass_of > 0
    if units == "groups":
        count = int(held.sum())
        if count < 2:
            raise InputError('groups as units need two that have a pair: take units="rows"')
        influence = np.sqrt(count / (count - 1)) * (right_of - value * mass_of)[held]
    else:
        own = np.full(held.size, value)
        if shared:  # a group's weight does not vary
            own = np.divide(right_of, mass_of, out=np.zeros(held.size), where=held)
        influence = np.empty(pairs.n)
        influence[at.order] = ordered - own[at.group] * whole
    a, b = (pairs.a > 0).astype(np.int64), (pairs.b > 0).astype(np.int64)
    if len(terms) > 1 or max(int(terms[0].a.max()), int(terms[0].b.max())) > 1:
        found = placements(at, ranked, a, b, tolerance)
    concordant, tied = (sum((a * part).tolist()) for part in found[:2])
    return Concordance(value, influence, concordant, pairs.count() - concordant - tied, tied)


def right_share(pairs: Any, scores: np.ndarray) -> float:
    """Return the share of the pairs that scores order rightly, a tie counting one half."""
    if isinstance(pairs, OrderedPairs):
        if pairs.gain is not None:  # each pair weighs a_i b_j
            a, b = pairs.by_row()
            pairs = OrderedPairs(pairs.group, pairs.key, a, b, share=pairs.share, form=pairs.form)
        return concordance(pairs, scores).value
    weight = pairs.weight if isinstance(pairs, AllPairs) else None
    return auc(scores, pairs.positive, weight)


def taken_twice(pairs: OrderedPairs, sides: np.ndarray, share: Any = None) -> OrderedPairs:
    """Return the pairs of 2n rows: each row as an upper one only, then as a lower one only."""
    (a, b), none = sides, np.zeros(pairs.n, dtype=np.int64)
    twice = np.tile(pairs.group, 2), np.tile(pairs.key, 2), np.append(a, none), np.append(none, b)
    return OrderedPairs(*twice, share=share, form=pairs.form)


def share_between(pairs: OrderedPairs, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return bounds of `right_share` for all scores with low <= scores <= high."""
    share = pairs.share
    if share is not None and not isinstance(share, str):
        share = np.tile(share, 2)
    twice = taken_twice(pairs, pairs.by_row(), share)  # an upper row has one end, a lower the other
    least = concordance(twice, np.append(low, high)).value
    return least, concordance(twice, np.append(high, low)).value


def concordance_index(
    time: object, event: object, scores: object, tied_tol: float = 1e-8
) -> Concordance:
    """Return Harrell's C by the rules of scikit-survival's `concordance_index_censored`.

    [Harrell, Califf, Pryor, Lee and Rosati, JAMA 1982] A row whose event was seen is compared with
    the rows of a later time and with those censored at the same time; it should have the larger
    score. Two events at one time are not compared.

    Parameters
    ----------
    time : array (n,)
        Of the event, or of censoring; >= 0.
    event : bool array (n,)
    scores : array (n,)
        Larger means a higher risk.
    tied_tol : float >= 0
        Scores no further apart are tied.

    Raises
    ------
    InputError
        If no two rows are comparable, a time is negative, or a number is not finite.
    """
    times, seen = as_survival(time, event)
    return _of_times(survival_pairs(times, seen), times, seen, scores, tied_tol)


def uno_concordance(
    time: object, event: object, scores: object, tau: float | None = None, train: Train = None,
    tied_tol: float = 1e-8,
) -> Concordance:  # fmt: skip
    """Return Uno's C: Harrell's with weights 1 / G(time)^2 that undo censoring.

    [Uno, Cai, Pencina, D'Agostino and Wei, Stat. Med. 2011] The standard error takes the weights as
    known.

    Parameters
    ----------
    time, event, scores, tied_tol
        As in `concordance_index`.
    tau, train : optional
        As in `uno_pairs`: where upper rows end, and the rows from which G is estimated.

    Raises
    ------
    InputError
        As `concordance_index`, and if an event before `tau` is beyond the last time of `train`,
        or where G is zero.
    """
    times, seen = as_survival(time, event)
    return _of_times(uno_pairs(times, seen, tau, train), times, seen, scores, tied_tol)


def _of_times(
    pairs: OrderedPairs, times: np.ndarray, seen: np.ndarray, scores: object, tied_tol: float
) -> Concordance:
    found = concordance(pairs, scores, tied_tol)
    place, used = np.unique(times, return_inverse=True)[1], pairs.by_row()[0] > 0
    events, censored = np.bincount(place, weights=used), np.bincount(place, weights=~seen)
    return replace(found, tied_time=int((events * censored).sum()))


def group_auc(
    group: object, y: object, scores: object, share: object = "equal", units: str = "rows"
) -> Concordance:
    """Return the mean over groups of each group's AUC, a tie counting one half.

    [Zhou et al., "Deep interest network for click-through rate prediction", KDD 2018]
    Groups of one class leave the mean. The standard error takes groups and their shares as given,
    unless they are its units.

    Parameters
    ----------
    group, y, share
        As in `group_auc_pairs`.
    scores, units
        As in `concordance`.

    Raises
    ------
    InputError
        If no group has both classes, or a number is not finite.
    """
    return concordance(group_auc_pairs(group, y, share), scores, units=units)
