"""A smaller problem of evenly spread rows of both classes: a warm start, never a proof."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np

from ..errors import InputError, NoPairError
from ..pairs.all_pairs import AllPairs
from ..pairs.ordered_pairs import OrderedPairs
from ..spaces.partitions import Drawn, marks
from ..spaces.rows import Rows
from .problem import Problem
from .risk import Mean
from .tail import Tail

THINNING = 20  # a large problem is first solved on one row in this many
LEAST_ROWS = 5000  # rows of a sample: fewer say too little
ROWS_PER_COORDINATE = 20  # rows of a sample: fewer say too little of a coordinate
LARGE = 10  # rows of a large problem, in least samples: below, sampling saves nothing
FEWEST = LARGE * LEAST_ROWS  # rows of a large problem, however few its coordinates


def starting_sample(problem: Problem) -> Problem | None:
    """Return a sample of a large problem's rows to start from; None where it does not pay."""
    least = max(LEAST_ROWS, ROWS_PER_COORDINATE * problem.space.dim)
    if not isinstance(problem.pairs, AllPairs) or problem.n < LARGE * least:
        return None
    # 100: most rows of a sample, in least ones: more say no more
    sample = subsample(problem, max(least, min(problem.n // THINNING, 100 * least)))
    return sample if sample.n < problem.n else None


def part_of(problem: Problem) -> Problem | None:
    """Return the problem over a part of many rows that are held, to start from; None for few."""
    space = problem.space
    if isinstance(problem.risk, Tail):
        return _part_of_tail(problem, problem.risk)
    pairs = problem.pairs
    size = max(problem.n // THINNING, LEAST_ROWS, ROWS_PER_COORDINATE * space.dim)
    if problem.n < max(FEWEST, 4 * size) or space.held is None:
        return None
    if isinstance(pairs, AllPairs):
        sample = subsample(problem, size)
        return sample if sample.n < problem.n else None
    if not isinstance(pairs, OrderedPairs):
        return None
    found = pairs.part(size, np.random.default_rng(0))
    if found is None:
        return None
    return Problem(Rows(space.held.raw[found[0]]), Mean(found[1], problem.loss), problem.penalty)


def _part_of_tail(problem: Problem, risk: Tail) -> Problem | None:
    """Return partial AUC over a part of many rows, of each class as large a part as before."""
    size = 20_000  # rows, of which only a part counts
    if problem.n <= 2 * size or problem.space.held is None:
        return None
    pairs = risk.mean.pairs
    wanted = _wanted(pairs.n_pos, pairs.n_neg, size)
    index = _thinned(problem, risk.positive, *wanted)
    few = AllPairs(form=pairs.form).on(risk.positive[index])
    # The parts in thousandths: sums of row weights stay whole numbers.
    kp, kq = (
        min(max(Fraction(round(1000 * k * share), 1000), Fraction(1)), Fraction(n))
        for k, share, n in zip((risk.kp, risk.kq), wanted, (few.n_pos, few.n_neg), strict=True)
    )
    rows = Rows(problem.space.held.rows(index), check=False, centred=True)
    return Problem(rows, Tail(Mean(few, risk.mean.loss), kp, kq), problem.penalty)


def _wanted(n_pos: int, n_neg: int, size: int) -> tuple[float, float]:
    """Return the shares of both classes in a sample of about `size` rows."""
    least, n = size // 10, n_pos + n_neg
    plus, minus = (min(k, max(least, round(size * k / n))) / k for k in (n_pos, n_neg))
    return plus, minus


def held_part(problem: Problem) -> Problem:
    """Return a sample, held in memory, of rows in blocks or partitions; all of them where few."""
    space = problem.space.grouped
    if space is None:
        sample = starting_sample(problem)
        if sample is not None:
            return sample
        if problem.space.apart is not None:
            return from_partitions(problem, 1.0, 1.0)
        if not problem.space.in_blocks:
            return problem
        rows = problem.space.rows(np.arange(problem.n))
        return problem.over(Rows(rows, check=False, centred=True))
    size = max(problem.n // THINNING, 4 * LEAST_ROWS, 10 * ROWS_PER_COORDINATE * space.dim)
    size = min(size, 50_000_000 // space.dim)  # numbers in the rows of a sample of groups (400 MB)
    for drawn in (space.drawn_groups(size),) if 2 * size < problem.n else ():
        if drawn.key.size:
            with suppress(NoPairError):
                return _of_groups(problem, drawn)
    return _of_groups(problem, space.all_rows())


def _of_groups(problem: Problem, drawn: Drawn) -> Problem:
    pairs = OrderedPairs(drawn.group, drawn.key, drawn.weight, drawn.weight)
    return Problem(Rows(drawn.rows), Mean(pairs, problem.loss), problem.penalty)


def subsample(problem: Problem, size: int) -> Problem:
    """Return the problem over about `size` rows, each class thinned evenly."""
    assert isinstance(problem.pairs, AllPairs)
    wanted = _wanted(problem.n_pos, problem.n_neg, size)
    if problem.space.apart is not None:
        return from_partitions(problem, *wanted)
    index = _thinned(problem, problem.pairs.positive, *wanted)
    weight = None if problem.pairs.weight is None else problem.pairs.weight[index]
    positive = problem.pairs.positive[index]
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        return problem
    rows = problem.space.rows(index)
    return problem.on_rows(Rows(rows, check=False, centred=True), AllPairs(weight).on(positive))


def from_partitions(problem: Problem, share_pos: float, share_neg: float) -> Problem:
    """Return the problem over a share of each class of rows in partitions."""
    space = problem.space.apart
    assert space is not None
    rows, positive, weight, *_ = space.drawn(share_neg, share_pos)
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        raise InputError("the rows with a weight above 0 are so few that a sample has none")
    return problem.on_rows(Rows(rows - space.offset), AllPairs(weight).on(positive))


def _thinned(
    problem: Problem, is_positive: np.ndarray, share_pos: float, share_neg: float
) -> np.ndarray:
    """Return ascending row numbers: of each class every k-th row, the first always."""
    chosen: list[np.ndarray] = []
    seen_pos = seen_neg = 0
    for rows in problem.space.blocks():
        positive = is_positive[rows]
        plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
        chosen.append(rows.start + plus[marks(seen_pos, plus.size, share_pos)])
        chosen.append(rows.start + minus[marks(seen_neg, minus.size, share_neg)])
        seen_pos, seen_neg = seen_pos + plus.size, seen_neg + minus.size
    return np.sort(np.concatenate(chosen))
