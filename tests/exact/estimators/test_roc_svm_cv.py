"""`ROCSVMCV`: scikit-learn's contract, and the lam that the folds say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM
from aucert.exact.errors import InputError
from loops import each

RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
LAMS = [1.0, 0.1, 0.001]
SPLITS = list(StratifiedKFold(3).split(X, Y))


@each("choice", ["best", "one-se"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(choice: str) -> None:
    model = ROCSVMCV(LAMS, cv=SPLITS, choice=choice).fit(X, Y)
    table = [
        [
            roc_auc_score(Y[test], ROCSVM(lam).fit(X[train], Y[train]).decision_function(X[test]))
            for lam in LAMS
        ]
        for train, test in SPLITS
    ]
    np.testing.assert_allclose(model.cv_path_.fold_auc, table, rtol=1e-12)
    mean = np.mean(table, axis=0)
    error = np.std(table, axis=0, ddof=1) / np.sqrt(3)
    best = max(range(3), key=lambda k: mean[k])
    if choice == "one-se":
        best = min(k for k in range(3) if mean[k] >= mean[best] - error[best])
    assert model.lam_ == LAMS[best]
    np.testing.assert_array_equal(model.coef_, ROCSVM(LAMS[best]).fit(X, Y).coef_)
    assert model.certificate_.reaches(1e-9)


def test_the_structure_is_that_of_the_structured_machine() -> None:
    model = ROCSVMCV([0.1], cv=SPLITS, structure=2.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, SAUCSVM(0.1, 2.0).fit(X, Y).coef_, rtol=1e-9)


@pytest.mark.slow
def test_kernels_and_sparse_rows_are_chosen_for_too() -> None:
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = ROCSVMCV(LAMS, cv=SPLITS, kernel="rbf").fit(thin, Y)
    K = np.exp(-((thin[:, None] - thin[None]) ** 2).sum(axis=2) / 3)
    for model, rows in (
        (ROCSVMCV(LAMS, cv=SPLITS, kernel="rbf").fit(sp.csr_array(thin), Y), sp.csr_array(thin)),
        (ROCSVMCV(LAMS, cv=SPLITS, kernel="precomputed").fit(K, Y), K),
    ):
        assert model.lam_ == dense.lam_
        np.testing.assert_allclose(model.cv_path_.fold_auc, dense.cv_path_.fold_auc, atol=0.02)
        np.testing.assert_allclose(
            model.decision_function(rows), dense.decision_function(thin), rtol=1e-4, atol=1e-5
        )


def test_nearest_pairs_are_found_in_each_fold() -> None:
    model = ROCSVMCV([0.1], cv=SPLITS, pairs="nearest:2").fit(X, Y)
    train, test = SPLITS[0]
    alone = ROCSVM(0.1, pairs="nearest:2").fit(X[train], Y[train])
    expected = roc_auc_score(Y[test], alone.decision_function(X[test]))
    assert model.cv_path_.fold_auc[0, 0] == pytest.approx(expected, rel=1e-12)


def test_there_are_no_more_folds_than_rows_of_a_class() -> None:
    few = np.r_[np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)]
    with pytest.warns(UserWarning, match="3 rows: 3 folds") as seen:
        model = ROCSVMCV(LAMS).fit(X[few], Y[few])
    assert len(seen) == 1 and model.cv_path_.fold_auc.shape == (3, 3)
    with pytest.raises(InputError, match="no two folds"):
        ROCSVMCV(LAMS).fit(X[few[2:]], Y[few[2:]])


@each(
    ("bad", "message"),
    [
        ({"lams": [1.0, 0.0]}, "lam must be > 0"),
        ({"lams": []}, "lams is empty"),
        ({"lams": ["a"]}, "lams must be numbers"),
        ({"cv": 1}, "cv must be a whole number >= 2"),
        ({"cv": "many"}, "cv must be a number of folds"),
        ({"cv": None}, "cv must be a number of folds"),
        ({"choice": "worst"}, "choice must be one of"),
        ({"n_lams": 0}, "n_lams must be"),
        ({"cv_tol": 0.0}, "cv_tol must be"),
        ({"structure": -1.0}, "structure must be"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_bad_parameters_of_the_choice_are_refused_at_fit(bad: dict, message: str) -> None:
    arguments: dict[str, Any] = {"cv": 3, "n_lams": 3} | bad
    model = clone(ROCSVMCV(**arguments))
    with pytest.raises(InputError, match=message):
        model.fit(X, Y)


def test_an_l1_is_chosen_along_its_own_path() -> None:
    noisy = np.hstack([X, RNG.normal(size=(60, 5))])
    how: dict[str, Any] = {"loss": "squared_hinge", "cv": SPLITS}
    model = ROCSVMCV([0.6, 0.3], l1_ratio=0.8, **how).fit(noisy, Y)
    table = [
        [
            roc_auc_score(
                Y[test],
                ROCSVM(0.2 * lam, l1=0.8 * lam, loss="squared_hinge")
                .fit(noisy[train], Y[train])
                .decision_function(noisy[test]),
            )
            for lam in (0.6, 0.3)
        ]
        for train, test in SPLITS
    ]
    np.testing.assert_allclose(model.cv_path_.fold_auc, table, atol=5e-3)
    again = ROCSVM(0.2 * model.lam_, l1=0.8 * model.lam_, loss="squared_hinge").fit(noisy, Y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    zeros = model.solution_.zeros_proved
    assert zeros is not None and zeros.any()
    lasso = ROCSVMCV(n_lams=4, l1_ratio=1.0, sign=[0], groups=np.arange(8) // 2, **how)
    lasso.fit(noisy, Y)
    assert lasso.coef_[0, 0] >= 0 and lasso.certificate_.radius is None
    with pytest.raises(InputError, match="linear kernel"):
        ROCSVMCV(l1_ratio=0.5, kernel="rbf").fit(X, Y)
