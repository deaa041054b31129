"""The convergence theorem of stochastic hard thresholding for AUC [SHT, Theorem 1], as a bound.

The losses of the blocks are f_i(w) = w'M_i w - 2 w'delta + 1, with Hessian 2 M_i, and F is their
mean. The theorem needs restricted eigenvalues over all supports of s = 2k + k* features; these are
found here by trying all supports, never by a search: the smallest value met by a search would not
be a bound.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.checks import check_choice, check_count
from ..extremes import highest, lowest
from .printed import IN_FLOATS, Bound
from .restricted_constants import (
    RestrictedConstants,
    check_blocks,
    restricted_constants_exact,
)


def nu_printed(k: int, k_star: int) -> float:
    """Return nu = 1 + k*/k + sqrt(k*/k) as the theorem displays it. [SHT, Theorem 1]"""
    return 1 + k_star / k + math.sqrt(k_star / k)


def nu_lemma2(k: int, k_star: int, d: int) -> float:
    """Return the 1 + nu of [SHT, Lemma 2], which is what the proof uses.

    nu = (mu + sqrt((4 + mu) mu)) / 2 with mu = min(k*, d - k) / (k - k* + min(k*, d - k)); at most
    `nu_printed`. 1, no growth at all, where k >= d.
    """
    left = lowest(k_star, d - k)
    mu = left / (k - k_star + left) if left > 0 else 0.0
    return 1 + (mu + math.sqrt((4 + mu) * mu)) / 2


def least_sparsity(rho: float, k_star: int, nu: str = "lemma2") -> float:
    """Return the number that k must exceed for kappa < 1, in the given reading of nu.

    "lemma2": (rho^2 - rho) k*, the printed condition, exact where d - k >= k*. "printed": with the
    displayed nu, sqrt(k*/k) must be below (sqrt(1 + 4/(rho - 1)) - 1) / 2.
    """
    check_choice("nu", nu, ("printed", "lemma2"))
    if rho <= 1 or math.isinf(rho):
        return 0.0 if rho <= 1 else math.inf
    if nu == "lemma2":
        return rho * (rho - 1) * k_star
    return k_star * (2 / (math.sqrt(1 + 4 / (rho - 1)) - 1)) ** 2


def sht_theorem1(
    M_blocks: np.ndarray,
    delta: np.ndarray,
    w_star: np.ndarray,
    w0: np.ndarray,
    k: int,
    n_iter: int,
    *,
    nu: str = "printed",
    constants: RestrictedConstants | None = None,
    left_side: float | None = None,
) -> Bound:
    """Return the bound of E |w_t - w*| after t iterations with step 1/rho+. [SHT, Theorem 1]

        kappa^t |w_0 - w*| + sigma / (1 - kappa),    kappa = sqrt(nu (1 - 1/rho)),
        sigma = sqrt(nu) / rho+ mean_i |H_s(gradient of f_i at w*)|,    s = 2k + k*.

    [SHT, eq. (9), eq. (10), eq. (11)]. From one step to the next,
    E |w_(t+1) - w*| <= kappa E |w_t - w*| + sigma holds for any kappa; both are in `quantities`.

    Differs from the paper: 1. The printed condition k > (rho^2 - rho) k* belongs to nu = "lemma2",
    which the proof uses, and not to the displayed nu, which is larger: see E35 in
    `docs/errata.md`. Where kappa >= 1 the bound is infinite, although the condition may hold says.

    Parameters
    ----------
    M_blocks : array (m, d, d)
        From `aucert.validation.bounds.restricted_constants.block_matrices`; the blocks are
        drawn uniformly.
    delta : array (d,)
        Difference of the class means.
    w_star : array (d,)
        Any vector with k* <= k nonzeros; the bound tends to a tolerance, not to it.
    w0 : array (d,)
        The start, at most k nonzeros.
    k : int
        Features that are kept.
    n_iter : int
        t >= 0.
    nu : {"printed", "lemma2"}
    constants : RestrictedConstants, optional
        Of s = 2k + k*; found by enumeration if not given.
    left_side : float, optional
        The mean of |w_t - w*| over runs.

    Returns
    -------
    Bound
        Terms "start" and "tolerance". It is vacuous from |w_0 - w*| on, which costs no iteration.

    Raises
    ------
    InputError
        If the sizes do not fit, or k < k*.
    TooLargeError
        If there are too many supports.
    """
    check_choice("nu", nu, ("printed", "lemma2"))
    M_blocks = check_blocks(M_blocks)
    d = M_blocks.shape[1]
    vectors = [np.asarray(v, dtype=float) for v in (delta, w_star, w0)]
    if any(v.shape != (d,) or not np.isfinite(v).all() for v in vectors):
        raise InputError(f"delta, w_star and w0 must each be {d} finite numbers")
    delta, w_star, w0 = vectors
    k, k_star = check_count("k", k), highest(int(np.count_nonzero(w_star)), 1)
    if k < k_star or np.count_nonzero(w0) > k:
        raise InputError(f"k = {k} must be at least the nonzeros of w_star and of w0")
    t, s = check_count("n_iter", n_iter, 0), lowest(2 * k + k_star, d)
    constants = constants or restricted_constants_exact(M_blocks, s)
    if constants.s != s:
        raise InputError(f"the constants are for s = {constants.s}; s = 2k + k* = {s} is needed")
    if not constants.plus > 0:
        raise InputError("rho+ must be > 0: the blocks have no curvature")
    factor = nu_printed(k, k_star) if nu == "printed" else nu_lemma2(k, k_star, d)
    kappa = math.sqrt(factor * highest(1 - 1 / constants.ratio, 0.0))
    gradients = 2 * (M_blocks @ w_star - delta)
    largest = np.sort(np.abs(gradients), axis=1)[:, d - s :]
    sigma = math.sqrt(factor) / constants.plus * float(np.linalg.norm(largest, axis=1).mean())
    start = float(np.linalg.norm(w0 - w_star))
    tolerance = sigma / (1 - kappa) if kappa < 1 else math.inf
    needed = least_sparsity(constants.ratio, k_star)
    verdict = "holds" if k > needed else "does not hold"
    return Bound(
        f"SHT Theorem 1, {nu} nu",
        {"start": kappa**t * start if kappa < 1 else math.inf, "tolerance": tolerance},
        left_side,
        limit=start,
        at_least=kappa**t * start + tolerance if kappa < 1 else math.inf,
        quantities={
            "kappa": kappa,
            "sigma": sigma,
            "nu": factor,
            "rho-": constants.minus,
            "rho+": constants.plus,
            "rho": constants.ratio,
            "step": 1 / constants.plus,
            "k needed": needed,
        },
        notes=(f"k = {k} > (rho^2 - rho) k* = {needed:.3g} {verdict}", IN_FLOATS),
    )
