"""The report holds every claim and needs nothing outside its file; pictures show their numbers."""

import re
import subprocess
import sys
from dataclasses import asdict
from html import unescape
from typing import Any

import matplotlib.figure
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert import validation
from aucert.approx import NBAUC
from aucert.exact import ROCSVM, SAUCSVM, solve
from aucert.exact.spaces.kernels import Gaussian
from aucert.validation.bounds.experiment import PRINTED, approximation_errors
from aucert.validation.claims.theorem_4 import CASES, sides
from aucert.validation.data.datasets import load
from aucert.validation.effects import Effect
from aucert.validation.plots import Figure, Series
from aucert.validation.report.document import (
    Report,
    Row,
    environment,
    forest,
    headlines,
    lines_of,
)
from aucert.validation.report.pictures import certified_margins, gap_curves
from loops import each, refuses
from pages import Page

MARKUP = "<script>alert('&')</script>"


def figure(name: str = "theorem-4-against-n", **changed: str) -> dict[str, Any]:
    curves = (
        Series.of("one <b>", [1.0, 10.0, 100.0], [1.0, 0.1, 0.01]),
        Series.of("two", [1.0, 10.0, 100.0], [2.0, 0.3, 0.02]),
        Series.of("slope -1", [1.0, 100.0], [1.0, 0.01], True),
    )
    return asdict(Figure(name, "Title", "pairs", "gap", curves, "A caption.")) | changed


