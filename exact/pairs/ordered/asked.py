"""The ordered pairs that `y`, `qid`, `time` and `event` of a call mean together."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...tools.checks import as_numbers
from .columns import as_grades, check_weights, no_pair_means
from .kinds import NO_DEATH, NO_GRADES, query_pairs, survival_key, survival_pairs
from .ordered_pairs import OrderedPairs
from .survival_times import as_survival


def ordered_pairs_of(
    y: object, qid: object, time: object, event: object, sample_weight: object = None
) -> OrderedPairs:
    """Return the pairs by query, or those of survival."""
    if time is None:
        if event is not None:
            raise InputError("event goes with time: give both")
        if qid is None:
            raise InputError("give qid with grades y, or time and event")
        if y is None:
            raise InputError("ranking by query needs y, the grades")
        if sample_weight is None:
            return query_pairs(qid, y)
        grades = as_grades(y)
        weight = check_weights("sample_weight", sample_weight, grades.size)
        with no_pair_means(f"{NO_GRADES}, both of weight"):
            return OrderedPairs(qid, grades, weight, weight)
    if qid is not None or y is not None:
        raise InputError("survival takes time and event: leave y and qid None")
    values = as_numbers("time", time)
    times, seen = as_survival(values, np.ones(values.shape) if event is None else event)
    if sample_weight is None:
        return survival_pairs(times, seen)
    weight = check_weights("sample_weight", sample_weight, times.size)
    with no_pair_means(f"{NO_DEATH}, both of weight"):
        return OrderedPairs(None, survival_key(times, seen), weight * seen, weight)
