"""From data to problems and back: spaces, lifts, scores of new rows, verdicts, equal rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact.spaces.factor as factor_module
from aucert.exact.api.solve import choose_solver, solve
from aucert.exact.certificate.certificate import Certificate, dual_value
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.errors import InputError
from aucert.exact.formulation import equal_rows as reduction
from aucert.exact.formulation.equal_rows import Groups, equal_rows
from aucert.exact.formulation.formulation import Formulation, formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.minorant import Alpha, Minorant, Weights
from aucert.exact.problem.problem import Problem
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from aucert.exact.spaces.rows import Rows
from loops import each, seeds

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 3 == 0
X[Y] += 0.7
NEW = RNG.normal(size=(25, 3))
KERNELS = ["linear", "rbf", "laplacian", "precomputed"]
STRUCTURES = [0.0, 0.3, 50.0]


def case(kernel: str, structure: float, sparse: bool = False) -> tuple[Formulation, object]:
    """Return a formulation and its training rows, as the kernel takes them."""
    train: Any = Laplacian(0.3)(X, X) if kernel == "precomputed" else X
    train = sp.csr_matrix(train) if sparse else train
    asked = Request.of(0.02, kernel=kernel, gamma=0.4, structure=structure)
    return formulate(train, Y, asked), train


def best(task: Formulation) -> Solution:
    return task.judge(choose_solver(task.work, "auto", 1e-9, None).solve(task.work), 1e-8)


@each("sparse", [False, True])
@each("structure", STRUCTURES)
@each("kernel", KERNELS)
def test_scores_in_and_out_of_sample_agree(kernel: str, structure: float, sparse: bool) -> None:
    """Of the optimum: by the space meant, by the scorer, and by the rows that solvers see."""
    task, train = case(kernel, structure, sparse)
    solution = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    w = task.lift(solution.w)
    inside = task.meant.space.scores(w)
    assert task.scorer(w)(train) == pytest.approx(inside, abs=1e-11)
    worked = task.work.space.scores(solution.w)
    assert worked - worked.mean() == pytest.approx(inside - inside.mean(), abs=1e-10)


@each(
    ("kernel", "message"),
    [("linear", "3 features"), ("rbf", "3 features"), ("precomputed", "40 kernel values")],
)
def test_new_rows_of_another_width_are_refused(kernel: str, message: str) -> None:
    task, _ = case(kernel, 0.0)
    score = task.scorer(np.ones(task.meant.space.dim))
    with pytest.raises(InputError, match=message + ".* new rows have 5"):
        score(np.ones((2, 5)))
    with pytest.raises(InputError, match="not finite"):
        score(np.full((2, 3), np.nan))
    with pytest.raises(InputError, match="coordinates"):
        task.scorer(np.ones(7))


@each("structure", [0.0, 3.0])
@each("sparse", [False, True])
def test_many_features_are_solved_in_the_space_of_rows(sparse: bool, structure: float) -> None:
    wide = np.random.default_rng(5).normal(size=(30, 200)) + 3.0
    y = np.arange(30) % 2 == 0
    task = formulate(
        sp.csr_matrix(wide) if sparse else wide, y, Request.of(0.5, structure=structure)
    )
    if structure or not sparse:
        assert task.work.space.dim <= 30
    found = best(task)
    assert found.w.shape == (200,) and found.status == Status.CERTIFIED
    kernel = solve(wide @ wide.T, y, 0.5, kernel="precomputed", structure=structure)
    assert found.certificate.primal == pytest.approx(kernel.certificate.primal, rel=1e-8)


def test_a_precomputed_kernel_must_fit_the_labels_and_be_one() -> None:
    with pytest.raises(InputError, match="square"):
        formulate(X, Y, Request.of(0.02, kernel="precomputed"))
    with pytest.raises(InputError, match="rows"):
        formulate(np.eye(7), Y, Request.of(0.02, kernel="precomputed"))
    for kernel in ("poly", "RBF", ""):
        with pytest.raises(InputError, match="kernel must be"):
            formulate(X, Y, Request.of(0.02, kernel=kernel))
    with pytest.raises(InputError, match="negative eigenvalue"):
        formulate(np.diag(np.where(Y, 1.0, -1.0)), Y, Request.of(0.02, kernel="precomputed"))


def test_the_verdict_is_about_the_space_meant() -> None:
    """A factor of low rank solves its own problem, and the true kernel shows what is missing."""
    K = Gaussian(2.0)(X, X)
    task = formulate(K, Y, Request.of(0.001, kernel="precomputed"))
    factor = factor_module.factor_gram(K, max_rank=4)
    rows = Rows(factor.features)
    poor = replace(task, work=task.meant.over(rows), lift=factor.coefficients, factor=factor)
    solution = choose_solver(poor.work, "auto", 1e-9, None).solve(poor.work)
    assert solution.status == Status.CERTIFIED, "in its own space"
    judged = poor.judge(solution, 1e-8)
    assert judged.status == Status.STALLED
    late = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    found = task.judge(replace(late, status=Status.TIME_LIMIT), 1e-8)
    assert found.status == Status.CERTIFIED  # better than the solver thought
    linear = case("linear", 0.0)[0]
    assert linear.judge(late, 1e-8) is late  # it is its own judge
    optimum = found.certificate
    assert judged.certificate.primal > optimum.primal + 1e-3
    assert judged.certificate.dual <= optimum.primal
    # What is left out of the kernel makes the dual smaller and leaves the primal as it is.
    assert judged.certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert judged.certificate.dual < solution.certificate.dual


def repeated(seed: int = 0, levels: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return 200 rows, 50 different ones in each class at most; some are in both classes."""
    rng = np.random.default_rng([3, seed])
    kinds = rng.integers(0, 3, size=(50, 3)) if levels else rng.normal(size=(50, 3))
    which, y = rng.integers(0, 50, 200), rng.uniform(size=200) < 0.3
    return kinds[which] + 0.0, y


