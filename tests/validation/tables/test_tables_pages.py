"""Pages, pictures, and tests of paired differences."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from aucert.validation.plots import Series
from aucert.validation.tables.pages import Shown, as_csv, cell, markdown
from aucert.validation.tables.pictures import Panel, Picture, picture_svg
from aucert.validation.tables.run import tables
from aucert.validation.tables.table import Entry, Results, Run, Table, paired_test
from loops import each

TABLES = tables()


def test_a_cell_shows_print_ours_and_error() -> None:
    assert cell(Entry("r", "c", "98.04", 97.513, 0.121)) == "98.04 / 97.51 ± 0.12"
    assert cell(Entry("r", "c", None, 97.513)) == "97.51"
    assert cell(Entry("r", "c", "-", None)) == "– / not run"
    assert cell(Entry("r", "c", "98.04", None)) == "98.04 / missing"


def test_csv_has_a_line_an_entry_with_numbers_in_full() -> None:
    entries = (Entry("a, b", "c", "1.0 (2)", 1 / 3, None, 4),)
    lines = list(csv.DictReader(io.StringIO(as_csv(entries))))
    assert lines[0]["row"] == "a, b" and float(lines[0]["ours"]) == 1 / 3
    assert lines[0]["error"] == "" and lines[0]["count"] == "4"


def test_the_paired_test_is_students_for_independent_repetitions() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 12))
    ours, theirs = paired_test(a, b), stats.ttest_rel(a, b)
    assert ours is not None and ours[2] == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours[0] == pytest.approx(np.mean(a - b))


def test_overlapping_splits_widen_the_error() -> None:
    a, b = np.array([3.0, 4.0, 5.5]), np.array([1.0, 3.0, 2.0])
    free, split = paired_test(a, b), paired_test(a, b, overlap=0.25)
    assert free is not None and split is not None
    assert split[1] / free[1] == pytest.approx(np.sqrt((1 / 3 + 0.25) / (1 / 3)))
    assert split[2] > free[2]


def test_too_few_pairs_have_no_test_and_equal_ones_no_difference() -> None:
    assert paired_test([1.0, 2.0], [0.0, 0.0]) is None
    same = paired_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert same is not None and same[2] == 1.0


def test_a_picture_is_svg_with_one_legend_and_the_same_each_time() -> None:
    curve = Series("method", (1.0, 2.0), (0.5, 0.7))
    dots = Series("class I", (-1.0, 0.0), (0.2, -0.1))
    panel = Panel("left", "x", "y", (curve,), log_x=False, points=(dots,))
    right = Panel("right", "x", "y", (curve,), errors={"method": (0.1, 0.1)})
    text = picture_svg(Picture("pic", "Title", (panel, right), "caption"))
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg") and text.count(">method<") == 1 and ">class I<" in text
    assert text == picture_svg(Picture("pic", "Title", (panel, right), "caption"))


def test_seconds_are_those_of_the_processor_and_data_have_their_checksums() -> None:
    table = TABLES["sauc-table-1"]
    key = {"data_sha256": {"b": "22", "a": "11"}}
    documents = {"a": {"key": key, "seconds": 90.0, "cpu_seconds": 20.0, "environment": {}}}
    run = Run()
    shown = Shown.of(table, Results(run, table.experiment.spent("quick"), (), {}), documents)
    assert "0 parts in 20 s of one processor" in markdown(shown)
    assert (shown.as_json()["seconds"], shown.as_json()["cpu_seconds"]) == (90.0, 20.0)
    assert "- a.npz: `11`\n- b.npz: `22`" in markdown(shown)
    assert shown.as_json()["data_sha256"] == {"a": "11", "b": "22"}


@each("table", TABLES.values(), ids=TABLES.keys())
@each("profile", ["quick", "full"])
def test_every_table_has_a_page_without_any_result(table: Table, profile: str) -> None:
    run = Run(profile)
    budget = table.experiment.spent(profile)
    parts = tuple(table.experiment.parts(run, budget))
    assert parts and len({part.key for part in parts}) == len(parts)
    missing = {part.key: "planted" for part in parts}
    shown = Shown.of(table, Results(run, budget, parts, {}, missing), {})
    text = markdown(shown)
    assert text.startswith(f"# {table.title}") and "## Budget" in text
    assert not re.search(r"\bnan\b", text.lower())
