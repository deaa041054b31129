"""The squared hinge at some weights: slope and curvature, the Newton equation, and its lines.

With the shortfall z_ij = 1 - (s_i - s_j) of a pair, the second derivative in the scores is twice a
graph Laplacian L, whose graph joins the active pairs (z > 0) with their weights. Times a vector it
costs running sums over the sorted scores: one sort serves the value, the slope and all products.

    H s = -g,  g = lam w - pull(c),  H = lam I + 2 X'L X = lam I + 2 sum of c_ij d_ij d_ij',

d_ij = x_i - x_j, is solved with H formed, sampled, or only multiplied. A few active pairs a
coordinate give H well enough to precondition conjugate gradients: with m a coordinate the condition
number is about ((1 + m^-1/2) / (1 - m^-1/2))^2, for any data. The slopes of the loss are a dual
point whose gap is |g|^2 / (2 lam) exactly: every point brings its certificate along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from ...exact.certificate.solution import Recorder
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.pairs.near import Near as Drawn
from ...exact.pairs.near import cholesky_solve, differences_gram, draw_from_ranges, factored
from ...exact.problem.problem import Problem, root_of_slope, starting_sample
from ...exact.problem.risk import Scores
from ...exact.sums.loops import laplacian
from ...exact.sums.swept import both_orders, centred
from ...exact.tools.arrays import check_scores
from ...exact.tools.rounding import UNIT

Rough = Callable[[np.ndarray], np.ndarray]  # about H's inverse times a vector

DRAWS = 5000  # pairs drawn at least
LARGEST_DIM = 3000  # coordinates up to which a matrix is factored
MANY_PRODUCTS = 15  # in one step, from which a better preconditioner may be worth its price
PACE = 6  # operations of a matrix product in the time of one of a product with a vector
SPARSE_PACE = 100  # operations in the time of one of a product of sparse matrices
ROUGH = 1e-3  # a sample is solved at least to this relative gap
SLACK = 1e-13  # share of F below which its values cannot tell progress from rounding
TIGHTER = (0.3, 0.03, 0.003)  # shares of the slope that a search leaves: less where F rose
LOST = 1e-3  # scores that shrink below this share of what they were are computed afresh


class SortedCurvature:
    """The squared hinge of all pairs at fixed scores, by sorting. [Nonlinear, Algorithm 2]

    `value` is sum_ij c_ij max(0, z_ij)^2, `c` the signed marginals of alpha = 2 max(0, z).
    """

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: AllPairs):
        sums = problem.sums(scores)
        self.value, self.c = sums.value, sums.c
        t, b, _ = centred(scores.astype(float, copy=False), pairs.places)
        t_order, b_order = both_orders(t, b)
        self.rows = pairs.places[0][t_order], pairs.places[1][b_order]
        a, c = pairs.normalised()
        self.weights, t, b = (a[t_order], c[b_order]), t[t_order], b[b_order]
        # Row i of t is active with b[above[i]:], row j of b with t[:below[j]].
        self.above = np.searchsorted(b, t, side="right")
        self.below = np.searchsorted(t, b, side="left")

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values (n,) or (n, k): row i gets sum_j c_ij (v_i - v_j)."""
        out = np.empty(values.shape, order="F")
        for k in np.ndindex(values.shape[1:]):
            at = (slice(None), *k)
            own = np.ascontiguousarray(values[at])
            laplacian(own, *self.rows, *self.weights, self.above, self.below, out[at])
        return out

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs; their shares add up, in expectation, to c_ij's."""
        (plus, minus), (a, b) = self.rows, self.weights
        row, at, share = draw_from_ranges(minus.size - self.above, size, rng)
        column = self.above[row] + at
        return plus[row], minus[column], a[row] * b[column] * share


