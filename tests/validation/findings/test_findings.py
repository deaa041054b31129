"""Findings: intervals decide, caps cap, pages agree, and each verdict can be turned."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from scipy import stats

from aucert.exact.errors import InputError
from aucert.validation import suite
from aucert.validation.claims.verdicts import FINDINGS as VOCABULARY
from aucert.validation.claims.verdicts import Verdict
from aucert.validation.findings import ours
from aucert.validation.findings.capping import Bearing, Deviation, capped
from aucert.validation.findings.judging import (
    Judged,
    above,
    interval,
    log_ratio,
    minus,
    over,
    within,
)
from aucert.validation.findings.numbers import (
    EVIDENCE,
    Cell,
    Difference,
    Numbers,
    from_evidence,
    numbers_of,
    of_page,
)
from aucert.validation.findings.on_page import NOT_RUN, QUICK, said_by, said_on
from aucert.validation.findings.papers.nonlinear import ONE_WALK, SAME_LAM
from aucert.validation.findings.papers.sauc_toy import LAMBDAS
from aucert.validation.findings.papers.sht_judges import over_all
from aucert.validation.findings.registry import FINDINGS
from aucert.validation.tables.running.registry import tables
from aucert.validation.tables.running.runner import reproduce
from aucert.validation.tables.sht.printed import METHODS
from aucert.validation.tables.statistics import NamedTest, Paired
from aucert.validation.tables.table import Entry, Page, Part, Results, Run
from loops import each
from planted_tables import planted

DOCS = Path(__file__).resolve().parents[3] / "docs" / "results" / "full"


def difference(estimate: float, error: float = 1.0, count: float = 21) -> Difference:
    return Difference("a", estimate, error, count)


def test_an_interval_is_students_and_shared_by_many() -> None:
    low, high = interval(difference(1.0, 0.5, 11))
    assert (high - low) / 2 == pytest.approx(0.5 * stats.t.ppf(0.975, 10))
    wide = interval(difference(1.0, 0.5, 11), 5)
    assert (wide[1] - wide[0]) / 2 == pytest.approx(0.5 * stats.t.ppf(1 - 0.025 / 5, 10))
    assert interval(difference(1.0, 0.5, 1)) == (-math.inf, math.inf)


@each(
    ("estimates", "how", "verdict"),
    [
        ([9.0], "all", "borne-out"),
        ([-9.0], "all", "contradicted"),
        ([0.5], "all", "undecided"),
        ([9.0, 9.0, 0.0], "all", "undecided"),
        ([9.0, 9.0, -9.0], "all", "contradicted"),
        ([9.0, 9.0, -9.0], "most", "borne-out"),
        ([9.0, -9.0, -9.0], "most", "contradicted"),
        ([9.0, 0.0, -9.0], "most", "undecided"),
        ([], "all", "undecided"),
    ],
)
def test_whole_intervals_decide(estimates: list[float], how: str, verdict: str) -> None:
    assert above([difference(x) for x in estimates], how=how).verdict == verdict


def test_within_needs_the_whole_interval_inside_or_outside() -> None:
    assert within([difference(0.0)], 3.0).verdict == Verdict.BORNE_OUT
    assert within([difference(0.0)], 2.0).verdict == Verdict.UNDECIDED
    assert within([difference(9.0)], 3.0).verdict == Verdict.CONTRADICTED
    assert within([difference(-9.0)], 3.0).verdict == Verdict.CONTRADICTED


def test_a_difference_of_cells_has_welchs_freedom() -> None:
    found = minus("a", Cell(2.0, 0.3, 10), Cell(1.0, 0.4, 20))
    freedom = 0.25**2 / (0.09**2 / 9 + 0.16**2 / 19)
    assert (found.estimate, found.error) == (1.0, pytest.approx(0.5))
    assert found.count == pytest.approx(freedom + 1)
    assert minus("a", Cell(2.0, None, 1), Cell(1.0, 0.4, 20)).error == math.inf


def test_a_ratio_of_seconds_is_judged_on_its_logarithm() -> None:
    found = log_ratio("a", Cell(10.0, 0.1, 10), Cell(1.0, 0.0, 10))
    assert found.estimate == pytest.approx(1.0)
    assert found.error == pytest.approx(0.01 / math.log(10))


def test_the_mean_over_sets_has_the_error_of_their_spread() -> None:
    found = over([difference(1.0), difference(3.0), difference(5.0)], "mean")
    assert (found.estimate, found.count) == (3.0, 3)
    assert found.error == pytest.approx(2.0 / math.sqrt(3))


def test_every_finding_carries_what_a_reader_needs() -> None:
    for claim in (entry for entry in suite.claims() if entry.kind == "finding"):
        assert claim.quote and claim.regime and claim.tuning and claim.statement.endswith(".")
        assert claim.place and len(claim.quote) <= 160, claim.name
        assert claim.expected_verdict in VOCABULARY


def test_a_finding_has_its_recorded_verdict_a_test_and_what_would_turn_it() -> None:
    """One test of all findings, so that all of them are looked at by default."""
    for row in suite.run(list(FINDINGS)).rows:
        assert row.verdict == row.expected_verdict, (row.name, row.measured)
        assert row.turned_by and row.tolerance and row.details["judged from"], row.name


def shifted(numbers: Numbers, by: float, sharp: float = 1.0) -> Numbers:
    """Return numbers whose every first cell, and every test, is moved; errors made smaller."""
    cells = {
        at: dataclasses.replace(cell, error=None if cell.error is None else cell.error * sharp)
        for at, cell in numbers.cells.items()
    }
    tests = {
        name: dataclasses.replace(test, estimate=test.estimate + by, error=test.error * sharp)
        for name, test in numbers.tests.items()
    }
    return dataclasses.replace(numbers, cells=cells, tests=tests)


def moved_cells(numbers: Numbers, row: str, column: str, by: float) -> Numbers:
    cells = dict(numbers.cells)
    cell = cells[row, column]
    cells[row, column] = dataclasses.replace(cell, mean=cell.mean + by)
    return dataclasses.replace(numbers, cells=cells)


def variants(numbers: Numbers) -> list[Numbers]:
    """Return the numbers with mistakes planted: all tests or one moved, a column or a row moved
    or scaled."""
    found = [shifted(numbers, by, 1e-3) for by in (-1e3, -1.0, 1.0, 1e3)]
    for name, test in numbers.tests.items():
        moved = {**numbers.tests, name: dataclasses.replace(test, estimate=test.estimate + 1e3)}
        found.append(dataclasses.replace(numbers, tests=moved))
    keys = [{column for _, column in numbers.cells}, {row for row, _ in numbers.cells}]
    for side, names in enumerate(keys):
        for name in sorted(names):
            for by, factor in ((1e4, 1.0), (-1e4, 1.0), (0.0, 1e6), (0.0, 1e-6)):
                cells = {
                    at: Cell(cell.mean * factor + by, 1e-9, 100) if at[1 - side] == name else cell
                    for at, cell in numbers.cells.items()
                }
                found.append(dataclasses.replace(numbers, cells=cells))
    for a in sorted(keys[0])[:12]:
        cells = {
            at: Cell(cell.mean * (1e6 if at[1] == a else 1.0) + 0.0, 1e-9, 100)
            for at, cell in numbers.cells.items()
        }
        found.append(dataclasses.replace(numbers, cells=cells))
    return found


@each("name", list(FINDINGS))
def test_a_planted_mistake_in_the_numbers_turns_the_finding(name: str) -> None:
    finding = dataclasses.replace(FINDINGS[name], deviations=())
    numbers = numbers_of(finding.table)
    honest = finding.judged(numbers).verdict

    def verdict(wrong: Numbers) -> str:
        try:
            return str(finding.judged(wrong).verdict)
        except ValueError:  # the logarithm of a time that is not above zero
            return str(honest)

    assert any(verdict(wrong) != honest for wrong in variants(numbers))


def test_a_deviation_that_decides_leaves_a_finding_undecided() -> None:
    finding = FINDINGS["nbauc-orders-of-magnitude-faster"]
    numbers = numbers_of(finding.table)
    free = dataclasses.replace(finding, deviations=())
    assert free.judged(numbers).verdict == Verdict.CONTRADICTED
    capped = finding.judged(numbers)
    assert capped.verdict == Verdict.UNDECIDED and "by itself contradicted" in capped.measured


@each(
    ("name", "row"),
    [
        ("sht-dense-methods-are-inferior", "SOLAM"),
        ("sht-fig-2-dense-methods-are-inferior", "SOLAM"),
        ("sht-logistic-rivals-comparable-on-real-sets", "HSG-HT"),
    ],
)
def test_a_sentence_about_two_rivals_is_judged_by_both(name: str, row: str) -> None:
    finding = FINDINGS[name]
    numbers = numbers_of(finding.table)
    assert row in finding.statement and row in finding.judged(numbers).measured
    cells = {
        at: dataclasses.replace(cell, mean=cell.mean + 1.0) if at[0] == row else cell
        for at, cell in numbers.cells.items()
    }
    tests = {
        at: dataclasses.replace(test, estimate=test.estimate - 1.0) if at.endswith(row) else test
        for at, test in numbers.tests.items()
    }
    wrong = dataclasses.replace(numbers, cells=cells, tests=tests)
    assert finding.judge(wrong).verdict == Verdict.CONTRADICTED


OVER_ALL = {
    "sht-dense-methods-are-inferior": (["AUC on new rows"], ["SPAM-l2", "SOLAM"]),
    "sht-logistic-rivals-have-lower-auc": (["AUC on new rows"], ["StoIHT", "HSG-HT"]),
    "sht-f1-better-than-any-other": (["F1", "JI"], list(METHODS[1:])),
    "sht-f1-lead-as-published": (["F1", "JI"], ["StoIHT", "HSG-HT"]),
    "sht-f1-lead-over-l1-methods": (["F1"], ["SPAM-l1", "FSAUC"]),
}
"""Finding to what it compares over all four k*, and with which rivals."""


@each("name", list(OVER_ALL))
def test_a_lead_over_all_sparsities_is_of_each_measure_over_each_rival_and_capped(
    name: str,
) -> None:
    """Trials pair the two sides; shorter grids of either side may have made the lead."""
    finding = FINDINGS[name]
    numbers = numbers_of(finding.table)
    assert finding.judge(numbers).verdict == Verdict.BORNE_OUT
    assert "by itself borne-out" in finding.judged(numbers).measured
    assert finding.judged(numbers).verdict == Verdict.UNDECIDED
    measures, rivals = OVER_ALL[name]
    for test in (over_all(measure, rival) for measure in measures for rival in rivals):
        behind = dataclasses.replace(numbers.test(test), estimate=-0.3)
        wrong = dataclasses.replace(numbers, tests={**numbers.tests, test: behind})
        assert finding.judge(wrong).verdict == Verdict.CONTRADICTED, test


@each("place", ["leukemia", "colon"])
def test_markers_are_told_apart_only_beyond_what_common_training_rows_allow(place: str) -> None:
    """Twenty lists of genes from rows that are mostly the same are far from twenty draws."""
    finding = FINDINGS[f"sht-finds-most-markers-on-{place}"]
    numbers = numbers_of(finding.table)
    found = finding.judge(numbers)
    assert found.verdict == Verdict.UNDECIDED and "capped" not in found.measured
    far = {
        name: dataclasses.replace(test, estimate=1.0 if place in name else -1.0)
        for name, test in numbers.tests.items()
    }
    assert finding.judge(dataclasses.replace(numbers, tests=far)).verdict == Verdict.BORNE_OUT


def test_a_run_that_rises_no_more_than_the_settled_one_is_no_sign_of_slowness() -> None:
    finding = FINDINGS["sht-fig-1-no-convergence-in-300-epochs"]
    numbers = numbers_of(finding.table)
    assert finding.judge(numbers).verdict == Verdict.BORNE_OUT
    alike = {at: dataclasses.replace(test, estimate=2e-4) for at, test in numbers.tests.items()}
    level = dataclasses.replace(numbers, tests=alike)
    assert finding.judge(level).verdict == Verdict.UNDECIDED
    late = "r = 0.5, step r (1 - r), as published: training AUC after 300 epochs minus after 200"
    faster = alike | {late: dataclasses.replace(alike[late], estimate=2e-3)}
    assert finding.judged(dataclasses.replace(numbers, tests=faster)).verdict == "contradicted"


def test_averages_are_told_from_last_points_split_by_split_and_capped() -> None:
    """Both are of one walk, so that splits pair them; only NSAUC has its lam chosen."""
    finding = FINDINGS["averaging-helps"]
    numbers = numbers_of(finding.table)
    assert SAME_LAM in finding.deviations and SAME_LAM.bearing == Bearing.FOR
    alone = finding.judge(numbers)  # on each of three sets, and cod-rna is not told from zero
    assert alone.verdict == Verdict.UNDECIDED and alone.measured.startswith("2 for, 0 against")
    assert finding.judged(numbers).verdict == Verdict.UNDECIDED
    worse = {
        name: dataclasses.replace(test, estimate=-test.estimate)
        for name, test in numbers.tests.items()
    }
    turned_over = dataclasses.replace(numbers, tests=worse)
    assert finding.judge(turned_over).verdict == "contradicted"
    assert finding.judged(turned_over).verdict == Verdict.UNDECIDED  # of other rows and landmarks


def test_steadiness_is_of_all_epochs_and_open_for_want_of_a_set_and_of_separate_runs() -> None:
    finding = FINDINGS["nsauc-is-steady-over-epochs"]
    numbers = numbers_of(finding.table)
    assert finding.judge(numbers).verdict == Verdict.BORNE_OUT
    assert finding.judged(numbers).verdict == Verdict.UNDECIDED
    for deviation in finding.deviations:
        alone = dataclasses.replace(finding, deviations=(deviation,))
        assert alone.judged(numbers).verdict == Verdict.UNDECIDED
    assert ONE_WALK in finding.deviations
    fallen = moved_cells(numbers, "skin", "NSAUC, largest fall", 2.0)
    assert finding.judge(fallen).verdict == Verdict.CONTRADICTED
    assert finding.judged(fallen).verdict == Verdict.UNDECIDED  # fewer rows might have made it


@each(
    ("bearing", "borne_out", "contradicted"),
    [
        (Bearing.FOR, "undecided", "contradicted"),
        (Bearing.AGAINST, "borne-out", "undecided"),
        (Bearing.EITHER, "undecided", "undecided"),
        (Bearing.NEITHER, "borne-out", "contradicted"),
    ],
)
def test_a_deviation_caps_the_verdict_that_it_could_have_made(
    bearing: Bearing, borne_out: str, contradicted: str
) -> None:
    deviation = (Deviation("Ours is another.", bearing),)
    for estimate, verdict in ((9.0, borne_out), (-9.0, contradicted), (0.0, "undecided")):
        found = above([difference(estimate)])
        judged = capped(found, deviation)
        assert judged.verdict == verdict
        assert ("capped: Ours is another." in judged.measured) == (verdict != found.verdict)
        no_way = verdict != found.verdict or (estimate == 0.0 and bearing == Bearing.EITHER)
        assert ("none while this deviation stands" in judged.turned_by) == no_way


def test_a_finer_grid_of_lambda_adds_little_as_the_deviation_says() -> None:
    """LAMBDAS: of the seven printed values four are run; Fig. 5 has all of them."""
    numbers = numbers_of("sauc-fig-5")
    assert "0.004" in LAMBDAS.words and LAMBDAS.bearing == Bearing.AGAINST
    for task in {column for _, column in numbers.cells}:
        by_lambda = {
            float(row.removeprefix("lambda = ")): numbers.cell(row, task).mean
            for row in numbers.rows(task)
        }
        printed = max(value for at, value in by_lambda.items() if 1e-3 <= at <= 1e3)
        assert printed - max(by_lambda[at] for at in (1e-3, 0.1, 10.0, 1e3)) <= 0.004


COUNTED = ("seconds", "steps", "epochs")


def test_every_finding_about_time_names_how_the_two_sides_were_run() -> None:
    """Seconds, steps and epochs depend on program, machine and stopping rule: none is unnamed."""
    found = []
    for name, finding in FINDINGS.items():
        judged = finding.judge(numbers_of(finding.table))
        about = f"{judged.test} {judged.measured} {finding.statement}"
        if any(word in about for word in COUNTED) or " time" in finding.statement:
            found.append(name)
            assert finding.deviations, name
    assert len(found) >= 15


def test_seconds_decide_only_where_both_sides_ran_alike() -> None:
    """A verdict about seconds that stands has no deviation that could have made it."""
    for finding in FINDINGS.values():
        judged = finding.judged(numbers_of(finding.table))
        if "seconds" in judged.test and judged.verdict != Verdict.UNDECIDED:
            bearings = {deviation.bearing for deviation in finding.deviations}
            assert Bearing.EITHER not in bearings and bearings


OURS = {
    "all-pairs-take-less-time-than-drawn-pairs": ("scaling-up-table-1", "s, full"),
    "all-pairs-are-feasible-beyond-10000": ("scaling-up-table-1", "s, full"),
    "all-pairs-take-less-time-on-real-sets": ("scaling-up-table-3", "s, all pairs"),
}


@each("name", list(OURS))
def test_slower_fits_turn_what_we_state_of_ours(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert suite.run([name]).rows[0].verdict == "holds"
    table, column = OURS[name]
    numbers = numbers_of(table)
    cells = {
        at: dataclasses.replace(cell, mean=cell.mean * 1e6) if at[1] == column else cell
        for at, cell in numbers.cells.items()
    }
    slower = dataclasses.replace(numbers, cells=cells)
    monkeypatch.setattr(ours, "numbers_of", lambda name: slower)
    assert suite.run([name]).rows[0].verdict == "fails"


def test_more_epochs_with_one_step_turn_what_we_state_of_fig_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "sht-fig-1-with-one-step-for-all-shares"
    assert suite.run([name]).rows[0].verdict == "holds"
    numbers = numbers_of("sht-fig-1")
    slower = {
        at: dataclasses.replace(test, estimate=abs(test.estimate))
        for at, test in numbers.tests.items()
    }
    monkeypatch.setattr(ours, "numbers_of", lambda _: dataclasses.replace(numbers, tests=slower))
    assert suite.run([name]).rows[0].verdict == "fails"


def test_what_the_paper_says_of_other_sets_is_capped() -> None:
    for kernel in ("linear", "gaussian"):
        finding = FINDINGS[f"sauc-all-pairs-beat-svm-{kernel}"]
        assert finding.deviations[0].bearing == Bearing.EITHER and "Fig. 4" in finding.place


# No finding contradicts its page.


@each("name", list(tables()))
def test_the_page_in_the_docs_is_made_of_the_evidence(name: str, tmp_path: Path) -> None:
    """Every sentence, verdict and interval of it, and all numbers of its table."""
    reproduce([name], "full", out=tmp_path, evidence=EVIDENCE, max_time=1e-9, judge=said_on)
    page = f"{name}.md"
    assert (tmp_path / page).read_text("utf-8") == (DOCS / page).read_text("utf-8"), "make it anew"
    assert numbers_in(tmp_path / f"{name}.csv") == pytest.approx(
        numbers_in(DOCS / f"{name}.csv"), rel=1e-9, abs=1e-12
    )


def numbers_in(path: Path) -> dict[tuple[str, str], float]:
    """Return row and column to the number of a page's CSV."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["row"], row["column"]): row["ours"] for row in rows}
    return {at: float(text) for at, text in found.items() if re.fullmatch(r"[-+.\de]+", text)}


