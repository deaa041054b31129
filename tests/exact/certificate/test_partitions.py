"""Evaluations over partitions: pair by pair, any way to cut the rows, and faulty ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from aucert.exact import (
    GroupedRows,
    Minorant,
    OrderedPairs,
    PartitionedRows,
    certify,
    concordance,
    linear_problem,
    solve,
)
from aucert.exact.certificate.evaluation import Evaluator, gather
from aucert.exact.certificate.order import certified_order, group_concordance
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.formulation.partitioned import partitioned_problem
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import ALL_LOSSES, SmoothHinge
from aucert.exact.problem import subsample
from aucert.exact.problem.problem import Problem
from aucert.exact.proof.write import write_partitioned_proof
from aucert.exact.spaces import partitions as engine
from aucert.exact.spaces.groups import counted_pairs
from aucert.exact.spaces.partitions import LocalEngine, Reply, Task, joined
from cutting import cut, cut_groups
from loops import each, seeds
from naive import exact, pulled
from ordered_naive import naive_ordered

LOSSES = [*ALL_LOSSES.values(), SmoothHinge(0.3)]
W = np.array([0.5, 0.4, 0.6])


def label(loss: Any) -> str:
    return f"{loss.name}{loss.smoothness:.2g}"


def some_rows(
    n: int = 600, d: int = 3, seed: int = 0, whole: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    positive[:2] = True, False
    X = rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0
    return (np.round(2 * X) if whole else X), positive


def rows_in(X: Any, positive: Any, parts: int, weight: Any = None) -> PartitionedRows:
    """Cut at random places, the same rows twice among them: some partitions are empty."""
    places = np.random.default_rng(parts).integers(0, X.shape[0] + 1, parts - 1)
    return PartitionedRows(cut(X, positive, weight, sorted(places.tolist())))


def over(space: PartitionedRows, loss: Any = "hinge", lam: float = 1e-2) -> Problem:
    problem = partitioned_problem(space, None, Request.of(lam, loss))
    assert problem is not None
    return problem


def same_optimum(one: Any, other: Any) -> None:
    """Both values are of one optimum, as far as is proved of either."""
    room = one.certificate.gap + other.certificate.gap
    assert abs(one.certificate.primal - other.certificate.primal) <= room


def alpha_by_hand(loss: Any, s: np.ndarray, r: np.ndarray, K: float, half: int) -> np.ndarray:
    """Return alpha of every pair of scores, at the bins that the evaluation states."""
    t = s[:, None] - r[None]
    if loss.name in ("square", "exponential"):
        return loss.alpha(t)
    m = K - np.floor(K * s)[:, None] + np.floor(K * r)[None]
    if loss.name == "hinge":
        return np.clip(m / (2 * half) + 0.5, 0.0, 1.0)
    return (
        np.where(m >= 1, 2 * (1 - t), 0.0)
        if loss.name == "squared_hinge"
        else loss.alpha(1 - m / K)
    )


@pytest.mark.parametrize("loss", LOSSES, ids=label)
@each("kept", [True, False])
@each("parts", [1, 5])
@each("seed", seeds(5))
def test_an_evaluation_is_that_of_its_pairs_within_its_bounds(
    loss: Any, seed: int, parts: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties, one positive row, a constant column, weights and a far row among them."""
    if not kept:
        monkeypatch.setattr(engine, "KEPT_NUMBERS", 0)
    X, positive = some_rows(50, 2, seed, whole=seed == 1)
    weight = np.random.default_rng(1).random(50) + 0.1 if seed == 3 else None
    if seed == 2:
        positive[:] = False
        positive[17], X[:, 1] = True, 3.0
    if seed == 0 and loss.name != "exponential":
        X[7, 0] = 500.0
    space, hinge = rows_in(X, positive, parts, weight), loss.name == "hinge"
    w = np.random.default_rng(seed).normal(size=2)
    found = Evaluator(over(space, loss)).at(w, 32, 3 * hinge)
    scores = np.zeros(50)
    for k in range(2):
        scores += (X[:, k] - space.offset[k]) * w[k]
    mass = np.ones(50) if weight is None else weight
    share = np.outer(mass[positive], mass[~positive]).astype(np.longdouble)
    share /= share.sum()
    s, r, Z = scores[positive], scores[~positive], X - space.offset
    alpha = alpha_by_hand(loss, s, r, float(found.bins), found.half)
    tiny = 1e-13 * (1 + float((share * np.abs(alpha)).sum()) * float(np.abs(scores).max()))
    assert abs(float((share * loss.dual(alpha)).sum()) - found.total) <= found.total_rounding + tiny
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
        room = found.total_rounding + found.pull_error * float(np.linalg.norm(other))
        assert found.total - float(found.pull @ other) - room <= U * (1 + 1e-12) + tiny


