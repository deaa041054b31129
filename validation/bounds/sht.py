"""The convergence theory of stochastic hard thresholding for AUC [SHT], as bounds.

The losses of the blocks are f_i(w) = w'M_i w - 2 w'delta + 1, F is their mean, and [SHT, Assumption
1, Assumption 2] speak of

    rho-_s = 2 min over |S| = s of the least eigenvalue of the mean (M)_SS,
    rho+_s = 2 max over i and |S| = s of the largest eigenvalue of (M_i)_SS.

All supports are tried: the least value that a search met is not a lower bound of rho-.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...exact.errors import InputError, TooLargeError
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.arrays import check_choice, check_count, check_number
from ..extremes import highest, lowest
from .printed import IN_FLOATS, Bound

MOST = 300_000  # Most eigenvalue problems that `restricted_constants_exact` solves.
_CHUNK = 4096
NUS = ("printed", "lemma2")
FORMS = ("printed", "corrected")


@dataclass(frozen=True)
class RestrictedConstants:
    """rho-_s and rho+_s. [SHT, Assumption 1, Assumption 2, eq. (7), eq. (8)]"""

    s: int
    minus: float
    plus: float

    @property
    def ratio(self) -> float:
        """rho_s = rho+ / rho-, infinite where rho- is not positive."""
        return self.plus / self.minus if self.minus > 0 else math.inf


def centred_rows(block: RowAverage) -> np.ndarray:
    """Return the rows less the mean of their class: (n, d)."""
    return np.asarray(block.X - block.means[block.positive.astype(int)])


def block_matrices(blocks: Sequence[RowAverage]) -> np.ndarray:
    """Return the M_i of blocks, half of their Hessians: (m, d, d). [SHT, Prop. 1]"""
    found = []
    for block in blocks:
        rows = centred_rows(block)
        M = (rows.T * block.mass) @ rows + np.outer(block.delta, block.delta)
        found.append(M + block.lam / 2 * np.eye(block.dim))
    return np.stack(found)


def supports(d: int, s: int) -> np.ndarray:
    """Return all choices of s of d features: (count, s)."""
    return np.array(list(itertools.combinations(range(d), s)))


def restricted_constants_exact(M_blocks: np.ndarray, s: int) -> RestrictedConstants:
    """Return rho-_s and rho+_s by trying every support of s features."""
    M_blocks = check_blocks(M_blocks)
    m, d, _ = M_blocks.shape
    s = lowest(check_count("s", s), d)
    if math.comb(d, s) * (m + 1) > MOST:
        many = f"{math.comb(d, s)} supports of {s} of {d} features in {m} blocks"
        do = "keep fewer features or blocks (a search would give no bound)"
        raise TooLargeError(f"{many} are too many to try: {do}")
    mean, tried = M_blocks.mean(axis=0), supports(d, s)
    least, largest = math.inf, 0.0
    for some in np.array_split(tried, -(-len(tried) // _CHUNK)):
        inside = some[:, :, None], some[:, None, :]
        least = lowest(least, float(np.linalg.eigvalsh(mean[inside])[:, 0].min()))
        for M in M_blocks:
            largest = highest(largest, float(np.linalg.eigvalsh(M[inside])[:, -1].max()))
    rounding = s * np.finfo(float).eps * largest
    return RestrictedConstants(s, 2 * least if least > rounding else 0.0, 2 * largest)


def largest_restricted(M: np.ndarray, s: int) -> float:
    """Return an upper bound of the largest eigenvalue of M_SS over all S of s features: the least
    of the largest eigenvalue of M, the sum of the s largest diagonal entries (the trace of M_SS)
    and the largest sum of s absolute values in one row (the norm of M_SS)."""
    s = lowest(check_count("s", s), len(M))
    whole = float(np.linalg.eigvalsh(M)[-1])
    trace = float(np.sort(np.diag(M))[len(M) - s :].sum())
    row = float(np.sort(np.abs(M), axis=1)[:, len(M) - s :].sum(axis=1).max())
    rounding = 64 * len(M) * np.finfo(float).eps * float(np.abs(M).sum(axis=1).max())
    return lowest(whole, trace, row) + rounding  # generously


def check_blocks(M_blocks: np.ndarray) -> np.ndarray:
    M = np.asarray(M_blocks, dtype=float)
    if M.ndim != 3 or M.shape[1] != M.shape[2] or 0 in M.shape:
        raise InputError(f"the blocks' matrices must have shape (m, d, d), not {M.shape}")
    if not np.isfinite(M).all() or not np.allclose(M, M.transpose(0, 2, 1)):
        raise InputError("the blocks' matrices must be finite and symmetric")
    return M


def nu_printed(k: int, k_star: int) -> float:
    """Return nu = 1 + k*/k + sqrt(k*/k) as the theorem displays it. [SHT, Theorem 1]"""
    return 1 + k_star / k + math.sqrt(k_star / k)


def nu_lemma2(k: int, k_star: int, d: int) -> float:
    """Return 1 + (mu + sqrt((4 + mu) mu)) / 2 with mu = min(k*, d - k) / (k - k* + min(k*, d - k)),
    the 1 + nu of [SHT, Lemma 2], which the proof uses: at most `nu_printed`, 1 for k >= d."""
    left = lowest(k_star, d - k)
    mu = left / (k - k_star + left) if left > 0 else 0.0
    return 1 + (mu + math.sqrt((4 + mu) * mu)) / 2


def least_sparsity(rho: float, k_star: int, nu: str = "lemma2") -> float:
    """Return the number that k must exceed for kappa < 1. With nu = "lemma2" it is (rho^2 - rho)
    k*, the printed condition, exact where d - k >= k*. With the displayed nu, sqrt(k*/k) must be
    below (sqrt(1 + 4/(rho - 1)) - 1) / 2."""
    check_choice("nu", nu, NUS)
    q = highest(rho - 1, 0.0)
    return k_star * (rho * q if nu == "lemma2" else ((q + math.sqrt(q * (q + 4))) / 2) ** 2)


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

    [SHT, eq. (9), eq. (10), eq. (11)]. The terms are "start" and "tolerance"; a bound of
    |w_0 - w*|, which costs no iteration, is vacuous. For any kappa, each step has
    E |w_(t+1) - w*| <= kappa E |w_t - w*| + sigma; both are in `quantities`.

    Differs from the paper: 1. The printed condition k > (rho^2 - rho) k* belongs to nu = "lemma2",
    which the proof uses, and not to the displayed nu, which is larger: see E35 in
    `docs/errata.md`. Where kappa >= 1 the bound is infinite, although the condition may hold.

    Parameters
    ----------
    M_blocks : array (m, d, d)
        From `block_matrices`; the blocks are drawn uniformly.
    delta, w_star, w0 : array (d,)
        Difference of the class means; any vector with k* <= k nonzeros; the start, at most k.
    k, n_iter : int
        Features that are kept, k >= 1, and t >= 0.
    nu : {"printed", "lemma2"}
    constants : RestrictedConstants, optional
        Of s = 2k + k*; found by enumeration if not given.
    left_side : float, optional
        The mean of |w_t - w*| over runs.

    Raises
    ------
    InputError
        If the sizes do not fit, or k < k*.
    TooLargeError
        If there are too many supports.
    """
    check_choice("nu", nu, NUS)
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
    plus, rho = constants.plus, constants.ratio
    kappa = math.sqrt(factor * highest(1 - 1 / rho, 0.0))
    largest = np.sort(np.abs(2 * (M_blocks @ w_star - delta)), axis=1)[:, d - s :]
    sigma = math.sqrt(factor) / plus * float(np.linalg.norm(largest, axis=1).mean())
    start, needed = float(np.linalg.norm(w0 - w_star)), least_sparsity(rho, k_star)
    left = (kappa**t * start, sigma / (1 - kappa)) if kappa < 1 else (math.inf, math.inf)
    terms = {"start": left[0], "tolerance": left[1]}
    known = {"kappa": kappa, "sigma": sigma, "nu": factor, "rho-": constants.minus, "rho+": plus}
    known |= {"rho": rho, "step": 1 / plus, "k needed": needed}
    said = f"k = {k} > (rho^2 - rho) k* = {needed:.3g} {'holds' if k > needed else 'does not hold'}"
    name, total = f"SHT Theorem 1, {nu} nu", sum(left)
    return Bound(name, terms, left_side, start, total, quantities=known, notes=(said, IN_FLOATS))


