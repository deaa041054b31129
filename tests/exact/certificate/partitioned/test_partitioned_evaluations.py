"""Evaluations over partitions: sums by hand, any way to cut the rows, and faulty ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import NoReturn

import numpy as np
import pytest

from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.evaluation import Evaluation, Evaluator, gather
from aucert.exact.certificate.order import certified_order
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.formulation.partitioned import partitioned_problem
from aucert.exact.formulation.request import Request
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.spaces import partitions as engine
from aucert.exact.spaces.partitions import Block, LocalEngine, PartitionedRows, Reply, Task
from aucert.exact.sums.binned import Histogram
from cutting import cut
from loops import each, seeds


def some_rows(
    n: int = 600, d: int = 3, seed: int = 0, whole: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0
    return (np.round(2 * X) if whole else X), positive


def rows_in(
    X: np.ndarray, positive: np.ndarray, parts: int, weight: np.ndarray | None = None
) -> PartitionedRows:
    """Cut at random places, the same rows twice among them: some partitions are empty."""
    rng = np.random.default_rng(parts)
    places = sorted(rng.integers(0, X.shape[0] + 1, parts - 1).tolist())
    return PartitionedRows(cut(X, positive, weight, places))


def over(space: PartitionedRows, lam: float = 1e-2) -> Problem:
    problem = partitioned_problem(space, None, Request.of(lam))
    assert problem is not None
    return problem


def by_hand(
    space: PartitionedRows, X: np.ndarray, positive: np.ndarray, found: Evaluation
) -> tuple[Fraction, list[Fraction]]:
    """Return the mean alpha and the pull of the floored scores, in whole numbers and fractions."""
    scores = np.zeros(X.shape[0])
    for k in range(X.shape[1]):
        scores += (X[:, k] - space.offset[k]) * found.w[k]
    bins = np.floor(found.bins * scores)
    total, pull = Fraction(0), [Fraction(0)] * X.shape[1]
    n_pairs = int(positive.sum()) * int((~positive).sum())
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            m = int(bins[j] - bins[i]) + found.bins
            alpha = min(max(Fraction(m + found.half, 2 * found.half), Fraction(0)), Fraction(1))
            total += alpha / n_pairs
            for k in range(X.shape[1]):
                pull[k] += alpha * (Fraction(X[i, k]) - Fraction(X[j, k])) / n_pairs
    return total, pull


@each("how", ["kept", "read again"])
@each("parts", [1, 5])
@each("seed", seeds(4))
def test_an_evaluation_is_that_of_its_pairs_within_its_bounds(
    seed: int, parts: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties, one positive row, a constant column and numbers of very different size among them."""
    if how == "read again":
        monkeypatch.setattr(engine, "KEPT_NUMBERS", 0)
    X, positive = some_rows(40, 2, seed, whole=seed == 1)
    if seed == 2:
        positive[:] = False
        positive[17], X[:, 1] = True, 3.0
    if seed == 3:
        X[:, 0] *= 1e6
    space = rows_in(X, positive, parts)
    w = np.random.default_rng(seed).normal(size=2) / (1e6 if seed == 3 else 1.0)
    found = Evaluator(over(space)).at(w, 16, 3)
    total, pull = by_hand(space, X, positive, found)
    assert abs(Fraction(found.total) - total) <= Fraction(found.total_rounding)
    slip = sum((Fraction(a) - b) ** 2 for a, b in zip(found.pull.tolist(), pull, strict=True))
    assert slip <= Fraction(found.pull_error) ** 2
    scores = X @ w
    hinge = np.maximum(0.0, 1 - scores[positive][:, None] + scores[~positive][None]).mean()
    assert -found.loss_rounding - 1e-12 <= found.loss - hinge <= 1 / 16


RANGE = np.array([-30.0, 30.0, -30.0, 30.0])


@each("weighted", [False, True])
def test_counts_are_the_same_bits_for_any_partitioning(weighted: bool) -> None:
    X, positive = some_rows(5000, 4)
    weight = np.random.default_rng(1).integers(0, 4, 5000).astype(float) if weighted else None
    w, ruler = np.array([1.0, -2.0, 0.5, 0.1]), Histogram(RANGE, 64, 2).ruler
    found = []
    for parts in (1, 7, 1000):
        space = rows_in(X, positive, parts, weight)
        counts = space.total(partial(gather, space.offset, w, ruler, 2, True))
        found.append((space, counts))
    first, stated = found[0]
    for space, counts in found[1:]:
        np.testing.assert_array_equal(space.offset, first.offset)
        assert space.reach == first.reach
        np.testing.assert_array_equal(counts.held[:, :, 0], stated.held[:, :, 0])
        np.testing.assert_array_equal(counts.ends, stated.ends)
        np.testing.assert_allclose(counts.held[:, :, 1], stated.held[:, :, 1], atol=1e-10)
    evaluations = [Evaluator(over(space)).at(w, 64, 2) for space, _ in found]
    for one in evaluations[1:]:
        assert one.total == evaluations[0].total
        room = one.pull_error + evaluations[0].pull_error
        assert np.linalg.norm(one.pull - evaluations[0].pull) <= room < 1e-11


