"""The square loss over all pairs as an average over rows: moments, parts, gaps, supports."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import naive
from aucert.approx.online import from_rows
from aucert.exact.api.solve import solve
from aucert.exact.errors import TooLargeError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import linear_problem
from aucert.exact.solvers import closed_form
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import RowAverage, moments, top_eigenvalue
from aucert.exact.square_loss.support import SupportLoss, optimum_on
from loops import each, refuses, seeds
from pairwise import ExactSquare, differences, least_mean_square, mean_square, pair_weights

KINDS = ["plain", "shifted", "sparse", "weighted"]
W = np.linspace(-1, 1, 5)


def draw(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Rows]:
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(23, 5)) * [1.0, 3.0, 0.2, 1.0, 1.0], np.arange(23) % 4 == 0
    X[positive] += 0.5
    X = X + 1e3 * (kind == "shifted")
    X[(rng.random(X.shape) < 0.6) & (kind == "sparse")] = 0.0
    weight = rng.integers(0, 4, size=23).astype(float) if kind == "weighted" else None
    return X, positive, weight, Rows(sp.csr_matrix(X) if kind == "sparse" else X)


@each("kind", KINDS)
def test_value_gradient_and_moments_are_those_of_the_pairs(kind: str) -> None:
    X, positive, weight, space = draw(kind)
    loss = RowAverage.of(space, positive, AllPairs(weight), 0.6)
    D, c = differences(X, positive), pair_weights(positive, weight)
    M, delta = (D.T * c) @ D, c @ D  # the mean of (1 - w'D)^2 is w'M w - 2 w'delta + 1
    wanted = mean_square(X, positive, W, weight) + 0.3 * (W @ W)
    assert loss.value(W) == pytest.approx(wanted, rel=1e-10)
    slope = pytest.approx(2 * (M @ W - delta) + 0.6 * W, rel=1e-7, abs=1e-6)
    assert loss.gradient(W) == slope
    found = moments(space, positive, AllPairs(weight))
    np.testing.assert_allclose(found.M, M, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.delta, delta, rtol=1e-8)
    some = np.array([3, 1])
    part = moments(space, positive, AllPairs(weight), some)
    np.testing.assert_allclose(part.delta, found.delta[some], rtol=1e-12)
    np.testing.assert_allclose(part.sigma, found.sigma[np.ix_(some, some)], rtol=1e-12)
    top = np.abs(X).max(axis=0)  # the size bounds the values before centring
    assert found.size is not None
    assert (found.size >= top * (1 - 1e-12)).all() and (found.size <= 3 * top).all()
    if kind == "plain":
        problem = linear_problem(X, positive, 0.4, "square")
        stated = pytest.approx(problem.objective(W), rel=1e-12)
        assert RowAverage.of_problem(problem).value(W) == stated
    if weight is None:  # the row losses as printed, eq. (4), have it as their average
        r, sides = positive.mean(), (X[positive].mean(axis=0), X[~positive].mean(axis=0))
        near = ((X - np.where(positive[:, None], *sides)) @ W) ** 2
        near = np.mean(near / np.where(positive, r, 1 - r) + (1 + W @ (sides[1] - sides[0])) ** 2)
        assert loss.value(W) == pytest.approx(near + 0.3 * (W @ W))
        assert loss.share == pytest.approx(r)


def test_a_large_curvature_is_bounded_from_above_within_a_quarter() -> None:
    rng, n = np.random.default_rng(0), 600
    even = np.linspace(0, 1, n)  # the largest ones nearly equal: hard for Lanczos
    for seed, spectrum in enumerate((*rng.exponential(size=(3, n)), even, even)):
        bound = top_eigenvalue(lambda v, s=spectrum: s * v, n, np.random.default_rng(seed), n)
        assert spectrum.max() <= bound <= spectrum.max() / 0.8 * (1 + 1e-9)
    X = sp.random(560, 510, density=0.02, random_state=1, format="csr")
    positive = np.arange(560) % 5 == 0
    sparse, dense = (RowAverage.of(Rows(rows), positive) for rows in (X, X.toarray()))
    w = rng.normal(size=510)
    np.testing.assert_allclose(sparse.gradient(w), dense.gradient(w), rtol=1e-9, atol=1e-12)
    D = np.sqrt(dense.mass)[:, None] * (X.toarray() - sparse.means[positive * 1])
    top = 2 * np.linalg.norm(np.vstack([D, dense.delta]), 2) ** 2
    for loss in (sparse, dense):
        assert top * (1 - 1e-9) <= loss.curvature(np.random.default_rng(1)) <= 1.26 * top
    for same in (np.ones((6, 3)), sp.csr_matrix((6, 3))):
        assert RowAverage.of(Rows(same), np.arange(6) < 2).curvature(rng) == 0.0


@each("sparse", [False, True])
@each("far", [0.0, 1e3, 1e8, 1e14])
def test_the_lower_bound_is_below_the_optimum_of_exact_arithmetic(far: float, sparse: bool) -> None:
    """With rows at 1e8 the plain numbers gave bounds that were 1e-8 above it, and gaps of zero."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 30))
        positive = np.arange(n) < rng.integers(1, n)
        X = rng.normal(size=(n, 3)) + 0.5 * positive[:, None] + far
        ridge = float(10.0 ** rng.integers(-9, 2))
        truth, bare = ExactSquare(X, positive, None, ridge), ExactSquare(X, positive)
        loss = from_rows(sp.csr_matrix(X) if sparse else X, positive)
        task, near = ConvexSquare(replace(loss, lam=ridge)), from_rows(X - far, positive)
        best = convex_reference(ConvexSquare(replace(near, lam=ridge))).w
        for w in (best, best * (1 + 1e-7), np.zeros(3)):
            value, least = truth.value(w), truth.least(range(3))
            assert Fraction(task.lower_bound(w)) <= least
            assert value - least <= Fraction(task.gap(w))
        inner, outer = (ConvexSquare(loss, ball=ball, radius=0.5) for ball in ("l1", "l2"))
        for w in 0.5 * rng.dirichlet(np.ones(3), size=5) * (1 - 1e-9):
            low = Fraction(inner.lower_bound(w))
            assert low <= min(bare.value(v) for v in (w, 0.5 * np.eye(3)[0]))
            assert Fraction(outer.lower_bound(w)) <= bare.value(w)
        penalty = Fraction(0.3) * sum(map(abs, naive.exact(best)))
        low = Fraction(ConvexSquare(loss, l1=0.3).lower_bound(best))
        assert low <= bare.value(best) + penalty


