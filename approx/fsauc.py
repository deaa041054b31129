"""FSAUC: the saddle point of the square loss in stages over an l1 ball. [SHT, section IV]

The method of Liu, Zhang, Chen, Wang and Yang (2018). The saddle function is that of `solam`.

A compiled step costs the nonzeros of the row, and a quick look at weights near zero.
The projection on |w|_1 <= R moves all weights towards zero by one and the same amount. With C the
sum of these amounts since the beginning of a block of steps,

    w_j = sign(level_j) max(|level_j| - C, 0),

where level_j moves only when a row has feature j. A block begins with a guess of how far C will
come, its reach. Weights with |level_j| above it are `far`: they stay alive, so that the sum of
their levels and their number say what they add to |w|_1. The levels of the others that are or were
alive in this block, the `near` ones, stand one after the other, and all are gone through at each
step, many at a time, to find the next C; from time to time the dead are taken out. A block ends
where C would come to the reach, or when renewing the lists costs little next to those looks.

The projection on the ball around the centre moves each weight by another amount, and goes through
all. A step from a point inside of the other sets cannot have added more than its own length to the
distance from the centre, their projections included: until that could come to r, no step checks it.
The first step of a part, and one after this projection, may begin outside of them: these steps
check it.

Loops replace slices: the compiler would take seconds for the errors that slices may raise.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from ..exact.square_loss.row_average import RowAverage
from ..exact.tools.arrays import check_count
from ..exact.tools.compiling import compiled
from .online import RowWalk
from .solam import SaddleClassifier, SaddleMethod

FAILURE = 0.1  # the chance of failure, delta, for which the lengths of the stages are chosen


def count_stages(n_steps: int) -> int:
    """Return m = floor(log2(2 T / log2 T) / 2) - 1, but at least one.

    For T < 100, about, the formula gives zero stages.
    """
    if n_steps < 4:
        return 1
    return max(math.floor(math.log2(2 * n_steps / math.log2(n_steps)) / 2) - 1, 1)


def first_step(step: float | str, radius: float, kappa: float, stage_size: int) -> float:
    """Return `step`, or for "auto" sqrt(beta_1 / (3 n0)) r_1 / G, at most 1 / (2 (1 + kappa^2)).

    G = |(2 kappa (1 + 4 R kappa), 4 R kappa)| is at least a row's slope in (w, a, b), and the
    limit is one over its curvature. It is proportional to r_1 / sqrt(n0), as the theory requires.
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
    and the distance from the optimum with it, fall only like 1 / sqrt(T). The top of this file
    says what a step costs.

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
    """The state of a run of `n_stages` stages of `stage_size` steps; then the last one goes on."""

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
            *self.rows, order, self.loss.positive, limits, self.centre, self.point, self.total,
            self.duals, self.counts,
        )  # fmt: skip
        self.visits += np.bincount(order, minlength=self.visits.size)

    def _count_visits(self) -> None:
        """Add the rows seen since the last time to the sums of their classes."""
        if self.visits.any():
            data, columns, ends, dense = self.rows
            sizes, n = np.diff(ends), self.visits.size
            times = np.repeat(self.visits, sizes)
            side = np.repeat(self.loss.positive.astype(np.int64), sizes)
            columns = np.tile(columns, n) if dense else columns
            flat = side * self.sums.shape[1] + columns
            np.add.at(self.sums.reshape(-1), flat, times * data)  # in the rows' order
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


@dataclass(eq=False, repr=False)
class FSAUC(SaddleClassifier):
    """A linear model for AUC in an l1 ball, as a saddle point, in stages.

    [SHT, section IV]: minimise over |w|_1 <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. An average is returned, which is hardly ever sparse. The
    departures from the paper are listed at `aucert.approx.fsauc.MultiStageSaddle`.

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
        The number of steps for which the stages of `partial_fit` are planned; by default
        `max_passes` times the rows of the first batch. `fit` ignores it.
    threshold, max_time, random_state
        As in `SPAM`, and so are the attributes.
    """

    _: KW_ONLY
    n_steps: int | None = None

    _method = MultiStageSaddle

    def _check_parameters(self) -> None:
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        super()._check_parameters()

    def _stream_steps(self, n: int) -> int:
        """Return the steps that a stream is laid out for, whose first batch has `n` rows."""
        return self.n_steps or super()._stream_steps(n)