@each("name", list(tables()))
def test_a_page_of_a_quick_run_decides_nothing(name: str) -> None:
    text = (DOCS.parent / "quick" / f"{name}.md").read_text(encoding="utf-8")
    lines = re.findall(r"^- \*\*(.*)\*\*: .* \(`(.*)`\)$", text, re.M)
    those = [(f.name, "undecided") for f in FINDINGS.values() if f.table == name]
    assert [(name, verdict) for verdict, name in lines] == those
    assert text.count(QUICK.words) == text.count("(by itself ")


@each("name", list(FINDINGS))
def test_the_page_of_the_full_run_and_the_finding_have_one_verdict(name: str) -> None:
    text = (DOCS / f"{FINDINGS[name].table}.md").read_text(encoding="utf-8")
    (verdict,) = re.findall(rf"^- \*\*(.*)\*\*: .* \(`{name}`\)$", text, re.M)
    assert verdict == str(FINDINGS[name].judged(numbers_of(FINDINGS[name].table)).verdict)


def test_a_finding_that_lacks_a_number_is_undecided_on_that_page() -> None:
    (said,) = [item for item in said_by(Numbers("sauc-fig-1", "here")) if "higher" in item.name]
    assert (said.verdict, said.measured) == ("undecided", NOT_RUN)


