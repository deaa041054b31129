"""Claims about Theorem 4' and Theorem 4 beside the true errors [ScalingUp, Section 3.2].

All of them judge the same draws, those of `grid`: they are made once a process.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .....exact.spaces.kernels import Gaussian, Kernel
from ....bounds.experiment import (
    EXCESS,
    EXCESS_PRIOR,
    NYSTROM,
    POSTERIOR,
    PRINTED,
    PRIOR,
    REALISED,
    REPAIRED,
    prepare,
)
from ....bounds.right_side import DELTA
from ....data import datasets
from ....data.labelled_data import Dataset
from ....extremes import max, min
from ....plots import Figure
from ...claim import Context, Outcome, Verdict
from ...common import LEVEL, lower_limit, upper_limit, wdbc_sample
from .prime_shown import Cell, part_picture, pictures, sandwiched, table, without_draws

LAMS = (1.0, 0.1)
DOUBT = 1e-3  # Level of the upper confidence limit of the probability of a violation.


def bound_data(context: Context) -> list[tuple[Dataset, Kernel]]:
    """Return breast cancer rows and the two models of [ScalingUp, Section 4.1], with kernels."""
    n = 100 if context.quick else 200
    wdbc = wdbc_sample(context, 2 * n // 5, n - 2 * n // 5)
    models = [
        datasets.load(f"{name}:{n}", context.draw_seed(name)) for name in ("linear", "radial")
    ]
    return [(wdbc, Gaussian(0.02)), *((data, Gaussian(0.5)) for data in models)]


@lru_cache(maxsize=1)
def grid(seed: int, profile: str) -> tuple[Cell, ...]:
    """Return the draws that the claims below judge: the same for all, whoever asks first.

    Three data sets, two lam, d = n/20, n/5 and n uniform landmarks, B = n, 16 n and 256 n, and
    5 draws of each (20 in the full profile), the first with the realised norms for Theorem 4.
    """
    context = Context("theorem-4-grid", seed, profile)
    n_draws, cells = (5 if context.quick else 20), []
    for data, kernel in bound_data(context):
        n = data.X.shape[0]
        for lam in LAMS:
            for d in (n // 20, n // 5, n):
                stream = f"{data.name}/{lam:g}/{d}"
                case = prepare(data.X, data.y, kernel, lam, d, context.draw_seed(stream))
                rng = context.rng(stream)
                for B in (n, 16 * n, 256 * n):
                    draws = [case.draw(B, rng, DELTA, realised=k == 0) for k in range(n_draws)]
                    cells.append(Cell(data, lam, d, B, draws))
    return tuple(cells)


def _ratios(cells: list[Cell], name: str) -> np.ndarray:
    """Return the median of bound / true error of each cell."""
    return np.array([cell.median(lambda draw: draw.bounds[name].ratio or np.inf) for cell in cells])


def refuted(hits: list[int], counts: list[int]) -> bool:
    """Whether violations refute "with probability at most delta in every cell".

    By the draws of one cell, or by all together: where each cell's probability is at most delta,
    the sum of the violations is stochastically below a binomial variable of delta.
    """
    limits = [lower_limit(hit, count) for hit, count in zip(hits, counts, strict=True)]
    return max(*limits, lower_limit(sum(hits), sum(counts))) > DELTA


def _corrected(context: Context, name: str, prior: str | None, certain: bool) -> Outcome:
    """Judge one part of Theorem 4' by all draws.

    A part that holds always fails by one violation; one that holds with probability 1 - delta
    fails where the draws of one cell, or of all, put the probability of a violation above delta.
    It is called loose where the bound is ten times the error or more in every cell. What holds
    always does not depend on the draw: a data set, lam and landmarks count once.
    """
    cells = grid(context.seed, context.profile)
    cells = without_draws(cells) if certain else cells
    draws = [draw for cell in cells for draw in cell.draws]
    hits = [sum(name in draw.violated for draw in cell.draws) for cell in cells]
    false = sum(hits) > 0 if certain else refuted(hits, [len(cell.draws) for cell in cells])
    # Without a Nystrom error (A) compares rounding with rounding.
    shown = [cell for cell in cells if not (certain and cell.all_rows)]
    ratios = np.array(
        [cell.median(lambda draw: draw.bounds[name].ratio or np.inf) for cell in shown]
    )
    vacuous = [draw.bounds[name].vacuous for cell in shown for draw in cell.draws]
    verdict = Verdict.LOOSE if ratios.min() >= 10 else Verdict.HOLDS
    verdict = Verdict.VACUOUS if all(vacuous) else verdict
    count, unit = len(draws), "problems" if certain else "draws"
    details: dict[str, Any] = {
        unit: count,
        "violated": sum(hits),
        "bound / true error: least, quartiles, largest": np.quantile(
            ratios, [0, 0.25, 0.5, 0.75, 1]
        ).tolist(),
        f"share of {unit} where the bound is vacuous": float(np.mean(vacuous)),
    }
    figures: tuple[Figure, ...] = ()
    if certain:
        details |= sandwiched(shown, name)
    else:
        # Given data and landmarks the pairs of each draw are new. Where cells differ in their
        # probability, the binomial limit is that of its mean over them (Hoeffding, 1956).
        details[
            "upper limit of the probability of a violation, the mean over these cells (exact, "
            f"level {DOUBT:g})"
        ] = upper_limit(sum(hits), count, DOUBT)
    if prior is not None:
        priors = _ratios(shown, prior)
        details["a priori: violated"] = sum(prior in draw.violated for draw in draws)
        details["a priori bound / true error: least, median, largest"] = np.quantile(
            priors, [0, 0.5, 1]
        ).tolist()
        figures = (part_picture(cells, name, prior),)
    least, middle = ratios.min(), float(np.median(ratios))
    return Outcome(
        Verdict.FAILS if false else verdict,
        f"violated in {sum(hits)} of {count} {unit}; bound / error {least:.2g} at best, "
        f"median {middle:.2g}",
        details=details,
        data=[cell.data for cell in cells],
        tolerance="no violation beyond the certified gaps"
        if certain
        else f"refuted by a lower confidence limit (exact, level {LEVEL:g}) of the probability, of "
        f"one cell or of all, above delta = {DELTA:g}",
        figures=figures,
    )


def theorem_4_prime_nystrom_loss(context: Context) -> Outcome:
    return _corrected(context, NYSTROM, None, certain=True)


def theorem_4_prime_excess_risk(context: Context) -> Outcome:
    return _corrected(context, EXCESS, EXCESS_PRIOR, certain=False)


def theorem_4_prime_losses(context: Context) -> Outcome:
    return _corrected(context, POSTERIOR, PRIOR, certain=False)


def _printed(cells: tuple[Cell, ...], name: str, figures: tuple[Figure, ...] = ()) -> Outcome:
    """Judge Theorem 4 by the draws: violated, never below 1 where d < n, never below ten errors?"""
    draws = [draw for cell in cells for draw in cell.draws]
    readings = (name, REALISED) if name == PRINTED else (name,)
    violated = sum(any(reading in draw.violated for reading in readings) for draw in draws)
    fewer = [draw for cell in cells if not cell.all_rows for draw in cell.draws]
    least = min(draw.bounds[name].at_least for draw in fewer)
    ratios = [draw.bounds[name].at_least / draw.loss_difference for draw in fewer]
    exact = [draw.bounds[name].at_least for c in cells if c.all_rows for draw in c.draws]
    realised = [d.bounds[REALISED].at_least for d in fewer if REALISED in d.bounds]
    verdict = Verdict.LOOSE if min(ratios) >= 10 else Verdict.HOLDS
    return Outcome(
        Verdict.FAILS if violated else (Verdict.VACUOUS if least >= 1 else verdict),
        f"violated in {violated} of {len(draws)} draws; with d < n never below {least:.3g}, median "
        f"bound / error {np.median(ratios):.2g}",
        printed="bounded with high probability" if name == PRINTED else None,
        details={
            "draws": len(draws),
            "violated": violated,
            "d < n: least right side": least,
            "d < n: least right side with the realised norms and n^(3/2)": min(realised),
            "d < n: right side / true error, median": float(np.median(ratios)),
            "d = n (no Nystrom error): least and largest right side": [min(exact), max(exact)],
            "table": "true error; Theorem 4' a posteriori; 4' a priori; Theorem 4 as printed, at "
            "least; with n^(5/2), at least (medians over the draws)",
        }
        | table(cells),
        data=[cell.data for cell in cells],
        tolerance="vacuous from 1; C = C_B = C~_B = 1/lam; an eigenvalue below rounding is taken "
        "as large as it may be",
        figures=figures,
    )


def theorem_4_against_true_errors(context: Context) -> Outcome:
    cells = grid(context.seed, context.profile)
    return _printed(cells, PRINTED, pictures(cells))


def theorem_4_on_ordinary_data(context: Context) -> Outcome:
    cells = grid(context.seed, context.profile)
    wdbc = cells[0].data
    return _printed(tuple(c for c in cells if c.data is wdbc and c.B == len(wdbc.y)), PRINTED)


def theorem_4_five_halves_against_true_errors(context: Context) -> Outcome:
    return _printed(grid(context.seed, context.profile), REPAIRED)
