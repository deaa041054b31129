"""Branch and bound for the best k features: leaps and bounds with a relaxation's bounds. [SHT, (3)]

A node says of each feature whether it is in, out or a candidate. The open nodes wait in a heap, the
one of lowest bound first: whenever the search stops, this bound holds for all supports. Below a
node that floats can bound the search dives, depth first, for a while, and pushes what it leaves;
another node, of nearly dependent or blurred features, is split on one.

The dive is compiled. The bound of q_S over the supports of a node is that of
`square_loss/support.py` at w = Sigma_TT^-1 delta_T, its residual computed afresh. Sorts, sums and
copies are loops: numpy's forms, and `solve`, take the compiler seconds each.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..square_loss import support as bounding
from ..square_loss.support import REGULAR, Diagonal, SupportBounds, SupportOptimum
from ..tools.compiling import compiled

OUT, CANDIDATE, IN = 0, 1, 2  # what a node says of a feature; the dive has them as numbers
_ULP = 1.01 * 2.0**-53
WORK = 4e7  # operations of a dive, some hundredths of a second
# A support that was found, the lowest bound of what is closed, and open nodes with their bounds.
Opened = tuple[SupportOptimum | None, float, list[tuple[float, np.ndarray]]]


class TimeOutError(Exception):
    """The next piece of work would last beyond the end of the search."""


@dataclass(frozen=True)
class SearchStep:
    """One line of progress: after n_nodes nodes, n_open of them wait; the optimum is between."""

    n_nodes: int
    n_open: int
    upper: float
    lower: float
    seconds: float


class Search:
    """One search from a support of k features; `end` reads `time.perf_counter`."""

    lower: float  # a lower bound of F over all supports of k features; it never falls
    done: bool  # whether nothing is left to decide
    step: Callable[[], int]  # decides something; returns how much waits

    def __init__(self, bounds: SupportBounds, k: int, start: SupportOptimum, end: float = np.inf):
        self.bounds, self.loss, self.k, self.end = bounds, bounds.loss, k, end
        self.best, self.upper = start, np.inf
        self.dependent, self.n_nodes = False, 0
        self._offer(start)

    def _offer(self, found: SupportOptimum | None) -> None:
        if found is not None and (upper := self.bounds.ceiling(found.w, self.end)) < self.upper:
            self.best, self.upper = found, upper

    def run(self, callback: Callable[[SearchStep], object] | None = None) -> str:
        """Search until all is decided, the time is up or the user interrupts; return which."""
        begin = time.perf_counter()
        try:
            while not self.done:
                if time.perf_counter() >= self.end:
                    return "time_limit"
                waiting = self.step()
                if callback is not None:
                    seconds = time.perf_counter() - begin
                    callback(SearchStep(self.n_nodes, waiting, self.upper, self.lower, seconds))
        except TimeOutError:
            return "time_limit"
        except KeyboardInterrupt:
            return "interrupted"
        return "done"


class SubsetSearch(Search):
    def __init__(self, bounds: SupportBounds, k: int, start: SupportOptimum, end: float = np.inf):
        super().__init__(bounds, k, start, end)
        self._closed, self._between, self._known, self._count = np.inf, np.inf, 0.0, 0
        self._heap: list[tuple[float, int, int, bytes]] = []
        self._push(0.0, np.where(bounds.silent, OUT, CANDIDATE).astype(np.uint8))

    @property
    def lower(self) -> float:
        waiting = self._heap[0][0] if self._heap else np.inf
        self._known = max(self._known, min(waiting, self._between, self._closed, self.upper))
        return self._known

    @property
    def done(self) -> bool:
        """Whether nothing is left that could be better by `tol`, or raise the lower bound."""
        if not self._heap or self.upper - self.lower <= self.bounds.tol:
            return True
        return self.bounds.spent and self._closed <= self._heap[0][0]

    def step(self) -> int:
        floor, _, _, packed = self._heap[0]
        state = np.frombuffer(packed, dtype=np.uint8).copy()
        found, closed, children = self._open(state, floor)
        self._between = floor  # an interrupt may come between any two of these lines
        heapq.heappop(self._heap)
        self._closed = min(self._closed, max(closed, floor))
        for child_floor, child in children:
            self._push(max(child_floor, floor), child)
        self._between = np.inf
        self._offer(found)
        return len(self._heap)

    def _push(self, floor: float, state: np.ndarray) -> None:
        self._count += 1
        # Of equal bounds the node with the fewest candidates comes first: it is decided soonest.
        candidates = int(np.count_nonzero(state == CANDIDATE))
        heapq.heappush(self._heap, (floor, candidates, self._count, state.tobytes()))

    def _open(self, state: np.ndarray, floor: float) -> Opened:
        if floor >= self.upper - self.bounds.tol / 2:
            return None, floor, []
        members, inside = np.flatnonzero(state), np.flatnonzero(state == IN)
        if members.size <= self.k or inside.size == self.k:
            self.n_nodes += 1
            chosen = members if members.size <= self.k else inside
            found, bound = self.bounds.leaf(chosen, self.upper, self.end)
            return found, max(bound, floor), []
        self._need(0.5, members.size)  # in eigenvalue problems
        sigma = self.loss.scaled_sigma[np.ix_(members, members)]
        blurred = bool(self.bounds.blurred[members].any())
        diagonal = None if blurred else bounding.certified_diagonal(sigma)
        if diagonal is None or self._floor(1.0, diagonal.least) == 0.0:
            self._need(3.0, members.size)
            self.n_nodes += 1
            self.dependent = True
            return self._split(state, members, sigma)
        return self._dive(state, members, diagonal)

    def _dive(self, state: np.ndarray, members: np.ndarray, diagonal: Diagonal) -> Opened:
        """Search below a node, depth first, as long as the work and the time allow."""
        whole, least, side = np.ones(self.loss.dim), diagonal.least, members.size
        whole[members] = diagonal.entries
        node = 8.0 * side * side  # operations of a node, and bytes of its matrix
        slots = int(np.clip(1e8 / node, 2, 64))  # bytes of all matrices, and the depth of a dive
        nodes = int(np.clip(WORK / node, 1, 5000))
        data = (self.loss.scaled_sigma, self.loss.scaled_delta, whole)
        inverse = np.ascontiguousarray(diagonal.inverse)
        # 5e8: multiplications of a dive that even a slow processor makes in a second
        work = 5e8 * max(self.end - time.perf_counter(), 0.0)
        best = max(1 / self.upper - 1, 0.0) if self.upper > 0 else np.inf  # F = 1 / (1 + q)
        c, h = 0.0, 0.0  # where the moments' rounding is too little
        if 1 / (1 + best) - self._floor(best, least) > self.bounds.slack:
            c, h = map(float, bounding.rounding_of_floor(self.k, least, self.bounds.error))
        support, closed, states, bounds, count = dive(
            *(data, state, inverse, self.k, best, self.bounds.tol / 2, nodes, slots, work, c, h)
        )
        self.n_nodes += int(count)
        found = self.loss.optimum(support) if support.size else None
        left = [(self._floor(q, least), s) for q, s in zip(bounds, states, strict=True)]
        return found, self._floor(closed, least), left

    def _floor(self, q: float, least: float) -> float:
        return float(bounding.objective_floor(float(q), self.k, least, self.bounds.error))

    def _need(self, problems: float, side: int) -> None:
        """Raise `TimeOutError` if so many eigenvalue problems would last beyond the end."""
        seconds = problems * 1e-9 * side**3  # about
        if side >= 200 and time.perf_counter() + seconds > self.end:  # smaller ones are quick
            raise TimeOutError

    def _split(self, state: np.ndarray, members: np.ndarray, sigma: np.ndarray) -> Opened:
        """Branch on the feature that takes most part in a dependence, or is known least. A node
        whose features inside are dependent exactly is left out: some optimum has none such."""
        inside = np.flatnonzero(state == IN)
        if inside.size:
            own, exact = self.loss.scaled_sigma[np.ix_(inside, inside)], self.bounds.exact
            # Floats hardly tell that what is inside is independent.
            weak = self.bounds.blurred[inside].any() or np.linalg.eigvalsh(own)[0] < REGULAR
            if weak and exact.affordable(inside, self.end) and exact.optimum(inside, 0.0).redundant:
                return None, np.inf, []
        free = np.flatnonzero(state[members] == CANDIDATE)
        weak = self.bounds.blurred[members].astype(float)
        if not weak[free].any():
            values, vectors = np.linalg.eigh(sigma)
            # 10, 2: eigenvalues below this share tell it, and up to this multiple of the least
            near = values < max(10 * REGULAR, 2 * values[0])
            weak = np.square(vectors[:, near]).sum(axis=1)
        at = members[free[int(np.argmax(weak[free]))]]
        without, within = state.copy(), state.copy()
        without[at], within[at] = OUT, IN
        return None, np.inf, [(0.0, without), (0.0, within)]


@compiled
def _ceiling(data, index, size, w, cost):
    """Return w'(delta + r) and the bound of q_T, rounding included; fill the costs D_j w_j^2."""
    sigma, delta, diagonal = data
    length, largest, r = 0.0, 0.0, np.empty(size)
    for a in range(size):
        r[a] = delta[index[a]]
        length += abs(w[a])
        largest = max(largest, abs(r[a]))
    for b in range(size):  # column by column: no sum waits for another
        column, share = sigma[index[b]], w[b]
        for a in range(size):
            r[a] -= share * column[index[a]]
    slip = (size + 4) * _ULP * (length * 1.001 + largest)
    value, spare = 0.0, 0.0
    for a in range(size):
        j = index[a]
        left, weight = abs(r[a]) + slip, abs(w[a])
        value += w[a] * (delta[j] + r[a])
        spare += left * left / diagonal[j] + 3 * left * weight
        spare += (size + 6) * _ULP * weight * (abs(delta[j]) + left)
        cost[a] = diagonal[j] * w[a] * w[a] * (1 - 8 * _ULP)
    return value, value + spare * (1 + (size + 8) * _ULP)


