from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from aucert.approx.sht import SHTAUC, StochasticHardThresholding, Stop, sparse_problem
from aucert.exact import best_subset
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss import support
from aucert.exact.square_loss.row_average import RowAverage
from loops import each
from pairwise import mean_square


def draw(seed: int = 0, n: int = 80, d: int = 10):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n // 4, "ill", "healthy")
    X = rng.normal(size=(n, d))
    X[:, 4:7] += 1.5 * (y == "ill")[:, None]
    return X, y


def test_it_finds_the_features_that_differ() -> None:
    X, y = draw()
    model = SHTAUC(k=3).fit(X, y)
    np.testing.assert_array_equal(model.support_, [4, 5, 6])
    assert np.count_nonzero(model.coef_) == 3
    assert model.coef_.shape == (1, 10)
    assert (model.coef_[0, 4:7] > 0).all()  # "ill" is the larger label, so the positive one
    assert model.score(X, y) > 0.8


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(80) % 3 + 1.0], ids=["plain", "weighted"])
def test_its_certificate_holds_among_all_supports(kind, weight) -> None:
    X, y = draw()
    model = SHTAUC(k=2).fit(kind(X), y, weight)
    best, held = best_subset(X, y, 2, sample_weight=weight), model.certificate_
    assert held.dual <= best.upper + 1e-12
    assert held.primal >= best.lower - 1e-12
    assert 0 <= held.primal - model.objective_ <= held.rounding and held.dual == model.lower_bound_
    assert held.radius is None and "weights with 2 nonzeros at most" in held.statement
    tighter = model.judge(best).certificate_
    assert tighter.dual == pytest.approx(best.lower) and tighter.gap <= held.gap


@each("kind", [np.asarray, sp.csr_matrix])
@each("weight", [None, np.arange(80) % 3 + 1.0], ids=["plain", "weighted"])
def test_where_moments_take_too_long_the_rows_bound_the_objective(
    kind, weight, monkeypatch
) -> None:
    X, y = draw()
    X = X + 1e3  # far from the origin: what centring has lost is charged
    loss = RowAverage.of(Rows(kind(X)), y == "ill", AllPairs(weight))
    w = np.r_[np.zeros(4), 0.3, 0.2, 0.1, np.zeros(3)]
    times = np.ones(80, dtype=int) if weight is None else weight.astype(int)
    true = mean_square(np.repeat(X, times, axis=0), np.repeat(y, times) == "ill", w)
    near = support.objective_above(loss, w)
    monkeypatch.setattr(support, "LARGEST_WORK", 0.0)
    far = support.objective_above(loss, w)
    assert true - 1e-12 <= far <= true + 1e-6
    assert near <= far + 1e-9


def test_its_attributes_are_those_of_the_solver_on_the_same_rows() -> None:
    X, y = draw()
    model = SHTAUC(k=4, n_blocks=5, max_epochs=30, random_state=3).fit(X, y)
    solver = StochasticHardThresholding(4, n_blocks=5, max_epochs=30, tol=1e-4, seed=3)
    found = solver.solve(sparse_problem(X, y))
    np.testing.assert_array_equal(model.coef_[0], found.w)
    np.testing.assert_array_equal(model.support_, found.support)
    assert model.objective_ == pytest.approx(mean_square(X, y == "ill", found.w), rel=1e-10)
    assert model.stationarity_ == found.stationarity
    assert model.n_iter_ == found.n_iter == 150
    assert [x.objective for x in model.history_] == [x.objective for x in found.history]


def test_divergence_and_a_run_cut_short_warn_with_advice() -> None:
    X, y = draw()
    with pytest.warns(ConvergenceWarning, match='step="auto"'):
        model = SHTAUC(step=100.0).fit(X, y)
    assert model.status_ == Stop.DIVERGED
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        SHTAUC(k=3, max_epochs=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        SHTAUC(k=3, max_time=1e-9).fit(X, y)


def test_several_blocks_never_settle_and_do_not_warn() -> None:
    X, y = draw()
    model = SHTAUC(k=3, n_blocks=8, max_epochs=5).fit(X, y)
    assert model.status_ == Stop.EPOCH_LIMIT
    assert model.stationarity_ > 0
