"""SOLAM: the square loss over all pairs as a saddle point, a row a step. [SHT, section IV]

The method of Ying, Wen and Lyu (2016). With p the share of the positive class,

    min over |w| <= R, a, b, max over alpha of the mean over rows of
    (1 - p) (w'x - a)^2 [positive] + p (w'x - b)^2 [negative]
        + 2 (1 + alpha) (p w'x [negative] - (1 - p) w'x [positive]) - p (1 - p) alpha^2

is p (1 - p) (F - 1) at the best a, b, alpha: w'mean_+, w'mean_-, and their difference b - a.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from ..exact.errors import InputError
from ..exact.square_loss.convex_square import ConvexSquare
from ..exact.square_loss.row_average import RowAverage
from ..exact.tools.arrays import check_choice, check_number
from ..exact.tools.compiling import compiled
from .online import RowMethod, RowWalk, SquareClassifier, check_step

SHARES = ("running", "exact")


def auto_step(step: float | str, radius: float, kappa: float) -> float:
    """Return `step`, or for "auto" min(1 / (2 (1 + kappa^2)), radius / kappa).

    The first is one over the largest curvature of a row's saddle function in (w, a), the second
    crosses the ball in one step of the first gradient, about. A rule of thumb, not of the paper.
    """
    if not isinstance(step, str):
        return float(step)
    return min(1 / (2 * (1 + kappa**2)), radius / kappa if kappa > 0 else 1.0)


@dataclass(frozen=True)
class SaddleMethod(RowMethod):
    """What SOLAM and FSAUC share: a ball of weights, and a step."""

    radius: float = 1.0
    step: float | str = "auto"
    share: str = "running"
    max_passes: int = 10
    seed: int | None = 0
    max_time: float | None = None

    ball: ClassVar[str]

    def __post_init__(self) -> None:
        check_number("radius", self.radius)
        check_step(self.step)
        check_choice("share", self.share, SHARES)
        super().__post_init__()

    def problem(self, loss: RowAverage) -> ConvexSquare:
        """Return the convex problem that the steps minimise."""
        part = RowAverage(loss.X, loss.positive, loss.mass, loss.means, loss.share)
        return ConvexSquare(part, ball=self.ball, radius=self.radius)

    def exact_share(self, loss: RowAverage) -> float:
        """Return p for the compiled steps, or zero for the share of the rows seen so far."""
        return loss.share if self.share == "exact" else 0.0


@dataclass(frozen=True)
class StochasticSaddle(SaddleMethod):
    """SOLAM. [SHT, section IV] Minimise the mean square loss over all pairs in an l2 ball.

    Gradient steps of length step / sqrt(t), down in w, a, b and up in alpha, each followed by the
    projection on |w| <= R, |a|, |b| <= R kappa, |alpha| <= 2 R kappa, kappa the longest row. The
    answer is the mean of the points before the steps, weighted by the lengths.

    Differs from the paper: 1. The start is zero; the programs begin at w = R / sqrt(d),
    a = b = R, alpha = 2 R. 2. a and b are bounded on both sides; the programs bound them only from
    above. 3. The rows are drawn with replacement, as in its theory; the programs go through them.

    Parameters
    ----------
    radius, share, max_passes, seed, max_time
        As in `SaddleMethod`.
    step : "auto" or float
        > 0, the paper's xi, which ignores the scale of the data; "auto" is `auto_step`.
    """

    ball: ClassVar[str] = "l2"

    def begin(self, loss: RowAverage | None, w: np.ndarray, n_steps: int) -> SaddleWalk:
        """Return a walk that starts at `w`; the number of its steps plays no part."""
        return SaddleWalk(self, loss, w)


class SaddleWalk(RowWalk):
    """The state of a run, and its steps on the rows of the loss that it visits."""

    def __init__(self, solver: StochasticSaddle, loss: RowAverage | None, w: np.ndarray):
        self.solver, self.w, self.total = solver, w, np.zeros(w.size)
        self.ends, self.counts, self.kappa = np.zeros(3), np.zeros(3), 0.0
        if loss is not None:
            self.visit(loss)

    def visit(self, loss: RowAverage) -> None:
        """Take the rows of another loss from here on; kappa is the longest row so far."""
        super().visit(loss)
        self.kappa = max(self.kappa, self.rows.longest)

    @property
    def n_iter(self) -> int:
        """Steps made."""
        return int(self.counts[0])

    @property
    def answer(self) -> np.ndarray:
        """The weighted mean of the points."""
        return self.total / self.counts[2] if self.counts[2] > 0 else self.w.copy()

    def take(self, order: np.ndarray) -> None:
        """Make one step for each row of `order`."""
        order, solver = np.asarray(order, dtype=np.int64), self.solver
        share, radius = solver.exact_share(self.loss), float(solver.radius)
        step = auto_step(solver.step, radius, self.kappa)
        saddle_steps(
            *self.rows, order, self.loss.positive, share, radius, self.kappa, step,
            self.w, self.total, self.ends, self.counts,
        )  # fmt: skip


@compiled
def saddle_steps(
    data,
    indices,
    indptr,
    dense,
    order,
    positive,
    exact,
    radius,
    kappa,
    step,
    w,
    total,
    ends,
    counts,
):  # pragma: no cover - compiled
    """Make the steps in place. w is held as size * w, so that a projection is one product."""
    d, size, weight, square, wide = w.size, 1.0, 0.0, 0.0, radius * kappa
    missed = np.zeros(d)  # what `total` lacks of weight * w
    for t in range(order.size + 1):
        if t == order.size or t % max(d // 8, 64) == 0 or size < 1e-4:
            square = 0.0  # afresh: no drift, no underflow
            for j in range(d):
                total[j] += weight * w[j] - missed[j]
                missed[j] = 0.0
                w[j] *= size
                square += w[j] * w[j]
            size, weight = 1.0, 0.0
        if t == order.size:
            break
        i = order[t]
        lo, hi = indptr[i], indptr[i + 1]
        base = lo if dense else 0
        counts[0] += 1.0
        counts[1] += 1.0 if positive[i] else 0.0
        p = exact if exact > 0.0 else counts[1] / counts[0]
        gamma = step / math.sqrt(counts[0])
        counts[2] += gamma
        weight += gamma * size
        score, norm2 = 0.0, 0.0
        for k in range(lo, hi):
            score += data[k] * w[indices[k - base]]
            norm2 += data[k] * data[k]
        score *= size
        alpha = ends[2]
        if positive[i]:
            q, end = 2.0 * (1.0 - p), 0
            slope, slope_alpha = q * (score - ends[0] - 1.0 - alpha), -q * (score + p * alpha)
        else:
            q, end = 2.0 * p, 1
            slope, slope_alpha = (
                q * (score - ends[1] + 1.0 + alpha),
                q * (score - (1.0 - p) * alpha),
            )
        move = gamma * slope
        for k in range(lo, hi):
            change = move / size * data[k]
            w[indices[k - base]] -= change
            missed[indices[k - base]] -= weight * change
        square = max(square - 2.0 * move * score + move * move * norm2, 0.0)
        if square > radius * radius:
            size *= radius / math.sqrt(square)
            square = radius * radius
        ends[end] -= gamma * (q * (ends[end] - score))
        for k in range(2):
            ends[k] = min(max(ends[k], -wide), wide)
        ends[2] = min(max(alpha + gamma * slope_alpha, -2.0 * wide), 2.0 * wide)


@dataclass(eq=False, repr=False)
class SaddleClassifier(SquareClassifier):
    """Base of SOLAM and FSAUC: the square loss in a ball, as a saddle point."""

    radius: float = 1.0
    _: KW_ONLY
    share: str = "running"

    def _check_stream(self) -> None:
        if self.share == "exact":
            raise InputError('share="exact" needs all rows: take "running", or fit')


@dataclass(eq=False, repr=False)
class SOLAM(SaddleClassifier):
    """A linear model for AUC in an l2 ball, as a saddle point, a row a step.

    [SHT, section IV]: minimise over |w| <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. The departures from the paper are listed at
    `aucert.approx.solam.StochasticSaddle`.

    Parameters
    ----------
    radius : float
        > 0.
    step : "auto" or float
        > 0, the paper's xi: step t has the length step / sqrt(t).
    share : {"running", "exact"}
        The share of the positive rows among those seen so far, or among all.
    max_passes : int
    threshold, max_time, random_state
        As in `SPAM`, and so are the attributes.
    """

    _method = StochasticSaddle
