"""Ordered pairs over partitions: sums by hand, any cut between groups, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import GroupedRows, PartitionedRows
from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.certificate.evaluation import Evaluation, Evaluator
from aucert.exact.certificate.order import group_concordance
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.formulation.partitioned import partitioned_problem
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.concordance import concordance
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem import subsample
from aucert.exact.problem.problem import Problem
from aucert.exact.proof.write import write_partitioned_proof
from aucert.exact.spaces.groups import counted_pairs
from aucert.exact.sums.tree import exact_dot, finest_grid
from cutting import cut, cut_groups
from loops import each, seeds

RANKED = ("hinge", "squared_hinge", "square")


def some_rows(
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


def rows_in(
    X: np.ndarray,
    group: np.ndarray,
    grade: np.ndarray,
    parts: int,
    weight: np.ndarray | None = None,
) -> GroupedRows:
    return GroupedRows(cut_groups(X, group, grade, weight, places_between(group, parts)))


def over(space: GroupedRows, loss: str = "hinge", lam: float = 1e-2) -> Problem:
    problem = partitioned_problem(space, None, Request.of(lam, loss))
    assert problem is not None
    return problem


def pairs_by_hand(group: np.ndarray, grade: np.ndarray) -> list[tuple[int, int]]:
    rows = range(group.size)
    return [(i, j) for i in rows for j in rows if group[i] == group[j] and grade[i] > grade[j]]


def near(problem: Problem, w: np.ndarray) -> Evaluation:
    """The evaluation at `w`, smoothed by about a tenth."""
    evaluator = Evaluator(problem)
    return evaluator.at(w, *evaluator.grid(w, 0.1))


@pytest.mark.slow
@each("weighted", [False, True])
@each("half", [0, 3])
@each("parts", [1, 5])
@each("seed", seeds(4))
def test_the_hinge_is_that_of_its_pairs_within_its_bounds(
    seed: int, parts: int, half: int, weighted: bool
) -> None:
    """Ties in rows and grades, groups of one row and of one grade among them; all in fractions."""
    X, group, grade = some_rows(40, 9, seed, 2 + seed)
    weight = np.random.default_rng(seed).integers(0, 4, 40).astype(float) if weighted else None
    space = rows_in(X, group, grade, parts, weight)
    w = np.random.default_rng(seed).normal(size=3)
    found = Evaluator(over(space)).at(w, 16, half)
    scores = np.zeros(40)
    for k in range(3):
        scores += (X[:, k] - space.offset[k]) * w[k]
    bins = np.floor(16 * scores)
    mass, total, value = 0, Fraction(0), Fraction(0)
    pull = [Fraction(0)] * 3
    for i, j in pairs_by_hand(group, grade):
        c = 1 if weight is None else int(weight[i] * weight[j])
        m = int(bins[j] - bins[i]) + 16
        soft = Fraction(m + half, 2 * half) if half else Fraction(int(m >= 1))
        alpha = min(max(soft, Fraction(0)), Fraction(1))
        mass += c
        total += c * alpha
        value += c * max(1 - Fraction(scores[i]) + Fraction(scores[j]), Fraction(0))
        for k in range(3):
            pull[k] += c * alpha * (Fraction(X[i, k]) - Fraction(X[j, k]))
    assert (space.order.mass, space.groups) == (mass, np.unique(group).size)
    assert abs(Fraction(found.total) - total / mass) <= Fraction(found.total_rounding)
    slip = sum(
        (Fraction(a) - b / mass) ** 2 for a, b in zip(found.pull.tolist(), pull, strict=True)
    )
    assert slip <= Fraction(found.pull_error) ** 2
    assert abs(Fraction(found.loss) - value / mass) <= Fraction(found.loss_rounding)


@each("loss", sorted(ALL_LOSSES))
@each("parts", [1, 6])
def test_every_loss_is_that_of_rows_in_memory(loss: str, parts: int) -> None:
    X, group, grade = some_rows()
    space, w = rows_in(X, group, grade, parts), np.array([0.4, -0.1, 0.2])
    evaluator = Evaluator(over(space, loss))
    found = evaluator.at(w, *evaluator.grid(w, 0.0))
    scores = X @ w
    i, j = np.array(pairs_by_hand(group, grade)).T
    margins = (scores[i] - scores[j]).astype(np.longdouble)
    kind = ALL_LOSSES[loss]
    value = float(np.mean(kind.value(margins)))
    alpha = kind.alpha(margins, 0.0)
    pull = (alpha[:, None] * (X[i] - X[j])).mean(axis=0).astype(float)
    assert abs(found.loss - value) <= found.loss_rounding + 1e-12
    assert abs(found.total - float(np.mean(kind.dual(alpha)))) <= found.total_rounding + 1e-12
    assert np.linalg.norm(found.pull - pull) <= found.pull_error + 1e-12
    assert max(found.loss_rounding, found.total_rounding, found.pull_error) < 1e-8


def test_the_hinge_has_the_same_bits_for_any_cut_between_groups() -> None:
    X, group, grade = some_rows(3000, 400)
    w, found = np.array([1.0, -2.0, 0.5]), []
    for parts in (1, 7, 1000):
        space = rows_in(X, group, grade, parts)
        found.append((space, near(over(space), w)))
    first, stated = found[0]
    for space, one in found[1:]:
        assert (space.order.mass, space.order.count) == (first.order.mass, first.order.count)
        assert (one.total, one.bins, one.half) == (stated.total, stated.bins, stated.half)
        assert one.loss == pytest.approx(stated.loss, abs=1e-15)
        room = one.pull_error + stated.pull_error
        assert np.linalg.norm(one.pull - stated.pull) <= room < 1e-11
    assert (
        found[2][1].pull_error > stated.pull_error
        or found[2][1].loss_rounding > stated.loss_rounding
    )


def test_a_partition_that_is_not_counted_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    X, group, grade = some_rows()
    space = rows_in(X, group, grade, 5)
    monkeypatch.setattr(space.order, "mass", space.order.mass + 1)
    with pytest.raises(CertificateError, match="rows of 5 partitions were counted"):
        near(over(space), np.ones(3))


@each("seed", seeds(20))
def test_counts_of_pairs_are_those_by_hand(seed: int) -> None:
    _, group, grade = some_rows(60, 8, seed, 3)
    weight = np.random.default_rng(seed).integers(0, 4, 60).astype(float)
    pairs = pairs_by_hand(group, grade)
    products = [int(weight[i] * weight[j]) for i, j in pairs]
    mass, count, top = counted_pairs(group, grade, weight)
    assert (mass, count) == (sum(products), sum(product > 0 for product in products))
    of_rows = np.zeros(60)
    for (i, j), product in zip(pairs, products, strict=True):
        of_rows[[i, j]] += product
    assert top >= of_rows.max()


@each("seed", seeds(5))
def test_products_of_whole_numbers_lose_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-(1 << 40), 1 << 40, 70_000)
    y = rng.integers(-(1 << 52), 1 << 52, 70_000)
    assert exact_dot(x, y) == sum(a * b for a, b in zip(x.tolist(), y.tolist(), strict=True))


@each(("far", "top", "width"), [(0.0, 1, 1.0), (3.0, 1 << 39, 0.1), (1e5, 7, 0)])
def test_grids_leave_room_in_63_bits(far: float, top: int, width: float) -> None:
    found = finest_grid(far, top, width)
    assert found is not None
    k, half = found
    assert top * 2.0**k * (2 * far + 1 + width) < 2**62
    assert (half >= 1) == (width > 0)


def test_scores_that_have_no_exact_sums_are_refused() -> None:
    X, group, grade = some_rows()
    sums = Evaluator(over(rows_in(X, group, grade, 3)))
    with pytest.raises(InputError, match="no exact sums: rescale X"):
        sums.at(1e60 * np.ones(3), 16, 1)
    with pytest.raises(InputError, match="too fine for exact sums"):
        sums.at(np.ones(3), 1 << 60, 1)


@each("loss", RANKED)
@each("seed", seeds(8))
def test_the_optimum_is_that_in_memory(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    X, group, grade = some_rows(int(rng.integers(60, 900)), int(rng.integers(3, 60)), seed)
    lam, parts = 10.0 ** rng.uniform(-3, 0), int(rng.integers(1, 40))
    weight = rng.integers(0, 3, grade.size).astype(float) if seed % 3 == 0 else None
    found = solve(rows_in(X, group, grade, parts, weight), None, lam, loss=loss, tol=1e-7)
    held = solve(X, grade, lam, qid=group, loss=loss, tol=1e-7, sample_weight=weight)
    assert found.status == held.status == Status.CERTIFIED
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room


@pytest.mark.slow
@each("loss", RANKED)
def test_a_sample_of_whole_groups_starts_many_rows(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here rows in partitions solve it: few are held, and none after."""
    monkeypatch.setattr(subsample, "LEAST_ROWS", 500)
    monkeypatch.setattr("aucert.exact.api.solve.HELD_NUMBERS", 1)
    monkeypatch.setattr(GroupedRows, "all_rows", lambda _: pytest.fail("all rows were fetched"))
    X, group, grade = some_rows(30_000, 1500)
    found = solve(rows_in(X, group, grade, 20), None, 1e-2, loss=loss, tol=1e-6)
    assert (found.status, found.method) == (Status.CERTIFIED, "descent")
    held = solve(X, grade, 1e-2, qid=group, loss=loss, tol=1e-6)
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room


