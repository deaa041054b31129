"""The hinge to rounding: a small problem over the pairs near their margin, repeated.

Near the optimum only about as many pairs as there are coordinates sit on the margin. A window
|z| < h around it carries all that is still open, and is small enough to list; the others keep alpha
in {0, 1}. Each round is judged by the sums over ALL pairs; one that gains little widens the window.

Over the open pairs k = (i, j) with weights c_k and d_k = x_i - x_j,

    min over w of  lam/2 |w|^2 - g_frozen'w + sum_k c_k max(0, 1 - d_k'w)

is solved by a few smooth problems: with multipliers a and a width sigma the slope of pair k is
b_k = clip(a_k + (1 - d_k'w) / sigma, 0, 1), and b becomes the next a; they converge at any sigma.
Each smooth problem is piecewise quadratic: Newton steps end at its optimum after finitely many.

At any (w, b) the window's gap is a sum of two terms >= 0, free of cancellation:

    bias      sum_k c_k (max(0, z_k) - b_k z_k),    z_k = 1 - d_k'w,
    residual  |lam w - g(b)|^2 / (2 lam).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import dual_value
from ..certificate.solution import INSIDE, STALL, Idle, Recorder, Solver, Status
from ..errors import InputError
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.near import PairGraph, solved
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.problem import Problem, best_on_segment, root_of_slope
from ..problem.risk import Alpha, Minorant
from ..tools.rounding import running_sum

EXPENSIVE = 1e9  # operations from which conjugate gradients are tried before a matrix is formed
RIDGES = (1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-8, 0.0)  # with fewer coordinates the first is singular
SLACK = 1e-12  # conditions may be broken by so much of their scale: rounding
Listed = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows i and j of pairs, and their weights


class Window(NamedTuple):
    """The open pairs i, j (m,) of a hinge problem, their weights, and what the others carry."""

    i: np.ndarray
    j: np.ndarray
    c: np.ndarray
    frozen: np.ndarray  # signed marginals (n,) of the other pairs, whose alpha is 0 or 1
    chosen: np.ndarray | None = None  # of listed pairs: the places of the open ones in the list,
    frozen_alpha: np.ndarray | None = None  # and alpha of all, zero at those

    def witness(self, problem: Problem, alpha: np.ndarray) -> Minorant:
        """Return the dual point of `alpha` (m,) in the window and the frozen pairs outside."""
        if self.chosen is not None and self.frozen_alpha is not None:
            whole = self.frozen_alpha.copy()
            whole[self.chosen] = alpha
            return problem.risk.minorant(Alpha(whole))
        mass, n = self.c * alpha, problem.n
        c = self.frozen + np.bincount(self.i, mass, n) - np.bincount(self.j, mass, n)
        return clipped_minorant(problem, c)


def clipped_minorant(problem: Problem, c: np.ndarray) -> Minorant:
    """Return the dual point of the marginals c (n,), whose signs rounding may have turned."""
    u, v = c[problem.pairs.positive], -c[~problem.pairs.positive]
    return Minorant.from_marginals(problem, np.maximum(u, 0.0), np.maximum(v, 0.0))


def open_window(
    problem: Problem, scores: np.ndarray, limit: int, half: float, listed: Listed | None
) -> Window | None:
    """Return the widest window |z| < half with at most `limit` pairs; None where more pairs of two
    classes are tied at the margin itself. Of `listed` pairs some of those that tie are taken."""
    if listed is not None:
        i, j, c = listed
        z = 1.0 - (scores[i] - scores[j])
        far = np.abs(z)
        chosen = np.flatnonzero((far < half) & (c > 0))
        if chosen.size > limit:
            chosen = np.sort(chosen[np.argpartition(far[chosen], limit - 1)[:limit]])
        alpha = (z > 0).astype(float)
        alpha[chosen] = 0.0
        mass, n = c * alpha, problem.n
        frozen = np.bincount(i, mass, n) - np.bincount(j, mass, n)
        return Window(i[chosen], j[chosen], c[chosen], frozen, chosen, alpha)
    sides = []
    for rows, weight in zip(problem.pairs.places, problem.pairs.normalised(), strict=True):
        rows, weight = rows[weight > 0], weight[weight > 0]  # rows without weight have no pairs
        # In the order of their scores searches stay in the cache, and the pairs come out in order.
        order = np.argsort(scores[rows], kind="stable")
        sides.append((rows[order], weight[order]))
    (rows_pos, a), (rows_neg, b_weight) = sides
    t, b = scores[rows_pos] - 1.0, scores[rows_neg]
    width = _half_width(t, b, limit, half)
    if width is None:
        return None
    low, high = t - width, t + width
    start = np.searchsorted(b, low, side="right")
    stop = np.maximum(np.searchsorted(b, high, side="left"), start)
    counts = stop - start
    i_at = np.repeat(np.arange(t.size), counts)
    j_at = np.arange(i_at.size) + np.repeat(start - (np.cumsum(counts) - counts), counts)
    # Long sums: what rounding leaves between the two sides is infeasible, and is paid for.
    mass_b, mass_t = running_sum(b_weight[::-1])[::-1], running_sum(a)
    frozen = np.zeros(problem.n)
    # Pairs beyond the upper end of the window have alpha = 1, those below its lower end 0.
    frozen[rows_pos] = a * mass_b[stop]
    frozen[rows_neg] = -b_weight * mass_t[np.searchsorted(high, b, side="right")]
    return Window(rows_pos[i_at], rows_neg[j_at], a[i_at] * b_weight[j_at], frozen)


def _half_width(t: np.ndarray, b: np.ndarray, limit: int, largest: float) -> float | None:
    """Return a half width <= largest whose window holds nearly `limit` pairs; t, b are sorted."""

    def count(half: float) -> int:
        stop = np.searchsorted(b, t + half, side="left")
        start = np.searchsorted(b, t - half, side="right")
        return int(np.maximum(stop - start, 0).sum())

    # 1.01: a window this much wider than the range of the margins surely holds all pairs
    top = float(max(abs(b[-1] - t[0]), abs(t[-1] - b[0]))) * 1.01 + np.finfo(float).tiny
    finest = 1e-13 * top  # half widths below this share of the range of the margins are rounding
    low, high = finest, max(min(top, largest), 2 * finest)
    if count(high) <= limit:
        return high
    if count(low) > limit:
        return None
    for _ in range(60):
        # Half widths range over many powers of ten, so it is their ratio that is halved.
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if count(middle) <= limit else (low, middle)
        if high / low < 1.05:
            break
    return low


class WindowPoint(NamedTuple):
    """w, its slopes b, the shortfalls z, the gradient lam w - g(b) and the window's gap."""

    w: np.ndarray
    b: np.ndarray
    z: np.ndarray
    gradient: np.ndarray
    bias: float
    residual: float

    @property
    def gap(self) -> float:
        return self.bias + self.residual


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """The window's problem in the rows (t, dim) that its pairs i, j touch."""

    rows: Any
    i: np.ndarray
    j: np.ndarray
    c: np.ndarray
    lam: float
    fixed: np.ndarray  # the pull of the frozen pairs

    @classmethod
    def of(cls, problem: Problem, window: Window) -> OpenPairs:
        space: Any = problem.space.held
        seen = np.zeros(space.n, dtype=bool)
        seen[window.i] = seen[window.j] = True
        place, rows = np.cumsum(seen) - 1, space.rows(np.flatnonzero(seen))
        rows = rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)
        i, j = place[window.i], place[window.j]
        return cls(rows, i, j, window.c, problem.lam, space.pull(window.frozen))

    def differences(self, values: np.ndarray) -> np.ndarray:
        """Return v_i - v_j of every pair, from values of the touched rows: (m,)."""
        return values[self.i] - values[self.j]

    def pull(self, b: np.ndarray) -> np.ndarray:
        """Return g(b) = g_frozen + sum_k c_k b_k d_k: (dim,)."""
        mass, t = self.c * b, self.rows.shape[0]
        u = np.bincount(self.i, mass, t) - np.bincount(self.j, mass, t)
        return self.fixed + self.rows.T @ u

    def at(self, w: np.ndarray, alpha: np.ndarray, sigma: float) -> WindowPoint:
        """Return what is known at w, with multipliers alpha and a width sigma."""
        z = 1.0 - self.differences(self.rows @ w)
        b = np.minimum(np.maximum(alpha + z / sigma, 0.0), 1.0)
        bias = self.c @ (np.maximum(z, 0.0) - b * z)
        gradient = self.lam * w - self.pull(b)
        residual = float(gradient @ gradient) / (2 * self.lam)
        return WindowPoint(w, b, z, gradient, float(bias), residual)

    def length(self, here: WindowPoint, alpha: np.ndarray, sigma: float, step: np.ndarray) -> float:
        """Return a length at which the slope along `step` has fallen to a tenth of what it was."""
        change = self.differences(self.rows @ step)
        along = self.lam * float(here.w @ step) - float(self.fixed @ step)
        square = self.lam * float(step @ step)

        def slope(t: float) -> float:
            b = np.minimum(np.maximum(alpha + (here.z - t * change) / sigma, 0.0), 1.0)
            return along + t * square - float((self.c * change) @ b)

        return root_of_slope(slope, float(here.gradient @ step), 0.1, 60)

    def solve(self, active: np.ndarray, sigma: float, r: np.ndarray) -> np.ndarray:
        """Return p (dim,) with (lam I + sum over active pairs of c_k / sigma d_k d_k') p = r."""
        if active.size == 0:
            return r / self.lam
        weight = self.c[active] / sigma
        few, (n, dim) = active.size, self.rows.shape
        # Multiplications that it takes to form the one matrix or the other, and to factor it.
        by_pairs = few**2 * (dim + few / 3)
        by_coordinates = dim**2 * (2 * min(few, n) + dim / 3)
        if min(by_pairs, by_coordinates) > EXPENSIVE:
            # 0.1, 60: the residual they must reach then, in so many products
            found, enough = self._by_products(active, weight, r, 0.1, 60)
            if enough:
                return found
        if (few if by_pairs < by_coordinates else dim) < 12_000:  # the side of what is formed
            solve = self._by_pairs if by_pairs < by_coordinates else self._by_coordinates
            try:
                return solve(active, weight, r)
            except np.linalg.LinAlgError:
                pass  # lost to rounding: conjugate gradients never form the matrix
        return self._by_products(active, weight, r, 1e-6, 1000)[0]

    def _differences(self, active: np.ndarray) -> Any:
        i, j, rows = self.i[active], self.j[active], self.rows
        dense = isinstance(rows, np.ndarray)
        return rows.take(i, axis=0) - rows.take(j, axis=0) if dense else rows[i] - rows[j]

    def _by_pairs(self, active: np.ndarray, weight: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Woodbury: (r - D'(lam W^-1 + D D')^-1 D r) / lam."""
        D = self._differences(active)
        product = D @ D.T
        K = product if isinstance(product, np.ndarray) else product.toarray()
        K.flat[:: active.size + 1] += self.lam / weight
        return (r - np.asarray(D.T @ solved(K, np.asarray(D @ r)))) / self.lam

    def _graph(self, active: np.ndarray, weight: np.ndarray) -> PairGraph:
        return PairGraph(self.i[active], self.j[active], weight, self.rows.shape[0])

    def _by_coordinates(self, active: np.ndarray, weight: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Form lam I + X'L X, L the Laplacian of the active pairs; of fewer pairs than rows, with
        their differences D, lam I + D'W D."""
        if active.size < self.rows.shape[0]:
            D, root = self._differences(active), np.sqrt(weight)
            scaled = root[:, None] * D if isinstance(D, np.ndarray) else sp.diags(root) @ D
            product = scaled.T @ scaled
        else:
            product = self.rows.T @ self._graph(active, weight).times(self.rows)
        H = product if isinstance(product, np.ndarray) else cast(Any, product).toarray()
        H.flat[:: r.size + 1] += self.lam
        return solved(H, r)

    def _by_products(
        self, active: np.ndarray, weight: np.ndarray, r: np.ndarray, rtol: float, iterations: int
    ) -> tuple[np.ndarray, bool]:
        """Return what conjugate gradients found, and whether the residual is within `rtol`."""
        graph = self._graph(active, weight)

        def times(v: np.ndarray) -> np.ndarray:
            return self.lam * v + np.asarray(self.rows.T @ graph.times(self.rows @ v))

        operator = sp.linalg.LinearOperator((r.size, r.size), matvec=times)
        with np.errstate(over="ignore", invalid="ignore"):
            found, info = sp.linalg.cg(operator, r, rtol=rtol, maxiter=iterations)
        if not np.isfinite(found).all():  # rows of so different sizes that products overflow
            return np.zeros_like(r), False
        return found, info == 0


