"""Claims about the square loss as an average over rows, and hard thresholding [SHT].

Also what the published experiments' configuration comes to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....approx.sht import StochasticHardThresholding, sparse_problem
from ....approx.thresholding import hard_threshold
from ....exact.pairs.all_pairs import AllPairs
from ....exact.spaces.rows import Rows
from ....exact.square_loss.row_average import RowAverage, moments
from ...data import datasets
from ...data.generators import sparse_mean_shift
from ...data.labelled_data import Dataset
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict


def _sets(context: Context) -> list[Dataset]:
    """Return breast cancer rows as they are, and the paper's own model, small."""
    n = 200 if context.quick else 1000
    shift = sparse_mean_shift(n, context.draw_seed("shift"), d=n // 4, k_star=10)
    return [datasets.load("wdbc"), shift]


def pairwise(X: np.ndarray, positive: np.ndarray, w: np.ndarray) -> float:
    """Return the mean of (1 - w'(x_i - x_j))^2 over the pairs, from the definition."""
    scores = X @ w
    return float(np.mean(np.square(1 - scores[positive][:, None] + scores[~positive])))


def _points(data: Dataset, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return random weights with scores of order one: (count, d)."""
    size = data.X.std(axis=0) * np.sqrt(data.X.shape[1])
    return rng.standard_normal((count, data.X.shape[1])) / size


def prop_1_pairwise_is_an_average_over_rows(context: Context) -> Outcome:
    worst, count, sets = 0.0, 5 if context.quick else 50, _sets(context)
    rng = context.rng("weights")
    for data in sets:
        for shift in (0.0, 1e3):  # of every feature: the loss does not depend on the origin
            X = data.X + shift * data.X.std(axis=0)
            loss = sparse_problem(X, data.y)
            for w in _points(data, rng, count):
                exact = pairwise(X, data.is_positive, w)
                worst = max(worst, abs(loss.value(w) - exact) / exact)
    return Outcome(
        Verdict.HOLDS if worst <= 1e-9 else Verdict.FAILS,
        f"largest relative difference {worst:.1e}",
        details={"points": 4 * count, "largest relative difference": worst},
        data=sets,
        tolerance="1e-9: shifted by 1,000 standard deviations, doubles have 13 digits left",
    )


def prop_1_in_blocks_needs_all_rows_means(context: Context) -> Outcome:
    data = _sets(context)[0]
    rng = context.rng("weights")
    w = _points(data, rng, 1)[0]
    loss = sparse_problem(data.X, data.y)
    whole = loss.gradient(w)
    blocks = StochasticHardThresholding(1, n_blocks=7).blocks(loss, context.rng("blocks"))
    right = np.mean([block.gradient(w) for block in blocks], axis=0)
    own = np.mean([_on_its_own(block).gradient(w) for block in blocks], axis=0)
    errors = [float(np.linalg.norm(g - whole) / np.linalg.norm(whole)) for g in (right, own)]
    return Outcome(
        Verdict.HOLDS if errors[0] <= 1e-10 < 1e-3 < errors[1] else Verdict.FAILS,
        f"off by {errors[0]:.1e}; with each block's own means by {errors[1]:.1%}",
        details={
            "sizes of the blocks": [block.mass.size for block in blocks],
            "relative error of the mean gradient": errors[0],
            "the same with each block's own means and shares": errors[1],
        },
        data=(data,),
        tolerance="1e-10 for the right form, more than 1e-3 for the other",
    )


def _on_its_own(block: RowAverage) -> RowAverage:
    return RowAverage.of(Rows(np.asarray(block.X)), block.positive)


def _hessian(context: Context, factor: float) -> Outcome:
    """Judge Hessian = factor M by second differences of F, which is quadratic."""
    worst, ratios, sets = 0.0, [], _sets(context)
    rng = context.rng("directions")
    for data in sets:
        X, positive = data.X, data.is_positive
        M = moments(Rows(X), positive, AllPairs()).M
        for w, v in zip(*(_points(data, rng, 5) for _ in range(2)), strict=True):
            there, back, here = (pairwise(X, positive, w + t * v) for t in (1.0, -1.0, 0.0))
            curvature, form = there + back - 2 * here, float(v @ M @ v)
            ratios.append(curvature / form)
            worst = max(worst, abs(curvature / (factor * form) - 1))
    return Outcome(
        Verdict.HOLDS if worst <= 1e-6 else Verdict.FAILS,
        f"v'(Hessian)v / v'Mv between {min(ratios):.6f} and {max(ratios):.6f}",
        printed="1" if factor == 1 else None,
        details={"directions": len(ratios), "largest relative difference": worst},
        data=sets,
        tolerance="1e-6, of second differences of the double sum",
    )


def hessian_as_printed(context: Context) -> Outcome:
    return _hessian(context, 1.0)


def hessian_with_the_factor_two(context: Context) -> Outcome:
    return _hessian(context, 2.0)


def eq_6_keeps_k_entries(context: Context) -> Outcome:
    rng = context.rng("weights")
    kept = {
        literal: [
            np.count_nonzero(hard_threshold(rng.standard_normal(50), k, literal)) - k
            for k in range(1, 50)
        ]
        for literal in (True, False)
    }
    return Outcome(
        Verdict.HOLDS if not any(kept[True]) else Verdict.FAILS,
        f"keeps k{max(kept[True]):+d} entries for every k from 1 to 49"
        if len(set(kept[True])) == 1
        else "keeps different numbers",
        printed="k",
        details={
            "entries kept less k, eq. (6), least and largest": [min(kept[True]), max(kept[True])],
            "the same with ties filled up": [min(kept[False]), max(kept[False])],
        },
        tolerance="whole numbers",
    )


def sht_keeps_exactly_k_features(context: Context) -> Outcome:
    data = _published(context, 0.05, 0)
    loss, holds, largest = sparse_problem(data.X, data.y), True, 0.0
    details: dict[str, Any] = {}
    for k in (1, 20, 60, 100):
        for m in (1, 10):
            solver = StochasticHardThresholding(k, n_blocks=m, max_epochs=20)
            found = solver.solve(loss)
            holds &= found.support.size == k and found.objective < 1
            largest = max(largest, found.objective)
            details[f"k = {k}, {m} blocks: features, F"] = [found.support.size, found.objective]
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"k features in all 8 runs, F at most {largest:.3f}" if holds else "another number",
        details=details,
        data=(data,),
        tolerance="whole numbers",
    )


def _published(context: Context, r: float, at: int) -> Dataset:
    """Return the paper's simulated data, rows brought to length one as in its experiments."""
    seed = context.draw_seed(f"{r:g}/{at}")
    return sparse_mean_shift(1000, seed, d=1000, k_star=20, r=r, normalize=True)


def published_sht_is_mean_difference_screening(context: Context) -> Outcome:
    shares, copies = (0.05, 0.5), 1 if context.quick else 10
    cosines, overlaps, sizes, used = [], [], [], []
    for r in shares:
        for at in range(copies):
            data = _published(context, r, at)
            used.append(data)
            loss = sparse_problem(data.X, data.y)
            for k in (20, 60, 100):
                for m in (1, 10):
                    solver = StochasticHardThresholding(
                        k, n_blocks=m, max_epochs=50, mode="authors"
                    )
                    found = solver.solve(loss)
                    cosines.append(_cosine(found.w, hard_threshold(loss.delta, k - 1)))
                    overlaps.append(found.screening_overlap)
                    sizes.append(found.support.size - k)
    holds = min(cosines) >= 0.99 and min(overlaps) == 1.0 and set(sizes) == {-1}
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"cosine at least {min(cosines):.4f}, overlap of the supports {min(overlaps):.3f}",
        details={
            "runs": len(cosines),
            "cosine, least and mean": [min(cosines), float(np.mean(cosines))],
            "overlap with screening, least": min(overlaps),
            "features less k, least and largest": [min(sizes), max(sizes)],
        },
        data=used,
        tolerance="cosine 0.99, the same features",
    )


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
