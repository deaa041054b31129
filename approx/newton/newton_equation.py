"""The Newton equation H s = -g of the squared hinge: H formed, sampled, or only multiplied.

    H = lam I + 2 X'L X = lam I + 2 sum over the active pairs of c_ij d_ij d_ij',  d_ij = x_i - x_j.

A few active pairs a coordinate give H well enough to precondition conjugate gradients: with m a
coordinate the condition number is about ((1 + m^-1/2) / (1 - m^-1/2))^2, for any data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from ...exact.problem.problem import Problem
from ...exact.spaces.pair_matrices import differences_gram, factored, solved
from .curvature import Curvature
from .points import NewtonPoint

Rough = Callable[[np.ndarray], np.ndarray]  # about H's inverse times a vector

DRAWS = 5000  # pairs drawn at least
LARGEST_DIM = 3000  # coordinates up to which a matrix is factored
MANY_PRODUCTS = 15  # in one step, from which a better preconditioner may be worth its price
PACE = 6  # operations of a matrix product in the time of one of a product with a vector
SPARSE_PACE = 100  # operations in the time of one of a product of sparse matrices


def hessian(problem: Problem, curved: Curvature) -> np.ndarray:
    """Return H, formed over dense rows: O(n dim^2)."""
    X = problem.space.X  # type: ignore[attr-defined]
    return _ridged(2 * X.T @ curved.times(X), problem.lam)


def sampled_hessian(
    problem: Problem, curved: Curvature, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return H as `size` active pairs estimate it, without bias: O(size dim^2)."""
    space = problem.space.held
    assert space is not None
    i, j, share = curved.drawn(size, rng)
    return _ridged(differences_gram(space, i, j, 2 * share), problem.lam)


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
        H = sampled_hessian(problem, point.curved, size, rng)
    return partial(solved, factored(H))


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
