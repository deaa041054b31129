"""FSAUC as a scikit-learn classifier."""

from __future__ import annotations

import numpy as np

from ...exact.classifier.threshold import Rule
from ...exact.errors import InputError
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.checks import check_count
from ..online.row_stream import Look, OnlineSolution, run_passes
from .fsauc import MultiStageSaddle, StageWalk
from .square_classifier import SquareClassifier, bare_rows


class FSAUC(SquareClassifier):
    """A linear model for AUC in an l1 ball, as a saddle point, in stages.

    [SHT, section IV]: minimise over |w|_1 <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. An average is returned, which is hardly ever sparse. The
    departures from the paper are listed at `aucert.approx.square_loss.fsauc.MultiStageSaddle`.

    Parameters
    ----------
    radius : float
        > 0.
    step : "auto" or float
        > 0, of the first stage.
    share : {"running", "exact"}
        As in `SOLAM`.
    max_passes : int
    n_steps : int, optional
        All steps that the stages of `partial_fit` are laid out for, which its theory must know;
        `max_passes` times the rows of the first batch by default. `fit` does not look at it.
    threshold, max_time, random_state
        As in `SPAM`.

    Attributes
    ----------
    coef_, intercept_, classes_, support_, objective_, gap_, lower_bound_, proved_,
    solution_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `SPAM`.
    """

    _walk: StageWalk

    def __init__(
        self,
        radius: float = 1.0,
        *,
        step: float | str = "auto",
        share: str = "running",
        max_passes: int = 20,
        n_steps: int | None = None,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.radius = radius
        self.step = step
        self.share = share
        self.max_passes = max_passes
        self.n_steps = n_steps
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    def _solver(self, seed: int) -> MultiStageSaddle:
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        names = ("radius", "step", "share", "max_passes", "max_time")
        return MultiStageSaddle(**{name: getattr(self, name) for name in names}, seed=seed)

    def _run(self, loss: RowAverage, seed: int, callback: Look | None) -> OnlineSolution:
        solver = self._solver(seed)
        steps = self.max_passes * loss.mass.size
        self._walk = StageWalk(solver, loss, np.zeros(loss.dim), steps)
        return run_passes(solver.problem(loss), solver.stages(self._walk), callback, self.max_time)

    def partial_fit(self, X: object, y: object, classes: object = None) -> FSAUC:
        """Make a step on each of these rows, in the order they have, going on through the stages.

        How a stream is cut into batches makes no difference, up to rounding, where `n_steps` is
        given and the first batch has the longest row: its length sets the step and the balls.
        When all stages are over, and after `fit`, the last one goes on.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
        y : array (m,)
        classes : array (2,), optional
            Both labels; needed in the first call, unless `fit` came before.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `fit`; and with ``share="exact"``, which needs all rows.
        """
        solver, first = self._solver(0), not self._begun()
        if self.share == "exact":
            raise InputError('share="exact" needs all rows: take "running", or fit')
        rows, positive = self._check_batch(X, y, classes)
        batch = bare_rows(rows, positive)
        if first:
            steps = self.n_steps or self.max_passes * positive.size
            self._walk = StageWalk(solver, batch, np.zeros(rows.shape[1]), steps)
        self._walk.visit(batch)
        self._walk.take(np.arange(positive.size))
        self.n_iter_ = self._walk.n_iter
        self._keep_batch(self._walk.answer, rows, positive)
        return self
