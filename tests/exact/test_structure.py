"""The structure: R and its root, whitened rows, and certificates in the structured norm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.certificate import Certificate, Witness
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.formulation import formulate
from aucert.exact.gram import Gram, StreamedGram
from aucert.exact.kernels import Gaussian, Linear
from aucert.exact.losses import LOSSES
from aucert.exact.pairs import AllPairs, PairList
from aucert.exact.problem import Problem, Ridge
from aucert.exact.row_average import RowAverage
from aucert.exact.solving import choose_solver, solve
from aucert.exact.spaces import Rows, Space
from aucert.exact.structure import (
    ClassScatter,
    PairScatter,
    Scatter,
    check_structure,
    scatter_of,
)
from aucert.exact.structured import SparseWhitened, Structured, whitened, whitener

STRUCTURES = (1e-3, 0.3, 1.0, 50.0, 1e3)


def some_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    return positive


def some_pairs(rng: np.random.Generator, positive: np.ndarray) -> AllPairs | PairList:
    """Return all pairs, weighted or not, or a list, with weights and repetitions."""
    kind, n = rng.integers(3), positive.size
    if kind == 0:
        return AllPairs()
    if kind == 1:
        weight = rng.integers(0, 4, n).astype(float)
        weight[[np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]] = 1.5
        return AllPairs(weight)
    m = int(rng.integers(1, 3 * n))
    i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
    return PairList(i, j, rng.uniform(0.1, 2, m))


def dense_scatter(scatter: Scatter, n: int) -> np.ndarray:
    """Return R by its definition as a covariance of pair differences, in doubles."""
    if isinstance(scatter, PairScatter):
        pairs = list(zip(scatter.pairs.i, scatter.pairs.j, scatter.pairs.c, strict=True))
    else:
        assert isinstance(scatter, ClassScatter)
        plus, minus = np.flatnonzero(scatter.positive), np.flatnonzero(~scatter.positive)
        pairs = [
            (i, j, a * b)
            for i, a in zip(plus, scatter.a, strict=True)
            for j, b in zip(minus, scatter.b, strict=True)
        ]
    mean, square = np.zeros(n), np.zeros((n, n))
    for i, j, c in pairs:
        step = np.zeros(n)
        step[i] += 1
        step[j] -= 1
        mean += c * step
        square += c * np.outer(step, step)
    return square - np.outer(mean, mean)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_R_is_the_covariance_of_the_pair_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    positive = some_labels(rng, n)
    scatter = scatter_of(some_pairs(rng, positive), positive, "sampled")
    R = dense_scatter(scatter, n)
    assert scatter.times(np.eye(n)) == pytest.approx(R, abs=1e-13)
    root = scatter.root()
    assert root @ root.T == pytest.approx(R, abs=1e-13)
    values = rng.normal(size=n)
    assert scatter.times(values) == pytest.approx(R @ values, abs=1e-13)
    assert R @ scatter.centre(values) == pytest.approx(R @ values, abs=1e-13)
    assert (scatter.size(values) >= np.abs(R @ values) - 1e-13).all()
    assert np.linalg.eigvalsh(np.diag(scatter.mass()) - R)[0] >= -1e-13


def test_the_root_of_a_long_list_has_no_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(9) < 3
    pairs = PairList(rng.integers(0, 3, 500), rng.integers(3, 9, 500))
    scatter = PairScatter(pairs, 9)
    root = scatter.root()
    assert root.shape == (9, 9)
    assert root @ root.T == pytest.approx(dense_scatter(scatter, positive.size), abs=1e-13)


def test_proposition_1_holds_for_covariances_divided_by_n_and_only_for_them() -> None:
    """[SAUC, Prop. 1]: the covariance of all differences is the sum of the class covariances."""
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(64, 3)), np.arange(64) < 23
    differences = (X[positive][:, None] - X[~positive][None]).reshape(-1, 3)
    of_pairs = np.cov(differences.T, ddof=0)
    biased = np.cov(X[positive].T, ddof=0) + np.cov(X[~positive].T, ddof=0)
    unbiased = np.cov(X[positive].T) + np.cov(X[~positive].T)
    assert of_pairs == pytest.approx(biased, rel=1e-13)
    assert np.abs(np.cov(differences.T) - unbiased).max() > 1e-2 * np.abs(of_pairs).max()
    scatter = scatter_of(AllPairs(), positive)
    assert X.T @ scatter.times(X) == pytest.approx(of_pairs, rel=1e-12)


def test_a_list_with_product_weights_has_the_class_scatter_and_another_list_has_not() -> None:
    rng = np.random.default_rng(2)
    positive = np.arange(9) < 4
    a, b = rng.uniform(0.1, 1, 4), rng.uniform(0.1, 1, 5)
    i, j = np.repeat(np.arange(4), 5), np.tile(np.arange(4, 9), 4)
    product = PairScatter(PairList(i, j, np.outer(a, b).ravel()), 9)
    classes = ClassScatter(positive, a / a.sum(), b / b.sum())
    assert product.times(np.eye(9)) == pytest.approx(classes.times(np.eye(9)), abs=1e-15)
    other = PairScatter(PairList(i[::3], j[::3]), 9).times(np.eye(9))
    assert np.abs(other[:4, 4:]).max() > 0.01, "its classes are correlated"


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (1, 7), (7, 1), (4, 116)])
def test_R_of_all_pairs_is_singular_with_one_constant_for_each_class(
    n_pos: int, n_neg: int
) -> None:
    positive = np.arange(n_pos + n_neg) < n_pos
    R = scatter_of(AllPairs(), positive).times(np.eye(positive.size))
    assert np.linalg.matrix_rank(R, tol=1e-12) == positive.size - 2
    for side in (positive, ~positive):
        assert np.abs(R @ side).max() < 1e-15


def test_the_structure_comes_from_all_rows_unless_the_sampled_ones_are_asked_for() -> None:
    positive = np.arange(6) < 2
    few = PairList(np.array([0, 1]), np.array([2, 3]))
    assert isinstance(scatter_of(few, positive), ClassScatter)
    assert isinstance(scatter_of(few, positive, "sampled"), PairScatter)
    assert isinstance(scatter_of(AllPairs(), positive, "sampled"), ClassScatter)
    with pytest.raises(InputError, match="full or sampled"):
        scatter_of(few, positive, "some")


def test_a_row_weight_means_repetition_in_R() -> None:
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(12, 3)), np.arange(12) % 3 == 0
    times = rng.integers(0, 4, 12)
    times[:2] = 2
    weighted = scatter_of(AllPairs(times.astype(float)), positive)
    again = np.repeat(np.arange(12), times)
    repeated = scatter_of(AllPairs(), positive[again])
    assert X.T @ weighted.times(X) == pytest.approx(
        X[again].T @ repeated.times(X[again]), rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square"])
def test_a_row_weight_means_repetition_in_the_structured_optimum(loss: str, kernel: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(24, 3)), np.arange(24) % 3 == 0
    times = rng.integers(0, 4, size=24)
    times[:2] = 2
    options = {"loss": loss, "kernel": kernel, "gamma": 0.5, "structure": 7.0, "tol": 1e-10}
    one = solve(X, y, 0.02, sample_weight=times, **options).certificate
    two = solve(np.repeat(X, times, axis=0), np.repeat(y, times), 0.02, **options).certificate
    assert one.reaches(1e-9) and two.reaches(1e-9)
    slack = one.gap + two.gap + one.rounding + two.rounding
    assert abs(one.primal - two.primal) <= slack


@pytest.mark.parametrize("structure", [-1.0, np.nan, np.inf, True, "1", None])
def test_a_structure_is_a_number_of_at_least_zero(structure: object) -> None:
    with pytest.raises(InputError, match="structure"):
        check_structure(structure)  # type: ignore[arg-type]


# Whitened rows


def rows_and_scatter(seed: int, sparse: bool) -> tuple[Rows, Scatter, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.uniform(-2, 2, 5)
    X[rng.uniform(size=X.shape) < 0.5] = 0.0
    positive = np.arange(40) < 11
    scatter = scatter_of(some_pairs(rng, positive), positive, "sampled")
    return Rows(sp.csr_matrix(X) if sparse else X), scatter, X - X.mean(axis=0)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_whitened_rows_are_the_rows_times_the_inverse_root(
    seed: int, sparse: bool, structure: float
) -> None:
    space, scatter, X = rows_and_scatter(seed, sparse)
    rng = np.random.default_rng(seed)
    M = np.eye(5) + structure * X.T @ dense_scatter(scatter, 40) @ X
    L = whitener(space, scatter, structure)
    product = L @ L.T
    assert product == pytest.approx(M, rel=1e-10, abs=1e-12)
    white = whitened(space, scatter, structure)
    assert white.dense() @ white.dense().T == pytest.approx(
        X @ np.linalg.solve(M, X.T), rel=1e-9, abs=1e-11
    )
    w, c = rng.normal(size=5), rng.normal(size=40)
    c -= c.mean()
    back = white.to_input(w)
    assert float(w @ w) == pytest.approx(float(back @ M @ back), rel=1e-9)
    assert white.scores(w) == pytest.approx(X @ back, rel=1e-9, abs=1e-10)
    assert white.pull(c) == pytest.approx(white.dense().T @ c, rel=1e-9, abs=1e-10)
    assert white.dual_norm2(c) == pytest.approx(float(c @ white.dense() @ white.pull(c)), rel=1e-9)
    assert white.rows(np.array([3, 17])) == pytest.approx(white.dense()[[3, 17]], abs=1e-12)
    assert (white.norms >= np.linalg.norm(white.dense(), axis=1)).all()
    scores, error = white.careful_scores(w)
    assert (np.abs(scores - X @ back) <= error + 1e-10 * np.abs(scores)).all()


def test_whitening_keeps_sparse_rows_sparse() -> None:
    space, scatter, _ = rows_and_scatter(0, True)
    white = whitened(space, scatter, 2.0)
    assert isinstance(white, SparseWhitened) and white.is_sparse and sp.issparse(white.base.X)


def test_nobody_can_read_the_rows_before_whitening_by_mistake() -> None:
    """Code that takes `X` of whitened sparse rows gets the whitened product, or an error."""
    space, scatter, _ = rows_and_scatter(1, True)
    white = whitened(space, scatter, 9.0)
    w, c = np.ones(5), np.arange(40.0) - 19.5
    assert white.X @ w - white.offset @ w == pytest.approx(white.dense() @ w, abs=1e-10)
    assert white.X.T @ c == pytest.approx(white.dense().T @ c, abs=1e-9)
    with pytest.raises(TypeError):
        white.X[:, [0]]
    positive = np.arange(40) < 11
    average = RowAverage.of(white, positive)
    dense = RowAverage.of(Rows(white.dense()), positive)
    assert average.value(w) == pytest.approx(dense.value(w), rel=1e-12)


@pytest.mark.parametrize(
    ("structure", "scale"), [(0.3, 1.0), (1e3, 1.0), (1e6, 1.0), (0.3, 1e4), (1e3, 1e4)]
)
@pytest.mark.parametrize("seed", range(10))
def test_stated_errors_of_sparse_whitened_rows_cover_the_solves_with_L(
    seed: int, structure: float, scale: float
) -> None:
    """Against exact rational solves with the same L."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(7, 3)) * 8) * (rng.uniform(size=(7, 3)) < 0.7)
    X[:, 2] = X[:, 1] * scale + X[:, 2]  # an ill-conditioned L
    positive = np.arange(7) < 3
    space = Rows(sp.csr_matrix(X))
    white = whitened(space, scatter_of(AllPairs(), positive), structure)
    assert isinstance(white, SparseWhitened)
    w, c = rng.normal(size=3), np.array([1.0, 2, 1, -1, -1, -1, -1])
    exact_L = [[Fraction(float(x)) for x in row] for row in white.L]
    offset = [Fraction(float(x)) for x in space.offset]
    rows = [[Fraction(float(x)) - o for x, o in zip(row, offset, strict=True)] for row in X]
    back = fraction_solve(list(map(list, zip(*exact_L, strict=True))), w)
    scores, error = white.careful_scores(w)
    for k, row in enumerate(rows):
        true = sum(x * v for x, v in zip(row, back, strict=True))
        assert abs(Fraction(float(scores[k])) - true) <= Fraction(float(error[k])) + Fraction(
            2.0**-52
        ) * abs(true)
    pulled = [sum(Fraction(float(c[k])) * rows[k][d] for k in range(7)) for d in range(3)]
    g = fraction_solve(exact_L, pulled)
    slip = sum((Fraction(float(x)) - y) ** 2 for x, y in zip(white.pull(c), g, strict=True))
    assert slip <= Fraction(white.pull_error(c)) ** 2
    norm2 = sum(x * x for x in g)
    assert abs(Fraction(white.dual_norm2(c)) - norm2) <= Fraction(white.dual_norm2_error(c))
    for k, row in enumerate(rows):
        image = fraction_solve(exact_L, row)
        assert sum(x * x for x in image) <= Fraction(float(white.norms[k])) ** 2


