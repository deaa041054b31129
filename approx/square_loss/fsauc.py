"""FSAUC: the saddle point of the square loss in stages over an l1 ball. [SHT, section IV]

The method of Liu, Zhang, Chen, Wang and Yang (2018). The saddle function is that of `solam`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.compiling import compiled
from ..online.row_method import RowWalk
from .fsauc_compiled import stage_steps
from .solam import SaddleMethod

FAILURE = 0.1
"""The chance of failure, delta, for which the lengths of the stages are chosen."""


def count_stages(n_steps: int) -> int:
    """Return m = floor(log2(2 T / log2 T) / 2) - 1, but at least one.

    For T < 100, about, the formula gives zero stages.
    """
    if n_steps < 4:
        return 1
    return max(math.floor(math.log2(2 * n_steps / math.log2(n_steps)) / 2) - 1, 1)


def first_step(step: float | str, radius: float, kappa: float, stage_size: int) -> float:
    """Return `step`, or for "auto" sqrt(beta_1 / (3 n0)) r_1 / G, at most 1 / (2 (1 + kappa^2)).

    G = |(2 kappa (1 + 4 R kappa), 4 R kappa)| is no less than a row's slope in (w, a, b), and the
    limit is one over its curvature. In proportion to r_1 / sqrt(n0), as the theory wants it.
    """
    if not isinstance(step, str):
        return float(step)
    wide = radius * kappa
    steep = math.hypot(2 * kappa * (1 + 4 * wide), 4 * wide)
    near = 2 * math.sqrt(1 + 2 * kappa**2) * radius
    stable = 1 / (2 * (1 + kappa**2))
    if steep == 0:
        return stable
    return min(stable, math.sqrt((1 + 8 * kappa**2) / (3 * stage_size)) * near / steep)


@dataclass(frozen=True)
class MultiStageSaddle(SaddleMethod):
    """FSAUC. [SHT, section IV] Minimise the mean square loss over all pairs in an l1 ball.

    T = max_passes n steps are cut into m stages. Each begins at the mean of the points of the
    one before, stays within r of it in (w, a, b) and within D of its alpha, and makes gradient
    steps of one length eta, each followed by three projections in turn: |w|_1 <= R and the boxes
    |a|, |b| <= R kappa, |alpha| <= 2 R kappa; the ball of radius r; the interval of half width
    D. alpha begins each stage at its best value w'(mean_- - mean_+), means of the rows seen. With
    kappa the longest row, c = 2 + sqrt(2 ln(12 / delta)), u = min(p, 1 - p) and n0 = floor(T / m):

        r_1 = 2 sqrt(1 + 2 kappa^2) R,   r_{k+1} = r_k / 2,   D_1 = 2 sqrt(2) kappa r_1,
        D_{k+1} = 2 sqrt(2) kappa r_{k+1}
                  + 4 sqrt(2) kappa c (1 + 2 kappa) R / sqrt(u n0 - sqrt(2 n0 ln(12 / delta))),
        beta_1 = 1 + 8 kappa^2,
        beta_{k+1} = beta_1 + 32 kappa^2 c^2 (1 + 2 kappa)^2 / (u - sqrt(2 ln(12 / delta) / n0)),
        eta_{k+1} = min(sqrt(beta_{k+1} / beta_k) eta_k / 2, eta_k).

    Where a root or quotient does not exist, D is infinite and beta is 1e7, as in the programs.

    Differs from the paper: 1. Its formulas have kappa = 1, rows of length one. 2. For few steps
    the number of stages comes out as zero; one is made. 3. The programs take half the gradient:
    their eta is twice `step`. 4. The rows are drawn with replacement.

    The rate that its theory promises, O(1/T) up to logarithms, needs eta_1 in proportion to
    1 / sqrt(n0). With an eta_1 that does not depend on T, one of a fixed grid say, the last eta,
    and the distance from the optimum with it, fall only like 1 / sqrt(T).

    On sparse rows a step costs O(nonzeros of the row) and a quick look at each weight that the
    projection on |w|_1 <= R may soon bring to zero, see `fsauc_compiled`; the projection on the
    ball of radius r costs O(d), whenever it moves anything or nearly does.

    Parameters
    ----------
    radius, share, max_passes, seed, max_time
        As in `SaddleMethod`.
    step : "auto" or float
        > 0, eta_1; "auto" is `first_step`.
    """

    ball: ClassVar[str] = "l1"

    def begin(self, loss: RowAverage | None, w: np.ndarray, n_steps: int) -> StageWalk:
        """Return a walk that starts at `w`, its stages laid out for `n_steps` steps.

        From outside of the l1 ball the steps, which stay near `w`, may not come back into it: then
        the gap is infinite.
        """
        assert loss is not None, "the longest row sets the first step"
        return StageWalk(self, loss, w, n_steps)

    def sizes(self, walk: RowWalk) -> list[int]:
        """Return the numbers of steps of the stages."""
        assert isinstance(walk, StageWalk)
        return [walk.stage_size] * walk.n_stages


class StageWalk(RowWalk):
    """The state of a run of `n_stages` stages of `stage_size` steps; then the last one goes on.

    Attributes
    ----------
    centre : array (d + 2,)
        The centre of this stage: the mean of the points of the last one, w then a and b.
    point, total : arrays (d + 2,)
        The last point, and the sum of the points of this stage.
    duals : array (2,)
        alpha, and alpha at the beginning of the stage.
    sums : array (2, d)
        Sums of the negative and of the positive rows seen, but for those in `visits`.
    visits : int array (n,)
        How often each row of this loss was seen since the sums were brought up to date.
    counts : int array (3,)
        Rows seen, positive rows seen, and steps in this stage.
    """

    def __init__(self, solver: MultiStageSaddle, loss: RowAverage, w: np.ndarray, n_steps: int):
        self.solver = solver
        self.n_stages = count_stages(n_steps)
        self.stage_size = max(n_steps // self.n_stages, 1)
        self.centre = np.append(w, [0.0, 0.0])
        self.point, self.total = self.centre.copy(), np.zeros(w.size + 2)
        self.duals, self.sums = np.zeros(2), np.zeros((2, w.size))
        self.counts, self.stage = np.zeros(3, dtype=np.int64), 1
        self.kappa, self.wide = 0.0, math.inf
        self.visits = np.zeros(0, dtype=np.int64)
        self.visit(loss)
        self.eta = first_step(solver.step, solver.radius, self.kappa, self.stage_size)
        self.beta = 1 + 8 * self.kappa**2
        self.wide = 2 * math.sqrt(2) * self.kappa * self.near

    def visit(self, loss: RowAverage) -> None:
        """Take the rows of another loss from here on; kappa is the longest row so far."""
        self._count_visits()
        super().visit(loss)
        self.visits = np.zeros(loss.positive.size, dtype=np.int64)
        self.kappa = max(self.kappa, self.rows.longest)

    @property
    def near(self) -> float:
        """r of this stage."""
        first = 2 * math.sqrt(1 + 2 * self.kappa**2) * self.solver.radius
        return first / 2 ** (self.stage - 1)

    @property
    def n_iter(self) -> int:
        """Steps made."""
        return int(self.counts[0])

    @property
    def answer(self) -> np.ndarray:
        """The mean of the points of this stage, or of the last one where this has none."""
        steps = int(self.counts[2])
        return (self.total / steps if steps else self.centre)[:-2].copy()

    def take(self, order: np.ndarray) -> None:
        """Make one step for each row of `order`, going on to the next stage where one ends."""
        order = np.asarray(order, dtype=np.int64)
        while order.size:
            if self.counts[2] >= self.stage_size and self.stage < self.n_stages:
                self._next_stage()
            left = self.stage_size - int(self.counts[2])
            now = order[:left] if self.stage < self.n_stages else order
            self._steps(now)
            order = order[now.size :]

    def _steps(self, order: np.ndarray) -> None:
        exact = self.solver.exact_share(self.loss)
        radius = float(self.solver.radius)
        limits = np.array([radius, self.kappa, self.near, self.wide, self.eta, exact])
        stage_steps(
            self.rows.data,
            self.rows.indices,
            self.rows.indptr,
            self.rows.dense,
            order,
            self.loss.positive,
            limits,
            self.centre,
            self.point,
            self.total,
            self.duals,
            self.counts,
        )
        self.visits += np.bincount(order, minlength=self.visits.size)

    def _count_visits(self) -> None:
        """Add the rows seen since the last time to the sums of their classes."""
        if self.visits.any():
            data, at, ends, dense = self.rows
            add_rows(data, at, ends, dense, self.visits, self.loss.positive, self.sums)
            self.visits[:] = 0

    def _next_stage(self) -> None:
        self._count_visits()
        self.centre = self.total / self.counts[2]
        self.point, self.total = self.centre.copy(), np.zeros(self.centre.size)
        n, n_pos = int(self.counts[0]), int(self.counts[1])
        means = self.sums / np.maximum([[n - n_pos], [n_pos]], 1)
        self.duals[:] = self.centre[:-2] @ (means[0] - means[1])
        self.counts[2], self.stage = 0, self.stage + 1
        share = self.loss.share if self.solver.share == "exact" else n_pos / n
        rare, n0, kappa = min(share, 1 - share), self.stage_size, self.kappa
        chance = 2 * math.log(12 / FAILURE)
        factor = 4 * math.sqrt(2) * kappa * (2 + math.sqrt(chance)) * (1 + 2 * kappa)
        inside = rare * n0 - math.sqrt(chance * n0)
        self.wide = math.inf
        if inside > 0:
            extra = factor * self.solver.radius / math.sqrt(inside)
            self.wide = 2 * math.sqrt(2) * kappa * self.near + extra
        spread = rare - math.sqrt(chance / n0)
        beta = 1 + 8 * kappa**2 + factor**2 / spread if spread > 0 else 1e7
        self.eta = min(math.sqrt(beta / self.beta) * self.eta / 2, self.eta)
        self.beta = beta


@compiled
def add_rows(data, indices, indptr, dense, visits, positive, sums):  # pragma: no cover
    """Add each row, times its visits, to the sum of its class: sums (2, d)."""
    for i in range(visits.size):
        if visits[i] > 0:
            lo, side = indptr[i], 1 if positive[i] else 0
            base = lo if dense else 0
            for k in range(lo, indptr[i + 1]):
                sums[side, indices[k - base]] += visits[i] * data[k]
