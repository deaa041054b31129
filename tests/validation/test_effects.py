"""Effects: intervals decide, answers are told apart, pages agree, each verdict can be turned."""

from __future__ import annotations

import dataclasses
import math
import random
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from aucert.exact.errors import InputError
from aucert.validation import effects, suite
from aucert.validation.claims.claim import FINDINGS as VOCABULARY
from aucert.validation.claims.claim import Verdict
from aucert.validation.effects import (
    FINDINGS,
    OURS,
    QUICK,
    Effect,
    Finding,
    Numbers,
    from_evidence,
    mean,
    minus,
    numbers_of,
    of_page,
    over,
    said_by,
    said_on,
)
from aucert.validation.tables.run import reproduce, tables
from aucert.validation.tables.table import Entry, NamedTest, Page, Part, Results, Run
from loops import each
from planted_tables import planted

OPEN = [f for f in FINDINGS.values() if f.not_run or f.turned]


def effect(estimate: float, se: float = 1.0, df: float = 20) -> Effect:
    return Effect("a", estimate, se, df)


def judged(estimates: list[float], **keys: Any) -> str:
    tests = {f"{k}": effect(x) for k, x in enumerate(estimates)}
    finding = Finding("f", "sauc-fig-1", "", "", "{k}", each={"k": list(tests)}, **keys)
    return finding.answer(Numbers("sauc-fig-1", "here", {}, tests)).verdict


def test_an_interval_is_students_and_shared_by_many() -> None:
    for m in (1, 5):
        low, high = effect(1.0, 0.5, 10).interval(m=m)
        assert (high - low) / 2 == pytest.approx(0.5 * stats.t.ppf(1 - 0.025 / m, 10), rel=1e-12)
    assert effect(1.0, 0.5, 0).interval() == (-math.inf, math.inf)


@each(
    ("estimates", "keys", "verdict"),
    [
        ([9.0], {}, "borne-out"),
        ([-9.0], {}, "contradicted"),
        ([0.5], {}, "undecided"),
        ([0.5], {"margin": 3.0}, "contradicted"),  # no difference, though one is claimed
        ([0.5], {"margin": 3.0, "than": -3.0}, "borne-out"),
        ([0.5], {"margin": 3.0, "side": "within"}, "borne-out"),
        ([0.5], {"margin": 2.0, "side": "within"}, "undecided"),
        ([-9.0], {"margin": 3.0, "side": "within"}, "contradicted"),
        ([9.0, 9.0, -9.0], {}, "contradicted"),
        ([9.0, 9.0, -1.0], {}, "borne-out"),
        ([9.0, 9.0, -9.0], {"how": "most"}, "borne-out"),
        ([9.0], {"not_run": "Another was."}, "undecided"),
        ([-9.0], {"turned": "Elsewhere."}, "undecided"),
        ([9.0, 9.0], {"also": ["0"]}, "borne-out"),
    ],
)
def test_whole_intervals_decide(estimates: list[float], keys: dict[str, Any], verdict: str) -> None:
    assert judged(estimates, **keys) == verdict


def test_another_reading_that_differs_leaves_it_undecided() -> None:
    tests = {"a": effect(9.0), "b": effect(0.0)}
    finding = Finding("f", "sauc-fig-1", "", "", "a", also=["b"])
    assert finding.answer(Numbers("t", "here", {}, tests)).verdict == Verdict.UNDECIDED


def test_a_difference_of_cells_has_welchs_freedom() -> None:
    found = minus("a", effect(2.0, 0.3, 9), effect(1.0, 0.4, 19))
    df = 0.25**2 / (0.09**2 / 9 + 0.16**2 / 19)
    assert (found.estimate, found.se, found.df) == (1.0, pytest.approx(0.5), pytest.approx(df))
    assert minus("a", effect(2.0, math.inf, 0), effect(1.0, 0.4, 19)).se == math.inf
    ratio = minus("a", effect(10.0, 0.1, 9), effect(1.0, 0.0, 9), ratio=True)
    assert (ratio.estimate, ratio.se) == (pytest.approx(1.0), pytest.approx(0.01 / math.log(10)))


def test_means_have_the_error_of_the_spread_or_that_of_rows_that_are_shared() -> None:
    found = over([effect(1.0), effect(3.0), effect(5.0)], "mean")
    assert (found.estimate, found.df) == (3.0, 2)
    assert found.se == pytest.approx(2.0 / math.sqrt(3))
    shared = mean("all", [[effect(1.0), effect(3.0)]])
    assert (shared.estimate, shared.se, shared.df) == (2.0, 1.0, 20)
    apart = mean("all", [[effect(1.0)], [effect(3.0)]])
    assert apart.se == pytest.approx(math.sqrt(0.5)) and apart.df == pytest.approx(40)


def test_a_finding_has_its_recorded_verdict_its_effects_and_what_would_turn_it() -> None:
    """One test of all findings, so that all of them are looked at by default."""
    for row in suite.run(list(FINDINGS)).rows:
        assert row.verdict == row.expected_verdict, (row.name, row.measured)
        assert row.turned_by and row.tolerance and row.details["judged from"], row.name
        first = row.effects[0]
        assert {"estimate", "se", "df", "unit", "printed", "margin", "low", "high"} < set(first)
        assert row.protocol == FINDINGS[row.name].protocol


def moved(numbers: Numbers, by: float) -> Numbers:
    """Return numbers that are surely known, with every test and every second cell moved."""
    tests = {n: dataclasses.replace(t, estimate=by, se=1e-9) for n, t in numbers.tests.items()}
    return dataclasses.replace(numbers, tests=tests)