def test_single_rows_are_drawn_where_groups_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    X, group, grade = some_rows(5000, 8)
    space = rows_in(X, group, grade, 4)
    drawn = space.drawn_groups(500)
    assert 300 < drawn.key.size < 700
    assert np.unique(drawn.group).size == 8
    whole = rows_in(*some_rows(5000, 1000), 4)
    taken = [space.drawn_groups(500) for space in (whole, rows_in(*some_rows(5000, 1000), 70))]
    np.testing.assert_array_equal(taken[0].rows, taken[1].rows)
    every = some_rows(5000, 1000)[1]
    for name in np.unique(taken[0].group):
        assert (taken[0].group == name).sum() == (every == name).sum()


@pytest.mark.slow
def test_certify_says_of_partitions_what_it_says_of_rows() -> None:
    X, group, grade = some_rows()
    space = rows_in(X, group, grade, 7)
    w = solve(X, grade, 1e-2, qid=group, tol=1e-4).w + 1e-4
    for refine in (True, False):
        apart = certify(space, None, 1e-2, w=w, refine=refine)
        held = certify(X, grade, 1e-2, w=w, qid=group, refine=refine)
        assert apart.primal == pytest.approx(held.primal, abs=1e-12)
        assert apart.n_pairs == held.n_pairs
        if refine:
            assert (apart.n_right, apart.n_wrong) == (held.n_right, held.n_wrong)
            assert apart.gap == pytest.approx(held.gap, abs=1e-8)
            assert "with the upper row above" in apart.statement
    rival = certify(space, None, w=w, rival="svm-rank", C=1.0)
    assert rival.lam == pytest.approx(
        certify(X, grade, w=w, rival="svm-rank", C=1.0, qid=group).lam
    )


