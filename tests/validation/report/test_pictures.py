"""The pictures show the numbers that they claim to show."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.exact import ROCSVM, SAUCSVM, InputError, solve
from aucert.exact.estimators.thresholds import RULES, all_cuts, threshold_for_sensitivity
from aucert.validation.bounds.experiment import PRINTED, approximation_errors
from aucert.validation.data.datasets import load
from aucert.validation.report.pictures import (
    bound_against_error,
    budget_bars,
    certified_margins,
    decision_surface,
    gap_curves,
    margin_distribution,
    roc_with_thresholds,
)
from loops import each

DATA = load("linear:120", seed=3)
LAM = 1e-2


def shown(figure: Any) -> Any:
    """The axes of a picture."""
    return figure.axes[0]


@pytest.fixture(scope="module")
def model() -> ROCSVM:
    return ROCSVM(LAM).fit(DATA.X, DATA.y)


def test_the_last_point_of_a_gap_curve_is_the_certificate() -> None:
    solutions = {m: solve(DATA.X, DATA.y, LAM, method=m) for m in ("cutting-plane", "lifted")}
    figure = gap_curves(solutions, by="n_iter")
    dots = [line for line in shown(figure).lines if line.get_marker() == "o"]
    for dot, solution in zip(dots, solutions.values(), strict=True):
        certificate = solution.certificate
        proved = (certificate.gap) / certificate.primal
        assert float(dot.get_ydata()[0]) == pytest.approx(proved, rel=1e-12, abs=0)
        assert float(dot.get_xdata()[0]) == solution.n_iter


def test_every_rule_is_a_point_of_the_roc_curve(model: ROCSVM) -> None:
    rules = {**RULES, "sensitivity 0.9": partial(threshold_for_sensitivity, sensitivity=0.9)}
    axes = shown(roc_with_thresholds(model, DATA.X, DATA.y, rules=rules))
    scores = DATA.X @ model.coef_[0]
    cuts = all_cuts(scores, DATA.is_positive)
    known = np.column_stack([1 - cuts.specificity, cuts.sensitivity])
    points = {line.get_label(): line.get_xydata()[0] for line in axes.lines[3:]}
    assert points.keys() == rules.keys()
    for point in points.values():
        assert np.abs(known - point).max(axis=1).min() < 1e-12
    assert points["sensitivity 0.9"][1] >= 0.9
    (chance,) = (line for line in axes.lines if line.get_label() == "chance")
    assert np.array_equal(chance.get_xydata(), [[0, 0], [1, 1]])


def test_margins_are_those_of_the_pairs_and_the_slack_covers_the_optimum(model: ROCSVM) -> None:
    loose = ROCSVM(LAM, loss="hinge", tol=1e-9).fit(DATA.X, DATA.y)
    certificate = loose.certificate_
    moved = np.array([0.03, -0.02])
    loose.coef_ = loose.coef_ + moved
    loose.certificate_ = type(certificate)(**{**vars(certificate), "radius": 0.04})
    margins, slack = certified_margins(loose, DATA.X, DATA.y)
    best, _ = certified_margins(model, DATA.X, DATA.y)
    assert margins.size == DATA.is_positive.sum() * (~DATA.is_positive).sum()
    assert (np.abs(margins - best) <= slack).all() and np.abs(margins - best).max() > 0.01


@each("kernel", ["rbf", "laplacian"])
def test_the_slack_of_a_kernel_covers_the_change_of_its_margins(kernel: str) -> None:
    few = DATA.X[:60], DATA.y[:60]
    model = SAUCSVM(LAM, kernel=kernel, gamma=0.5, tol=1e-9).fit(*few)
    other = SAUCSVM(1.05 * LAM, kernel=kernel, gamma=0.5, tol=1e-9).fit(*few)
    # F exceeds its optimum at the other's by at most 0.05 lam/2 |f|^2, and lam |f|^2 <= 1
    gap = 0.05 / 2
    radius = float(np.sqrt(2 * gap / LAM))
    certificate = other.certificate_
    other.certificate_ = type(certificate)(**{**vars(certificate), "radius": radius})
    first, _ = certified_margins(model, *few)
    second, slack = certified_margins(other, *few)
    assert (np.abs(first - second) <= slack).all() and slack.max() <= 2 * radius + 1e-8


def test_a_certified_optimum_decides_all_pairs_but_those_at_the_margin(model: ROCSVM) -> None:
    margins, slack = certified_margins(model, DATA.X, DATA.y)
    undecided = np.abs(margins - 1) <= slack
    assert 0 < undecided.sum() <= 2 * DATA.X.shape[1]
    axes = shown(margin_distribution(model, DATA.X, DATA.y))
    heights = [sum(float(bar.get_height()) for bar in group) for group in axes.containers]
    beyond = int((margins - slack > 1).sum())
    assert heights == [margins.size - beyond - undecided.sum(), undecided.sum(), beyond]
    draws = [certified_margins(model, DATA.X, DATA.y, n_pairs=50, seed=s)[0] for s in (0, 0, 1)]
    assert draws[0].size == 50 and np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_the_surface_is_cut_where_the_decision_changes_sign(model: ROCSVM) -> None:
    figure = decision_surface(model, DATA.X, DATA.y, resolution=40)
    line = next(c for c in shown(figure).collections if getattr(c, "levels", [1])[0] == 0.0)
    corners = np.vstack([path.vertices for path in line.get_paths()])
    assert len(corners) > 2
    assert np.abs(model.decision_function(corners)).max() < 1e-10


def test_bounds_are_drawn_with_their_medians() -> None:
    from aucert.exact.spaces.kernels import Gaussian

    draws = approximation_errors(
        DATA.X[:40], DATA.y[:40], Gaussian(0.5), 0.5, landmarks=10, B=[50, 500], n_draws=1
    )
    axes = shown(bound_against_error(draws))
    curves = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert np.allclose(curves["true error"], [d.loss_difference for d in draws])
    assert np.allclose(curves["Theorem 4, at least"], [d.bounds[PRINTED].at_least for d in draws])


def test_the_bars_of_a_budget_are_its_terms_and_its_total() -> None:
    from aucert.approx import NBAUC
    from aucert.validation import error_budget

    fitted = NBAUC(LAM, n_landmarks=4, random_state=0).fit(DATA.X, DATA.y)
    budget = error_budget(fitted, DATA.X, DATA.y)
    axes = shown(budget_bars(budget, "costs"))
    assert axes.get_title() == "costs"
    kernel = budget.terms[2].value
    widths = [bar.get_width() for bar in axes.patches]
    assert kernel > 1e-6 and len(widths) == 4
    assert widths[2] == kernel and widths[3] == pytest.approx(budget.total)


class Frame(np.ndarray):
    """A stand-in for a data frame: an array that knows the names of its columns."""

    columns = ("height", "weight")

    def __new__(cls, parts: dict[str, np.ndarray]) -> Frame:
        return np.column_stack(list(parts.values())).view(cls)


def test_pictures_take_a_pipeline_and_a_frame() -> None:
    frame = Frame({"height": 1e3 * DATA.X[:, 0], "weight": 1e3 * DATA.X[:, 1]})
    pipeline = make_pipeline(StandardScaler(), ROCSVM(LAM)).fit(frame, DATA.y)
    Z = StandardScaler().fit_transform(1e3 * DATA.X)
    alone = ROCSVM(LAM).fit(Z, DATA.y)
    for got, wanted in zip(
        certified_margins(pipeline, frame, DATA.y), certified_margins(alone, Z, DATA.y), strict=True
    ):
        assert np.allclose(got, wanted, rtol=1e-9, atol=0)
    surface = shown(decision_surface(pipeline, frame, DATA.y, resolution=10))
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("height", "weight")
    figure = Figure()
    axes: Any = figure.subplots(1, 2)
    assert roc_with_thresholds(pipeline, frame, DATA.y, axes=axes[0]) is figure
    assert margin_distribution(pipeline, frame, DATA.y, axes=axes[1]) is figure
    assert len(axes[0].lines) > 2 and axes[1].containers


def test_what_cannot_be_drawn_is_refused_with_the_reason(model: ROCSVM) -> None:
    for call, words in (
        (lambda: decision_surface(model, DATA.X[:, :1], DATA.y), "two features"),
        (lambda: gap_curves({}), "at least one"),
        (lambda: bound_against_error([]), "at least one"),
        (lambda: certified_margins(ROCSVM(kernel="precomputed"), DATA.X, DATA.y), "certificate"),
        (lambda: roc_with_thresholds(object(), DATA.X, DATA.y), "decision_function"),
    ):
        with pytest.raises(InputError, match=words):
            call()
