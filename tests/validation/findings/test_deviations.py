"""A verdict that stands answers for each printed line of the protocol that the run departs from."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.approx.drawn_pairs import draw_pairs
from aucert.approx.landmarks import uniform
from aucert.approx.nystrom import nystrom_map
from aucert.approx.subgradient import Adamax
from aucert.exact import ROCSVM
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.kernels import Gaussian
from aucert.validation.claims.verdicts import Verdict
from aucert.validation.data.generators import linear, radial
from aucert.validation.findings.capping import Bearing
from aucert.validation.findings.finding import regime
from aucert.validation.findings.judging import interval
from aucert.validation.findings.numbers import (
    EVIDENCE,
    Cell,
    Difference,
    Numbers,
    numbers_of,
)
from aucert.validation.findings.papers.nonlinear import ANY_EPOCH, NOAM_COST
from aucert.validation.findings.papers.nonlinear_judges import above_both
from aucert.validation.findings.papers.sauc_real import UNITS_BOTH
from aucert.validation.findings.papers.scaling_up import CHOSEN as SCALING_UP_CHOSEN
from aucert.validation.findings.papers.scaling_up import UNIFORM
from aucert.validation.findings.papers.sht import CHOSEN, COMPETITIVE
from aucert.validation.findings.papers.sht_judges import RIVALS
from aucert.validation.findings.registry import FINDINGS
from aucert.validation.tables.nonlinear.sets import overlap
from aucert.validation.tables.pages import departs
from aucert.validation.tables.running.registry import tables
from aucert.validation.tables.scaling_up.common import STEP, hinge
from aucert.validation.tables.statistics import paired_test
from aucert.validation.tables.table import Budget, Table
from loops import each

NOT_PRINTED = ("not printed", "none", None)


def departures(table: str) -> set[str]:
    """Return the lines of a table's budget that are printed and not as they were run."""
    lines = tables()[table].experiment.budget
    return {line.what for line in lines if departs(line, "full") and line.paper not in NOT_PRINTED}


def with_budget(*budget: Budget) -> Table:
    table = tables()["sht-table-1"]
    return replace(table, experiment=replace(table.experiment, budget=budget))


@each(
    ("paper", "full", "words"),
    [
        (5, 5, ""),
        ("50 (programs)", 50, ""),
        ("1,600 (programs)", 1600, ""),
        ("50 (programs)", 5, "eta: 50 in the authors' programs, 5 here"),
        ("not printed", [1, 10, 100], "eta: not printed, 3 values here"),
        ("not printed for B", 0.2, "eta: not printed for B, 0.2 here"),
        ("all", 100_000, "eta: all in print, 100,000 here"),
        ("none", [1, 2], "eta: none in print, 1 and 2 here"),
        ("2^-10, 2^-9, ..., 2^10", [0.5, 2, 1], "2^10 in print, 3 values from 0.5 to 2 here"),
    ],
)
def test_a_protocol_names_what_departs_in_english(paper: object, full: object, words: str) -> None:
    line = Budget("eta", paper, full, full)
    assert departs(line, "full") == bool(words)
    said = regime(with_budget(Budget("folds", 5, 5, 5), line), ())
    assert said == "As printed." if not words else said.endswith(f"{words}.")


def test_each_finding_names_the_departures_of_its_page_and_no_other_line() -> None:
    for finding in FINDINGS.values():
        table = tables()[finding.table]
        said = regime(table, ())
        for line in table.experiment.budget:
            assert (f"; {line.what}: " in f"; {said}") == departs(line, "full"), finding.name
        assert "not printed in print" not in said and "(programs)" not in said


def test_a_verdict_that_stands_answers_for_each_printed_line() -> None:
    """One test of all findings, so that all of them are looked at by default."""
    stand = [
        finding
        for finding in FINDINGS.values()
        if finding.judged(numbers_of(finding.table)).verdict != Verdict.UNDECIDED
    ]
    assert stand
    for finding in stand:
        answered = {line for deviation in finding.deviations for line in deviation.lines}
        assert departures(finding.table) <= answered, finding.name


def test_a_deviation_names_lines_that_are_in_a_budget() -> None:
    for finding in FINDINGS.values():
        paper = tables()[finding.table].paper
        known = {
            line.what
            for table in tables().values()
            if table.paper == paper
            for line in table.experiment.budget
        }
        for deviation in finding.deviations:
            assert set(deviation.lines) <= known, finding.name


