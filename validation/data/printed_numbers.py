"""The numbers that the papers print, from one list: `printed_numbers.csv` next to this file. A line
is a cell: paper, table, row, column, the value as printed (errors in brackets included, "-" where
the paper has a dash), and what it is. Lines are sorted by paper and table; rows and columns stand
in the order of the print."""

import csv
import math
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("printed_numbers.csv")


@cache
def _tables() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            cells = found.setdefault((line["paper"], line["table"]), {})
            cells.setdefault(line["row"], {})[line["column"]] = line["value"]
    return found


def printed(paper: str, table: str) -> dict[str, dict[str, str]]:
    """Return row to column to the text that is printed there, in the order of the print."""
    return _tables()[paper, table]


def number(text: str) -> float:
    """Return a printed value without what follows it in brackets; NaN for a dash."""
    return math.nan if text == "-" else float(text.split()[0].replace(",", ""))


def numbers(paper: str, table: str) -> dict[str, tuple[float, ...]]:
    """Return row to its numbers, in the order of the columns."""
    return {name: tuple(map(number, row.values())) for name, row in printed(paper, table).items()}
