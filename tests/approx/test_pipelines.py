from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from aucert.approx.newton.truncated_newton import RankSVM
from aucert.approx.nystrom import Nystrom
from aucert.approx.oam import OAM
from aucert.approx.pipelines import noam, nsolam, rfauc
from aucert.approx.solam import SOLAM
from aucert.exact.spaces.kernels import Gaussian
from loops import each

RNG = np.random.default_rng(1)
X = RNG.normal(size=(600, 2)) * [1.0, 30.0] + 4
Z = StandardScaler().fit_transform(X)
Y = (Z[:, 0] * Z[:, 1] + 0.2 * RNG.normal(size=600) > 0).astype(int)
TRAIN, TEST = slice(0, 400), slice(400, None)


@each("make", [rfauc, noam, nsolam])
def test_they_rank_what_no_linear_machine_can(make) -> None:
    pipeline = make(seed=0).fit(X[TRAIN], Y[TRAIN])
    assert roc_auc_score(Y[TEST], pipeline.decision_function(X[TEST])) > 0.9
    linear = RankSVM().fit(Z[TRAIN], Y[TRAIN])
    assert roc_auc_score(Y[TEST], linear.decision_function(Z[TEST])) < 0.65


@each("gamma", [None, 0.2])
def test_the_random_features_mean_our_gaussian(gamma: float | None) -> None:
    pipeline = rfauc(gamma=gamma, n_features=20_000, seed=0)[:-1].fit(X[:40])
    features = pipeline.transform(X[:40])
    rows = StandardScaler().fit_transform(X[:40])
    wanted = Gaussian(gamma or 1 / 2)(rows, rows)
    assert np.abs(features @ features.T - wanted).max() < 5 / np.sqrt(20_000)


def test_noam_is_oam_on_the_nystrom_features() -> None:
    model = noam(0.05, 0.3, 15, "gradient", 20, seed=2).fit(X, Y)
    features = Nystrom(gamma=0.3, n_landmarks=15, landmarks="kmeans", random_state=2)
    learner = OAM(0.05, update="gradient", n_buffer=20, random_state=2)
    learner.fit(features.fit_transform(Z, Y), Y)
    np.testing.assert_allclose(model[-1].coef_, learner.coef_, rtol=1e-9)


def test_nsolam_is_solam_on_the_nystrom_features() -> None:
    model = nsolam(0.5, 0.3, 15, 0.2, 3, seed=2).fit(X, Y)
    features = Nystrom(gamma=0.3, n_landmarks=15, landmarks="kmeans", random_state=2)
    learner = SOLAM(0.5, step=0.2, max_passes=3, random_state=2)
    learner.fit(features.fit_transform(Z, Y), Y)
    np.testing.assert_allclose(model[-1].coef_, learner.coef_, rtol=1e-9)