@each("weighted", [False, True])
def test_the_concordance_is_that_in_memory(weighted: bool) -> None:
    X, group, grade = some_rows(300, 20, 1)
    weight = np.arange(300) % 3 + 1.0 if weighted else None
    w = np.array([1.0, 0.0, -1.0])
    held = concordance(OrderedPairs(group, grade, weight, weight), X @ w).value
    found = group_concordance(rows_in(X, group, grade, 6, weight), w)
    assert found == pytest.approx(held, abs=1e-14)


def test_words_name_groups() -> None:
    X, group, grade = some_rows()
    words = np.array([f"query {g:03d}" for g in group], dtype=object)
    one, other = (GroupedRows(cut_groups(X, names, grade, None, [])) for names in (words, group))
    parts = GroupedRows(cut_groups(X, words, grade, None, places_between(group, 9)))
    assert one.order.mass == other.order.mass == parts.order.mass
    assert parts.groups == np.unique(group).size


def test_a_split_group_is_refused_with_its_name_and_what_to_do() -> None:
    X, group, grade = some_rows()
    with pytest.raises(InputError, match=r"group 3 is split: .* partition 0 and in partition 1"):
        GroupedRows(cut_groups(X, group, grade, None, [int(np.flatnonzero(group == 3)[1])]))
    words = np.array([f"q{g}" for g in group])
    mixed = np.random.default_rng(0).permutation(400)
    with pytest.raises(InputError, match=r"group 'q0' is split: .* sort the rows by their group"):
        GroupedRows(cut_groups(X[mixed], words[mixed], grade[mixed], None, [100, 200, 300]))


def test_what_cannot_be_ordered_is_refused() -> None:
    X, group, grade = some_rows(40, 4)
    bad = {
        "the key of row 7 of partition 1 is nan": (group, np.where(np.arange(40) == 17, np.nan, 1)),
        "no pair is ordered": (group, np.ones(40)),
        "the group of row 3 of partition 0 is nan": (
            np.where(np.arange(40) == 3, np.nan, group),
            grade,
        ),
        "must be numbers or words, all of one type": (
            np.array([1, "a"] * 20, dtype=object),
            grade,
        ),
    }
    for match, (groups, keys) in bad.items():
        with pytest.raises(InputError, match=match):
            GroupedRows(cut_groups(X, groups, keys, None, [10]))
    parts = [
        *cut_groups(X, group, grade, None, []),
        *cut_groups(X, group.astype(str), grade, None, []),
    ]
    with pytest.raises(InputError, match="one type"):
        GroupedRows(parts)
    with pytest.raises(InputError, match="must be whole numbers"):
        GroupedRows(cut_groups(X, group, grade, np.full(40, 0.5), []))
    with pytest.raises(InputError, match="more than can be counted exactly"):
        GroupedRows(cut_groups(X, group, grade, np.full(40, 2.0**25), []))
    with pytest.raises(InputError, match="20 groups and 40 keys"):
        GroupedRows([(X, group[:20], grade)])


