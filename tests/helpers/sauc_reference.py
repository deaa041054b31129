"""Kernel and structured problems by their definitions: features of K, class covariances, CVXPY.

Nothing of the library's kernels, factors, structure or solvers is used here: kernels are written
out, features come from the eigenvectors of the centred kernel matrix, the structure is an
explicit covariance, and the primal goes to CVXPY over explicit pair differences.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.nearest_pairs import nearest_pairs

KINDS = (
    "gaussian",
    "separable",
    "integers",
    "duplicates",
    "one_positive",
    "one_negative",
    "constant",
    "wide",
    "offset",
    "conflicting",
)
"""Kinds of rows; seed k has kind k modulo their number."""

KERNELS = ("rbf", "laplacian", "linear", "precomputed")


@dataclass(frozen=True, eq=False)
class KernelCase:
    """One problem: the arguments of `formulate`, the true kernel matrix, a name for messages."""

    X: np.ndarray
    y: np.ndarray
    K: np.ndarray
    lam: float
    loss: str
    kernel: str
    gamma: float | None
    structure: float
    source: str
    pairs: AllPairs | PairList
    name: str

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        return self.y == 1


def kernel_case(seed: int) -> KernelCase:
    """Return the problem of that seed: n 3..70, lam 1e-4..10, structure 0 or 1e-3..1e3."""
    rng = np.random.default_rng([31415, seed])
    kind, kernel = KINDS[seed % len(KINDS)], KERNELS[(seed // len(KINDS)) % len(KERNELS)]
    y = _labels(rng, kind)
    X = _rows(rng, kind, y)
    gamma = float(10.0 ** rng.uniform(-1.5, 0.5)) if kernel in ("rbf", "laplacian") else None
    if kernel == "precomputed":
        basis = rng.normal(size=(y.size, int(rng.integers(1, max(2, y.size // 2)))))
        X = basis @ basis.T if rng.integers(2) else X @ X.T
    K = X if kernel == "precomputed" else true_kernel(X, kernel, gamma)
    lam, structure = float(10.0 ** rng.uniform(-4, 1)), 0.0
    if rng.uniform() < 0.65:
        structure = float(10.0 ** rng.uniform(-3, 3))
    loss = "squared_hinge" if seed % 4 == 3 else "hinge"
    pairs = _pairs(rng, X, y == 1)
    source = "sampled" if rng.uniform() < 0.4 else "full"
    name = (
        f"seed {seed}: {kind}, {kernel}, {loss}, n {y.size}, lam {lam:.1e}, "
        f"structure {structure:.1e} ({source}), {type(pairs).__name__}"
    )
    return KernelCase(X, y, K, lam, loss, kernel, gamma, structure, source, pairs, name)


def _labels(rng: np.random.Generator, kind: str) -> np.ndarray:
    n = int(np.exp(rng.uniform(np.log(3), np.log(71))))
    n_pos = int(rng.integers(1, n))
    n_pos = {"one_positive": 1, "one_negative": n - 1}.get(kind, n_pos)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[:n_pos]] = 1
    return y


def _rows(rng: np.random.Generator, kind: str, y: np.ndarray) -> np.ndarray:
    n = y.size
    d = n + int(rng.integers(1, 6)) if kind == "wide" else int(rng.integers(1, 6))
    shift = 4.0 if kind == "separable" else rng.uniform(0, 1.5)
    X = rng.normal(size=(n, d)) + shift * y[:, None] / np.sqrt(d)
    if kind == "integers":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), size=n)]
    elif kind == "constant":
        X[:, rng.integers(0, d)] = 3.0
    elif kind == "offset":
        X = X + 100.0
    elif kind == "conflicting":  # the same row in both classes
        X[np.flatnonzero(y == 1)[0]] = X[np.flatnonzero(y == 0)[0]]
    return X


def _pairs(rng: np.random.Generator, X: np.ndarray, positive: np.ndarray) -> AllPairs | PairList:
    choice = rng.uniform()
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if choice < 0.5:
        return AllPairs()
    if choice < 0.65:
        weight = rng.integers(0, 4, size=positive.size).astype(float)
        weight[plus[0]] = weight[minus[0]] = 1.5
        return AllPairs(weight)
    if choice < 0.8:
        return nearest_pairs(X, positive, int(rng.integers(1, 4)))
    m = int(rng.integers(1, 120))
    return PairList(rng.choice(plus, m), rng.choice(minus, m))


def true_kernel(X: np.ndarray, kernel: str, gamma: float | None) -> np.ndarray:
    """Return k(x_i, x_j) of all rows, from their differences."""
    if kernel == "linear":
        X = X - X.mean(axis=0)  # a common offset cancels in every pair, but not in rounding
        return X @ X.T
    assert gamma is not None
    apart = X[:, None, :] - X[None, :, :]
    if kernel == "rbf":
        return np.exp(-gamma * (apart**2).sum(axis=2))
    return np.exp(-gamma * np.abs(apart).sum(axis=2))


def features_of(K: np.ndarray) -> np.ndarray:
    """Return F (n, r) with F F' the centred kernel matrix, from its eigenvectors."""
    H = np.eye(len(K)) - 1 / len(K)
    values, vectors = np.linalg.eigh(H @ K @ H)
    kept = values > 1e-13 * max(values.max(), 1e-300) * len(K)
    return vectors[:, kept] * np.sqrt(values[kept])