# What [SHT, Theorem 2] says of restricted curvature on Gaussian rows, and what is right. Rows of
# both classes are drawn from N(0, Sigma), lam is the least eigenvalue of Sigma^(1/2), r the share
# of positives, and s the size of the supports, 2k + k* in the theorem. rho(Sigma), the largest
# variance, is 1: scale the features.


@dataclass(frozen=True)
class GaussianCurvature(RestrictedConstants):
    """Bounds, rho- from below and rho+ from above, and what (12) squares."""

    base: float
    chance_minus: float
    chance_plus: float


def sht_theorem2(
    n: int, d: int, s: int, r: float, b: int, lam: float = 1.0, form: str = "printed"
) -> GaussianCurvature:
    """Return rho- and rho+ for centred Gaussian rows in blocks of b. [SHT, Theorem 2]

        rho- = (lam/2 - 6 sqrt(2) sqrt(s log d / (r n)))^2 - (32/3) s log d / (r n)    (12)
        rho+ = 16 s log d (log(b)/2 + log d) / r                                       (13)

    [SHT, eq. (12), eq. (13)]

    Differs from the paper with form="corrected": 1. A negative base in (12) gives zero, not its
    square. 2. (13) has log n for log b: the largest of all rows is bounded, not that of one block.
    See E37 and E39 in `docs/errata.md`.
    """
    check_choice("form", form, FORMS)
    n, d, b = check_count("n", n), check_count("d", d, 2), check_count("b", b)
    s = check_count("s", s)
    check_number("r", r, high=0.5, closed="high")
    check_number("lam", lam)
    share, printed = s * math.log(d) / (r * n), form == "printed"
    base = lam / 2 - 6 * math.sqrt(2 * share)
    minus = (base if printed else highest(base, 0.0)) ** 2 - 32 / 3 * share
    plus = 16 * s * math.log(d) * (math.log(b if printed else n) / 2 + math.log(d)) / r
    chances = 1 - math.exp(-r * n / 72) - 2 * s / d, 1 - s / (2 * d)
    return GaussianCurvature(s, minus, plus, base, *chances)