@each("name", list(tables()))
def test_a_page_of_few_numbers_is_judged_without_a_word_on_the_way(name: str) -> None:
    whole = numbers_of(name)
    rng = random.Random(name)
    for share in (0.0, 0.1, 0.5, 0.9):
        for _ in range(8):
            cells = {at: cell for at, cell in whole.cells.items() if rng.random() < share}
            tests = {at: test for at, test in whole.tests.items() if rng.random() < share}
            few = dataclasses.replace(whole, cells=cells, tests=tests)
            for said in said_by(few):
                assert said.measured and said.verdict in VOCABULARY


def one_part(done: bool = True, profile: str = "full") -> Results:
    part = Part("rep=0", {})
    return Results(Run(profile), {}, (part,), {part.key: {}} if done else {})


def angle(estimate: float) -> Page:
    test = NamedTest("SAUC-SVM minus AUC-SVM", Paired(estimate, 0.001, 1e-5, 50), "in AUC")
    return Page((), (test,))


def test_a_planted_number_turns_what_the_page_says() -> None:
    table = tables()["sauc-fig-1"]
    higher, lower = (said_on(table, angle(x), one_part())[0].verdict for x in (0.5, -0.5))
    assert (higher, lower) == ("borne-out", "contradicted")


def test_a_page_that_lacks_a_part_decides_nothing() -> None:
    """A statement about every size is not borne out by the one that was run."""
    said = [
        each for table in tables().values() for each in said_on(table, angle(0.5), one_part(False))
    ]
    assert sorted(each.name for each in said) == sorted(FINDINGS)
    assert {(each.verdict, each.measured) for each in said} == {("undecided", NOT_RUN)}


