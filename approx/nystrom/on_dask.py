"""Nyström features of dask collections: landmarks from a sample, the map on the workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exact.classifier.dask_blocks import drawn_rows, in_blocks, mapped
from ...exact.classifier.inputs import check_rows, draw_seed
from ...exact.errors import InputError

SAMPLED, LEAST_SAMPLE = 20, 5000
"""Rows in which landmarks are chosen: so many for each landmark, and at least."""


def landmark_sample(model: Any, X: Any) -> np.ndarray:
    """Return a sample of a collection's rows, and tell the transformer what its columns are called.

    Parameters
    ----------
    model : Nystrom
    X : dask array or dask dataframe (n, d)

    Raises
    ------
    InputError
        If the landmarks need labels, or the rows cannot be used.
    """
    if model.landmarks == "stratified":
        raise InputError(
            "stratified landmarks need the labels of the rows in memory: with dask choose another "
            "rule, or fit on a sample"
        )
    size = max(SAMPLED * int(model.n_landmarks), LEAST_SAMPLE)
    rows = drawn_rows(X, size, draw_seed(model.random_state))
    check_rows(model, rows)
    names = list(getattr(X, "columns", ()))
    if names and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.array(names, dtype=object)
    return rows


def features_of(model: Any, X: Any) -> Any:
    """Return the features of a collection's rows, a dask array (n, r) that is not computed yet."""
    names = getattr(model, "feature_names_in_", None)
    blocks = in_blocks(X, model.n_features_in_, names)
    return mapped(blocks, model.map_.transform, model.map_.rank)
