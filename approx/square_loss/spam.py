"""SPAM: stochastic proximal steps on the square loss over all pairs. [SHT, section IV]

The method of Natole, Ying and Lyu (2018), the rival of [SHT, Tables I to III].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exact.errors import InputError
from ...exact.square_loss.convex_square import ConvexSquare
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.checks import check_choice, check_number
from ..online.row_method import RowMethod, RowWalk, check_step
from .spam_compiled import spam_dense, spam_ridge
from .spam_l1_compiled import spam_sparse

SCHEDULES = ("sqrt", "linear", "constant")


@dataclass(frozen=True)
class StochasticProximal(RowMethod):
    """SPAM. [SHT, section IV] Minimise F(w) + l1 |w|_1 + l2/2 |w|^2, F the mean square loss.

    With the share r of the positive class, the class means, and a row x drawn at random, a step is

        u = w - eta_t c x,    c = (2/r) (w'(x - mean_-) - 1)          for a positive row,
                              c = (2/(1 - r)) (w'(x - mean_+) + 1)    for a negative one,
        w = sign(u) max(|u| - eta_t l1, 0) / (1 + eta_t l2),

    and the mean of c x over the draws is the gradient of F, since the class means are those of
    all rows.

    Differs from the paper: 1. Its objective is r (1 - r) F plus the penalties; `from_paper`
    converts. 2. For the elastic net its programs divide the negative weights only by
    1 + eta_t l2, which solves no such problem; all are divided here. 3. Its theory wants steps
    of order 1/t, its programs take xi / sqrt(t), and they return the last point where an earlier
    version returned the mean of all: both steps and both points are offered.

    The last point is less sparse than the optimum: each step brings back all features of its
    row, to be shrunk again by eta_t l1 a step. An average is hardly ever sparse.

    Parameters
    ----------
    l1, l2 : float
        >= 0.
    schedule : {"sqrt", "linear", "constant"}
        Step t = 1, 2, ... has the length step / sqrt(t), step / (t + t0), or step.
    step : "auto" or float
        > 0. "auto" is 1 / L with L = `steepest`, which is safe for any schedule; for "linear" it
        is 2 / l2, as strong convexity wants it, and t0 is then 2 L / l2, so that the first steps
        are no longer than 1 / L.
    t0 : float, optional
        >= 0; 0 by default where `step` is given.
    average : bool
        Return the mean of the points after all steps, and not the last point.
    max_passes : int
        Passes of n steps each; the rows are drawn with replacement.
    seed : int or None
    max_time : float, optional
        Seconds, looked at after each pass.
    """

    l1: float = 0.0
    l2: float = 0.0
    schedule: str = "sqrt"
    step: float | str = "auto"
    t0: float | None = None
    average: bool = False
    max_passes: int = 10
    seed: int | None = 0
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_number("l1", self.l1, closed="low")
        check_number("l2", self.l2, closed="low")
        check_choice("schedule", self.schedule, SCHEDULES)
        check_step(self.step)
        if self.step == "auto" and self.schedule == "linear" and self.l2 == 0:
            raise InputError('schedule="linear" needs l2 > 0, or a step of your own')
        if self.t0 is not None:
            check_number("t0", self.t0, closed="low")
        super().__post_init__()

    def problem(self, loss: RowAverage) -> ConvexSquare:
        """Return the convex problem that the steps minimise."""
        part = RowAverage(loss.X, loss.positive, loss.mass, loss.means, loss.share, self.l2)
        return ConvexSquare(part, self.l1)

    def begin(self, loss: RowAverage | None, w: np.ndarray, n_steps: int) -> ProximalWalk:
        """Return a walk that starts at `w`; the number of its steps plays no part."""
        return ProximalWalk(self, loss, w)

    def lengths(self, steep: float, start: int, size: int) -> np.ndarray:
        """Return the lengths of the steps start + 1, ..., start + size; steep is L: (size,)."""
        t = np.arange(start + 1, start + size + 1, dtype=float)
        step, t0 = self.step, self.t0 or 0.0
        if isinstance(step, str):
            length = 1 / steep if steep > 0 else 1.0  # without curvature nothing moves
            linear = self.schedule == "linear"
            step = 2 / self.l2 if linear else length
            t0 = step / length if linear and self.t0 is None else t0
        if self.schedule == "constant":
            return np.full(size, step)
        return step / (t + t0) if self.schedule == "linear" else step / np.sqrt(t)


class ProximalWalk(RowWalk):
    """The state of a run, and its steps on the rows of the loss that it visits.

    Attributes
    ----------
    w : array (d,)
        The last point.
    total : array (d,), or (0,) without averaging
        Sum of the points so far.
    n_iter : int
    """

    def __init__(self, solver: StochasticProximal, loss: RowAverage | None, w: np.ndarray):
        self.solver, self.w, self.n_iter, self.steep = solver, w, 0, 0.0
        self.total = np.zeros(w.size if solver.average else 0)
        if loss is not None:
            self.visit(loss)

    def visit(self, loss: RowAverage) -> None:
        """Take the rows, means and share of another loss from here on; L is the largest so far."""
        super().visit(loss)
        self.steep = max(self.steep, steepest(loss))
        self.along = np.ascontiguousarray(np.asarray(loss.X @ loss.means.T))

    @property
    def answer(self) -> np.ndarray:
        """What to return: the last point, or the mean of all."""
        return self.total / max(self.n_iter, 1) if self.solver.average else self.w.copy()

    def take(self, order: np.ndarray) -> None:
        """Make one step for each row of `order`."""
        loss, rows, l1, l2 = self.loss, self.rows, float(self.solver.l1), float(self.solver.l2)
        eta = self.solver.lengths(self.steep, self.n_iter, order.size)
        order = np.asarray(order, dtype=np.int64)
        data, at, ends, positive = rows.data, rows.indices, rows.indptr, loss.positive
        means, share, w, total = loss.means, loss.share, self.w, self.total
        if rows.dense:
            spam_dense(data, order, positive, means, share, l1, l2, eta, w, total)
        elif l1 > 0:
            spam_sparse(data, at, ends, order, positive, means, share, l1, l2, eta, w, total)
        else:
            along = self.along
            spam_ridge(data, at, ends, order, positive, means, along, share, l2, eta, w, total)
        self.n_iter += order.size


def steepest(loss: RowAverage) -> float:
    """Return the largest curvature of a step, max over rows of (2/r) |x| |x - mean_-| and alike.

    O(n d), or O(nonzeros): each c x is a rank-one linear map of w, plus a constant.
    """
    squares = loss.X * loss.X if isinstance(loss.X, np.ndarray) else loss.X.multiply(loss.X)
    norms = np.asarray(squares.sum(axis=1)).ravel()
    other = np.where(loss.positive, 0, 1)
    along = np.asarray(loss.X @ loss.means.T)[np.arange(norms.size), other]
    apart = norms - 2 * along + np.square(loss.means).sum(axis=1)[other]
    chance = np.where(loss.positive, loss.share, 1 - loss.share)
    kept = loss.mass > 0
    return float((2 / chance * np.sqrt(norms * np.maximum(apart, 0.0)))[kept].max(initial=0.0))


def from_paper(beta1: float, beta2: float, xi: float, share: float) -> dict[str, float]:
    """Return l1, l2 and step here for the paper's beta1, beta2 and xi, with the share r.

    The paper's objective r (1 - r) F + beta1 |w|_1 + beta2/2 |w|^2 is r (1 - r) times ours.
    """
    factor = share * (1 - share)
    return {"l1": beta1 / factor, "l2": beta2 / factor, "step": xi * factor}
