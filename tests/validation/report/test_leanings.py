"""Where the numbers of undecided findings lean, and what keeps them from deciding."""

from __future__ import annotations

import pytest

from aucert.validation.claims.verdicts import Verdict
from aucert.validation.findings.capping import Bearing, Deviation, capped
from aucert.validation.findings.judging import Judged
from aucert.validation.findings.numbers import numbers_of
from aucert.validation.findings.registry import FINDINGS
from aucert.validation.report.document import Report, environment
from aucert.validation.report.leanings import (
    by_departure,
    by_itself,
    departures,
    in_short,
    measured_alone,
    told,
)
from aucert.validation.report.row import Row
from aucert.validation.report.story import stories

MACHINE = Deviation("Seconds (of another machine). They say little.", Bearing.EITHER)
FEWER = Deviation("Fewer draws; wider intervals.", Bearing.NEITHER)
HELP = Deviation("Half of the rows, by lot.", Bearing.FOR)


def row(
    name: str,
    verdict: str = "borne-out",
    measured: str = "+1 [0.5, 1.5]",
    deviations: tuple[Deviation, ...] = (),
) -> Row:
    """Return a finding as it is judged with these deviations."""
    found = capped(Judged(Verdict(verdict), measured, "a change", "a test"), deviations)
    details = {"judged from": "a page", "deviations": " ".join(map(str, deviations))}
    return Row(
        name=name,
        paper="SHT",
        place="Table I",
        kind="finding",
        statement=f"Statement of {name}.",
        formula="",
        measured=found.measured,
        printed=None,
        verdict=found.verdict,
        expected_verdict=found.verdict,
        seconds=0.0,
        tolerance=found.test,
        seed=0,
        profile="quick",
        version="0.1",
        details=details if deviations else {},
    )


PRO = row("pro", deviations=(FEWER, HELP, MACHINE))
CON = row("con", "contradicted", "2 for, 0 against, 2 in all: x", (MACHINE, HELP))
CROSSING = row("crossing", "undecided", "0 for, 1 against, 3 in all: a [-1, 1]; b", (MACHINE,))
STANDS = row("stands", deviations=(FEWER,))


def test_a_row_is_taken_apart_into_numbers_their_verdict_and_what_keeps_it_open() -> None:
    assert (by_itself(PRO), by_itself(CON)) == ("borne-out", "contradicted")
    assert (by_itself(CROSSING), by_itself(STANDS)) == ("undecided", "borne-out")
    assert measured_alone(PRO) == "+1 [0.5, 1.5]" and measured_alone(STANDS) == STANDS.measured
    assert departures(PRO) == [HELP.words, MACHINE.words]
    assert departures(CON) == [MACHINE.words] and departures(CROSSING) == departures(STANDS) == []


def test_a_row_without_its_deviations_names_them_all_the_same() -> None:
    bare = Row(**{**vars(PRO), "details": {}})
    assert departures(bare) == [f"{HELP.words} {MACHINE.words}"]


def test_findings_stand_under_the_first_departure_in_one_clause() -> None:
    assert by_departure((PRO, CON, row("more", deviations=(MACHINE,)))) == {
        "Half of the rows, by lot": [PRO],
        "Seconds (of another machine)": [CON, row("more", deviations=(MACHINE,))],
    }
    assert by_departure((STANDS,)) == {"": [STANDS]}


def test_comparisons_that_come_to_nothing_together_are_counted() -> None:
    assert in_short(CROSSING) == "0 for, 1 against, 3 in all"
    assert in_short(STANDS) == "+1 [0.5, 1.5]"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((), ""),
        ((STANDS,), "1 finding: 1 borne out, none contradicted, none undecided."),
        (
            (PRO, CON, CROSSING, STANDS),
            "4 findings: 1 borne out, none contradicted, 3 undecided. The numbers alone would bear "
            "out 1 of the 3 undecided and contradict 1; in the other one an interval crosses the "
            "line.",
        ),
        (
            (CROSSING, CROSSING),
            "2 findings: none borne out, none contradicted, 2 undecided. The numbers alone would "
            "bear out none of the 2 undecided and contradict none; in 2 an interval crosses the "
            "line.",
        ),
        (
            (PRO, row("no", "not-testable")),
            "2 findings: none borne out, none contradicted, 1 undecided, 1 not testable. The "
            "numbers alone would bear out 1 of the 1 undecided and contradict none.",
        ),
    ],
)
def test_what_is_told_of_findings_is_counted(rows: tuple[Row, ...], said: str) -> None:
    assert told(rows) == said


def test_the_page_tells_where_open_findings_lean_and_names_each_departure_once() -> None:
    more = row("more", deviations=(MACHINE,))
    rows = (PRO, CON, CROSSING, STANDS, more, row("again", deviations=(MACHINE,)))
    (story,) = stories(rows)
    assert [[entry.name for entry in section.rows] for section in story.sections] == [
        ["stands"],
        ["pro", "more", "again"],
        ["con"],
        ["crossing"],
    ]
    page = Report(rows, 0, "quick", "0.1", "ab" * 32, environment(), 1.0).html()
    assert page.count(told(rows)) == 2  # above all papers, and above this one
    landing = page[: page.index('id="summary"')]
    assert landing.count("Seconds (of another machine)") == 2  # for it, and against it
    assert landing.count("(and 1 other departure)") == 1 and "capped" not in page
    assert "borne-out, which could be because of this: Half of the rows, by lot." in page
    assert str(HELP) not in page  # "Protocol" has it, which these rows lack
    table = page[page.index('id="summary"') : page.index('id="pro"')]
    assert HELP.words not in table and "+1 [0.5, 1.5]" in table


def test_every_capped_finding_names_what_caps_it() -> None:
    for name, finding in FINDINGS.items():
        found = finding.judge(numbers_of(finding.table))
        entry = row(name, found.verdict, found.measured, finding.deviations)
        if entry.verdict != found.verdict:
            assert by_itself(entry) == found.verdict and measured_alone(entry) == found.measured
            known = [each.words for each in finding.deviations]
            assert departures(entry) and set(departures(entry)) <= set(known)
