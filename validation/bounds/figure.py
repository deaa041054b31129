"""The picture of a bound next to the true error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..extremes import max, min
from ..plots import Figure, Series
from .experiment import POSTERIOR, PRINTED, PRIOR, Draw


def part_figure(
    draws: Sequence[Draw], parts: tuple[str, str], left: str, title: str, name: str
) -> Figure:
    """Return the picture of one part of Theorem 4': its left side, the bound, and that a priori."""
    sizes = sorted({draw.B for draw in draws})
    groups = [[draw.bounds for draw in draws if draw.B == B] for B in sizes]
    first, prior = parts
    errors = [float(np.median([b[first].left_side or 0.0 for b in group])) for group in groups]
    series = [Series.of("true value", sizes, errors)]
    for label, part in (("bound", first), ("bound, a priori", prior)):
        totals = [float(np.median([b[part].total for b in group])) for group in groups]
        series.append(Series.of(label, sizes, totals))
    series.append(Series.of("largest possible value", sizes, [1.0] * len(sizes), True))
    caption = "Medians over the draws. Above 1 a bound says nothing."
    label = f"{left}, {_sample(draws)}"
    return Figure(name, title, "drawn pairs, B", label, tuple(series), caption)


def _sample(draws: Sequence[Draw]) -> str:
    """Say of how many draws a point is the median."""
    each = {sum(draw.B == B for draw in draws) for B in {draw.B for draw in draws}}
    if each == {1}:
        return "one draw each"
    return f"median of {' to '.join(str(n) for n in sorted({min(each), max(each)}))} draws"


def bound_figure(draws: Sequence[Draw], title: str, name: str = "bounds-and-errors") -> Figure:
    """Return the picture of medians against B: the true error and the bounds on it."""
    sizes = sorted({draw.B for draw in draws})
    groups = [[draw for draw in draws if draw.B == B] for B in sizes]

    def medians(values: Sequence[Sequence[float]]) -> list[float]:
        return [float(np.median(group)) for group in values]

    shown = {
        "true error": [[draw.loss_difference for draw in group] for group in groups],
        "Theorem 4'": [[draw.bounds[POSTERIOR].total for draw in group] for group in groups],
        "Theorem 4', a priori": [[draw.bounds[PRIOR].total for draw in group] for group in groups],
        "Theorem 4, at least": [[draw.bounds[PRINTED].at_least for draw in g] for g in groups],
    }
    series = [Series.of(label, sizes, medians(values)) for label, values in shown.items()]
    series.append(Series.of("largest possible error", sizes, [1.0] * len(sizes), True))
    return Figure(
        name,
        title,
        "drawn pairs, B",
        f"error and its bounds, {_sample(draws)}",
        tuple(series),
        "Medians over the draws. Above 1 a bound says nothing. Theorem 4 as printed, with "
        "C = C_B = C~_B = 1/lam and the realised N_max.",
    )
