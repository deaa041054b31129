"""Pages: cells, CSV, pictures, paired tests, and what they conclude where little was run."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from aucert.validation.effects import said_on
from aucert.validation.plots import Series
from aucert.validation.tables.pages import NOTHING, TOO_LITTLE, Shown, as_csv, cell, markdown
from aucert.validation.tables.run import tables
from aucert.validation.tables.sauc import PLAIN, STRUCTURED, SVM
from aucert.validation.tables.table import (
    Entry,
    Panel,
    Results,
    Run,
    paired_test,
    picture_svg,
)

TABLES = tables()


def test_cells_and_csv_hold_print_ours_and_error() -> None:
    assert cell(Entry("r", "c", "98.04", 97.513, 0.121)) == "98.04 / 97.51 ± 0.12"
    assert cell(Entry("r", "c", None, 97.513)) == "97.51"
    assert cell(Entry("r", "c", "-", None)) == "– / not run"
    assert cell(Entry("r", "c", "98.04", None)) == "98.04 / missing"
    text = as_csv((Entry("a, b", "c", "1.0 (2)", 1 / 3, None, 4),))
    (line,) = csv.DictReader(io.StringIO(text))
    assert line["row"] == "a, b" and float(line["ours"]) == 1 / 3
    assert line["error"] == "" and line["count"] == "4"


def test_the_paired_test_is_students_and_widened_for_overlapping_splits() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 12))
    ours, theirs = paired_test(a, b), stats.ttest_rel(a, b)
    assert ours is not None and ours[2] == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours[0] == pytest.approx(np.mean(a - b))
    split = paired_test(a, b, overlap=0.25)
    assert split is not None and split[2] > ours[2]
    assert split[1] / ours[1] == pytest.approx(np.sqrt((1 / 12 + 0.25) / (1 / 12)))
    assert paired_test([1.0, 2.0], [0.0, 0.0]) is None
    same = paired_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert same is not None and same[2] == 1.0


@pytest.mark.slow
def test_a_picture_is_svg_with_one_legend_and_the_same_each_time() -> None:
    curve = Series("method", (1.0, 2.0), (0.5, 0.7))
    dots = Series("class I", (-1.0, 0.0), (0.2, -0.1))
    panel = Panel("left", "x", "y", (curve,), log_x=False, points=(dots,))
    right = Panel("right", "x", "y", (curve,), errors={"method": (0.1, 0.1)})
    text = picture_svg("pic", "Title", (panel, right))
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg") and text.count(">method<") == 1 and ">class I<" in text
    assert text == picture_svg("pic", "Title", (panel, right))


def test_seconds_are_those_of_the_processor_and_data_have_their_checksums() -> None:
    table = TABLES["sauc-table-1"]
    key = {"data_sha256": {"b": "22", "a": "11"}}
    documents = {"a": {"key": key, "seconds": 90.0, "cpu_seconds": 20.0, "environment": {}}}
    page = Shown.of(table, Results(Run(), table.experiment.spent("quick"), (), {}), documents)
    assert "0 parts in 20 s of one processor" in markdown(page)
    assert (page.as_json()["seconds"], page.as_json()["cpu_seconds"]) == (90.0, 20.0)
    assert "- a.npz: `11`\n- b.npz: `22`" in markdown(page)
    assert page.as_json()["data_sha256"] == {"a": "11", "b": "22"}


def shown(name: str, count: int = 0, profile: str = "quick", judge=said_on, **record) -> Shown:
    """The page where only the first parts were run, and gave these numbers."""
    table, run = TABLES[name], Run(profile)
    spent = table.experiment.spent(profile)
    parts = tuple(table.experiment.parts(spent))
    assert parts and len({part.key for part in parts}) == len(parts)
    done = {part.key: record for part in parts[:count]}
    missing = {} if count else {part.key: "planted" for part in parts}
    made = {"seconds": 1.0, "cpu_seconds": 1.0, "environment": {}, "key": {"data_sha256": {}}}
    return Shown.of(
        table, Results(run, spent, parts, done, missing), dict.fromkeys(done, made), judge
    )


def test_every_table_has_a_page_without_any_result() -> None:
    for name, table in TABLES.items():
        for profile in ("quick", "full"):
            page = shown(name, profile=profile)
            text = markdown(page)
            assert text.startswith(f"# {table.title}") and "## Budget" in text
            assert not re.search(r"\bnan\b", text.lower()) and page.conclusion == NOTHING


def test_a_few_parts_decide_nothing() -> None:
    record: dict[str, Any] = {f"auc {m}": 0.8 for m in (SVM, PLAIN, STRUCTURED)}
    page = shown("sauc-fig-4", 1, **record)
    assert {said.verdict for said in page.said} == {"undecided"}
    assert shown("sauc-table-2", 1, judge=None).conclusion == TOO_LITTLE