def solve_window(
    pairs: OpenPairs, w: np.ndarray, alpha: np.ndarray, sigma: float, target: float,
    stop: Callable[[], bool] = lambda: False,
) -> WindowPoint:  # fmt: skip
    """Return a point whose window gap is at most `target`, or the best one found."""
    point = best = pairs.at(w, alpha, sigma)
    idle = Idle(STALL.window)
    idle.after(best.gap)
    for _ in range(60):  # changes of multipliers at most
        for _ in range(100):  # Newton steps between two changes of multipliers
            # 0.1: a smooth problem is solved to this share of the bias, or of the target
            if point.residual <= 0.1 * max(point.bias, target) or stop():
                break
            inside = (point.b > 0.0) & (point.b < 1.0)  # at 0 and 1 a pair's slope does not change
            step = pairs.solve(np.flatnonzero(inside), sigma, -point.gradient)
            length = pairs.length(point, alpha, sigma, step)
            moved = point.w + length * step
            if length == 0.0 or np.array_equal(moved, point.w):
                break
            after = pairs.at(moved, alpha, sigma)
            if after.residual >= point.residual and length == 1.0 and point.residual < target:
                break  # rounding
            point = after
        stalled = idle.after(point.gap)
        best = point if point.gap < best.gap else best
        if best.gap <= target or stalled or stop():
            break
        # 0.2: factor of the width from one set of multipliers to the next
        # 1e-9: the narrowest width: below it the rounding of the scores would show
        alpha, sigma = point.b, max(sigma * 0.2, 1e-9)
        point = pairs.at(point.w, alpha, sigma)
    return best


