"""`fit(X, y, qid=...)` of `ROCSVM` and `RankSVM`, and what the other options of `ROCSVM` do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.approx import RankSVM
from aucert.exact import ROCSVM, solve
from aucert.exact.errors import InputError
from loops import each


def some_rows(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and queries."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n) > 0, rng.integers(0, 5, n)


@each("make", [ROCSVM, RankSVM])
@each("weighted", [False, True])
def test_the_pairs_are_those_within_a_query(make: type, weighted: bool) -> None:
    X, y, qid = some_rows()
    weight = np.arange(y.size) % 3 if weighted else None
    model: Any = make(lam=0.1, tol=1e-5)
    if make is ROCSVM:
        model.set_params(loss="squared_hinge")
    model.fit(X, y, sample_weight=weight, qid=qid)
    w = model.coef_[0]
    a = np.ones(y.size) if weight is None else weight
    i, j = np.nonzero(y[:, None] & ~y[None, :] & (qid[:, None] == qid[None, :]))
    share = a[i] * a[j]
    loss = np.maximum(0, 1 - X[i] @ w + X[j] @ w) ** 2
    naive = 0.05 * w @ w + share @ loss / share.sum()
    assert model.certificate_.primal == pytest.approx(naive, rel=1e-10)
    assert model.certificate_.relative_gap <= 1e-5
    assert not hasattr(model, "_queries") or model._queries is None
    all_pairs = model.fit(X, y, sample_weight=weight).certificate_.primal  # qid is not remembered
    assert all_pairs != pytest.approx(naive, rel=1e-6)


@each("make", [ROCSVM, RankSVM])
def test_queries_are_routed(make: type) -> None:
    X, y, qid = some_rows()
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(lam=0.1, tol=1e-5).set_fit_request(qid=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y, qid=qid)
    scaled = StandardScaler().fit_transform(X)
    alone = make(lam=0.1, tol=1e-5).fit(scaled, y, qid=qid)
    assert pipeline[-1].coef_ == pytest.approx(alone.coef_)


@each("make", [ROCSVM, RankSVM])
@each(
    ("qid", "said"),
    [(np.arange(40), "pair"), (np.arange(39), "qid"), (np.full(40, np.nan), "group of row 0")],
)
def test_queries_that_cannot_be_used_are_refused(make: type, qid: np.ndarray, said: str) -> None:
    X, y, _ = some_rows()
    with pytest.raises(InputError, match=said):
        make(lam=0.1).fit(X, y, qid=qid)


def test_queries_go_without_nearest_pairs_and_partial_auc() -> None:
    X, y, qid = some_rows()
    for model, said in (
        (ROCSVM(0.1, pairs="nearest:2"), "qid makes the pairs"),
        (ROCSVM(0.1, fpr_max=0.5), "partial AUC"),
    ):
        with pytest.raises(InputError, match=said):
            model.fit(X, y, qid=qid)


def test_the_lasso_of_the_estimator_is_that_of_solve() -> None:
    X, y, _ = some_rows()
    model = ROCSVM(0.0, l1=0.05, tol=1e-6).fit(X, y)
    same = solve(X, y, 0.0, l1=0.05, tol=1e-6)
    assert model.certificate_.primal == pytest.approx(same.certificate.primal, rel=1e-6)
    assert model.certificate_.radius is None
    with pytest.raises(InputError, match="linear kernel"):
        ROCSVM(0.1, l1=0.1, kernel="rbf").fit(X, y)
    with pytest.raises(InputError, match="l1"):
        ROCSVM(0.1, l1=-1.0).fit(X, y)
