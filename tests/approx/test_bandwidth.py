from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.bandwidth import READINGS, gamma_mean_distance
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian

X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 2.0, 3.0] + 5


def test_the_mean_distance_is_measured_from_the_mean_row() -> None:
    b = np.mean([np.sum((row - X.mean(axis=0)) ** 2) for row in X])
    kernel = Gaussian(gamma_mean_distance(X))
    d2 = float(np.sum((X[0] - X[1]) ** 2))
    assert kernel(X[:1], X[1:2])[0, 0] == pytest.approx(np.exp(-d2 / b), rel=1e-12)
    expected = {"d2/b": 1 / b, "d2/2b": 0.5 / b, "d2/2b2": 0.5 / b**2, "d2*b": b}
    assert {r: gamma_mean_distance(X, r) for r in READINGS} == pytest.approx(expected, rel=1e-12)


def test_on_standardised_columns_it_is_one_over_the_features() -> None:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert gamma_mean_distance(Z) == pytest.approx(1 / 3, rel=1e-12)


def test_sparse_rows_have_the_dense_width() -> None:
    thin = np.where(X > 5, X, 0.0)
    wide = gamma_mean_distance(sp.csr_array(thin))
    assert wide == pytest.approx(gamma_mean_distance(thin), rel=1e-9)


def test_rows_without_spread_have_no_width() -> None:
    with pytest.raises(InputError, match="equal"):
        gamma_mean_distance(np.ones((4, 2)))
    with pytest.raises(InputError, match="reading must be one of"):
        gamma_mean_distance(X, "d")