WORK = 40  # near weights gone through in a block, over the weights that are listed, about
DEEP = 100  # C over R, at most, where a step begins: levels are rounded in proportion to it
# Places in `now`.
CUT, REACH, FAR_SIZE, FAR_ALIVE, STEPS, CUTS, GUESS, GROWN, RATE = range(9)
# Rows of `lists`: places of the features, features at the near places, far ones, dead places.
PLACES, OWNERS, FARS, DEAD = range(4)


@compiled
def stage_steps(
    data, indices, indptr, dense, order, positive, limits, centre, point, total, duals, counts
):  # pragma: no cover - compiled
    """Make the steps of a stage, or of a part of it, in place; see `StageWalk` for the arrays.

    `limits` holds R, kappa, r, D, eta, and p or zero. Feature j has its level at 2 j of `pairs`
    and the sum of its weights behind it, but for this block: `lives` has what it was while near,
    and from its last level `_renew` finds what it was while far, less what `_move` corrects.
    Its place in `levels` is >= 2, with zero there while it is far; 1 is far so far, and 0 dead.
    """
    R, ball, eta = limits[0], limits[2], limits[4]
    d, wide, work, begun, packed, away = point.size - 2, R * limits[1], 0, 0, 2, np.inf
    pairs, now = np.empty(2 * d), np.zeros(9)
    levels, lives, room = np.zeros(d + 48), np.zeros(d + 48), np.empty(d + 48)
    lists, row = np.empty((4, d + 48), np.uint32), np.empty((4, d + 16))
    square = 0.0
    for j in range(d):
        square += centre[j] * centre[j]
    near, far = 2, _load(point, total, pairs, lists, now)
    later, then, to = order[0], np.uint64(indptr[order[0]]), np.uint64(indptr[order[0] + 1])
    for t in range(order.size):
        i, lo, hi, later = later, then, to, order[min(t + 1, order.size - 1)]
        then, to = np.uint64(indptr[later]), np.uint64(indptr[later + 1])  # in time: memory is slow
        first = lo if dense else np.uint64(0)
        if work > WORK * (near + far) + 256 or now[CUT] > DEEP * R:
            near, far = _renew(pairs, levels, lives, lists, near, far, now, 2.0 * now[CUT])
            work, begun, packed = 0, t, near
        if near > 2 * packed + 32:
            near = packed = _pack(pairs, levels, lives, lists, near, now)

        # The score: levels and values of the row are written down, with zeros behind them.
        C, score = now[CUT], 0.0
        for k in range(lo, hi):
            x = pairs[2 * indices[k - first]]
            row[0, k - lo], row[1, k - lo] = x, data[k]
            score += data[k] * (x - min(max(x, -C), C))
        for k in range(hi - lo, hi - lo + np.uint64(8)):
            row[0, k], row[1, k] = 0.0, 0.0

        # a, b and alpha go into their boxes.
        counts[0] += 1
        counts[1] += 1 if positive[i] else 0
        p = limits[5] if limits[5] > 0.0 else counts[1] / counts[0]
        a, b, alpha = point[d], point[d + 1], duals[0]
        if positive[i]:
            q = 2.0 * (1.0 - p)
            slope = q * (score - a - 1.0 - alpha)
            point[d] = a - eta * q * (a - score)
            duals[0] = alpha - eta * q * (score + p * alpha)
        else:
            q = 2.0 * p
            slope = q * (score - b + 1.0 + alpha)
            point[d + 1] = b - eta * q * (b - score)
            duals[0] = alpha + eta * q * (score - (1.0 - p) * alpha)
        point[d] = min(max(point[d], -wide), wide)
        point[d + 1] = min(max(point[d + 1], -wide), wide)
        duals[0] = min(max(duals[0], -2.0 * wide), 2.0 * wide)

        move = eta * slope
        near = _move(indices, lo - first, hi - lo, row, move, pairs, levels, lists, near, now)
        while not _cut(levels, near, room, now, R):
            reach = 2.0 * (t + 2 - begun) * now[GUESS]
            near, far = _renew(pairs, levels, lives, lists, near, far, now, reach)
            work, begun, packed = 0, t, near
        away += abs(move) * limits[1] + abs(point[d] - a) + abs(point[d + 1] - b)
        if not away < ball:
            away = _distance(pairs, lists, near, far, point, centre, square, now[CUT])
        if not away < ball:  # the projection on the ball around the centre
            _renew(pairs, levels, lives, lists, near, far, now, 0.0)
            for j in range(d):
                point[j], total[j] = pairs[2 * j], pairs[2 * j + 1]
            squares = 0.0
            for j in range(d + 2):
                squares += (point[j] - centre[j]) ** 2
            away = math.sqrt(squares)
            share = ball / max(away, ball) if ball > 0.0 else 0.0
            for j in range(d + 2):
                point[j] = centre[j] + share * (point[j] - centre[j])
            away = min(away, ball)
            near, far = 2, _load(point, total, pairs, lists, now)
            work, begun, packed = 0, t, near
        duals[0] = min(max(duals[0], duals[1] - limits[3]), duals[1] + limits[3])
        total[d] += point[d]
        total[d + 1] += point[d + 1]
        counts[2] += 1
        now[STEPS] += 1.0
        C = now[CUT]
        now[CUTS] += C
        for k in range(near):
            lives[k] += levels[k] - min(max(levels[k], -C), C)
        work += near
    _renew(pairs, levels, lives, lists, near, far, now, 0.0)
    for j in range(d):
        point[j], total[j] = pairs[2 * j], pairs[2 * j + 1]


