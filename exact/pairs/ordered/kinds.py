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

import numpy as np

from ...errors import InputError
from ...tools.lossless import check_labels
from ..labels import split_labels
from .columns import as_grades, no_pair_means
from .ordered_pairs import OrderedPairs
from .survival_times import as_survival, censoring_weights

NO_GRADES = "no query has two rows of different grades"

NO_DEATH = "no row has an event before the time of another one"


def query_pairs(
    qid: object, grade: object, gain: bool = False, share: np.ndarray | str | None = None
) -> OrderedPairs:
    """Return rows above rows of the same query and a smaller grade.

    [Joachims, "Optimizing search engines using clickthrough data", KDD 2002]

    Parameters
    ----------
    qid : array (n,)
        The query of each row.
    grade : array (n,)
        Larger is better.
    gain : bool
        Whether pairs weigh grade_i - grade_j, for whole grades >= 0; one each by default.
    share : array (n,) or "equal", optional
        What each query weighs, as in `OrderedPairs`; "equal" is the mean over queries. By default
        every pair weighs the same.

    Raises
    ------
    InputError
        If a grade is not finite, a gain not whole, or no two rows are ordered.
    """
    grades = as_grades(grade)
    with no_pair_means(NO_GRADES):
        return OrderedPairs(_column(qid), grades, gain=grades if gain else None, share=share)


def ordinal_pairs(grade: object, gain: bool = False) -> OrderedPairs:
    """Return rows above all rows of a smaller grade; arguments as in `query_pairs`.

    Raises
    ------
    InputError
        As `query_pairs`.
    """
    grades = as_grades(grade)
    with no_pair_means("all rows have one grade"):
        return OrderedPairs(None, grades, gain=grades if gain else None)


def survival_pairs(time: object, event: object) -> OrderedPairs:
    """Return the comparable pairs of Harrell's C: an earlier death above a later or no death.

    [Harrell, Califf, Pryor, Lee and Rosati, "Evaluating the yield of medical tests", JAMA 1982]

    A row whose event was seen at `time` is above the rows of a later time and above those censored
    at the same time; two events at one time are no pair. A larger score means a higher risk.

    Parameters
    ----------
    time : array (n,)
        Time of the event, or of censoring.
    event : bool array (n,)
        Whether the event was seen.

    Raises
    ------
    InputError
        If a time is not finite, an event is neither 0 nor 1, or no two rows are comparable.
    """
    times, seen = as_survival(time, event)
    with no_pair_means(NO_DEATH):
        return OrderedPairs(None, survival_key(times, seen), upper=seen)


def uno_pairs(
    time: object,
    event: object,
    tau: float | None = None,
    train: tuple[object, object] | None = None,
) -> OrderedPairs:
    """Return the comparable pairs with Uno's weights: 1 / G(time)^2 of the upper row.

    [Uno, Cai, Pencina, D'Agostino and Wei, "On the C-statistics for evaluating overall adequacy of
    risk prediction procedures with censored survival data", Stat. Med. 2011]

    G is the Kaplan-Meier estimate of being uncensored, right-continuous. Weights are those that
    `upper` has: 1 / G(time)^2 in whole multiples of 2^-52 of a power of two above the largest.

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
    y : array (n,)
        Two kinds of labels.
    member : array (n,)
        The group of each row.
    above, below : label
        Groups of the positives and of the negatives.
    positive : label, optional
        The larger one by default.

    Raises
    ------
    InputError
        If the lengths differ, or a side has no row.
    """
    mask, _, _ = split_labels(y, positive)
    groups = _column(member)
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
    group : array (n,)
    y : array (n,)
        Two kinds of labels, the larger one positive.
    share : "equal", "rows" or array (n,)
        What each group weighs: one, its number of rows, or a number that its rows repeat.

    Raises
    ------
    InputError
        If a share is negative or not finite, or no group has both classes.
    """
    mask, _, _ = split_labels(y)
    groups = _column(group)
    if isinstance(share, str) and share == "rows":
        inverse = np.unique(groups, return_inverse=True)[1]
        share = np.bincount(inverse)[inverse].astype(float)
    with no_pair_means("no group has rows of both classes"):
        return OrderedPairs(groups, mask.astype(float), share=share)  # type: ignore[arg-type]


def _column(values: object) -> np.ndarray:
    labels = check_labels(values)
    if labels.ndim != 1:
        raise InputError(f"groups must have one label a row; their shape is {labels.shape}")
    return labels


def survival_key(times: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return -(2 rank(time) + censored): larger for earlier rows, events first at equal times."""
    rank = np.unique(times, return_inverse=True)[1]
    return -(2.0 * rank + ~seen)