def groups_of(X: np.ndarray | sp.csr_matrix, y: np.ndarray) -> Groups:
    found = equal_rows(X, y)
    assert found is not None
    return found


@each("sparse", [False, True])
@each("levels", [False, True])
@each("seed", seeds(3))
def test_groups_are_the_equal_rows_of_a_class(seed: int, levels: bool, sparse: bool) -> None:
    X, y = repeated(seed, levels)
    X[np.flatnonzero(X[:, 0] == 0)[::2], 0] = -0.0  # zero all the same
    found = groups_of(sp.csr_matrix(X) if sparse else X, y)
    together = found.group[:, None] == found.group[None, :]
    equal = (X[:, None, :] == X[None, :, :]).all(axis=2) & (y[:, None] == y[None, :])
    assert np.array_equal(together, equal)
    assert np.array_equal(found.group[found.first], np.arange(found.first.size))
    assert (np.diff(found.first) > 0).all()
    assert all(found.first[g] == np.flatnonzero(found.group == g)[0] for g in found.group)


def test_few_equal_rows_are_left_alone() -> None:
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 3 == 0
    assert equal_rows(X, y) is None
    X[3] = X[6]  # rows 3 and 6 are of one class
    assert equal_rows(X, y) is None
    assert equal_rows(np.tile(X, (2, 1)), np.tile(y, 2)) is not None
    assert groups_of(np.zeros((9, 1)), np.arange(9) < 4).first.size == 2  # one of each class
    assert equal_rows(np.tile(X, (2, 1)), np.tile(y, 2) ^ (np.arange(200) < 100)) is None


def test_rows_with_one_hash_are_told_apart_by_their_numbers(monkeypatch) -> None:
    X, y = repeated()
    order = np.lexsort((y, *X.T))
    X, y = X[order], y[order]
    expected = groups_of(X, y)
    monkeypatch.setattr(reduction, "_hashes", lambda X: np.zeros(200))
    assert np.array_equal(groups_of(X, y).group, expected.group)


def both(weighted: bool, loss: str = "hinge") -> tuple[Problem, Problem, Groups]:
    X, y = repeated(1)
    weight = np.random.default_rng(1).integers(0, 3, 200).astype(float) if weighted else None
    task = formulate(X, y, Request.of(0.02, loss, pairs=AllPairs(weight)), collapse=True)
    assert task.groups is not None and task.work.n == task.groups.first.size < 101
    return task.meant, task.work, task.groups


