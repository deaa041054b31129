"""What the error bounds of [ScalingUp, Section 3.2] ask of a kernel and of its approximation.

R, Rp, R2, E2 and K_max are at least what they are in exact arithmetic, for the kernel that is meant
(see `aucert.exact.spaces.gram`) and K~ = V V' with the features V as stored. That K - K~ is
semidefinite is a hypothesis of the theorems: Nystrom's features satisfy it up to their rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...approx.nystrom import nystrom_map
from ...exact.errors import InputError, brief
from ...exact.formulation.formulation import true_space
from ...exact.pairs.marginals import deficiency
from ...exact.spaces.gram import Gram
from ...exact.spaces.kernels import Kernel, Linear
from ...exact.spaces.rows import check_matrix
from ...exact.tools.checks import check_number
from ...exact.tools.rounding import UNIT, above, gamma
from ..extremes import highest, lowest
from .upper import (
    distances_of_rows,
    frobenius,
    large_spectral_norm,
    largest_distance,
    spectral_norm,
)

BLOCK_BYTES = 64 * 2**20  # Memory that a block of distances may take.

SAMPLE = 1000  # Rows whose smallest eigenvalue stands for the whole, where the matrix is not held.

FEASIBLE = 1e-6  # Mass by which marginals may fail to be those of an alpha; the bounds pay for it.


class Interval(NamedTuple):
    """A number known to lie between two others."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Approximation:
    """A kernel K and an approximation K~ of it on the same rows, with E = K - K~ semidefinite."""

    truth: Gram
    features: np.ndarray
    positive: np.ndarray
    singular: bool = False

    def __post_init__(self) -> None:
        positive = np.asarray(self.positive)
        if positive.dtype != bool or positive.shape != (self.truth.n,):
            raise InputError(f"positive must be a boolean array, one entry for {self.n} rows")
        if not positive.any() or positive.all():
            raise InputError("the rows are of one class: pairs need both")
        if self.features.ndim != 2 or self.features.shape[0] != self.n:
            raise InputError(f"{self.n} rows, but features of shape {self.features.shape}")

    @classmethod
    def of_landmarks(
        cls,
        kernel: Kernel,
        X: object,
        landmarks: object,
        positive: np.ndarray,
        rcond: float = 1e-12,
    ) -> Approximation:
        """Return the Nystrom approximation of these landmarks. [ScalingUp, eq. (11)]"""
        rows: Any = check_matrix(X)
        low_rank = isinstance(kernel, Linear) and rows.shape[1] < rows.shape[0]
        singular = low_rank or _repeated(rows)
        features = nystrom_map(kernel, landmarks, rcond).transform(rows)
        return cls(true_space(kernel, rows), features, positive, singular)

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
            raise InputError(
                f"K - K_tilde has the eigenvalue {least:.2g}: the bounds need an approximation "
                "from below, such as Nystrom's"
            )
        return cls(truth, vectors[:, kept] * np.sqrt(values[kept]), positive)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.truth.n

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positive and of negative rows."""
        n_pos = int(self.positive.sum())
        return n_pos, self.n - n_pos

    @property
    def K_max(self) -> float:
        """The largest root of a K_ii."""
        return self.truth.reach

    @cached_property
    def E2(self) -> float:
        """At least the spectral norm of K - K~, rounding included."""
        V, truth = self.features, self.truth
        lengths = frobenius(truth.lengths[:, None]), frobenius(V)
        off = truth.noise * lengths[0] ** 2 + gamma(V.shape[1] + 4) * lengths[1] ** 2
        if truth.K is not None:
            E = truth.K - V @ V.T
            found = spectral_norm((E + E.T) / 2)
            return above((found * (1 + gamma(8)) + off + truth.shift) * (1 + gamma(8)))

        def blocks() -> Iterator[tuple[slice, np.ndarray]]:
            for rows in truth.blocks():
                yield rows, truth.values(rows, slice(None)) - V[rows] @ V.T

        found = large_spectral_norm(blocks, self.n, off)
        return above((found * (1 + gamma(8)) + off) * (1 + gamma(8)))

    @cached_property
    def lam_min(self) -> Interval:
        """The smallest eigenvalue of K, as far as floating point knows it.

        LAPACK's eigenvalues are taken to be off by 2 n u |K| at most, which is its usual bound
        and not proved here. Of a matrix that is not held, the smallest eigenvalue of its first
        rows is an upper bound.
        """
        held, some = self.truth.K is not None, slice(SAMPLE)
        K = self.truth.K if held else self.truth.values(some, some)
        if self.singular or _repeated(K):
            return Interval(0.0, 0.0)
        values = np.linalg.eigvalsh(K)
        slack = 2 * K.shape[0] * UNIT * float(np.abs(values).max())
        lengths = self.truth.lengths[: K.shape[0]]
        slack += self.truth.noise * float(lengths @ lengths)
        slack += self.truth.shift
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
        return self._projected_distances[0]

    @property
    def R2(self) -> float:
        """At least the root of the mean of |P (k_i - k_j)|^2 over all pairs."""
        return self._projected_distances[1]

    @cached_property
    def _projected_distances(self) -> tuple[float, float]:
        return distances_of_rows(self.features, self.positive, self._blocks())

    def error_form(self, c: object) -> float:
        """Return `error_interval(c).high`, at least what the approximation costs the dual point."""
        return self.error_interval(c).high

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
        kept = self.features.T @ marginals
        size = float(np.abs(marginals) @ np.sqrt(np.einsum("ij,ij->i", *[self.features] * 2)))
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
        """Yield slices of the positive rows."""
        n_pos, n_neg = self.sizes
        step = highest(1, BLOCK_BYTES // (8 * n_neg))
        for start in range(0, n_pos, step):
            yield slice(start, lowest(start + step, n_pos))


def _repeated(matrix: Any) -> bool:
    """Whether two rows of a dense matrix are equal."""
    if sp.issparse(matrix):
        return False
    rows = np.ascontiguousarray(matrix) + 0.0  # no minus zero
    return len({row.tobytes() for row in rows}) < rows.shape[0]


def check_approximation(approximation: object, lam: object) -> None:
    """Raise `InputError` unless these are an `Approximation` and a number lam > 0."""
    try:
        check_number("lam", lam)
    except InputError as error:
        if isinstance(approximation, Approximation):
            raise
        raise InputError(f"{error}; X and y go to Approximation.of_landmarks first") from None
    if not isinstance(approximation, Approximation):
        what = brief(approximation)
        raise InputError(f"an Approximation is needed, not {what}: see Approximation.of_landmarks")
