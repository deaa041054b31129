"""Equal rows as one row with a weight: the same problem, and dual points on the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.certificate import Certificate, dual_value
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.errors import InputError
from aucert.exact.formulation import equal_rows as reduction
from aucert.exact.formulation.equal_rows import Groups, equal_rows
from aucert.exact.formulation.formulation import Formulation, formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.minorant import Minorant, Weights
from aucert.exact.problem.problem import Problem
from aucert.exact.spaces.rows import Rows
from loops import each, seeds


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
    assert equal_rows(np.tile(X, (2, 1)), np.tile(y, 2) ^ (np.arange(200) < 100)) is None


def test_rows_with_one_hash_are_told_apart_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = repeated()
    order = np.lexsort((y, *X.T))
    X, y = X[order], y[order]
    expected = groups_of(X, y)
    monkeypatch.setattr(reduction, "_hashes", lambda X, positive: np.zeros(200, dtype=np.uint64))
    assert np.array_equal(groups_of(X, y).group, expected.group)


def test_a_sample_shows_whether_looking_at_all_rows_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "SAMPLE", 60)
    X, y = repeated()
    assert groups_of(X, y).first.size <= 100
    sizes: list[int] = []
    hashes = reduction._hashes
    monkeypatch.setattr(reduction, "_hashes", lambda X, p: sizes.append(p.size) or hashes(X, p))
    assert equal_rows(np.random.default_rng(0).normal(size=(200, 2)), y) is None
    assert sizes == [60]


# The way back


def both(weighted: bool, loss: str = "hinge") -> tuple[Problem, Problem, Groups]:
    X, y = repeated(1)
    weight = np.random.default_rng(1).integers(0, 3, 200).astype(float) if weighted else None
    task = formulate(X, y, Request.of(0.02, loss, pairs=AllPairs(weight)), collapse=True)
    assert task.groups is not None and task.work.n == task.groups.first.size < 101
    return task.meant, task.work, task.groups


@each("loss", ["hinge", "squared_hinge", "square"])
@each("weighted", [False, True])
def test_both_problems_are_the_same_function(weighted: bool, loss: str) -> None:
    meant, work, _ = both(weighted, loss)
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=3)
        assert work.objective(w) == pytest.approx(meant.objective(w), rel=1e-13)


@each("loss", ["hinge", "squared_hinge", "square"])
@each("weighted", [False, True])
def test_a_dual_point_made_from_scores_keeps_its_value(weighted: bool, loss: str) -> None:
    meant, work, groups = both(weighted, loss)
    scores = np.random.default_rng(0).normal(size=work.n)
    few = Minorant.from_scores(work, scores, 0.3 if loss == "hinge" else 0.0)
    many = groups.witness(meant, few)
    assert dual_value(meant, many)[0] == pytest.approx(dual_value(work, few)[0], rel=1e-12)
    assert groups.total(many.c) == pytest.approx(few.c, abs=1e-15)


@each("asked", [{}, {"structure": 0.5}, {"kernel": "rbf"}], ids=str)
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


def test_marginals_that_no_alpha_has_stay_infeasible() -> None:
    meant, work, groups = both(False)
    u, v = np.zeros(work.n_pos), np.zeros(work.n_neg)
    u[0], v[0] = 0.3, 0.3
    few = Minorant.from_marginals(work, u, v)
    many = groups.witness(meant, few)
    assert few.deficiency > 0.1 and many.deficiency == pytest.approx(few.deficiency, rel=1e-9)


def test_pair_lists_have_no_way_back() -> None:
    X, y = repeated()
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(~y)[:5]
    task = formulate(X, y, Request.of(0.1, pairs=PairList(i, j)), collapse=True)
    assert task.groups is None and task.work.n == 200
    listed = Minorant.from_alpha(task.meant, np.ones(5))
    with pytest.raises(InputError, match="pair lists"):
        groups_of(X, y).witness(task.meant, listed)


# The whole way


def best(task: Formulation) -> Solution:
    return task.judge(choose_solver(task.work, "auto", 1e-10, None).solve(task.work), 1e-9)


@each("structure", [0.0, 3.0])
@each("kernel", ["linear", "rbf"])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_the_optimum_in_groups_is_certified_on_the_rows(
    loss: str, kernel: str, structure: float
) -> None:
    X, y = repeated(2)
    chosen = {"kernel": kernel, "gamma": 0.5, "structure": structure}
    plain = best(formulate(X, y, Request.of(0.02, loss, **chosen)))
    task = formulate(X, y, Request.of(0.02, loss, **chosen), collapse=True)
    assert task.groups is not None and isinstance(task.work.space, Rows) and task.meant.n == 200
    found = best(task)
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


def test_a_precomputed_kernel_stays_as_it_is() -> None:
    X, y = repeated()
    assert (
        formulate(X @ X.T, y, Request.of(0.1, kernel="precomputed"), collapse=True).groups is None
    )


@each("lam", [1e-1, 1e-3, 1e-5])
def test_ties_of_integer_features_are_gone_in_groups(lam: float) -> None:
    """5 features of three levels, 4,000 rows: millions of pairs, some 50,000 different ones."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(4000, 5)).astype(float)
    y = rng.uniform(size=4000) < 1 / (1 + np.exp(6 - X.sum(axis=1)))
    task = formulate(X, y, Request.of(lam), collapse=True)
    assert task.work.n < 500
    assert best(task).certificate.reaches(1e-9)
