"""Branch and bound for the best k features: leaps and bounds with a relaxation's bounds. [SHT, (3)]

A node says of each feature whether it is in, out or a candidate. The open nodes wait in a heap, the
one of lowest bound first. So whenever the search stops, this bound holds for all supports.

    push the root: every feature is a candidate
    until the heap is empty, upper - lower <= tol, or the time is up:
        open the node of the lowest bound:
            if it cannot beat the best support by tol / 2: close it
            if it has one support left: decide it, in whole numbers where floats tell too little
            if its features are nearly dependent or blurred: split it on one, for it has no bound
            else: dive below it, depth first, for a while; push what the dive leaves
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..square_loss.support import (
    REGULAR,
    Diagonal,
    SupportBounds,
    SupportOptimum,
    certified_diagonal,
    objective_floor,
    rounding_of_floor,
)
from .dive import CANDIDATE, IN, OUT, dive

WORK = 4e7  # operations of a dive, some hundredths of a second
DEPENDENT = 10 * REGULAR  # eigenvalues below this tell which features depend on each other

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


class SubsetSearch:
    """The state of one search from a support of k features; `end` reads `time.perf_counter`."""

    def __init__(
        self, bounds: SupportBounds, k: int, start: SupportOptimum, tol: float, end: float = np.inf
    ):
        self.bounds, self.loss = bounds, bounds.loss
        self.k, self.tol, self.end = k, tol, end
        self.best, self.upper = start, np.inf
        self.dependent, self.n_nodes = False, 0
        self._start = time.perf_counter()
        self._closed, self._between, self._known, self._count = np.inf, np.inf, 0.0, 0
        self._heap: list[tuple[float, int, int, bytes]] = []
        self._offer(start)
        root = np.where(bounds.silent, OUT, CANDIDATE).astype(np.uint8)
        self._push(0.0, root)

    @property
    def lower(self) -> float:
        """A lower bound of F over all supports of k features; it never falls."""
        waiting = self._heap[0][0] if self._heap else np.inf
        self._known = max(self._known, min(waiting, self._between, self._closed, self.upper))
        return self._known

    @property
    def done(self) -> bool:
        """Whether nothing is left that could be better by `tol`, or raise the lower bound."""
        if not self._heap or self.upper - self.lower <= self.tol:
            return True
        return self.bounds.spent and self._closed <= self._heap[0][0]

    def step(self) -> SearchStep:
        """Open the node of the lowest bound and what is below it, for a while."""
        floor, _, _, packed = self._heap[0]
        state = np.frombuffer(packed, dtype=np.uint8).copy()
        found, closed, children = self._open(state, floor)
        self._between = floor  # an interrupt may come between any two of these lines
        heapq.heappop(self._heap)
        self._closed = min(self._closed, max(closed, floor))
        for child_floor, child in children:
            self._push(max(child_floor, floor), child)
        self._between = np.inf
        if found is not None:
            self._offer(found)
        seconds = time.perf_counter() - self._start
        return SearchStep(self.n_nodes, len(self._heap), self.upper, self.lower, seconds)

    def _push(self, floor: float, state: np.ndarray) -> None:
        self._count += 1
        # Of equal bounds the node with the fewest candidates comes first: it is decided soonest.
        depth = int(np.count_nonzero(state == IN)) - int(np.count_nonzero(state))
        heapq.heappush(self._heap, (floor, -depth, self._count, state.tobytes()))

    def _offer(self, found: SupportOptimum) -> None:
        upper = self.bounds.ceiling(found.w, self.end)
        if upper < self.upper:
            self.best, self.upper = found, upper

    def _open(self, state: np.ndarray, floor: float) -> Opened:
        """Open a node of this bound."""
        if floor >= self.upper - self.tol / 2:
            return None, floor, []
        members = np.flatnonzero(state)
        inside = np.flatnonzero(state == IN)
        if members.size <= self.k or inside.size == self.k:
            self.n_nodes += 1
            chosen = members if members.size <= self.k else inside
            found, bound = self.bounds.leaf(chosen, self.upper, self.end)
            return found, max(bound, floor), []
        self._need(0.5, members.size)  # in eigenvalue problems
        sigma = self.loss.scaled_sigma[np.ix_(members, members)]
        blurred = bool(self.bounds.blurred[members].any())
        diagonal = None if blurred else certified_diagonal(sigma)
        if diagonal is None or self._floor(1.0, diagonal.least) == 0.0:
            self._need(3.0, members.size)
            self.n_nodes += 1
            self.dependent = True
            return self._split(state, members, inside, sigma, floor)
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
        best, doubt = max(self._best_q, 0.0), self._doubt(least)
        support, closed, states, bounds, count = dive(
            *(data, state, inverse, self.k, best, self.tol / 2, nodes, slots, work, *doubt)
        )
        self.n_nodes += int(count)
        found = self.loss.optimum(support) if support.size else None
        left = [(self._floor(q, least), s) for q, s in zip(bounds, states, strict=True)]
        return found, self._floor(closed, least), left

    @property
    def _best_q(self) -> float:
        """The q of the best known support: F = 1 / (1 + q)."""
        return 1 / self.upper - 1 if self.upper > 0 else np.inf

    def _floor(self, q: float, least: float) -> float:
        return float(objective_floor(float(q), self.k, least, self.bounds.error))

    def _doubt(self, least: float) -> tuple[float, float]:
        """Return the c and h of `dive`: zeros where the moments' rounding is too little."""
        best = self._best_q
        if 1 / (1 + best) - self._floor(best, least) <= self.bounds.slack:
            return 0.0, 0.0
        c, h = rounding_of_floor(self.k, least, self.bounds.error)
        return float(c), float(h)

    def _need(self, problems: float, side: int) -> None:
        """Raise `TimeOutError` if so many eigenvalue problems would last beyond the end."""
        # 1e-9: an eigenvalue problem takes about this times its side cubed
        seconds = problems * 1e-9 * side**3
        # 200: an eigenvalue problem below this side is too quick to look at the clock
        if side >= 200 and time.perf_counter() + seconds > self.end:
            raise TimeOutError

    def _split(
        self, state: np.ndarray, members: np.ndarray, inside: np.ndarray, sigma: np.ndarray,
        floor: float,
    ) -> Opened:  # fmt: skip
        """Branch on the feature that takes most part in a dependence, or is known least. A node
        whose features inside are dependent exactly, with a finite q, is left out: some optimum has
        independent features, and the way down to it has only these inside."""
        if inside.size:
            own = self.loss.scaled_sigma[np.ix_(inside, inside)]
            # Floats hardly tell that what is inside is independent.
            weak = self.bounds.blurred[inside].any() or np.linalg.eigvalsh(own)[0] < REGULAR
            if weak and self.bounds.redundant(inside, self.end):
                return None, np.inf, []
        free = np.flatnonzero(state[members] == CANDIDATE)
        weak = self.bounds.blurred[members].astype(float)
        if not weak[free].any():
            values, vectors = np.linalg.eigh(sigma)
            # 2: so do those up to this multiple of the least one
            near = values < max(DEPENDENT, 2 * values[0])
            weak = np.square(vectors[:, near]).sum(axis=1)
        at = members[free[int(np.argmax(weak[free]))]]
        without, within = state.copy(), state.copy()
        without[at], within[at] = OUT, IN
        return None, np.inf, [(floor, without), (floor, within)]


def run(search: SubsetSearch, callback: Callable[[SearchStep], object] | None = None) -> str:
    """Search until all is decided, the time is up or the user interrupts; return which."""
    try:
        while not search.done:
            if time.perf_counter() >= search.end:
                return "time_limit"
            line = search.step()
            if callback is not None:
                callback(line)
    except TimeOutError:
        return "time_limit"
    except KeyboardInterrupt:
        return "interrupted"
    return "done"
