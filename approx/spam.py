"""SPAM: stochastic proximal steps on the square loss over all pairs. [SHT, section IV]

The method of Natole, Ying and Lyu (2018), the rival of [SHT, Tables I to III].

The compiled steps cost O(d) on dense rows, and about O(nonzeros) on sparse ones. The arguments
data, indices, indptr are those of a CSR matrix, `order` the rows to take, `eta` the length of each
step; w (d,) is changed in place, and each point is added to `total`, (d,) or empty.

With l1 > 0 on sparse rows a step shrinks all d weights, and needs w'mean of both classes, all
without touching the d weights. Within a block of steps, with P the product of the factors 1 + eta
l2 so far and C the sum of eta l1 times the P before each step,

    w_j = sign(level_j) max(|level_j| - C, 0) / P,

where level_j moves only when a row has feature j. While no weight vanishes, w'mean is linear in C:
two sums over the weights alive, those with |level_j| > C. The lengths of the steps are known
beforehand, C with them, and so is the step at which a weight that no row touches any more will
vanish: what the sums lose then is noted down for that step where the weight is set, and taken back
if a row touches it sooner. A block lasts some times as many touches as weights are alive: going
through those at its ends costs little then.

The sum of w_j over the points u, ..., v - 1 is level_j (A_v - A_u) - sign_j (B_v - B_u), A and B
being the sums of 1 / P and C / P. It is given to `total` where the weight is set, with its end, or
that of the block, for v, and what is left of it is taken back likewise.

Some rows at a time are copied to one place, with the means of their features: a processor fetches
many far places at once where nothing waits for one of them. Each part of a step is then a loop of
its own without branches, some of which take several entries at a time. Places are unsigned numbers,
so that no loop asks whether they count from the end.

Arrays: `w` has the levels within a block. `members` are the features whose level is not zero.
`columns` (size,) and `room` (7, size) have the copied rows, the entries of one from `at` to `to`.
`cuts` (m + 1,) has C after u steps, u = 0 being the start, which `total` has not; `clock`, (m + 2,
7), P, A, B and what the sums lose then; `flat` (4,) has the sums of mean * level and mean * sign.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from ..exact.errors import InputError
from ..exact.estimators.base import Matrix, TrainingRows
from ..exact.square_loss.convex_square import ConvexSquare
from ..exact.square_loss.row_average import RowAverage
from ..exact.tools.arrays import check_choice, check_number
from ..exact.tools.compiling import compiled
from .online import Look, RowMethod, RowWalk, SquareClassifier, check_step

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
        > 0. "auto" is 1 / L with L = `steepest`, which is safe for any schedule. For "linear" it
        is 2 / l2, as strong convexity requires, and t0 is 2 L / l2, so that no step is longer
        than 1 / L.
    t0 : float, optional
        >= 0; 0 by default where `step` is given.
    average : bool
        Return the mean of the points after all steps, and not the last point.
    max_passes : int
        Passes of n steps each; the rows are drawn with replacement.
    seed : int or None
    max_time : float, optional
        Seconds, checked after each pass.
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
    """The state of a run, and its steps on the rows of the loss that it visits."""

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
    """Return l1, l2 and step for the paper's: r (1 - r) F + beta1 |w|_1 + beta2/2 |w|^2, xi."""
    factor = share * (1 - share)
    return {"l1": beta1 / factor, "l2": beta2 / factor, "step": xi * factor}