@compiled
def _smallest(state, index, size, cost, count, ordered):
    """Sort the candidates' costs; return the sum of the `count` smallest, rounded down."""
    m, total = 0, 0.0
    for a in range(size):
        if state[index[a]] == 1:
            at = m
            while at > 0 and ordered[at - 1] > cost[a]:
                ordered[at] = ordered[at - 1]
                at -= 1
            ordered[at] = cost[a]
            m += 1
    for i in range(count):
        total += ordered[i]
    return total * (1 - (count + 4) * _ULP)


@compiled
def _without(A, w, index, size, at, to, to_w, to_index):
    """Write the inverse, w and the members without the feature at `at`; `to` may be A itself."""
    row, share = np.empty(size), w[at] / A[at, at]
    for b in range(size):
        row[b] = A[at, b]
    for a in range(size - 1):
        source = a if a < at else a + 1
        factor = A[source, at] / row[at]
        to_w[a] = w[source] - A[source, at] * share
        to_index[a] = index[source]
        for b in range(at):
            to[a, b] = A[source, b] - factor * row[b]
        for b in range(at, size - 1):
            to[a, b] = A[source, b + 1] - factor * row[b + 1]


@compiled
def _whole(data, index, size):
    """Return q of a whole support and its bound."""
    block, w = np.empty((size, size)), np.empty(size)
    for a in range(size):
        w[a] = data[1][index[a]]
        for b in range(size):
            block[a, b] = data[0][index[a], index[b]]
    for p in range(size):  # elimination; the diagonal keeps it regular, and a poor w does no harm
        for a in range(p + 1, size):
            factor = block[a, p] / block[p, p] if block[p, p] > 0 else 0.0
            w[a] -= factor * w[p]
            for b in range(p + 1, size):
                block[a, b] -= factor * block[p, b]
    for p in range(size - 1, -1, -1):
        w[p] = w[p] / block[p, p] if block[p, p] > 0 else 0.0
        for a in range(p):
            w[a] -= block[a, p] * w[p]
    return _ceiling(data, index, size, w, np.empty(size))