class ListCurvature:
    """The same of a `PairList`: L = A' diag(c 1[z > 0]) A."""

    def __init__(self, problem: Problem, scores: np.ndarray, pairs: PairList):
        sums = problem.sums(scores)
        self.value, self.c, self.pairs = sums.value, sums.c, pairs
        self.active = pairs.c * (pairs.margins(scores) < 1.0)
        self._matrix: sp.csr_matrix | None = None

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return L values."""
        if self._matrix is None:
            incidence = self.pairs.incidence()
            self._matrix = sp.csr_matrix(incidence.T @ sp.diags(self.active) @ incidence)
        return self._matrix @ values

    def drawn(self, size: int, rng: np.random.Generator) -> Drawn:
        """Return up to `size` active pairs."""
        held = np.flatnonzero(self.active)
        kept = held if held.size <= size else held[rng.integers(0, held.size, size)]
        share = self.active[kept] * (held.size / max(kept.size, 1))
        return self.pairs.i[kept], self.pairs.j[kept], share


Curvature = SortedCurvature | ListCurvature


def curvature(problem: Problem, scores: np.ndarray) -> Curvature:
    """Return the squared hinge at `scores` (n,), in the form that suits the pairs."""
    check_scores(scores, problem.pairs.positive)
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        return ListCurvature(problem, scores, pairs)
    return SortedCurvature(problem, scores, pairs)


@dataclass(frozen=True, eq=False)
class NewtonPoint:
    """What is known at the weights `w`."""

    problem: Problem
    w: np.ndarray
    scores: np.ndarray
    curved: Curvature

    @classmethod
    def at(cls, problem: Problem, w: np.ndarray) -> NewtonPoint:
        """Return the point of the weights `w` (dim,)."""
        scores = problem.space.scores(w)
        return cls(problem, w, scores, curvature(problem, scores))

    @cached_property
    def primal(self) -> float:
        """F."""
        return self.curved.value + self.problem.lam / 2 * self.problem.space.norm2(self.w)

    @cached_property
    def gradient(self) -> np.ndarray:
        """lam w - pull(c)."""
        return self.problem.lam * self.w - self.problem.space.pull(self.curved.c)

    @cached_property
    def size(self) -> float:
        """|gradient|."""
        return float(np.linalg.norm(self.gradient))

    @property
    def gap(self) -> float:
        """F less the value of the slopes' own dual point: |gradient|^2 / (2 lam)."""
        return self.size**2 / (2 * self.problem.lam)

    @cached_property
    def noise(self) -> float:
        """About the rounding in `size`: below it a gradient has no digits."""
        space = self.problem.space.held
        assert space is not None
        moved = float(np.abs(self.curved.c) @ space.norms)
        length = float(np.linalg.norm(self.w))
        spread = float(np.mean(space.norms**2))
        return UNIT * (moved + length * (self.problem.lam + spread))

    def beats(self, before: NewtonPoint) -> bool:
        """Whether F is lower; or no higher than rounding tells, and the gradient smaller."""
        if self.primal < before.primal:
            return True
        return self.primal <= before.primal * (1 + SLACK) and self.size < before.size

    def note(self, recorder: Recorder) -> None:
        """Write a line of history; the last point counts, for rounding hides which is better."""
        dual = self.primal - self.gap
        if dual > recorder.best_dual or self.gap <= SLACK * self.primal:
            recorder.best_dual = max(dual, recorder.best_dual)
            # At the scores of w itself: one evaluation serves the whole certificate.
            recorder.best_witness = lambda: Scores(self.problem.space.scores(self.w))
        recorder.best_primal = min(self.primal, recorder.best_primal)
        recorder.best_w = self.w
        recorder.step()


class NewtonLine:
    """The objective along w + t step, in score space: a trial costs one sort and no product."""

    def __init__(self, start: NewtonPoint, step: np.ndarray):
        self.start, self.step = start, step
        space = start.problem.space
        self.shift = space.scores(step)
        self.along, self.norm2 = space.inner(start.w, step), space.norm2(step)
        self.last: tuple[float, np.ndarray, Curvature] | None = None

    def slope(self, t: float) -> float:
        """Return the derivative at t; it rises with t."""
        curved = self._moved(t)[1]
        lam = self.start.problem.lam
        return lam * (self.along + t * self.norm2) - float(curved.c @ self.shift)

    def at(self, t: float) -> NewtonPoint:
        """Return the point at t."""
        scores, curved = self._moved(t)
        w = self.start.w + t * self.step
        # Their difference has lost so many digits that a product with the data is due.
        if np.abs(scores).max() < LOST * np.abs(self.start.scores).max():
            return NewtonPoint.at(self.start.problem, w)
        return NewtonPoint(self.start.problem, w, scores, curved)

    def search(self) -> NewtonPoint | None:
        """Return a point that beats the start, with a flatter slope; None if there is none."""
        falling = float(self.start.gradient @ self.step)
        for loose in TIGHTER:
            t = root_of_slope(self.slope, falling, loose)
            if t == 0.0 or np.array_equal(self.start.w + t * self.step, self.start.w):
                return None
            found = self.at(t)
            if found.beats(self.start):
                return found
        return None

    def _moved(self, t: float) -> tuple[np.ndarray, Curvature]:
        if self.last is None or self.last[0] != t:
            scores = self.start.scores + t * self.shift
            self.last = t, scores, curvature(self.start.problem, scores)
        return self.last[1], self.last[2]


def sample_problem(problem: Problem, tol: float) -> tuple[Problem, float] | None:
    """Return a sample of a large problem's rows, or None, and the gap worth reaching on it.

    A sample's optimum is off by the order of dim over its rows, so more digits would be wasted.
    """
    sample = starting_sample(problem)
    if sample is None:
        return None
    return sample, max(tol, min(ROUGH, problem.space.dim / sample.n))