@pytest.mark.slow
@each("weighted", [False, True])
@each("loss", LOSSES, ids=label)
def test_counts_are_the_same_bits_for_any_partitioning(loss: Any, weighted: bool) -> None:
    X, positive = some_rows(3000, 4)
    weight = np.random.default_rng(1).integers(0, 4, 3000).astype(float) if weighted else None
    w, found = np.array([1.0, -2.0, 0.5, 0.1]), []
    for parts in (1, 7, 1000):
        space = rows_in(X, positive, parts, weight)
        found.append((space, Evaluator(over(space, loss)).at(w, 64, 2 * (loss.name == "hinge"))))
    first, stated = found[0]
    for space, one in found[1:]:
        np.testing.assert_array_equal(space.offset, first.offset)
        assert space.reach == first.reach
        if loss.name in ("squared_hinge", "square", "exponential"):  # sums of scores, not counts
            assert one.total == pytest.approx(stated.total, rel=1e-12)
        else:
            assert one.total == stated.total
            np.testing.assert_array_equal(space.last_range[1], first.last_range[1])
        room = one.pull_error + stated.pull_error
        assert np.linalg.norm(one.pull - stated.pull) <= room < 1e-6


def test_the_sample_is_the_same_however_rows_are_cut() -> None:
    X, positive = some_rows(3000, 2)
    one, other = (rows_in(X, positive, parts).drawn(0.03, 0.2) for parts in (1, 40))
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.positive, other.positive)
    assert abs(int(one.positive.sum()) - 0.2 * positive.sum()) <= 1


@each("loss", ["hinge", *(pytest.param(s, marks=pytest.mark.slow) for s in ("logistic", "square"))])
def test_many_rows_are_solved_and_certified(loss: str) -> None:
    """A sample is solved first; the weights' certificate is that in memory."""
    X, positive = some_rows(60_000, 3)
    rows = rows_in(X, positive, 11)
    found = solve(rows, None, 1e-2, loss=loss, tol=1e-6)
    assert found.status == Status.CERTIFIED
    same_optimum(found, solve(X, positive, 1e-2, loss=loss, tol=1e-6))


def test_certify_says_of_partitions_what_it_says_of_rows() -> None:
    X, positive = some_rows(2000)
    rows = rows_in(X, positive, 9)
    apart, held = (certify(*one, 1e-2, w=W, tol=1e-6) for one in ((rows, None), (X, positive)))
    assert held.primal is not None and apart.primal is not None
    assert held.primal <= apart.primal <= held.primal * (1 + 1e-5)
    assert apart.dual == pytest.approx(held.dual, rel=1e-4) and apart.n_pairs == held.n_pairs
    one, other = (
        certify(*given, w=W, rival="roclab", C=1.0, tol=1e-4).rival_primal
        for given in ((rows, None), (X, positive))
    )
    assert one == pytest.approx(other, rel=1e-4)


@each("radius", [0.0, 1e-3, 0.05])
def test_certain_orders_are_no_more_than_those_in_memory(radius: float) -> None:
    X, positive = some_rows(900)
    few = certified_order(over(rows_in(X, positive, 9)), W, radius)
    every = certified_order(linear_problem(X, positive, 1e-2), W, radius)
    assert few.n_pairs == every.n_pairs
    for name in ("n_sure_right", "n_sure_wrong"):
        assert 0.95 * getattr(every, name) - 5 <= getattr(few, name) <= getattr(every, name)


class Faulty(LocalEngine):
    """An engine that makes one mistake."""

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
        if fault == "a row less":
            found.answer.rows -= 1
        if fault == "unheard":
            del found.digests[1]
        if fault == "twice":
            found.answer = task.merge(found.answer, other.answer)
        if fault == "dropped" and getattr(task.run, "func", None) is gather:
            found.answer.held -= other.answer.held
            found.answer.rows -= other.answer.rows
        if fault == "moved":  # a count in the other class
            found.answer.held[0, 3, 0] += 1
            found.answer.held[1, 3, 0] -= 1
        return found


SAID = {"in two replies": "partition 0 was counted twice"}


