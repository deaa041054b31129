"""Claims and effects: what is entered and recorded, how it is judged, what it rests on."""

import dataclasses
import json
import math
import os
import random
import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.approx import TruncatedNewton, draw_pairs
from aucert.exact import HINGE, AllPairs, PairList, Ridge, Rows, pair_problem
from aucert.validation import effects, suite
from aucert.validation.bounds import experiment
from aucert.validation.bounds.experiment import PRINTED, REALISED, optimum
from aucert.validation.bounds.printed import ClusterInstance
from aucert.validation.claims import claim, judge, nonlinear, recorded, sauc, sht, theorem_4
from aucert.validation.claims.claim import FINDINGS as VOCABULARY
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from aucert.validation.claims.counting import Counted
from aucert.validation.claims.instrument import outcome, right
from aucert.validation.data.datasets import linear
from aucert.validation.effects import FINDINGS, Effect, Numbers, minus, numbers_of
from aucert.validation.plots import Figure, Series
from aucert.validation.report.document import Row
from aucert.validation.tables.run import tables
from aucert.validation.tables.table import Entry, NamedTest, Page, Part, Results, Run
from loops import each, first_fast, refuses, some

OPEN = [f for f in FINDINGS.values() if f.not_run or f.turned]


def effect(estimate: float, se: float = 1.0, df: float = 20) -> Effect:
    return Effect("a", estimate, se, df)


def judged(estimates: list[float], **keys: Any) -> str:
    tests = {f"{k}": effect(x) for k, x in enumerate(estimates)}
    finding = effects.Finding("f", "sauc-fig-1", "", "", "{k}", each={"k": list(tests)}, **keys)
    return finding.answer(Numbers("sauc-fig-1", "here", tests)).verdict


def test_an_interval_is_students_and_shared_by_many() -> None:
    for m in (1, 5):
        low, high = effect(1.0, 0.5, 10).interval(m=m)
        assert (high - low) / 2 == pytest.approx(0.5 * stats.t.ppf(1 - 0.025 / m, 10), rel=1e-12)
    assert effect(1.0, 0.5, 0).interval() == (-math.inf, math.inf)
    found = minus("a", effect(2.0, 0.3, 9), effect(1.0, 0.4, 19))
    df = 0.25**2 / (0.09**2 / 9 + 0.16**2 / 19)
    assert (found.estimate, found.se, found.df) == (1.0, pytest.approx(0.5), pytest.approx(df))
    assert minus("a", effect(2.0, math.inf, 0), effect(1.0, 0.4, 19)).se == math.inf
    ratio = minus("a", effect(10.0, 0.1, 9), effect(1.0, 0.0, 9), ratio=True)
    assert (ratio.estimate, ratio.se) == (pytest.approx(1.0), pytest.approx(0.01 / math.log(10)))
    found = effects.over([effect(1.0), effect(3.0), effect(5.0)], "mean")
    assert (found.estimate, found.df) == (3.0, 2)
    assert found.se == pytest.approx(2.0 / math.sqrt(3))
    shared = effects.mean("all", [[effect(1.0), effect(3.0)]])
    assert (shared.estimate, shared.se, shared.df) == (2.0, 1.0, 20)
    apart = effects.mean("all", [[effect(1.0)], [effect(3.0)]])
    assert apart.se == pytest.approx(math.sqrt(0.5)) and apart.df == pytest.approx(40)
    for wrong in ((math.nan, 1.0, 5), (1.0, -1.0, 5), (1.0, math.nan, 5), (1, 1, -1)):
        refuses("not an estimate", Effect, "a", *wrong, error=ValueError)


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
        ([9.0, 9.0, -1.0], {"also": ["2"]}, "undecided"),  # another reading differs
    ],
)
def test_whole_intervals_decide(estimates: list[float], keys: dict[str, Any], verdict: str) -> None:
    assert judged(estimates, **keys) == verdict


