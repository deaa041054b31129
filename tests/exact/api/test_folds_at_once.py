"""Folds in several processes give what folds one after another give."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact import ROCSVMCV
from aucert.exact.errors import InputError
from loops import each

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)


@pytest.mark.slow
def test_several_processes_give_the_same_model() -> None:
    one, two = (ROCSVMCV([1.0, 0.1], cv=2, n_jobs=n, random_state=0).fit(X, Y) for n in (None, 2))
    assert two.lam_ == one.lam_
    np.testing.assert_allclose(two.cv_path_.fold_auc, one.cv_path_.fold_auc)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-6)


@pytest.mark.slow
def test_a_time_limit_is_shared_among_the_folds() -> None:
    model = ROCSVMCV([1.0, 0.1], cv=2, n_jobs=2, max_time=60.0).fit(X, Y)
    assert model.cv_path_.complete


@each("n_jobs", [0, 1.5, "2", True])
def test_a_wrong_number_is_refused(n_jobs) -> None:
    with pytest.raises(InputError, match="n_jobs must be None or a whole number"):
        ROCSVMCV(n_jobs=n_jobs).fit(X, Y)