@each("loss", ["hinge", "logistic", "square"])
@each("fault", ["twice", "dropped", "unheard", "moved", "a row less", *SAID])
def test_a_wrong_sum_over_partitions_is_noticed(fault: str, loss: str) -> None:
    if loss == "square" and fault in ("moved", "dropped"):
        pytest.skip("it has no counts")
    space = rows_in(*some_rows(500, 2), 5)
    space.engine = Faulty(space.engine, fault)
    with pytest.raises(CertificateError, match=SAID.get(fault, "report this")):
        Evaluator(over(space, loss)).at(np.array([1.0, 0.5]), 16, 2 * (loss == "hinge"))


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
            at = [np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]
            positive[at] = ~positive[at]
        if what == "row":
            columns, positive = columns[:, :-1].copy(), positive[:-1]
        if what == "order":
            columns[:, [3, 4]] = columns[:, [4, 3]]
        changed = type(block)(columns, positive, *rest)
        if what == "group":
            changed.group[0] = changed.group[-1]
        yield changed

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        raise AssertionError


@each("after", [1, 2, 3, 4])
@each("what", ["number", "label", "row", "order"])
def test_a_partition_that_changes_is_noticed(what: str, after: int) -> None:
    parts = cut(*some_rows(500, 2), None, [100, 300])
    rows = PartitionedRows([*parts[:2], Changing(parts[2], what, after)])
    with pytest.raises(InputError, match=r"partition 2 \(from 0\) changed"):
        solve(rows, None, 1e-2, tol=1e-8)


def test_groups_that_change_between_passes_end_the_work() -> None:
    X, group, grade = some_groups()
    parts = cut_groups(X, group, grade, None, places_between(group, 3))
    parts[1] = Changing(parts[1], "group", 2)
    with pytest.raises(InputError, match=r"partition 1 .* changed"):
        solve(GroupedRows(parts), None, 1e-2)


def test_partitions_of_one_class_or_none_are_fine_and_a_single_class_is_not() -> None:
    X, positive = some_rows(400, 2)
    order = np.argsort(positive, kind="stable")
    X, positive = X[order], positive[order]
    places = [0, 0, 100, int((~positive).sum()), 400]
    found = solve(PartitionedRows(cut(X, positive, None, places)), None, 1e-2, tol=1e-6)
    assert found.status == Status.CERTIFIED
    with pytest.raises(InputError, match="all 400 rows are positive"):
        solve(PartitionedRows(cut(X, np.ones(400, bool), None, [9])), None, 1e-2)
    with pytest.raises(InputError, match="all partitions are empty"):
        PartitionedRows(cut(X[:0], positive[:0], None, []))


class Own:
    """A loss that is not one of ours."""

    name, lipschitz, smoothness, nonincreasing = "own", 1.0, 0.25, True

    def __getattr__(self, part: str) -> Any:
        return getattr(ALL_LOSSES["logistic"], part)


def test_what_partitions_cannot_do_is_said() -> None:
    X, positive = some_rows(100, 2)
    rows, bad = rows_in(X, positive, 3), X.copy()
    bad[50, 1] = np.nan
    far = PartitionedRows(cut(np.array([[0.0], [2e3], [1e3]]), [True, False, False], None, [1]))
    refused: dict[Any, str] = {
        (lambda: solve(rows, None, 1e-2, kernel="rbf")): "linear problems",
        (lambda: solve(rows, None, 1e-2, structure=1.0)): "linear problems",
        (lambda: solve(rows, None, 1e-2, l1=0.1)): "linear problems",
        (lambda: solve(rows, positive, 1e-2)): "leave y, positive and sample_weight out",
        (lambda: solve(rows, None, 1e-2, method="qp")): "solved by descent",
        (lambda: solve(rows, None, 1e-2, loss=Own())): "sums of the loss 'own'",  # type: ignore
        (lambda: certify(rows, None, 1e-2, scores=np.zeros(100))): "with weights",
        (lambda: rows_in(X, positive, 3, np.full(100, -1.0))): "weights are >= 0",
        (lambda: rows_in(X, positive, 3, np.full(100, np.nan))): "weights are >= 0",
        (lambda: solve(rows_in(X, positive, 3, positive * 1.0), None, 1.0)): "each class needs",
        (
            lambda: PartitionedRows(
                [*cut(X, positive, None, []), *cut(X[:, :1], positive, None, [])]
            )
        ): "columns",
        (lambda: PartitionedRows(cut(X, positive[:99], None, []))): "99 labels",
        (
            lambda: PartitionedRows(cut(bad, positive, None, [20, 40]))
        ): "partition 2, row 10, column 1",
        (lambda: Minorant.from_weights(over(rows, "logistic"), np.zeros(2), 64, 1)): "a width",
        (lambda: certify(far, None, 1.0, loss="exponential", w=[1.0], refine=False)): "overflows",
    }
    for asked, said in refused.items():
        with pytest.raises(InputError, match=said):
            asked()


