"""The Nyström approximation of a kernel, as features.

With landmarks z_1 .. z_d, W = k(Z, Z) = U S U' and e(x) = (k(x, z_1), .., k(x, z_d)),

    phi(x) = S_r^(-1/2) U_r' e(x),        K~(x, x') = phi(x)'phi(x') = e(x)'W^+ e(x'),

in the sample and out of it. phi(x) is the orthogonal projection of k(x, .) on the span of the
landmarks, in orthonormal coordinates: a function w'phi lies in the true space with norm |w|, and
K - K~ is positive semidefinite. The loss of the approximation appears only in the dual
(`SpanRows`).

Two departures from print, both against rounding:

1. Eigenvalues up to rcond times the largest are dropped. Otherwise eigenvalues that are nothing
   but rounding would be inverted, and the projection property would fail by percents.
2. Eigenvalues are known to about e = 4 sqrt(d) 2^-53 times the largest. Those that are kept are
   enlarged by e, so that rounding can only shrink phi: |phi(x)|^2 <= k(x, x) and |f| <= |w| hold
   to the last digits. Without this, both can fail by e / rcond, about 1e-3.

The printed map U_r S_r^(-1/2) e does not conform; see E48 and E49 in `docs/errata.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..exact.errors import InputError
from ..exact.estimators.base import (
    AUCClassifier,
    Matrix,
    check_rows,
    draw_seed,
    in_blocks,
    of_numbers,
)
from ..exact.formulation.formulation import true_space
from ..exact.formulation.request import is_dask
from ..exact.problem.problem import Problem
from ..exact.spaces.kernels import KERNELS, Kernel, get_kernel, lengths_of
from ..exact.spaces.rows import Rows, Space, check_matrix
from ..exact.structured import Structured
from ..exact.tools.arrays import as_float64, check_choice, check_count, check_number
from ..exact.tools.rounding import LONG_UNIT, UNIT, Bound, gamma
from ..exact.tools.threads import small_in_one_thread
from .landmarks import LANDMARKS, choose_landmarks

BLOCK_BYTES = 64 * 2**20  # memory that a block of k(X, Z) may take


@dataclass(frozen=True, eq=False)
class NystromMap:
    """The features of given landmarks; itself a kernel, K~. Made by `nystrom_map`."""

    kernel: Kernel
    landmarks: Matrix
    projection: np.ndarray
    eigenvalues: np.ndarray

    @property
    def rank(self) -> int:
        """r, the number of features."""
        return int(self.projection.shape[1])

    def transform(self, X: Any) -> np.ndarray:
        """Return phi of every row: (m, r). [ScalingUp, eq. (11); Nonlinear, Algorithm 1]"""
        features = np.empty((X.shape[0], self.rank))
        for rows in self.blocks(X.shape[0]):
            features[rows] = self.kernel(X[rows], self.landmarks) @ self.projection
        return features

    def blocks(self, n: int) -> Iterator[slice]:
        """Yield slices of n rows whose kernel values take little memory."""
        step = max(1, BLOCK_BYTES // (8 * self.projection.shape[0]))
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return K~(x, z) for all rows of both: (m, k)."""
        return self.transform(X) @ self.transform(Z).T

    def diagonal(self, X: Any) -> np.ndarray:
        """Return K~(x, x) = |phi(x)|^2 for every row: (m,)."""
        features = self.transform(X)
        return np.einsum("ij,ij->i", features, features)

    def residual(self, X: Any) -> np.ndarray:
        """Return k(x, x) - K~(x, x) >= 0, what the landmarks do not span of each row: (m,)."""
        return np.maximum(self.kernel.diagonal(X) - self.diagonal(X), 0.0)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return theta (d,) with w'phi = sum_k theta_k k(., z_k)."""
        return self.projection @ w