def test_the_sample_is_the_same_however_rows_are_cut() -> None:
    X, positive = some_rows(3000, 2)
    one, other = (rows_in(X, positive, parts).drawn(0.03, 0.2) for parts in (1, 40))
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.positive, other.positive)
    assert abs(int(one.positive.sum()) - 0.2 * positive.sum()) <= 1


@each("seed", seeds(25))
def test_the_optimum_is_that_in_memory(seed: int) -> None:
    """Solve a random problem both ways: the optima agree up to the sum of what is proved."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 900)), int(rng.integers(1, 6))
    X, positive = some_rows(n, d, seed, whole=seed % 3 == 0)
    positive[:2] = True, False
    weight = rng.integers(1, 4, n).astype(float) if seed % 4 == 1 else None
    if seed % 8 == 3:
        weight = rng.random(n) + 0.1
    lam = float(10.0 ** rng.uniform(-3, 0))
    held = solve(X, positive, lam, sample_weight=weight, tol=1e-6)
    apart = solve(rows_in(X, positive, int(rng.integers(1, 20)), weight), None, lam, tol=1e-5)
    room = sum(s.certificate.gap for s in (held, apart))
    assert abs(held.certificate.primal - apart.certificate.primal) <= room
    problem = linear_problem(X, positive, lam) if weight is None else None
    if problem is not None:
        judged = Certificate.of(problem, apart.w, held.witness)
        assert judged.gap <= room + judged.rounding


def test_many_rows_are_solved_to_a_millionth() -> None:
    X, positive = some_rows(60_000, 3)
    found = solve(rows_in(X, positive, 11), None, 1e-2, tol=1e-6)
    held = solve(X, positive, 1e-2, tol=1e-6)
    assert found.status == Status.CERTIFIED
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room


def test_certify_says_of_partitions_what_it_says_of_rows() -> None:
    X, positive = some_rows(2000, 3)
    w = np.array([0.5, 0.4, 0.6])
    rows = rows_in(X, positive, 9)
    apart, held = (certify(*one, 1e-2, w=w, tol=1e-6) for one in ((rows, None), (X, positive)))
    assert held.primal is not None and apart.primal is not None
    assert held.primal <= apart.primal <= held.primal * (1 + 1e-5)
    assert apart.dual == pytest.approx(held.dual, rel=1e-4)
    assert apart.n_pairs == held.n_pairs
    by_C = [
        certify(*one, w=w, rival="roclab", C=1.0, tol=1e-4) for one in ((rows, None), (X, positive))
    ]
    assert by_C[0].rival_primal == pytest.approx(by_C[1].rival_primal, rel=1e-4)


@each("radius", [0.0, 1e-3, 0.05])
def test_certain_orders_are_no_more_than_those_in_memory(radius: float) -> None:
    X, positive = some_rows(900, 3)
    w = np.array([0.5, 0.4, 0.6])
    space = rows_in(X, positive, 9)
    few = certified_order(over(space), w, radius)
    all_of_them = certified_order(linear_problem(X, positive, 1e-2), w, radius)
    assert few.n_pairs == all_of_them.n_pairs
    for name in ("n_right", "n_wrong"):
        assert getattr(few, name) <= getattr(all_of_them, name)
        assert getattr(few, name) >= 0.95 * getattr(all_of_them, name) - 5


def test_an_outlier_does_not_hide_the_grid() -> None:
    """The sure range of the scores is then wide, and a guess is taken."""
    X, positive = some_rows(2000, 2)
    X[5] = 1e9
    rows = rows_in(X, positive, 6)
    found = solve(rows, None, 1e-1, tol=1e-4)
    held = solve(X, positive, 1e-1, tol=1e-6)
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room


class Faulty(LocalEngine):
    """An engine that makes one mistake."""

    def __init__(self, whole: LocalEngine, fault: str):
        super().__init__(whole.partitions)
        object.__setattr__(self, "fault", fault)

    def run(self, task: Task, key: np.ndarray) -> Reply:
        found = super().run(task, key)
        if getattr(task.run, "func", None) is not gather:
            return found
        other = LocalEngine(self.partitions[1:2]).run(task, key)
        match self.fault:  # type: ignore[attr-defined]
            case "twice":
                found.answer = task.merge(found.answer, other.answer)
            case "dropped":
                found.answer.held -= other.answer.held
                found.answer.rows -= other.answer.rows
            case "unheard":
                del found.digests[1]
            case "moved":  # a count in the other class
                found.answer.held[0, 3, 0] += 1
                found.answer.held[1, 3, 0] -= 1
        return found


@each("fault", ["twice", "dropped", "unheard", "moved"])
def test_a_wrong_sum_over_partitions_is_noticed(fault: str) -> None:
    X, positive = some_rows(500, 2)
    space = rows_in(X, positive, 5)
    space.engine = Faulty(space.engine, fault)
    with pytest.raises(CertificateError, match="please report this"):
        Evaluator(over(space)).at(np.array([1.0, 0.5]), 16, 2)


def test_a_partition_that_is_in_two_replies_is_noticed() -> None:
    X, positive = some_rows(500, 2)
    space = rows_in(X, positive, 5)

    class Doubled(LocalEngine):
        def run(self, task: Task, key: np.ndarray) -> Reply:
            from aucert.exact.spaces.partitions import joined

            return joined(
                task, super().run(task, key), LocalEngine(self.partitions[:1]).run(task, key)
            )

    space.engine = Doubled(space.engine.partitions)
    with pytest.raises(CertificateError, match="partition 0 was counted twice"):
        Evaluator(over(space)).at(np.array([1.0, 0.5]), 16, 2)


class Changing:
    """A partition that changes what it holds at a later reading."""

    name = "a changing one"

    def __init__(self, X: np.ndarray, positive: np.ndarray, what: str, after: int):
        self.X, self.positive, self.what, self.after = X, positive, what, after
        self.read = 0

    def blocks(self) -> Iterator[Block]:
        self.read += 1
        X, positive = self.X.copy(), self.positive.copy()
        if self.read > self.after and self.what == "number":
            X[7, 1] = np.nextafter(X[7, 1], np.inf)
        if self.read > self.after and self.what == "label":
            at = [np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]
            positive[at] = ~positive[at]
        if self.read > self.after and self.what == "row":
            X, positive = X[:-1], positive[:-1]
        if self.read > self.after and self.what == "order":
            X[[3, 4]] = X[[4, 3]]
        yield Block(np.ascontiguousarray(X.T), positive, None)

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        raise AssertionError


@each("after", [1, 2, 3, 4])
@each("what", ["number", "label", "row", "order"])
def test_a_partition_that_changes_is_noticed(what: str, after: int) -> None:
    X, positive = some_rows(500, 2)
    parts = cut(X[:300], positive[:300], None, [100])
    rows = PartitionedRows([*parts, Changing(X[300:], positive[300:], what, after)])
    with pytest.raises(InputError, match=r"partition 2 \(from 0\) changed while"):
        solve(rows, None, 1e-2, tol=1e-8)


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


@each("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_named(bad: float) -> None:
    X, positive = some_rows(400, 2)
    X[250, 1] = bad
    with pytest.raises(InputError, match="partition 2, row 50, column 1"):
        PartitionedRows(cut(X, positive, None, [100, 200]))


def test_what_partitions_cannot_do_is_said() -> None:
    X, positive = some_rows(100, 2)
    rows = rows_in(X, positive, 3)
    for words in ({"kernel": "rbf"}, {"structure": 1.0}, {"l1": 0.1}):
        with pytest.raises(InputError, match="rows in partitions are for linear problems"):
            solve(rows, None, 1e-2, **words)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave y, positive and sample_weight out"):
        solve(rows, positive, 1e-2)
    with pytest.raises(InputError, match="solved by descent"):
        solve(rows, None, 1e-2, method="qp")
    with pytest.raises(InputError, match="with weights"):
        certify(rows, None, 1e-2, scores=np.zeros(100))
    with pytest.raises(InputError, match="weights are >= 0 and finite"):
        rows_in(X, positive, 3, np.full(100, -1.0))
    with pytest.raises(InputError, match="weights are >= 0 and finite"):
        rows_in(X, positive, 3, np.full(100, np.nan))
    with pytest.raises(InputError, match="each class needs a row of positive weight"):
        solve(rows_in(X, positive, 3, positive.astype(float)), None, 1e-2)
    with pytest.raises(InputError, match="columns"):
        PartitionedRows([*cut(X, positive, None, []), *cut(X[:, :1], positive, None, [])])
    with pytest.raises(InputError, match="99 labels"):
        PartitionedRows(cut(X, positive[:99], None, []))


def test_large_weights_that_no_longer_add_up_exactly_keep_their_bounds() -> None:
    X, positive = some_rows(300, 2)
    weight = np.full(300, 2.0**48)
    held = solve(X, positive, 1e-2, tol=1e-6)
    found = solve(rows_in(X, positive, 4, weight), None, 1e-2, tol=1e-5)
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room
