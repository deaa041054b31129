"""Kernel RankSVM on a part of the rows, and scikit-learn's machines as the papers use them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from aucert.approx import SubsampledRankSVM, kernel_svm, linear_svm
from aucert.approx.newton.nbauc import random_part
from aucert.exact import solve
from aucert.validation.data.datasets import load

DATA = load("radial:300")
X, Y = DATA.X, DATA.y


def make(**parameters) -> SubsampledRankSVM:
    return SubsampledRankSVM(**{"lam": 1e-2, "gamma": 0.5, "random_state": 0, **parameters})


def test_it_is_the_certified_kernel_machine_of_the_rows_taken() -> None:
    model = make().fit(X, Y)
    part = model.subsample_
    assert part.size == 60 and (np.diff(part) > 0).all()
    # It said "on the training rows", on which the objective is another.
    for said in (model.certificate_.statement, model.solution_.certificate.statement):
        assert "all pairs of the 60 rows taken, of 300, + 0.01 |f|^2 / 2" in said
    best = solve(X[part], Y[part], 1e-2, kernel="rbf", gamma=0.5, loss="squared_hinge")
    gap = model.certificate_.relative_gap
    assert gap is not None and gap < 1e-9
    assert model.certificate_.primal == pytest.approx(best.certificate.primal, rel=1e-6)
    scores = model.decision_function(X[part]) - model.intercept_[0]
    gram = np.exp(-0.5 * ((X[part][:, None] - X[part][None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(scores - scores.mean(), _centred(gram @ best.w), atol=1e-3)


def _centred(scores: np.ndarray) -> np.ndarray:
    return scores - scores.mean()


def test_the_cost_of_the_rows_left_out_is_certified() -> None:
    model = make().fit(X, Y)
    best = solve(X, Y, 1e-2, kernel="rbf", gamma=0.5, loss="squared_hinge").certificate
    found = model.certify_kernel(X, Y)
    assert found.dual <= best.primal <= found.primal
    assert found.gap >= found.primal - best.primal > 1e-4


def test_all_rows_are_the_whole_machine() -> None:
    model = make(share=1.0).fit(X, Y)
    assert model.subsample_.size == 300
    gap = model.certify_kernel(X, Y).relative_gap
    assert gap is not None and gap < 1e-6


def test_the_classes_keep_their_shares_and_neither_is_missed() -> None:
    positive = np.arange(1000) < 37
    part = random_part(positive, 200, 0)
    assert part.size == 200 == np.unique(part).size and positive[part].sum() == 7
    assert positive[random_part(positive, 5, 0)].sum() == 1
    assert positive[random_part(~positive, 5, 0)].sum() == 1
    assert random_part(np.array([True, False]), 1, 0).tolist() == [0, 1]
    assert random_part(positive, 1000, 3).tolist() == list(range(1000))
    assert (random_part(positive, 200, 0) == part).all()
    assert (random_part(positive, 200, 1) != part).any()


def test_the_ordinary_machines_are_scikit_learns() -> None:
    chain = kernel_svm(2.0, gamma=0.7).fit(X, Y)
    plain = SVC(C=2.0, gamma=0.7).fit(StandardScaler().fit_transform(X), Y)
    np.testing.assert_allclose(
        chain.decision_function(X), plain.decision_function(StandardScaler().fit_transform(X))
    )
    assert chain.score(X, Y) > 0.9 and kernel_svm(kernel="linear").fit(X, Y)[-1].kernel == "linear"
    wide = np.outer(Y, np.ones(30)) + np.random.default_rng(0).normal(size=(300, 30))
    assert roc_auc_score(Y, linear_svm(0.1, seed=0).fit(wide, Y).decision_function(wide)) > 0.99
    sparse = linear_svm(seed=0, with_mean=False).fit(sp.csr_matrix(wide), Y)
    assert sparse.score(sp.csr_matrix(wide), Y) > 0.95
