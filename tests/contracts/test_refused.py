"""What is refused, with a word of the message; what first-time users tripped over."""

import inspect
import io
import sys
from ast import literal_eval
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.progress import Progress
from sklearn.base import clone

from aucert import approx, exact
from aucert.exact import AllPairs, C_from_lam, InputError, OrderedPairs, Ridge, Sign, linear_problem
from aucert.exact.estimators import thresholds
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import compare_models, delong, uno_concordance
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.problem.risk import Alpha, Mean
from aucert.exact.problem.tail import Tail, Worst, tail_risk
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.qp import LIMITS, QP
from aucert.validation.commands import problems
from command import Command
from loops import each, refuses
from on_disk import write
from own_parts import Box

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
SEEDED = [one for one in vars(approx).values() if inspect.isclass(one) and hasattr(one, "fit")]
SEEDED = [one for one in SEEDED if "random_state" in inspect.signature(one).parameters]


def thresholding(k: Any = 2, **parameters: Any) -> None:
    approx.StochasticHardThresholding(k, **parameters)


def by_stoiht(k: Any = 3, **parameters: Any) -> None:
    approx.stoiht(X, Y, k, **parameters)


def by_hsg_ht(k: Any = 3, **parameters: Any) -> None:
    approx.hsg_ht(X, Y, k, **parameters)


def rbf(**parameters: Any) -> None:
    exact.SAUCSVM(kernel="rbf", **parameters).fit(X, Y)


def survival(**parameters: Any) -> None:
    exact.SurvivalSVM(**parameters).fit(X, 1.0 + np.arange(60) % 7, Y)


# What each of them is called with, one parameter at a time.
REFUSED: dict[Callable[..., Any], str] = {
    exact.ROCSVM: "lam=0.0 lam=-1.0 lam=1e999 lam='small' lam=None loss='cubic' loss=None"
    " method='simplex' method=None method='quasi-newton' tol=0.0 tol='tight' max_time=0"
    " max_time='short' threshold='best' threshold=None l1=-1.0",
    exact.SAUCSVM: "structure=-1.0 structure='big' kernel='poly'"
    " pairs='nearest:0' pairs='some' anchor_filter='B'",
    exact.ROCSVMCV: "lams=[] lams=['a'] cv=1 cv='many' cv=None choice='worst' n_lams=0 cv_tol=0.0"
    " structure=-1.0 random_state='seed'",
    rbf: "gamma=0.0",
    survival: "lam=0.0 tol=0.0",
    approx.FSAUC: "max_passes=0 step='x' threshold='x'",
    approx.IncompleteROCSVM: "lam=0.0 lam='small' n_pairs='all' n_pairs=0 loss='logistic'"
    " optimizer='adam' step=-1.0 decay=2.0 max_iter=0 tol=-1e-3 threshold='best'",
    approx.IncompleteSAUCSVM: "structure=-1.0 structure='much' max_time=0.0",
    approx.NBAUC: "lam=0.0 lam='small' kernel='precomputed' gamma=0.0 n_landmarks=1.5"
    " landmarks='grid' rcond=1.0 tol=0.0 max_iter=0 max_time=0.0 threshold='best'",
    approx.NSAUC: "lam=0.0 gamma=-1.0 n_landmarks=0 landmarks='grid' max_epochs=0 t0=0.0 rskip=0"
    " tol=-1.0 max_time=0.0 threshold='best'",
    approx.Nystrom: "kernel='precomputed' gamma=-1.0 n_landmarks=0 landmarks='grid' rcond=2.0",
    approx.OAM: "C=0.0 C='1' update='none' n_buffer=0 max_epochs=0 max_time=-1",
    approx.SOLAM: "radius=0 share='x'",
    approx.SPAM: "l1=-1 schedule='x'",
    approx.SubsampledRankSVM: "share=0.0 share=1.5 max_rows=1 lam=0.0",
    approx.linear_svm: "C=0.0",
    approx.kernel_svm: "C=0.0 kernel='poly' gamma=-1.0",
    approx.rfauc: "gamma=0.0 n_features=0 seed=-1 seed='one' seed=0.5 seed=True",
    approx.noam: "seed=-1 seed='one' seed=0.5 seed=True",
    approx.nsolam: "seed=-1 seed='one' seed=0.5 seed=True",
    approx.TruncatedNewton: "tol=0.0 max_iter=0 forcing=1.0 forcing=0.0 max_cg=0 max_time=-1.0"
    " gradient_tol=-1.0 drawn=-1",
    approx.Adamax: "step=0.0 step='fast' decay=1.5 tol=-1.0 step_tol=-1.0 max_iter=0 max_iter=2.5"
    " keep='first' max_time=0.0 beta1=1.0 beta2=-0.1 variant='roclab'",
    thresholding: "k=0 k=2.0 n_blocks=0 block_size=0 step=0.0 step='long' max_epochs=0 tol=-1.0"
    " keep='first' mode='wrong' max_time=0.0",
    by_stoiht: "n_blocks=0 step='x' step=-1 max_epochs=0 intercept='x' intercept=1e999 k=0"
    " positive=3",
    by_hsg_ht: "first=0 ratio=1.0 ratio=0 step='x' step=0 max_passes=0 mode='x' k=0 intercept='x'",
}


