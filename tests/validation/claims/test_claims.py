"""Claims as data: what is entered, recorded and carried, and how it is judged."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.validation import suite
from aucert.validation.bounds import experiment
from aucert.validation.bounds.experiment import PRINTED, REALISED
from aucert.validation.claims import judge, recorded, theorem_4
from aucert.validation.claims.claim import (
    KINDS,
    PAPER_KINDS,
    REGISTRY,
    Claim,
    Context,
    Outcome,
    Verdict,
    vocabulary,
)
from aucert.validation.claims.instrument import Case, outcome
from aucert.validation.plots import Figure, Series
from aucert.validation.report.document import Row
from loops import each, first_fast, some


def planted(name: str = "a-claim", **changes: Any) -> Claim:
    options: dict[str, Any] = {
        "paper": "ScalingUp",
        "place": "eq. (1)",
        "kind": "suite",
        "statement": "One is one.",
        "expected_verdict": Verdict.HOLDS,
        "run": lambda context: Outcome(Verdict.HOLDS, 1.0),
    }
    return Claim(name, **{**options, **changes})


@each(
    ("changes", "word"),
    [
        *(({"name": name}, "small letters") for name in ("A-claim", "a claim", "../a", "a--b", "")),
        *((change, "must be one of") for change in ({"paper": "Nobody"}, {"kind": "paper"})),
        *((change, "severity") for change in ({"severity": "A"}, {"severity": "D"})),
    ],
)
def test_what_cannot_be_a_claim_is_refused(changes: dict[str, str], word: str) -> None:
    with pytest.raises(InputError, match=word):
        planted(**changes)


def test_every_entry_has_one_judge_and_a_record_of_its_kind() -> None:
    judged = {entry.name for entry in suite.claims() if entry.kind != "finding"}
    assert set(recorded.statements()) == judged
    assert set(recorded.record()["verdicts"]) <= {entry.name for entry in suite.claims()}
    assert recorded.record()["date"] and recorded.record()["version"]
    name = next(iter(REGISTRY))
    with pytest.raises(InputError, match="two claims"):
        recorded.enter({name: REGISTRY[name].run})


def test_claims_carry_what_a_referee_asks_for() -> None:
    """The words, the place, the regime, what would turn it; what is wrong also what is right."""
    graded = {entry.name for entry in suite.claims() if entry.severity}
    fails = {e.name for e in suite.claims() if e.expected_verdict == Verdict.FAILS}
    assert graded == fails | {"algorithm-3-printed-step-solves-another-problem"}
    assert sum(entry.severity == "A" for entry in suite.claims()) == 5
    for entry in suite.claims():
        assert entry.kind in KINDS and entry.expected_verdict in vocabulary(entry.kind), entry.name
        assert (entry.kind == "suite") == (entry.paper == "aucert"), entry.name
        if entry.kind in PAPER_KINDS:
            assert entry.quote and entry.place and entry.regime and entry.tuning, entry.name
        else:
            assert entry.expected_verdict != Verdict.FAILS, entry.name
        if entry.kind == "theorem":
            assert entry.turned_by and entry.regime.endswith("."), entry.name
            assert entry.readings or entry.expected_verdict != Verdict.FAILS, entry.name
    ours = [entry for entry in suite.claims() if entry.kind not in PAPER_KINDS]
    assert {entry.name for entry in ours if not entry.turned_by} == {
        "all-pairs-take-less-time-than-drawn-pairs",
        "all-pairs-are-feasible-beyond-10000",
        "all-pairs-take-less-time-on-real-sets",
        "sht-fig-1-with-one-step-for-all-shares",
    }


PAPERS_TEXTS = Path(os.environ.get("AUCERT_PAPERS", "no such folder"))


@pytest.mark.skipif(not PAPERS_TEXTS.is_dir(), reason="AUCERT_PAPERS names the papers' texts")
def test_quotations_stand_in_the_papers() -> None:
    files = PAPERS_TEXTS.glob("*.txt")
    texts = [" ".join(path.read_text(encoding="utf-8").split()) for path in files]
    for entry in suite.claims():
        if entry.kind in PAPER_KINDS:
            assert any(entry.quote in text for text in texts), entry.name


@each(("kind", "verdict"), [("theorem", "borne-out"), ("finding", "holds")])
def test_a_verdict_of_another_kind_is_an_error(kind: str, verdict: str) -> None:
    run: Callable[[Context], Outcome] = lambda context: Outcome(Verdict(verdict), 1.0)  # noqa: E731
    entry = planted(kind=kind, expected_verdict=Verdict(verdict), run=run)
    row = suite.run_claim(entry, 0, "quick")
    assert row.verdict == "error" and not row.as_expected


def test_a_run_can_be_recorded_anew(tmp_path: Path) -> None:
    document = suite.run(["eq-2-of-a-constant-score"]).as_json()
    document["claims"][0]["verdict"] = "fails"
    recorded.write(document, "2026-01-02", tmp_path)
    found = tomllib.loads((tmp_path / "recorded.toml").read_text())
    assert (found["date"], found["profile"]) == ("2026-01-02", "quick")
    changed = {"eq-2-of-a-constant-score": "fails"}
    assert found["verdicts"] == recorded.record()["verdicts"] | changed


def test_random_numbers_depend_on_seed_claim_and_purpose_only() -> None:
    draw = Context("a-claim", 3).rng("rows").random()
    assert draw == Context("a-claim", 3, "full").rng("rows").random()
    others = [Context("a-claim", 4), Context("b-claim", 3)]
    assert draw not in [context.rng("rows").random() for context in others]
    assert draw != Context("a-claim", 3).rng("pairs").random()


def test_a_row_comes_back_from_json_and_has_the_documented_keys() -> None:
    figure = Figure("f", "t", "x", "y", (Series.of("s", [1.0, 2.0], [3.0, 4.0]),), "c")
    run = lambda context: Outcome(Verdict.HOLDS, 1.0, figures=(figure,))  # noqa: E731
    row = suite.run_claim(planted(run=run), 0, "quick")
    assert Row.from_document(json.loads(json.dumps(asdict(row)))) == row and row.as_expected
    assert set(row.public) == set(
        "name paper place kind statement measured printed verdict expected_verdict seconds "
        "data seed tolerance version taken_over quote readings regime tuning turned_by arithmetic "
        "effects protocol severity corrected".split()
    )


JUDGED = [entry for entry in suite.claims() if entry.kind != "finding"]
FAST = [entry for entry in JUDGED if entry.arithmetic][:6]


@each("entry", first_fast([*FAST, *some((e for e in JUDGED if e not in FAST), 12)], len(FAST)))
def test_at_another_seed_the_verdict_is_the_recorded_one(entry: Claim) -> None:
    row = suite.run_claim(entry, 1, "quick")
    assert row.verdict == row.expected_verdict, (row.measured, row.details)
    assert row.turned_by or entry.kind not in PAPER_KINDS or row.verdict == Verdict.NOT_TESTABLE


# The judges.


def test_limits_have_their_level_in_the_binomial_tail() -> None:
    assert judge.lower_limit(0, 100) == 0.0
    assert stats.binom.sf(39, 100, judge.lower_limit(40, 100)) == pytest.approx(judge.LEVEL)
    assert judge.upper_limit(0, 9, 0.01) == pytest.approx(1 - 0.01 ** (1 / 9))
    assert judge.upper_limit(9, 9, 0.01) == 1.0


def test_a_slope_is_found_and_covered() -> None:
    x = 2.0 ** np.arange(8)
    y = 3 * x**-0.5 * np.exp(0.05 * np.random.default_rng(3).standard_normal(8))
    slope = judge.Slope.fit(x, y, np.full(8, 0.05))
    low, high = slope.interval
    assert low < -0.5 < high
    assert high - low == pytest.approx(2 * judge.two_sided() * 0.05 / np.log(2) / np.sqrt(42))


@each(
    ("hits", "refuted"),
    [
        ([2] * 54, True),
        ([2] + [0] * 53, False),
        ([5] + [0] * 53, True),
        ([1] * 13 + [0] * 41, False),
    ],
)
def test_one_cell_or_all_together_refute_a_bound(hits: list[int], refuted: bool) -> None:
    """Five draws in each of 54 cells, a violation allowed in one of twenty."""
    assert theorem_4.refuted(hits, [5] * 54) == refuted


def test_the_limit_of_a_violation_counts_cells_and_not_draws() -> None:
    def cells(bad: int, n_draws: int) -> Any:
        draws = [[SimpleNamespace(violated=["4' (I)"] * (k < bad))] for k in range(400)]
        return [SimpleNamespace(draws=draw * n_draws) for draw in draws]

    for bad in (0, 3):
        few, many = (theorem_4.limit_by_cells("4' (I)", cells(bad, m)) for m in (1, 25))
        assert few == many == judge.upper_limit(bad, 400, theorem_4.DOUBT)


@each(("bound", "verdict"), [(2.0, "vacuous"), (0.5, "loose"), (0.09, "holds"), (0.005, "fails")])
def test_the_printed_bound_gets_the_verdict_that_its_size_earns(bound: float, verdict: str) -> None:
    """The error is 0.01: a bound below 1 and below ten times that is not a loose one."""
    side = SimpleNamespace(at_least=bound)
    draw = SimpleNamespace(
        violated=(PRINTED,) if bound < 0.01 else (),
        loss_difference=0.01,
        bounds={PRINTED: side, REALISED: side},
    )
    cells: Any = [
        SimpleNamespace(draws=[draw], all_rows=whole, data="rows") for whole in (True, False)
    ]
    assert theorem_4.next_to_errors(cells, PRINTED).verdict == verdict


@each("case", [Case(1e-6, -1.0, 0.0), Case(0.0, 1e-9, 0.0), Case(0.0, -1.0, 1e-3)])
def test_each_part_of_an_interval_can_be_wrong(case: Case) -> None:
    assert outcome([Case(0.0, -1.0, 0.0)]).verdict == Verdict.HOLDS
    assert outcome([Case(0.0, -1.0, 0.0), case]).verdict == Verdict.FAILS


def test_a_problem_that_is_interrupted_or_not_solved_is_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = experiment.CuttingPlane

    class Interrupted(right):
        def run(self, problem: object, recorder: object) -> Status:
            raise KeyboardInterrupt

    def one_step(tol: float) -> object:
        return right(tol=tol, max_iter=1, finish_from=0.0)

    monkeypatch.setattr(experiment, "CuttingPlane", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        suite.run(["norm-of-the-minimiser"])
    monkeypatch.setattr(experiment, "CuttingPlane", one_step)
    (row,) = suite.run(["norm-of-the-minimiser"]).rows
    assert row.verdict == "error" and "not solved" in str(row.measured)