def chosen(experiment: str, machine: str, k: int | None = None) -> Counter[float]:
    """Return how often each width was chosen with the Gaussian kernel."""
    lines = (EVIDENCE / "full-seed0" / f"{experiment}.jsonl").read_text("utf-8").splitlines()[1:]
    found: Counter[float] = Counter()
    for part in map(json.loads, lines):
        where: dict[str, Any] = part["parameters"]
        if where.get("kernel") != "linear" and k in (None, where.get("k")):
            found[part["result"][f"sigma {machine}"]] += 1
    return found


@each(
    ("experiment", "machine", "k"),
    [("sauc-real", "SVM", None), ("sauc-real", "SAUC-SVM", None), ("sauc-toy", "SVM", 5)],
)
def test_widths_are_often_chosen_at_an_end_as_the_deviation_says(
    experiment: str, machine: str, k: int | None
) -> None:
    found = chosen(experiment, machine, k)
    assert found[min(found)] + found[max(found)] >= found.total() / 3


@each(("rival", "level"), [("StoIHT", 1.0), ("HSG-HT", 1000.0)])
@each("measure", ["true", "f1", "ji"])
def test_logistic_rivals_are_behind_where_the_folds_choose_otherwise_as_the_deviation_says(
    rival: str, level: float, measure: str
) -> None:
    """CHOSEN: at r = 0.05, all k* together; the second parameter is blocks, or tau."""
    path = EVIDENCE / "full-seed0" / "sht-synthetic.jsonl"
    leads: dict[bool, list[float]] = {True: [], False: []}
    for part in map(json.loads, path.read_text("utf-8").splitlines()[1:]):
        found = part["result"]
        if part["parameters"]["r"] == 0.05:
            lead = found[f"{measure} SHT-AUC"] - found[f"{measure} {rival}"]
            leads[found[f"config {rival}"][1] == level].append(lead)
    chosen_level, otherwise = (statistics.mean(leads[side]) for side in (True, False))
    assert min(map(len, leads.values())) > 30
    assert abs(chosen_level) < COMPETITIVE and otherwise > 4 * COMPETITIVE
    assert CHOSEN.bearing == Bearing.EITHER and "tau = 1,000" in CHOSEN.words


@each("name", [name for name in FINDINGS if name.startswith("sht-")])
def test_a_comparison_with_a_rival_says_that_the_method_itself_was_cut(name: str) -> None:
    """It has fewer blocks than printed, which can work either way: no lead over a rival stands."""
    finding = FINDINGS[name]
    if any(
        f"minus {rival}" in finding.judge(numbers_of(finding.table)).measured for rival in RIVALS
    ):
        cut = {line for each in finding.deviations for line in each.lines}
        assert "blocks" in cut and Bearing.EITHER in {each.bearing for each in finding.deviations}


def test_most_sets_are_nsaucs_after_any_number_of_epochs_as_the_deviation_says() -> None:
    """Split by split, each set by both rivals: the number of epochs, not printed, is no matter."""
    lines = (EVIDENCE / "full-seed0" / "nonlinear-online.jsonl").read_text("utf-8").splitlines()[1:]
    of_set: dict[str, list[dict[str, Any]]] = {}
    for part in map(json.loads, lines):
        of_set.setdefault(part["parameters"]["set"], []).append(part["result"])
    epochs = next(iter(of_set.values()))[0]["epochs"]
    for at in range(len(epochs)):
        ahead = [
            all(interval(paired(results, at, name, rival))[0] > 0 for rival in ("NOAM", "NSOLAM"))
            for name, results in of_set.items()
        ]
        assert len(ahead) == 5 and sum(ahead) > 2
    assert (epochs[0], epochs[-1]) == (1, 400)
    assert ANY_EPOCH in FINDINGS["online-rivals-are-suboptimal"].deviations


def paired(results: list[dict[str, Any]], at: int, name: str, rival: str) -> Difference:
    """Return the lead of NSAUC after the epoch in that place, with the error of a paired test."""
    sides = ([r["NSAUC_curve"][at] for r in results], [r[f"{rival}_auc"] for r in results])
    test = paired_test(*sides, overlap(name))
    assert test is not None
    return Difference(rival, test.difference, test.error, test.count)


@pytest.mark.slow
@each("lam", [1e-4, 1e-3, 1e-2, 1e-1, 1.0])
def test_steps_of_the_descent_do_not_grow_with_n_as_the_deviation_says(lam: float) -> None:
    def steps(n: int, draw: int) -> int:
        data = linear(n, draw)
        problem = hinge(data.X, data.is_positive, lam)
        drawn = problem.with_pairs(draw_pairs(problem.pairs.positive, n, draw))
        return Adamax(step=STEP, tol=1e-3, max_iter=10_000).solve(drawn).n_iter

    few, many = (max(steps(n, draw) for draw in (7, 8, 9)) for n in (5_000, 20_000))
    assert many <= 1.1 * few


