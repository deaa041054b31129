"""[SHT, Tables IV and V, Fig. 4], shown: which genes are chosen, and which of them are markers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np

from ...plots import Series
from ..pictures import Panel, Picture
from ..sheet import Sheet
from ..table import Entry, Page, Results, Table
from .gene_tables import overlap
from .genes import EXPERIMENT, SPARSE, SUBSET
from .markers import COLON, LEUKEMIA
from .printed import PAPER, SETS


def render_ratio(results: Results) -> Page:
    """Show the share of marker genes by k, as Fig. 4, both ways."""
    ks = [float(k) for k in results.budget["k"]]
    sheet, panels = Sheet(), []
    for name, d in (("colon", 2000), ("leukemia", 7129)):
        series, shares = [], {}
        for method in SPARSE:
            records = np.array([r[f"ratios {method}"] for r in results.select(set=name)])
            if not len(records):
                continue
            for at, k in enumerate(ks):
                for side, what in enumerate(("of those found", "of the markers")):
                    values, column = records[:, at, side], f"{what}, k = {k:g}"
                    sheet.mean(f"{name}, {method}", column, values, digits=3)
            series.append(Series(method, tuple(ks), tuple(records.mean(axis=0)[:, 0].tolist())))
            shares[method] = records[:, ks.index(30), 0] if 30 in ks else np.empty(0)
        for names in [(SPARSE[0], rival) for rival in SPARSE[1:] if rival in shares]:
            a, b = (shares[method] for method in names)
            ahead = f"It is ahead in {np.sum(a > b)} of {a.size} shuffles."
            sheet.paired((a, b), names, "", 4, f"{name}, k = 30", 1 / overlap(name), ahead)
        if series:
            chance = float(results.values("markers", set=name)[0]) / d
            level = (chance, chance)
            series.append(Series("chance", (ks[0], ks[-1]), level, True))
            panels.append(Panel(name, "k", "markers / genes found", tuple(series)))
    caption = "Markers among the genes found, mean over shuffles; the grey line is a random choice."
    picture = Picture("sht-fig-4", "Markers among the genes found", tuple(panels), caption)
    notes = (
        "The formula divides by the number of markers, the text by the genes found; the programs "
        "do the latter, which is drawn. Both are in the table.",
        "The genes depend on the training rows, most of which two shuffles have in common. The "
        "tests ask of other patients too: they add training rows over test rows to 1 / shuffles, "
        "as the jackknife has it. Those of an AUC, whose noise is mostly that of the test rows, "
        "add the inverse.",
        *_lists(),
    )
    return sheet.page(notes, pictures=(picture,))


def _lists() -> tuple[str, ...]:
    return (
        f"Table IV (leukemia): {len(LEUKEMIA)} of 32 markers are found among the probes by "
        "accession number, some with several probes; KIAA0220 has none.",
        f"Table V (colon): the columns of all {len(COLON)} markers are those of the published "
        "programs. The data file has no gene names, so they cannot be checked by name; columns "
        "given for one gene are highly correlated, which supports the order.",
    )


def render_lists(results: Results) -> Page:
    """Show which genes were selected most often, and which of them are markers."""
    entries = []
    for name in SETS:
        for method in ("SHT-AUC", SUBSET):
            counts: Counter[int] = Counter()
            total, marks = 0, {}
            for record in results.select(set=name):
                counts.update(record[f"genes {method}"])
                total, marks = total + 1, _markers(record)
            for rank, (column, times) in enumerate(counts.most_common(8), start=1):
                text = f"{column + 1} ({times} of {total}){marks.get(column, '')}"
                entries.append(Entry(f"{name}, {method}", f"no. {rank}", None, text))
    if not entries:
        return Page(())
    always = {method: _always(results, method) for method in ("SHT-AUC", SUBSET)}
    shared = _shared(results)
    conclusion = ""
    if shared is not None:
        conclusion = (
            f"Chosen in every shuffle are {always[SUBSET]} genes by the proved best five, and "
            f"{always['SHT-AUC']} by SHT-AUC, which keeps many more (colon and leukemia together). "
            f"Two shuffles have {shared:.1f} of their best five in common on average: a list of "
            f"genes from one split {'should not' if shared < 4 else 'may'} be read as a finding."
        )
    notes = (
        "Numbers are columns of the data files, the first being 1; in brackets how often, and "
        "where it applies the marker's number in Table IV (leukemia) or V (colon).",
        *_lists(),
    )
    return Page(tuple(entries), (), notes, (), conclusion)


def _always(results: Results, method: str) -> int:
    """Return how many genes are chosen in every shuffle, over both sets."""
    count = 0
    for name in SETS:
        chosen = [set(record[f"genes {method}"]) for record in results.select(set=name)]
        count += len(set.intersection(*chosen)) if chosen else 0
    return count


def _shared(results: Results) -> float | None:
    """Return how many of the best five two shuffles of a set share on average, if there are two."""
    common = [
        len(set(a) & set(b))
        for name in SETS
        for a, b in combinations([r[f"genes {SUBSET}"] for r in results.select(set=name)], 2)
    ]
    return float(np.mean(common)) if common else None


def _markers(record: dict[str, Any]) -> dict[int, str]:
    """Return column to the text that marks it."""
    return {
        column: f", marker {number}"
        for number, columns in record["marker columns"].items()
        for column in columns
    }


FIG_4 = Table(
    "sht-fig-4", PAPER, "Fig. 4", "Markers among the selected genes", EXPERIMENT, render_ratio
)
LISTS = Table(
    "sht-tables-4-5",
    PAPER,
    "Tables IV and V",
    "Selected genes and the paper's markers",
    EXPERIMENT,
    render_lists,
)