def variants(numbers: Numbers) -> list[Numbers]:
    """Return the numbers with mistakes planted: all tests moved, a row or a column scaled."""
    found = [moved(numbers, by) for by in (-1e3, 0.0, 1e3)]
    for side in (0, 1):
        for name in sorted({at[side] for at in numbers.cells}):
            for by, factor in ((1e4, 1.0), (-1e4, 1.0), (0.0, 1e6), (0.0, 1e-6)):
                cells = {
                    at: effect(cell.estimate * factor + by, 1e-9, 99) if at[side] == name else cell
                    for at, cell in numbers.cells.items()
                }
                found.append(dataclasses.replace(numbers, cells=cells))
    return found


@each("name", [*FINDINGS, *OURS])
def test_a_planted_mistake_in_the_numbers_turns_the_finding(name: str) -> None:
    finding = dataclasses.replace(({**FINDINGS, **OURS})[name], not_run="", turned="", also=())
    numbers = numbers_of(finding.table)
    honest = finding.answer(numbers).verdict

    def verdict(wrong: Numbers) -> str:
        try:
            return finding.answer(wrong).verdict
        except ValueError:  # the logarithm of a time that is not above zero
            return honest

    assert any(verdict(wrong) != honest for wrong in variants(numbers))


def test_what_the_paper_did_not_run_is_not_decided_by_what_we_did() -> None:
    for finding in OPEN:
        numbers = numbers_of(finding.table)
        for by in (-1e3, 1e3):
            assert finding.answer(moved(numbers, by)).verdict == Verdict.UNDECIDED
        assert finding.departures, finding.name


@each("name", list(OURS))
def test_other_numbers_turn_what_we_state_of_ours(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert suite.run([name]).rows[0].verdict == "holds"
    numbers = numbers_of(OURS[name].table)
    slow = {
        at: dataclasses.replace(cell, estimate=cell.estimate * 1e6)
        if ", full" in at[1] or "all p" in at[1]
        else cell
        for at, cell in numbers.cells.items()
    }
    wrong = dataclasses.replace(moved(numbers, 1e3), cells=slow)
    monkeypatch.setattr(effects, "numbers_of", lambda _: wrong)
    assert suite.run([name]).rows[0].verdict == "fails"


@each("name", list(tables()))
def test_a_page_of_few_numbers_is_judged_without_a_word_on_the_way(name: str) -> None:
    whole = numbers_of(name)
    rng = random.Random(name)
    for share in (0.0, 0.5, 0.9):
        for _ in range(4):
            cells = {at: cell for at, cell in whole.cells.items() if rng.random() < share}
            tests = {at: test for at, test in whole.tests.items() if rng.random() < share}
            few = dataclasses.replace(whole, cells=cells, tests=tests)
            for said in said_by(few):
                assert said.measured and said.verdict in VOCABULARY


def one_part(done: bool = True, profile: str = "full") -> Results:
    part = Part("rep=0", {})
    return Results(Run(profile), {}, (part,), {part.key: {}} if done else {})


def angle(estimate: float) -> Page:
    test = NamedTest("SAUC-SVM minus AUC-SVM", estimate, 0.001, 1e-5, 50, "in AUC")
    return Page([], [test])


def test_a_planted_number_turns_what_the_page_says() -> None:
    table = tables()["sauc-fig-1"]
    higher, lower = (said_on(table, angle(x), one_part())[0].verdict for x in (0.5, -0.5))
    assert (higher, lower) == ("borne-out", "contradicted")
    quick = said_on(table, angle(0.5), one_part(profile="quick"))[0]
    assert quick.verdict == "undecided" and QUICK in quick.measured


def test_a_page_and_a_finding_of_one_run_have_the_same_numbers() -> None:
    entries = [
        Entry("a", "AUC", "0.9 (0.01)", 0.8, 0.1, 10),
        Entry("a", "best", None, "k = 5"),
    ]
    exact = (1.2504321, 0.00021, 1e-05, 50)
    tests = [
        NamedTest("n = 5,000: x minus y", *exact, "points"),
        NamedTest("n = 5,000: x minus y", *exact, "degrees"),
    ]
    found = of_page("t", "here", Page(entries, tests))
    assert found.cells == {("a", "AUC"): Effect("AUC", 0.8, 0.1, 9, printed=0.9)}
    assert found.read("a | AUC").printed == 0.9 and found.read("= 60").estimate == 60.0
    for name in ("n = 5,000: x minus y", "n = 5,000: x minus y: degrees"):
        assert found.read(name) == Effect(name, 1.2504321, 0.00021, 49), "not rounded"
    with pytest.raises(ValueError, match="two tests of a page are called"):
        of_page("t", "here", Page(entries, [*tests, tests[1]]))
    with pytest.raises(KeyError, match="no paired test"):
        found.read("n = 1: x minus y")
    with pytest.raises(KeyError, match="no cell"):
        found.read("b | AUC")


def test_evidence_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    registry = planted()
    with pytest.raises(InputError, match=r"no part rep=0 of protocol 1 .*: restore "):
        from_evidence(registry["one"], tmp_path)
    reproduce(out=tmp_path / "out", registry=registry, evidence=tmp_path, profile="full")
    found = from_evidence(registry["one"], tmp_path)
    assert "6 parts" in found.source and found.cells["all", "value"].df == 5
    with pytest.raises(InputError, match="of protocol 2"):
        from_evidence(planted(protocol=2)["one"], tmp_path)


def test_what_is_no_effect_is_refused() -> None:
    for wrong in ((math.nan, 1.0, 5), (1.0, -1.0, 5), (1.0, math.nan, 5), (1, 1, -1)):
        with pytest.raises(ValueError, match="not an estimate"):
            Effect("a", *wrong)
