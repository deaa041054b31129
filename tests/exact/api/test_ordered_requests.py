"""Ordered pairs through `solve`, `certify`, the path and the estimators with queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.approx import RankSVM
from aucert.exact import (
    ROCSVM,
    ROCSVMCV,
    OrderedPairs,
    certify,
    query_pairs,
    regularization_path,
    solve,
    survival_pairs,
)
from loops import each


def some_rows(n: int = 40, seed: int = 0) -> dict[str, Any]:
    """Rows, queries, tied grades, tied times, events and weights of 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noisy = X @ [1.0, -0.5, 0.0] + rng.normal(size=n)
    return {
        "X": X,
        "qid": rng.integers(0, 5, n),
        "grade": np.clip(np.round(noisy), -1, 1),
        "time": np.round(np.exp(-noisy), 1),
        "event": rng.random(n) < 0.7,
        "weight": rng.integers(0, 4, n),
    }


def listed(pairs: OrderedPairs, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return i, j and the weight of each pair, found one by one."""
    a = np.empty(pairs.n)
    a[pairs.arrangement.order] = pairs.a
    found = [
        (i, j, weight[i] * weight[j])
        for i in range(pairs.n)
        for j in range(pairs.n)
        if a[i] > 0 and pairs.group[i] == pairs.group[j] and pairs.key[i] > pairs.key[j]
    ]
    i, j, share = (np.array(column) for column in zip(*found, strict=True))
    return i, j, share / share.sum()


KINDS = ("qid", "time")


def asked(kind: str, rows: dict[str, Any]) -> tuple[Any, dict[str, Any], OrderedPairs]:
    """Return y, the words of the call, and the pairs that they mean."""
    if kind == "qid":
        return rows["grade"], {"qid": rows["qid"]}, query_pairs(rows["qid"], rows["grade"])
    words = {"time": rows["time"], "event": rows["event"]}
    return None, words, survival_pairs(rows["time"], rows["event"])


@each("kind", KINDS)
@each(
    "words",
    [
        {"loss": "hinge"},
        {"loss": "squared_hinge"},
        {"loss": "square"},
        {"loss": "logistic"},
        {"loss": "exponential"},
        {"l1": 0.05},
        {"lam": 0.0, "l1": 0.05},
        {"sign": "nonnegative"},
        {"kernel": "rbf", "gamma": 0.5},
        {"sample_weight": True},
    ],
)
def test_the_objective_is_the_mean_over_listed_pairs(kind: str, words: dict[str, Any]) -> None:
    rows = some_rows()
    y, which, pairs = asked(kind, rows)
    words = {"lam": 0.1} | words
    weight = np.ones(pairs.n)
    if "sample_weight" in words:
        words["sample_weight"] = weight = rows["weight"]
    i, j, share = listed(pairs, weight)
    found: Any = solve(rows["X"], y, tol=1e-6, **words, **which)
    assert found.certificate.relative_gap <= 1e-6
    if words.get("kernel") == "rbf":
        D = ((rows["X"][:, None] - rows["X"][None]) ** 2).sum(axis=2)
        K = np.exp(-0.5 * D)
        scores, penalty = K @ found.w, 0.05 * found.w @ K @ found.w
    else:
        scores = rows["X"] @ found.w
        penalty = words["lam"] / 2 * found.w @ found.w + words.get("l1", 0) * abs(found.w).sum()
    t = scores[i] - scores[j]
    losses = {
        "hinge": np.maximum(0, 1 - t),
        "squared_hinge": np.maximum(0, 1 - t) ** 2,
        "square": (1 - t) ** 2,
        "logistic": np.logaddexp(0, -t),
        "exponential": np.exp(-t),
    }
    naive = float(share @ losses[words.get("loss", "hinge")] + penalty)
    assert naive == pytest.approx(found.certificate.primal, rel=1e-9)
    if "sign" in words:
        assert (found.w >= 0).all()


@pytest.mark.slow
@each("kind", KINDS)
def test_certify_judges_weights_and_scores(kind: str) -> None:
    rows = some_rows()
    y, which, pairs = asked(kind, rows)
    best = solve(rows["X"], y, 0.1, tol=1e-10, **which)
    w = best.w + 1e-3
    audit: Any = certify(rows["X"], y, 0.1, w=w, **which)
    i, j, _ = listed(pairs, np.ones(pairs.n))
    t = (rows["X"][i] - rows["X"][j]) @ best.w
    assert audit.gap > 0 and audit.n_pairs == pairs.count()
    assert 0 < audit.n_sure_right <= (t > 0).sum() and 0 < audit.n_sure_wrong <= (t < 0).sum()
    assert audit.n_sure_right + audit.n_sure_wrong > 0.5 * len(t)
    of_scores: Any = certify(rows["X"], y, 0.1, scores=rows["X"] @ w, **which)
    assert of_scores.primal == pytest.approx(audit.primal, rel=1e-8)
    assert of_scores.n_sure_right == pytest.approx(audit.n_sure_right, abs=3)
    assert certify(rows["X"], None, 0.1, w=w, pairs=pairs).primal == audit.primal
    path: Any = regularization_path(rows["X"], y, n_lams=3, **which)
    for point in path.points:
        t = (rows["X"][i] - rows["X"][j]) @ point.solution.w
        assert point.auc == pytest.approx((t > 0).mean() + 0.5 * (t == 0).mean(), abs=0.02)
        assert point.lam < path.lams[0] or t.max() <= 1 + 1e-4  # none has reached its margin


@each("make", [ROCSVM, RankSVM])
@each("weighted", [False, True])
def test_the_pairs_are_those_within_a_query(make: type, weighted: bool) -> None:
    rows = some_rows()
    X, y, qid = rows["X"], rows["grade"] > 0, rows["qid"]
    weight = np.arange(y.size) % 3 if weighted else None
    model: Any = make(lam=0.1, tol=1e-5)
    if make is ROCSVM:
        model.set_params(loss="squared_hinge")
    w = model.fit(X, y, sample_weight=weight, qid=qid).coef_[0]
    a = np.ones(y.size) if weight is None else weight
    i, j = np.nonzero(y[:, None] & ~y[None, :] & (qid[:, None] == qid[None, :]))
    share = a[i] * a[j]
    loss = np.maximum(0, 1 - X[i] @ w + X[j] @ w) ** 2
    naive = 0.05 * w @ w + share @ loss / share.sum()
    assert model.certificate_.primal == pytest.approx(naive, rel=1e-10)
    assert model.certificate_.relative_gap <= 1e-5
    all_pairs = model.fit(X, y, sample_weight=weight).certificate_.primal  # qid is not remembered
    assert all_pairs != pytest.approx(naive, rel=1e-6)


@each("model", [ROCSVM(0.1), RankSVM(0.1), ROCSVMCV([0.3, 0.02], cv=2, random_state=0)], ids=str)
def test_queries_are_routed(model: Any) -> None:
    rows = some_rows()
    X, y, qid = rows["X"], rows["grade"] > 0, rows["qid"]
    alone = clone(model).fit(StandardScaler().fit_transform(X), y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), model.set_fit_request(qid=True))
        assert pipeline.fit(X, y, qid=qid)[-1].coef_ == pytest.approx(alone.coef_)