X8 = np.random.default_rng(0).normal(size=(80, 8))
Y8 = X8[:, 0] + 0.5 * X8[:, 1] + np.random.default_rng(1).normal(size=80) > 0
LOSS = RowAverage.of(Rows(X8), Y8)


def convex(name: str, loss: RowAverage = LOSS) -> ConvexSquare:
    if "ball" in name:
        radius = 50.0 if "wide" in name else 0.2
        return ConvexSquare(loss, ball=name.removeprefix("wide ")[:2], radius=radius)
    lam = {"l1": 0.0, "l2": 0.4, "elastic": 0.3}[name]
    return ConvexSquare(replace(loss, lam=lam), l1=0.0 if name == "l2" else 0.2)


def inside(task: ConvexSquare, w: np.ndarray) -> np.ndarray:
    if task.ball == "none":
        return w
    size = np.abs(w).sum() if task.ball == "l1" else np.linalg.norm(w)
    return w * min(1.0, task.radius / max(size, 1e-300))


@each("name", ["l1", "l2", "elastic", "l1 ball", "l2 ball", "wide l1 ball", "wide l2 ball"])
def test_the_reference_is_optimal_and_no_weights_are_below_any_lower_bound(name: str) -> None:
    task, rng = convex(name), np.random.default_rng(1)
    found = convex_reference(task)
    assert found.gap <= 1e-10 and found.objective == task.value(found.w)
    points = [inside(task, s * rng.normal(size=8)) for s in (0.01, 0.1, 1.0) for _ in range(20)]
    points += [found.w, np.zeros(8), *(found.w + 1e-3 * rng.normal(size=8) for _ in range(9))]
    lowest = min(task.value(inside(task, w)) for w in points)
    assert max(task.lower_bound(w) for w in points) <= lowest + 1e-12
    w = points[-1]
    penalty = task.l1 * np.abs(w).sum() + task.loss.lam / 2 * w @ w
    assert task.value(w) == pytest.approx(mean_square(X8, Y8, w) + penalty, rel=1e-12)
    if task.ball == "none":  # a general minimiser finds nothing lower; w = u - v, both >= 0
        how: Any = {"bounds": [(0, None)] * 16}
        how["options"] = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
        split = scipy.optimize.minimize(
            lambda z: task.loss.value(z[:8] - z[8:]) + task.l1 * z.sum(), np.zeros(16), **how
        )
        assert found.objective == pytest.approx(split.fun, abs=1e-7)
    elif "wide" not in name:  # weights a rounding outside of the ball are charged for it
        beyond = inside(task, 1e3 * found.w) * (1 + 5e-13)
        judged = task.judged(beyond)
        assert 4.9e-13 <= judged.error <= 1e-10  # F falls by less than that on the way out
        assert judged.lower <= judged.value + judged.error
        assert task.judged(2 * beyond).error == task.gap(2 * beyond) == np.inf