@each("call", REFUSED, ids=lambda call: call.__name__)
def test_a_parameter_out_of_its_range_is_refused_by_its_name(call: Callable[..., Any]) -> None:
    for word in REFUSED[call].split():
        name, _, value = word.partition("=")
        with pytest.raises(InputError, match=name):
            made = call(**{name: literal_eval(value)})
            if hasattr(made, "fit"):
                clone(made).fit(X, Y)
            pytest.fail(f"{word} is taken")


@each("kind", SEEDED, ids=lambda kind: kind.__name__)
def test_a_negative_seed_is_refused_by_its_name(kind: type) -> None:
    refuses("random_state must be >= 0, not -1", kind(random_state=-1).fit, X, Y)


def test_parameters_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InputError):
        approx.IncompleteROCSVM(n_pairs=2000, replace=False).fit(X, Y)
    with pytest.raises(InputError):
        approx.Nystrom(landmarks="stratified").fit(X)
    with pytest.raises(InputError):
        approx.SPAM(step=1e6, schedule="constant").fit(X, Y)
    refuses("not both", thresholding, n_blocks=2, block_size=3)
    refuses("61 blocks", by_stoiht, n_blocks=61)
    refuses("a Problem", exact.solve_problem, 3)
    for bad in ({"lam": 0.0}, {"t0": 0.0}, {"rskip": 0}):
        with pytest.raises(InputError):
            approx.NSAUC(**bad).partial_fit(X, Y, classes=[False, True])
    assert approx.rfauc(seed=np.random.RandomState(0)).fit(X, Y).score(X, Y) > 0.5
    assert approx.SHTAUC(k=1).fit(X, Y).score(X, Y) > 0.5


Call = Callable[[], object]
SIX, PLUS = np.zeros(6), np.arange(6) < 3
FOUR, DIED = np.arange(4.0), np.ones(4, dtype=bool)
EYE, LABELS = np.eye(4), np.array([1, 0, 1, 0])
ROWS_RNG = np.random.default_rng(5)
ROWS, POSITIVE = ROWS_RNG.normal(size=(20, 4)), np.arange(20) % 3 == 0
ALL, TWO = AllPairs().on(POSITIVE), Fraction(2)
SQUARED, HINGED = Mean(ALL, SQUARE), Mean(ALL, HINGE)
LINEAR, SOLUTION = linear_problem(EYE, LABELS, 1.0), exact.solve(EYE, LABELS, 1.0)
CURVED = linear_problem(EYE, LABELS, 1.0, SQUARED_HINGE)
STRUCTURED = formulate(EYE, LABELS, Request.of(1.0, structure=2.0))
MANY = linear_problem(np.zeros((300, 2)), np.arange(300) % 2, 1.0)
TINY: Any = np.zeros((2, 2))