def test_a_page_of_a_quick_run_says_what_its_numbers_say() -> None:
    said = said_on(tables()["sauc-fig-1"], angle(0.5), one_part(profile="quick"))[0]
    assert said.verdict == "undecided" and "by itself borne-out" in said.measured
    assert QUICK.words in said.measured


def test_a_page_and_a_finding_of_one_run_have_the_same_numbers() -> None:
    entries = (
        Entry("a", "AUC", "0.9", 0.8, 0.1, 10),
        Entry("a", "best", None, "k = 5"),
    )
    exact = Paired(1.2504321, 0.00021, 1e-05, 50)
    tests = (
        NamedTest("n = 5,000: x minus y", exact, "points"),
        NamedTest("n = 5,000: x minus y", exact, "degrees"),
    )
    found = of_page("t", "here", Page(entries, tests))
    assert found.cells == {("a", "AUC"): Cell(0.8, 0.1, 10)}
    for name in ("n = 5,000: x minus y", "n = 5,000: x minus y: degrees"):
        assert found.test(name) == Difference(name, 1.2504321, 0.00021, 50), "not rounded"
    assert "+1.25043 points (standard error 0.00021, " in str(tests[0])
    with pytest.raises(ValueError, match="two tests of a page are called"):
        of_page("t", "here", Page(entries, (*tests, tests[1])))
    with pytest.raises(KeyError, match="no paired test"):
        found.test("n = 1: x minus y")
    with pytest.raises(KeyError, match="no cell"):
        found.cell("b", "AUC")