def hessian(problem: Problem, curved: Curvature) -> np.ndarray:
    """Return H, formed over dense rows: O(n dim^2)."""
    X = problem.space.X  # type: ignore[attr-defined]
    return _ridged(2 * X.T @ curved.times(X), problem.lam)


def _ridged(H: np.ndarray, lam: float) -> np.ndarray:
    H.flat[:: H.shape[0] + 1] += lam
    return H


class Conditioning:
    """Multiply or factor: a preconditioner is made once its price has been spent without it.

    The whole then costs about twice the better of the two at most. One object serves a path of
    lam: the factor at one lam preconditions the next.
    """

    def __init__(self, per_coordinate: int):
        self.per_coordinate, self.rng = per_coordinate, np.random.default_rng(0)
        self.held: Rough | None = None
        self.spent: float = MANY_PRODUCTS  # what a first step is expected to take

    def step(self, point: NewtonPoint, rtol: float, max_cg: int) -> np.ndarray:
        """Return s with |H s + g| <= rtol |g|, or the best of about `max_cg` products."""
        problem, found, fresh = point.problem, None, False
        price, each = np.inf, 1.0
        if self.per_coordinate > 0 and problem.space.dim <= LARGEST_DIM:
            product, made, applied = costs(problem, self.per_coordinate)
            price, each = made / product, 1.0 + applied / product
        while True:
            if self.spent >= price and not fresh:
                self.held, self.spent = preconditioner(point, self.per_coordinate, self.rng), 0.0
                fresh = True
            unit = 1.0 if self.held is None else each
            enough = max(MANY_PRODUCTS, (price - self.spent) / unit)
            limit = max_cg if fresh or enough >= max_cg else int(enough) + 1
            found, products = direction(point, rtol, limit, self.held, found)
            if products > MANY_PRODUCTS:  # few are not reason for another one
                self.spent += products * unit
            max_cg -= products
            if products < limit or max_cg <= 0:
                return found


def costs(problem: Problem, per_coordinate: int) -> tuple[float, float, float]:
    """Return what a product with H, a preconditioner and its use cost, within a factor of 3.

    The unit is an operation of a dense product with a vector; measured.
    """
    space, dim = problem.space.held, float(problem.space.dim)
    assert space is not None
    size, factored = max(DRAWS, per_coordinate * dim), dim**3 / 3 / PACE
    if isinstance(space.X, np.ndarray):
        stored = problem.n * dim
        made = 2 * min(problem.n, size) * dim**2 / PACE
    elif sp.issparse(space.X):
        stored = float(space.X.nnz)
        made = size * (2 * stored / problem.n) ** 2 * SPARSE_PACE / PACE
    else:  # rows behind two triangular systems
        stored, made = dim**2, 6 * size * dim**2 / PACE
    product = 4 * stored + 100 * problem.n + 20 * dim + 1.5e5
    return product, made + factored, 3.3 * dim**2 + 5e4


def preconditioner(point: NewtonPoint, per_coordinate: int, rng: np.random.Generator) -> Rough:
    """Return the inverse of an H that is formed where the rows are few and sampled where many."""
    problem, space = point.problem, point.problem.space.held
    assert space is not None
    size = max(DRAWS, per_coordinate * space.dim)
    if problem.n <= size and not space.is_sparse:
        H = hessian(problem, point.curved)
    else:
        i, j, share = point.curved.drawn(size, rng)  # without bias
        H = _ridged(differences_gram(space, i, j, 2 * share), problem.lam)
    return partial(cholesky_solve, factored(H))


def direction(
    point: NewtonPoint,
    rtol: float,
    max_cg: int,
    inverse: Rough | None = None,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Return s with |H s + g| <= rtol |g|, or the best of `max_cg` products; and their number.

    Every answer descends: the first iterate is a multiple of the preconditioned gradient.
    """
    problem, space, products = point.problem, point.problem.space, 0

    def times(v: np.ndarray) -> np.ndarray:
        nonlocal products
        products += 1
        v = np.ravel(v)
        return problem.lam * v + 2 * space.pull(point.curved.times(space.scores(v)))

    shape, rough = (space.dim, space.dim), None
    operator = scipy.sparse.linalg.LinearOperator(shape, matvec=times, dtype=float)
    if inverse is not None:
        rough = scipy.sparse.linalg.LinearOperator(shape, matvec=inverse, dtype=float)
    unit = float(np.ldexp(1.0, np.frexp(point.size)[1] - 1))  # squares of what is long overflow
    step, _ = scipy.sparse.linalg.cg(
        operator,
        -point.gradient / unit,
        None if start is None else start / unit,
        rtol=rtol,
        maxiter=max_cg,
        M=rough,
    )
    return unit * step, products
