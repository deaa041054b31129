"""The structured norm and its certificate: valid for any whitening, and tight."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.api.solve import choose_solver, solve
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Linear
from aucert.exact.spaces.rows import Rows, Space
from aucert.exact.structured import Structured, scatter_of
from loops import each, seeds
from structures import exact_scatter, fraction_solve, some_labels, some_pairs


def exact_case(seed: int) -> tuple[Structured, list, list, np.ndarray, float]:
    """Return a structured space on a few rows of dyadic numbers, with exact K and R."""
    rng = np.random.default_rng([5, seed])
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    positive = some_labels(rng, n)
    X = np.round(rng.normal(size=(n, d)) * 8) / 8 * 2.0 ** rng.integers(-6, 7)
    if seed % 3 == 0:
        X += 2.0**14  # a common offset costs digits, and the bounds have to say how many
    pairs = some_pairs(rng, positive)
    structure = float(2.0 ** rng.integers(-10, 11))
    spaces: list[Space] = [
        Rows(X),
        Gram.of_kernel(Linear(), X),
        Gram.of_kernel(Linear(), X, held=False),
        Rows(sp.csr_matrix(X)),
    ]
    base = spaces[seed % 4]
    space = Structured(base, scatter_of(pairs, positive, "sampled"), structure)
    rows = [[Fraction(float(x)) for x in row] for row in X]
    K = [[sum(x * z for x, z in zip(p, q, strict=True)) for q in rows] for p in rows]
    return space, K, exact_scatter(pairs, positive), X, structure


@each("seed", seeds(120))
def test_the_dual_bound_is_never_below_the_exact_dual_norm_and_hardly_above(seed: int) -> None:
    space, K, R, _, structure = exact_case(seed)
    n, rng = space.n, np.random.default_rng(seed)
    c = [Fraction(float(x)) for x in np.round(rng.normal(size=n) * 16) / 16]
    c[-1] -= sum(c)
    system = [
        [
            Fraction(int(p == q)) + Fraction(structure) * sum(R[p][k] * K[k][q] for k in range(n))
            for q in range(n)
        ]
        for p in range(n)
    ]
    theta = fraction_solve(system, c)
    true = sum(c[p] * sum(K[p][q] * theta[q] for q in range(n)) for p in range(n))
    given = np.array([float(x) for x in c])
    bound, error = space.dual_norm2(given), space.dual_norm2_error(given)
    assert Fraction(bound) + Fraction(error) >= true
    assert Fraction(bound) <= true + Fraction(error) + Fraction(1e-9) * true, "loose"


@each("seed", seeds(120))
def test_the_structured_norm_is_within_its_stated_rounding(seed: int) -> None:
    space, K, R, X, structure = exact_case(seed)
    n, rng = space.n, np.random.default_rng(seed)
    w = rng.normal(size=space.dim) / max(float(np.abs(X).max()), 1e-9)
    if isinstance(space.base, Rows):
        offset = [Fraction(float(x)) for x in space.base.offset]
        exact_w = [Fraction(float(x)) for x in w]
        scores = [
            sum((Fraction(float(x)) - o) * v for x, o, v in zip(row, offset, exact_w, strict=True))
            for row in X
        ]
        norm2 = sum(v * v for v in exact_w)
    else:
        exact_w = [Fraction(float(x)) for x in w]
        scores = [sum(K[p][q] * exact_w[q] for q in range(n)) for p in range(n)]
        norm2 = sum(v * s for v, s in zip(exact_w, scores, strict=True))
    spread = sum(scores[p] * R[p][q] * scores[q] for p in range(n) for q in range(n))
    true = norm2 + Fraction(structure) * spread
    assert abs(Fraction(space.norm2(w)) - true) <= Fraction(space.norm2_error(w))


def random_structured(rng: np.random.Generator, loss: str) -> tuple[Problem, np.ndarray]:
    """Return a small structured problem of any sort, and coordinates of ordinary scores."""
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 5))
    positive = some_labels(rng, n)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3)
    X = np.round(X) if rng.integers(2) else X
    X[0, 0] += 3.0
    pairs = some_pairs(rng, positive)
    spaces: list[Space] = [
        Rows(X),
        Rows(sp.csr_matrix(X)),
        Gram(X @ X.T),
        Gram.of_kernel(Gaussian(0.5), X),
        Gram.of_kernel(Gaussian(0.5), X, held=False),
    ]
    base = spaces[rng.integers(5)]
    structure = float(10.0 ** rng.uniform(-3, 4))
    space = Structured(base, scatter_of(pairs, positive, "sampled"), structure)
    problem = pair_problem(space, positive, pairs, LOSSES[loss], Ridge(10.0 ** rng.uniform(-5, 2)))
    w = rng.normal(size=space.dim) * 10.0 ** rng.uniform(-3, 2)
    return problem, w / max(base.reach, 1e-3)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(sorted(LOSSES)))
@settings(max_examples=150, deadline=None)
def test_gap_is_never_negative_in_a_structured_space(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    problem, w = random_structured(rng, loss)
    scores = rng.normal(size=problem.n) * 10.0 ** rng.uniform(-2, 2)
    for width in (0.0, 0.5):
        witness = Minorant.from_scores(problem, scores, width)
        found = Certificate.of(problem, w, witness)  # raises below minus its rounding
        assert found.gap >= 0 and found.dual <= found.primal
        # The point that belongs to the dual point is the one that can be nearest to it.
        near = problem.space.pull(witness.c) / problem.lam
        assert Certificate.of(problem, near, witness).gap >= 0


@given(seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_pull_represents_the_structured_inner_product(seed: int) -> None:
    """<pull(c), f> in the structured product is sum_i c_i f(x_i), for every f."""
    rng = np.random.default_rng(seed)
    problem, w = random_structured(rng, "hinge")
    space = problem.space
    c = rng.normal(size=space.n)
    c -= c.mean()
    expected = float(c @ space.scores(w))
    size = float(np.abs(c) @ np.abs(space.scores(w))) + 1e-9
    assert space.inner(space.pull(c), w) == pytest.approx(expected, abs=1e-6 * size)
    assert space.inner(w, w) == pytest.approx(space.norm2(w), rel=1e-9, abs=1e-12)


@each("structure", [0.3, 50.0])
@pytest.mark.long_digits
def test_the_certificate_is_that_of_the_whitened_rows(structure: float) -> None:
    """Two independent roads: whitened features, and the norm in the original coordinates."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 4)) * [1, 10, 100, 1000] + 1e4, np.arange(30) % 3 == 0
    task = formulate(X, y, Request.of(0.01, structure=structure))
    solution = choose_solver(task.work, "auto", 1e-10, None).solve(task.work)
    judged = task.judge(solution, 1e-9)
    held, other = judged.certificate, solution.certificate
    room = held.rounding + other.rounding + 1e-11 * other.primal
    assert abs(held.primal - other.primal) <= room and abs(held.dual - other.dual) <= room
    assert judged.certificate.reaches(1e-9)