@dataclass(eq=False, repr=False)
class SPAM(SquareClassifier):
    """A linear model for AUC with an l1 or l2 penalty, or both, by stochastic proximal steps.

    [SHT, section IV]: minimise over w

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2 + l1 |w|_1 + l2/2 |w|^2.

    Standardise the features first. The answer is an approximate one; `gap_` proves how near.
    The departures from the paper are listed at `aucert.approx.spam.StochasticProximal`.

    Parameters
    ----------
    l1, l2 : float
        >= 0, weights of the penalties against the mean loss.
    schedule, step, t0, average, max_passes
        As in `aucert.approx.spam.StochasticProximal`.
    threshold : as in `ROCSVM`
        `partial_fit` cuts the scores of the last batch that had both classes.
    max_time : float, optional
        Seconds of `fit`, checked after each pass (each stage of FSAUC); one is always made.
    random_state : int, RandomState or None
        Draws the rows.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    support_ : int array
        The features of nonzero weight, sorted.
    objective_, gap_, lower_bound_, certificate_
        After `fit`: the objective, a bound of its distance from the optimum, their difference, and
        all as a certificate. Of a loaded model (`solution_.as_saved`) they are what its file says.
    proved_ : bool
        After `fit`: whether `gap_` is at most 1e-9; hardly ever, unless w = 0 is the optimum.
    solution_ : OnlineSolution
        After `fit`; `history_` (of `Pass`) and `n_iter_` are its parts.
    intercept_, classes_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    l1: float = 1e-2
    l2: float = 1e-2
    _: KW_ONLY
    schedule: str = "sqrt"
    t0: float | None = None
    average: bool = False

    _method = StochasticProximal

    def _train(self, data: TrainingRows, callback: Look | None) -> None:
        super()._train(data, callback)
        n_pos = data.positive.sum()
        self._seen = np.array([data.positive.size - n_pos, n_pos])
        self._sums = self._walk.loss.means * self._seen[:, None]

    def _batch(self, rows: Matrix, positive: np.ndarray, first: bool) -> RowAverage | None:
        """Count the rows of a batch, and return them with the means of all rows seen.

        None as long as a class has not been seen.
        """
        if first:
            self._seen, self._sums = np.zeros(2), np.zeros((2, rows.shape[1]))
        self._seen = self._seen + np.array([(~positive).sum(), positive.sum()])
        sides = np.stack([~positive, positive]).astype(float)
        self._sums = self._sums + np.stack([np.asarray(rows.T @ side) for side in sides])
        if not self._seen.all():
            return None
        means = self._sums / self._seen[:, None]
        share = float(self._seen[1] / self._seen.sum())
        return RowAverage(rows, positive, np.ones(positive.size), means, share)


@compiled
def spam_dense(data, order, positive, means, share, l1, l2, eta, w, total):  # pragma: no cover
    """Make one step for each row of `order`; `data` has the rows one after the other."""
    d = w.size
    minus, plus = 0.0, 0.0
    for j in range(d):
        minus += means[0, j] * w[j]
        plus += means[1, j] * w[j]
    for t in range(order.size):
        at, step, score = order[t] * d, eta[t], 0.0
        for j in range(d):
            score += data[at + j] * w[j]
        if positive[order[t]]:
            move = step * (2.0 / share * (score - minus - 1.0))
        else:
            move = step * (2.0 / (1.0 - share) * (score - plus + 1.0))
        cut, shrink = step * l1, 1.0 / (1.0 + step * l2)
        minus, plus = 0.0, 0.0
        for j in range(d):
            v = w[j] - move * data[at + j]
            v = math.copysign(max(abs(v) - cut, 0.0), v) * shrink
            w[j] = v
            minus += means[0, j] * v
            plus += means[1, j] * v
        for j in range(total.size):
            total[j] += w[j]


@compiled
def spam_ridge(
    data, indices, indptr, order, positive, means, along, share, l2, eta, w, total
):  # pragma: no cover - compiled
    """Make the steps without l1 on CSR rows; along (n, 2) is x'mean of each row.

    No weight vanishes, and all shrink by the same factor 1 / P: w holds P times the weights.
    """
    d, P, inverse, minus, plus = w.size, 1.0, 0.0, 0.0, 0.0
    missed = np.zeros(total.size)  # what `total` lacks of w * inverse
    for t in range(order.size + 1):
        if t == order.size or t % max(d // 8, 64) == 0 or P > 1e4:
            for j in range(total.size):
                total[j] += w[j] * inverse - missed[j]
                missed[j] = 0.0
            minus, plus = 0.0, 0.0  # afresh: no drift, no overflow
            for j in range(d):
                w[j] /= P
                minus += means[0, j] * w[j]
                plus += means[1, j] * w[j]
            P, inverse = 1.0, 0.0
        if t == order.size:
            break
        i, step, score = order[t], eta[t], 0.0
        lo, hi = indptr[i], indptr[i + 1]
        for k in range(lo, hi):
            score += data[k] * w[indices[k]]
        if positive[i]:
            move = step * (2.0 / share * (score / P - minus / P - 1.0)) * P
        else:
            move = step * (2.0 / (1.0 - share) * (score / P - plus / P + 1.0)) * P
        for k in range(lo, hi):
            w[indices[k]] -= move * data[k]
        minus -= move * along[i, 0]
        plus -= move * along[i, 1]
        if total.size > 0:
            for k in range(lo, hi):
                missed[indices[k]] -= move * data[k] * inverse
        P *= 1.0 + step * l2
        inverse += 1.0 / P


BLOCK = 16.0  # Touches in a block over the weights alive at its start, about.
CHUNK = 1024  # Entries of the rows copied at a time, about.
# C at the start of a block, so that no touched level is zero; and its largest value. So weights
# below about 1e-290 have no digits, and those of 1e-300 vanish.
NOTHING, EVERYTHING = 1e-300, 1e300

X, MINUS, PLUS, LEVEL, CHANGE, TURN, GIVEN = range(7)  # of `room`
GROWN, AGE, CUT_AGE, LOSS = range(4)  # of `clock`; LOSS is the first of four
FLAG, PICKED = range(2)  # of `marks`


@compiled
def spam_sparse(
    data, indices, indptr, order, positive, means, share, l1, l2, eta, w, total
):  # pragma: no cover - compiled
    """Make the steps with l1 > 0 on CSR rows."""
    n_steps, touched, size, ends = order.size, 1.0, np.uint64(CHUNK), indptr.view(np.uint64)
    for t in range(n_steps):
        n = ends[order[t] + 1] - ends[order[t]]
        touched, size = touched + n, max(size, n)
    members, count, average = np.empty(w.size + 1, np.uint32), np.uint64(0), total.size > 0
    for j in range(w.size):
        members[count] = j
        count += np.uint64(w[j] != 0.0)
    pairs, columns = means.T.copy().ravel(), np.empty(size, np.uint32)
    room, marks = np.empty((7, size)), np.empty((2, size), np.uint64)
    start, top, zero = 0, np.abs(means).max(), np.uint64(0)
    while start < n_steps:
        stop, grown, deep = start, 1.0, 0.0  # deep: C times the means, and so their rounding
        longest = max(64, int(BLOCK * float(count) * n_steps / touched))
        while stop < n_steps and stop - start < longest:
            if stop > start and not (grown < 1e4 and deep < 1e8):
                break
            deep += eta[stop] * l1 * grown * top
            grown *= 1.0 + eta[stop] * l2
            stop += 1

        # The clock of the block, and for each integer the first u where C * scale comes to it.
        m = stop - start
        cuts, clock, flat = np.full(m + 1, NOTHING), np.zeros((m + 2, 7)), np.zeros(4)
        clock[0, GROWN] = 1.0
        for u in range(1, m + 1):
            P = clock[u - 1, GROWN]
            cuts[u] = min(cuts[u - 1] + eta[start + u - 1] * l1 * P, EVERYTHING)
            P *= 1.0 + eta[start + u - 1] * l2
            clock[u, GROWN] = P
            clock[u + 1, AGE] = clock[u, AGE] + 1.0 / P
            clock[u + 1, CUT_AGE] = clock[u, CUT_AGE] + cuts[u] / P
        guess, scale, known = np.full(4 * m + 2, m, np.uint32), min(4 * m / cuts[m], 1e300), 0
        for u in range(m + 1):
            upto = min(int(cuts[u] * scale), guess.size - 1)
            while known <= upto:
                guess[known] = u
                known += 1

        # The members are counted in.
        done = np.uint64(0)
        while done < count:
            n = min(count - done, np.uint64(CHUNK))
            for k in range(n):
                j = members[done + k]
                level = w[j]
                columns[k], room[LEVEL, k], room[CHANGE, k], room[GIVEN, k] = j, level, level, 0.0
                room[TURN, k] = math.copysign(1.0 if abs(level) > NOTHING else 0.0, level)
                room[MINUS, k], room[PLUS, k] = pairs[2 * j], pairs[2 * j + 1]
            _note(room, marks, zero, n, 1.0, cuts[0], 0, cuts, clock, guess, scale, average)
            _sum(columns, room, zero, n, flat, total)
            done += n

        ready, to = start, np.uint64(0)
        for t in range(start, stop):
            u = t - start
            if t == ready:  # copy the rows of this step and of some more
                to = np.uint64(0)
                while ready < stop:
                    lo = ends[order[ready]]
                    n = ends[order[ready] + 1] - lo
                    if to > 0 and to + n > CHUNK:
                        break
                    for k in range(n):
                        room[X, to + k] = data[lo + k]
                    for k in range(n):
                        columns[to + k] = indices[lo + k]
                    to += n
                    ready += 1
                for k in range(to):
                    j = columns[k]
                    room[MINUS, k], room[PLUS, k] = pairs[2 * j], pairs[2 * j + 1]
                to = np.uint64(0)
            i, C, later, P = order[t], cuts[u], cuts[u + 1], clock[u, GROWN]
            at, to = to, to + (ends[i + 1] - ends[i])
            score = 0.0
            for k in range(at, to):
                j = columns[k]
                level = w[j]
                room[LEVEL, k], room[GIVEN, k] = level, 0.0
                members[count] = j
                count += np.uint64(level == 0.0)
                score += room[X, k] * (level - min(max(level, -C), C))
            _note(room, marks, at, to, -1.0, C, u + 1, cuts, clock, guess, scale, average)
            other, chance = (0, share) if positive[i] else (1, 1.0 - share)
            score -= flat[other] - C * flat[other + 2]
            move = 2.0 * eta[t] / chance * (score - (P if positive[i] else -P))  # all times P
            for k in range(at, to):
                old = room[LEVEL, k]
                v = old - min(max(old, -C), C) - move * room[X, k]
                new = v + math.copysign(C, v)
                room[LEVEL, k] = new
                room[CHANGE, k] = (new if abs(new) > later else 0.0) - (
                    old if abs(old) > C else 0.0
                )
                room[TURN, k] = (math.copysign(1.0, new) if abs(new) > later else 0.0) - (
                    math.copysign(1.0, old) if abs(old) > C else 0.0
                )
            for k in range(at, to):
                w[columns[k]] = room[LEVEL, k]
            _note(room, marks, at, to, 1.0, later, u + 1, cuts, clock, guess, scale, average)
            _sum(columns, room, at, to, flat, total)
            for a in range(4):
                flat[a] -= clock[u + 1, LOSS + a]

        # Levels become weights again.
        kept, C, P = np.uint64(0), cuts[-1], clock[-2, GROWN]
        for place in range(count):
            j = members[place]
            length = abs(w[j]) - C
            w[j] = math.copysign(0.0 if length <= 0.0 else length, w[j]) / P
            members[kept] = j
            kept += np.uint64(w[j] != 0.0)
        count, start = kept, stop


@compiled
def _sum(columns, room, at, to, flat, total):  # pragma: no cover
    """Add the changes of the levels of a row to the sums, and to `total` what is given."""
    f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
    for k in range(at, to):
        minus, plus, change, turn = room[MINUS, k], room[PLUS, k], room[CHANGE, k], room[TURN, k]
        f0 += minus * change
        f1 += plus * change
        f2 += minus * turn
        f3 += plus * turn
    flat[0] += f0
    flat[1] += f1
    flat[2] += f2
    flat[3] += f3
    if total.size > 0:
        for k in range(at, to):
            total[columns[k]] += room[GIVEN, k]


@compiled
def _note(
    room, marks, at, to, factor, C, u, cuts, clock, guess, scale, average
):  # pragma: no cover
    """Note down where in this block levels above C end; enter as given all from point u on.

    The factor is 1, or -1 to take it back. The end is the first u with C_u >= |level|; the table
    has one for each C * scale, monotone, so that it is never too late.
    """
    last, count = cuts[-1], np.uint64(0)
    for k in range(at, to):
        size = abs(room[LEVEL, k])
        marks[FLAG, k] = (size > C) & (size <= last)
    for k in range(at, to):
        marks[PICKED, count] = k
        count += marks[FLAG, k]
    for c in range(count):
        k = marks[PICKED, c]
        level = factor * room[LEVEL, k]
        size, sign = abs(level), math.copysign(1.0, level)
        end = guess[np.uint32(size * scale)]
        end += np.uint32(cuts[end] < size)  # mostly enough, and no branch
        while cuts[end] < size:
            end += np.uint32(1)
        clock[end, LOSS] += room[MINUS, k] * level
        clock[end, LOSS + 1] += room[PLUS, k] * level
        clock[end, LOSS + 2] += room[MINUS, k] * sign
        clock[end, LOSS + 3] += room[PLUS, k] * sign
        if average:
            given = level * (clock[end, AGE] - clock[u, AGE])
            room[GIVEN, k] += given - sign * (clock[end, CUT_AGE] - clock[u, CUT_AGE])
    if average:
        age = factor * (clock[-1, AGE] - clock[u, AGE])
        cut_age = factor * (clock[-1, CUT_AGE] - clock[u, CUT_AGE])
        for k in range(at, to):
            level = room[LEVEL, k]
            given = level * age - math.copysign(1.0, level) * cut_age
            room[GIVEN, k] += given if abs(level) > last else 0.0
