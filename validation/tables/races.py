"""Choosing by cross-validation without running all folds of what cannot win.

A mean over the folds is at most what it would be if all folds still to come gave the highest
value there is. So a candidate whose mean cannot reach that of a finished one is left: the choice
is provably the one that all folds of all candidates would have given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Rounding of the means, as a share of the highest value: what is so close is not left.
SLACK = 1e-9

DIGITS = 12  # Means that agree in so many decimals are equal.

# Of (candidate, fold): what its variants reach, say along a path of lam.
Values = Callable[[int, int], Sequence[float]]


@dataclass(frozen=True)
class Race:
    """Who won."""

    winner: int
    variant: int
    mean: float
    run: int


def race(candidates: int, folds: int, values: Values, highest: float = 1.0) -> Race:
    """Return the candidate and variant of the highest mean over the folds."""
    found = [[values(candidate, 0)] for candidate in range(candidates)]
    order = sorted(range(candidates), key=lambda at: -max(found[at][0]))  # the likely ones first
    best = (float("-inf"), 0, 0)
    for candidate in order:
        mine = found[candidate]
        while len(mine) < folds and _most(mine, folds, highest) >= best[0] - SLACK * highest:
            mine.append(values(candidate, len(mine)))
        if len(mine) == folds:
            means = [round(sum(column) / folds, DIGITS) for column in zip(*mine, strict=True)]
            top = max(means)
            best = max(best, (top, -candidate, -means.index(top)))
    return Race(-best[1], -best[2], best[0], sum(map(len, found)))


def _most(values: Sequence[Sequence[float]], folds: int, highest: float) -> float:
    """Return the mean that the best variant could still come to."""
    left = highest * (folds - len(values))
    return max((sum(column) + left) / folds for column in zip(*values, strict=True))