@pytest.mark.slow
def test_landmarks_from_strata_make_no_other_auc_as_the_deviation_says() -> None:
    """Half of the landmarks of each class, or all of them uniformly: radial model, all pairs."""
    test, kernel = radial(25_000, 99), Gaussian(0.5)
    off = []
    for draw in range(3):
        data = radial(5_000, draw)
        rng, sides = np.random.default_rng(draw), (data.is_positive, ~data.is_positive)
        strata = np.concatenate([rng.choice(np.flatnonzero(s), 150, replace=False) for s in sides])
        found = []
        for rows in (uniform(data.X, 300, draw).rows, data.X[strata]):
            features = nystrom_map(kernel, rows)
            model = ROCSVM(lam=1e-3).fit(features.transform(data.X), data.y)
            scores = model.decision_function(features.transform(test.X))
            found.append(100 * auc(scores, test.is_positive))
        off.append(abs(found[0] - found[1]))
    assert max(off) < 0.02 and "0.02 points" in UNIFORM.words


def test_markers_on_leukemia_are_ahead_in_every_shuffle_as_the_statement_says() -> None:
    page = Path(__file__).parents[3] / "docs" / "results" / "full" / "sht-fig-4.md"
    tests = re.findall(r"^- leukemia, k = 30: SHT-AUC minus .*$", page.read_text("utf-8"), re.M)
    assert len(tests) == 2 and all(line.endswith("in 20 of 20 shuffles.") for line in tests)
    assert "in every shuffle" in FINDINGS["sht-finds-most-markers-on-leukemia"].statement
    # "three times theirs or more in the mean", of the genes found, on the page of SHT's tables
    numbers = numbers_of("sht-fig-4")
    ours, *rivals = (
        numbers.cell(f"leukemia, {method}", "of those found, k = 30").mean
        for method in ("SHT-AUC", "StoIHT", "HSG-HT")
    )
    assert ours >= 3 * max(rivals)


def test_the_nystrom_fit_is_near_the_true_score_as_the_deviation_says() -> None:
    numbers = numbers_of("scaling-up-table-2")
    assert "0.05 points" in SCALING_UP_CHOSEN.words
    for n in ("5,000", "10,000", "50,000", "100,000"):
        ours, true = (numbers.cell(n, f"AUC %, {x}").mean for x in ("Nyström", "true score"))
        assert ours > true - 0.05


def test_in_the_units_of_the_files_the_lead_is_as_large_and_not_clear_as_the_deviation_says() -> (
    None
):
    numbers, kernel = numbers_of("sauc-table-3"), "linear kernel, means of the tasks"
    standardised = numbers.test(f"{kernel}: SAUC-SVM minus AUC-SVM")
    raw = numbers.test(f"{kernel}: SAUC-SVM, raw units minus AUC-SVM, raw units")
    assert raw.estimate >= standardised.estimate and interval(raw)[0] < 0
    assert "as large and not clear" in UNITS_BOTH.words


def test_the_least_cost_of_noam_is_often_the_best_as_the_deviation_says() -> None:
    lines = (EVIDENCE / "full-seed0" / "nonlinear-online.jsonl").read_text("utf-8").splitlines()[1:]
    costs = [part["result"]["NOAM_choice"][0] for part in map(json.loads, lines)]
    assert min(costs) == -10 and costs.count(-10) >= len(costs) / 3
    assert "the least is often the best" in NOAM_COST.words


@each(
    ("first", "second", "verdict"),
    [
        (1.0, 2.0, "borne-out"),
        (2.0, -1.0, "contradicted"),
        (-1.0, 2.0, "contradicted"),
        (0.0, 2.0, "undecided"),
    ],
)
def test_a_set_is_ahead_of_both_rivals_only_where_it_is_ahead_of_each(
    first: float, second: float, verdict: str
) -> None:
    tests = {
        f"set {k}: ours minus {rival}": Difference(rival, lead, 0.1, 20)
        for k in range(3)
        for rival, lead in (("a", first), ("b", second))
    }
    cells = {(f"set {k}", "ours"): Cell(0.0, 0.1, 20) for k in range(3)}
    judge = above_both("ours", ("a", "b"))
    assert judge(Numbers("a table", "here", cells, tests)).verdict == verdict
