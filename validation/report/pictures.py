"""Pictures with one call each, of what the library returns: solutions, fitted models, bounds. Each
function returns a matplotlib `Figure`; with `axes` it draws there and returns their figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ...exact.certificate.solution import Solution
from ...exact.errors import InputError
from ...exact.estimators.thresholds import RULES, Rule, all_cuts
from ...exact.pairs.auc import auc
from ...exact.problem.problem import split_labels
from ...exact.spaces.kernels import Linear, get_kernel
from ...exact.tools.arrays import check_choice, check_count
from ..bounds.experiment import Draw, bound_figure
from ..budget.terms import ErrorBudget, draw_budget
from ..plots import STYLES, draw, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, BLUE, GREY = "#000000", "#d55e00", "#0072b2", "#999999"
FAR = 30.0  # Times that differ by more than this factor are drawn on a logarithmic axis.
ROUNDING = 1e-10  # Relative error of a score: features of order one, up to some 10,000 of them.


def last_step(model: Any) -> tuple[Any, Any]:
    """Return the transformers before the classifier, None if there are none, and the classifier."""
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return None, model
    before = model[:-1] if len(model.steps) > 1 else None
    return before, model.steps[-1][1]


def scored_rows(model: Any, X: object, y: object) -> tuple[np.ndarray, np.ndarray]:
    """Return f at the rows, without the intercept, and the mask of the positive rows."""
    _, classifier = last_step(model)
    if not hasattr(model, "decision_function") or not hasattr(classifier, "intercept_"):
        raise InputError("give a fitted model with decision_function and intercept_")
    positive, _, _ = split_labels(y, classifier.classes_[1])
    scores = np.asarray(model.decision_function(X)) - float(np.ravel(classifier.intercept_)[0])
    return scores, positive


def certified_margins(
    model: Any, X: object, y: object, *, n_pairs: int = 20_000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins of pairs, and how far each can be from that of the exact optimum. With r
    the certificate's radius, |f - f*| <= r, so that the margin of a pair moves by at most r |k_i -
    k_j|: a margin farther than this from 1 is on the same side for the optimum."""
    check_count("n_pairs", n_pairs)
    before, classifier = last_step(model)
    kind = getattr(classifier, "kernel", "linear")
    if not hasattr(classifier, "certificate_") or kind == "precomputed":
        raise InputError("give a fitted model with a certificate, not with a precomputed kernel")
    scores, positive = scored_rows(model, X, y)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if plus.size * minus.size <= n_pairs:
        i, j = np.repeat(plus, minus.size), np.tile(minus, plus.size)
    else:
        rng = np.random.default_rng(seed)
        i, j = rng.choice(plus, n_pairs), rng.choice(minus, n_pairs)
    transformed: Any = X if before is None else before.transform(X)
    rows = transformed.toarray() if issparse(transformed) else np.asarray(transformed, dtype=float)
    if kind == "linear":
        length = np.sqrt(Linear().diagonal(rows[i] - rows[j]))
    else:  # |k_i - k_j| <= |k_i| + |k_j|
        norm = np.sqrt(get_kernel(kind, classifier.gamma, rows.shape[1]).diagonal(rows))
        length = norm[i] + norm[j]
    margins = scores[i] - scores[j]
    return margins, classifier.certificate_.radius * length + ROUNDING * (1 + np.abs(margins))


def canvas(axes: Axes | None, width: float = 6.4) -> tuple[Figure, Axes]:
    """Return the figure and its axes: new ones, unless some are given."""
    if axes is not None:
        return axes.get_figure(root=True), axes  # type: ignore[return-value]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 4.0), layout="constrained")
    return figure, figure.subplots()