@each("scale", [1e-130, 1e-99, 1e-20, 1.0])
@each("seed", seeds(30))
def test_the_reference_in_a_ball_knows_rows_of_any_size(scale: float, seed: int) -> None:
    """With M = 0 to rounding, the largest lam brings w to the ball's edge, or a unit beyond it."""
    rng = np.random.default_rng(seed)
    loss = RowAverage.of(Rows(scale * rng.normal(size=(9, 3))), np.arange(9) % 2 == 1)
    task = ConvexSquare(loss, ball="l2", radius=float(10.0 ** rng.uniform(-3, 1)))
    found = convex_reference(task)
    assert np.linalg.norm(found.w) <= task.radius * (1 + 1e-12)
    assert found.gap <= 1e-9


@each("most", [2_000_000, 0])
@each("power", [-150, -60, 60, 150])
def test_listed_pairs_are_solved_in_any_unit(power: int, most: int, monkeypatch) -> None:
    monkeypatch.setattr(closed_form, "LISTED_NUMBERS", most)  # 0: by conjugate gradients
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3 == 0
    pairs = PairList(rng.choice(np.flatnonzero(y), 60), rng.choice(np.flatnonzero(~y), 60))
    unit, how = 2.0**power, {"loss": "square", "pairs": pairs}
    plain = solve(X, y, 2.0**-7, **how)
    scaled = solve(X * unit, y, 2.0**-7 * unit**2, **how)
    assert scaled.status == "certified"
    np.testing.assert_array_equal(scaled.w * unit, plain.w)
    far = 1.0 if power > 0 else 1e7  # three different rows, one of them perhaps far away
    X = X[rng.integers(0, 3, 40)]
    X[0] *= far
    for lam in (1e-3, 1e-6, 1e-9):
        found = solve(X, y, lam, **how)
        assert np.isfinite(found.w).all()
        assert found.certificate.primal <= 1 + found.certificate.rounding  # F(0) = 1
        assert far > 1.0 or found.status == "certified"


def test_the_reference_takes_row_weights_and_refuses_what_it_cannot_hold() -> None:
    weight = np.arange(80) % 3 + 1.0
    sparse, times = RowAverage.of(Rows(sp.csr_matrix(X8)), Y8, AllPairs(weight)), weight.astype(int)
    repeated = RowAverage.of(Rows(np.repeat(X8, times, axis=0)), np.repeat(Y8, times))
    one, two = (convex_reference(convex("elastic", loss)) for loss in (sparse, repeated))
    np.testing.assert_allclose(one.w, two.w, atol=1e-7)
    for some in ((-1.0,), (0.0, "l3", 1.0), (0.0, "l2", 0.0), (0.1, "l1", 1.0)):
        refuses(".", ConvexSquare, LOSS, *some)
    wide = Rows(sp.csr_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(3, 5001)))
    task = ConvexSquare(RowAverage.of(wide, np.arange(3) != 1), 0.1)
    refuses("online", convex_reference, task, error=TooLargeError)


SUPPORT_KINDS = ["plain", "wide", "duplicates", "constants", "separable", "weighted"]


