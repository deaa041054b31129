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
    return subsample(problem, max(least, min(problem.n // THINNING, 100 * least)))


def part_of(problem: Problem) -> Problem | None:
    """Return the problem over a part of many rows that are held, to start from; None for few."""
    space = problem.space
    if isinstance(problem.risk, Tail):
        return _part_of_tail(problem, problem.risk)
    pairs, found = problem.pairs, None
    size = max(problem.n // THINNING, LEAST_ROWS, ROWS_PER_COORDINATE * space.dim)
    if problem.n < max(FEWEST, 4 * size) or space.held is None:
        return None
    if isinstance(pairs, AllPairs):
        return subsample(problem, size)
    if isinstance(pairs, OrderedPairs):
        found = pairs.part(size, np.random.default_rng(0))
    return None if found is None else problem.on_rows(Rows(space.held.raw[found[0]]), found[1])


def _part_of_tail(problem: Problem, risk: Tail) -> Problem | None:
    """Return partial AUC over a part of many rows, of each class as large a part as before."""
    size = 20_000  # rows, of which only a part counts
    if problem.n <= 2 * size or problem.space.held is None:
        return None
    pairs = risk.mean.pairs
    wanted = _wanted(pairs.n_pos, pairs.n_neg, size)
    index = _thinned(problem, risk.positive, wanted)
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
        held = starting_sample(problem) or subsample(problem, problem.n)
        assert held is not None  # all rows have some of weight
        return held
    size = max(problem.n // THINNING, 4 * LEAST_ROWS, 10 * ROWS_PER_COORDINATE * space.dim)
    size = min(size, 50_000_000 // space.dim)  # numbers in the rows of a sample of groups (400 MB)
    if 2 * size < problem.n:
        drawn = space.drawn_groups(size)
        if drawn.key.size:
            with suppress(NoPairError):
                return _of_groups(problem, drawn)
    return _of_groups(problem, space.all_rows())


def _of_groups(problem: Problem, drawn: Drawn) -> Problem:
    pairs = OrderedPairs(drawn.group, drawn.key, drawn.weight, drawn.weight)
    return problem.on_rows(Rows(drawn.rows), pairs)


def subsample(problem: Problem, size: int) -> Problem | None:
    """Return the problem over about `size` rows, each class thinned evenly, held in memory; None
    where the rows with a weight above 0 are too few for that."""
    pairs, space, wanted = problem.pairs, problem.space, _wanted(problem.n_pos, problem.n_neg, size)
    if space.apart is not None:
        found, positive, weight, *_ = space.apart.drawn(*wanted[::-1])
        rows = Rows(found - space.apart.offset)
    else:
        index = _thinned(problem, pairs.positive, wanted)
        positive, weight = pairs.positive[index], pairs.weight
        weight = None if weight is None else weight[index]
        rows = Rows(space.rows(index), check=False, centred=True)
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        if space.apart is not None:
            raise InputError("the rows with a weight above 0 are so few that a sample has none")
        return None
    return problem.on_rows(rows, AllPairs(weight).on(positive))


def _thinned(problem: Problem, is_positive: np.ndarray, wanted: tuple[float, float]) -> np.ndarray:
    """Return ascending row numbers: of each class every k-th row, the first always."""
    chosen: list[np.ndarray] = []
    seen = [0, 0]
    for rows in problem.space.blocks():
        positive = is_positive[rows]
        for side, own in enumerate((positive, ~positive)):
            at = np.flatnonzero(own)
            chosen.append(rows.start + at[marks(seen[side], at.size, wanted[side])])
            seen[side] += at.size
    return np.sort(np.concatenate(chosen))