def gap_curves(
    solutions: Solution | Mapping[str, Solution], *, by: str = "seconds", axes: Axes | None = None
) -> Figure:
    """Draw how the relative gap of solutions of one problem fell, by "seconds" or "n_iter". What a
    solver knew on the way is not certified; the last point, marked, is."""
    check_choice("by", by, ("seconds", "n_iter"))
    many = {solutions.method: solutions} if isinstance(solutions, Solution) else dict(solutions)
    if not many:
        raise InputError("give at least one solution")
    figure, axes = canvas(axes)
    drawn: list[float] = []
    for k, (name, solution) in enumerate(many.items()):
        color, _, dashes = STYLES[k % len(STYLES)]
        last = solution.certificate.gap / max(solution.certificate.primal, 1e-300)
        known = [step for step in solution.history if np.isfinite(step.gap) and step.primal > 0]
        x = [getattr(step, by) for step in (*known, solution)]
        y = [*(max(step.gap / step.primal, last) for step in known), last]
        axes.plot(x, y, linestyle=dashes, color=color, label=name)
        axes.plot(x[-1:], y[-1:], "o", color=color)
        drawn += [value for value in x if value > 0]
    if by == "seconds" and drawn and max(drawn) > FAR * min(drawn):
        axes.set_xscale("log")
    axes.set(xlabel="steps" if by == "n_iter" else by, ylabel="relative gap", yscale="log")
    axes.set_title("The dots are certified")
    axes.grid(alpha=0.3)
    legend_below(axes)
    return figure


def bound_against_error(
    draws: Sequence[Draw], title: str = "Bounds next to the true error", *, axes: Axes | None = None
) -> Figure:
    """Draw the true error of drawn pairs and Nyström, and the bounds on it, against B: [ScalingUp,
    Theorem 4] as printed, and Theorem 4' a priori and a posteriori.

    Parameters
    ----------
    draws : list of Draw
        From `aucert.validation.bounds.experiment.approximation_errors`, of several B. An empty
        list is an `InputError`.
    title, axes : str, and matplotlib Axes to draw on, optional
    """
    if not draws:
        raise InputError("give at least one draw")
    figure, axes = canvas(axes, 7.2)
    draw(axes, bound_figure(draws, title))
    return figure


def budget_bars(
    budget: ErrorBudget, title: str = "Error budget", *, axes: Axes | None = None
) -> Figure:
    """Draw what each approximation behind a model costs: the picture of `budget_picture`.

    Parameters
    ----------
    budget : ErrorBudget, from `error_budget`
    title, axes : str, and matplotlib Axes to draw on, optional
    """
    figure, axes = canvas(axes, 7.2)
    draw_budget(axes, budget, title)
    return figure


def roc_with_thresholds(
    model: Any, X: object, y: object, *, rules: Mapping[str, Rule] = RULES, axes: Axes | None = None
) -> Figure:
    """Draw the ROC curve of a model, the line of chance, and where the threshold rules cut it.

    [SAUC, Section 2.2; ScalingUp, Section 2.2]

    Parameters
    ----------
    model : fitted classifier, or a pipeline that ends in one
        It has `decision_function`, `intercept_` and `classes_`; else it is an `InputError`.
    X, y : array, frame or sparse matrix (n, d), labels (n,) of both classes
    rules : mapping of names to rules of (scores, positive, weight), all named rules by default
    axes : matplotlib Axes to draw on, optional
    """
    scores, positive = scored_rows(model, X, y)
    cuts = all_cuts(scores, positive)
    figure, axes = canvas(axes, 4.8)
    axes.plot(1 - cuts.specificity, cuts.sensitivity, color=BLACK, lw=1.2)
    axes.plot([0, 1], [0, 1], "--", color=GREY, lw=1.0, label="chance")
    axes.plot([0, 1], [1, 0], ":", color=GREY, lw=0.8, label="equal error rates")
    for marker, (name, rule) in zip("osD^vPX*" * len(rules), rules.items(), strict=False):
        above = scores > rule(scores, positive, None)
        place = above[~positive].mean(), above[positive].mean()
        axes.plot(*place, marker, ms=8, mfc="none", mew=1.6, label=name)
    axes.set(xlabel="1 - specificity", ylabel="sensitivity", aspect="equal")
    axes.set_title(f"AUC {auc(scores, positive):.4f}")
    legend_below(axes)
    return figure


