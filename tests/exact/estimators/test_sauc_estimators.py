"""Kernel and structured estimators: scikit-learn's contract, scores in and out of sample."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import ROCSVM, SAUCSVM, certify, solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.problem.minorant import Alpha
from aucert.exact.spaces.kernels import Gaussian
from loops import each

RNG = np.random.default_rng(0)
Y = (np.arange(60) % 4 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
NEW = RNG.normal(size=(25, 3))


@each("kernel", ["linear", "rbf", "laplacian"])
@each("structure", [0.0, 0.3, 50.0])
def test_scores_in_sample_equal_scores_out_of_sample(kernel: str, structure: float) -> None:
    model = SAUCSVM(0.02, structure, kernel=kernel, gamma=0.4).fit(X, Y)
    together = model.decision_function(np.vstack([X, NEW]))
    np.testing.assert_allclose(together[:60], model.decision_function(X), atol=1e-12)
    space = solve(X, Y, 0.02, kernel=kernel, gamma=0.4, structure=structure)
    assert model.certificate_.primal == space.certificate.primal
    assert model.status_ == Status.CERTIFIED
    audit = certify(
        X, Y, 0.02, scores=model.decision_function(X), kernel=kernel, gamma=0.4, structure=structure
    )
    assert audit.gap is not None and audit.primal is not None
    assert audit.gap <= 1e-6 * audit.primal


@each("structure", [0.0, 2.0])
def test_a_precomputed_kernel_gives_what_its_name_gives(structure: float) -> None:
    kernel = Gaussian(0.4)
    named = SAUCSVM(0.02, structure, kernel="rbf", gamma=0.4).fit(X, Y)
    given = SAUCSVM(0.02, structure, kernel="precomputed").fit(kernel(X, X), Y)
    np.testing.assert_allclose(
        given.decision_function(kernel(NEW, X)), named.decision_function(NEW), atol=1e-6
    )
    assert given.certificate_.primal == pytest.approx(named.certificate_.primal, rel=1e-9)


def test_the_spread_within_classes_falls_as_structure_grows() -> None:
    """f'Sigma f of the minimiser is non-increasing in its own penalty's weight."""
    spreads = []
    for structure in (0.0, 1.0, 1000.0):
        scores = SAUCSVM(0.02, structure).fit(X, Y).decision_function(X)
        spreads.append(scores[Y == 1].var() + scores[Y == 0].var())
    assert spreads[0] > spreads[1] > spreads[2]


def test_nearest_pairs_are_solved_on_those_pairs() -> None:
    model = ROCSVM(0.02, pairs="nearest:5").fit(X, Y)
    evidence = model.solution_.minorant.evidence
    assert isinstance(evidence, Alpha) and evidence.alpha.size == 15 * 5
    assert model.status_ == Status.CERTIFIED


def test_the_structure_of_sampled_pairs_is_another_one() -> None:
    full = SAUCSVM(0.02, 5.0, pairs="nearest:5").fit(X, Y)
    sampled = SAUCSVM(0.02, 5.0, pairs="nearest:5", structure_source="sampled").fit(X, Y)
    assert full.status_ == sampled.status_ == Status.CERTIFIED
    assert np.abs(full.coef_ - sampled.coef_).max() > 1e-3


@each("kernel", ["linear", "rbf"])
def test_weights_are_repetitions(kernel: str) -> None:
    weight = np.random.default_rng(1).integers(0, 3, 60)
    weighted = SAUCSVM(0.02, 3.0, kernel=kernel, gamma=0.4).fit(X, Y, weight)
    repeated = SAUCSVM(0.02, 3.0, kernel=kernel, gamma=0.4).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight)
    )
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-9)
    # Up to the intercept: equal errors may hold on an interval, and ties to rounding end it.
    np.testing.assert_allclose(
        weighted.decision_function(NEW) - weighted.intercept_,
        repeated.decision_function(NEW) - repeated.intercept_,
        atol=1e-5,
    )


@each("kernel", ["linear", "rbf", "laplacian"])
def test_sparse_rows_give_the_same_model(kernel: str) -> None:
    thin = np.where(np.random.default_rng(2).random(X.shape) < 0.5, X, 0.0)
    dense = SAUCSVM(0.02, 2.0, kernel=kernel, gamma=0.4).fit(thin, Y)
    sparse = SAUCSVM(0.02, 2.0, kernel=kernel, gamma=0.4).fit(sp.csr_matrix(thin), Y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(NEW)) - sparse.intercept_,
        dense.decision_function(NEW) - dense.intercept_,
        atol=1e-5,
    )


@each(
    ("options", "message"),
    [
        ({"structure": -1.0}, "structure must be >= 0"),
        ({"structure": "big"}, "structure must be a number"),
        ({"structure_source": "half"}, "one of full, sampled"),
        ({"kernel": "poly"}, "kernel must be"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be > 0"),
        ({"pairs": "nearest:0"}, "nearest:K"),
        ({"pairs": "some"}, "nearest:K"),
        ({"anchor_filter": "B"}, "anchor_filter must be one of"),
        ({"lam": 0.0}, "lam must be > 0"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SAUCSVM(**options).fit(X, Y)


def test_row_weights_with_nearest_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="pairs='all'"):
        ROCSVM(pairs="nearest:3").fit(X, Y, np.ones(60))


def test_nearest_pairs_of_a_precomputed_kernel_are_refused() -> None:
    with pytest.raises(InputError, match="need features"):
        ROCSVM(pairs="nearest:3", kernel="precomputed").fit(X @ X.T, Y)


def test_an_indefinite_kernel_matrix_is_refused() -> None:
    with pytest.raises(InputError, match="negative eigenvalue"):
        ROCSVM(kernel="precomputed").fit(X @ X.T - np.eye(60), Y)