def first_size(dim: int) -> int:
    """Return how many pairs the first window may have: 100 a coordinate, and 1000 at least."""
    return min(max(1000, 100 * dim), 200_000)


@dataclass(frozen=True)
class ActivePairs(Solver):
    tol: float = 1e-9
    largest: int = 2_000_000  # pairs that a window never exceeds by itself
    max_rounds: int = 40
    max_time: float | None = None
    name = "active-pairs"

    def check(self, problem: Problem) -> None:
        if problem.loss != HINGE:
            raise InputError(f"active pairs solve the hinge, not {problem.loss.name}")
        if problem.space.held is None:
            raise InputError("active pairs need rows: factor the kernel first")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        run = _Run(self, problem, recorder)
        # Of ordered pairs only few are listed: there smoothing stalls, as a handful decide all.
        if run.listed is None and not isinstance(problem.pairs, AllPairs):
            return Status.STALLED
        return run.run()


class _Run:
    def __init__(self, solver: ActivePairs, problem: Problem, recorder: Recorder):
        self.solver, self.problem, self.recorder = solver, problem, recorder
        self.late = lambda: recorder.out_of_time
        self.top = min(solver.largest, problem.n_pairs)
        self.limit = min(first_size(problem.space.dim), self.top)
        self.half, pairs = np.inf, problem.pairs  # a window holds |z| < half
        self.listed: Listed | None = None  # all pairs, where they are listed or can be
        if isinstance(pairs, PairList):
            self.listed = pairs.i, pairs.j, pairs.c
        elif isinstance(pairs, OrderedPairs):
            self.listed = pairs.listed()
        self.keys, self.alpha = np.zeros(0, dtype=np.int64), np.zeros(0)  # of the last window

    def run(self) -> Status | None:
        recorder, near, idle = self.recorder, INSIDE * self.solver.tol, Idle(STALL.finish)
        idle.after(recorder.gap)
        for _ in range(self.solver.max_rounds):
            before = recorder.gap
            if not self._round():
                # More pairs may be tied at the margin than a window of this size can hold.
                if not self._widen():
                    return Status.STALLED
                continue
            recorder.step()
            stalled = idle.after(recorder.gap)
            if recorder.near(near):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            # 1e-11: below this relative gap, idle rounds mean that only rounding is left
            rounding = idle.rounds >= 2 and recorder.gap <= 1e-11 * recorder.best_primal
            if rounding or (stalled and not self._widen()):
                return Status.STALLED
            # 0.2: a round that leaves more of the gap widens the window
            if idle.rounds or recorder.gap > 0.2 * before:
                self._widen()
        return Status.ITERATION_LIMIT

    def _widen(self) -> bool:
        """Make room for more pairs; return whether there is any."""
        grown, self.half = self.limit < self.top, np.inf
        self.limit = min(4 * self.limit, self.top)  # 4: most that a window grows at a time
        return grown

    def _round(self) -> bool:
        """Offer what a window's optimum gives; return whether there was a window."""
        problem, recorder, space = self.problem, self.recorder, self.problem.space
        w: Any = recorder.best_w
        scores = space.scores(w)
        window = open_window(problem, scores, self.limit, self.half, self.listed)
        if window is None or window.i.size == 0:
            # All margins are alike, as at w = 0: step along the slope and look again.
            target = space.pull(problem.sums(scores).c) / problem.lam
            w, primal = best_on_segment(problem, w, scores, target)
            recorder.offer(w, primal)
            scores = space.scores(w)
            window = open_window(problem, scores, self.limit, self.half, self.listed)
        if window is None or window.i.size == 0:
            return False
        z = 1.0 - (scores[window.i] - scores[window.j])
        half = max(float(np.abs(z).max()), 1e-9)  # the width must be above zero
        sigma = 2.0 * half  # no slope of the window is cut off
        alpha, keys = np.clip(0.5 + z / sigma, 0.0, 1.0), window.chosen
        if keys is None:  # a number for each pair, the same in every window
            keys = window.i.astype(np.int64) * window.frozen.size + window.j
        if self.keys.size:
            place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
            known = self.keys[place] == keys
            alpha[known], sigma = self.alpha[place[known]], 0.03 * half  # narrow: most are known
        gap, primal = recorder.gap, recorder.best_primal
        # 0.01: share of the tolerance to which a window is solved in the end
        enough = 0.01 * self.solver.tol * primal
        if gap > 1e-3 * primal:  # 1e-2: until then to this part of the gap
            enough = max(1e-2 * min(gap, primal), enough)
        point = solve_window(OpenPairs.of(problem, window), w, alpha, sigma, enough, self.late)
        order = np.argsort(keys)  # the next window searches them
        self.keys, self.alpha, target = keys[order], point.b[order], point.w
        witness = window.witness(problem, point.b)
        dual = dual_value(problem, witness).value
        found, primal = target, problem.objective(target)
        if not primal - dual <= INSIDE * self.solver.tol * primal:
            found, primal = best_on_segment(problem, w, scores, target, self.late)
        # Steps shrink from round to round: the next window is bounded by this one.
        reach = float(np.ptp(space.scores(target) - scores))
        self.half = 2 * reach if found is target and reach > 0 else np.inf
        recorder.offer(found, primal, witness, dual)
        return True


