"""The skeleton of the methods that see one row at a time: SPAM, SOLAM and FSAUC.

They have no `run(problem, recorder)` like the solvers of a `Problem`, for three reasons. Their
problem is a `ConvexSquare`, with an l1 penalty or a ball, whose proved gap is not a `Certificate`.
To evaluate a point costs as much as a pass, so the last point is returned, and no best one is kept.
And a run can go on with rows that come later, so that its state, the walk, is apart from the solver
and outlives it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from ...exact.square_loss.convex_square import ConvexSquare
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.checks import check_choice, check_count, check_number
from .row_stream import Look, OnlineSolution, RowArrays, draw_rows, run_passes, start_at


def check_step(step: object) -> None:
    """Raise `InputError` unless `step` is "auto" or a number > 0."""
    if isinstance(step, str):
        check_choice("step (other than a number > 0)", step, ("auto",))
    else:
        check_number("step", step)


class RowWalk(ABC):
    """The state of a run, and its steps on the rows of the loss that it visits."""

    loss: RowAverage
    rows: RowArrays
    n_iter: int

    def visit(self, loss: RowAverage) -> None:
        """Take the rows of another loss from here on."""
        self.loss, self.rows = loss, RowArrays.of(loss.X)

    @abstractmethod
    def take(self, order: np.ndarray) -> None:
        """Make one step for each row of `order`, an int array (m,)."""

    @property
    @abstractmethod
    def answer(self) -> np.ndarray:
        """The weights that the method returns after the steps made so far: (d,)."""


class RowMethod(ABC):
    """Parameters of a method, and the one `solve` around its walk.

    Attributes
    ----------
    max_passes : int
        >= 1, passes of n steps each.
    seed : int or None
        Draws the rows.
    max_time : float, optional
        Seconds, > 0; no pass is begun after them.
    """

    max_passes: int
    seed: int | None
    max_time: float | None

    def __post_init__(self) -> None:
        check_count("max_passes", self.max_passes)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    @abstractmethod
    def problem(self, loss: RowAverage) -> ConvexSquare:
        """Return the convex problem that the steps minimise."""

    @abstractmethod
    def begin(self, loss: RowAverage | None, w: np.ndarray, n_steps: int) -> RowWalk:
        """Return a walk that starts at `w` (d,), of which it may keep the array.

        Parameters
        ----------
        loss : RowAverage, optional
            The rows to visit first; None where a later `visit` will give them.
        w : array (d,)
        n_steps : int
            Steps that the whole run is meant to have.
        """

    def solve(
        self, loss: RowAverage, w0: np.ndarray | None = None, callback: Look | None = None
    ) -> OnlineSolution:
        """Return the solution with its proved gap.

        Parameters
        ----------
        loss : RowAverage
            From `from_rows`, or from `sparse_problem`, which centres dense rows. Its `lam` plays no
            part. Row weights are the chances of the draws.
        w0 : array (d,), optional
            Where to start; zero by default.
        callback : function of a `Pass`, optional
            Called after each pass, or each stage of FSAUC. A call costs about as much as a pass.

        Raises
        ------
        InputError
            If w0 does not fit, or the steps diverge.
        """
        w = start_at(w0, loss.dim)
        return self.run(self.begin(loss, w, self.max_passes * loss.mass.size), callback)

    def run(self, walk: RowWalk, callback: Look | None = None) -> OnlineSolution:
        """Do what `solve` does from a walk that has not begun, and leave it where the run ends."""
        return run_passes(self.problem(walk.loss), self.passes(walk), callback, self.max_time)

    def passes(self, walk: RowWalk) -> Iterator[tuple[int, np.ndarray]]:
        """Make the steps of a run; yield their number and the answer after each pass."""
        rng = np.random.default_rng(self.seed)
        for size in self.sizes(walk):
            walk.take(draw_rows(walk.loss, rng, size))
            answer = walk.answer
            yield walk.n_iter, answer
            if not np.isfinite(answer).all():
                return

    def sizes(self, walk: RowWalk) -> list[int]:
        """Return the numbers of steps between the looks at a run."""
        return [walk.loss.mass.size] * self.max_passes
