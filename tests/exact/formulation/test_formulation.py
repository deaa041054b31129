"""From data to problems and back: spaces, lifts, scores of new rows, verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact.formulation.formulation as formulation_module
import aucert.exact.spaces.factor as factor_module
from aucert.exact.api.solve import choose_solver, solve
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import Formulation, formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import Structured
from loops import each

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 3 == 0
X[Y] += 0.7
NEW = RNG.normal(size=(25, 3))
KERNELS = ["linear", "rbf", "laplacian", "precomputed"]
STRUCTURES = [0.0, 0.3, 50.0]


def case(kernel: str, structure: float, sparse: bool = False) -> tuple[Formulation, object, object]:
    """Return a formulation, its training rows and new rows, as the kernel takes them."""
    train: object = X
    new: object = NEW
    if kernel == "precomputed":
        train, new = Laplacian(0.3)(X, X), Laplacian(0.3)(NEW, X)
    if sparse:
        train, new = sp.csr_matrix(train), sp.csr_matrix(new)
    return (
        formulate(train, Y, Request.of(0.02, kernel=kernel, gamma=0.4, structure=structure)),
        train,
        new,
    )


def best(task: Formulation) -> Solution:
    return task.judge(choose_solver(task.work, "auto", 1e-9, None).solve(task.work), 1e-8)


@each("sparse", [False, True])
@each("structure", STRUCTURES)
@each("kernel", KERNELS)
def test_scores_in_sample_equal_scores_out_of_sample(
    kernel: str, structure: float, sparse: bool
) -> None:
    """Of the optimum: by the space meant, by the scorer, and by the rows that solvers see."""
    task, train, _ = case(kernel, structure, sparse)
    solution = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    w = task.lift(solution.w)
    inside = task.meant.space.scores(w)
    assert task.scorer(w)(train) == pytest.approx(inside, abs=1e-11)
    worked = task.work.space.scores(solution.w)
    assert worked - worked.mean() == pytest.approx(inside - inside.mean(), abs=1e-10)


@each("structure", STRUCTURES)
@each("kernel", KERNELS)
def test_new_rows_are_scored_as_if_they_had_been_there(kernel: str, structure: float) -> None:
    """By the factor's continuation to new rows, and the whitened weights on top of it."""
    task, _, new = case(kernel, structure)
    solution = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    score = task.scorer(task.lift(solution.w))
    space = task.work.space
    assert isinstance(space, Rows)
    weights = space.to_input(solution.w)
    if task.factor is None:
        expected = NEW @ weights
    else:
        P = task.factor.pivots
        columns = {
            "rbf": lambda: Gaussian(0.4)(NEW, X[P]),
            "laplacian": lambda: Laplacian(0.4)(NEW, X[P]),
            "precomputed": lambda: np.asarray(new)[:, P],
        }[kernel]()
        expected = task.factor.map(columns) @ weights
    found = score(new)
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-9)


@each("structure", STRUCTURES)
def test_new_rows_of_unscaled_features_far_from_zero(structure: float) -> None:
    raw = X * [1, 100, 10_000] + 1e6
    task = formulate(raw, Y, Request.of(0.02, structure=structure))
    w = best(task).w
    assert task.scorer(w)(raw) == pytest.approx(task.meant.space.scores(w), abs=1e-9)


def test_many_new_rows_are_scored_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    task, _, _ = case("rbf", 0.0)
    w = RNG.normal(size=40)
    whole = task.scorer(w)(NEW)
    monkeypatch.setattr(formulation_module, "BLOCK_BYTES", 8 * 40 * 7)
    assert task.scorer(w)(NEW) == pytest.approx(whole, abs=1e-13)
    assert np.array_equal(task.scorer(np.zeros(40))(NEW), np.zeros(25))


@each(
    ("kernel", "message"),
    [("linear", "3 features"), ("rbf", "3 features"), ("precomputed", "40 kernel values")],
)
def test_new_rows_of_another_width_are_refused(kernel: str, message: str) -> None:
    task, _, _ = case(kernel, 0.0)
    score = task.scorer(np.ones(task.meant.space.dim))
    with pytest.raises(InputError, match=message + ".* new rows have 5"):
        score(np.ones((2, 5)))
    with pytest.raises(InputError, match="not finite"):
        score(np.full((2, 3), np.nan))
    with pytest.raises(InputError, match="coordinates"):
        task.scorer(np.ones(7))


# The spaces


@each(
    ("kernel", "kind"),
    [("linear", Rows), ("rbf", Gram), ("laplacian", Gram), ("precomputed", Gram)],
)
def test_the_space_meant_is_the_true_one(kernel: str, kind: type) -> None:
    plain, _, _ = case(kernel, 0.0)
    assert isinstance(plain.meant.space, kind)
    structured, _, _ = case(kernel, 2.0)
    assert isinstance(structured.meant.space, Structured)
    assert isinstance(structured.meant.space.base, kind)
    for task in (plain, structured):
        assert isinstance(task.work.space, Rows) and task.meant.pairs is task.work.pairs
    assert (plain.factor is None) == (kernel == "linear")
    assert (plain.work is plain.meant) == (kernel == "linear")


