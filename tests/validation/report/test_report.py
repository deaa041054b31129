"""The report holds every claim, escapes what it shows, and needs nothing outside its one file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aucert.validation.claims.claim import DataUsed
from aucert.validation.claims.theorem_4 import CASES
from aucert.validation.effects import Effect
from aucert.validation.plots import Figure, Series
from aucert.validation.report.document import SIZES, Report, Row, environment, part_1

MARKUP = "<script>alert('&')</script>"


def figure(name: str = "theorem-4-against-n", title: str = "Title") -> Figure:
    curves = (
        Series.of("one <b>", [1.0, 10.0, 100.0], [1.0, 0.1, 0.01]),
        Series.of("two", [1.0, 10.0, 100.0], [2.0, 0.3, 0.02]),
        Series.of("slope -1", [1.0, 100.0], [1.0, 0.01], True),
    )
    return Figure(name, title, "pairs", "gap", curves, "A caption.")


def row(name: str, **changes: object) -> Row:
    values: dict[str, object] = {
        "name": name,
        "paper": "ScalingUp",
        "place": "Theorem 4",
        "kind": "theorem",
        "statement": "It is so.",
        "formula": "a <= b",
        "measured": 0.25,
        "printed": "0.5",
        "verdict": "holds",
        "expected_verdict": "holds",
        "seconds": 1.5,
        "tolerance": "1e-6",
        "seed": 3,
        "profile": "quick",
        "version": "0.1",
        "data": (DataUsed("rows", "ab" * 32, "made up"),),
        "details": {"bound": 0.125},
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def report(*rows: Row) -> Report:
    return Report(rows, 3, "quick", "0.1", "cd" * 32, environment(), 2.0)


class Page(HTMLParser):
    """Tags that were closed in order, ids, and links."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "br", "link", "img", "hr"):
            self.open.append(tag)
        self.ids += [value or "" for key, value in attrs if key == "id"]
        self.links += [value or "" for key, value in attrs if key.endswith(("href", "src"))]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_file_that_holds_every_claim_and_no_traceback() -> None:
    figures = (figure(), figure("bound-against-error-3"))
    error = row("third", verdict="error", details={"traceback": "/home/me"})
    text = report(row("first"), row("second", figures=figures), error).html()
    page = Page(text)
    for name in ("first", "second", "third"):
        assert name in page.ids and f"aucert validate --only {name} --seed 3" in text
    for part in ("It is so.", "a &lt;= b", "0.25", "Limitations", "<svg"):
        assert part in text
    assert page.open == [] and not {"script", "link", "img", "iframe"} & page.seen
    assert "http" not in text and "@import" not in text and "/home/me" not in text
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(page.ids) == len(set(page.ids))


def test_markup_in_any_text_is_escaped() -> None:
    for name in ("statement", "formula", "measured", "printed", "place"):
        text = report(row("first", **{name: MARKUP})).html()
        assert "<script" not in text and "&lt;script&gt;" in text
    bad = row(
        "first",
        kind="finding",
        verdict="borne-out",
        details={"table": MARKUP},
        effects=(Effect(MARKUP, 1.0, 0.1, 9, unit=MARKUP).document(),),
        protocol=({"letter": "a", "says": MARKUP},),
        figures=(replace(figure(title=MARKUP), caption=MARKUP, x_label=MARKUP),),
    )
    text = report(bad).html()
    assert "<script" not in text and "<svg" in text and "one <b>" not in text


def test_the_counts_add_up_to_all_claims() -> None:
    rows = [row(f"a{k}", verdict=v) for k, v in enumerate(["holds", "fails", "loose", "error"])]
    made = report(*rows, row("b", kind="finding", verdict="undecided"), row("c", kind="suite"))
    counts = dict(made.counts())
    for columns in counts.values():
        assert sum(columns.values()) == 2 * columns["all"]
    assert counts["all"]["all"] == 6 and counts["theorem"]["fall"] == 1


def test_writing_leaves_two_whole_files(tmp_path: Path) -> None:
    made = report(row("first"))
    made.write(tmp_path)
    document = json.loads((tmp_path / "claims.json").read_text())
    assert [entry["name"] for entry in document["claims"]] == ["first"]
    assert document["claims"][0]["data"][0]["sha256"] == "ab" * 32
    assert (tmp_path / "report.html").read_text() == made.html()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.json", "report.html"]


def test_a_curve_leaves_out_what_a_logarithmic_axis_cannot_show() -> None:
    series = Series.of("s", [1.0, 2.0, 3.0, 4.0], [1.0, 0.0, float("nan"), 2.0])
    assert series.x == (1.0, 4.0) and series.y == (1.0, 2.0)


def test_the_counterexample_to_theorem_4_runs_as_printed() -> None:
    (code,) = re.findall(
        r"<pre>(from math.*?)</pre>", report(row("a", figures=(figure(),))).html(), re.S
    )
    command = [sys.executable, "-c", unescape(code)]
    left, right = subprocess.check_output(command, text=True).rstrip("?\n").split(" <= ")
    assert f"{left} &lt;= {right}?" in code.splitlines()[-1] and float(left) > float(right)
    (meant,) = (case for case in CASES if (case.B, case.root) == (1e16, 0.5))
    assert meant.sides()[:2] == pytest.approx((float(left), float(right)), abs=5e-4)


def test_part_1_of_theorem_4_prime_says_nothing_while_lam_b_is_small() -> None:
    for lam, values in part_1().items():
        assert [value > 1 for value in values] == [lam * n <= 7.4 * 2 for n in SIZES]