def test_what_needs_two_classes_is_refused(tmp_path: Path) -> None:
    X, group, grade = some_rows()
    space = rows_in(X, group, grade, 3)
    with pytest.raises(InputError, match="no class"):
        space.drawn(0.5, 0.5)
    with pytest.raises(InputError, match="no class"):
        space.named(np.arange(2), np.arange(2))
    solution = solve(space, None, 1e-1, tol=1e-4)
    with pytest.raises(InputError, match="no proof files over partitions"):
        write_partitioned_proof(tmp_path / "proof.npz", space, 1e-1, solution)
    with pytest.raises(InputError, match=r"a classifier needs two kinds of labels, .* more: use"):
        ROCSVM(1e-2).fit(space, None)
    with pytest.raises(InputError, match="labels and weights lie with the rows"):
        solve(space, grade, 1e-1)
    with pytest.raises(InputError, match="linear problems"):
        solve(space, None, 1e-1, kernel="rbf")
    with pytest.raises(InputError, match="labels and weights lie with the rows"):
        ROCSVM(1e-2).fit(space, None, qid=group)


def test_a_classifier_of_two_grades_is_that_in_memory() -> None:
    X, group, grade = some_rows(600, 40)
    label = (grade > 1).astype(float)
    found = ROCSVM(1e-2, tol=1e-6).fit(rows_in(X, group, label, 5), None)
    held = ROCSVM(1e-2, tol=1e-6).fit(X, label, qid=group)
    np.testing.assert_allclose(found.coef_, held.coef_, atol=5e-3)
    np.testing.assert_allclose(found.intercept_, held.intercept_, atol=5e-2)


class Changing:
    """A partition whose groups change when it has been read a few times."""

    name = "a changing one"

    def __init__(self, whole: Any, times: int):
        self.whole, self.times = whole, times

    def blocks(self) -> Iterator[Any]:
        self.times -= 1
        for block in self.whole.blocks():
            group = block.group.copy()
            if self.times < 0:
                group[0] = group[-1]
            yield block._replace(group=group)

    def refuse(self, row: int, column: int | None, value: float) -> None:
        raise AssertionError


def test_groups_that_change_between_passes_end_the_work() -> None:
    X, group, grade = some_rows()
    parts: list[Any] = cut_groups(X, group, grade, None, places_between(group, 3))
    parts[1] = Changing(parts[1], 2)
    with pytest.raises(InputError, match=r"partition 1 .* changed while it was worked with"):
        solve(GroupedRows(parts), None, 1e-2)


def test_empty_partitions_and_groups_of_one_grade_are_no_trouble() -> None:
    X, group, grade = some_rows(200, 10)
    grade[group == 0] = 1.0
    first = int(np.flatnonzero(group == 1)[0])
    space = GroupedRows(cut_groups(X, group, grade, None, [0, first, first]))
    found, held = solve(space, None, 1e-2, tol=1e-6), solve(X, grade, 1e-2, qid=group, tol=1e-6)
    room = sum(s.certificate.gap for s in (held, found))
    assert abs(held.certificate.primal - found.certificate.primal) <= room


@each("lam", [1e-1, 1e-3, 1e-5])
def test_few_rows_are_proved_as_in_memory(lam: float) -> None:
    """Bins stall at a small lam where rows are few: all of them are held then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] + rng.normal(size=900) > 0
    found = solve(PartitionedRows(cut(X, y, None, [300, 500])), None, lam)
    assert (found.status, solve(X, y, lam).status) == (Status.CERTIFIED, Status.CERTIFIED)
    audit = certify(PartitionedRows(cut(X, y, None, [300, 500])), None, lam, w=found.w)
    assert audit.gap is not None and audit.gap <= 2e-9


def test_rows_that_do_not_fit_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aucert.exact.api.solve.HELD_NUMBERS", 1000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] + rng.normal(size=900) > 0
    found = solve(PartitionedRows(cut(X, y, None, [300, 500])), None, 1e-5)
    assert found.status == Status.STALLED