@compiled
def _target(q, tol, c, h):
    """Return the q up to which `objective_floor`, of c and h, is at least F at `q` less `tol`."""
    rest = 1 / (1 + q) - tol
    if rest <= 0:
        return np.inf
    root = np.sqrt((1 / rest - 1) * (1 - h)) - c
    return root * root * (1 - 32 * _ULP) if root >= 0 else -1.0


@compiled
def _settle(data, state, A, w, members, size, k, bound, target, work):
    """Put features in or out as long as the bound decides about them. Returns how many are not out,
    how many are in, the node's bound, and the largest of what was ruled out; it may stop early."""
    cost, ordered, closed = np.empty(size), np.empty(size), 0.0
    while True:
        fixed, before = 0, size
        for a in range(size):
            fixed += state[members[a]] == 2
        _, here = _ceiling(data, members, size, w, cost)
        work[0] -= 2.0 * size**2
        if fixed == k or size == k:
            return size, fixed, min(bound, here), closed
        m = size - k
        here -= _smallest(state, members, size, cost, m, ordered)
        bound = min(bound, here)
        if bound <= target:
            return size, fixed, bound, closed
        worst, best = ordered[m - 1], ordered[m]
        for a in range(size):
            if state[members[a]] == 1 and cost[a] >= best and fixed < k:
                rest = min(bound, here - (cost[a] - worst) * (1 - 4 * _ULP))
                if rest <= target:  # nothing is left without it
                    closed = max(closed, rest)
                    state[members[a]] = 2
                    fixed += 1
        if fixed == k:
            return size, fixed, bound, closed
        for a in range(before - 1, -1, -1):
            if state[members[a]] == 1 and cost[a] <= worst and size > k:
                rest = min(bound, here - (best - cost[a]) * (1 - 4 * _ULP))
                if rest <= target and work[0] > 0:  # nothing is left with it
                    work[0] -= 3.0 * size * size
                    closed = max(closed, rest)
                    state[members[a]] = 0
                    _without(A, w, members, size, a, A, w, members)
                    size -= 1
        if size == before or work[0] <= 0:
            return size, fixed, bound, closed


