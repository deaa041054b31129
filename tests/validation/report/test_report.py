"""The report holds every claim, escapes what it shows, and needs nothing outside its one file."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from aucert.validation.claims.claim import DataUsed
from aucert.validation.commands.endings import counted_progress
from aucert.validation.commands.others import (
    claims_table,
    print_report,
    report_table,
    summary_line,
    verdict_text,
)
from aucert.validation.plots import Figure, Series, svg
from aucert.validation.report.document import Report, brief, environment, repeat, shown
from aucert.validation.report.row import Row
from aucert.validation.report.story import stories
from aucert.validation.suite import claims
from loops import each

MARKUP = "<script>alert('&')</script>"


def figure(name: str = "a-figure", title: str = "Title") -> Figure:
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

    VOID = frozenset({"meta", "br", "link", "img", "hr"})

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("href", "src", "xlink:href"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_holds_every_claim_with_its_numbers_and_its_command() -> None:
    text = report(row("first"), row("second", figures=(figure(),))).html()
    for name in ("first", "second"):
        assert f'id="{name}"' in text
        assert f"aucert validate --only {name} --seed 3" in text
    for part in ("It is so.", "a &lt;= b", "0.25", "0.125", "ab" * 32, "Limitations", "<svg"):
        assert part in text


@each("field", ["statement", "formula", "measured", "printed", "place"])
def test_markup_in_any_text_is_escaped(field: str) -> None:
    text = report(row("first", **{field: MARKUP})).html()
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_markup_in_details_data_and_pictures_is_escaped() -> None:
    bad = row(
        "first",
        details={MARKUP: MARKUP},
        data=(DataUsed(MARKUP, "0", MARKUP),),
        figures=(replace(figure(title=MARKUP), caption=MARKUP, x_label=MARKUP),),
    )
    text = report(bad).html()
    assert "<script" not in text
    assert "one <b>" not in text


def test_the_page_is_one_file_without_links_to_elsewhere() -> None:
    text = report(row("first", figures=(figure(),)), row("second")).html()
    page = Page(text)
    assert page.open == []
    assert {"script", "link", "img", "iframe"} & set(page.seen) == set()
    assert "http" not in text and "@import" not in text
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)


@pytest.mark.slow
def test_ids_are_unique_with_several_pictures() -> None:
    rows = (row("first", figures=(figure("one"), figure("two"))), row("second"))
    ids = Page(report(*rows).html()).ids
    assert len(ids) == len(set(ids))


def test_the_traceback_of_an_error_is_not_shown_in_the_page() -> None:
    text = report(row("first", verdict="error", details={"traceback": "/home/me"})).html()
    assert "/home/me" not in text


def test_the_page_says_which_verdicts_differ() -> None:
    text = report(row("first"), row("second", verdict="fails")).html()
    assert "1 of 2 verdicts differ" in text
    assert "Every verdict is the recorded one" in report(row("first")).html()


def test_the_summary_counts_verdicts_by_paper() -> None:
    made = report(row("a"), row("b", verdict="fails"), row("c", paper="SHT", verdict="error"))
    first, second = made.summary()
    assert (first["paper"], first["counts"]["holds"], first["counts"]["fails"]) == (
        "ScalingUp",
        1,
        1,
    )
    assert (second["paper"], second["counts"]["error"], second["unexpected"]) == ("SHT", 1, 1)


def test_writing_leaves_two_whole_files(tmp_path: Path) -> None:
    made = report(row("first"))
    made.write(tmp_path)
    document = json.loads((tmp_path / "claims.json").read_text())
    assert [entry["name"] for entry in document["claims"]] == ["first"]
    assert document["claims"][0]["data"][0]["sha256"] == "ab" * 32
    assert (document["seed"], document["version"]) == (3, "0.1")
    assert (tmp_path / "report.html").read_text() == made.html()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.json", "report.html"]


def test_the_command_repeats_the_profile_too() -> None:
    assert repeat(row("a", profile="full")) == "aucert validate --only a --seed 3 --profile full"


def test_numbers_are_shown_short() -> None:
    assert shown(1 / 3) == "0.333333"
    assert shown([1.0, None, True]) == "1, –, yes"
    assert shown("as it is") == "as it is"


@pytest.mark.slow
def test_equal_figures_give_equal_pictures() -> None:
    assert svg(figure()) == svg(figure())


def test_curves_differ_by_more_than_colour() -> None:
    drawn = svg(figure())
    dashes = set(re.findall(r"stroke-dasharray: ([^;\"]+)", drawn))
    assert len(dashes) >= 1  # the first curve is solid, the second dashed
    markers = set(re.findall(r'<use [^>]*xlink:href="#a-figure-(m\w+)"', drawn))
    assert len(markers) >= 2


@pytest.mark.slow
def test_pictures_and_the_page_follow_dark_mode() -> None:
    drawn = svg(figure())
    assert "currentColor" in drawn and "var(--paper, #ffffff)" in drawn
    assert not re.search(r"(?<!, )#(000000|ffffff|555555|dddddd|0072b2)\b", drawn)
    page = report(row("first", figures=(figure(),))).html()
    dark = page.split("prefers-color-scheme: dark", 1)[1]
    for name in set(re.findall(r"var\((--\w+)", page)):
        assert f"{name}: #" in dark, name


def test_a_curve_leaves_out_what_a_logarithmic_axis_cannot_show() -> None:
    series = Series.of("s", [1.0, 2.0, 3.0, 4.0], [1.0, 0.0, float("nan"), 2.0])
    assert series.x == (1.0, 4.0) and series.y == (1.0, 2.0)


@each("width", [80, 160])
def test_the_table_can_be_read_without_colour(width: int) -> None:
    made = report(row("first"), row("second", verdict="fails", measured="[red]as text[/red]"))
    console = Console(width=width, color_system=None, record=True, file=io.StringIO())
    print_report(made, console)
    text = console.export_text()
    assert "! FAILS" in text and "  holds" in text
    assert "[red]as text[/red]" in text and "printed: 0.5" in text
    assert "1 of 2 verdicts differ from the recorded ones: second" in text


def test_the_lists_have_one_line_a_claim() -> None:
    assert claims_table(claims()).row_count == len(claims())
    assert report_table(report(row("a"), row("b"))).row_count == 2


def test_an_expected_verdict_is_not_marked() -> None:
    assert verdict_text(row("a", verdict="fails", expected_verdict="fails")).plain == "  fails"
    assert "All 1 verdicts are the recorded ones" in summary_line(report(row("a")))


def test_progress_is_silent_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with counted_progress("claims", str) as show:
        assert show is None
    assert capsys.readouterr().err == ""


def test_a_claim_without_a_picture_of_its_own_shows_its_numbers_by_case() -> None:
    numbers = {"lam 1: gap": 0.1, "lam 2: gap": 0.3}
    page = report(row("plain", details=numbers), row("own", details=numbers, figures=(figure(),)))
    sections = page.html().split('<section class="claim')[1:]
    assert [section.count('<figure class="chart">') for section in sections] == [1, 0]
    assert sections[0].count("<circle") == 2


def test_claims_stand_paper_by_paper() -> None:
    papers = [entry.paper for entry in claims()]
    assert papers == sorted(papers, key=["ScalingUp", "SAUC", "SHT", "Nonlinear"].index)


def test_a_story_tells_what_stands_falls_and_is_open_findings_first() -> None:
    (told,) = stories(
        (
            row("a"),
            row("b", verdict="fails"),
            row("c", verdict="undecided", kind="finding"),
            row("d", verdict="borne-out", kind="finding"),
            row("e", kind="suite"),
        )
    )
    assert [entry.name for entry in told.stands] == ["d", "a"]
    assert [entry.name for entry in told.falls] == ["b"]
    assert [entry.name for entry in told.open] == ["c"] and told.ours == 1
    assert told.bars().count("<rect") == 4
    text = report(row("a"), row("b", verdict="fails")).html()
    assert "What stands" in text and "What falls" in text and "What is open" not in text


def test_what_is_brief_ends_with_a_whole_part() -> None:
    assert brief("short") == "short"
    assert brief("; ".join(["a part of it"] * 20)).endswith("a part of it; ...")
    assert brief([0.5, None]) == "0.5, –"