def ratio_coefficients(
    n: int, d: int, s: int, b: int, form: str = "printed"
) -> tuple[float, float, float]:
    """Return a, b, c of rho(r) = 16 / (a r + b sqrt(r) + c), for lam = 1. [SHT, eq. (14)] Differs
    from the paper with form="corrected": the logarithm L = log(b)/2 + log d of the coefficient b
    stands outside the root, as (13) divided by (12) gives. See E40."""
    check_choice("form", form, FORMS)
    log_d, L = math.log(d), math.log(b) / 2 + math.log(d)
    linear = -6 * math.sqrt(2 / (n * s * log_d * (L if form == "printed" else L**2)))
    return 1 / (4 * s * log_d * L), linear, 184 / (3 * n * L)


def least_curvature(
    sizes: Sequence[int], d: int, s: int, lam: float = 1.0, eps: float = 0.05
) -> float:
    """Return a lower bound of rho-_s that holds with probability 1 - 2 eps. [SHT, Theorem 2]

        rho-_s >= 2 lam^2 sum over classes of (m/n_c) ((1 - sqrt(s/m) - sqrt(2 log(N/eps)/m))_+)^2

    with m = n_c - 1 and log N = s log(e d / s). Rows are independent, those of a class N(its mean,
    Sigma), labels fixed. M is at least Sigma+ + Sigma-, so that nothing need be subtracted for the
    means, and the means may be any. A class with s > m adds nothing.
    """
    check_number("eps", eps, high=1.0)
    if not 1 <= s <= d:
        raise InputError(f"s must lie between 1 and d = {d}, not {s}")
    logs = s * math.log(math.e * d / s) + math.log(1 / eps)
    total = 0.0
    for size in sizes:
        m = check_count("a class size", size) - 1
        if m >= s:
            base = 1 - math.sqrt(s / m) - math.sqrt(2 * logs / m)
            total += m / size * highest(base, 0.0) ** 2
    return 2 * lam**2 * total
