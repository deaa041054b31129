"""SAUC-SVM in Woodbury kernel form: the deformed kernel, as printed and made right.

With R the class-centring matrix [SAUC, eq. (15)], the structured machine is a plain one with

    G(x, z) = k(x, z) - structure k(x, S) R (R + structure R K R)^- R k(S, z),

[SAUC, eq. (17), eq. (19)] for any generalised inverse. `structure` is the paper's lambda, and K its
K~ of all rows. With A the signed incidence of pairs and rows, its K^+ - K^- is A K~ and its K of
pairs A K~ A', so that the matrix of (19) is A G A'. The inverse printed there never exists, since R
is singular. Four routes to the same G, for teaching and for checking one another:

* "root": R^{1/2} (I + structure R^{1/2} K R^{1/2})^{-1} R^{1/2}, eigenvalues >= 1: the one to use;
* "pinv": the pseudo-inverse;
* "direct": (I + structure Sigma)^{-1} on explicit features, [SAUC, eq. (8)];
* "inv": as printed. It divides by rounding errors; only behind `paper_literal=True`.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..errors import InputError
from ..spaces.kernel import Kernel
from .scatter import ClassScatter, Scatter, check_structure

ROUTES = ("root", "pinv", "inv")


def class_scatter(positive: np.ndarray) -> ClassScatter:
    """Return R of all pairs without row weights. [SAUC, eq. (15)]"""
    n_pos = int(positive.sum())
    n_neg = positive.size - n_pos
    return ClassScatter(positive, np.full(n_pos, 1 / n_pos), np.full(n_neg, 1 / n_neg))


def middle(
    K: np.ndarray,
    scatter: Scatter,
    structure: float,
    route: str = "root",
    paper_literal: bool = False,
) -> np.ndarray:
    """Return structure R (R + structure R K R)^- R, the matrix between the kernels of G.

    [SAUC, eq. (16), eq. (17)]
    """
    structure = check_structure(structure)
    if route not in ROUTES:
        raise InputError(f"unknown route {route!r}: choose one of {', '.join(ROUTES)}")
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
        raise InputError(
            "R + structure R K R is singular for every kernel: "
            "the printed inverse is only to be had with paper_literal=True"
        )
    return structure * R @ inverse @ R


def deformed_gram(
    K: np.ndarray,
    scatter: Scatter,
    structure: float,
    route: str = "root",
    paper_literal: bool = False,
) -> np.ndarray:
    """Return G (n, n) on the training rows: [SAUC, eq. (17), eq. (18), eq. (19)].

    Differs from the paper: 1. a root or pseudo-inverse where the printed inverse does not exist.
    2. Formed from n x n matrices; from the pair matrices K^+ - K^- it would cost O(n^5).
    """
    if route == "root":
        structure = check_structure(structure)
        half = _half(K, scatter, structure, K)  # fewer digits cancel than with `middle`
        G = K - structure * half.T @ half
    else:
        G = K - K @ middle(K, scatter, structure, route, paper_literal) @ K
    return (G + G.T) / 2


def _half(K: np.ndarray, scatter: Scatter, structure: float, right: np.ndarray) -> np.ndarray:
    """Return L^{-1} Q'right with Q Q' = R and L L' = I + structure Q'K Q."""
    Q = scatter.root()
    M = np.eye(Q.shape[1]) + structure * Q.T @ K @ Q
    lower = scipy.linalg.cholesky((M + M.T) / 2, lower=True)
    return scipy.linalg.solve_triangular(lower, Q.T @ right, lower=True)


def direct_gram(features: np.ndarray, scatter: Scatter, structure: float) -> np.ndarray:
    """Return G = F (I + structure Sigma)^{-1} F' from explicit features (n, r).

    [SAUC, eq. (8), eq. (14)], Sigma = F'R F.
    """
    Sigma = features.T @ scatter.times(features)
    return features @ np.linalg.solve(np.eye(Sigma.shape[0]) + structure * Sigma, features.T)


def sauc_scores(
    K: np.ndarray,
    columns: np.ndarray,
    beta: np.ndarray,
    scatter: Scatter,
    structure: float,
    paper_literal: bool = False,
) -> np.ndarray:
    """Return the scores of new rows, f(x) = sum_s beta_s G(x_s, x). [SAUC, eq. (20)]

    Differs from the paper: 1. the correction carries a factor `structure`, which (20) lacks: as
    printed it is right at structure = 1 only, and does not reduce to AUC-SVM at 0.
    """
    structure = check_structure(structure)
    if not paper_literal:
        half = _half(K, scatter, structure, np.column_stack([K @ beta, columns]))
        return beta @ columns - structure * half[:, 0] @ half[:, 1:]
    R = scatter.times(np.eye(K.shape[0]))
    inverse = np.linalg.pinv(R + structure * R @ K @ R, hermitian=True, rcond=1e-12)
    return beta @ columns - beta @ K @ R @ inverse @ R @ columns


def literal_pair_kernel(kernel: Kernel, X: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return k(x_i - x_j, x_u - x_v) of all listed pairs, as printed: (m, m). [SAUC, eq. (3)]

    Right for the linear kernel only; the inner product of pair differences is
    k(i, u) - k(i, v) - k(j, u) + k(j, v), see `pair_kernel`.
    """
    differences = X[i] - X[j]
    return kernel(differences, differences)


def pair_kernel(K: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return <k_i - k_j, k_u - k_v> of all listed pairs: (m, m). [SAUC, eq. (3)] made right."""
    rows = K[i] - K[j]
    return rows[:, i] - rows[:, j]
