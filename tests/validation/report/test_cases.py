"""Dot charts from the names of a claim's numbers: what becomes a picture, and what it shows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from aucert.validation.report.cases import CasePicture, case_pictures
from aucert.validation.report.dot_chart import WIDTH, dot_chart
from loops import each


def only(details: dict[str, Any]) -> CasePicture:
    (chart,) = case_pictures(details)
    return chart


def marks(chart: CasePicture) -> list[float]:
    """Where the discs stand, from left to right, a line a case."""
    root = ET.fromstring(dot_chart(chart, "title"))
    return [float(disc.attrib["cx"]) for disc in root.iter("circle")][: len(chart.values)]


def test_numbers_of_one_quantity_in_several_cases_make_a_picture() -> None:
    chart = only({"lam 1: gap": 0.1, "lam 2: gap": 0.3, "rows": 120})
    assert list(chart.values) == ["lam 1", "lam 2"]
    assert chart.quantities == ("gap",) and chart.caption == "gap, by case"
    assert sorted(set(chart.numbers)) == [0.1, 0.3]


def test_a_list_with_a_name_a_number_has_a_mark_a_name() -> None:
    chart = only({"a: bound, truth": [3.0, 1.0], "b: bound, truth": [4.0, 2.0]})
    assert chart.quantities == ("bound", "truth")
    assert chart.values["b"]["truth"].at == (2.0,)
    drawn = dot_chart(chart, "title")
    assert drawn.count("<circle") == 2 + 1 and drawn.count("<polygon") == 2 + 1  # and the legend


def test_a_list_without_names_is_a_row_of_dots() -> None:
    chart = only({"first": [0.1, 0.2, 0.3], "second": [0.2, 0.3, 0.5]})
    assert chart.values["first"][""].at == (0.1, 0.2, 0.3)


@each(("text", "middle", "half"), [("+0.03 +- 0.01, > 0 in 9 of 10", 0.03, 0.01), ("4 to 6", 5, 1)])
def test_a_number_with_its_interval_has_whiskers(text: str, middle: float, half: float) -> None:
    chart = only({"A minus B": text})
    value = chart.values["A minus B"][""]
    assert value.at == (middle,) and value.half_width == half
    assert "lines are intervals" in chart.caption
    assert 0.0 <= min(marks(chart)) <= WIDTH


def test_numbers_that_cannot_be_compared_make_none() -> None:
    assert case_pictures({"rows": 12, "largest relative difference": 0.5, "optimum": 0.2}) == []
    assert case_pictures({"lam 1: gap": 1e-12, "lam 2: gap": 3e-11}) == []  # all zero
    assert case_pictures({"lam 1: gap": 0.5, "lam 2: gap": 0.5}) == []
    assert case_pictures({"a: ok": True, "b: ok": False, "c: why": "text"}) == []
    assert case_pictures({"a: x": float("inf"), "b: x": float("nan")}) == []


def test_quantities_of_like_size_and_equal_cases_share_a_picture() -> None:
    details = {"a: share": 0.9, "b: share": 0.8, "a: bound": 0.95, "b: bound": 0.85}
    assert only(details).quantities == ("share", "bound")
    far = details | {"a: bound": 950.0, "b: bound": 850.0}
    assert [chart.quantities for chart in case_pictures(far)] == [("share",), ("bound",)]


def test_a_larger_number_stands_further_to_the_right_on_either_axis() -> None:
    for values in ([1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [1e-9, 1e-3, 10.0]):
        chart = only({f"{k}: x": value for k, value in enumerate(values)})
        places = marks(chart)
        assert places == sorted(places) and len(set(places)) == 3
        assert 0 < places[0] and places[-1] < WIDTH
    assert chart.logarithmic


def test_equal_ratios_are_equal_distances_on_a_logarithmic_axis() -> None:
    places = marks(only({f"{k}: x": 10.0**k for k in (-4, 0, 4)}))
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)


def test_the_axis_names_the_decades_and_zero() -> None:
    texts = re.findall(r">([^<]+)</text>", dot_chart(only({"a: x": 1e-3, "b: x": 10.0}), "t"))
    assert {"1e-3", "1e0", "1e1"} <= set(texts)
    texts = re.findall(r">([^<]+)</text>", dot_chart(only({"a: x": -1.0, "b: x": 1.0}), "t"))
    assert {"-1", "0", "1"} <= set(texts)


def test_the_text_of_a_chart_is_escaped() -> None:
    drawn = dot_chart(only({"<b>: x": 1.0, "c & d: x": 2.0}), "</title><script>")
    root = ET.fromstring(drawn)
    assert "<b>" not in drawn and "<script>" not in drawn
    assert root.find("title") is not None and root.findtext("title") == "</title><script>"


def test_a_long_label_stands_on_two_lines() -> None:
    name = "a case that has quite a long name, such as a data set, a kernel and a weight"
    texts = re.findall(r">([^<]+)</text>", dot_chart(only({f"{name}: x": 1.0, "b: x": 2.0}), "t"))
    at = next(k for k, text in enumerate(texts) if name.startswith(text))
    assert " ".join(texts[at : at + 2]) == name
