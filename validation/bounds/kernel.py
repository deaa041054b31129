"""What the error bounds of [ScalingUp, Section 3.2] ask of a kernel and of its approximation. R,
Rp, R2, E2 and K_max are at least what they are in exact arithmetic, for the kernel that is meant
(see `aucert.exact.spaces.gram`) and K~ = V V' with the features V as stored. That K - K~ is
semidefinite is a hypothesis of the theorems: Nystrom's features satisfy it up to their rounding.
gamma_k = k u / (1 - k u) bounds k roundings in a row, u = 2^-53; a sum of squares or of products
errs by gamma_k of the sum of their absolute values, in any order of addition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...approx import nystrom_map
from ...exact import Gram
from ...exact.errors import InputError, brief
from ...exact.formulation.formulation import true_space
from ...exact.pairs.all_pairs import deficiency
from ...exact.spaces.gram import shortfall
from ...exact.spaces.kernels import Kernel, Linear
from ...exact.spaces.rows import check_matrix
from ...exact.tools.arrays import check_number
from ...exact.tools.rounding import UNIT, above, gamma
from ..extremes import highest, lowest

BLOCK_BYTES = 64 * 2**20  # Memory that a block of distances may take.
SAMPLE = 1000  # Rows whose smallest eigenvalue stands for the whole, where the matrix is not held.
FEASIBLE = 1e-6  # Mass by which marginals may fail to be those of an alpha; the bounds pay for it.


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(eq=False)
class Approximation:
    """A kernel K and an approximation K~ of it on the same rows, with E = K - K~ semidefinite."""

    truth: Gram
    features: np.ndarray
    positive: np.ndarray
    singular: bool = False

    def __post_init__(self) -> None:
        self.n = n = self.truth.n
        positive = np.asarray(self.positive)
        if positive.dtype != bool or positive.shape != (n,):
            raise InputError(f"positive must be a boolean array, one entry for {n} rows")
        if not positive.any() or positive.all():
            raise InputError("the rows are of one class: pairs need both")
        if self.features.ndim != 2 or self.features.shape[0] != n:
            raise InputError(f"{n} rows, but features of shape {self.features.shape}")
        self.sizes = int(positive.sum()), int((~positive).sum())  # positive and negative rows
        self.K_max = self.truth.reach  # the largest root of a K_ii

    @classmethod
    def of_landmarks(
        cls, kernel: Kernel, X: object, landmarks: object, positive: np.ndarray
    ) -> Approximation:
        """Return the Nystrom approximation of these landmarks. [ScalingUp, eq. (11)]"""
        rows: Any = check_matrix(X)
        low_rank = isinstance(kernel, Linear) and rows.shape[1] < rows.shape[0]
        features = nystrom_map(kernel, landmarks).transform(rows)
        return cls(true_space(kernel, rows), features, positive, low_rank or _repeated(rows))

    @classmethod
    def of_matrices(cls, K: object, K_tilde: object, positive: np.ndarray) -> Approximation:
        """Return the approximation K~ of K, both (n, n)."""
        truth, other = Gram(K), Gram(K_tilde)
        if truth.n != other.n:
            raise InputError(f"K has {truth.n} rows, K_tilde {other.n}")
        values, vectors = np.linalg.eigh(other.K)
        kept = values > 2 * truth.n * UNIT * values[-1]
        if not kept.any():
            raise InputError("K_tilde is zero: it approximates nothing")
        least = float(np.linalg.eigvalsh(truth.K - other.K)[0])
        if least < -1e-10 * float(np.abs(truth.K).max()):
            do = "the bounds need an approximation from below, such as Nystrom's"
            raise InputError(f"K - K_tilde has the eigenvalue {least:.2g}: {do}")
        return cls(truth, vectors[:, kept] * np.sqrt(values[kept]), positive)

    @cached_property
    def E2(self) -> float:
        """At least the spectral norm of K - K~, rounding included."""
        V, truth = self.features, self.truth
        lengths = frobenius(truth.lengths[:, None]), frobenius(V)
        off = truth.noise * lengths[0] ** 2 + gamma(V.shape[1] + 4) * lengths[1] ** 2

        def blocks() -> Iterator[tuple[slice, np.ndarray]]:
            for rows in truth.blocks():
                yield rows, truth.values(rows, slice(None)) - V[rows] @ V.T

        if truth.K is None:
            found = large_spectral_norm(blocks, self.n, off)
        else:
            E = truth.K - V @ V.T
            found = spectral_norm((E + E.T) / 2)
        return above((found * (1 + gamma(8)) + off + truth.shift) * (1 + gamma(8)))

    @cached_property
    def lam_min(self) -> Interval:
        """The smallest eigenvalue of K, as far as floating point knows it. LAPACK's eigenvalues are
        taken to be off by 2 n u |K| at most, which is its usual bound and not proved here. Of a
        matrix that is not held, the smallest eigenvalue of its first rows is an upper bound."""
        held = self.truth.K is not None
        K = self.truth.K if held else self.truth.values(slice(SAMPLE), slice(SAMPLE))
        if self.singular or _repeated(K):
            return Interval(0.0, 0.0)
        values = np.linalg.eigvalsh(K)
        slack = 2 * K.shape[0] * UNIT * float(np.abs(values).max())
        lengths = self.truth.lengths[: K.shape[0]]
        slack += self.truth.noise * float(lengths @ lengths) + self.truth.shift
        low = values[0] - slack if held else 0.0
        return Interval(highest(float(low), 0.0), highest(float(values[0]) + slack, 0.0))

    @cached_property
    def lam_plus(self) -> Interval:
        """The smallest nonzero eigenvalue of K~, as far as floating point knows it."""
        values = np.linalg.svd(self.features, compute_uv=False)
        least, slack = float(values[-1]), 2 * highest(self.features.shape) * UNIT * float(values[0])
        return Interval(highest(least - slack, 0.0) ** 2, (least + slack) ** 2)

    @cached_property
    def R(self) -> float:
        """At least the largest |k_i - k_j|, i positive, j negative."""
        truth, diagonal = self.truth, self.truth.diagonal()
        plus, minus = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        products = ((rows, truth.values(plus[rows], minus)) for rows in self._blocks())
        error = 4 * truth.noise * truth.reach**2 * (1 + gamma(8)) + 2 * truth.shift
        return largest_distance(diagonal[plus], diagonal[minus], products, error)

    @property
    def Rp(self) -> float:
        """At least the largest |P (k_i - k_j)|: the same with K~."""
        return self._projected[0]

    @property
    def R2(self) -> float:
        """At least the root of the mean of |P (k_i - k_j)|^2 over all pairs."""
        return self._projected[1]

    @cached_property
    def _projected(self) -> tuple[float, float]:
        """Rp and R2, by the features v_i. The mean of |v_i - v_j|^2 is that of |v_i|^2 and of
        |v_j|^2, less twice the product of means. Rows are centred first, which changes a distance
        by u (|v_i| + |v_j|) at most."""
        n, r = self.features.shape
        moved = self.features - self.features.mean(axis=0)
        plus, minus = moved[self.positive], moved[~self.positive]
        squares = [np.einsum("ij,ij->i", side, side) for side in (plus, minus)]
        top = float(squares[0].max() + squares[1].max())
        blocks = ((rows, plus[rows] @ minus.T) for rows in self._blocks())
        # Each square and product errs by gamma_(r+1) of |v_i|^2 + |v_j|^2 at most, centring by 4 u.
        far = largest_distance(squares[0], squares[1], blocks, gamma(4 * r + 32) * top)
        means = [float(side.mean()) for side in squares]
        mean = means[0] + means[1] - 2 * float(plus.mean(axis=0) @ minus.mean(axis=0))
        slip = gamma(4 * (n + r) + 64) * (means[0] + means[1])
        return far, above(np.sqrt((highest(mean, 0.0) + slip) * (1 + gamma(4))))

    def error_interval(self, c: object) -> Interval:
        """Return bounds of c'E c, what the approximation costs the dual point c."""
        marginals = np.asarray(c, dtype=float)
        if marginals.shape != (self.n,) or not np.isfinite(marginals).all():
            raise InputError(f"marginals must be {self.n} finite numbers")
        u, v = marginals[self.positive], -marginals[~self.positive]
        if lowest(u.min(), v.min()) < 0:
            raise InputError("marginals are >= 0 on positive rows and <= 0 on negative ones")
        caps = [np.full(size, 1.0 / size) for size in self.sizes]
        _, missing, slip = deficiency(u, v, caps[0], caps[1])
        missing += slip
        if missing > FEASIBLE:
            raise InputError(f"these are the marginals of no alpha: {missing:.2g} of mass too many")
        V, kept = self.features, self.features.T @ marginals
        size = float(np.abs(marginals) @ np.sqrt(np.einsum("ij,ij->i", V, V)))
        size *= 1 + gamma(2 * self.n + 8)
        found = self.truth.dual_norm2(marginals)
        whole, rounding = found.value, found.error + gamma(4 * self.n + 32) * size**2
        form = whole - float(kept @ kept)
        rounding = (rounding + gamma(4) * whole) * (1 + gamma(8))
        # Some alpha has marginals that differ from c by `missing`, and k_i is at least P k_i.
        far = self.truth.reach * missing
        high = (np.sqrt(highest(form + rounding, 0.0)) + far) ** 2 * (1 + gamma(16))
        low = highest(np.sqrt(highest(form - rounding, 0.0)) - far, 0.0) ** 2 * (1 - gamma(16))
        return Interval(float(low), float(high))

    def _blocks(self) -> Iterator[slice]:
        n_pos, n_neg = self.sizes
        step = highest(1, BLOCK_BYTES // (8 * n_neg))
        for start in range(0, n_pos, step):
            yield slice(start, lowest(start + step, n_pos))


def _repeated(matrix: Any) -> bool:
    if sp.issparse(matrix):
        return False
    rows = np.ascontiguousarray(matrix) + 0.0  # no minus zero
    return len({row.tobytes() for row in rows}) < rows.shape[0]


def check_approximation(approximation: object, lam: object, delta: object) -> None:
    if not isinstance(approximation, Approximation):
        what = brief(approximation)
        raise InputError(f"an Approximation is needed, not {what}: see Approximation.of_landmarks")
    check_number("lam", lam)
    check_number("delta", delta, 0.0, 1.0)


# Norms and distances rounded up: in exact arithmetic they are at most what is returned.

SPAN = 32  # Directions of a large matrix that are looked at one by one.
PASSES = 3  # How often the whole of a large matrix is made: the last pass measures.

# Makes the rows of a matrix, a slice of them at a time.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]


def frobenius(A: np.ndarray) -> float:
    """Return at least the root of the sum of squares."""
    return float(np.linalg.norm(A)) * (1 + gamma(A.size / 2 + 4))


def spectral_norm(E: np.ndarray) -> float:
    """Return at least the spectral norm of a symmetric matrix (n, n) as stored."""
    n, whole = E.shape[0], frobenius(E)
    t = float(np.abs(np.linalg.eigvalsh(E)).max()) * (1 + 16 * n * UNIT) + 1e-290
    missing = [shortfall(side, t) for side in (E, -E)]
    if None in missing:
        return whole
    return lowest(above(t + highest(float(s) for s in missing if s is not None)), whole)


def large_spectral_norm(blocks: Blocks, n: int, skew: float = 0.0) -> float:
    """Return at least the spectral norm of the symmetric part of E (n, n), made in blocks; `skew`
    bounds the Frobenius norm of the other part, what rounding does to the symmetry.

    Let P project on k directions, A = P E P, B = (1 - P) E P, C = (1 - P) E (1 - P). Then |E| is at
    most the norm of the 2 x 2 matrix of |A|, |B|, |B| and |C|, and |C| is at most its Frobenius
    norm, the root of |E|_F^2 - 2 |E P|_F^2 + |A|_F^2. With directions near the first eigenvectors
    |B| is small, and all but the first k eigenvalues enter by their squares alone. The directions
    are made of a random start by multiplication; the bound holds for any.
    """
    k = lowest(SPAN, n)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, k)))[0]
    W = np.empty((n, k))
    for step in range(PASSES):
        if step:
            Q = np.linalg.qr(W)[0]
        squares, largest = 0.0, 1
        for rows, block in blocks():
            W[rows] = block @ Q
            squares += float(np.einsum("ij,ij->", block, block))
            largest = highest(largest, block.size)
    whole = float(np.sqrt(squares) * (1 + gamma((largest + n) / 2 + 8)))
    skew += 2 * UNIT * whole
    # W = E Q to rounding. An orthonormal basis is within `away` of Q in Frobenius norm, its product
    # with E within `slip` of W, and its A within `slip_A` of that computed.
    root = 1.01 * np.sqrt(k)
    away = root * (frobenius(Q.T @ Q - np.eye(k)) + 2 * gamma(n + 4) * k)
    if not away < 0.1:
        return whole
    slip = (gamma(n + 4) * whole + skew) * root + whole * away
    size, A = frobenius(W), Q.T @ W
    slip_A = slip + (away + gamma(n + 4) * root) * size
    A = (A + A.T) / 2
    size_A = frobenius(A)
    slip_A += 2 * UNIT * size_A
    a = spectral_norm(A) + slip_A
    left = frobenius(W - Q @ A) + gamma(k + 4) * (root * size_A + size)
    b = left + slip + slip_A + away * size_A
    kept = highest(size * (1 - gamma(2 * n * k + 16)) - slip, 0.0)
    c2 = whole**2 - 2 * kept**2 + (size_A + slip_A) ** 2 + gamma(32) * whole**2
    c = np.sqrt(highest(c2, 0.0))
    bound = ((a + c) / 2 + np.sqrt(((a - c) / 2) ** 2 + b**2)) * (1 + gamma(32))
    return lowest(float(bound), whole)


def largest_distance(
    plus: np.ndarray, minus: np.ndarray, blocks: Iterator[tuple[slice, np.ndarray]], error: float
) -> float:
    """Return at least the largest |a - b|."""
    largest = 0.0
    for rows, products in blocks:
        largest = highest(largest, float((plus[rows, None] + minus - 2 * products).max()))
    size = float(plus.max() + minus.max())
    return above(np.sqrt((largest + error + gamma(8) * 2 * size) * (1 + gamma(4))))
