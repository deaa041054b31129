"""The report holds every claim, escapes what it shows, and needs nothing outside its one file."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from aucert.validation.claims.claim import DataUsed
from aucert.validation.claims.theorem_4 import CASES
from aucert.validation.commands.endings import counted_progress
from aucert.validation.commands.others import (
    claims_table,
    print_report,
    report_table,
    summary_line,
    verdict_text,
)
from aucert.validation.effects import Effect
from aucert.validation.plots import Figure, Series
from aucert.validation.report.document import (
    SIZES,
    Report,
    environment,
    part_1,
    repeat,
    shown,
)
from aucert.validation.report.headlines import TEN, headlines, of_figure, picture, printed
from aucert.validation.report.row import Row
from aucert.validation.suite import claims
from loops import each

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
    for part in ("It is so.", "a &lt;= b", "0.25", "Limitations", "<svg"):
        assert part in text


@each("field", ["statement", "formula", "measured", "printed", "place"])
def test_markup_in_any_text_is_escaped(field: str) -> None:
    text = report(row("first", **{field: MARKUP})).html()
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_markup_in_effects_protocol_and_pictures_is_escaped() -> None:
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
    assert "<script" not in text and "<svg" in text
    assert "one <b>" not in text


def test_the_page_is_one_file_without_links_to_elsewhere() -> None:
    text = report(row("first", figures=(figure(),)), row("second")).html()
    page = Page(text)
    assert page.open == []
    assert {"script", "link", "img", "iframe"} & set(page.seen) == set()
    assert "http" not in text and "@import" not in text
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)


def test_ids_are_unique_with_several_pictures() -> None:
    rows = (row("first", figures=(figure(), figure("bound-against-error-3"))), row("second"))
    ids = Page(report(*rows).html()).ids
    assert len(ids) == len(set(ids))


def test_the_traceback_of_an_error_is_not_shown_in_the_page() -> None:
    text = report(row("first", verdict="error", details={"traceback": "/home/me"})).html()
    assert "/home/me" not in text


def test_the_page_says_which_verdicts_differ() -> None:
    text = report(row("first"), row("second", verdict="fails")).html()
    assert "1 of 2 verdicts differ" in text
    assert "Every verdict is the recorded one" in report(row("first")).html()


def test_the_counts_add_up_to_all_claims() -> None:
    rows = [row(f"a{k}", verdict=v) for k, v in enumerate(["holds", "fails", "loose", "error"])]
    made = report(*rows, row("b", kind="finding", verdict="undecided"), row("c", kind="suite"))
    counts = dict(made.counts())
    for columns in counts.values():
        assert sum(columns.values()) == 2 * columns["all"]
    assert counts["all"]["all"] == 6 and counts["theorem"]["fall"] == 1


def test_headlines_say_what_their_rows_came_to() -> None:
    effect = Effect("a", 1.5, 0.5, 9).document()
    for verdict, colour in (("undecided", "open"), ("borne-out", "good"), ("error", "")):
        found = headlines({n: row(n, verdict=verdict, effects=(effect,)) for n, *_ in TEN[9:]})
        assert [head.colour for head in found] == [colour] * bool(colour)
        assert all(head.number == "+1.5" and "<svg" in head.svg for head in found)
    assert headlines({}) == []


def test_what_is_wrong_in_print_is_a_claim_that_fails_or_a_remark() -> None:
    verdicts = {claim.name: (claim.kind, claim.expected_verdict) for claim in claims()}
    assert {form["severity"] for form in printed().values()} == {"A", "B", "C"}
    fails = {name for name, (_, verdict) in verdicts.items() if verdict == "fails"}
    assert fails <= set(printed())
    assert all(verdicts[name][0] != "theorem" for name in set(printed()) - fails)


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


def test_pictures_repeat_and_take_their_colours_from_the_page() -> None:
    drawn = of_figure(figure())
    assert drawn == of_figure(figure())
    assert "var(--ink)" in drawn and "#000000" not in drawn
    markers = set(re.findall(r'<use [^>]*xlink:href="#(i\w+-\d+)"', drawn))
    assert len(markers) >= 2 and "stroke-dasharray" in drawn  # more than colour tells curves apart
    page = report(row("first", figures=(figure(),))).html()
    dark = page.split("prefers-color-scheme: dark", 1)[1]
    for name in set(re.findall(r"var\((--\w+)", page)):
        assert f"{name}: #" in dark, name
    assert "a &lt; b" in picture(lambda axes: None, "name", "a < b", (2.0, 1.0))


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


def test_many_claims_are_told_by_headlines_and_counts() -> None:
    rows = [row(f"a{k}") for k in range(30)]
    console = Console(width=100, color_system=None, record=True, file=io.StringIO())
    print_report(report(*rows), console)
    text = console.export_text()
    assert re.search(r"all +30 +- +- +- +- +30", text) and "a7" not in text


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


def test_claims_stand_paper_by_paper() -> None:
    papers = [entry.paper for entry in claims()]
    assert papers == sorted(papers, key=["ScalingUp", "SAUC", "SHT", "Nonlinear", "aucert"].index)


def test_the_counterexample_to_theorem_4_runs_as_printed() -> None:
    (code,) = re.findall(
        r"<pre>(from math.*?)</pre>", report(row("a", figures=(figure(),))).html(), re.S
    )
    command = [sys.executable, "-c", unescape(code)]
    left, right = subprocess.check_output(command, text=True).rstrip("?\n").split(" <= ")
    assert f"{left} &lt;= {right}?" in code.splitlines()[-1] and float(left) > float(right)
    (meant,) = (m for m, root in CASES if (m.B, root) == (1e16, 0.5))
    assert meant.judged(0.5)[:2] == pytest.approx((float(left), float(right)), abs=5e-4)


def test_part_1_of_theorem_4_prime_says_nothing_while_lam_b_is_small() -> None:
    for lam, values in part_1().items():
        assert [value > 1 for value in values] == [lam * n <= 7.4 * 2 for n in SIZES]