def row(name: str, **changes: object) -> Row:
    values: dict[str, object] = {
        "name": name,
        "paper": "ScalingUp",
        "place": "Theorem 4",
        "kind": "theorem",
        "statement": "It is so.",
        "formula": "a <= b",
        "measured": 0.25,
        "printed": "0.5",
        "verdict": "holds",
        "expected_verdict": "holds",
        "seconds": 1.5,
        "tolerance": "1e-6",
        "seed": 3,
        "profile": "quick",
        "version": "0.1",
        "data": ({"name": "rows", "sha256": "ab" * 32, "source": "made up"},),
        "details": {"bound": 0.125},
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def report(*rows: Row) -> Report:
    return Report(rows, 3, "quick", "0.1", "cd" * 32, environment(), 2.0)


def test_the_page_is_one_file_that_holds_every_claim_and_no_traceback() -> None:
    figures = (figure(), figure("bound-against-error-3"))
    error = row("third", verdict="error", details={"traceback": "/home/me"})
    text = report(row("first"), row("second", figures=figures), error).html()
    page = Page(text)
    for name in ("first", "second", "third"):
        assert name in page.ids and f"aucert validate --only {name} --seed 3" in text
    for part in ("It is so.", "a &lt;= b", "0.25", "Limitations", "<svg"):
        assert part in text
    assert page.open == [] and not page.crossed and not page.fetched and "script" not in page.tags
    assert "http" not in text and "@import" not in text and "/home/me" not in text
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    assert len(page.ids) == len(set(page.ids))


def test_markup_in_any_text_is_escaped() -> None:
    for name in ("statement", "formula", "measured", "printed", "place"):
        text = report(row("first", **{name: MARKUP})).html()
        assert "<script" not in text and "&lt;script&gt;" in text
    bad = row(
        "first",
        kind="finding",
        verdict="borne-out",
        details={"table": MARKUP},
        effects=(Effect(MARKUP, 1.0, 0.1, 9, unit=MARKUP).document(),),
        protocol=({"letter": "a", "says": MARKUP, "way": "either"},),
        figures=(figure(title=MARKUP, caption=MARKUP, x_label=MARKUP),),
    )
    text = report(bad).html()
    assert "<script" not in text and "<svg" in text and "one <b>" not in text


def test_a_forest_shades_what_is_claimed_and_keeps_every_number_on_its_axis() -> None:
    effects = [Effect("a", 0.02, se, 9, "AUC", printed=0.03) for se in (0.001, 1.0)]
    for side, above in (("above", True), ("within", False)):
        claim = {"side": side, "than": 0.0, "margin": 0.01}
        made = row("a", details=claim, effects=tuple(one.document() for one in effects))
        drawn = forest(lines_of(made))
        whole, part = drawn["lines"]
        places = [whole["at"][name] for name in ("low", "estimate", "high", "printed")]
        assert places == sorted(places) and 0 < places[0] and places[-1] < 100
        assert (part["at"]["low"], part["at"]["high"]) == (0, 100), "cut at the ends of the axis"
        assert drawn["unit"] == "points of AUC" and whole["shown"]["estimate"] == "2.00"
        start, end = whole["shade"]
        assert start == drawn["zero"] if above else start < drawn["zero"] < end < places[0]
        assert whole["claim"] == ("above 0, none within ±1" if above else "within ±1")


def test_the_first_page_gives_the_exponents_that_the_run_measured() -> None:
    drawn, rate = "incomplete-model-has-comparable-auc", "incomplete-nystrom-converges-in-the-pairs"
    real = [f"competitive-auc{of}-on-real-sets" for of in ("", "-of-the-kernel")]
    some = (Effect("a", -0.01, 0.001, 9, "AUC").document(),) * 2
    details = {"side": "above", "than": -0.1, "margin": 0.1, "exponents": [-1.25, -0.5, -0.75]}
    (head,) = headlines({n: row(n, effects=some, details=details) for n in (drawn, rate, *real)})
    assert head.name == drawn and "like B to the power -1.25 to -0.50." in head.what
    assert not headlines({n: row(n, effects=some, details=details) for n in (drawn, *real)})


def test_the_counts_add_up_to_all_claims() -> None:
    rows = [row(f"a{k}", verdict=v) for k, v in enumerate(["holds", "fails", "loose", "error"])]
    made = report(*rows, row("b", kind="finding", verdict="undecided"), row("c", kind="suite"))
    counts = dict(made.counts())
    for columns in counts.values():
        assert sum(columns.values()) == 2 * columns["all"]
    assert counts["all"]["all"] == 6 and counts["theorem"]["fall"] == 1


def test_the_counterexample_to_theorem_4_runs_as_printed() -> None:
    page = report(row("a", figures=(figure(),))).html()
    (code,) = re.findall(r"<pre>(from math.*?)</pre>", page, re.S)
    command = [sys.executable, "-c", unescape(code)]
    left, right = subprocess.check_output(command, text=True).rstrip("?\n").split(" <= ")
    assert f"{left} &lt;= {right}?" in code.splitlines()[-1] and float(left) > float(right)
    (meant,) = (sides(*case) for case in CASES if case[1:] == (1e16, 0.5))
    assert meant[:2] == pytest.approx((float(left), float(right)), abs=5e-4)


DATA = load("linear:120", seed=3)
LAM = 1e-2


def shown(figure: Any) -> Any:
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


@each("kernel", ["linear", "rbf", "laplacian"])
def test_the_slack_covers_the_change_of_its_margins(kernel: str) -> None:
    few = DATA.X[:60], DATA.y[:60]
    asked: Any = {"kernel": kernel, "gamma": None if kernel == "linear" else 0.5, "tol": 1e-9}
    model, other = (SAUCSVM(lam, **asked).fit(*few) for lam in (LAM, 1.05 * LAM))
    # F exceeds its optimum at the other's by at most 0.05 lam/2 |f|^2, and lam |f|^2 <= 1
    gap = 0.05 / 2
    radius = float(np.sqrt(2 * gap / LAM))
    certificate = other.certificate_
    other.certificate_ = type(certificate)(**{**vars(certificate), "radius": radius})
    first, _ = certified_margins(model, *few)
    second, slack = certified_margins(other, *few)
    assert (np.abs(first - second) <= slack).all()
    assert kernel == "linear" or slack.max() <= 2 * radius + 1e-8


def test_a_certified_optimum_decides_all_pairs_but_those_at_the_margin(model: ROCSVM) -> None:
    margins, slack = certified_margins(model, DATA.X, DATA.y)
    s = DATA.X @ model.coef_[0]
    pairs = np.subtract.outer(s[DATA.is_positive], s[~DATA.is_positive])
    np.testing.assert_allclose(np.sort(margins), np.sort(pairs, axis=None), atol=1e-12)
    undecided = np.abs(margins - 1) <= slack
    assert 0 < undecided.sum() <= 2 * DATA.X.shape[1]
    axes = shown(validation.margin_distribution(model, DATA.X, DATA.y))
    heights = [sum(float(bar.get_height()) for bar in group) for group in axes.containers]
    beyond = int((margins - slack > 1).sum())
    assert heights == [margins.size - beyond - undecided.sum(), undecided.sum(), beyond]
    draws = [certified_margins(model, DATA.X, DATA.y, n_pairs=50, seed=s)[0] for s in (0, 0, 1)]
    assert draws[0].size == 50 and np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_bounds_and_budgets_are_drawn_with_their_numbers() -> None:
    few, kernel = (DATA.X[:40], DATA.y[:40]), Gaussian(0.5)
    draws = approximation_errors(*few, kernel, 0.5, landmarks=10, B=[50, 500], n_draws=1)
    lines = shown(validation.bound_against_error(draws)).lines
    curves = {line.get_label(): line.get_ydata() for line in lines}
    assert np.allclose(curves["true error"], [d.loss_difference for d in draws])
    assert np.allclose(curves["Theorem 4, at least"], [d.bounds[PRINTED].at_least for d in draws])
    fitted = NBAUC(LAM, n_landmarks=4, random_state=0).fit(DATA.X, DATA.y)
    budget = validation.error_budget(fitted, DATA.X, DATA.y)
    widths = [bar.get_width() for bar in shown(validation.budget_bars(budget, "costs")).patches]
    assert widths[2] == budget.terms[2].value > 1e-6 and len(widths) == 4
    assert widths[3] == pytest.approx(budget.total)


def test_pictures_take_a_pipeline_and_a_frame() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(1e3 * DATA.X, columns=["height", "weight"])
    pipeline = make_pipeline(StandardScaler(), ROCSVM(LAM)).fit(frame, DATA.y)
    Z = StandardScaler().fit_transform(1e3 * DATA.X)
    alone = certified_margins(ROCSVM(LAM).fit(Z, DATA.y), Z, DATA.y)
    margins, doubt = certified_margins(pipeline, frame, DATA.y)
    assert np.allclose(margins, alone[0], rtol=1e-9, atol=0)
    assert np.allclose(doubt, alone[1], rtol=1e-3, atol=0)  # a gap of 1e-12 rounds by 1e-16
    same = certified_margins(pipeline[-1], pipeline[0].transform(frame), DATA.y)[1]
    assert np.allclose(doubt, same, rtol=1e-9, atol=0)
    surface = shown(validation.decision_surface(pipeline, frame, DATA.y, resolution=10))
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("height", "weight")
    figure = matplotlib.figure.Figure()
    axes: Any = figure.subplots(1, 2)
    assert validation.roc_with_thresholds(pipeline, frame, DATA.y, axes=axes[0]) is figure
    assert validation.margin_distribution(pipeline, frame, DATA.y, axes=axes[1]) is figure
    assert len(axes[0].lines) > 2 and axes[1].containers


def test_what_cannot_be_drawn_is_refused_with_the_reason(model: ROCSVM) -> None:
    for call, words in (
        (lambda: validation.decision_surface(model, DATA.X[:, :1], DATA.y), "two features"),
        (lambda: gap_curves({}), "at least one"),
        (lambda: validation.bound_against_error([]), "at least one"),
        (lambda: certified_margins(ROCSVM(kernel="precomputed"), DATA.X, DATA.y), "certificate"),
        (lambda: validation.roc_with_thresholds(object(), DATA.X, DATA.y), "decision_function"),
    ):
        refuses(words, call)
