"""RankingSVM: that of `solve(qid=...)`, in pipelines, searches and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, cross_validate

from aucert.exact import (
    InputError,
    RankingSVM,
    SurvivalSVM,
    load_model,
    query_pairs,
    save_model,
    solve,
)
from aucert.exact.pairs.concordance import right_share

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
QID = np.repeat(np.arange(10), 6)
Y = np.digitize(X @ [1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=60), [-0.5, 0.5])


def test_it_is_the_solution_by_query_and_comes_back_from_a_file(tmp_path: Path) -> None:
    model, best = RankingSVM(0.1).fit(X, Y, qid=QID), solve(X, Y, 0.1, qid=QID)
    radii = model.certificate_.radius + best.certificate.radius
    assert np.linalg.norm(model.coef_ - best.w) <= radii
    share = model.score(X, Y, qid=QID)
    assert share == right_share(query_pairs(QID, Y), model.predict(X)) > 0.7
    survival = SurvivalSVM(0.1).fit(X, np.exp(-X[:, 0]))
    for kept in (model, survival):
        save_model(kept, tmp_path / "m.npz")
        np.testing.assert_array_equal(load_model(tmp_path / "m.npz").predict(X), kept.predict(X))


def test_queries_are_routed_and_sizes_of_groups_are_refused() -> None:
    with config_context(enable_metadata_routing=True):
        model = RankingSVM(0.1).set_fit_request(qid=True).set_score_request(qid=True)
        params = {"qid": QID, "groups": QID}
        found = cross_validate(model, X, Y, cv=GroupKFold(2), params=params, error_score="raise")
    assert (found["test_score"] > 0.5).all()
    with pytest.raises(InputError, match=r"np\.repeat"):
        RankingSVM().fit(X, Y, qid=[20, 40])
    with pytest.raises(InputError, match="one a row"):
        RankingSVM().fit(X, Y, qid=[1, 2])
