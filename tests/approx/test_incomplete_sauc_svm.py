"""SAUC-SVM on drawn pairs and on Nyström features, next to the certified optimum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from aucert.approx import (
    IncompleteROCSVM,
    IncompleteSAUCSVM,
    Nystrom,
    against_true_kernel,
    draw_pairs,
    incomplete_sauc,
)
from aucert.exact import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3 == 0
X = RNG.normal(size=(90, 3)) * [1.0, 2.0, 0.5] + 0.8 * Y[:, None]
LAM, STRUCTURE = 0.05, 3.0


def make(**parameters) -> IncompleteSAUCSVM:
    given = {"lam": LAM, "structure": STRUCTURE, "random_state": 0}
    return IncompleteSAUCSVM(**{**given, **parameters})


def objective(w: np.ndarray, i: np.ndarray, j: np.ndarray, structure: float) -> float:
    """SAUC's objective written out, the covariances divided by the size of the class."""
    sigma = np.cov(X[Y].T, bias=True) + np.cov(X[~Y].T, bias=True)
    loss = np.maximum(0.0, 1.0 - (X[i] - X[j]) @ w).mean()
    return float(LAM / 2 * (w @ w + structure * w @ sigma @ w) + loss)


def all_pairs() -> tuple[np.ndarray, np.ndarray]:
    i, j = np.meshgrid(np.flatnonzero(Y), np.flatnonzero(~Y), indexing="ij")
    return i.ravel(), j.ravel()


def test_the_two_certificates_state_saucs_objective_over_all_and_over_the_drawn_pairs() -> None:
    model = make(n_pairs=40).fit(X, Y)
    w, drawn = model.coef_[0], draw_pairs(Y, 40, 0)
    assert model.certificate_.primal == pytest.approx(objective(w, *all_pairs(), STRUCTURE))
    few = objective(w, drawn.i, drawn.j, STRUCTURE)
    assert model.incomplete_certificate_.primal == pytest.approx(few)
    assert model.certificate_.primal != pytest.approx(objective(w, *all_pairs(), 0.0))


@each("structure", [0.0, 3.0, 300.0])
@each("n_pairs", [20, 2000])
def test_the_certificate_over_all_pairs_is_never_below_the_true_error(
    structure: float, n_pairs: int
) -> None:
    model = make(structure=structure, n_pairs=n_pairs).fit(X, Y)
    best = solve(X, Y, LAM, structure=structure)
    assert best.status == Status.CERTIFIED
    excess = objective(model.coef_[0], *all_pairs(), structure) - best.certificate.primal
    found = model.certificate_
    assert -1e-9 <= excess <= found.gap


def test_with_every_pair_drawn_once_it_comes_to_saucs_optimum() -> None:
    model = make(n_pairs=1800, replace=False).fit(X, Y)
    assert model.status_ == Status.CERTIFIED
    best = solve(X, Y, LAM, structure=STRUCTURE)
    assert model.certificate_.primal <= best.certificate.dual * (1 + 1.01e-3)
    other = solve(X, Y, LAM)
    assert np.linalg.norm(model.coef_[0] - best.w) < 0.5 * np.linalg.norm(other.w - best.w)


def test_without_structure_it_is_the_incomplete_roc_svm() -> None:
    one = make(structure=0.0).fit(X, Y)
    other = IncompleteROCSVM(LAM, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.certificate_ == other.certificate_


@each("kind", [np.asarray, sp.csr_array])
def test_more_features_than_rows_are_certified_too(kind) -> None:
    wide = np.random.default_rng(1).normal(size=(30, 50))
    wide[:, 0] += Y[:30]
    model = make(lam=1.0, n_pairs=200, replace=False).fit(kind(wide), Y[:30])
    best = solve(wide, Y[:30], 1.0, structure=STRUCTURE)
    assert model.coef_.shape == (1, 50)
    assert model.certificate_.primal <= best.certificate.dual * (1 + 1.01e-3)


@each("structure", [0.0, 3.0])
def test_row_weights_reach_the_drawn_pairs_and_the_structure(structure: float) -> None:
    weight = 1.0 + 4.0 * (X[:, 1] > 0)
    model = make(structure=structure, n_pairs=20_000, tol=1e-4).fit(X, Y, sample_weight=weight)
    best = solve(X, Y, LAM, structure=structure, sample_weight=weight)
    w, times = model.coef_[0], weight.astype(int)
    stated = formulate(
        np.repeat(X, times, 0), np.repeat(Y, times), Request.of(LAM, structure=structure)
    )
    assert model.certificate_.primal == pytest.approx(stated.meant.objective(w), rel=1e-12)
    lost = model.certificate_.primal - best.certificate.primal
    unweighted = stated.meant.objective(solve(X, Y, LAM, structure=structure).w)
    assert 0 <= lost < 0.2 * (unweighted - best.certificate.primal)
    assert model.certificate_.dual <= best.certificate.primal


def test_the_pipeline_is_the_estimator_on_nystrom_features() -> None:
    chain = incomplete_sauc(0.01, 2.0, gamma=0.4, n_landmarks=12, n_pairs=300, seed=4).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    features = Nystrom(gamma=0.4, n_landmarks=12, landmarks="kmeans", random_state=4)
    Z = features.fit_transform(scaled)
    model = IncompleteSAUCSVM(0.01, 2.0, n_pairs=300, random_state=4).fit(Z, Y)
    np.testing.assert_array_equal(chain[-1].coef_, model.coef_)
    np.testing.assert_array_equal(chain.decision_function(X), model.decision_function(Z))


def test_structured_nystrom_is_certified_against_the_true_kernel() -> None:
    scaled = StandardScaler().fit_transform(X)
    best = solve(scaled, Y, 0.01, kernel="rbf", gamma=0.4, structure=5.0).certificate
    seen = []
    for landmarks in (10, 90):
        features = Nystrom(gamma=0.4, n_landmarks=landmarks, random_state=0)
        Z = features.fit_transform(scaled)
        found = solve(Z, Y, 0.01, structure=5.0)
        span = formulate(Z, Y, Request.of(0.01, structure=5.0)).meant
        truth = against_true_kernel(span, features.map_, scaled)
        judged = Certificate.of(truth, found.w, found.witness)
        assert judged.primal == pytest.approx(found.certificate.primal, rel=1e-10)
        assert judged.dual <= best.primal + judged.rounding
        seen.append(judged.gap / judged.primal)
        assert judged.gap >= judged.primal - best.primal
    assert seen[0] > 1e-3 and seen[1] < 1e-6


def test_the_default_step_is_shorter_for_long_rows() -> None:
    near, long = Rows(X), Rows(np.hstack([X] * 50))
    given, default = make(step=0.3), make()
    solver = default._solver()
    assert default._solver_for(near) == solver and solver.step == 0.05
    assert 0.001 < default._solver_for(long).step < 0.02
    assert given._solver_for(long).step == 0.3
    plain = make(optimizer="gradient")
    assert plain._solver_for(long).step == 0.01