def test_a_finding_has_its_recorded_verdict_its_effects_and_what_would_turn_it() -> None:
    """One test of all findings, so that all of them are looked at by default."""
    for row in suite.run(list(FINDINGS)).rows:
        assert row.verdict == row.expected_verdict, (row.name, row.measured)
        assert row.turned_by and row.tolerance and row.details["judged from"], row.name
        first = row.effects[0]
        assert {"estimate", "se", "df", "unit", "printed", "margin", "low", "high"} < set(first)
        assert row.protocol == FINDINGS[row.name].protocol


def moved(numbers: Numbers, by: float) -> Numbers:
    """Return numbers that are surely known, with every test moved."""
    known = {
        name: one if " | " in name else dataclasses.replace(one, estimate=by, se=1e-9)
        for name, one in numbers.known.items()
    }
    return dataclasses.replace(numbers, known=known)


def variants(numbers: Numbers) -> list[Numbers]:
    """Return the numbers with mistakes planted: all tests moved, a row or a column scaled."""
    found = [moved(numbers, by) for by in (-1e3, 0.0, 1e3)]
    for side in (0, 1):
        sides = {name: name.split(" | ")[side] for name in numbers.known if " | " in name}
        for wrong in sorted({*sides.values()}):
            for by, factor in ((1e4, 1.0), (-1e4, 1.0), (0.0, 1e6), (0.0, 1e-6)):
                cells = {
                    name: effect(numbers.known[name].estimate * factor + by, 1e-9, 99)
                    for name, at in sides.items()
                    if at == wrong
                }
                found.append(dataclasses.replace(numbers, known={**numbers.known, **cells}))
    return found


@each("finding", {**FINDINGS, **effects.OURS}.values(), ids=lambda finding: finding.name)
def test_a_planted_mistake_in_the_numbers_turns_the_finding(finding: effects.Finding) -> None:
    finding = dataclasses.replace(finding, not_run="", turned="", also=())
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


@each("name", list(tables()))
def test_a_page_of_few_numbers_is_judged_without_a_word_on_the_way(name: str) -> None:
    whole, rng = numbers_of(name), random.Random(name)
    for share in (0.0, 0.5, 0.9) * 2:
        known = {name: one for name, one in whole.known.items() if rng.random() < share}
        for said in effects.said_by(dataclasses.replace(whole, known=known)):
            assert said.measured and said.verdict in VOCABULARY


def test_a_planted_number_turns_what_the_page_says() -> None:
    table, part = tables()["sauc-fig-1"], Part("rep=0", {})

    def said(estimate: float, profile: str = "full") -> Any:
        test = NamedTest("SAUC-SVM minus AUC-SVM", estimate, 0.001, 1e-5, 50, "in AUC")
        results = Results(Run(profile), {}, (part,), {part.key: {}})
        return effects.said_on(table, Page([], [test]), results)[0]

    assert (said(0.5).verdict, said(-0.5).verdict) == ("borne-out", "contradicted")
    quick = said(0.5, "quick")
    assert quick.verdict == "undecided" and effects.QUICK in quick.measured


def test_a_page_and_a_finding_of_one_run_have_the_same_numbers() -> None:
    entries = [Entry("a", "AUC", "0.9 (0.01)", 0.8, 0.1, 10), Entry("a", "best", None, "k = 5")]
    exact = ("n = 5,000: x minus y", 1.2504321, 0.00021, 1e-05, 50)
    tests = [NamedTest(*exact, unit) for unit in ("points", "degrees")]
    found = effects.of_page("t", "here", Page(entries, tests))
    assert next(iter(found.known.items())) == ("a | AUC", Effect("AUC", 0.8, 0.1, 9, printed=0.9))
    assert len(found.known) == 3
    assert found.read("a | AUC").printed == 0.9 and found.read("= 60").estimate == 60.0
    for name in ("n = 5,000: x minus y", "n = 5,000: x minus y: degrees"):
        assert found.read(name) == Effect(name, 1.2504321, 0.00021, 49), "not rounded"
    with pytest.raises(ValueError, match="two tests of a page are called"):
        effects.of_page("t", "here", Page(entries, [*tests, tests[1]]))
    refuses("no paired test", found.read, "n = 1: x minus y", error=KeyError)
    refuses("no cell", found.read, "b | AUC", error=KeyError)