def margin_distribution(
    model: Any, X: Any, y: Any, *, n_pairs: int = 20_000, seed: int = 0, axes: Axes | None = None
) -> Figure:
    """Draw the margins of the pairs, and which of them the certificate decides.

    A decided pair is on the same side of margin 1 for the exact optimum; the others lie too near
    to 1 for the gap that is left.

    Parameters
    ----------
    model, X, y, n_pairs, seed : as of `certified_margins`, errors too
    axes : matplotlib Axes to draw on, optional
    """
    margins, slack = certified_margins(model, X, y, n_pairs=n_pairs, seed=seed)
    beyond, active = margins - slack > 1, margins + slack < 1
    values = [margins[active], margins[~active & ~beyond], margins[beyond]]
    names = ("active, certified", "undecided", "beyond the margin, certified")
    labels = [f"{n} ({v.size / margins.size:.1%})" for n, v in zip(names, values, strict=True)]
    figure, axes = canvas(axes)
    style: Any = {"color": [ORANGE, GREY, BLUE], "label": labels, "edgecolor": BLACK, "lw": 0.3}
    bars: Any = axes.hist(values, 60, stacked=True, **style)[2]
    for part, hatch in zip(bars, ("///", "", "..."), strict=True):  # they differ in grey, too
        for bar in part:
            bar.set_hatch(hatch)
    axes.axvline(0, color=BLACK, lw=0.8, ls=":")
    axes.axvline(1, color=BLACK, lw=0.8)
    right = float(np.mean(margins > 0) + np.mean(margins == 0) / 2)
    positive, _, _ = split_labels(y, last_step(model)[1].classes_[1])
    every, count = int(positive.sum()) * int((~positive).sum()), margins.size
    pairs = "pairs" if every == count else f"pairs, {count:,} drawn of {every:,}"
    axes.set(xlabel="f(x_i) - f(x_j)", ylabel=pairs, title=f"{right:.2%} in the right order")
    legend_below(axes)
    return figure


def decision_surface(
    model: Any, X: object, y: object, *, resolution: int = 150, axes: Axes | None = None
) -> Figure:
    """Draw the score of a model over the plane, the line where it cuts, and the rows.

    Parameters
    ----------
    model : fitted classifier or pipeline
        With `decision_function` and `classes_`, on two features; others are an `InputError`.
    X, y : array or frame (n, 2), labels (n,) of both classes
    resolution : int >= 2, points a side
    axes : matplotlib Axes to draw on, optional
    """
    frame: Any = X
    names = list(frame.columns) if hasattr(frame, "columns") else ["x1", "x2"]
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InputError(f"a surface needs two features, not rows of shape {rows.shape}")
    check_count("resolution", resolution, 2)
    positive, _, _ = split_labels(y, last_step(model)[1].classes_[1])
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = 0.08 * np.maximum(high - low, 1e-12)
    sides = [np.linspace(low[k] - pad[k], high[k] + pad[k], resolution) for k in (0, 1)]
    first, second = np.meshgrid(*sides)
    grid: Any = np.column_stack([first.ravel(), second.ravel()])
    if hasattr(frame, "columns"):  # a model that was fitted with names asks for them
        grid = type(frame)({name: grid[:, k] for k, name in enumerate(names)})
    height = np.asarray(model.decision_function(grid)).reshape(first.shape)
    figure, axes = canvas(axes, 5.6)
    largest = max(float(np.abs(height).max()), 1e-300)
    style: Any = {"cmap": "cividis", "vmin": -largest, "vmax": largest, "alpha": 0.8}
    filled = axes.contourf(first, second, height, 15, **style)
    axes.contour(first, second, height, [0.0], colors=BLACK, linewidths=1.4)
    axes.scatter(*rows[~positive].T, s=16, marker="o", c="white", edgecolors=BLACK, lw=0.6)
    axes.scatter(*rows[positive].T, s=22, marker="^", c=BLACK, edgecolors="white", lw=0.6)
    figure.colorbar(filled, ax=axes, label="decision function")
    axes.set(xlabel=names[0], ylabel=names[1], title="triangles are positive")
    return figure
