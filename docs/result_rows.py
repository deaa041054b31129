"""Copies what the pages in results/ conclude into the tables of tables*.md.

    python docs/result_rows.py

`aucert reproduce --profile full --out docs/results/full` makes the pages, and after it this makes
the rows between two comments, `<!-- results of PAPER -->` and `<!-- end -->`. A test holds both
against each other.
"""

from __future__ import annotations

import re
from pathlib import Path

from aucert.validation.tables.registry import tables
from aucert.validation.tables.table import Table

HERE = Path(__file__).resolve().parent
PAGES = ("tables.md", "tables-sauc.md", "tables-sht.md")
BLOCK = re.compile(r"(<!-- results of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = "| place | full | quick | what to conclude |\n|---|---|---|---|\n"


def conclusion(table: Table, profile: str) -> str:
    """Return the sentences under the title of a table's page."""
    text = (HERE / "results" / profile / f"{table.name}.md").read_text(encoding="utf-8")
    opening = f"{table.paper}, {table.place}. "
    found = next((line for line in text.splitlines() if line.startswith(opening)), None)
    if found is None:
        raise SystemExit(f"results/{profile}/{table.name}.md: no line begins with {opening!r}")
    return found[len(opening) :].replace("|", "\\|")


def rows(paper: str) -> str:
    """Return the table of a paper: pages of both profiles, and what that of `full` concludes."""
    lines = []
    for table in tables().values():
        if table.paper == paper:
            pages = " | ".join(
                f"[page](results/{profile}/{table.name}.md)" for profile in ("full", "quick")
            )
            lines.append(f"| {table.place} | {pages} | {conclusion(table, 'full')} |\n")
    return f"\n{HEAD}{''.join(lines)}\n"


def written(text: str) -> str:
    """Return a page with its rows as the results have them."""
    return BLOCK.sub(lambda found: f"{found[1]}{rows(found[2])}{found[3]}", text)


if __name__ == "__main__":
    for name in PAGES:
        page = HERE / name
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