def test_too_many_features_and_too_large_a_structure_are_refused() -> None:
    positive = np.array([True, False, False])
    wide = Rows(sp.csr_matrix(np.eye(3, 10_001)))
    with pytest.raises(TooLargeError, match="10001 features"):
        whitener(wide, scatter_of(AllPairs(), positive), 1.0)
    line = Rows(np.outer(np.arange(3.0), np.ones(4)) * 1e10)
    with pytest.raises(InputError, match="scale the features"):
        whitener(line, scatter_of(AllPairs(), positive), 1e10)


# The structured norm and its certificate


def fraction_solve(matrix, right) -> list[Fraction]:
    """Return the exact solution of a linear system."""
    size = len(right)
    rows = [
        [Fraction(x) for x in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)
    ]
    for k in range(size):
        pivot = next(r for r in range(k, size) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(size):
            if r != k and rows[r][k] != 0:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]


def exact_scatter(pairs: AllPairs | PairList, positive: np.ndarray) -> list[list[Fraction]]:
    """Return R in fractions, of all pairs with row weights or of a list."""
    n = positive.size
    if isinstance(pairs, PairList):
        triples = list(zip(pairs.i.tolist(), pairs.j.tolist(), pairs.c.tolist(), strict=True))
        triples = [(i, j, Fraction(c)) for i, j, c in triples]
    else:
        weight = [1.0] * n if pairs.weight is None else pairs.weight.tolist()
        plus, minus = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
        triples = [(i, j, Fraction(weight[i]) * Fraction(weight[j])) for i in plus for j in minus]
    whole = sum(c for *_, c in triples)
    mean = [Fraction(0)] * n
    R = [[Fraction(0)] * n for _ in range(n)]
    for i, j, c in triples:
        share = c / whole
        mean[i] += share
        mean[j] -= share
        for p, q, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            R[p][q] += sign * share
    return [[R[p][q] - mean[p] * mean[q] for q in range(n)] for p in range(n)]


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
        Gram(X @ X.T, check=False),
        StreamedGram(Linear(), X),
        Rows(sp.csr_matrix(X)),
    ]
    base = spaces[seed % 4]
    space = Structured(base, scatter_of(pairs, positive, "sampled"), structure)
    rows = [[Fraction(float(x)) for x in row] for row in X]
    K = [[sum(x * z for x, z in zip(p, q, strict=True)) for q in rows] for p in rows]
    return space, K, exact_scatter(pairs, positive), X, structure