@each("loss", ["hinge", "squared_hinge", "square"])
@each("weighted", [False, True])
def test_a_dual_point_made_from_scores_keeps_its_value(weighted: bool, loss: str) -> None:
    meant, work, groups = both(weighted, loss)
    scores = np.random.default_rng(0).normal(size=work.n)
    few = Minorant.from_scores(work, scores, 0.3 if loss == "hinge" else 0.0)
    many = groups.witness(meant, few)
    assert dual_value(meant, many)[0] == pytest.approx(dual_value(work, few)[0], rel=1e-12)
    assert groups.total(many.c) == pytest.approx(few.c, abs=1e-15)


@each("asked", [{}, {"kernel": "rbf"}], ids=str)
def test_a_binned_dual_point_is_judged_on_all_rows(asked: dict[str, Any]) -> None:
    """As solvers make it where there are many groups: it holds weights, and no marginals."""
    X, y = repeated()
    task = formulate(X, y, Request.of(0.1, **asked), collapse=True)
    assert task.groups is not None
    best = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    for half in (0, 40):
        binned = task.work.risk.minorant(Weights(best.w, 1 << 14, half))
        stated = Certificate.of(task.work, best.w, binned)
        found = task.judge(replace(best, witness=binned, certificate=stated), 1e-9)
        assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-9)
        # Sorted sums at the width of the bins: within one of them, 6e-5.
        assert found.certificate.dual == pytest.approx(stated.dual, rel=1e-4)
        assert found.certificate.dual <= best.certificate.primal


@each("weighted", [False, True])
def test_marginals_are_shared_out_by_weight(weighted: bool) -> None:
    meant, work, groups = both(weighted)
    scores = np.random.default_rng(0).normal(size=work.n)
    c = work.sums(scores, 0.5).c
    few = Minorant.from_marginals(work, c[work.pairs.positive], -c[~work.pairs.positive])
    many = groups.witness(meant, few)
    assert many.deficiency <= 1e-14
    assert dual_value(meant, many)[0] == pytest.approx(dual_value(work, few)[0], rel=1e-12)
    expected = meant.sums(scores[groups.group], 0.5).c
    assert many.c == pytest.approx(expected, abs=1e-15)


def test_pair_lists_have_no_way_back() -> None:
    X, y = repeated()
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(~y)[:5]
    task = formulate(X, y, Request.of(0.1, pairs=PairList(i, j)), collapse=True)
    assert task.groups is None and task.work.n == 200
    given = formulate(X @ X.T, y, Request.of(0.1, kernel="precomputed"), collapse=True)
    assert given.groups is None  # neither does a matrix that was given
    listed = task.meant.risk.minorant(Alpha(np.ones(5)))
    with pytest.raises(InputError, match="pair lists"):
        groups_of(X, y).witness(task.meant, listed)


def solved(task: Formulation) -> Solution:
    return task.judge(choose_solver(task.work, "auto", 1e-10, None).solve(task.work), 1e-9)


@each("structure", [0.0, 3.0])
@each("kernel", ["linear", "rbf"])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_an_optimum_in_groups_is_that_of_rows(loss: str, kernel: str, structure: float) -> None:
    X, y = repeated(2)
    chosen = {"kernel": kernel, "gamma": 0.5, "structure": structure}
    plain = solved(formulate(X, y, Request.of(0.02, loss, **chosen)))
    task = formulate(X, y, Request.of(0.02, loss, **chosen), collapse=True)
    assert task.groups is not None and isinstance(task.work.space, Rows) and task.meant.n == 200
    found = solved(task)
    assert found.status == plain.status == Status.CERTIFIED
    assert found.w.shape == plain.w.shape
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-9)
    again = Certificate.of(task.meant, found.w, found.witness, 1e-9)
    assert again.gap == found.certificate.gap, "the witness returned is the one of the rows"
    assert task.scorer(found.w)(X) == pytest.approx(task.meant.space.scores(found.w), abs=1e-9)
    if task.factor is not None:
        F = task.factor.features
        K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        assert F.shape[0] == 200 and F @ F.T == pytest.approx(K, abs=1e-12)
