"""[SAUC, Figs. 1 and 2]: what the structure does to the line between two Gaussians.

The paper does not give the Gaussians. Here two of one oblique covariance are drawn, far enough
apart that the few training rows are nearly separable: AUC-SVM is then held by few pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....exact.api.path import regularization_path
from ....exact.estimators.thresholds import RULES
from ....exact.pairs.all_pairs import AllPairs
from ....exact.pairs.auc import auc
from ...data.printed_numbers import printed
from ...plots import Series
from ..pictures import Panel, Picture
from ..table import Budget, Experiment, Job, Page, Part, Results, Run, Sheet, Table
from .machines import PAPER, PLAIN, STRUCTURED

MEANS = ((0.0, 0.0), (1.6, 0.0))
COVARIANCE = ((0.3, 0.45), (0.45, 1.2))

BUDGET = (
    Budget("draws", 1, 40, 400),
    Budget("training rows a class", "not printed", 12, 12),
    Budget("test rows a class", "not printed", 60, 60),
    Budget("C", "not printed", 1.0, 1.0),
    Budget("lambda", "not printed", 100.0, 100.0),
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each draw."""
    return [Part(f"draw={draw}", {"draw": draw}) for draw in range(budget["draws"])]


def _drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    factor = np.linalg.cholesky(np.array(COVARIANCE))
    X = np.concatenate([m + rng.standard_normal((rows, 2)) @ factor.T for m in np.array(MEANS)])
    return X, np.arange(2 * rows) >= rows


def compute(job: Job) -> dict[str, Any]:
    """Fit both machines to one draw; the first draw keeps its rows for the pictures."""
    rng = job.rng(f"draw {job['draw']}")
    X, positive = _drawn(rng, job.budget["training rows a class"])
    test, test_positive = _drawn(rng, job.budget["test rows a class"])
    lam = 1 / (job.budget["C"] * AllPairs().on(positive).count())
    found: dict[str, Any] = {"gap": 0.0}
    for method, structure in ((PLAIN, 0.0), (STRUCTURED, job.budget["lambda"])):
        path = regularization_path(X, positive.astype(int), [lam], structure=structure, tol=1e-6)
        w = path.points[0].solution.w
        scores, shown = test @ w, X @ w
        found[f"auc {method}"] = auc(scores, test_positive)
        wrong = scores[test_positive][:, None] <= scores[~test_positive][None, :]
        found[f"wrong {method}"] = int(wrong.sum())
        margins = shown[positive][:, None] - shown[~positive][None, :]
        found[f"held {method}"] = int((margins <= 1 + 1e-3).sum())
        found[f"w {method}"] = w.tolist()
        found[f"cut {method}"] = float(RULES["midpoint"](shown, positive, None))
        found["gap"] = max(found["gap"], float(path.points[0].certificate.relative_gap or 0.0))
    if job["draw"] == 0:
        found |= {"train": X.tolist(), "test": test.tolist()}
    return found


# Weights within a gap of 1e-9 move by its root, and by 2e-4 between two versions of a solver.
EXPERIMENT = Experiment("sauc-geometry", BUDGET, parts, compute, tolerance=1e-3, quick_minutes=0.1)


def render_lines(results: Results) -> Page:
    """Show the rows, and the lines at the paper's first threshold."""
    done = next(results.select(draw=0), None)
    panels = [] if done is None else [_rows(done, side) for side in ("train", "test")]
    caption = "The first draw. Each line cuts halfway between the lowest positive and the highest negative training score, as in the paper."  # noqa: E501
    picture = Picture("sauc-fig-1", "Two Gaussians and two lines", tuple(panels), caption)
    return _page(results, "auc", "Fig. 1", 4, picture)


def render_differences(results: Results) -> Page:
    """Show the differences of the pairs, and the lines through the origin."""
    done = next(results.select(draw=0), None)
    panels = [] if done is None else [_pairs(done, side) for side in ("train", "test")]
    caption = (
        "The first draw: a cross is a positive row minus a negative one, at most 300 of them, the "
        "lowest by AUC-SVM always among them. Crosses below a line are pairs in the wrong order."
    )
    picture = Picture("sauc-fig-2", "The same in differences of pairs", tuple(panels), caption)
    return _page(results, "wrong", "Fig. 2 (the first)", 1, picture)


