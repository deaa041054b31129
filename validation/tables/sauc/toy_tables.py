"""[SAUC, Tables 1 and 2, Fig. 2 (the second of two), Fig. 3] as pages."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ....exact.pairs.auc import auc
from ...data.printed_numbers import number, printed
from ...plots import Series
from ..pictures import Panel, Picture
from ..sheet import Sheet
from ..table import Entry, Page, Results, Table
from .geometry_figures import points_of
from .machines import ALL
from .neighbour_figures import PAIR_RULE, Point, by_k, curve_panel, label
from .printed import PAPER, PLAIN, STRUCTURED, SVM, TOY
from .toy import DATA, EXPERIMENT, METHODS

TIMES = printed(PAPER, "Table 2")


def render_data(results: Results) -> Page:
    """Show the attributes of Table 1 and the moments of what is drawn here."""
    done = next(results.select(), None)
    entries = []
    for name, row in printed(PAPER, "Table 1").items():
        ours = done[name] if done else [None] * 6
        errors = done[f"error {name}"] if done else [None] * 6
        number = done["draws"] if done else 0
        for at, (column, value) in enumerate(row.items()):
            text, error = value.replace("-", "−"), None if at == 5 else errors[at]
            digits = 0 if at == 5 else 4
            entries.append(Entry(name, column, text, ours[at], error, number, digits))
    if done is None:
        return Page(tuple(entries))
    off = _farthest(done)
    conclusion = (
        f"What is drawn here {'has' if off < NOISE else 'has not'} the attributes of the table: "
        f"over {done['draws']:,} draws none of the moments is farther off than {off:.1f} standard "
        "errors. The paper has one draw and no seed, so its own 600 points cannot be had."
    )
    return Page(tuple(entries), conclusion=conclusion)


# Standard errors that 20 moments of as many draws stay within, but for one time in 800.
NOISE = 4.0


def _farthest(done: dict[str, Any]) -> float:
    """Return the largest distance of a moment from the printed one, in standard errors."""
    return max(
        abs(ours - value) / error
        for name, moments in TOY.items()
        for value, ours, error in zip(
            moments[:5], done[name][:5], done[f"error {name}"][:5], strict=True
        )
    )


def render_scatter(results: Results) -> Page:
    """Show one draw, as the second Fig. 2."""
    done = next(results.select(), None)
    panels = [] if done is None else [_cloud(done, side) for side in ("train", "test")]
    picture = Picture(
        "sauc-fig-2-toy",
        "The XOR problem: one draw",
        tuple(panels),
        "A fifth of each Gaussian is for training, as in the paper.",
    )
    if done is None:
        return Page((), pictures=(picture,))
    linear, best = (_best_auc(name) for name in ("linear", "bayes"))
    conclusion = (
        f"Each class is two elongated clouds facing each other: no line ranks new rows with an AUC "
        f"above {linear:.2f}, so a nonlinear score is needed. The clouds overlap, so no score has "
        f"more than {best:.2f}."
    )
    return Page((), pictures=(picture,), conclusion=conclusion)


def _best_auc(score: str, rows: int = 200_000) -> float:
    """Return the AUC on many new rows of the best line, or of the ratio of the densities."""
    rng = np.random.default_rng(0)
    clouds, log_density = {}, {}
    for name, (*mean, a, b, c, _) in TOY.items():
        covariance = np.array([[a, c], [c, b]])
        clouds[name] = rng.multivariate_normal(mean, covariance, rows // 4)
        log_density[name] = stats.multivariate_normal(mean, covariance).logpdf
    X = np.concatenate(list(clouds.values()))
    positive = np.arange(len(X)) < len(X) // 2
    if score == "bayes":
        sides = [
            [log_density[n](X) for n in TOY if n.startswith(f"class {c},")] for c in ("I", "II")
        ]
        return auc(np.logaddexp(*sides[0]) - np.logaddexp(*sides[1]), positive)
    turns = np.linspace(0, np.pi, 37)
    values = [auc(np.cos(t) * X[:, 0] + np.sin(t) * X[:, 1], positive) for t in turns]
    return max(max(values), 1 - min(values))


def _cloud(done: dict[str, Any], side: str) -> Panel:
    X, y = np.array(done[side]), np.array(done[f"{side} labels"])
    points = (points_of("class II", X[y == 0]), points_of("class I", X[y == 1]))
    title = f"{'training' if side == 'train' else 'test'}: {len(y)} rows"
    centres = (
        Series("centres of class I", (-0.8, 0.8), (0.0, 0.0), True),
        Series("centres of class II", (0.0, 0.0), (-0.8, 0.8), True),
    )
    return Panel(title, "x1", "x2", centres, log_x=False, points=points)


def render_times(results: Results) -> Page:
    """Show seconds, pairs and steps of Table 2."""
    sheet = Sheet()
    for k, shown in TIMES.items():
        row = "INF (all pairs)" if k == "80" else f"k = {k}"
        at = ALL if k == "80" else int(k)
        for method in METHODS:
            found = {
                (f"s, {method}", 4): results.values(f"seconds {method}", k=at),
                (f"rows or pairs, {method}", 0): results.values(f"pairs {method}", k=at),
                (f"steps, {method}", 1): results.values(f"steps {method}", k=at),
            }
            for (column, digits), values in found.items():
                if method == SVM and digits == 0:
                    values = np.full(found[f"s, {SVM}", 4].size, 120.0)
                sheet.mean(row, column, values, f"{number(shown[column]):g}", digits)
        values = results.values("pairs by the text", k=at)
        sheet.mean(row, "pairs by the rule in the text", values, digits=0)
    return sheet.page(_TIME_NOTES)


_TIME_NOTES = (
    "One draw of the data is printed, several are averaged here; C, lambda and sigma are chosen in "
    "each draw and k, so times and steps are those of different parameters, as in the paper.",
    "Steps are Newton steps here, those of Mosek's interior point in the paper, and for the SVM "
    "the coordinate steps of libsvm: compare trends, not numbers.",
)


def render_auc(results: Results) -> Page:
    """Show the AUC of Fig. 3."""
    sheet = Sheet()
    curves: dict[str, list[Point]] = {method: [] for method in METHODS}
    ks = results.budget["neighbours k (0: all)"]
    for at, k in enumerate(ks):
        row, found = label(k), {m: results.values(f"auc {m}", k=k) for m in METHODS}
        for method, values in found.items():
            mean = sheet.mean(row, method, values, digits=4)
            curves[method] += [(at, *mean)] if mean else []
        for names in ((STRUCTURED, PLAIN), (STRUCTURED, SVM), (PLAIN, SVM)):
            sheet.paired((found[name] for name in names), names, "in AUC", 4, row)
    names = ("SAUC-SVM at k = 5", "AUC-SVM with all pairs")
    few, every = (f"auc {STRUCTURED}", {"k": 5}), (f"auc {PLAIN}", {"k": ALL})
    sheet.paired(results.matched("draw", few, every), names, "in AUC", 4)
    panels = (curve_panel("test rows", "k", by_k(ks), curves),) if any(curves.values()) else ()
    caption = "Means over the draws with their standard errors; the last point has all pairs."
    picture = Picture("sauc-fig-3", "Toy problem: AUC by the number of neighbours", panels, caption)
    return sheet.page(_auc_notes(results), pictures=(picture,))


def _auc_notes(results: Results) -> tuple[str, ...]:
    values = results.values(f"auc {PLAIN}", k=ALL)
    spread = (
        f" by {values.std(ddof=1):.3f} (standard deviation, all pairs)" if len(values) > 2 else ""
    )
    return (
        "The paper shows one draw of 120 training rows without errors; from draw to draw the AUC "
        f"varies{spread}.",
        "The figure prints no numbers; its claims are in the tests above.",
        PAIR_RULE,
    )


TABLE_1 = Table("sauc-table-1", PAPER, "Table 1", "The XOR problem", DATA, render_data)
FIG_2_TOY = Table(
    "sauc-fig-2-toy", PAPER, "Fig. 2 (the second)", "The XOR problem drawn", DATA, render_scatter
)
TABLE_2 = Table(
    "sauc-table-2", PAPER, "Table 2", "Times, pairs and steps on the XOR problem", EXPERIMENT,
    render_times,
)  # fmt: skip
FIG_3 = Table(
    "sauc-fig-3", PAPER, "Fig. 3", "AUC by the number of neighbours on the XOR problem", EXPERIMENT,
    render_auc,
)  # fmt: skip
