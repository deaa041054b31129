"""The hinge over all pairs of Nyström features, small enough to walk on for many epochs."""

from __future__ import annotations

import numpy as np

from aucert.approx.nystrom import Nystrom
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.rows import Rows

RNG = np.random.default_rng(0)
N = 500
Y = np.arange(N) % 5 == 0
RAW = RNG.normal(size=(N, 4)) + 0.8 * np.where(Y, np.sign(RNG.normal(size=N)), 0)[:, None]
X = Nystrom(gamma=0.25, n_landmarks=30, landmarks="kmeans", random_state=0).fit_transform(RAW)


def problem(lam: float, rows: object = X, pairs: AllPairs | PairList | None = None) -> Problem:
    return pair_problem(Rows(rows), Y, pairs or AllPairs(), HINGE, Ridge(lam))
