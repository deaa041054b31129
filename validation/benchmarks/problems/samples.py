"""Rows that benchmarks of several folders are run on."""

from __future__ import annotations

import numpy as np

from ....approx.nystrom.nystrom import Nystrom
from ...data.labelled_data import Dataset


def standardised(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows, each column of mean zero and variance one or constant, and the labels."""
    spread = data.X.std(axis=0)
    return (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), data.is_positive


def radial_features(n: int, d: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return Nyström features of a Gaussian kernel on a radial model in ten dimensions.

    In two dimensions fewer than 300 of such features are not zero to rounding.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10))
    r = np.square(x).sum(axis=1)
    y = r + 2 * rng.normal(size=n) > np.quantile(r, 0.8)
    features = Nystrom("rbf", gamma=0.1, n_landmarks=d, random_state=seed)
    return np.asarray(features.fit_transform(x)), y