def planted_claim(name: str = "a-claim", **changes: Any) -> Claim:
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
    refuses(word, planted_claim, **changes)


def test_claims_carry_what_a_referee_asks_for() -> None:
    """The words, the place, the regime, what would turn it; how much it matters if wrong."""
    judged = {entry.name for entry in suite.claims() if entry.kind != "finding"}
    assert set(recorded.statements()) == judged
    for entry in suite.claims():
        assert entry.expected_verdict in claim.vocabulary(entry.kind), entry.name
        assert (entry.kind == "suite") == (entry.paper == "aucert"), entry.name
        assert entry.severity or entry.expected_verdict != Verdict.FAILS, entry.name
        if entry.kind in claim.PAPER_KINDS:
            assert entry.quote and entry.place and entry.regime and entry.tuning, entry.name
        else:
            assert entry.expected_verdict != Verdict.FAILS, entry.name
        if entry.kind == "theorem":
            assert entry.turned_by and entry.regime.endswith("."), entry.name
            assert entry.readings or entry.expected_verdict != Verdict.FAILS, entry.name


PAPERS_TEXTS = Path(os.environ.get("AUCERT_PAPERS", "no such folder"))


@pytest.mark.skipif(not PAPERS_TEXTS.is_dir(), reason="AUCERT_PAPERS names the papers' texts")
def test_quotations_stand_in_the_papers() -> None:
    files = PAPERS_TEXTS.glob("*.txt")
    texts = [" ".join(path.read_text(encoding="utf-8").split()) for path in files]
    for entry in suite.claims():
        if entry.kind in claim.PAPER_KINDS:
            assert any(entry.quote in text for text in texts), entry.name


@each(("kind", "verdict"), [("theorem", "borne-out"), ("finding", "holds")])
def test_a_verdict_of_another_kind_is_an_error(kind: str, verdict: str) -> None:
    run: Callable[[Context], Outcome] = lambda context: Outcome(Verdict(verdict), 1.0)  # noqa: E731
    entry = planted_claim(kind=kind, expected_verdict=Verdict(verdict), run=run)
    row = suite.run_claim(entry, 0, "quick")
    assert row.verdict == "error" and not row.as_expected


def test_a_run_can_be_recorded_anew(tmp_path: Path) -> None:
    document = suite.run(["eq-2-of-a-constant-score"]).as_json()
    document["claims"][0]["verdict"] = "fails"
    recorded.write(document, "2026-01-02", tmp_path)
    found = tomllib.loads((tmp_path / "recorded.toml").read_text())
    assert (found["date"], found["profile"]) == ("2026-01-02", "quick")
    changed = {"fails": ["eq-2-of-a-constant-score"]}
    assert found["verdicts"] == recorded.record()["verdicts"] | changed


def test_random_numbers_depend_on_seed_claim_and_purpose_only() -> None:
    draw = Context("a-claim", 3).rng("rows").random()
    assert draw == Context("a-claim", 3, "full").rng("rows").random()
    others = [Context("a-claim", 4), Context("b-claim", 3)]
    assert draw not in [context.rng("rows").random() for context in others]
    assert draw != Context("a-claim", 3).rng("pairs").random()


def test_a_row_comes_back_from_json() -> None:
    figure = Figure("f", "t", "x", "y", (Series.of("s", [1.0, 2.0], [3.0, 4.0]),), "c")
    run = lambda context: Outcome(Verdict.HOLDS, 1.0, figures=(figure,))  # noqa: E731
    row = suite.run_claim(planted_claim(run=run), 0, "quick")
    assert Row.from_document(json.loads(json.dumps(asdict(row)))) == row and row.as_expected


