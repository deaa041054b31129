"""The numbers that the papers print, of `printed_numbers.csv` next to this file. A line is a cell:
paper, table, row, column, the value as printed (errors in brackets included, "-" where the paper
has a dash), and what it is. Rows and columns stand in the order of the print. Of Tables IV and V of
SHT it is the gene's place in the authors' programs, "-" where they have none (KIAA0220)."""

import csv
import math
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("printed_numbers.csv")


@cache
def _cells() -> list[dict[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed(paper: str, table: str) -> dict[str, dict[str, str]]:
    """Return row to column to the text that is printed there, in the order of the print."""
    found: dict[str, dict[str, str]] = {}
    for cell in _cells():
        if (cell["paper"], cell["table"]) == (paper, table):
            found.setdefault(cell["row"], {})[cell["column"]] = cell["value"]
    return found


def number(text: str) -> float:
    """Return a printed value without what follows it in brackets; NaN for a dash."""
    return math.nan if text == "-" else float(text.split()[0].replace(",", ""))


def numbers(paper: str, table: str) -> dict[str, tuple[float, ...]]:
    """Return row to its numbers, in the order of the columns."""
    return {name: tuple(map(number, row.values())) for name, row in printed(paper, table).items()}
