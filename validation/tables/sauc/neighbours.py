"""[SAUC, Figs. 4 and 5]: four real tasks by the number of neighbours, and by lambda."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...plots import Series
from ..pictures import Panel, Picture
from ..table import Budget, Experiment, Job, Page, Part, Results, Run, Sheet, Table
from .machines import (
    ALL,
    FINAL_TOL,
    OTHERS,
    PAPER,
    PLAIN,
    SEARCH,
    STRUCTURED,
    SVM,
    TASKS,
    Grid,
    all_machines,
    pair_machine,
)
from .real import COARSE, NAMES, READING, SEARCHED, SIGMA, own, read, split_sides

SELECTED = {"glass1": "linear", "glass4": "linear", "glass5": "rbf", "hepatitis": "rbf"}
METHODS = (SVM, PLAIN, STRUCTURED)

KS = [5, 10, 15, 20, 25, 30, ALL]
BUDGET_4 = (
    Budget("splits into halves", 10, 4, 10),
    Budget("neighbours k (0: all)", KS, [5, 10, 20, ALL], KS),
    READING,
    *SEARCHED,
    SIGMA,
    *COARSE,
)
LAMBDAS = [0.0, *(10.0**power for power in range(-5, 6))]
BUDGET_5 = (
    Budget("splits into halves", 10, 10, 40),
    Budget("neighbours k", 10, 10, 10),
    READING,
    Budget(f"repetitions{OTHERS}", 10, None, None, 40),
    Budget("C", 1.0, 1.0, 1.0),
    Budget("sigma", 256.0, 256.0, 256.0),
    Budget("lambda", LAMBDAS, LAMBDAS, LAMBDAS),
)


def _part(name: str, split: int, **more: Any) -> Part:
    text = "".join(f",{key}={value:g}" for key, value in more.items())
    return Part(
        f"{name},split={split}{text}", {"set": name, "split": split, **more}, (TASKS[name].file,)
    )


def parts_4(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task, split and k."""
    splits, ks = range(budget["splits into halves"]), budget["neighbours k (0: all)"]
    return read(
        budget, [_part(name, split, k=k) for split in splits for name in SELECTED for k in ks]
    )


def compute_4(job: Job) -> dict[str, Any]:
    """Run the three machines at one k."""
    name, split = job["set"], job["split"]
    reading = job.part.parameters.get("reading", "")
    sides = split_sides(job, reading)
    seed = job.draw_seed(f"folds {name} {split}")
    grid = Grid.of(job.budget, reading)
    found = all_machines(sides, SELECTED[name], grid, job["k"], seed, exact=False)
    share = found[PLAIN]["pairs"] / (sides.positive.sum() * (~sides.positive).sum())
    gap = max(numbers.get("gap", 0.0) for numbers in found.values())
    return {f"auc {m}": v["auc"] for m, v in found.items()} | {"share": share, "gap": gap}