def nystrom_map(kernel: Kernel, landmarks: Any, rcond: float = 1e-12) -> NystromMap:
    """Return the Nyström features of these landmarks.

    [ScalingUp, eq. (11); Nonlinear, Section 3.2]

    Parameters
    ----------
    kernel : Kernel
    landmarks : array or CSR (d, p)
        Any points, repeated ones included.
    rcond : float
        In (0, 1): eigenvalues of k(Z, Z) up to rcond times the largest are dropped. A function
        loses at most sqrt(rcond * largest) |f| by it at a landmark. Below about 1e-14 the
        eigenvalues are rounding only.

    Raises
    ------
    InputError
        If the landmarks are not a finite matrix, or the kernel is zero or not finite on them.
    """
    points = check_matrix(landmarks, "landmarks")
    check_number("rcond", rcond, 0.0, 1.0)
    gram = kernel(points, points)
    if not np.isfinite(gram).all():
        raise InputError("the kernel is not finite on the landmarks: rescale the data")
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    top = float(values[-1])
    if not top > 0:
        raise InputError("the kernel is zero on every landmark: they span nothing")
    kept = np.flatnonzero(values > rcond * top)[::-1]
    doubt = 4 * np.sqrt(values.size) * UNIT * top
    projection = vectors[:, kept] / np.sqrt(values[kept] + doubt)
    return NystromMap(kernel, points, np.ascontiguousarray(projection), values[kept])