@compiled
def _load(point, total, pairs, lists, now):  # pragma: no cover
    """Begin a block with all weights far; return how many there are."""
    far, far_size = 0, 0.0
    for j in range(point.size - 2):
        pairs[2 * j], pairs[2 * j + 1] = point[j], total[j]
        alive = 1 if point[j] != 0.0 else 0
        lists[FARS, far], lists[PLACES, j] = j, alive
        far, far_size = far + alive, far_size + abs(point[j])
    now[:GUESS] = 0.0
    now[FAR_SIZE], now[FAR_ALIVE], now[REACH] = far_size, far, 0.0 if far > 0 else np.inf
    return far


@compiled
def _renew(pairs, levels, lives, lists, near, far, now, reach):  # pragma: no cover
    """Begin a block: C zero, the weights up to `reach` near; return the numbers of both lists."""
    C, old, steps, cuts = now[CUT], now[REACH], now[STEPS], now[CUTS]
    for k in range(far):
        j = lists[FARS, k]
        lists[OWNERS, near] = j
        near += 1 if lists[PLACES, j] == 1 else 0
    far, kept, far_size = 0, 2, 0.0
    for k in range(2, near):
        j = lists[OWNERS, k]
        x = pairs[2 * j]
        w = x - min(max(x, -C), C)
        since = 0.0 if abs(x) <= old else x * steps - (cuts if x > 0.0 else -cuts)
        pairs[2 * j] = w
        pairs[2 * j + 1] += lives[k] + since
        out, alive = abs(w) > reach, w != 0.0
        levels[k], lives[k] = 0.0, 0.0
        levels[kept], lists[OWNERS, kept], lists[FARS, far] = w, j, j
        lists[PLACES, j] = 1 if out else kept if alive else 0
        far_size += abs(w) if out else 0.0
        far += 1 if out else 0
        kept += 1 if alive & (not out) else 0
    levels[kept] = 0.0
    now[CUT], now[REACH], now[STEPS], now[CUTS] = 0.0, reach if far > 0 else np.inf, 0.0, 0.0
    now[FAR_SIZE], now[FAR_ALIVE] = far_size, far
    return kept, far


@compiled
def _pack(pairs, levels, lives, lists, near, now):  # pragma: no cover
    """Take the dead weights out of the near list; return the number of its places."""
    C, reach, dead = now[CUT], now[REACH], 0
    for k in range(2, near):
        lists[DEAD, dead] = k
        dead += 1 if abs(levels[k]) <= C else 0
    for back in range(1, dead + 1):
        k = lists[DEAD, dead - back]
        j = lists[OWNERS, k]
        if not abs(pairs[2 * j]) <= reach:
            continue  # it is far for some time, or not a number
        near -= 1
        last = lists[OWNERS, near]
        pairs[2 * j], pairs[2 * j + 1] = 0.0, pairs[2 * j + 1] + lives[k]
        levels[k], lives[k], lists[OWNERS, k], lists[PLACES, last] = (
            levels[near],
            lives[near],
            last,
            k,
        )
        levels[near], lives[near], lists[PLACES, j] = 0.0, 0.0, 0
    return near


