"""`fit(X, y, qid=...)`: classifiers whose pairs may be those within a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..errors import InputError
from ..tools.interrupts import ends_on_interrupt
from ..tools.lossless import check_labels
from .base import AUCClassifier, Progress
from .inputs import TrainingRows, check_row_weights
from .partitions import in_partitions


@dataclass(eq=False, repr=False)
class QueryClassifier(AUCClassifier):
    """Base of the classifiers that take `qid`: `_queries` holds it while they are trained."""

    _queries = None

    @ends_on_interrupt
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Progress | None = None,
        qid: object = None,
    ) -> Self:
        """Train the model on these rows."""
        if qid is not None:
            queries: Any = qid  # a dask collection stays where it is
            self._queries = queries if in_partitions(X) else check_labels(qid)
        try:
            self._fit(X, y, sample_weight, callback)
        finally:
            self.__dict__.pop("_queries", None)
        return self._warn()

    def _check_fit(self, X: object, y: object, sample_weight: object = None) -> TrainingRows:
        """Return what to train on, and leave in `_queries` those of these rows."""
        data = super()._check_fit(X, y, sample_weight)
        if self._queries is not None:
            queries: Any = self._queries
            n = len(np.asarray(y))
            if queries.shape != (n,):
                raise InputError(f"{n} rows, but qid of shape {queries.shape}")
            weight = check_row_weights(sample_weight, n)
            self._queries = queries if weight is None else queries[weight > 0]
        return data