JUDGED = [entry for entry in suite.claims() if entry.kind != "finding"]
FAST = [entry for entry in JUDGED if entry.arithmetic][:6]


@each("entry", first_fast([*FAST, *some((e for e in JUDGED if e not in FAST), 12)], len(FAST)))
def test_at_another_seed_the_verdict_is_the_recorded_one(entry: Claim) -> None:
    row = suite.run_claim(entry, 1, "quick")
    assert row.verdict == row.expected_verdict, (row.measured, row.details)
    assert row.turned_by or entry.kind not in claim.PAPER_KINDS or row.verdict == "not-testable"


def test_limits_have_their_level_in_the_binomial_tail() -> None:
    assert judge.lower_limit(0, 100) == 0.0
    assert stats.binom.sf(39, 100, judge.lower_limit(40, 100)) == pytest.approx(judge.LEVEL)
    assert judge.upper_limit(0, 9, 0.01) == pytest.approx(1 - 0.01 ** (1 / 9))
    assert judge.upper_limit(9, 9, 0.01) == 1.0
    x = 2.0 ** np.arange(8)
    y = 3 * x**-0.5 * np.exp(0.05 * np.random.default_rng(3).standard_normal(8))
    slope = judge.Slope.fit(x, y, np.full(8, 0.05))
    low, high = slope.interval
    assert low < -0.5 < high
    assert high - low == pytest.approx(2 * judge.two_sided() * 0.05 / np.log(2) / np.sqrt(42))

    def cells(bad: int, n_draws: int) -> Any:
        draws = [[SimpleNamespace(violated=["4' (I)"] * (k < bad))] for k in range(400)]
        return [SimpleNamespace(draws=draw * n_draws) for draw in draws]

    for bad in (0, 3):
        few, many = (theorem_4.limit_by_cells("4' (I)", cells(bad, m)) for m in (1, 25))
        assert few == many == judge.upper_limit(bad, 400, theorem_4.DOUBT)


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


@each(("bound", "verdict"), [(2.0, "vacuous"), (0.5, "loose"), (0.09, "holds"), (0.005, "fails")])
def test_the_printed_bound_gets_the_verdict_that_its_size_earns(bound: float, verdict: str) -> None:
    """The error is 0.01: a bound below 1 and below ten times that is not a loose one."""
    side = SimpleNamespace(at_least=bound)
    violated, bounds = (PRINTED,) if bound < 0.01 else (), {PRINTED: side, REALISED: side}
    draw = SimpleNamespace(violated=violated, loss_difference=0.01, bounds=bounds)
    parts: Any = {"draws": [draw], "data": linear(20)}
    cells: Any = [SimpleNamespace(all_rows=whole, **parts) for whole in (True, False)]
    assert theorem_4.next_to_errors(Context("c", 0), cells, PRINTED).verdict == verdict


def test_each_part_of_an_interval_can_be_wrong() -> None:
    objective = lambda w: 1.0 + np.square(w).sum(axis=-1)  # noqa: E731
    honest = {"upper": 1.0, "lower": 1.0 - 1e-6, "gap": 1e-6}
    assert right(np.zeros(2), **honest, objective=objective)
    for lie in ({"upper": 1.0 - 1e-6}, {"upper": 1.0 + 1e-6}, {"lower": 1.0 + 1e-9}, {"gap": 1e-3}):
        assert not right(np.zeros(2), **honest | lie, objective=objective)
    assert [outcome(of).verdict for of in ([True], [True, False])] == ["holds", "fails"]


def test_a_problem_that_is_not_solved_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    right = experiment.CuttingPlane
    one_step = lambda tol: right(tol=tol, max_iter=1)  # noqa: E731
    monkeypatch.setattr(experiment, "CuttingPlane", one_step)
    (row,) = suite.run(["norm-of-the-minimiser"]).rows
    assert row.verdict == "error" and "not solved" in str(row.measured)