@compiled
def _move(indices, begin, size, row, move, pairs, levels, lists, near, now):  # pragma: no cover
    """Move the weights of one row along it, without a branch; return the number of near places."""
    C, reach, steps, cuts, alive = now[CUT], now[REACH], now[STEPS], now[CUTS], 0
    part = (size + np.uint64(8)) >> np.uint64(3) << np.uint64(3)
    for k in range(part):  # many at a time
        x = row[0, k]
        v = x - min(max(x, -C), C)
        w = v - move * row[1, k]
        new = w + (C if w > 0.0 else -C)
        before, after = x if abs(x) > reach else 0.0, new if abs(new) > reach else 0.0
        row[0, k] = new
        turn = (1.0 if after > 0.0 else 0.0) - (1.0 if after < 0.0 else 0.0)
        turn += (1.0 if before < 0.0 else 0.0) - (1.0 if before > 0.0 else 0.0)
        row[1, k] = (after - before) * steps - turn * cuts
        row[2, k], row[3, k] = abs(after) - abs(before), abs(w) - abs(v)
        alive += (1 if abs(new) > reach else 0) - (1 if abs(x) > reach else 0)
    for k in range(size):
        j, new = indices[begin + k], row[0, k]
        pairs[2 * j] = new
        pairs[2 * j + 1] -= row[1, k]
        inner, place = 0 if abs(new) > reach else 1, lists[PLACES, j]  # 1 for what is not a number
        needs = place <= inner
        place = np.uint32(near) if needs else place
        near += 1 if needs else 0
        levels[place] = new if inner else 0.0
        lists[OWNERS, place], lists[PLACES, j] = j, place
    now[FAR_SIZE] += _sum(row[2], part)
    now[FAR_ALIVE] += alive
    now[GROWN] = _sum(row[3], part)
    now[GUESS] = max(now[GROWN] * now[RATE], 0.0)
    return near


@compiled
def _sum(room, part):  # pragma: no cover
    """Return the sum of the first `part` numbers, a multiple of 8, and spoil them."""
    while part > np.uint64(8):
        half = (part >> np.uint64(4) << np.uint64(3)) + (part & np.uint64(8))
        for k in range(part - half):
            room[k] += room[half + k]
        part = half
    low = (room[0] + room[1]) + (room[2] + room[3])
    return low + ((room[4] + room[5]) + (room[6] + room[7]))


@compiled
def _cut(levels, near, room, now, radius):  # pragma: no cover
    """Bring |w|_1 down to `radius`; False where C would come to the reach.

    |w|_1 is convex and piecewise linear in C: no step of Newton's overshoots, and one that loses
    no weight is the last. They begin at a guess from the step before, which may.
    """
    C, limit, before = now[CUT], now[REACH], -1.0
    at = C + now[GUESS] if C + now[GUESS] < limit else C
    guessed, part = at > C, np.uint64((near + 31) // 32 * 8)
    two, three, four = part, part + part, part + part + part
    while True:
        count = 0  # of the levels above `at`, and in `room` how far they are above it
        for k in range(part):
            p, q = abs(levels[k]), abs(levels[two + k])
            r, s = abs(levels[three + k]), abs(levels[four + k])
            count += (p > at) + (q > at) + (r > at) + (s > at)
            room[k] = (p - at if p > at else 0.0) + (q - at if q > at else 0.0)
            room[k] += (r - at if r > at else 0.0) + (s - at if s > at else 0.0)
        size, alive = now[FAR_SIZE] - now[FAR_ALIVE] * at, now[FAR_ALIVE] + count
        size += _sum(room, part)
        if at > C and alive == before:
            break
        then = max(at + (size - radius) / alive, C) if alive > 0.0 else C
        if not guessed and not (then > at and size < np.inf):
            break
        if not then < limit:
            now[GUESS] = then - C
            return False
        at, before, guessed = then, alive, False
    now[CUT], now[RATE] = at, (at - C) / now[GROWN] if now[GROWN] > 0.0 else 0.0
    return True


@compiled
def _distance(pairs, lists, near, far, point, centre, square, C):  # pragma: no cover
    """Return the distance of the point from the centre, or a little more."""
    d, moved = centre.size - 2, 0.0
    for k in range(2, near + far):
        j = lists[OWNERS, k] if k < near else lists[FARS, k - near]
        x, c = pairs[2 * j], centre[j]
        w = x - min(max(x, -C), C)
        moved += w * (w - 2.0 * c) if k < near or lists[PLACES, j] == 1 else 0.0
    ends = (point[d] - centre[d]) ** 2 + (point[d + 1] - centre[d + 1]) ** 2
    return math.sqrt(max(square + moved, 0.0) + ends + 1e-12 * (square + abs(moved)))