@compiled
def _likeliest(state, A, w, members, size, missing, index):
    """Return the places of the candidates whose loss would cost most, the largest first."""
    gain, places, n = np.empty(size), np.empty(missing, np.int64), 0
    for a in range(size):
        gain[a] = w[a] * w[a] / A[a, a] if state[members[a]] == 1 else -1.0
        if state[members[a]] == 2:
            index[n] = members[a]
            n += 1
    for i in range(missing):
        best = 0
        for a in range(1, size):
            best = a if gain[a] > gain[best] else best
        places[i], gain[best] = best, -2.0
        index[n + i] = members[best]
    return places


@compiled
def dive(data, start, inverse, k, best, tol, max_nodes, n_slots, most, c, h):
    """Search below one node, depth first, until nothing is left or `max_nodes` nodes are opened.

    `data` holds Sigma, delta and D below Sigma on the features of `start` (d,), the node; `inverse`
    is Sigma's on those not `OUT`. `best` is q of the best known support; what is lower in F by less
    than `tol` need not be found. What is beyond `max_nodes`, `n_slots` levels and about `most`
    multiplications is given back, and unless c and h of `rounding_of_floor` are zero, good supports
    as nodes too. Returns the support found, (k,) or (0,); a number that q of no support that was
    ruled out or looked at exceeds; states and bounds of what is left; nodes opened.
    """
    s0 = inverse.shape[0]
    slots, slot_w = np.empty((n_slots, s0, s0)), np.zeros((n_slots, s0))
    slot_members, slot_size = np.zeros((n_slots, s0), np.int64), np.zeros(n_slots, np.int64)
    room = (n_slots + 1) * (k + 1)
    stack, stack_bound = np.zeros((room, start.size), np.uint8), np.zeros(room)
    stack_level, stack_place = np.zeros(room, np.int64), np.zeros(room, np.int64)
    left, left_bound = np.zeros((2 * room + 2, start.size), np.uint8), np.zeros(2 * room + 2)
    found, work, state = np.zeros(0, np.int64), np.empty(1), np.empty(start.size, np.uint8)
    work[0] = most
    closed, count, n_left, top, target = 0.0, 0, 0, 1, _target(best, tol, c, h)
    stack_bound[0] = np.inf
    for j in range(start.size):
        stack[0, j] = start[j]
    while top > 0:
        top -= 1
        level, bound = stack_level[top], stack_bound[top]
        if bound <= target:
            closed = max(closed, bound)
            continue
        if count >= max_nodes or level >= n_slots or n_left >= room or work[0] <= 0:
            for j in range(start.size):
                left[n_left, j] = stack[top, j]
            left_bound[n_left] = bound
            n_left += 1
            max_nodes = 0 if n_left >= room else max_nodes
            continue
        count += 1
        for j in range(start.size):
            state[j] = stack[top, j]
        A, w, members = slots[level], slot_w[level], slot_members[level]
        if level == 0:
            size = 0
            for j in range(start.size):
                if start[j] != 0:
                    members[size] = j
                    size += 1
            for a in range(size):
                w[a] = 0.0
                for b in range(size):
                    A[a, b] = inverse[a, b]
                    w[a] += inverse[a, b] * data[1][members[b]]
        else:  # the parent's slot is as it was left: this is a depth-first search
            up, at = level - 1, stack_place[top]
            size = slot_size[up] - 1
            _without(slots[up], slot_w[up], slot_members[up], size + 1, at, A, w, members)
        size, fixed, bound, out = _settle(data, state, A, w, members, size, k, bound, target, work)
        slot_size[level], closed = size, max(closed, out)
        if bound <= target:
            closed = max(closed, bound)
            continue
        # The likeliest support of the node is looked at; it may be the only one.
        missing, index = k - fixed, np.empty(k, np.int64)
        places = _likeliest(state, A, w, members, size, missing, index)
        value, whole = _whole(data, index, k)
        if value > best:
            best, found, target = value, index, _target(value, tol, c, h)
        whole = min(whole, bound)
        if c + h > 0 and whole > target:  # too good for floats to rule it out
            for i in range(k):
                left[n_left, index[i]] = 2
            left_bound[n_left], n_left = whole, n_left + 1
        else:
            closed = max(closed, whole)
        if fixed == k or size == k:
            continue
        # The children: S lacks the first of `places`; has it, not the second...
        n = size - 1
        child_members, x = np.empty(size, np.int64), np.empty(size)
        cost, ordered = np.empty(size), np.empty(size)
        for i in range(missing):
            at = places[i]
            share = w[at] / A[at, at]
            for b in range(n):
                source = b if b < at else b + 1
                child_members[b] = members[source]
                x[b] = w[source] - A[source, at] * share
            child = stack[top + i]
            for j in range(start.size):
                child[j] = state[j]
            child[members[at]] = 0
            for b in range(i):
                child[members[places[b]]] = 2
            _, ceiling = _ceiling(data, child_members, n, x, cost)
            if n > k:
                ceiling -= _smallest(child, child_members, n, cost, n - k, ordered)
            stack_bound[top + i] = min(ceiling, bound)
            stack_place[top + i], stack_level[top + i] = places[i], level + 1
        top += missing
    return found, closed, left[:n_left], left_bound[:n_left], count


def compile_dive() -> None:
    one, state = np.eye(2), np.full(2, CANDIDATE, dtype=np.uint8)
    data = one, np.ones(2), np.full(2, 0.5)
    dive(data, state, one, 1, 0.0, 1e-9, 1, 2, np.inf, 0.0, 0.0)
