"""`ROCSVMCV.fit(X, y, qid=...)`: folds keep queries whole, and pairs are those within a query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.exact import ROCSVM, ROCSVMCV, cross_validated_path, query_pairs, solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.concordance import right_share
from loops import each

RNG = np.random.default_rng(3)
QID = RNG.permutation(np.repeat(np.arange(9), 6))
Y = RNG.random(54) < 0.4
X = RNG.normal(size=(54, 2)) + 0.8 * Y[:, None] + 5.0 * (QID % 3)[:, None]
WEIGHT = RNG.integers(0, 3, 54)
LAMS = [0.3, 0.02]
SPLITS = list(GroupKFold(3).split(X, Y, QID))
HOW: dict[str, Any] = {"loss": "squared_hinge"}


@each("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_each_fold_is_solved_and_judged_within_queries(weight: np.ndarray | None) -> None:
    found = cross_validated_path(X, Y, LAMS, cv=SPLITS, qid=QID, sample_weight=weight, **HOW)
    r = np.ones(54) if weight is None else weight
    for k, (train, test) in enumerate(SPLITS):
        train, test = train[r[train] > 0], test[r[test] > 0]
        for at, lam in enumerate(LAMS):
            alone = solve(
                X[train], Y[train], lam, qid=QID[train], sample_weight=r[train], tol=1e-6, **HOW
            )
            below, right = 0.0, 0.0
            s = X[test] @ alone.w
            for i, j in np.argwhere(
                Y[test][:, None] & ~Y[test] & (QID[test][:, None] == QID[test])
            ):
                mass = r[test[i]] * r[test[j]]
                below, right = below + mass, right + mass * (s[i] > s[j])
            assert found.fold_auc[k, at] == pytest.approx(right / below, abs=1e-12)
            assert found.fold_low[k, at] <= found.fold_auc[k, at] <= found.fold_high[k, at]
            assert found.fold_high[k, at] - found.fold_low[k, at] < 0.2


def test_the_estimator_chooses_within_queries_and_keeps_queries_whole() -> None:
    model = ROCSVMCV(LAMS, cv=3, random_state=0, loss="squared_hinge").fit(X, Y, qid=QID)
    path = model.cv_path_
    assert path.fold_auc.shape == (3, 2) and path.mean_auc.min() > 0.55
    again = ROCSVM(model.lam_, loss="squared_hinge").fit(X, Y, qid=QID)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    share = right_share(query_pairs(QID, Y.astype(float)), model.decision_function(X))
    assert share > right_share(query_pairs(np.zeros(54), Y.astype(float)), X[:, 0])
    assert not hasattr(model, "_queries") or model._queries is None


def test_metadata_routing_hands_the_queries_on() -> None:
    alone = ROCSVMCV(LAMS, cv=3, random_state=0, loss="squared_hinge")
    wanted = alone.fit(StandardScaler().fit_transform(X), Y, qid=QID).coef_
    with sklearn.config_context(enable_metadata_routing=True):
        asked = ROCSVMCV(LAMS, cv=3, random_state=0, loss="squared_hinge").set_fit_request(qid=True)
        pipe = make_pipeline(StandardScaler(), asked).fit(X, Y, qid=QID)
    np.testing.assert_array_equal(pipe[-1].coef_, wanted)


@each(
    ("more", "why"),
    [
        ({"cv": [(np.arange(30), np.arange(30, 54)), (np.arange(9, 54), np.arange(9))]}, "cuts"),
        ({"cv": 10}, "9 queries: use at most 9"),
        ({"qid": QID[:-1]}, "qid of shape"),
        ({"qid": np.arange(54)}, "no query with rows of both classes"),
        ({"pairs": lambda *rows: None}, "qid makes the pairs"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict, why: str) -> None:
    with pytest.raises(InputError, match=why):
        cross_validated_path(X, Y, LAMS, **({"qid": QID, "cv": 3} | more))


def test_the_estimator_refuses_other_pairs_with_queries() -> None:
    with pytest.raises(InputError, match="qid makes the pairs"):
        ROCSVMCV(LAMS, pairs="nearest:2").fit(X, Y, qid=QID)
