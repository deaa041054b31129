"""The pair problems of the field, each as ordered pairs.

| problem | group | key | upper weight | lower weight |
|---|---|---|---|---|
| all pairs | one | label | 1 | 1 |
| ranking by query | query | grade | 1 | 1 |
| ordinal regression | one | grade | 1 | 1 |
| survival | one | -(2 rank(time) + censored) | event | 1 |
| survival, Uno's weights | one | as survival | event / G(time)^2 | 1 |
| AUC across two groups | one | label | positive of A | negative of B |
| weights y_i - y_j | query | grade | 1, with gain y | 1 |
| mean over groups | query | label | 1, with a share for each group | 1 |
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import InputError, NoPairError
from ..tools.arrays import as_float64, check_labels, check_number
from .all_pairs import AllPairs, check_rows, check_weights, split_labels
from .ordered_pairs import BITS, OrderedPairs

NO_GRADES = "no query has two rows of different grades"
NO_DEATH = "no row has an event before the time of another one"
Train = tuple[object, object] | None  # times and events of other rows


@contextmanager
def no_pair_means(reason: str) -> Iterator[None]:
    """Say why no pair exists, in the words of the caller's problem."""
    try:
        yield
    except NoPairError:
        raise NoPairError(f"no pair is ordered: {reason}") from None


def as_grades(grade: object) -> np.ndarray:
    grades = as_float64(grade, "grade")
    fine = np.asarray(np.isfinite(grades).reshape(grades.shape[0], -1).all(axis=1))
    check_rows(fine, grades, "the grade", "grades must be finite")
    return grades


def column_of(values: object, what: str = "groups") -> np.ndarray:
    labels = check_labels(values)
    if labels.ndim != 1:
        raise InputError(f"{what} must have one label per row, not shape {labels.shape}")
    return labels


def as_survival(time: object, event: object) -> tuple[np.ndarray, np.ndarray]:
    """Return times as floats and events as truth values, both (n,)."""
    times, marks = as_float64(time, "time"), as_float64(event, "event")
    if times.ndim != 1 or times.size == 0:
        raise InputError(f"time must have one number per row; its shape is {times.shape}")
    if marks.shape != times.shape:
        raise InputError(f"{times.size} times, but events of shape {marks.shape}")
    check_rows(np.isfinite(times), times, "the time", "times must be finite")
    sign = "times are >= 0, and what is censored stands in event, not in the sign"
    check_rows(times >= 0, times, "the time", sign)
    seen = marks == 1
    check_rows(seen | (marks == 0), marks, "the event", "it must be 0 or 1")
    return times, seen