# The hard-margin limit: with about as many coordinates as rows and a small lam all pairs can have
# margin one, and no pair's alpha reaches its bound. Then the dual is one in the n marginals c >= 0,
#
#     min  sum_ij y_i y_j c_i c_j K_ij / (2 lam) - sum over positives of c_i,   sum_i y_i c_i = 0,
#
# with y_i = 1 or -1, K = X X', and c_i slack_i = 0, slack_i = y_i (s_i - t) - [y_i = 1] >= 0 for
# scores s = K y c / lam and a threshold t. Block principal pivoting guesses the rows with c_i > 0,
# solves for them, moves all rows that break a condition to the other side, and repeats. Whether the
# bounds of the pairs hold the certificate finds out.


def offer_hard_margin(problem: Problem, recorder: Recorder, separable: bool = False) -> None:
    """Offer the hard-margin point of a hinge problem over all pairs of few rows, in many
    coordinates or taken for separable, to the recorder."""
    space, pairs = problem.space.held, problem.pairs
    if space is None or not isinstance(pairs, AllPairs):
        return
    many = problem.n - 1 <= space.dim
    if problem.n > 4000 or not (many or separable):  # rows, whose products are formed and factored
        return
    # A row without weight is in no pair, so that no margin is asked of it.
    counted = np.flatnonzero(pairs.row_mass() > 0)
    K, positive = space.products(), pairs.positive[counted]
    found = hard_marginals(K[np.ix_(counted, counted)], positive, (0.0,) if many else RIDGES)
    if found is None:
        return
    c = np.zeros(problem.n)
    c[counted] = problem.lam * found
    if not c.max() <= problem.n:
        return  # marginals add up to one at most: far outside, nothing is feasible
    witness = Minorant.from_marginals(problem, c[pairs.positive], c[~pairs.positive])
    # 1e-12: w is made longer by this part: rounding must leave no margin just below one
    w = (1 + 1e-12) * space.pull(witness.c) / problem.lam
    recorder.offer(w, problem.objective(w), witness, dual_value(problem, witness).value)
    recorder.step()


