"""A smaller problem of evenly spread rows of both classes: a warm start, never a proof."""

from __future__ import annotations

import numpy as np

from ..pairs.all_pairs import AllPairs
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from .problem import Problem

THINNING = 20
"""A large problem is first solved on one row in so many."""

LEAST_ROWS, ROWS_PER_COORDINATE = 5000, 20
"""A sample has at least so many rows, and so many a coordinate: fewer tell too little."""

MOST_ROWS = 100
"""A sample has at most so many times the least number: more would tell no more."""

LARGE = 10
"""A problem is large from so many times the least sample on: below, a sample saves nothing."""


def starting_sample(problem: Problem) -> Problem | None:
    """Return a sample of a large problem's rows to start from; None where it does not pay."""
    least = max(LEAST_ROWS, ROWS_PER_COORDINATE * problem.space.dim)
    if not isinstance(problem.pairs, AllPairs) or problem.n < LARGE * least:
        return None
    sample = subsample(problem, max(least, min(problem.n // THINNING, MOST_ROWS * least)))
    return sample if sample.n < problem.n else None


def subsample(problem: Problem, size: int) -> Problem:
    """Return the problem over about `size` rows, each class thinned evenly.

    Parameters
    ----------
    problem : Problem
        Over all pairs of `Rows` or `StreamedRows`.
    size : int
        Rows wanted; a class keeps at least about a tenth of them where it has so many.
    """
    assert isinstance(problem.space, Rows | StreamedRows) and isinstance(problem.pairs, AllPairs)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    least = size // 10
    want_pos = min(n_pos, max(least, round(size * n_pos / problem.n)))
    want_neg = min(n_neg, max(least, round(size * n_neg / problem.n)))
    index = thinned(problem, want_pos / n_pos, want_neg / n_neg)
    weight = None if problem.pairs.weight is None else problem.pairs.weight[index]
    positive = problem.pairs.positive[index]
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        return problem
    rows = problem.space.rows(index)
    return problem.on_rows(Rows(rows, check=False), AllPairs(weight).on(positive))


def thinned(problem: Problem, share_pos: float, share_neg: float) -> np.ndarray:
    """Return ascending row numbers: of each class every k-th row, the first always."""
    chosen: list[np.ndarray] = []
    seen_pos = seen_neg = 0
    for rows in problem.space.blocks():
        positive = problem.pairs.positive[rows]
        plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
        chosen.append(rows.start + plus[_marks(seen_pos, plus.size, share_pos)])
        chosen.append(rows.start + minus[_marks(seen_neg, minus.size, share_neg)])
        seen_pos, seen_neg = seen_pos + plus.size, seen_neg + minus.size
    return np.sort(np.concatenate(chosen))


def _marks(seen: int, more: int, share: float) -> np.ndarray:
    """Return which of a class's next `more` rows are taken: number k if k = floor(m / share).

    `seen` rows came before.
    """
    first, last = int(np.ceil(seen * share)), int(np.ceil((seen + more) * share)) + 1
    at = (np.arange(first, last) / share).astype(np.int64) - seen
    return at[(at >= 0) & (at < more) & (np.diff(at, prepend=-1) > 0)]
