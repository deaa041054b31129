"""The pictures of the page, drawn from its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...files.written_files import write_atomically
from ...plots import Series
from ...tables.pictures import Panel, Picture, picture_svg
from .race import OURS, TOLERANCES
from .sheets import Sheet

SCALED = (
    ("rows, d = 2", "n", "rows, two features"),
    ("rows, d = 20", "n", "rows, 20 features"),
    ("features", "d", "features"),
    ("lam", "lam", "lam"),
    ("kernel rows", "n", "rows of a Gaussian kernel"),
)
"""What grows, the column that says how far, and its name in the picture."""


def pictures(sheets: dict[str, Sheet]) -> Iterator[Picture]:
    """Yield the pictures of the tables that have rows."""
    makers = {"peers": peers, "roofline": roofline, "scaling": scaling, "threads": threads}
    for name, make in makers.items():
        if sheets[name].rows:
            yield make(sheets[name])


def write_pictures(sheets: dict[str, Sheet], folder: Path) -> list[str]:
    """Write FOLDER/NAME.svg for each picture, and return their names."""
    names = []
    for picture in pictures(sheets):
        text = picture_svg(picture)
        write_atomically(
            folder / f"{picture.name}.svg", lambda file, t=text: file.write(t.encode())
        )
        names.append(picture.name)
    return names


def peers(sheet: Sheet) -> Picture:
    """Draw seconds against excess, a panel an objective and a curve a solver."""
    panels = []
    at = {title: sheet.table.titles.index(title) for title in sheet.table.titles}
    for data, loss in dict.fromkeys((row[0], row[1]) for row in sheet.rows):
        own = [row for row in sheet.rows if row[:2] == (data, loss)]
        curves = []
        for row in own:
            seconds = [row[at[title]] for title in ("1e-3", "1e-6", "1e-9")]
            known = [(s, tol) for s, tol in zip(seconds, TOLERANCES, strict=True) if s]
            name = row[at["who"]]
            curves.append(Series.of(name, [s for s, _ in known], [tol for _, tol in known]))
        short = "squared hinge" if loss == "squared_hinge" else loss
        panels.append(Panel(f"{data}, {short}", "CPU s", "excess", tuple(curves), log_y=True))
    caption = f"Seconds to an excess; {OURS} is when the proof was there."
    return Picture("peers", "Seconds to an excess over the proved optimum", tuple(panels), caption)


def roofline(sheet: Sheet) -> Picture:
    """Draw the time in readings against rows, a curve a regime, a panel a tolerance."""
    panels = []
    kinds = list(dict.fromkeys(sheet.column("regime")))
    for tol in TOLERANCES:
        own = [dict(zip(sheet.table.titles, row, strict=True)) for row in sheet.rows]
        own = [row for row in own if row["tol"] == tol]
        curves = []
        for kind in kinds:
            points = [(row["n"], row["times"]) for row in own if row["regime"] == kind]
            curves.append(Series.of(kind, [n for n, _ in points], [t for _, t in points]))
        title = f"to a proved gap of {tol:g}"
        panels.append(Panel(title, "rows", "readings R", tuple(curves), log_y=True))
    caption = "Time in readings of the rows, or in builds of the kernel's matrix."
    return Picture("roofline", "Time in readings R of the same rows", tuple(panels), caption)


def scaling(sheet: Sheet) -> Picture:
    """Draw seconds against what grows, and R beside them."""
    panels = []
    own = [dict(zip(sheet.table.titles, row, strict=True)) for row in sheet.rows]
    for kind, title, label in SCALED:
        points = [row for row in own if row["grows"] == kind]
        x = [row[title] for row in points]
        curves = (
            Series.of("solve, proved to 1e-6", x, [row["s"] for row in points]),
            Series.of("R, one reading", x, [row["R"] for row in points], reference=True),
        )
        panels.append(Panel(label, label, "CPU s", curves, log_y=True))
    return Picture("scaling", "Time as one size grows", tuple(panels), "Seconds and R.")


def threads(sheet: Sheet) -> Picture:
    """Draw seconds by the clock against rows, a curve a number of threads."""
    own = [dict(zip(sheet.table.titles, row, strict=True)) for row in sheet.rows]
    curves = []
    for count in dict.fromkeys(row["threads"] for row in own):
        points = [row for row in own if row["threads"] == count]
        name = f"{count} thread" + ("s" if count > 1 else "")
        curves.append(Series.of(name, [p["n"] for p in points], [p["s"] for p in points]))
    panel = Panel("two features", "rows", "s by the clock", tuple(curves), log_y=True)
    return Picture("threads", "Threads", (panel,), "Seconds by the clock.")
