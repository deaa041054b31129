"""What the online estimators share: training in one go, or on rows that come in batches."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...exact.classifier.base import AUCClassifier, Progress
from ...exact.classifier.inputs import Matrix, draw_seed
from ...exact.classifier.model_codec import is_whole
from ...exact.classifier.threshold import get_rule
from ...exact.errors import InputError
from ...exact.spaces.rows import LARGEST_REACH
from ...exact.tools.interrupts import ends_on_interrupt
from ...exact.tools.lossless import check_labels
from ...exact.tools.threads import small_in_one_thread

PROVED_BY_FIT = (
    *("solution_", "certificate_", "status_", "history_"),
    *("objective_", "gap_", "lower_bound_", "proved_"),
)
"""Attributes about the weights that `fit` has found: `partial_fit` removes them."""


@dataclass(eq=False, repr=False)
class OnlineClassifier(AUCClassifier):
    """Base of the estimators with `partial_fit`.

    `fit` starts anew. `partial_fit` starts with its first call, or goes on after `fit`.
    """

    _: KW_ONLY
    random_state: int | np.random.RandomState | None = None

    _needs_both: ClassVar[bool] = False

    @ends_on_interrupt
    def fit(self, X: object, y: object, callback: Progress | None = None) -> Self:
        """Train a new model on these rows.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR.
        y : array (n,)
            Two kinds of labels; the larger one is the positive class.
        callback : callable, optional
            Called with each line of the history as it is written.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a parameter or the input cannot be used, or the steps diverge; scikit-learn's own
            checks of X and y raise a plain `ValueError`.

        Warns
        -----
        ConvergenceWarning
            If the time ran out, or the run is known to be too short.
        """
        self._fit(X, y, None, callback)
        return self._warn()

    @small_in_one_thread
    def partial_fit(self, X: object, y: object, classes: object = None) -> Self:
        """Train on these rows, after all rows that came before.

        A first call starts a new model; a call after `fit` goes on with its model. What `fit`
        proved of its weights (certificate, gap, status) is removed: the rows of all batches, about
        which it would have to speak, are not kept. `aucert.exact.certify` speaks about any weights
        and rows at hand.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
            Any number of rows. `NSAUC` and `NSVMSGD2` need rows of both classes.
        y : array (m,)
        classes : array (2,), optional
            Both labels; needed in the first call, unless `fit` came before.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `fit`; if the labels are not those of the first call; or if a parameter needs to
            know all rows beforehand (``average="half"``, ``share="exact"``).
        """
        self._check_parameters()
        self._check_stream()
        first = not self._begun()
        rows, positive = self._check_batch(X, y, classes)
        for name in PROVED_BY_FIT:
            self.__dict__.pop(name, None)
        self._learn(rows, positive, first)
        return self

    def _check_stream(self) -> None:
        """Raise `InputError` if a parameter needs to know all rows beforehand."""
        return

    @abstractmethod
    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        """Take the checked rows of a batch, the first of all or a later one; set the weights."""

    def _begun(self) -> bool:
        """Return whether there is something to go on with."""
        return hasattr(self, "classes_")

    def _check_batch(self, X: object, y: object, classes: object) -> tuple[Matrix, np.ndarray]:
        """Return the rows of a batch and the mask of the positive ones; set `classes_`."""
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
        if self._needs_both and (positive.all() or not positive.any()):
            raise InputError("partial_fit needs rows of both classes here: it makes pairs of them")
        self.classes_ = kinds
        return rows, positive

    def _draw_seed(self) -> int:
        """Return the seed of this run, and keep it for later batches."""
        self._run_seed = draw_seed(self.random_state)
        return self._run_seed

    def _batch_rng(self) -> np.random.Generator:
        """Return the generator of the next batch: its seed is the run's and the steps so far."""
        return np.random.default_rng([self._run_seed, self.n_iter_])
