"""Texts are cut where a clause ends, never within brackets."""

from __future__ import annotations

from aucert.validation.findings.capping import Bearing
from aucert.validation.findings.numbers import numbers_of
from aucert.validation.findings.registry import FINDINGS
from aucert.validation.report.clauses import BRIEF, first_clause, shortened
from loops import each

INTERVAL = "(one; two, three) -0.005 [-0.038, 0.028]"


@each(
    ("text", "most", "said"),
    [
        ("short", 9, "short"),
        (f"1 for: {INTERVAL}; {INTERVAL}", 30, f"1 for: {INTERVAL}; ..."),
        (f"1 for: {INTERVAL}; {INTERVAL}; more of it", 95, f"1 for: {INTERVAL}; {INTERVAL}; ..."),
        (f"a: {INTERVAL}", 20, f"a: {INTERVAL}"),
        (f"1) for; {INTERVAL}", 20, "1) for; ..."),
        ("It is so. It is [not. so] long.", 20, "It is so. ..."),
        ("nothing to cut at in this", 10, "nothing to cut at in this"),
    ],
)
def test_a_measurement_is_cut_behind_a_whole_difference(text: str, most: int, said: str) -> None:
    assert shortened(text, most) == said


def test_no_finding_is_cut_within_an_interval() -> None:
    for finding in FINDINGS.values():
        text = shortened(finding.judge(numbers_of(finding.table)).measured)
        for opening, closing in ("()", "[]"):
            assert text.count(opening) == text.count(closing), finding.name


@each(
    ("text", "said"),
    [
        ("One sentence.", "One sentence"),
        ("It is that of Fig. 5, and of 6. No other.", "It is that of Fig. 5, and of 6"),
        ("The first, of 0.5 points; and so on. The second.", "The first, of 0.5 points; and so on"),
        (f"{'a ' * 50}b; {'c ' * 50}.", f"{'a ' * 50}b"),
        (f"{'a ' * 30}b, {'c ' * 20}d (e, {'f ' * 9}), g.", f"{'a ' * 30}b"),
        (f"{'a ' * 90}b.", f"{'a ' * 90}b"),
    ],
)
def test_a_clause_is_a_sentence_or_ends_at_a_comma(text: str, said: str) -> None:
    assert first_clause(text) == said


def test_the_departures_of_all_findings_have_a_short_clause() -> None:
    for finding in FINDINGS.values():
        for deviation in finding.deviations:
            if deviation.bearing != Bearing.NEITHER:  # these alone are named
                assert 10 < len(first_clause(deviation.words)) <= BRIEF, deviation.words