def listed(case: KernelCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return i, j and c of every pair, the c adding up to one."""
    if isinstance(case.pairs, PairList):
        return case.pairs.i, case.pairs.j, case.pairs.c
    weight = np.ones(case.y.size) if case.pairs.weight is None else case.pairs.weight
    plus, minus = np.flatnonzero(case.positive), np.flatnonzero(~case.positive)
    i, j = np.repeat(plus, minus.size), np.tile(minus, plus.size)
    c = weight[i] * weight[j]
    return i, j, c / c.sum()


def deviations(F: np.ndarray, case: KernelCase) -> np.ndarray:
    """Return D with D'D = Sigma: the two class covariances, or that of the listed differences."""
    if case.source == "sampled" and isinstance(case.pairs, PairList):
        i, j, c = listed(case)
        apart = F[i] - F[j]
        return np.sqrt(c)[:, None] * (apart - c @ apart)
    weight = np.ones(case.y.size)
    if isinstance(case.pairs, AllPairs) and case.pairs.weight is not None:
        weight = case.pairs.weight
    parts = []
    for side in (case.positive, ~case.positive):
        share = weight[side] / weight[side].sum()
        parts.append(np.sqrt(share)[:, None] * (F[side] - share @ F[side]))
    return np.vstack(parts)


def reference_value(case: KernelCase) -> float:
    """Return the objective where CVXPY (Clarabel) ends, computed anew: >= the optimum."""
    F = features_of(case.K)
    unit = max(float(np.sqrt((F**2).sum(axis=1).mean())), 1e-12) if F.size else 1.0
    if F.shape[1] == 0:
        return 1.0
    F, lam = F / unit, case.lam / unit**2
    i, j, c = listed(case)
    apart, spread = F[i] - F[j], deviations(F, case)
    # The structure was stated in the given unit, where Sigma is unit^2 times as large.
    structure = case.structure * unit**2

    def value(w: np.ndarray) -> float:
        z = np.maximum(1 - apart @ w, 0)
        loss = float(c @ (z if case.loss == "hinge" else z**2))
        return loss + lam / 2 * float(w @ w + structure * np.sum((spread @ w) ** 2))

    best, top = value(np.zeros(F.shape[1])), 1.0
    for _ in range(3):
        w = cp.Variable(F.shape[1])
        short = cp.pos(1 - apart @ w)
        mean = c @ short if case.loss == "hinge" else cp.sum_squares(cp.multiply(np.sqrt(c), short))
        norm2 = cp.sum_squares(w) + cp.sum_squares(np.sqrt(structure) * spread @ w)
        best = min(best, _minimum((mean + lam / 2 * norm2) / top, w, value))
        if best > 0.1 * top:
            break
        top = max(best, 1e-13)
    return best


def _minimum(objective: cp.Expression, w: cp.Variable, value) -> float:
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_threads": 1}
    try:
        with warnings.catch_warnings():  # "may be inaccurate": the value is computed anew anyway
            warnings.simplefilter("ignore", UserWarning)
            cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, **tight)
    except cp.SolverError:
        return np.inf
    return np.inf if w.value is None else value(np.asarray(w.value))