def test_evidence_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    registry = planted()
    with pytest.raises(InputError, match=r"has no part rep=0 of protocol 1 .*: restore the file"):
        from_evidence(registry["one"], tmp_path)
    reproduce(out=tmp_path / "out", registry=registry, evidence=tmp_path, profile="full")
    found = from_evidence(registry["one"], tmp_path)
    assert "6 parts" in found.source and found.cell("all", "value").count == 6
    with pytest.raises(InputError, match="of protocol 2"):
        from_evidence(planted(protocol=2)["one"], tmp_path)


def test_a_table_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="no table is called 'sauc-fig-11': did you mean"):
        numbers_of("sauc-fig-11")


@each("wrong", [(math.nan, 1.0, 5), (1.0, -1.0, 5), (1.0, math.nan, 5), (1, 1, 0)])
def test_what_is_no_difference_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="no estimate"):
        Difference("a", *wrong)
    with pytest.raises(ValueError, match="'all' or 'most', not 'median'"):
        above([difference(1.0)], how="median")
    with pytest.raises(ValueError, match="no bearing"):
        Deviation("words", "FOR")  # type: ignore[arg-type]


@pytest.mark.slow
@each("how", ["all", "most"])
@each("name", ["above", "within"])
def test_no_smaller_effect_than_the_one_named_turns_an_undecided_verdict(
    name: str, how: str
) -> None:
    """Each difference is moved either way by less than it, and by a little more."""
    rng = random.Random(f"{name} {how}")

    def judged(by: Sequence[float], these: Sequence[Difference]) -> Judged:
        pairs = zip(these, by, strict=True)
        moved = [dataclasses.replace(d, estimate=d.estimate + x) for d, x in pairs]
        return above(moved, 0.1, how) if name == "above" else within(moved, 0.5, how)

    undecided = 0
    for _ in range(60):
        many = rng.randint(1, 3)
        these = [difference(rng.uniform(-1, 1), rng.uniform(0.05, 0.4)) for _ in range(many)]
        found = judged([0.0] * many, these)
        if found.verdict != Verdict.UNDECIDED:
            continue
        undecided += 1
        (effect,) = (float(x) for x in re.findall(r"a change of (\S+) in", found.turned_by))
        moves = list(itertools.product((-1.0, 0.0, 1.0), repeat=many))
        less = {judged([0.9 * effect * s for s in signs], these).verdict for signs in moves}
        assert less == {Verdict.UNDECIDED}
        more = {judged([1.1 * effect * s for s in signs], these).verdict for signs in moves}
        assert name == "within" or len(more) > 1
    assert undecided > 10