@each("structure", STRUCTURES)
def test_a_streamed_kernel_has_the_optimum_of_the_held_one(structure: float) -> None:
    held = best(case("rbf", structure)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formulation_module, "DENSE_LIMIT", 10)
        patch.setattr(factor_module, "DENSE_LIMIT", 10)
        task, _, _ = case("rbf", structure)
        space = task.meant.space
        gram = space.unstructured.gram
        assert gram is not None and gram.K is None
        streamed = best(task)
    assert streamed.status == held.status == Status.CERTIFIED
    assert streamed.certificate.primal == pytest.approx(held.certificate.primal, rel=1e-8)


@each("structure", [0.0, 3.0])
@each("loss", ["hinge", "squared_hinge", "square"])
def test_a_precomputed_kernel_is_the_kernel(loss: str, structure: float) -> None:
    options = {"loss": loss, "structure": structure, "tol": 1e-10}
    named = solve(X, Y, 0.02, kernel="laplacian", gamma=0.3, **options)
    given = solve(Laplacian(0.3)(X, X), Y, 0.02, kernel="precomputed", **options)
    assert named.certificate.primal == pytest.approx(given.certificate.primal, rel=1e-9)
    assert named.certificate.reaches(1e-9) and given.certificate.reaches(1e-9)


@each("structure", [0.0, 3.0])
def test_the_linear_kernel_given_as_a_matrix_is_the_linear_machine(structure: float) -> None:
    linear = solve(X, Y, 0.02, structure=structure)
    kernel = solve(X @ X.T, Y, 0.02, kernel="precomputed", structure=structure)
    assert linear.certificate.primal == pytest.approx(kernel.certificate.primal, rel=1e-8)
    reach = linear.certificate.radius + kernel.certificate.radius
    assert np.linalg.norm(X.T @ kernel.w - linear.w) <= reach


@each("structure", [0.0, 3.0])
@each("sparse", [False, True])
def test_more_features_than_rows_are_solved_in_the_space_of_the_rows(
    sparse: bool, structure: float
) -> None:
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


def test_a_structure_of_fewer_rows_than_features_needs_no_matrix_of_the_features() -> None:
    """20,001 features squared would be 3.2 GB."""
    wide = sp.random(20, 20_001, 0.01, format="csr", random_state=0)
    for rows in (wide, wide.toarray()):
        found = best(formulate(rows, np.arange(20) < 8, Request.of(0.5, structure=2.0)))
        assert found.status == Status.CERTIFIED


def test_nearest_pairs_may_lend_their_own_structure() -> None:
    pairs = nearest_pairs(X, Y, 3)
    values = {
        source: best(
            formulate(X, Y, Request.of(0.02, pairs=pairs, structure=5.0, structure_source=source))
        ).certificate.primal
        for source in ("full", "sampled")
    }
    assert abs(values["full"] - values["sampled"]) > 1e-3
    with pytest.raises(InputError, match="one of full, sampled"):
        formulate(X, Y, Request.of(0.02, pairs=pairs, structure=5.0, structure_source="half"))


@each("kernel", ["poly", "RBF", ""])
def test_unknown_kernels_are_refused(kernel: str) -> None:
    with pytest.raises(InputError, match="kernel must be"):
        formulate(X, Y, Request.of(0.02, kernel=kernel))


def test_a_precomputed_kernel_must_fit_the_labels_and_be_one() -> None:
    with pytest.raises(InputError, match="square"):
        formulate(X, Y, Request.of(0.02, kernel="precomputed"))
    with pytest.raises(InputError, match="rows"):
        formulate(np.eye(7), Y, Request.of(0.02, kernel="precomputed"))
    with pytest.raises(InputError, match="negative eigenvalue"):
        formulate(np.diag(np.where(Y, 1.0, -1.0)), Y, Request.of(0.02, kernel="precomputed"))


# Verdicts


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
    optimum = best(task).certificate
    assert judged.certificate.primal > optimum.primal + 1e-3
    assert judged.certificate.dual <= optimum.primal
    # What is left out of the kernel makes the dual smaller and leaves the primal as it is.
    assert judged.certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert judged.certificate.dual < solution.certificate.dual


def test_a_verdict_may_also_be_better_than_the_solver_thought() -> None:
    task, _, _ = case("rbf", 0.3)
    solution = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    judged = task.judge(replace(solution, status=Status.TIME_LIMIT), 1e-8)
    assert judged.status == Status.CERTIFIED


def test_a_linear_problem_is_its_own_judge() -> None:
    task, _, _ = case("linear", 0.0)
    solution = choose_solver(task.work, "auto", 1e-9, None).solve(task.work)
    assert task.judge(solution, 1e-8) is solution