def test_the_left_side_on_the_clusters_is_at_least_its_bound() -> None:
    instance = ClusterInstance(n=24, m=4, q=0.5, eta_mixed=0.05, eta_pure=0.1, lam=1.0)
    B, rng = 20_000, np.random.default_rng(0)
    K, positive, landmark = instance.dense()
    bound = instance.left_side(B)
    space = Rows(K[:, [landmark]])
    assert bound > 0.1
    for _ in range(20):
        drawn = pair_problem(space, positive, draw_pairs(positive, B, rng), HINGE, Ridge(1.0))
        loss = drawn.sums(space.scores(optimum(drawn).w)).value
        assert abs(instance.loss - loss) >= bound


def test_two_atoms_in_closed_form_are_the_optimum() -> None:
    p, B = 0.7, 60
    left, constant = theorem_4.two_atoms(p, B, 1, np.random.default_rng(4))
    counts = np.random.default_rng(4).multinomial(B, [p * p, 2 * p * (1 - p), (1 - p) ** 2])
    g = 2 * (2 * p - 1)
    lam = 2 * g / (1 - 4 * np.sqrt(8 * p * (1 - p) / B) / g)
    x = np.array([1.0] * 7 + [-1.0] * 3 + [1.0] * 3 + [-1.0] * 7)
    kinds = [(0, 13), (0, 10), (7, 10)]  # x_i - x_j = 2, 0, -2
    i, j = (np.repeat([kind[side] for kind in kinds], counts) for side in (0, 1))
    full, drawn = (
        pair_problem(Rows(x[:, None]), np.arange(20) < 10, pairs, HINGE, Ridge(lam))
        for pairs in (AllPairs(), PairList(i, j))
    )
    f, f_B = optimum(full).w, optimum(drawn).w
    U, U_B = (task.sums(task.space.scores(w)).value for task, w in ((full, f), (drawn, f_B)))
    assert left[0] == pytest.approx(abs(U - U_B), abs=1e-6)
    assert constant[0] == pytest.approx(1 + 2 * max(abs(f[0]), abs(f_B[0])), abs=1e-6)


def test_a_printed_jaccard_index_may_have_been_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """At F1 = 0.5 the least index is 1/3: 0.333 may be one of 0.3335, 0.332 may not."""

    def too_small() -> list[str]:
        context = Context("sht-jaccard-column", 0)
        return claim.REGISTRY["sht-jaccard-column"].run(context).details["too small"]

    assert len(too_small()) == 11
    monkeypatch.setattr(sht, "F1", {"A": (0.5, 0.5, 0.5, 0.5)})
    monkeypatch.setattr(sht, "JACCARD", {"A": (0.333, 0.3335, 0.332, 0.9)})
    assert too_small() == ["A, k* = 60"]


def test_the_rational_newton_step_is_the_library_s() -> None:
    problem, w = nonlinear.fixture(), (Fraction(0), Fraction(0))
    full = TruncatedNewton(forcing=1e-12, line_search=False)
    for n_iter in range(2, 7):
        w = nonlinear.exact_newton(w)
        solution = replace(full, max_iter=n_iter).solve(problem)
        np.testing.assert_allclose(solution.w, [float(part) for part in w], 1e-9, 1e-12)
        value = float(nonlinear.exact_objective(w))
        assert solution.certificate.primal / problem.lam == pytest.approx(value)


def test_operations_and_the_dual_of_one_pair_are_those_by_hand() -> None:
    v = np.ones(5).view(Counted)
    Counted.operations = 0.0
    _ = np.ones((3, 5)) @ v
    assert Counted.operations == 15
    np.cumsum(v + 1.0)
    assert Counted.operations == 15 + 5 + 5
    for C, alpha in ((1.0, 0.25), (0.1, 0.1)):  # max a - 4 a^2 / 2 on [0, C]
        theta, _ = sauc.solved_dual(np.array([[4.0]]), C)
        assert theta == pytest.approx([alpha], rel=1e-6)
