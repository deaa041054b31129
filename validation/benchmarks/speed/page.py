"""Speed beside peers: one page of tables and pictures, made anew by one command.

Peers on the same objective, judged by our proved lower bound, and what our time goes to; models of
another objective, by the AUC of held-out rows; time in readings of the rows; how it grows; threads;
whole pieces of work.
With `--out DIR` the page DIR/speed.md is written, and its tables and pictures in DIR/results/speed.
What is not measured now is taken from the tables that lie there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ....exact.errors import InputError
from ...files.written_files import write_atomically
from ..harness import Lines, benchmark
from . import models, race, readings, shares, work
from .cases import Effort
from .pictures import write_pictures
from .sheets import Rows, Sheet, filled
from .words import page

Part = tuple[Callable[[], Sheet], Callable[[Effort], Rows]]

PARTS: dict[str, Part] = {
    "peers": (race.sheet, race.rows),
    "shares": (shares.sheet, shares.rows),
    "models": (models.sheet, models.rows),
    "roofline": (readings.roofline, readings.roofline_rows),
    "scaling": (readings.scaling, readings.scaling_rows),
    "threads": (readings.threads, readings.threads_rows),
    "work": (work.sheet, work.rows),
}
"""Each table of the page: its name, itself without rows, and who makes its rows."""

QUICK = Effort(shrink=50, repeats=1, longest=2.0)
"""What takes less than two minutes."""

RESULTS = "results/speed"
"""Where tables and pictures lie, as seen from the page."""


@benchmark(
    only=f"parts: {', '.join(PARTS)}; none of them writes the page again",
    out="existing folder for the page, its tables and its pictures",
    quick="one row of fifty, one run each",
    shrink="take one row of so many",
)
def main(
    only: tuple[str, ...] = tuple(PARTS),
    out: Path | None = None,
    quick: bool = False,
    shrink: int = 1,
    repeats: int = 2,
) -> Lines:
    """Yield the tables, and write the page."""
    unknown = [name for name in only if name not in PARTS]
    if unknown:
        raise InputError(f"unknown part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    if shrink < 1 or repeats < 1:
        raise InputError("shrink and repeats must be whole numbers >= 1")
    if out is not None and not out.is_dir():
        raise InputError(f"{out}: there is no such folder: make it, or name another")
    effort = QUICK if quick else Effort(shrink, repeats)
    sheets = {name: make() for name, (make, _) in PARTS.items()}
    if out is not None:
        sheets = {name: sheet.read(out / RESULTS) for name, sheet in sheets.items()}
    if out is not None and not only:
        _write(sheets, out)
    for name in only:
        make, rows = PARTS[name]
        sheets[name] = make()
        yield from filled(sheets[name], rows(effort))
        if out is not None:
            _write(sheets, out)


def _write(sheets: dict[str, Sheet], out: Path) -> None:
    """Write the page with the tables so far: a run that is cut short leaves what it has."""
    folder = out / RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets.values():
        sheet.write(folder)
    text = page(sheets, write_pictures(sheets, folder), RESULTS)
    write_atomically(out / "speed.md", lambda file: file.write(text.encode()))