def ordered(key: Any, group: Any = None, **words: Any) -> Call:
    return lambda: OrderedPairs(group, key, **words)


def nearest(**words: Any) -> Call:
    return lambda: nearest_pairs(np.zeros((3, 1)), np.array([True, False, False]), **words)


def with_penalty(penalty: Any, space: Any = None) -> Call:
    return lambda: exact.Problem(space or exact.Rows(ROWS), Mean(ALL, SQUARED_HINGE), penalty)


STATISTICS: list[tuple[str, Call]] = [
    ("row 1", lambda: auc(np.array([0.0, np.nan]), np.array([True, False]))),
    ("finite", lambda: exact.concordance_index(FOUR, DIED, [0, 1, np.nan, 2])),
    ("tied_tol", lambda: exact.concordance_index(FOUR, DIED, np.zeros(4), -1.0)),
    ("no pair", lambda: exact.concordance_index(FOUR, ~DIED, np.zeros(4))),
    ("sign", lambda: uno_concordance(-FOUR, DIED, FOUR)),
    ("gain", lambda: exact.concordance(OrderedPairs(None, FOUR, gain=FOUR), np.zeros(4))),
    ("groups as units", lambda: exact.concordance(OrderedPairs(None, FOUR), FOUR, units="groups")),
    ("units", lambda: exact.concordance(OrderedPairs(None, FOUR), FOUR, units="queries")),
    ("same rows", lambda: compare_models(delong(SIX, PLUS), delong(SIX[1:], PLUS[1:]))),
    ("level", lambda: delong(SIX, PLUS).interval(1.0)),
    ("two rows", lambda: delong(SIX, np.arange(6) < 1)),
    ("fpr_max", lambda: exact.partial_auc(SIX, PLUS, 0.0)),
]
PAIRS: list[tuple[str, Call]] = [
    ("no pair is ordered", ordered([1, 1])),
    ("no pair is ordered", ordered([1, 2], upper=[0, 0], lower=[2.0**50, 3])),
    *(("no pair", ordered([0, 1], [0, 1], upper=[w, w], lower=[w, w]))
      for w in (0.1, 1e300, 2.0**60, 3.0)),
    ("key of row 1", ordered([1, np.nan])),
    ("one number per row", ordered([])),
    ("upper of row 1", ordered([1, 2], upper=[1, -1])),
    ("2 rows", ordered([1, 2], lower=[1])),
    ("gain must be whole", ordered([1, 2], gain=[1, 0.5])),
    ("share must be", ordered([1, 2], share="all")),
    ("differs", ordered([1, 2], share=[1, 2])),
    ("not both", ordered([1, 2], share=[1, 1], gain=[0, 1])),
    ("form must be", ordered([1, 2], form="quick")),
    # The first product is 2^30 modulo 2^64.
    ("gains times weights", ordered(
        [2, 1, 0], upper=[2**34 + 1, 1, 0], lower=[0, 0, 1], gain=[2**30, 2**30, 0])),
    ("0 or 1", lambda: OrderedPairs(None, FOUR, upper=[0, 1, 2, 1]).deficiency(FOUR, FOUR)),
    (".", lambda: exact.survival_pairs([1, np.inf], [1, 0])),
    (".", lambda: exact.survival_pairs([1, 2], [0, 0])),
    *(("whole number >= 1", nearest(k=k)) for k in (0, 2.0, True)),
    ("anchor_filter", nearest(k=1, anchor_filter="B")),
]  # fmt: skip
BOTH = np.array([True, False])
RATES = {k: getattr(thresholds, f"threshold_for_{k}") for k in ("sensitivity", "specificity")}
THRESHOLDS: list[tuple[str, Call]] = [
    ("equal-error, midpoint, youden, accuracy", lambda: thresholds.get_rule("best")),
    *(
        (word, lambda rule=rule, of=of: rule(*of))
        for rule in (
            *thresholds.RULES.values(),
            *(partial(rule, **{name: 0.8}) for name, rule in RATES.items()),
        )
        for word, of in (
            ("both classes", (np.zeros(2), np.array([True, True]), None)),
            ("boolean", (np.zeros(2), np.array([1, 0]), None)),
            ("finite", (np.array([0.0, np.nan]), BOTH, None)),
            ("2 rows", (np.zeros(3), BOTH, None)),
            ("positive weight", (np.zeros(2), BOTH, np.array([1.0, 0.0]))),
        )
    ),
    *(
        (name, partial(rule, SIX, PLUS, **{name: bad}))
        for name, rule in RATES.items()
        for bad in (0.0, 1.1, np.nan, "all", True)
    ),
]
RISKS: list[tuple[str, Call]] = [
    ("never grows with the margin: square does", lambda: Tail(SQUARED, TWO, TWO)),
    ("without weights", lambda: Tail(Mean(AllPairs(np.ones(20)).on(POSITIVE), HINGE), TWO, TWO)),
    ("kq = 15", lambda: Tail(HINGED, TWO, Fraction(15))),
    *(
        (r"fpr_max|tpr_min", lambda of=of: tail_risk(ALL, HINGE, *of))
        for of in ((0.0, 0.0), (1.1, 0.0), (0.5, 1.0), (0.5, -0.1), (float("nan"), 0.0))
    ),
    ("needs means", lambda: Worst(())),
    ("same rows", lambda: Worst((HINGED, Mean(AllPairs().on(POSITIVE[:-1]), HINGE)))),
    ("one loss", lambda: Worst((HINGED, SQUARED))),
    ("give the scores", lambda: Worst((HINGED,)).minorant(Alpha(np.ones(3)))),
    ("C must be > 0", lambda: exact.lam_from_C(0.0, 10)),
    ("n_pairs", lambda: exact.lam_from_C(1.0, 0)),
    ("share_pos", lambda: exact.lam_from_C(1.0, 10, "sht-authors")),
    ("lam must be > 0", lambda: C_from_lam(-1.0, 10)),
]
PENALTIES: list[tuple[str, Call]] = [
    ("group of feature 1 is nan", lambda: exact.GroupLasso(0.3, 0.2, np.array([0.0, np.nan]))),
    ("mixed types", lambda: exact.GroupLasso(0.3, 0.2, np.array([None, 1]))),
    # A sign is a list of columns: 1, 1, 1 is more likely meant as one number per feature.
    ("named twice", lambda: Sign(Ridge(0.3), np.array([1, 1, 1]))),
    ("flatnonzero", lambda: Sign(Ridge(0.3), np.array([True, False]))),
    *(
        (r"linear rows", with_penalty(penalty, space))
        for penalty in (exact.ElasticNet(0.3, 0.2), exact.GroupLasso(0.3, 0.2, np.arange(4) // 2))
        for space in (exact.Gram(ROWS @ ROWS.T), exact.StreamedRows(ROWS))
    ),
    ("4 features", with_penalty(Sign(Ridge(0.1), np.array([4])))),
    ("4 features", with_penalty(Sign(exact.GroupLasso(0.1, 0.1, np.zeros(5))))),
    ("ridge penalty, not ElasticNet", lambda: with_penalty(exact.ElasticNet(0.1, 0.1))().lam),  # type: ignore[attr-defined]
    ("l1 must be > 0", lambda: exact.ElasticNet(0.0, 0.0)),
    ("goes with", lambda: Sign(Box(0.1, -1, 1))),  # type: ignore[arg-type]
]
OTHERS: list[tuple[str, Call]] = [
    ("square loss", lambda: SquaredLossSolver().solve(LINEAR)),
    ("squared hinge, not hinge", lambda: approx.TruncatedNewton().solve(LINEAR)),
    ("needs rows", lambda: approx.TruncatedNewton().solve(CURVED.over(exact.Gram(EYE)))),
    ("4 coordinates", lambda: approx.TruncatedNewton().solve(CURVED, np.zeros(3))),
    (rf"22500 pairs .* {LIMITS['teaching']} .*cutting-plane", lambda: QP("teaching").solve(MANY)),
    (".", lambda: QP(backend="GUROBI")),  # type: ignore[arg-type]
    ("for the hinge", lambda: QP().solve(linear_problem(ROWS, POSITIVE, 1.0, "square"))),
    *(
        (word, lambda problem=problem: exact.exact_certificate(problem, SOLUTION))
        for word, problem in (
            ("exact mode", replace(LINEAR, risk=Mean(OrderedPairs(None, FOUR), HINGE))),
            ("kernel", LINEAR.over(exact.Gram(EYE))),
            ("structure", STRUCTURED.meant),
            ("structure", STRUCTURED.work),
            ("in blocks", LINEAR.over(exact.StreamedRows(EYE))),
            ("the weights shape", linear_problem(EYE[:, :2], LABELS, 1.0)),
            ("finite scores|are needed", linear_problem(EYE[:3], LABELS[:3], 1.0)),
        )
    ),
    ("must be", lambda: exact.PartitionedRows([(TINY,)])),  # type: ignore[list-item]
    ("must be", lambda: exact.GroupedRows([(TINY, [0, 1])])),  # type: ignore[list-item]
    ("bool", lambda: exact.PartitionedRows([(TINY, [0, 1])])),
    ("matrix", lambda: exact.GroupedRows([(3.0, [0, 1], [0, 1])])),  # type: ignore[list-item]
    ("3 labels", lambda: exact.PartitionedRows([(TINY, [False, True, True])])),
]  # fmt: skip


@each(("word", "call"), STATISTICS + PAIRS + THRESHOLDS + RISKS + PENALTIES + OTHERS)
def test_it_is_refused(word: str, call: Call) -> None:
    refuses(word, call, error=(InputError, exact.TooLargeError))


# What first-time users tripped over: each message or line says what to do next

SOME_RNG = np.random.default_rng(5)
MARKED = np.arange(40) % 3 == 0
SOME = SOME_RNG.normal(size=(40, 2)) + MARKED[:, None]


def test_a_row_number_as_a_feature_is_warned_about_in_folders(command: Command) -> None:
    Path("data").mkdir()
    columns = {"a": SOME[:, 0], "b": SOME[:, 1], "id": np.arange(40), "label": MARKED.astype(int)}
    for k, rows in enumerate([slice(0, 0), slice(0, 9), slice(9, 40)]):
        part = {name: values[rows] for name, values in columns.items()}
        write(f"data/part-{k}.parquet", part)
    command("solve data --lam 0.1 --target label")
    assert "id" in command.notes and "row" in command.notes


def test_progress_says_what_is_done_and_no_bar_stands_full(command: Command, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)

    def shown(*words: str) -> str:
        terminal.seek(terminal.truncate(0))
        monkeypatch.setattr(sys, "stderr", terminal)
        command(*words)
        return terminal.getvalue()

    np.savez("few.npz", X=SOME, y=MARKED)
    found = shown("solve few.npz --lam 0.1")
    assert "first step over 40 rows" in found and "sample" not in found
    assert "cross-validation in 2 folds" in shown("path few.npz --n-lams 2 --cv 2")
    monkeypatch.setattr(problems, "FEWEST", 40)
    monkeypatch.setattr(problems, "ROWS_PER_COORDINATE", 1)
    assert "a sample of the 40 rows" in shown("solve few.npz --lam 0.1")
    Path("data").mkdir()
    for k in range(2):
        write(f"data/{k}.parquet", {"a": SOME[:, 0], "y": MARKED.astype(int)})
    full, update = [], Progress.update

    def drawn(self: Progress, *given: Any, **more: Any) -> None:
        update(self, *given, **more)
        full.append(self.tasks[0].finished)

    monkeypatch.setattr(Progress, "update", drawn)
    assert shown("solve data --lam 0.1") and full and not any(full)