def hard_marginals(
    K: np.ndarray, positive: np.ndarray, ridges: tuple[float, ...] = (0.0,)
) -> np.ndarray | None:
    """Return c / lam (n,), >= 0, of the hard-margin optimum; None where it is not found."""
    n, sign = positive.size, np.where(positive, 1.0, -1.0)
    unit = float(np.trace(K)) / n
    if not unit > 0:
        return None
    # In units of the mean diagonal, which makes ridges and SLACK relative.
    signed = K * (sign[:, None] * sign[None, :]) / unit
    free, x = np.ones(n, dtype=bool), np.zeros(n)  # `free` is the guess
    for ridge in ridges:
        signed.flat[:: n + 1] = K.diagonal() / unit + ridge
        idle = Idle(STALL.pivots)
        for _ in range(60):  # the most guesses; runs that succeed need about five
            # x and the threshold t for which the free rows all have their margin, others x = 0.
            at = np.flatnonzero(free)
            # Along `sign` the matrix of centred rows is singular; there x is fixed at zero anyway.
            G = signed[np.ix_(at, at)] + np.outer(sign[at], sign[at])
            right = np.column_stack([sign[at] > 0, sign[at]]).astype(float)
            try:
                a, b = solved(G, right).T
            except np.linalg.LinAlgError:
                return None
            across = float(sign[at] @ b)
            if not across > 0:
                return None
            t = -float(sign[at] @ a) / across
            x = np.zeros(n)
            x[at] = a + t * b
            slack = signed @ x - sign * t - positive
            broken = (free & (x < -SLACK * np.abs(x).max())) | (~free & (slack < -SLACK))
            count = int(broken.sum())
            if count == 0:
                break
            idle.after(count)
            if idle.rounds > STALL.pivots.patience:
                # Rounds that move one row, always the last, cannot go in circles (Murty's rule).
                broken[: np.flatnonzero(broken)[-1]] = False
            free ^= broken
            # With free rows in one class only, sum y c = 0 would leave nothing but c = 0.
            for side in (positive, ~positive):
                if not free[side].any():
                    free[side] = True
        else:
            return None
    return np.maximum(x, 0.0) / unit