@each("lam", [1e-1, 1e-3, 1e-5])
def test_few_rows_are_proved_as_in_memory_if_they_fit(
    lam: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bins stall at a small lam where rows are few: all of them are held then."""
    X, positive = some_rows(900)
    rows = rows_in(X, positive, 3)
    found = solve(rows, None, lam)
    assert found.status == Status.CERTIFIED
    audit = certify(rows, None, lam, w=found.w)
    assert audit.gap is not None and audit.gap <= 2e-9
    if lam == 1e-5:
        monkeypatch.setattr("aucert.exact.api.solve.HELD_NUMBERS", 1000)
        assert solve(rows, None, lam).status == Status.STALLED


# Ordered pairs: groups lie whole in a partition.


def some_groups(
    n: int = 400, groups: int = 30, seed: int = 0, grades: int = 4
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, groups in ascending order, and grades; rows of whole numbers for odd seeds."""
    rng = np.random.default_rng(seed)
    group, grade = np.sort(rng.integers(0, groups, n)), rng.integers(0, grades, n)
    X = rng.normal(size=(n, 3)) + 0.3 * grade[:, None] + 5.0
    return (np.round(2 * X) if seed % 2 else X), group, grade.astype(float)


def places_between(group: np.ndarray, parts: int) -> list[int]:
    """Return random places between groups; the same ones twice among them where groups are few."""
    between = np.flatnonzero(np.diff(group)) + 1
    return sorted(np.random.default_rng(parts).choice(between, parts - 1).tolist())


def groups_in(X: Any, group: Any, grade: Any, parts: int, weight: Any = None) -> GroupedRows:
    return GroupedRows(cut_groups(X, group, grade, weight, places_between(group, parts)))


@each("weighted", [False, True])
@each("half", [0, 3])
@each("parts", [1, 5])
@each("seed", seeds(4))
def test_the_hinge_is_that_of_its_pairs_within_its_bounds(
    seed: int, parts: int, half: int, weighted: bool
) -> None:
    """Ties in rows and grades, groups of one row and of one grade among them; all in fractions."""
    X, group, grade = some_groups(40, 9, seed, 2 + seed)
    weight = np.random.default_rng(seed).integers(0, 4, 40).astype(float) if weighted else None
    space = groups_in(X, group, grade, parts, weight)
    w = np.random.default_rng(seed).normal(size=3)
    found = Evaluator(over(space)).at(w, 16, half)
    scores = np.zeros(40)
    for k in range(3):
        scores += (X[:, k] - space.offset[k]) * w[k]
    bins = np.floor(16 * scores)
    true = naive_ordered(group, grade, weight, weight)
    total, value, u, of_rows = Fraction(0), Fraction(0), [Fraction(0)] * 40, np.zeros(40)
    for i, j, c in zip(true.i, true.j, true.weight, strict=True):
        m = int(bins[j] - bins[i]) + 16
        soft = Fraction(m + half, 2 * half) if half else Fraction(int(m >= 1))
        alpha = min(max(soft, Fraction(0)), Fraction(1))
        total, u[i], u[j] = total + c * alpha, u[i] + c * alpha, u[j] - c * alpha
        value += c * max(1 - Fraction(scores[i]) + Fraction(scores[j]), Fraction(0))
        of_rows[[i, j]] += float(c * true.mass)
    assert (space.order.mass, space.groups) == (true.mass, np.unique(group).size)
    counted = counted_pairs(group, grade, np.ones(40) if weight is None else weight)
    assert counted[:2] == (true.mass, len(true.i)) and counted[2] >= of_rows.max()
    assert abs(Fraction(found.total) - total) <= Fraction(found.total_rounding)
    both = zip(exact(found.pull), pulled(exact(X), u), strict=True)
    assert sum((a - b) ** 2 for a, b in both) <= Fraction(found.pull_error) ** 2
    assert abs(Fraction(found.loss) - value) <= Fraction(found.loss_rounding)


@each("loss", sorted(ALL_LOSSES))
@each("parts", [1, 6])
def test_every_loss_is_that_of_rows_in_memory(loss: str, parts: int) -> None:
    X, group, grade = some_groups()
    space, w = groups_in(X, group, grade, parts), np.array([0.4, -0.1, 0.2])
    evaluator = Evaluator(over(space, loss))
    found = evaluator.at(w, *evaluator.grid(w, 0.0))
    true = naive_ordered(group, grade, None, None)
    i, j = np.array(true.i), np.array(true.j)
    margins, kind = (X @ w)[i].astype(np.longdouble) - (X @ w)[j], ALL_LOSSES[loss]
    alpha = kind.alpha(margins, 0.0)
    pull = (alpha[:, None] * (X[i] - X[j])).mean(axis=0).astype(float)
    assert abs(found.loss - float(kind.value(margins).mean())) <= found.loss_rounding + 1e-12
    assert abs(found.total - float(np.mean(kind.dual(alpha)))) <= found.total_rounding + 1e-12
    assert np.linalg.norm(found.pull - pull) <= found.pull_error + 1e-12
    assert max(found.loss_rounding, found.total_rounding, found.pull_error) < 1e-8


@pytest.mark.slow
def test_the_hinge_has_the_same_bits_for_any_cut_between_groups() -> None:
    X, group, grade = some_groups(3000, 400)
    w, found = np.array([1.0, -2.0, 0.5]), []
    for parts in (1, 7, 1000):
        space = groups_in(X, group, grade, parts)
        evaluator = Evaluator(over(space))
        found.append((space, evaluator.at(w, *evaluator.grid(w, 0.1))))
    first, stated = found[0]
    for space, one in found[1:]:
        assert (space.order.mass, space.order.count) == (first.order.mass, first.order.count)
        assert (one.total, one.bins, one.half) == (stated.total, stated.bins, stated.half)
        assert one.loss == pytest.approx(stated.loss, abs=1e-15)
        room = one.pull_error + stated.pull_error
        assert np.linalg.norm(one.pull - stated.pull) <= room < 1e-11
    many = found[2][1]
    assert many.pull_error > stated.pull_error or many.loss_rounding > stated.loss_rounding


def test_sums_that_cannot_be_right_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    space = groups_in(*some_groups(), 3)
    sums = Evaluator(over(space))
    with pytest.raises(InputError, match="rescale X"):
        sums.at(1e60 * np.ones(3), 16, 1)
    with pytest.raises(InputError, match="too fine"):
        sums.at(np.ones(3), 1 << 60, 1)
    monkeypatch.setattr(space.order, "mass", space.order.mass + 1)
    with pytest.raises(CertificateError, match="3 partitions were counted"):
        sums.at(np.ones(3), 16, 1)


@pytest.mark.slow
@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_sample_of_whole_groups_starts_many_rows(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here rows in partitions solve it: few are held, and none after."""
    monkeypatch.setattr(subsample, "LEAST_ROWS", 500)
    monkeypatch.setattr("aucert.exact.api.solve.HELD_NUMBERS", 1)
    monkeypatch.setattr(GroupedRows, "all_rows", lambda _: pytest.fail("all rows were fetched"))
    X, group, grade = some_groups(30_000, 1500)
    found = solve(groups_in(X, group, grade, 20), None, 1e-2, loss=loss, tol=1e-6)
    assert (found.status, found.method) == (Status.CERTIFIED, "descent")
    same_optimum(found, solve(X, grade, 1e-2, qid=group, loss=loss, tol=1e-6))


def test_single_rows_are_drawn_where_groups_are_few() -> None:
    drawn = groups_in(*some_groups(5000, 8), 4).drawn_groups(500)
    assert 300 < drawn.key.size < 700 and np.unique(drawn.group).size == 8
    X, group, grade = some_groups(5000, 1000)
    one, other = (groups_in(X, group, grade, parts).drawn_groups(500) for parts in (4, 70))
    np.testing.assert_array_equal(one.rows, other.rows)
    for name in np.unique(one.group):
        assert (one.group == name).sum() == (group == name).sum()


@pytest.mark.slow
def test_certify_says_of_groups_what_it_says_of_rows() -> None:
    X, group, grade = some_groups()
    space = groups_in(X, group, grade, 7)
    w = solve(X, grade, 1e-2, qid=group, tol=1e-4).w + 1e-4
    for refine in (True, False):
        apart = certify(space, None, 1e-2, w=w, refine=refine)
        held = certify(X, grade, 1e-2, w=w, qid=group, refine=refine)
        assert apart.primal == pytest.approx(held.primal, abs=1e-12)
        assert apart.n_pairs == held.n_pairs
        if refine:
            assert (apart.n_sure_right, apart.n_sure_wrong) == (
                held.n_sure_right,
                held.n_sure_wrong,
            )
            assert apart.gap == pytest.approx(held.gap, abs=1e-8)
            assert "with the upper row above" in apart.statement
    rival = certify(space, None, w=w, rival="svm-rank", C=1.0)
    held = certify(X, grade, w=w, rival="svm-rank", C=1.0, qid=group)
    assert rival.lam == pytest.approx(held.lam)


@each("weighted", [False, True])
def test_the_concordance_is_that_in_memory(weighted: bool) -> None:
    X, group, grade = some_groups(300, 20, 1)
    weight = np.arange(300) % 3 + 1.0 if weighted else None
    w = np.array([1.0, 0.0, -1.0])
    held = concordance(OrderedPairs(group, grade, weight, weight), X @ w).value
    found = group_concordance(groups_in(X, group, grade, 6, weight), w)
    assert found == pytest.approx(held, abs=1e-14)


def test_what_cannot_be_ordered_is_refused() -> None:
    X, group, grade = some_groups()
    words = np.array([f"q{g:03d}" for g in group], dtype=object)
    one, other = (
        groups_in(X, group, grade, 9),
        GroupedRows(cut_groups(X, words, grade, None, places_between(group, 9))),
    )
    assert (one.order.mass, one.groups) == (other.order.mass, other.groups)
    mixed, at = np.random.default_rng(0).permutation(400), np.arange(400)
    middle = int(np.flatnonzero(group == 3)[1])
    types = [cut_groups(X, names, grade, None, []) for names in (group, group.astype(str))]
    refused: dict[str, Any] = {
        "group 3 is split: .* partition 0 and in partition 1": (X, group, grade, None, [middle]),
        "group 'q000' is split: .* sort the rows": (
            X[mixed], words[mixed], grade[mixed], None, [100, 200, 300],
        ),
        "the key of row 7 of partition 1 is nan": (
            X, group, np.where(at == 17, np.nan, 1), None, [10],
        ),
        "no pair is ordered": (X, group, np.ones(400), None, []),
        "the group of row 3 of partition 0": (
            X, np.where(at == 3, np.nan, group), grade, None, [10],
        ),
        "all of one type": (X, np.array([1, "a"] * 200, dtype=object), grade, None, [10]),
        "must be whole numbers": (X, group, grade, np.full(400, 0.5), []),
        "more than can be counted exactly": (X, group, grade, np.full(400, 2.0**25), []),
    }  # fmt: skip
    for said, given in refused.items():
        with pytest.raises(InputError, match=said):
            GroupedRows(cut_groups(*given))
    with pytest.raises(InputError, match="one type"):
        GroupedRows([*types[0], *types[1]])
    with pytest.raises(InputError, match="20 groups and 400 keys"):
        GroupedRows([(X, group[:20], grade)])


def test_what_needs_two_classes_is_refused(tmp_path: Path) -> None:
    X, group, grade = some_groups()
    space = groups_in(X, group, grade, 3)
    solution = solve(space, None, 1e-1, tol=1e-4)
    refused: dict[Any, str] = {
        (lambda: space.drawn(0.5, 0.5)): "no class",
        (lambda: space.named(np.arange(2), np.arange(2))): "no class",
        (lambda: write_partitioned_proof(tmp_path / "p.npz", space, 0.1, solution)): "no proof",
        (lambda: ROCSVM(1e-2).fit(space, None)): "a classifier needs two kinds of labels",
        (lambda: solve(space, grade, 1e-1)): "labels and weights lie with the rows",
        (lambda: solve(space, None, 1e-1, kernel="rbf")): "linear problems",
        (lambda: ROCSVM(1e-2).fit(space, None, qid=group)): "labels and weights lie with",
    }
    for asked, said in refused.items():
        with pytest.raises(InputError, match=said):
            asked()


def test_empty_partitions_and_groups_of_one_grade_are_no_trouble() -> None:
    X, group, grade = some_groups(200, 10)
    grade[group == 0] = 1.0
    first = int(np.flatnonzero(group == 1)[0])
    space = GroupedRows(cut_groups(X, group, grade, None, [0, first, first]))
    same_optimum(solve(space, None, 1e-2, tol=1e-6), solve(X, grade, 1e-2, qid=group, tol=1e-6))