class SpanRows(Rows):
    """Functions in the span of the landmarks, judged in the TRUE space.

    Coordinates w mean theta'k(., Z), theta = projection w. Bounds include the rounding of kernel
    values, at most noise sum_k |theta_k| r_k times r_i, r the roots of k(x, x). The dual's norm is
    measured with the true kernel on all rows.
    """

    def __init__(self, features: np.ndarray, truth: Space, found: NystromMap, X: Any):
        super().__init__(features)
        if truth.n != self.n:
            raise InputError(f"{self.n} rows of features, but {truth.n} rows of the kernel")
        if found.rank != self.dim:
            raise InputError(f"{self.dim} features, but the map makes {found.rank}")
        self.truth, self.found, self.rows_of_x = truth, found, X
        self.reach = truth.reach
        kernel, points = found.kernel, found.landmarks
        self.span = true_space(kernel, points)
        self.lengths, self.own_lengths = lengths_of(kernel, points), lengths_of(kernel, X)
        self.noise = max(kernel.noise(points), kernel.noise(X))

    def _coefficients(self, w: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return theta in the long format, sum |theta_k| r_k, and the same sum of its errors."""
        P, long = self.found.projection, w.astype(np.longdouble)
        theta = (P.astype(np.longdouble) * long).sum(axis=1)
        size = float((np.abs(P) @ np.abs(w)) @ self.lengths) * (1 + gamma(2 * sum(P.shape)))
        mass = float(np.abs(theta) @ self.lengths) * (1 + gamma(P.shape[0] + 4))
        return theta, mass, gamma(self.dim + 2, LONG_UNIT) * size

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return theta'k(x_i, Z) in the long format, and a bound of its error: (n,) each."""
        theta, mass, slip = self._coefficients(w)
        scores = np.empty(self.n, dtype=np.longdouble)
        for some in self.found.blocks(self.n):
            values = self.found.kernel(self.rows_of_x[some], self.found.landmarks)
            scores[some] = values.astype(np.longdouble) @ theta
        sums = gamma(theta.size + 2, LONG_UNIT) * mass + slip
        error = self.noise * (mass + slip) + (1 + self.noise) * sums
        return scores, error * self.own_lengths * (1 + gamma(16))

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return theta'k(x_i, Z): (n,)."""
        return self.careful_scores(w)[0].astype(float)

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return a bound of the error of each score: (n,)."""
        scores, error = self.careful_scores(w)
        return error + 2 * UNIT * np.abs(scores).astype(float)

    def score_slip(self, w: np.ndarray) -> float:
        """Return the largest of `score_error`."""
        return float(self.score_error(w).max())

    def norm2(self, w: np.ndarray) -> float:
        """Return theta'k(Z, Z) theta."""
        return self.span.norm2(self._coefficients(w)[0].astype(float))

    def norm2_error(self, w: np.ndarray) -> float:
        """Return the bound for theta as it is held, and for what that is off by."""
        theta, mass, slip = self._coefficients(w)
        short = theta.astype(float)
        error, moved = self.span.norm2_error(short), slip + 2 * UNIT * mass
        length = float(np.sqrt(self.span.norm2(short) + error))
        return (error + moved * (2 * length + moved)) * (1 + gamma(16))

    def dual_norm2(self, c: np.ndarray) -> Bound:
        """Return c'K c with the true K."""
        return self.truth.dual_norm2(c)


def against_true_kernel(problem: Problem, features: NystromMap, X: object) -> Problem:
    """Return the problem of the same functions, certified against the true kernel.

    Weights w mean the function sum_k theta_k k(., z_k), theta = `features.coefficients(w)` in exact
    arithmetic. A large theta (eigenvalues near rounding, a tiny lam) multiplies the errors of the
    kernel values, and so the rounding of the certificate.

    Parameters
    ----------
    problem : Problem
        Over `Rows` of Nyström features of X, or those in SAUC's norm, `Structured`: then the
        optimum meant is that of SAUC-SVM with the true kernel. [SAUC, eq. (12)]
    features : NystromMap
        What made the features: `nystrom_map(...)`, or `Nystrom.map_`.
    X : array or CSR (n, p)
        The rows. Their Gram matrix is held for a few thousand of them, else made in blocks each
        time it is needed: O(n^2 p) operations.

    Raises
    ------
    InputError
        If the problem is not over rows of such features, or X has another number of rows.
    """
    if not isinstance(features, NystromMap):
        raise InputError("give the map that made the features: nystrom_map(...) or Nystrom.map_")
    space = problem.space
    base = space.unstructured.held
    if base is None or base.is_sparse:
        raise InputError("the problem must be over the rows of Nyström features")
    rows = check_matrix(X)
    span = SpanRows(np.asarray(base.X), true_space(features.kernel, rows), features, rows)
    if not isinstance(space, Structured):
        return problem.over(span)
    return problem.over(Structured(span, space.scatter, space.structure))


@dataclass(eq=False, repr=False)
class Nystrom(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Nyström features as a scikit-learn transformer.

    [ScalingUp, eq. (11), eq. (12); Nonlinear, Algorithm 1]. A linear model on the features is the
    kernel model restricted to the span of the landmarks.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "linear"}
    gamma : float, optional
        > 0; 1 / n_features by default. On standardised columns that is also the choice of
        [Nonlinear, Section 5.2], if its Gaussian is exp(-d^2 / bandwidth).
    n_landmarks : int
        At most this many. With as many as rows, all rows are landmarks, which is exact.
    landmarks : {"uniform", "stratified", "kmeans", "pivoted", "leverage"}
        How to choose them, see `landmarks.py`; "stratified" needs y in `fit`.
    rcond : float
        In (0, 1), the relative cut-off for eigenvalues, see `nystrom_map`.
    random_state : int, RandomState or None

    Attributes
    ----------
    map_ : NystromMap
    landmarks_ : array or CSR (d, n_features_in_)
    landmark_indices_ : int array (d,) or None
        Which rows they are; None for "kmeans", and for dask collections.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    kernel: str = "rbf"
    _: KW_ONLY
    gamma: float | None = None
    n_landmarks: int = 100
    landmarks: str = "uniform"
    rcond: float = 1e-12
    random_state: int | np.random.RandomState | None = None

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail, and why: none; see `ROCSVM`."""
        return {}

    @small_in_one_thread
    def fit(self, X: object, y: object = None) -> Self:
        """Choose the landmarks and make the map.

        Parameters
        ----------
        X : array or sparse matrix (n, d), or a dask array or dataframe
            From a dask collection they are chosen from a sample of 20 rows per landmark, which
            depends on `random_state` but not on how X is cut.
        y : array (n,), optional
            Labels; used by "stratified" only, which dask collections do not have.

        Raises
        ------
        InputError
            If a parameter cannot be used.
        """
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("landmarks", self.landmarks, LANDMARKS)
        check_count("n_landmarks", self.n_landmarks)
        rows = landmark_sample(self, X) if is_dask(X) else check_rows(self, X)
        kernel = get_kernel(self.kernel, self.gamma, rows.shape[1])
        wanted, seed = min(int(self.n_landmarks), rows.shape[0]), draw_seed(self.random_state)
        chosen = choose_landmarks(self.landmarks, rows, wanted, kernel, y, seed)
        self.landmarks_ = chosen.rows
        self.landmark_indices_ = None if is_dask(X) else chosen.index
        self.map_ = nystrom_map(kernel, chosen.rows, self.rcond)
        self._n_features_out = self.map_.rank
        return self

    def transform(self, X: object) -> np.ndarray:
        """Return the features: (m, r).

        Parameters
        ----------
        X : array or sparse matrix (m, n_features_in_), or a dask array or dataframe
            For a dask collection the features are a dask array, computed by the workers.
        """
        check_is_fitted(self)
        if is_dask(X):
            blocks = in_blocks(X, self.n_features_in_, getattr(self, "feature_names_in_", None))
            chunks, scored = (blocks.chunks[0], (self.map_.rank,)), self.map_.transform
            return blocks.map_blocks(partial(of_numbers, scored), chunks=chunks, dtype=float)
        return self.map_.transform(check_rows(self, X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.landmarks == "stratified"
        return tags


def drawn_rows(X: Any, size: int, seed: int) -> np.ndarray:
    """Return about `size` rows of a collection, drawn evenly and computed: (m, d)."""
    blocks = in_blocks(X)
    if np.isnan(blocks.shape[0]):
        blocks = blocks.copy().compute_chunk_sizes()
    n = int(blocks.shape[0])
    if n == 0:
        raise InputError("X has no rows")
    if size < n:
        drawn = np.random.default_rng(seed).choice(n, size=size, replace=False, shuffle=False)
        blocks = blocks[np.sort(drawn)]
    return as_float64(blocks.compute(), "X", "a matrix of numbers")


SAMPLED, LEAST_SAMPLE = 20, 5000  # rows to choose in: so many for each landmark, and at least


def landmark_sample(model: Any, X: Any) -> np.ndarray:
    """Return a sample of a collection's rows, and name the columns of the transformer."""
    if model.landmarks == "stratified":
        raise InputError(
            "stratified landmarks need the labels of the rows in memory: with dask choose another "
            "rule, or fit on a sample"
        )
    size = max(SAMPLED * int(model.n_landmarks), LEAST_SAMPLE)
    rows = drawn_rows(X, size, draw_seed(model.random_state))
    check_rows(model, rows)
    names = list(getattr(X, "columns", ()))
    if names and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.array(names, dtype=object)
    return rows


@dataclass(eq=False, repr=False)
class NystromClassifier(AUCClassifier):
    """Base of the classifiers that are linear in Nyström features. [Nonlinear, Algorithm 1]"""

    _: KW_ONLY
    kernel: str = "rbf"
    gamma: float | None = None
    rcond: float = 1e-12
    random_state: int | np.random.RandomState | None = None

    def _fit_map(self, rows: Matrix, positive: np.ndarray, **chosen: Any) -> np.ndarray:
        """Choose the landmarks, set `nystrom_`, and return the features of the rows: (n, r)."""
        self.nystrom_ = Nystrom(self.kernel, gamma=self.gamma, rcond=self.rcond, **chosen)
        return self.nystrom_.fit(rows, positive).map_.transform(rows)

    def _set_function(
        self, w: np.ndarray, rows: Matrix, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        """Set `dual_coef_` and what `_set_weights` sets, for weights `w` of the features."""
        self.dual_coef_ = self.nystrom_.map_.coefficients(w).reshape(1, -1)
        self._set_weights(w, rows, positive, weight)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._shapes(), "coef_": (1, self.nystrom_.map_.rank)}

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        return self.nystrom_.map_.transform(X) @ self.coef_[0]
