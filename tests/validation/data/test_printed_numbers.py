"""The list of the numbers that the papers print, and that all of it is used."""

from __future__ import annotations

import csv
import math

import pytest

from aucert.exact.errors import InputError
from aucert.validation.data import printed_numbers
from aucert.validation.data.printed_numbers import FILE, number, numbers, printed
from aucert.validation.tables.run import tables as registered
from aucert.validation.tables.table import Results, Run

with FILE.open(encoding="utf-8", newline="") as opened:
    LINES = list(csv.DictReader(opened))


def shown(table: str) -> set[str]:
    """The printed texts of a page on which nothing has been run."""
    entry = registered()[table]
    budget = entry.experiment.spent("full")
    results = Results(Run("full"), budget, tuple(entry.experiment.parts(Run("full"), budget)), {})
    return {cell.printed for cell in entry.render(results).entries if cell.printed is not None}


def test_no_table_shows_a_number_that_is_not_in_the_list() -> None:
    known: dict[tuple[str, str], set[str]] = {}
    for line in LINES:
        values = known.setdefault((line["paper"], line["table"]), set())
        values |= {line["value"], line["value"].replace("-", "−")}
        if line["value"][-1].isdigit() and line["value"] != "over 300":
            values.add(f"{number(line['value']):g}")
    for name, table in registered().items():
        texts = shown(name)
        assert texts <= known.get((table.paper, table.place), set()), name


def test_numbers_are_read_from_what_is_printed() -> None:
    assert number(".901 (.0023)") == 0.901 and number("133,270") == 133_270
    assert number("-0.8") == -0.8 and math.isnan(number("-"))
    assert numbers("SHT", "Table I")["SHT-AUC"] == (0.551, 0.675, 0.766, 0.82)
    assert printed("ScalingUp", "Table 1")["50000"]["s, full"] == "-"
    assert numbers("Nonlinear", "Table 1")["covtype"] == (464_809, 116_203, 54, 10.65)


def test_what_is_not_in_the_list_is_named() -> None:
    with pytest.raises(InputError, match=r"paper and table \('SAUC', 'Table 9'\) is not in"):
        printed("SAUC", "Table 9")
    with pytest.raises(InputError, match="SAUC, Table 3: row 'iris' is not in the list"):
        printed("SAUC", "Table 3")["iris"]
    with pytest.raises(InputError, match="SAUC, Table 3, row 'wdbc': column 'Fisher' is not"):
        printed("SAUC", "Table 3")["wdbc"]["Fisher"]
    assert printed_numbers.FILE.name == "printed_numbers.csv"
