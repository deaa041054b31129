"""What the online estimators share: rows that come in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...exact.classifier.base import AUCClassifier, Matrix, draw_seed
from ...exact.classifier.model_codec import is_whole
from ...exact.classifier.threshold import get_rule
from ...exact.errors import InputError
from ...exact.spaces.rows import LARGEST_REACH
from ...exact.tools.lossless import check_labels


class OnlineClassifier(AUCClassifier):
    """Base of the estimators with `partial_fit`.

    `fit` starts anew; `partial_fit` starts with its first call, or goes on after `fit`.
    """

    random_state: Any
    n_iter_: int
    _run_seed: int

    def _begun(self) -> bool:
        """Return whether there is something to go on with."""
        return hasattr(self, "classes_")

    def _check_batch(
        self, X: object, y: object, classes: object, both: bool = False
    ) -> tuple[Matrix, np.ndarray]:
        """Return the rows of a batch and the mask of the positive ones; set `classes_`.

        With `both`, the rows must be of both classes.
        """
        get_rule(self.threshold)
        first = not self._begun()
        if first and classes is None:
            raise InputError("give both labels as `classes` in the first call of partial_fit")
        if not first and not is_whole(self):
            raise InputError("a loaded model of this kind cannot go on: its run was not saved")
        rows, labels = self._check_data(X, y, reset=first)
        check_classification_targets(labels)
        if abs(rows).max() > LARGEST_REACH:
            raise InputError("X has values so large that their squares overflow: rescale it")
        if classes is not None:
            kinds = np.unique(check_labels(classes, "classes"))
            if kinds.size != 2:
                raise InputError(
                    "Only binary classification is supported: `classes` must be two labels, "
                    f"not {kinds.tolist()}"
                )
            if not first and not np.array_equal(kinds, self.classes_):
                raise InputError(
                    f"the labels are {self.classes_.tolist()} since the first call, "
                    f"`classes` now says {kinds.tolist()}"
                )
        else:
            kinds = self.classes_
        strange = np.setdiff1d(labels, kinds)
        if strange.size:
            raise InputError(f"the label {strange.tolist()[0]!r} is not among {kinds.tolist()}")
        positive = labels == kinds[1]
        if both and (positive.all() or not positive.any()):
            raise InputError("partial_fit needs rows of both classes here: it makes pairs of them")
        self.classes_ = kinds
        return rows, positive

    def _draw_seed(self) -> int:
        """Return the number that names this run, and keep it for later batches."""
        self._run_seed = draw_seed(self.random_state)
        return self._run_seed

    def _batch_rng(self) -> np.random.Generator:
        """Return the random numbers of the next batch, named by the seed and the steps so far."""
        return np.random.default_rng([self._run_seed, self.n_iter_])
