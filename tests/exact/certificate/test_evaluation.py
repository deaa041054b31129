"""Evaluations of rows in blocks, partitions and groups: pair by pair, any cut, and faulty ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pytest

import naive
from aucert.exact import GroupedRows, OrderedPairs, PartitionedRows, certify, concordance, solve
from aucert.exact.certificate import certificate, evaluation, order, solution
from aucert.exact.certificate.evaluation import (
    Evaluator,
    gather,
    note,
    noted,
    noted_sums,
    noting,
    sums_at,
)
from aucert.exact.errors import CertificateError
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.formulation.request import Request, partitioned_problem
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, SmoothHinge
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem import problem as problems
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem, linear_problem, pair_problem
from aucert.exact.problem.risk import Weights
from aucert.exact.proof.write import write_partitioned_proof
from aucert.exact.spaces import partitions as engine
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.groups import counted_pairs
from aucert.exact.spaces.partitions import LocalEngine, Reply, Task, joined
from cutting import cut, cut_groups, far_rows, meet
from loops import each, refuses, seeds
from naive import exact
from ordered_naive import naive_ordered

LAM, W = 1e-2, np.array([0.5, 0.4, 0.6])
LOSSES = [*ALL_LOSSES.values(), SmoothHinge(0.3)]


def label(loss: Any) -> str:
    return f"{loss.name}{loss.smoothness:.2g}"


def in_blocks() -> Problem:
    X, positive = far_rows(1200, 2, 3)
    return pair_problem(StreamedRows(X - 7.0, 100), positive, AllPairs(), HINGE, Ridge(LAM))


def rows_in(X: Any, positive: Any, parts: int, weight: Any = None) -> PartitionedRows:
    """Cut at random places, the same rows twice among them: some partitions are empty."""
    places = np.random.default_rng(parts).integers(0, X.shape[0] + 1, parts - 1)
    return PartitionedRows(cut(X, positive, weight, sorted(places.tolist())))


def over(space: PartitionedRows, loss: Any = "hinge") -> Any:
    return partitioned_problem(space, None, Request.of(LAM, loss))


def test_what_is_noted_is_of_this_very_problem_and_point() -> None:
    problem, w, s = in_blocks(), np.array([0.7, 0.4]), np.ones(1200)
    with noting():
        Evaluator(problem).at(w, 64, 3)
        sums_at(problem, s, 0.1)
        assert noted(problem, w, 64) is not None and noted_sums(problem, s, 0.1) is not None
        for other, bins, half in ((np.nextafter(w, 1), 64, None), (w, 128, None), (w, 64, 2)):
            assert noted(problem, other, bins, half) is None
        assert noted(replace(problem), w, 64) is None  # another object, maybe of other rows
        for of in ((replace(problem), s, 0.1), (problem, 2 * s, 0.1), (problem, s, 0.2)):
            assert noted_sums(*of) is None
    assert noted(problem, w, 64) is None and noted_sums(problem, s, 0.1) is None


def test_what_a_solver_does_with_its_evaluation_changes_no_certificate() -> None:
    """A faulty solver writes into what it was handed. Were a note false, it would be seen."""
    problem, w = in_blocks(), np.array([0.7, 0.4])
    witness = problem.risk.minorant(Weights(w, 64, 3))
    with noting():
        true = Evaluator(problem).at(w, 64, 3)
        honest = certificate.evaluated_with(problem, w, witness)[0]
    with noting():
        point = w.copy()
        found = Evaluator(problem).at(point, 64, 3)
        point[:], found.pull[:] = 0.0, 0.0
        assert certificate.evaluated_with(problem, w, witness)[0] == honest
        held: Any = noted(problem, w, 64, 3)
        assert not (held.pull.flags.writeable or held.w.flags.writeable)
    with noting(), pytest.raises(CertificateError):
        note(problem, replace(true, conjugate=5.0))
        certificate.Certificate.of(problem, w, witness)


def test_scores_beyond_the_guess_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, w = in_blocks(), np.array([0.7, 0.4])
    fresh = Evaluator(problem).at(w, 64, 3)
    monkeypatch.setattr(evaluation, "score_extent", lambda *_: np.array([0.0, 0.1, 0.0, 0.1]))
    found = Evaluator(problem).at(w, 64, 3)
    assert found.loss == pytest.approx(fresh.loss, abs=1e-9) and found.conjugate == fresh.conjugate


def alpha_by_hand(loss: Any, s: np.ndarray, r: np.ndarray, K: float, half: int) -> np.ndarray:
    """Alpha of every pair of scores, at the bins that the evaluation states."""
    t = s[:, None] - r[None]
    if loss.name in ("square", "exponential"):
        return loss.alpha(t)
    m = K - np.floor(K * s)[:, None] + np.floor(K * r)[None]
    if loss.name == "hinge":
        return np.clip(m / (2 * half) + 0.5, 0.0, 1.0)
    if loss.name == "squared_hinge":
        return np.where(m >= 1, 2 * (1 - t), 0.0)
    alpha = loss.alpha(1 - m / K)
    if loss.name == "logistic":  # on a line within the bins
        alpha = alpha - alpha * (1 - alpha) * (t - (1 - m / K))
    return alpha


@pytest.mark.parametrize("loss", LOSSES, ids=label)
@each("kept", [True, False])
@each("parts", [1, 5])
@each("seed", seeds(5))
def test_two_classes_pair_by_pair(loss: Any, seed: int, parts: int, kept, monkeypatch) -> None:
    """Ties, one positive row, a constant column, weights and a far row among them."""
    if not kept:
        monkeypatch.setattr(engine.Engine, "kept_numbers", 0)
    X, positive = far_rows(50, 2, seed)
    mass = np.random.default_rng(1).random(50) + 0.1 if seed == 3 else np.ones(50)
    if seed == 1:
        X = np.round(2 * X)
    if seed == 2:
        positive, X[:, 1] = np.arange(50) == 17, 3.0
    if seed == 0 and loss.name != "exponential":
        X[7, 0] = 500.0
    space = rows_in(X, positive, parts, mass if seed == 3 else None)
    hinge, w = loss.name == "hinge", np.random.default_rng(seed).normal(size=2)
    found = Evaluator(over(space, loss)).at(w, 32, 3 * hinge)
    scores = ((X - space.offset) * w).sum(axis=1)
    share = np.outer(mass[positive], mass[~positive]).astype(np.longdouble)
    share /= share.sum()
    s, r, Z = scores[positive], scores[~positive], X - space.offset
    alpha = alpha_by_hand(loss, s, r, float(found.bins), found.half)
    tiny = 1e-13 * (1 + float((share * np.abs(alpha)).sum()) * float(np.abs(scores).max()))
    below = float((share * loss.dual(alpha)).sum()) - found.conjugate
    lost = found.excess if loss.name == "logistic" else 0.0
    room = found.conjugate_rounding + tiny
    assert -room <= below <= room + lost
    u, v = (share * alpha).sum(axis=1), (share * alpha).sum(axis=0)
    pull = (u @ Z[positive] - v @ Z[~positive]).astype(float)
    assert np.linalg.norm(pull - found.pull) <= found.pull_error + tiny * (1 + space.reach)
    true = float((share * loss.value(s[:, None] - r[None])).sum())
    curved = 0.0 if found.bins == 1 else loss.smoothness / 2 / found.bins**2
    above = 1 / found.bins if hinge else curved
    assert true - tiny <= found.loss + found.loss_rounding
    assert found.loss <= true + found.loss_rounding + tiny + above
    # What it says of other weights: U(w) >= V - g'w.
    for other in np.random.default_rng(9).normal(size=(5, 2)):
        margins = (Z @ other)[positive][:, None] - (Z @ other)[~positive][None]
        if loss.name == "exponential" and float(margins.min()) < -50:
            continue
        U = float((share * loss.value(margins)).sum())
        room = found.conjugate_rounding + found.pull_error * float(np.linalg.norm(other))
        assert found.conjugate - float(found.pull @ other) - room <= U * (1 + 1e-12) + tiny


@each("loss", ["hinge", *(pytest.param(s, marks=pytest.mark.slow) for s in ("logistic", "square"))])
def test_many_rows_are_solved_and_judged_as_in_memory(loss: str) -> None:
    """A sample is solved first; the same rows are drawn however they are cut."""
    X, positive = far_rows(60_000, 3)
    rows, cuts = rows_in(X, positive, 11), rows_in(X, positive, 40)
    one, other = (space.drawn(0.03, 0.2) for space in (rows, cuts))
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.positive, other.positive)
    assert abs(int(one.positive.sum()) - 0.2 * positive.sum()) <= 1
    found = solve(rows, None, LAM, loss=loss, tol=1e-6)
    assert found.status == solution.Status.CERTIFIED
    meet(found, solve(X, positive, LAM, loss=loss, tol=1e-6))
    audited: Any = [certify(*of, LAM, loss=loss, w=W) for of in ((rows, None), (X, positive))]
    apart, held = audited
    assert held.primal <= apart.primal * (1 + 1e-9) <= held.primal * (1 + 1e-5)
    assert apart.dual == pytest.approx(held.dual, rel=1e-4) and apart.n_pairs == held.n_pairs


@each("radius", [0.0, 1e-3, 0.05])
def test_certain_orders_are_no_more_than_those_in_memory(radius: float) -> None:
    X, positive = far_rows(900)
    few = order.certified_order(over(rows_in(X, positive, 9)), W, radius)
    every = order.certified_order(linear_problem(X, positive, LAM), W, radius)
    assert few.n_pairs == every.n_pairs
    for name in ("n_sure_right", "n_sure_wrong"):
        assert 0.95 * getattr(every, name) - 5 <= getattr(few, name) <= getattr(every, name)


class Faulty(LocalEngine):
    def __init__(self, whole: LocalEngine, fault: str):
        super().__init__(whole.partitions)
        object.__setattr__(self, "fault", fault)

    def run(self, task: Task, key: np.ndarray) -> Reply:
        found, fault = super().run(task, key), self.fault  # type: ignore[attr-defined]
        if fault == "in two replies":
            return joined(task, found, LocalEngine(self.partitions[:1]).run(task, key))
        if not hasattr(found.answer, "rows"):
            return found
        other = LocalEngine(self.partitions[1:2]).run(task, key)
        found.answer.rows -= fault == "a row less"
        found.answer.parts -= fault == "a part less"
        if fault == "unheard":
            del found.digests[1]
        if fault == "twice":
            found.answer = task.merge(found.answer, other.answer)
        if fault == "dropped" and getattr(task.run, "func", None) is gather:
            found.answer.held -= other.answer.held
            found.answer.rows -= other.answer.rows
        if fault == "moved":  # a count in the other class
            found.answer.held[:2, 3, 0] += [1, -1]
        return found


OF_A_SUM = ("twice", "dropped", "unheard", "moved", "a row less", "a part less", "in two replies")


@each("loss", ["hinge", "logistic", "square"])
@each("fault", OF_A_SUM)
def test_a_wrong_sum_over_partitions_is_noticed(fault: str, loss: str) -> None:
    if loss == "square" and fault in ("moved", "dropped"):
        pytest.skip("it has no counts")
    space = rows_in(*far_rows(500, 2), 5)
    space.engine = Faulty(space.engine, fault)
    said, of = "twice" if "two" in fault else "report this", (W[:2], 16, 2 * (loss == "hinge"))
    refuses(said, Evaluator(over(space, loss)).at, *of, error=CertificateError)


class Changing:
    """A partition of one block that changes what it holds at a later reading."""

    name = "a changing one"

    def __init__(self, whole: Any, what: str, after: int):
        self.whole, self.what, self.left = whole, what, after

    def blocks(self) -> Iterator[Any]:
        self.left -= 1
        [block] = self.whole.blocks()
        copied: list[Any] = [x if x is None else x.copy() for x in block]
        columns, positive, *rest = copied
        what = "" if self.left >= 0 else self.what
        if what == "number":
            columns[1, 7] = np.nextafter(columns[1, 7], np.inf)
        if what == "label":
            positive[[np.argmax(positive), np.argmin(positive)]] ^= True
        if what == "row":
            copied = [columns[:, :-1].copy(), positive[:-1], *rest]
        if what == "order":
            columns[:, [3, 4]] = columns[:, [4, 3]]
        changed = type(block)(*copied)
        if what == "group":
            changed.group[0] = changed.group[-1]
        yield changed

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        raise AssertionError


@each("after", [1, 2, 3])
@each("what", ["number", "label", "row", "order", "group"])
def test_a_partition_that_changes_is_noticed(what: str, after: int) -> None:
    X, group, grade = some_groups()
    grouped = cut_groups(X, group, grade, None, places_between(group, 3))
    parts = grouped if what == "group" else cut(*far_rows(500, 2), None, [100, 300])
    rows: Any = GroupedRows if what == "group" else PartitionedRows
    changing = rows([*parts[:2], Changing(parts[2], what, after)])
    refuses(r"partition 2 .* changed", solve, changing, None, LAM, tol=1e-8)


@each("lam", [1e-1, 1e-3, 1e-5])
def test_few_rows_are_proved_as_in_memory_if_they_fit(lam: float, monkeypatch) -> None:
    """Bins stall at a small lam where rows are few: all of them are held then."""
    rows = rows_in(*far_rows(900), 3)
    found = solve(rows, None, lam)
    audit: Any = certify(rows, None, lam, w=found.w)
    assert found.status == solution.Status.CERTIFIED and audit.gap <= 2e-9
    if lam == 1e-5:
        monkeypatch.setattr("aucert.exact.api.solve.STREAM_FROM_NUMBERS", 1000)
        assert solve(rows, None, lam).status == solution.Status.STALLED


def some_groups(n=400, groups=30, seed=0, grades=4) -> tuple[Any, Any, Any]:
    """Rows, groups in ascending order, and grades; rows of whole numbers for odd seeds."""
    rng = np.random.default_rng(seed)
    group, grade = np.sort(rng.integers(0, groups, n)), rng.integers(0, grades, n)
    X = rng.normal(size=(n, 3)) + 0.3 * grade[:, None] + 5.0
    return (np.round(2 * X) if seed % 2 else X), group, grade.astype(float)


def places_between(group: np.ndarray, parts: int) -> list[int]:
    between = np.flatnonzero(np.diff(group)) + 1
    return sorted(np.random.default_rng(parts).choice(between, parts - 1).tolist())


def groups_in(X: Any, group: Any, grade: Any, parts: int, weight: Any = None) -> GroupedRows:
    return GroupedRows(cut_groups(X, group, grade, weight, places_between(group, parts)))


@each("weighted", [False, True])
@each("half", [0, 3])
@each("parts", [1, 5])
@each("seed", seeds(4))
def test_the_hinge_over_groups_pair_by_pair(seed: int, parts: int, half: int, weighted) -> None:
    """Ties in rows and grades, groups of one row and of one grade among them."""
    X, group, grade = some_groups(40, 9, seed, 2 + seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, 40).astype(float) if weighted else None
    space, w = groups_in(X, group, grade, parts, weight), rng.normal(size=3)
    found = Evaluator(over(space)).at(w, 16, half)
    true = naive_ordered(group, grade, weight, weight)
    for other in (w, -w, 3 * w, rng.normal(size=3)):  # a minorant that touches at w nearly
        scores = naive.products(exact(X), exact(other))
        pairs = zip(true.i, true.j, true.weight, strict=True)
        value = sum(c * max(1 - scores[i] + scores[j], Fraction(0)) for i, j, c in pairs)
        room = found.conjugate_rounding + found.pull_error * float(np.linalg.norm(other)) + 1e-14
        assert found.conjugate - float(found.pull @ other) - room <= value
        if other is w:
            assert abs(Fraction(found.loss) - value) <= Fraction(found.loss_rounding)
    assert found.bias <= half / 128 + 1e-9  # a sixteenth of the width
    assert (space.order.mass, space.groups) == (true.mass, np.unique(group).size)
    counts = np.ones(40) if weight is None else weight
    assert counted_pairs(group, grade, counts) == (true.mass, len(true.i))
    held = concordance(OrderedPairs(group, grade, weight, weight), X @ w).value
    assert order.group_concordance(space, w) == pytest.approx(held, abs=1e-13)


def test_sums_over_groups_that_cannot_be_right_are_refused(monkeypatch) -> None:
    space = groups_in(*some_groups(), 3)
    monkeypatch.setattr(space.order, "mass", space.order.mass + 1)
    refuses("3 partitions", Evaluator(over(space)).at, np.ones(3), 16, 1, error=CertificateError)


@pytest.mark.slow
@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_sample_of_whole_groups_starts_many_rows(loss: str, monkeypatch) -> None:
    """Here rows in partitions solve it: few are held, and none after."""
    monkeypatch.setattr(problems, "LEAST_ROWS", 500)
    monkeypatch.setattr("aucert.exact.api.solve.STREAM_FROM_NUMBERS", 1)
    monkeypatch.setattr(GroupedRows, "all_rows", lambda _: pytest.fail("all rows were fetched"))
    X, group, grade = some_groups(30_000, 1500)
    found = solve(groups_in(X, group, grade, 20), None, LAM, loss=loss, tol=1e-6)
    assert (found.status, found.method) == (solution.Status.CERTIFIED, "descent")
    meet(found, solve(X, grade, LAM, qid=group, loss=loss, tol=1e-6))


def test_what_partitions_cannot_do_is_said(tmp_path) -> None:
    X, positive = far_rows(100, 2)
    rows, bad = rows_in(X, positive, 3), X.copy()
    bad[50, 1] = np.nan
    far = PartitionedRows(cut(np.array([[0.0], [2e3], [1e3]]), [True, False, False], None, [1]))
    Z, group, grade = some_groups()
    groups, weights = groups_in(Z, group, grade, 3), Weights(np.zeros(2), 64, 1)
    of_groups = solve(groups, None, 1e-1, tol=1e-4)
    two = [*cut(X, positive, None, []), *cut(X[:, :1], positive, None, [])]
    refused: list[tuple[Any, str]] = [
        (lambda: solve(rows, None, LAM, kernel="rbf"), "linear problems"),
        (lambda: solve(rows, positive, LAM), "leave y, positive and sample_weight out"),
        (lambda: solve(rows, None, LAM, method="qp"), "solved by descent"),
        (lambda: certify(rows, None, LAM, scores=np.zeros(100)), "with weights"),
        (lambda: rows_in(X, positive, 3, np.full(100, -1.0)), "weights are >= 0"),
        (lambda: solve(rows_in(X, positive, 3, positive * 1.0), None, 1.0), "each class needs"),
        (lambda: solve(rows_in(X, positive | True, 2), None, LAM), "all 100 rows are positive"),
        (lambda: PartitionedRows(cut(X[:0], positive[:0], None, [])), "all partitions are empty"),
        (lambda: PartitionedRows(two), "columns"),
        (lambda: PartitionedRows(cut(X, positive[:99], None, [])), "99 labels"),
        (lambda: rows_in(bad, positive, 3), "partition 1, row 42, column 1"),
        (lambda: over(rows, "logistic").risk.minorant(weights), "a width"),
        (lambda: certify(far, None, 1.0, loss="exponential", w=[1.0], refine=False), "overflows"),
        (lambda: groups.drawn(0.5, 0.5), "no class"),
        (lambda: write_partitioned_proof(tmp_path, groups, 0.1, of_groups), "no proof"),
        (lambda: ROCSVM(LAM).fit(groups, None), "a classifier needs two kinds of labels"),
        (lambda: solve(groups, grade, 1e-1), "labels and weights lie with the rows"),
    ]
    for asked, said in refused:
        refuses(said, asked)


def test_what_cannot_be_ordered_is_refused() -> None:
    X, group, grade = some_groups()
    words, at = np.array([f"q{g:03d}" for g in group], dtype=object), np.arange(400)
    mixed, middle = np.random.default_rng(0).permutation(400), int(np.flatnonzero(group == 3)[1])
    ones, types = np.ones(400), np.array([1, "a"] * 200, dtype=object)
    refused: list[tuple[str, tuple[Any, Any, Any], list[int], Any]] = [
        ("partition 0 and in partition 1", (X, group, grade), [middle], None),
        ("is split: .* sort", (X[mixed], words[mixed], grade[mixed]), [100, 200, 300], None),
        ("row 7 of partition 1 is nan", (X, group, np.where(at == 17, np.nan, 1)), [10], None),
        ("no pair is ordered", (X, group, ones), [], None),
        ("the group of row 3", (X, np.where(at == 3, np.nan, group), grade), [10], None),
        ("all of one type", (X, types, grade), [10], None),
        ("must be whole numbers", (X, group, grade), [], ones / 2),
        ("more than can be counted exactly", (X, group, grade), [], ones * 2.0**25),
    ]
    for said, columns, places, weight in refused:
        refuses(said, GroupedRows, cut_groups(*columns, weight, places))
    refuses("20 groups", GroupedRows, [(X, group[:20], grade)])