def survival_key(times: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return -(2 rank(time) + censored): larger for earlier rows, events first at equal times."""
    return -(2.0 * np.unique(times, return_inverse=True)[1] + ~seen)


def censoring_weights(
    times: np.ndarray, seen: np.ndarray, tau: float | None = None, train: Train = None
) -> np.ndarray:
    """Return event / G(time)^2, zero from `tau` on, in whole multiples of one unit: (n,). An event
    beyond the last time of `train`, where G is not known, is refused."""
    ends, died = (times, seen) if train is None else as_survival(*train)
    kinds, place = np.unique(ends, return_inverse=True)
    rows, events = np.bincount(place), np.bincount(place, weights=died).astype(np.int64)
    at_risk, lost = rows[::-1].cumsum()[::-1] - events, rows - events  # events come first
    ratio = np.divide(lost, at_risk, out=np.zeros(kinds.size), where=lost > 0)
    chosen = seen.copy()
    if tau is not None:
        chosen &= times < check_number("tau", tau, -np.inf)
    late = chosen & (times > kinds[-1])
    if late.any():
        row = int(np.argmax(late))
        raise InputError(
            f"the event of row {row} at time {times[row]} is beyond {kinds[-1]}, the last time of "
            f"train, where censoring is not known: choose a tau up to {kinds[-1]}"
        )
    at = np.searchsorted(kinds, times, side="right")
    G = np.append(1.0, np.cumprod(1.0 - ratio))[at]  # the Kaplan-Meier estimate
    if (G[chosen] <= 0).any():
        row = int(np.argmax(chosen & (G <= 0)))
        raise InputError(f"no row is uncensored beyond time {times[row]}: choose a smaller tau")
    weight = np.where(chosen, 1.0 / np.where(chosen, G, 1.0) ** 2, 0.0)
    top = float(weight.max())
    # Uno's weights are no further apart: the unit rounds the least by less than 2^-20.
    if top > 2.0**32 * weight.min(where=chosen, initial=top):
        grow = f"the weights 1 / G(time)^2 grow to {top:.2g}"
        raise InputError(f"{grow}: a few late rows are all that counts, choose a smaller tau")
    shift = BITS - int(np.frexp(top)[1])
    return np.ldexp(np.minimum(np.rint(np.ldexp(weight, shift)), 2.0**BITS - 1), -shift)


def query_pairs(
    qid: object, grade: object, gain: bool = False, share: np.ndarray | str | None = None
) -> OrderedPairs:
    """Return rows above rows of the same query and a smaller grade.

    [Joachims, "Optimizing search engines using clickthrough data", KDD 2002]

    Parameters
    ----------
    qid, grade : array (n,)
        The query of each row, and its grade: larger is better.
    gain : bool
        Whether pairs weigh grade_i - grade_j, for whole grades >= 0; one each by default.
    share : array (n,) or "equal", optional
        What each query weighs, as in `OrderedPairs`: "equal" is the mean over queries. By default
        every pair weighs the same.

    Raises
    ------
    InputError
        If a grade is not finite, a gain not whole, or no two rows are ordered.
    """
    grades = as_grades(grade)
    with no_pair_means(NO_GRADES):
        return OrderedPairs(column_of(qid), grades, gain=grades if gain else None, share=share)


def ordinal_pairs(grade: object, gain: bool = False) -> OrderedPairs:
    """Return rows above all rows of a smaller grade; arguments and errors as in `query_pairs`."""
    grades = as_grades(grade)
    with no_pair_means("all rows have one grade"):
        return OrderedPairs(None, grades, gain=grades if gain else None)


def survival_pairs(time: object, event: object) -> OrderedPairs:
    """Return the comparable pairs of Harrell's C: an earlier death above a later or no death.

    [Harrell, Califf, Pryor, Lee and Rosati, "Evaluating the yield of medical tests", JAMA 1982]
    A row whose event was seen at `time` is above the rows of a later time and above those censored
    at the same time; two events at one time form no pair. A larger score means a higher risk.

    Parameters
    ----------
    time : array (n,)
        Of the event, or of censoring.
    event : bool array (n,)

    Raises
    ------
    InputError
        If a time is not finite, an event is neither 0 nor 1, or no two rows are comparable.
    """
    times, seen = as_survival(time, event)
    with no_pair_means(NO_DEATH):
        return OrderedPairs(None, survival_key(times, seen), upper=seen)


def uno_pairs(
    time: object, event: object, tau: float | None = None, train: Train = None
) -> OrderedPairs:
    """Return the comparable pairs with Uno's weights: 1 / G(time)^2 of the upper row.

    [Uno, Cai, Pencina, D'Agostino and Wei, "On the C-statistics for evaluating overall adequacy of
    risk prediction procedures with censored survival data", Stat. Med. 2011]
    G is the Kaplan-Meier estimate of being uncensored, right-continuous. The pairs' `upper` holds
    1 / G(time)^2 in whole multiples of 2^-52 of a power of two above the largest.

    Parameters
    ----------
    time : array (n,)
    event : bool array (n,)
    tau : float, optional
        Rows of this time or a later one weigh nothing as the upper row.
    train : (time, event), optional
        The rows from which G is estimated; by default the same ones.

    Raises
    ------
    InputError
        If an event is beyond the last time of `train`, or where G is zero: choose a smaller `tau`.
    """
    times, seen = as_survival(time, event)
    weight = censoring_weights(times, seen, tau, train)
    before = "" if tau is None else f", before tau = {tau:g}"
    with no_pair_means(NO_DEATH + before):
        return OrderedPairs(None, survival_key(times, seen), upper=weight)


def cross_group_pairs(
    y: object, member: object, above: object, below: object, positive: object = None
) -> OrderedPairs:
    """Return the positives of one group above the negatives of another: the xAUC.

    [Kallus and Zhou, "The fairness of risk scores beyond classification", NeurIPS 2019]

    Parameters
    ----------
    y, member : array (n,)
        Two kinds of labels, and the group of each row.
    above, below : label
        Groups of the positives and of the negatives.
    positive : label, optional
        The larger one by default.

    Raises
    ------
    InputError
        If the lengths differ, or a side has no row.
    """
    mask, groups = split_labels(y, positive)[0], column_of(member)
    if groups.shape != mask.shape:
        raise InputError(f"{mask.size} labels, but groups of shape {groups.shape}")
    upper, lower = mask & (groups == above), ~mask & (groups == below)
    with no_pair_means(f"no positive row is of {above!r}, or no negative one of {below!r}"):
        return OrderedPairs(None, mask.astype(float), upper=upper, lower=lower)


def group_auc_pairs(group: object, y: object, share: object = "equal") -> OrderedPairs:
    """Return the pairs whose mean is the mean over groups of each group's AUC (GAUC).

    [Zhou et al., "Deep interest network for click-through rate prediction", KDD 2018]
    Groups of one class have no pair and leave the mean.

    Parameters
    ----------
    group, y : array (n,)
        Of the two kinds of labels in y the larger one is positive.
    share : "equal", "rows" or array (n,)
        What each group weighs: one, its number of rows, or a number that its rows repeat.

    Raises
    ------
    InputError
        If a share is negative or not finite, or no group has both classes.
    """
    mask, groups = split_labels(y)[0], column_of(group)
    if isinstance(share, str) and share == "rows":
        codes = np.unique(groups, return_inverse=True)[1]
        share = np.bincount(codes)[codes].astype(float)
    with no_pair_means("no group has rows of both classes"):
        return OrderedPairs(groups, mask.astype(float), share=share)  # type: ignore[arg-type]


def ordered_pairs_of(
    y: object, qid: object, time: object, event: object, sample_weight: object = None
) -> OrderedPairs:
    heavy = "" if sample_weight is None else ", both of weight"
    if time is None:
        if event is not None:
            raise InputError("event needs time: give both")
        if qid is None:
            raise InputError("give qid with grades y, or time and event")
        if y is None:
            raise InputError("ranking by query needs y, the grades")
        grades = as_grades(y)
        weight = check_weights("sample_weight", sample_weight, grades.size)
        with no_pair_means(NO_GRADES + heavy):
            return OrderedPairs(column_of(qid), grades, weight, weight)
    if qid is not None or y is not None:
        raise InputError("survival takes time and event: leave y and qid None")
    values = as_float64(time, "time")
    times, seen = as_survival(values, np.ones(values.shape) if event is None else event)
    weight = check_weights("sample_weight", sample_weight, times.size)
    with no_pair_means(NO_DEATH + heavy):
        return OrderedPairs(None, survival_key(times, seen), weight * seen, weight)


def pairs_of_members(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> list[OrderedPairs]:
    """Return the pairs within each group, in the order of the groups' names."""
    found, whole = [], None
    for name in np.unique(member):
        try:
            whole = pairs_within(pairs, member) if whole is None else whole
            (a, b), gain = whole.by_row() * (member == name), whole.gain
            found.append(OrderedPairs(whole.group, whole.key, a, b, gain, form=whole.form))
        except NoPairError:
            raise NoPairError(
                f"worst_of: no two rows of group {name.item()!r} make a pair, so that it has no "
                "mean: leave its rows out, or join it with another group"
            ) from None
    return found


def pairs_within(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> OrderedPairs:
    """Return the pairs within any of the groups, together; arguments as above."""
    if pairs.n != member.size:
        raise InputError(f"{pairs.n} rows, but worst_of of shape {member.shape}")
    codes = np.unique(member, return_inverse=True)[1]
    if isinstance(pairs, OrderedPairs):
        both = np.stack([np.asarray(pairs.group, dtype=np.int64), codes])
        group = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        a, b, gain = pairs.upper, pairs.lower, pairs.gain
        return OrderedPairs(group, pairs.key, a, b, gain, form=pairs.form)
    positive, weight = pairs.positive, 1.0 if pairs.weight is None else pairs.weight
    return OrderedPairs(codes, positive, weight * positive, weight * ~positive)
