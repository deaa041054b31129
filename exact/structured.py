"""SAUC-SVM's structure: penalise how far the scores spread within each class.

SAUC-SVM adds ``structure * f'Sigma f`` to |f|^2, Sigma the covariance of the pair differences: a
quadratic form s'R s in the scores s. Of all pairs, c_ij = a_i b_j, R = blkdiag(diag(a) - a a',
diag(b) - b b'), the two class covariances, divided by n. [SAUC, Prop. 1, eq. (15)]

R is always singular, so the inverse of R + structure R K R printed in [SAUC, eq. (17)] never
exists. Features are whitened by the Cholesky factor of I + structure F'R F instead, and kernels
take the root of R. The teaching form at the end, which no solve uses, is a plain machine with the
kernel G(x, z) = k(x, z) - structure k(x, S) R (R + structure R K R)^- R k(S, z), for any
generalised inverse; `structure` is the paper's lambda. [SAUC, eq. (17), eq. (19)]"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .errors import InputError, TooLargeError
from .pairs.all_pairs import AllPairs, PairList
from .spaces.factor import FEATURE_NUMBERS, SQUARE_LIMIT, Lift, rows_of
from .spaces.kernels import Kernel
from .spaces.rows import Rows, Space
from .tools.arrays import check_choice, check_number
from .tools.rounding import UNIT, Bound, gamma

# Of `middle`: R^{1/2} (I + structure R^{1/2} K R^{1/2})^{-1} R^{1/2}, eigenvalues >= 1: the one to
# use; the pseudo-inverse; and the inverse as printed, which divides by rounding errors.
ROUTES = ("root", "pinv", "inv")


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """R of all pairs: the two class covariances, [SAUC, Prop. 1, eq. (15)]. `times`, a product with
    R, rounds by at most gamma_(n+8) times `size`, and R is not above the diagonal `mass`."""

    positive: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def times(self, values: np.ndarray) -> np.ndarray:
        return self.mass().reshape((-1,) + (1,) * (values.ndim - 1)) * self.centre(values)

    def root(self) -> np.ndarray:
        """Return blkdiag of diag(sqrt a) (I - sqrt a sqrt a') and the same for b: (n, n)."""
        Q = np.zeros((self.positive.size, self.positive.size))
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            q = np.sqrt(weight)
            Q[np.ix_(side, side)] = q[:, None] * (np.eye(q.size) - np.outer(q, q))
        return Q

    def centre(self, values: np.ndarray) -> np.ndarray:
        out = np.empty_like(values, dtype=float)
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            out[side] = values[side] - weight @ values[side]
        return out

    def size(self, values: np.ndarray) -> np.ndarray:
        """Return a_i (|v_i| + a'|v|), and b_j (|v_j| + b'|v|): (n,)."""
        out = np.abs(values)
        for side, weight in ((self.positive, self.a), (~self.positive, self.b)):
            out[side] = weight * (out[side] + weight @ out[side])
        return out

    def mass(self) -> np.ndarray:
        out = np.empty(self.positive.size)
        out[self.positive], out[~self.positive] = self.a, self.b
        return out


def class_scatter(positive: np.ndarray, pairs: AllPairs | PairList | None = None) -> ClassScatter:
    """Return R of all pairs, with row weights if `pairs` have some. [SAUC, eq. (15)]"""
    every = pairs if isinstance(pairs, AllPairs) else AllPairs()
    return ClassScatter(positive, *every.on(positive).normalised())


def whitener(space: Rows, scatter: ClassScatter, structure: float) -> np.ndarray:
    """Return L (d, d), lower triangular, with L L' = I + structure F'R F. [SAUC, eq. (8)]"""
    if space.dim > SQUARE_LIMIT:
        raise TooLargeError(
            f"the structure of {space.dim} features is a matrix of that side, and "
            f"{SQUARE_LIMIT} is the most: keep fewer features, or leave the structure out"
        )
    # R does not see an offset, neither of the columns nor of the rows.
    if isinstance(space.X, np.ndarray):
        product = space.X.T @ scatter.times(space.X)
    else:
        product = np.empty((space.dim, space.dim))
        # 2**22: entries of sparse rows that are made dense at a time
        by_column, step = space.X.tocsc(), max(1, 2**22 // space.n)
        for start in range(0, space.dim, step):
            some = slice(start, start + step)
            product[:, some] = space.X.T @ scatter.times(by_column[:, some].toarray())
    with np.errstate(over="ignore", invalid="ignore"):
        M = np.eye(space.dim) + structure * ((product + product.T) / 2)
    try:
        return scipy.linalg.cholesky(M, lower=True)
    except (np.linalg.LinAlgError, ValueError):  # the latter where M overflows
        raise _too_large(structure) from None


def _too_large(structure: float) -> InputError:
    return InputError(
        f"structure = {structure:g} is too large for the spread of these features in "
        "floating point: lower it, or scale the features to order one"
    )


def whitened(space: Rows, scatter: ClassScatter, structure: float) -> Rows:
    """Return the rows whose plain norm is the structured norm of the given ones."""
    if structure == 0:
        return space
    L = whitener(space, scatter, structure)
    if space.is_sparse and space.n * space.dim > FEATURE_NUMBERS:
        raise TooLargeError(
            f"the structure makes {space.n} sparse rows of {space.dim} features dense, and "
            f"{FEATURE_NUMBERS} numbers are the most: keep fewer rows or features, or leave the "
            "structure out"
        )
    try:
        return Whitened(space.X if isinstance(space.X, np.ndarray) else space.dense(), L)
    except InputError:  # the rows given are fine, and whitened ones are never longer
        raise _too_large(structure) from None


class Whitened(Rows):
    """F L^{-T} as dense rows: a plain machine with these is the structured one with features F."""

    def __init__(self, X: np.ndarray, L: np.ndarray):
        self.L = L
        rows = scipy.linalg.solve_triangular(L, X.T, lower=True).T
        super().__init__(np.ascontiguousarray(rows), check=False)

    def to_input(self, w: np.ndarray) -> np.ndarray:
        """Return L^{-T} w, the weights of the original features."""
        return scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T")


class Structured(Space):
    """Any space with the structured norm |f|^2 + structure * s'R s, coordinates unchanged. The
    certificate needs no whitening: |sum c_i k_i|^2 in the dual norm is, for every y, at most

        |sum_i e_i k_i|^2 + structure y'R y,    e = c - structure R y,    [SAUC, eq. (12)]

    with equality at the scores y of the representer; a y that is off costs tightness only."""

    def __init__(
        self, base: Space, scatter: ClassScatter, structure: float,
        white: Rows | None = None, lift: Lift | None = None,
    ):  # fmt: skip
        self.base, self.scatter = base, scatter
        self.structure = check_number("structure", structure, closed="low")
        self.n, self.dim, self.reach, self.meaning = base.n, base.dim, base.reach, base.meaning
        self.scores, self.careful_scores = base.scores, base.careful_scores
        self.blocks = base.blocks
        if white is None or lift is None:
            rows, back, _ = rows_of(base, few=True)
            made = whitened(rows, scatter, self.structure)
            white, lift = made, lambda w: back(made.to_input(w))
        self._white, self._lift = white, lift

    @property
    def unstructured(self) -> Space:
        return self.base

    def norm2(self, w: np.ndarray) -> float:
        return self.base.norm2(w) + self._spread(w)[0]

    def norm2_error(self, w: np.ndarray) -> float:
        return self.base.norm2_error(w) + self._spread(w)[1]

    def _spread(self, w: np.ndarray) -> tuple[float, float]:
        """Return structure s'R s, and a bound of its rounding. With errors d in the scores it is
        off by at most 2 sqrt(s'R s) sqrt(d'R d) + d'R d."""
        scores, error = self.base.careful_scores(w)
        z = self.scatter.centre(scores).astype(float)
        spread = max(float(z @ self.scatter.times(z)), 0.0)
        moved = np.asarray(error + 2 * UNIT * np.abs(z), dtype=float)
        moved2 = float(self.scatter.mass() @ moved**2) * (1 + gamma(self.n))
        rounding = gamma(2 * (self.n + 8)) * float(np.abs(z) @ self.scatter.size(z))
        slip = 2 * float(np.sqrt((spread + rounding) * moved2)) + moved2
        return self.structure * spread, self.structure * (slip + rounding)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        both = float((self.scores(w) * self.scatter.times(self.scores(other))).sum())
        return self.base.inner(w, other) + self.structure * both

    def pull(self, c: np.ndarray) -> np.ndarray:
        return self._lift(self._white.pull(c))

    def dual_norm2(self, c: np.ndarray) -> Bound:
        """Return the base's bound at e and the spread, with the rounding of two products with R."""
        # Any y will do, so y is the computed one and has no error.
        y = self.scatter.centre(self._white.scores(self._white.pull(c)))
        moved, size = self.scatter.times(y), self.structure * self.scatter.size(y)
        e, chain, more = c - self.structure * moved, self.n + 8, 1 + gamma(2 * self.n)
        off = gamma(chain + 4) * float(size.sum()) + UNIT * float(np.abs(e).sum())  # errors in e
        spread = self.structure * max(float(y @ moved), 0.0)
        spread_error = gamma(2 * chain) * float(np.abs(y) @ size) * more
        at, reach = self.base.dual_norm2(e), self.reach * off * more
        slip = reach * (2 * float(np.sqrt(at.value + at.error)) + reach)
        return Bound(at.value + spread, at.error + slip + spread_error)


def middle(
    K: np.ndarray, scatter: ClassScatter, structure: float,
    route: str = "root", paper_literal: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return structure R (R + structure R K R)^- R, the matrix between the kernels of G, by one of
    `ROUTES`, the last only if `paper_literal`. [SAUC, eq. (16), eq. (17)]"""
    structure = check_number("structure", structure, closed="low")
    check_choice("route", route, ROUTES)
    if route == "root":
        half = _half(K, scatter, structure, np.eye(K.shape[0]))
        return structure * half.T @ half
    R = scatter.times(np.eye(K.shape[0]))
    inside = R + structure * R @ K @ R
    if route == "pinv":
        inverse = np.linalg.pinv(inside, hermitian=True, rcond=1e-12)
    elif paper_literal:
        inverse = np.linalg.inv(inside)
    else:
        raise InputError("R + structure R K R is singular for every kernel: see paper_literal")
    return structure * R @ inverse @ R


def deformed_gram(
    K: np.ndarray, scatter: ClassScatter, structure: float,
    route: str = "root", paper_literal: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return G (n, n) on the training rows: [SAUC, eq. (17), eq. (18), eq. (19)]. Differs from the
    paper: 1. a root or pseudo-inverse where the printed inverse does not exist. 2. Formed from n x
    n matrices: pair matrices would cost O(n^5)."""
    if route == "root":
        structure = check_number("structure", structure, closed="low")
        half = _half(K, scatter, structure, K)  # fewer digits cancel than with `middle`
        G = K - structure * half.T @ half
    else:
        G = K - K @ middle(K, scatter, structure, route, paper_literal) @ K
    return (G + G.T) / 2


def _half(K: np.ndarray, scatter: ClassScatter, structure: float, right: np.ndarray) -> np.ndarray:
    """Return L^{-1} Q'right with Q Q' = R and L L' = I + structure Q'K Q."""
    Q = scatter.root()
    M = np.eye(Q.shape[1]) + structure * Q.T @ K @ Q
    lower = scipy.linalg.cholesky((M + M.T) / 2, lower=True)
    return scipy.linalg.solve_triangular(lower, Q.T @ right, lower=True)


def direct_gram(features: np.ndarray, scatter: ClassScatter, structure: float) -> np.ndarray:
    """Return G = F (I + structure F'R F)^{-1} F' from features (n, r). [SAUC, eq. (8), eq. (14)]"""
    Sigma = features.T @ scatter.times(features)
    return features @ np.linalg.solve(np.eye(Sigma.shape[0]) + structure * Sigma, features.T)


def sauc_scores(
    K: np.ndarray, columns: np.ndarray, beta: np.ndarray, scatter: ClassScatter, structure: float,
    paper_literal: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return the scores of new rows, f(x) = sum_s beta_s G(x_s, x) [SAUC, eq. (20)]. Differs from
    the paper: 1. the correction carries a factor `structure`, which (20) lacks: as printed it is
    right at structure = 1 only, and does not reduce to AUC-SVM at 0."""
    structure = check_number("structure", structure, closed="low")
    if not paper_literal:
        half = _half(K, scatter, structure, np.column_stack([K @ beta, columns]))
        return beta @ columns - structure * half[:, 0] @ half[:, 1:]
    R = scatter.times(np.eye(K.shape[0]))
    inverse = np.linalg.pinv(R + structure * R @ K @ R, hermitian=True, rcond=1e-12)
    return beta @ columns - beta @ K @ R @ inverse @ R @ columns


def literal_pair_kernel(kernel: Kernel, X: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return k(x_i - x_j, x_u - x_v) as printed, right for linear kernels only. [SAUC, eq. (3)]"""
    differences = X[i] - X[j]
    return kernel(differences, differences)


def pair_kernel(K: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return <k_i - k_j, k_u - k_v> of all listed pairs: (m, m). [SAUC, eq. (3)], corrected."""
    rows = K[i] - K[j]
    return rows[:, i] - rows[:, j]