def _page(results: Results, what: str, place: str, digits: int, picture: Picture) -> Page:
    sheet = Sheet()
    rows = printed(PAPER, place)
    column = next(iter(rows[PLAIN]))
    for method in (PLAIN, STRUCTURED):
        values, text = results.values(f"{what} {method}"), rows[method][column]
        sheet.mean(method, column, values, text, digits)
        held = results.values(f"held {method}")
        sheet.mean(method, "training pairs with margin at most 1", held, digits=1)
    names = (STRUCTURED, PLAIN)
    sheet.paired((results.values(f"{what} {m}") for m in names), names, column, digits + 1)
    if not sheet.tests:
        return sheet.page(pictures=(picture,))
    angles = (_off_axis(results, method) for method in names)
    sheet.paired(angles, names, "degrees off the long axis", 2)
    return sheet.page(_NOTES, pictures=(picture,))


def _off_axis(results: Results, method: str) -> np.ndarray:
    """Return the angles (draws,) between the line and the clouds' long axis, in degrees."""
    w = np.array([record[f"w {method}"] for record in results.select()])
    axis = np.linalg.eigh(np.array(COVARIANCE))[1][:, -1]
    off = np.abs(w @ axis) / np.linalg.norm(w, axis=1)  # w is normal to the line
    return np.degrees(np.arcsin(np.minimum(off, 1.0)))


_NOTES = (
    "The paper gives neither the Gaussians nor C and lambda, so the printed numbers can only be "
    "matched in kind.",
)


def points_of(name: str, X: np.ndarray) -> Series:
    """Return rows of a plane (m, 2) as points."""
    x, y = X.round(4).T
    return Series(name, tuple(x.tolist()), tuple(y.tolist()))


def segment(w: np.ndarray, cut: float, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two ends of the line w'x = cut across the rows X, within their heights."""
    direction = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    middle = X.mean(axis=0)
    foot = middle + (cut - w @ middle) / (w @ w) * w
    reach = np.abs((X - foot) @ direction).max()
    ends = foot + np.outer([-reach, reach], direction)
    return ends[:, 0], ends[:, 1]


def _lines(done: dict[str, Any], X: np.ndarray, through_origin: bool) -> tuple[Series, ...]:
    found = []
    for method in (PLAIN, STRUCTURED):
        cut = 0.0 if through_origin else done[f"cut {method}"]
        x, y = segment(np.array(done[f"w {method}"]), cut, X)
        found.append(Series(method, tuple(x.tolist()), tuple(y.tolist())))
    return tuple(found)


def _rows(done: dict[str, Any], side: str) -> Panel:
    X = np.array(done[side])
    positive = np.arange(len(X)) >= len(X) // 2
    title = "training rows" if side == "train" else "test rows"
    lines = _lines(done, X, False)
    points = (points_of("negative", X[~positive]), points_of("positive", X[positive]))
    return Panel(title, "x1", "x2", lines, log_x=False, points=points)


def _pairs(done: dict[str, Any], side: str) -> Panel:
    X = np.array(done[side])
    half = len(X) // 2
    z = (X[half:, None, :] - X[None, :half, :]).reshape(-1, 2)
    order = np.argsort(z @ np.array(done[f"w {PLAIN}"]), kind="stable")
    every = np.unique(np.linspace(0, len(z) - 1, 250).astype(int))
    shown = z[order[np.union1d(np.arange(50), every)]]
    title = "training pairs" if side == "train" else "test pairs"
    lines = _lines(done, np.vstack([shown, [0.0, 0.0]]), True)
    points = (points_of("pairs", shown),)
    return Panel(title, "difference in x1", "in x2", lines, log_x=False, points=points)


FIG_1 = Table(
    "sauc-fig-1",
    PAPER,
    "Fig. 1",
    "Lines of AUC-SVM and SAUC-SVM between two Gaussians",
    EXPERIMENT,
    render_lines,
)
FIG_2 = Table(
    "sauc-fig-2",
    PAPER,
    "Fig. 2 (the first)",
    "The same lines in the space of differences",
    EXPERIMENT,
    render_differences,
)