def parts_5(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task and split; all lambda are in it."""
    splits = range(budget["splits into halves"])
    return read(budget, [_part(name, split) for split in splits for name in SELECTED])


def compute_5(job: Job) -> dict[str, Any]:
    """Run SAUC-SVM at every lambda, C and sigma fixed."""
    name, budget = job["set"], job.budget
    sides = split_sides(job, job.part.parameters.get("reading", ""))
    fixed = (SELECTED[name], budget["sigma"])
    found: dict[str, Any] = {}
    for lam in budget["lambda"]:
        point = pair_machine(sides, *fixed, lam, [budget["C"]], budget["neighbours k"], FINAL_TOL)
        found[f"auc {lam:g}"] = point[0]["auc"]
        found["gap"] = max(point[0]["gap"], found.get("gap", 0.0))
    return found


NEIGHBOURS = Experiment(
    "sauc-neighbours", BUDGET_4, parts_4, compute_4, SEARCH, quick_minutes=0.3, printed_minutes=140
)
LAMBDA = Experiment(
    "sauc-lambda", BUDGET_5, parts_5, compute_5, quick_minutes=0.1, printed_minutes=1
)


def label(k: int) -> str:
    """Return the name of a number of neighbours."""
    return "all pairs" if k == ALL else f"k = {k}"


def render_4(results: Results) -> Page:
    """Show the AUC by k: a panel a task."""
    sheet, panels, results = Sheet(), [], own(results)
    ks = sorted(results.budget["neighbours k (0: all)"], key=lambda k: k or 10**6)
    for name, kernel in SELECTED.items():
        curves: dict[str, list[Point]] = {method: [] for method in METHODS}
        for at, k in enumerate(ks):
            found = {m: results.values(f"auc {m}", set=name, k=k) for m in METHODS}
            for method, values in found.items():
                row = f"{name} ({NAMES[kernel]}), {label(k)}"
                mean = sheet.mean(row, method, values, digits=3)
                curves[method] += [(at, *mean)] if mean else []
            sides, before = (found[STRUCTURED], found[PLAIN]), f"{name}, {label(k)}"
            sheet.paired(sides, (STRUCTURED, PLAIN), "in AUC", 4, before, overlap=1.0)
        _ends_of_k(sheet, results, name, (ks[0], ks[-1]))
        if any(curves.values()):
            panels.append(curve_panel(f"{name}, {NAMES[kernel]}", "k", by_k(ks), curves))
    picture = Picture(
        "sauc-fig-4",
        "AUC by the number of neighbours",
        tuple(panels),
        "Means over the splits against k, in steps of equal width; the last point has all pairs. "
        "SVM has no k. Bars are standard errors.",
    )
    return sheet.page(_NOTES_4, pictures=(picture,))


def _ends_of_k(sheet: Sheet, results: Results, name: str, ends: tuple[int, int]) -> None:
    """Enter what the ends of the curves say of one task: each machine's rise, its lead, the SVM."""
    few, every = ({m: results.values(f"auc {m}", set=name, k=k) for m in METHODS} for k in ends)
    labels = (label(ends[1]), label(ends[0]))
    for method in (PLAIN, STRUCTURED):
        sides, names = (every[method], few[method]), labels
        sheet.paired(sides, names, "in AUC", 4, f"{name}, {method}", overlap=1.0)
    for method in (PLAIN, STRUCTURED):
        sides, names = (every[method], every[SVM]), (method, SVM)
        sheet.paired(sides, names, "in AUC", 4, f"{name}, {labels[0]}", overlap=1.0)
    if len(every[PLAIN]) == len(few[PLAIN]):
        leads = (side[STRUCTURED] - side[PLAIN] for side in (few, every))
        before = f"{name}, lead of {STRUCTURED} over {PLAIN}"
        sheet.paired(leads, (labels[1], labels[0]), "in AUC", 4, before, overlap=1.0)


def by_k(ks: list[int]) -> tuple[str, ...]:
    """Return the ticks of an axis on which the k stand in equal steps."""
    return tuple("all" if k == ALL else str(k) for k in ks)


Point = tuple[float, float, float]  # Place, mean, and standard error of the mean.


def curve_panel(
    title: str, x_label: str, ticks: tuple[str, ...], curves: dict[str, list[Point]]
) -> Panel:
    """Return curves with error bars over ticks in equal steps; the SVM's is a grey line."""
    series = tuple(
        Series(m, tuple(p[0] for p in points), tuple(p[1] for p in points), m == SVM)
        for m, points in curves.items()
    )
    errors = {m: tuple(p[2] for p in points) for m, points in curves.items() if m != SVM}
    return Panel(title, x_label, "AUC", series, log_x=False, errors=errors, ticks=ticks)


def by_lambda(lambdas: list[float]) -> tuple[str, ...]:
    """Return the ticks of an axis on which powers of ten stand in equal steps, every other named.

    The first is 0, which has no power.
    """
    powers = (round(np.log10(lam)) for lam in lambdas[1:])
    return ("0", *(f"1e{power}" if power % 2 else "" for power in powers))


PAIR_RULE = (
    "The k nearest pairs are those of the rows of one class, less the ones that a filter drops: "
    "the rule that the paper's own counts of pairs follow, not the one in its text, which keeps "
    "more pairs (see Table 2)."
)


_NOTES_4 = (
    "The figure prints no numbers, so there is nothing to set ours against but its four claims: "
    "SAUC-SVM above AUC-SVM at every k, the more so the smaller k is, both rising with k, and both "
    "above SVM with all pairs.",
    PAIR_RULE,
    "The splits share rows; the tests allow for it (Nadeau and Bengio), the errors do not. With so "
    "few splits a difference must be more than twice the scatter of a single split to be clear: "
    "`not clear` does not mean `equal`.",
)


INSIDE = ("best lambda in [0.001, 1000]", "best one outside")


def render_5(results: Results) -> Page:
    """Show the AUC by lambda."""
    sheet, panels, results = Sheet(), [], own(results)
    lambdas = results.budget["lambda"]
    for name, kernel in SELECTED.items():
        found = {lam: results.values(f"auc {lam:g}", set=name) for lam in lambdas}
        points = []
        for at, (lam, values) in enumerate(found.items()):
            column = f"{name} ({NAMES[kernel]})"
            mean = sheet.mean(f"lambda = {lam:g}", column, values, digits=3)
            points += [(at, *mean)] if mean else []
        if not points:
            continue
        best = max(lambdas[1:], key=lambda lam: found[lam].mean())
        title, curves = f"{name}, {NAMES[kernel]}", {STRUCTURED: points}
        panels.append(curve_panel(title, "lambda", by_lambda(lambdas), curves))
        names = (f"lambda = {best:g}", "lambda = 0")
        sheet.paired((found[best], found[0.0]), names, "in AUC", 4, name, overlap=1.0)
        inside = [lam for lam in lambdas if 1e-3 <= lam <= 1e3]
        parts = (inside, [lam for lam in lambdas if lam not in inside])
        sides = [max((found[lam] for lam in part), key=np.mean) for part in parts if part]
        sheet.paired(sides, INSIDE, "in AUC", 4, name, overlap=1.0)
    picture = Picture(
        "sauc-fig-5",
        "AUC of SAUC-SVM by the weight of the structure",
        tuple(panels),
        "Means over the splits. lambda = 0, on the left, is AUC-SVM; then 1e-5 to 1e5.",
    )
    return sheet.page(_NOTES_5, pictures=(picture,))


_NOTES_5 = (
    "The paper labels this figure both 5 and 7, names neither the four tasks nor their kernels "
    "(here those of Fig. 4), and prints no numbers.",
    "The best lambda is picked here on the test halves, as the paper reads it off its figure: its "
    "lead over lambda = 0 is a little too good, and its p-value too small.",
    "With standardised features sigma = 256 makes the Gaussian kernel nearly linear and, at C = 1, "
    "nearly all pairs stay within the margin: the score is then close to Fisher's discriminant "
    "with a penalty, at any lambda.",
)


FIG_4 = Table(
    "sauc-fig-4",
    PAPER,
    "Fig. 4",
    "AUC by the number of neighbours on four real tasks",
    NEIGHBOURS,
    render_4,
)
FIG_5 = Table(
    "sauc-fig-5",
    PAPER,
    "Fig. 5 (also called 7)",
    "AUC of SAUC-SVM by the weight of the structure on four real tasks",
    LAMBDA,
    render_5,
)