def draw_of_support(kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(seed)
    n = 5 if kind == "wide" else 17
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, 6)) * [1, 1e3, 1e-3, 1, 1, 1] + 0.4 * positive[:, None]
    if kind == "duplicates":
        X[:, 3], X[:, 4] = X[:, 0], 2 * X[:, 0] - X[:, 2]
    if kind == "constants":
        X[:, 1], X[:, 3], X[:, 4] = 0.1, 7.3, 0.0
    if kind == "separable":
        X[:, 2] = np.where(positive, 0.7, 0.1)
    weight = rng.integers(1, 4, size=n).astype(float) if kind == "weighted" else None
    return X, positive, weight


def support_loss(X, positive, weight=None, lam: float = 0.0) -> SupportLoss:
    return SupportLoss(moments(Rows(X), positive, AllPairs(weight)), lam)


@each("kind", SUPPORT_KINDS)
@each("seed", seeds(3))
@each("lam", [0.0, 1e-2, 1.0])
def test_minima_are_those_of_least_squares_over_the_pairs(kind: str, seed: int, lam: float) -> None:
    X, positive, weight = draw_of_support(kind, seed)
    loss, at = support_loss(X, positive, weight, lam), np.linspace(-1, 1, 6) / [1, 1e3, 1, 1, 1, 1]
    wanted = mean_square(X, positive, at, weight) + lam / 2 * at @ at
    assert loss.value(at) == pytest.approx(wanted, rel=1e-10)
    unit = X / np.maximum(np.abs(X).max(axis=0), 1e-300)  # without lam F* has no units
    for support in (s for k in range(7) for s in itertools.combinations(range(6), k)):
        found = loss.optimum(support)
        truth = least_mean_square(unit if lam == 0 else X, positive, list(support), weight, lam)
        assert found.value == pytest.approx(truth, rel=1e-6, abs=1e-9), support
        reached = mean_square(X, positive, found.w, weight) + lam / 2 * found.w @ found.w
        assert reached == pytest.approx(found.value, rel=1e-6, abs=1e-9)
        np.testing.assert_array_equal(found.support, support)
        assert set(np.flatnonzero(found.w)) <= set(support)
        if kind == "wide" and lam == 0:  # 5 rows: from 4 features on every pair can be met
            assert np.isinf(found.q) == (len(support) >= 4) == (found.value == 0.0)
    rows = Rows(sp.csr_matrix(X) if seed else X)  # and from the moments of the few alone
    few, whole = optimum_on(rows, positive, [4, 2], AllPairs(weight), lam), loss.optimum([4, 2])
    np.testing.assert_array_equal(few.support, [2, 4])
    np.testing.assert_allclose(few.w, whole.w, rtol=1e-6, atol=1e-12)
    if lam == 0 and kind == "separable":  # another constant in each class
        found = loss.optimum([2])
        assert (found.value, found.q) == (0.0, np.inf)
        np.testing.assert_allclose(differences(X, positive) @ found.w, 1.0, rtol=1e-12)


@each("distance", [0.0, 1e-7, 1e-5, 1e-3, 1e-1])
@each("lam", [0.0, 0.1])
def test_additions_and_swaps_at_once_are_those_one_by_one(distance: float, lam: float) -> None:
    rng = np.random.default_rng(3)
    y = rng.uniform(size=200) < 0.4
    X = rng.normal(size=(200, 14)) + 0.4 * y[:, None]
    X[:, 9] = X[:, 1] + distance * rng.normal(size=200)  # near one inside the support
    X[:, 10] = X[:, 8] + X[:, 2] + distance * rng.normal(size=200)  # near a sum of both kinds
    X[:, 11], X[:, 12] = 1.0, y  # constant, and constant within the classes
    loss = support_loss(X, y, lam=lam)
    for support in ((0, 1, 2, 3, 4), (1,), (0, 1, 2, 9), (0, 8, 2, 10), (0, 12), tuple(range(14))):
        chosen, values = sorted(support), loss.swaps(support)
        more = [loss.optimum({*support, i}).value for i in range(14)]
        np.testing.assert_allclose(loss.additions(support), more, rtol=1e-6, atol=1e-9)
        for place, out in enumerate(chosen):
            slow = loss.additions([j for j in chosen if j != out])
            slow[chosen] = np.nan
            np.testing.assert_allclose(values[place], slow, rtol=1e-6, atol=1e-9)