@pytest.mark.parametrize("seed", range(120))
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


@pytest.mark.parametrize("seed", range(120))
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
        Gram(Gaussian(0.5)(X, X), check=False),
        StreamedGram(Gaussian(0.5), X),
    ]
    base = spaces[rng.integers(5)]
    structure = float(10.0 ** rng.uniform(-3, 4))
    space = Structured(base, scatter_of(pairs, positive, "sampled"), structure)
    problem = Problem(space, positive, pairs, LOSSES[loss], Ridge(10.0 ** rng.uniform(-5, 2)))
    w = rng.normal(size=space.dim) * 10.0 ** rng.uniform(-3, 2)
    return problem, w / max(base.reach, 1e-3)


@given(seed=st.integers(0, 2**32), loss=st.sampled_from(sorted(LOSSES)))
@settings(max_examples=150, deadline=None)
def test_gap_is_never_negative_in_a_structured_space(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    problem, w = random_structured(rng, loss)
    scores = rng.normal(size=problem.n) * 10.0 ** rng.uniform(-2, 2)
    for width in (0.0, 0.5):
        witness = Witness.from_scores(problem, scores, width)
        found = Certificate.of(problem, w, witness)  # raises below minus its rounding
        assert found.gap >= 0 and found.dual <= found.primal + found.rounding
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


@pytest.mark.parametrize("structure", [0.3, 50.0])
def test_the_certificate_is_that_of_the_whitened_rows(structure: float) -> None:
    """Two independent roads: whitened features, and the norm in the original coordinates."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 4)) * [1, 10, 100, 1000] + 1e4, np.arange(30) % 3 == 0
    task = formulate(X, y, 0.01, structure=structure)
    solution = choose_solver(task.work, "auto", 1e-10, None).solve(task.work)
    judged = task.judge(solution, 1e-9)
    assert judged.certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-11)
    assert judged.certificate.dual == pytest.approx(solution.certificate.dual, rel=1e-11)
    assert judged.certificate.reaches(1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square"])
@pytest.mark.parametrize("shape", [(60, 6), (20, 45)])
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
        task = formulate(X, y, 0.01, kernel=kernel)
        space = Structured(task.meant.space, scatter_of(AllPairs(), y), 0.0)
        again = Certificate.of(task.meant.over(space), plain.w, plain.witness)
        assert again.primal == pytest.approx(plain.certificate.primal, rel=1e-12)
        assert again.dual == pytest.approx(plain.certificate.dual, rel=1e-12)


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
        task = formulate(X, y, 0.1, pairs=pair, structure=5.0, structure_source=source)
        solution = choose_solver(task.work, "auto", 1e-10, None).solve(task.work)
        values[source] = task.judge(solution, 1e-9).certificate.primal
    plain = solve(X, y, 0.1, pairs=pair).certificate.primal
    assert values["sampled"] == pytest.approx(plain, rel=1e-9)
    assert values["full"] > plain * 1.01
