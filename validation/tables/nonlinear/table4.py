"""[Nonlinear, Table 4]: the stochastic methods against the batch one, and the optimum."""

from __future__ import annotations

from ...data.printed_numbers import printed
from ..statistics import Paired, mean_error, paired_test
from ..table import Entry, Page, Results, Table
from .labels import label
from .online import LARGE, METHODS, ONLINE
from .sets import NOTES, OVERLAP, PAPER, PUBLISHED, UNAVAILABLE

PRINTED = printed(PAPER, "Table 4")
OPTIMUM = "hinge optimum, lam ≥ 1e-5"


def render(results: Results) -> Page:
    """Show AUC and seconds, without the features, and the optimum of what NSAUC minimises."""
    entries: list[Entry] = []
    tests: list[str] = []
    for name, texts in PRINTED.items():
        for field, unit in (("auc", "AUC %"), ("seconds", "s")):
            row = f"{label(name)}, {unit}"
            for method in METHODS:
                shown = texts[f"{method}, {unit}"]
                ours = results.values(f"{method}_{field}", set=name)
                entries.append(Entry(row, method, shown, *mean_error(ours), ours.size))
            ours = results.values(f"optimum_{field}", set=name)
            if ours.size:
                entries.append(Entry(row, OPTIMUM, None, *mean_error(ours), ours.size))
        if name in PUBLISHED or name not in LARGE:
            continue
        for rival in ("NBAUC", "NSOLAM"):
            test = _test(results, name, rival)
            if test is not None:
                tests.append(f"{label(name)}: {test.sentence('NSAUC', rival, 'points of AUC')}")
    return Page(tuple(entries), tuple(tests), _differences(results))


def mean_auc(results: Results, method: str, name: str) -> float:
    """Return the mean over the splits; NaN if there is none."""
    values = results.values(f"{method}_auc", set=name)
    return float(values.mean()) if values.size else float("nan")


def _test(results: Results, name: str, rival: str) -> Paired | None:
    a, b = (results.values(f"{x}_auc", set=name) for x in ("NSAUC", rival))
    return paired_test(a, b, OVERLAP)


def _differences(results: Results) -> tuple[str, ...]:
    notes = [f"{name}: {NOTES[name]}." for name in LARGE if name in NOTES and name != "skin"]
    return (
        *notes,
        "NSOLAM minimises the square loss in a ball, not the squared hinge, as the text says.",
        "The paper names neither the epochs of NSAUC nor C of NOAM; ours are in the budget.",
        "The last column is the proved optimum over all pairs of the hinge, which NSAUC minimises, "
        "but at a far larger lam (the paper's grid of C as far as lam is 1e-5 or more, against "
        f"1e-10 to 1e-7), with a relative gap of at most {_gap(results)}: it is not the point that "
        "NSAUC goes to.",
        "Seconds are those of one fit at the chosen parameters, without the features.",
    )


def _gap(results: Results) -> str:
    gaps = results.values("optimum_gap")
    return f"{gaps.max():.1e}" if gaps.size else "nothing run yet"


TABLE_4 = Table(
    "nonlinear-table-4",
    PAPER,
    "Table 4",
    "Stochastic and online methods in k-means Nyström features",
    ONLINE,
    render,
    {"acoustic": UNAVAILABLE["acoustic"]},
)
