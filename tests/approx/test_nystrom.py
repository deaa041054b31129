"""Nyström features: how landmarks are drawn, the map, its transformer, and the true kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from aucert.approx import Nystrom, against_true_kernel, leverage_scores, nystrom, nystrom_map
from aucert.approx import landmarks as ways
from aucert.approx.bandwidth import READINGS, gamma_mean_distance
from aucert.approx.landmarks import LANDMARKS, Landmarks, choose_landmarks, draw_by_pivots, kmeans
from aucert.approx.nystrom import drawn_rows
from aucert.exact import HINGE, AllPairs, Gram, Ridge, Rows, pair_problem
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from loops import each, refuses, seeds

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

KERNEL = Gaussian(0.3)
KERNELS: list[Kernel] = [KERNEL, Laplacian(0.2), Linear()]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0
FRESH = RNG.normal(size=(25, 3)) * 2


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.data())
def test_shares_add_up_and_are_as_near_to_proportion_as_they_can(sizes, data) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = ways.shares(np.array(sizes), total)
    quota = total * np.array(sizes) / sum(sizes)
    assert counts.sum() == total
    assert (counts >= 1).all() and (counts <= sizes).all()
    if (quota >= 1).all():
        assert np.abs(counts - quota).max() < 1


def test_every_centre_is_the_mean_of_the_rows_nearest_to_it() -> None:
    found = kmeans(X, 8, seed=0)
    assert found.index is None
    nearest = ((X[:, None] - found.rows[None]) ** 2).sum(-1).argmin(axis=1)
    means = np.array([X[nearest == k].mean(axis=0) for k in range(8)])
    np.testing.assert_allclose(found.rows, means, atol=1e-12)
    few = np.repeat(X[:3], 10, axis=0)
    centres = kmeans(few, 10, seed=0).rows
    np.testing.assert_allclose(np.unique(centres, axis=0), np.unique(X[:3], axis=0), rtol=1e-14)
    assert len(kmeans(np.ones((5, 2)), 3).rows) == 1


def choose(method: str, rows: object = X, count: int = 8, seed: int = 1) -> Landmarks:
    return choose_landmarks(method, rows, count, KERNEL, Y, seed)


def naive_pivots(K: np.ndarray, count: int, seed: int) -> list[int]:
    """Draw from the diagonal of the Schur complement, made anew from its definition."""
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(count):
        left = K - K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)]) @ K[chosen]
        share = np.clip(np.diag(left), 0, None)
        share[chosen] = 0
        chosen.append(int(rng.choice(len(K), p=share / share.sum())))
    return chosen


@each("seed", seeds(5))
def test_pivots_are_drawn_by_what_is_left_unexplained(seed: int) -> None:
    index = draw_by_pivots(X, 10, KERNEL, seed).index
    assert index is not None and index.tolist() == naive_pivots(KERNEL(X, X), 10, seed)
    found = draw_by_pivots(np.repeat(X[:12], 3, axis=0), 36, KERNEL, seed)
    assert len(found.rows) == 12 == np.unique(found.rows, axis=0).shape[0]  # equal rows: one


@each("kernel", KERNELS, ids=str)
@each("ridge", [1e-3, 0.1])
def test_scores_are_the_diagonal_of_the_smoother(kernel, ridge: float) -> None:
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    for rows in (X, thin):
        K = kernel(rows, rows)
        wanted = np.diag(K @ np.linalg.inv(K + 60 * ridge * np.eye(60)))
        found = leverage_scores(rows if rows is X else sp.csr_array(thin), kernel, ridge)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-10)


@each("n_pilot", [5, 20, 45])
def test_a_pilot_gives_upper_bounds(n_pilot: int) -> None:
    exact = leverage_scores(X, KERNEL, 0.01)
    found = leverage_scores(X, KERNEL, 0.01, n_pilot, seed=1)
    assert (found >= exact - 1e-12).all() and (found <= 1).all()
    assert (leverage_scores(X, KERNEL, 0.01, 500) == exact).all()


@pytest.mark.slow  # 6,000 draws
def test_the_first_draw_follows_the_scores() -> None:
    scores = leverage_scores(X[:6], KERNEL, 0.05)
    rng, count = np.random.default_rng(2), np.zeros(6)
    for _ in range(6000):
        count[ways.draw_by_leverage(X[:6], 1, KERNEL, rng, ridge=0.05)[0]] += 1
    share = scores / scores.sum()
    assert np.abs(count / 6000 - share).max() < 4 * np.sqrt(share.max() / 6000)


@each("method", LANDMARKS)
def test_a_seed_names_the_choice_of_different_rows(method: str) -> None:
    found = choose(method)
    if found.index is not None and method != "leverage":
        assert np.unique(found.index).size == 8
        np.testing.assert_array_equal(found.rows, X[found.index])
    np.testing.assert_array_equal(found.rows, choose(method).rows)
    assert not np.array_equal(found.rows, choose(method, seed=2).rows)
    rng = np.random.default_rng(1)
    first = choose_landmarks(method, X, 8, KERNEL, Y, rng).rows
    np.testing.assert_array_equal(first, found.rows)
    assert not np.array_equal(first, choose_landmarks(method, X, 8, KERNEL, Y, rng).rows)
    every = choose(method, count=60).rows  # as many as there are rows
    np.testing.assert_array_equal(np.unique(every, axis=0), np.unique(X, axis=0))


@each("kernel", KERNELS, ids=str)
def test_the_kernel_of_the_features_is_the_formula_in_and_out_of_sample(kernel: Kernel) -> None:
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    for rows, form in ((X, np.asarray), (thin, sp.csr_matrix)):
        for landmarks in (rows[:8], form(rows)[:8]):
            found = nystrom_map(kernel, landmarks)
            for A in (rows, FRESH):
                inverse = np.linalg.pinv(kernel(rows[:8], rows[:8]), 1e-12, hermitian=True)
                wanted = kernel(A, rows[:8]) @ inverse @ kernel(rows[:8], rows)  # e(a)'W^+ e(b)
                features = found.transform(form(A)) @ found.transform(rows).T
                np.testing.assert_allclose(features, wanted, atol=1e-9)
                np.testing.assert_allclose(found(A, rows), wanted, atol=1e-9)
    w = RNG.normal(size=found.rank)
    theta, Z = found.coefficients(w), thin[:8]  # a sum of kernel functions of the landmarks
    np.testing.assert_allclose(found.transform(FRESH) @ w, kernel(FRESH, Z) @ theta, rtol=1e-9)
    assert theta @ kernel(Z, Z) @ theta == pytest.approx(w @ w, rel=1e-9)
    model = Nystrom(gamma=0.4, n_landmarks=9, landmarks="stratified", random_state=3).fit(X, Y)
    chosen = choose_landmarks("stratified", X, 9, Gaussian(0.4), Y, 3)
    np.testing.assert_array_equal(model.landmark_indices_, chosen.index)
    wanted = nystrom_map(Gaussian(0.4), chosen.rows).transform(FRESH)
    np.testing.assert_array_equal(model.transform(FRESH), wanted)


def test_the_cut_off_drops_eigenvalues_up_to_its_share_of_the_largest() -> None:
    W = Gaussian(0.3)(X, X)
    values = np.linalg.eigvalsh(W)[::-1]
    for rcond in (1e-12, 1e-6, 1e-2):
        found = nystrom_map(Gaussian(0.3), X, rcond)
        assert found.rank == int((values > rcond * values[0]).sum())
        np.testing.assert_allclose(found.eigenvalues, values[: found.rank], atol=1e-13 * values[0])
        dropped = np.sqrt(rcond * values[0])  # times |f|: what a function loses at a landmark
        assert np.sqrt(found.residual(X).max()) <= dropped * (1 + 1e-6)


BX = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 2.0, 3.0] + 5


def test_the_mean_distance_is_measured_from_the_mean_row() -> None:
    b = np.mean([np.sum((row - BX.mean(axis=0)) ** 2) for row in BX])
    kernel = Gaussian(gamma_mean_distance(BX))
    d2 = float(np.sum((BX[0] - BX[1]) ** 2))
    assert kernel(BX[:1], BX[1:2])[0, 0] == pytest.approx(np.exp(-d2 / b), rel=1e-12)
    expected = {"d2/b": 1 / b, "d2/2b": 0.5 / b, "d2/2b2": 0.5 / b**2, "d2*b": b}
    assert {r: gamma_mean_distance(BX, r) for r in READINGS} == pytest.approx(expected, rel=1e-12)
    thin = np.where(BX > 5, BX, 0.0)
    wide = gamma_mean_distance(sp.csr_array(thin))
    assert wide == pytest.approx(gamma_mean_distance(thin), rel=1e-9)


def test_the_sample_is_the_same_however_rows_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(900, 2))
    found = [drawn_rows(da.from_array(X, chunks=(m, 1)), 50, 3) for m in (100, 333)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(drawn_rows(da.from_array(X, chunks=200), 5000, 3), X)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=4)
    np.testing.assert_array_equal(drawn_rows(table, 50, 3), found[0])
    assert all((X == row).all(axis=1).any() for row in found[0])
    monkeypatch.setattr(nystrom, "LEAST_SAMPLE", 100)
    cut = da.from_array(X, chunks=(250, 1))
    model = Nystrom(gamma=0.5, n_landmarks=5, random_state=1).fit(cut)
    assert model.landmark_indices_ is None
    features: Any = model.transform(cut)  # and nothing is computed before it is asked for
    assert features.shape == (900, 5) and features.chunks[0] == (250, 250, 250, 150)
    np.testing.assert_allclose(features.compute(), model.transform(X))


class Overflowing(Linear):
    def __call__(self, X: object, Z: object) -> np.ndarray:
        return np.full((60, 60), np.inf)


HOLED = np.where(np.arange(180).reshape(60, 3) == 10, np.nan, X)
MAP = nystrom_map(Gaussian(0.3), X[:10])
SPAN = pair_problem(Rows(MAP.transform(X)), Y, AllPairs(), HINGE, Ridge(0.01))
IN_ORDER, ASIDE = (dd.from_pandas(pd.DataFrame(BX, columns=list(x))) for x in ("abc", "acb"))


def of_dask() -> Any:
    return Nystrom(n_landmarks=3).fit(IN_ORDER)


WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("only 60 rows", lambda: choose("kmeans", count=61)),
    ("whole number", lambda: choose_landmarks("pivoted", X, 2.5, KERNEL, Y)),  # type: ignore[arg-type]
    ("whole number", lambda: choose("uniform", count=0)),
    ("row 3, column 1", lambda: choose("uniform", HOLED)),
    ("each of the 2 classes", lambda: ways.draw_by_class(X, 1, Y)),
    ("labels of shape", lambda: ways.draw_by_class(X, 3, Y[:5])),
    ("requires y", lambda: choose_landmarks("stratified", X, 3, KERNEL)),
    ("zero on every row", lambda: draw_by_pivots(np.zeros((4, 2)), 2, Linear())),
    ("one of uniform", lambda: choose_landmarks("grid", X, 3, KERNEL)),
    ("ridge must be > 0", lambda: leverage_scores(X, KERNEL, 0.0)),
    ("n_pilot must be", lambda: leverage_scores(X, KERNEL, 0.1, 0)),
    ("zero on every row", lambda: leverage_scores(np.zeros((4, 2)), Linear(), 0.1)),
    ("span nothing", lambda: nystrom_map(Linear(), np.zeros((3, 2)))),
    ("landmarks has a value that is not finite", lambda: nystrom_map(Linear(), [[np.inf]])),
    ("not finite on the landmarks", lambda: nystrom_map(Overflowing(), X)),
    *(("rcond", lambda r=r: nystrom_map(KERNEL, X, r)) for r in (0.0, 1.0, -1e-3, np.nan)),
    ("20 rows of the kernel", lambda: against_true_kernel(SPAN, MAP, X[:20])),
    ("over the rows", lambda: against_true_kernel(SPAN.over(Gram(np.eye(60))), MAP, X)),
    (".", lambda: gamma_mean_distance(np.ones((4, 2)))),
    ("reading", lambda: gamma_mean_distance(X, "d")),
    ("stratified landmarks need", lambda: Nystrom(landmarks="stratified").fit(da.from_array(X), Y)),
    ("3 columns, one for each", lambda: of_dask().transform(da.ones((5, 2)))),
    ("not those that were fitted", lambda: of_dask().transform(ASIDE)),
    ("not finite", lambda: of_dask().transform(da.from_array(HOLED)).compute()),
]


def test_what_cannot_be_used_is_refused() -> None:
    for word, call in WRONG:
        refuses(word, call)
