"""AUC with half credit for ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc, partial_auc


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans(), st.integers(1, 3)), min_size=2))
def test_auc_is_the_double_loop_with_half_ties(rows):
    scores = np.array([row[0] for row in rows], dtype=float)
    positive = np.array([row[1] for row in rows])
    weight = np.array([row[2] for row in rows], dtype=float)
    if positive.all() or not positive.any():
        return
    right = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            credit = 0.5 if scores[i] == scores[j] else float(scores[i] > scores[j])
            right += weight[i] * weight[j] * credit
            total += weight[i] * weight[j]
    assert auc(scores, positive, weight) == pytest.approx(right / total, abs=1e-12)


def test_auc_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=500), 1), rng.integers(0, 2, 500)
    assert auc(scores, y == 1) == pytest.approx(roc_auc_score(y, scores), abs=1e-14)


def test_a_constant_score_has_auc_one_half():
    assert auc(np.zeros(4), np.array([True, False, False, True])) == 0.5


def test_scores_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="row 1"):
        auc(np.array([0.0, np.nan]), np.array([True, False]))


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=2), st.floats(0.01, 1))
def test_partial_auc_is_that_of_scikit_learn(rows, fpr_max):
    scores, positive = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    if not positive.all() and positive.any():
        known = roc_auc_score(positive, scores, max_fpr=fpr_max)
        assert partial_auc(scores, positive, fpr_max) == pytest.approx(known, abs=1e-12)


def test_partial_auc_has_the_values_of_proc():
    """NDKA of its data aSAH, 72 against 41 rows; those beyond the first 16 do not matter."""
    order = np.array(list("PNPNPNPNNPPPPNNN" + 64 * "N" + 33 * "P"))
    scores = -np.minimum(np.arange(113.0), 16)
    area = partial_auc(scores, order == "P", 0.1, corrected=False)
    assert area == pytest.approx(0.0107046070460705, abs=1e-14)
    assert partial_auc(scores, order == "P", 0.1) == pytest.approx(0.530024247610897, abs=1e-14)
    with pytest.raises(InputError, match="fpr_max"):
        partial_auc(scores, order == "P", 0.0)