@each("loss", ["hinge", "squared_hinge", "square"])
@each("shape", [(60, 6), (20, 45)])
def test_sparse_and_dense_rows_have_the_same_structured_optimum(
    shape: tuple[int, int], loss: str
) -> None:
    rng = np.random.default_rng(10)
    X = rng.normal(size=shape) * (rng.uniform(size=shape) < 0.3)
    y = np.arange(shape[0]) % 3 == 0
    one = solve(X, y, 0.05, loss=loss, structure=4.0, tol=1e-9)
    two = solve(sp.csr_matrix(X), y, 0.05, loss=loss, structure=4.0, tol=1e-9)
    assert one.certificate.reaches(1e-8) and two.certificate.reaches(1e-8)
    slack = one.certificate.gap + two.certificate.gap + 1e-12
    assert abs(one.certificate.primal - two.certificate.primal) <= slack
    reach = one.certificate.radius + two.certificate.radius
    assert np.linalg.norm(one.w - two.w) <= reach


def test_without_structure_the_optimum_is_that_of_the_plain_machine() -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 4 == 0
    for kernel in ("linear", "rbf"):
        plain = solve(X, y, 0.01, kernel=kernel)
        zero = solve(X, y, 0.01, kernel=kernel, structure=0.0)
        assert np.array_equal(plain.w, zero.w)
        task = formulate(X, y, Request.of(0.01, kernel=kernel))
        space = Structured(task.meant.space, scatter_of(AllPairs(), y), 0.0)
        again = Certificate.of(task.meant.over(space), plain.w, plain.witness)
        room = again.rounding + plain.certificate.rounding
        assert abs(again.primal - plain.certificate.primal) <= room
        assert abs(again.dual - plain.certificate.dual) <= room


def test_one_row_in_each_class_has_no_spread() -> None:
    """Then the structure changes nothing, however large."""
    X, y = np.array([[0.0, 1.0], [2.0, 0.5]]), np.array([0, 1])
    plain = solve(X, y, 0.3).certificate
    for structure in (1.0, 1e6):
        found = solve(X, y, 0.3, structure=structure).certificate
        assert found.primal == pytest.approx(plain.primal, rel=1e-12)


def test_a_listed_structure_follows_the_pairs() -> None:
    """With one pair there is nothing to be compact; the full structure still sees all rows."""
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(10, 2)), np.arange(10) < 4
    pair = PairList(np.array([0]), np.array([7]))
    values = {}
    for source in ("full", "sampled"):
        task = formulate(X, y, Request.of(0.1, pairs=pair, structure=5.0, structure_source=source))
        solution = choose_solver(task.work, "auto", 1e-10, None).solve(task.work)
        values[source] = task.judge(solution, 1e-9).certificate.primal
    plain = solve(X, y, 0.1, pairs=pair).certificate.primal
    assert values["sampled"] == pytest.approx(plain, rel=1e-9)
    assert values["full"] > plain * 1.01
