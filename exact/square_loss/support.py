"""The square loss over all pairs on few features: closed form, local search and bounds.

With w zero outside the features S, and Sigma, delta as in `row_average.py`,

    F(w) = w'M w - 2 w'delta + 1 = w'Sigma w + (1 - w'delta)^2,
    F*(S) = min F = 1 / (1 + q_S),    q_S = delta_S' Sigma_SS^+ delta_S,

where q_S is infinite, and F*(S) zero, unless delta_S lies in the range of Sigma_SS: then some w
on S has w'(x_i - x_j) = 1 for all pairs at once. The minimum on the best k features is the
problem that [SHT, eq. (3)] states. A penalty lam/2 |w|^2 adds lam/2 to the diagonal of Sigma.

A bound for all S at once, of features scaled to variance one: for a diagonal D >= 0 with Sigma_TT -
D positive semidefinite, any w on T and r = delta - Sigma w, each S of k features in T has

    q_S <= w'(delta + r) - sum over T less S of (D_j w_j^2 + 2 r_j w_j) + sum over S of r_j^2/D_j,

since q_S = max_u 2 delta'u - u'Sigma u over u on S, and u'Sigma u >= w'Sigma w + 2 w'Sigma (u - w)
+ (u - w)'D(u - w). At w = Sigma_TT^-1 delta_T the vector r is rounding.

Floats tell nothing of what varies less than a few units of the features' spread, as the difference
of near copies does. There F*(S) is computed in whole numbers; where that is too slow it is zero.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..spaces.rows import Rows
from ..tools.arrays import as_float64, check_number
from ..tools.rounding import UNIT, float_above, float_below, gamma
from . import row_average
from .exact_moments import ExactMoments
from .row_average import MomentError, Moments, RowAverage, Source

CONSTANT = 1e-12  # what a feature varies by in the classes is rounding below this times its size
UNCLEAR = 1e-8  # a variance left below this, over the least eigenvalue, has lost too many digits
REGULAR = 1e-8  # least entry of D: below it features count as dependent, and no bound is made
LARGEST_SIDE = 500  # most features for which a bound from all of them is affordable
LARGEST_WORK = 1e9  # most rows times features squared for which `sparse_floor` is affordable
Floats = float | np.ndarray


class SupportOptimum(NamedTuple):
    """The minimum F*(S) = 1 / (1 + q) on a sorted support, and a minimiser w (d,)."""

    support: np.ndarray
    q: float
    value: float
    w: np.ndarray


class SupportLoss:
    """F and its minima on supports, from the moments; nothing here is a bound. Features are divided
    by `scale` (d,) to have variance one, penalty included. Those not `informative` are constant."""

    def __init__(self, moments: Moments, lam: float = 0.0):
        delta, sigma = moments.delta, moments.sigma
        if not (np.isfinite(delta).all() and np.isfinite(sigma).all()):
            raise InputError("the moments must be finite")
        self.lam = check_number("lam", lam, closed="low")
        self.delta, self.sigma, self.dim = delta, sigma, int(delta.size)
        variance = np.diag(sigma) + self.lam / 2
        varies = variance > (CONSTANT * moments.size) ** 2
        # A constant feature with another constant in each class separates; rounding does not.
        silent = ~varies & (np.abs(delta) <= CONSTANT * moments.size)
        self.scale = np.where(varies, np.sqrt(np.maximum(variance, 0.0)), np.abs(delta))
        self.scale[silent] = 1.0
        self.scaled_delta = np.where(silent, 0.0, delta / self.scale)
        ridged = sigma + self.lam / 2 * np.eye(self.dim)
        correlation = ridged / np.outer(self.scale, self.scale)
        self.scaled_sigma = np.where(np.outer(varies, varies), correlation, 0.0)
        noise = float((2 * UNIT * moments.size / self.scale)[varies].max(initial=0.0))
        self.informative = varies | (self.scaled_delta != 0.0)
        # 1e-13: variances below this count as zero; the features are scaled to variance one
        self._null, self._slip = 1e-13 + noise, 1e-8 + 8 * noise

    def value(self, w: np.ndarray) -> float:
        """Return F(w) = w'Sigma w + (1 - w'delta)^2 + lam/2 |w|^2 at `w` (d,)."""
        w = as_float64(w, "w")
        if w.shape != (self.dim,):
            raise InputError(f"w must have {self.dim} entries; its shape is {w.shape}")
        return float(w @ self.sigma @ w + (1 - w @ self.delta) ** 2 + self.lam / 2 * (w @ w))

    def optimum(self, support: Iterable[int]) -> SupportOptimum:
        """Return the minimum of F over the weights on these features."""
        factor = self._factor(_check_support(support, self.dim))
        w = np.zeros(self.dim)
        if np.isinf(factor.q):
            scaled = factor.escaping / float(factor.escaping @ factor.escaping)
        else:
            scaled = factor.solved / (1 + factor.q)
        w[factor.support] = scaled / self.scale[factor.support]
        return SupportOptimum(factor.support, factor.q, 1 / (1 + factor.q), w)

    def additions(self, support: Iterable[int], end: float = np.inf) -> np.ndarray:
        """Return F*(S with i) for each feature i: (d,); F*(S) where i is in S. Features that hardly
        vary when S is known are looked at one by one, up to the time `end`."""
        factor = self._factor(_check_support(support, self.dim))
        if np.isinf(factor.q):
            return np.zeros(self.dim)
        chosen, variance = factor.support, np.diag(self.scaled_sigma)
        known = factor.basis.T @ self.scaled_sigma[chosen]
        left = variance - (known**2).sum(axis=0)
        news = self.scaled_delta - factor.solved @ self.scaled_sigma[chosen]
        clear = left > UNCLEAR / factor.least
        more = np.divide(news**2, left, out=np.zeros(self.dim), where=clear)
        more[(variance == 0) & (self.scaled_delta != 0)] = np.inf
        more[chosen] = 0.0
        values = 1 / (1 + factor.q + more)
        unclear = ~clear & (variance > 0)
        unclear[chosen] = False
        for i in np.flatnonzero(unclear):
            if time.perf_counter() >= end:
                break
            values[i] = 1 / (1 + self._factor(np.sort(np.append(chosen, i))).q)
        return values

    def swaps(self, support: Iterable[int], end: float = np.inf) -> np.ndarray:
        """Return F*(S without S_j, with i) for each place j in sorted S and feature i: (s, d). NaN
        where i is in S, or j was not evaluated before the time `end`."""
        chosen, sigma = _check_support(support, self.dim), self.scaled_sigma
        factor, s, d = self._factor(chosen), chosen.size, self.dim
        values, sure = np.ones((s, d)), np.zeros(s, dtype=bool)  # which rows have their digits
        # 1e-4: least eigenvalue of Sigma_SS, at variance one a feature, to use its inverse
        if factor.basis.shape[1] == s and np.isfinite(factor.q) and factor.least > 1e-4:
            rows, P, variance = sigma[chosen], factor.basis @ factor.basis.T, np.diag(sigma)
            A, own = P @ rows, np.diag(P)[:, None]
            x, share = factor.solved[:, None], A / own
            left = variance - ((factor.basis.T @ rows) ** 2).sum(axis=0) + A * share
            news = self.scaled_delta - factor.solved @ rows + x * share
            more = np.divide(news**2, left, out=np.zeros((s, d)), where=left > 0)
            more[:, (variance == 0) & (self.scaled_delta != 0)] = np.inf
            asked = variance > 0
            asked[chosen] = False
            sure = (left[:, asked] > UNCLEAR / factor.least).all(axis=1)
            values = 1 / (1 + np.maximum(factor.q - x**2 / own, 0.0) + more)
        for place in np.flatnonzero(~sure):
            values[place] = np.nan
            if time.perf_counter() < end:
                values[place] = self.additions(np.delete(chosen, place), end)
        values[:, chosen] = np.nan
        return values

    def _factor(self, support: np.ndarray) -> Factor:
        sigma, delta = self.scaled_sigma[np.ix_(support, support)], self.scaled_delta[support]
        eigenvalues, vectors = np.linalg.eigh(sigma)
        kept = eigenvalues > self._null * max(support.size, 1)
        inside = vectors[:, kept]
        basis = inside / np.sqrt(eigenvalues[kept])
        coordinates = basis.T @ delta
        escaping = delta - inside @ (inside.T @ delta)
        outside = np.linalg.norm(escaping) > self._slip * max(1.0, float(np.linalg.norm(delta)))
        q = np.inf if outside else float(coordinates @ coordinates)
        least = float(eigenvalues[kept].min(initial=1.0))
        return Factor(support, basis, basis @ coordinates, escaping, q, least)


def optimum_on(
    space: Rows, positive: np.ndarray, support: Iterable[int], pairs: AllPairs | None = None,
    lam: float = 0.0,
) -> SupportOptimum:  # fmt: skip
    """Return the minimum on a support without the moments of the other features."""
    chosen = _check_support(support, space.dim)
    few = SupportLoss(row_average.moments(space, positive, pairs or AllPairs(), chosen), lam)
    found = few.optimum(range(chosen.size))
    w = np.zeros(space.dim)
    w[chosen] = found.w
    return SupportOptimum(chosen, found.q, found.value, w)


def _check_support(support: Iterable[int], dim: int) -> np.ndarray:
    given = np.asarray(list(support))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InputError("a support is a list of feature indices")
    if given.min() < 0 or given.max() >= dim:
        raise InputError(f"the support names features outside 0 .. {dim - 1}")
    chosen = np.unique(given)
    if chosen.size != given.size:
        raise InputError("the support names a feature twice")
    return chosen


class Factor(NamedTuple):
    support: np.ndarray
    basis: np.ndarray  # (s, rank) eigenvectors of scaled Sigma_SS over the roots of eigenvalues
    solved: np.ndarray  # (s,) Sigma_SS^+ delta_S
    escaping: np.ndarray  # (s,) the part of delta_S outside the range of Sigma_SS
    q: float
    least: float  # the smallest eigenvalue that is not zero


def swap_descent(loss: SupportLoss, support: Iterable[int], end: float = np.inf) -> SupportOptimum:
    """Return the minimum on a support after the best swaps, until none lowers it."""
    here = loss.optimum(support)
    for _ in range(1000):  # swaps at most
        chosen = here.support
        if chosen.size in (0, loss.dim) or time.perf_counter() >= end:
            break
        values = loss.swaps(chosen, end)
        if np.isnan(values).all():
            break
        place, into = np.unravel_index(int(np.nanargmin(values)), values.shape)
        if not values[place, into] < here.value * (1 - 1e-12):  # rounding
            break
        after = loss.optimum({*chosen.tolist(), int(into)} - {int(chosen[place])})
        if not after.value < here.value:  # the swap's gain was rounding
            break
        here = after
    return here


def forward(loss: SupportLoss, k: int, start: Iterable[int], end: float = np.inf) -> np.ndarray:
    """Return k features: those of `start`, then greedily the one that lowers F* most."""
    chosen = [int(j) for j in start]
    while len(chosen) < k and time.perf_counter() < end:
        values = loss.additions(chosen, end)
        values[chosen] = np.inf
        chosen.append(int(np.argmin(values)))
    rest = [int(j) for j in screened(loss) if j not in chosen]
    return np.array(sorted(chosen + rest[: max(k - len(chosen), 0)]), dtype=np.intp)


def screened(loss: SupportLoss) -> np.ndarray:
    """Return the features, largest mean difference over spread first."""
    return np.argsort(-np.abs(loss.scaled_delta), kind="stable")


def pair_blocks(loss: SupportLoss, used: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield places a < b in `used`, q of the two features, (delta_a^2 + delta_b^2 - 2 rho delta_a
    delta_b) / (1 - rho^2), and 1 - |rho|; -inf and zero where floats tell too little."""
    delta, varies = loss.scaled_delta[used], np.diag(loss.scaled_sigma)[used] > 0
    step = max(1, (1 << 18) // max(used.size, 1))  # pairs of features in one block
    for low in range(0, used.size - 1, step):
        some = np.arange(low, min(low + step, used.size - 1))
        a, b = np.nonzero(np.arange(used.size)[None, :] > some[:, None])
        a = some[a]
        rho = loss.scaled_sigma[used[a], used[b]]
        least = 1 - np.abs(rho)
        clear = (least >= UNCLEAR) & varies[a] & varies[b]
        top = delta[a] ** 2 + delta[b] ** 2 - 2 * rho * delta[a] * delta[b]
        below = (1 - rho) * (1 + rho)
        q = np.divide(top, below, out=np.full(a.size, -np.inf), where=clear)
        yield a, b, q, np.where(clear, least, 0.0)


def good_support(loss: SupportLoss, k: int, starts: list[np.ndarray], end: float) -> SupportOptimum:
    """Return the best result of swaps from several starts, as time allows: those given, the largest
    mean differences, the greedy choice, and those that begin with one of the eight best pairs."""
    likely, found = screened(loss), []
    best = swap_descent(loss, likely[:k], end)
    if k >= 2 and time.perf_counter() < end:
        used = likely[: int(loss.informative.sum())]
        for a, b, q, _ in pair_blocks(loss, used):
            top = np.argpartition(-q, min(8, q.size) - 1)[:8]
            found += [(-q[i], int(used[a[i]]), int(used[b[i]])) for i in top if np.isfinite(q[i])]
            if time.perf_counter() >= end:
                break
    for at, start in enumerate([*starts, (), *(pair for _, *pair in sorted(found)[:8])]):
        if at >= len(starts) and time.perf_counter() >= end:
            break
        reached = swap_descent(loss, forward(loss, k, start, end), end)
        best = reached if reached.value < best.value else best
    return best


class Diagonal(NamedTuple):
    """A diagonal proved below a matrix, its least entry, and the matrix's inverse, not proved."""

    entries: np.ndarray
    least: float
    inverse: np.ndarray


def certified_diagonal(sigma: np.ndarray) -> Diagonal | None:
    """Return D > 0 with sigma - D positive semidefinite, or None where there is next to none: a
    multiple of what remains of each variance when the others are known, proved by a Cholesky
    factorisation. [Rump 2006, "Verification of positive definiteness"]"""
    side = len(sigma)
    try:
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(sigma), np.eye(side))
    except np.linalg.LinAlgError:
        return None
    shape = 1 / np.diag(inverse)
    if not (np.isfinite(shape).all() and (shape > 0).all()):
        return None
    root = np.sqrt(shape)
    share = scipy.linalg.eigvalsh(sigma / np.outer(root, root), subset_by_index=[0, 0])[0]
    for safety in (1 - 1e-7, 0.99, 0.5):
        tried = safety * share * shape
        rest = sigma - np.diag(tried)
        entries = tried - cholesky_slip(rest, tried)
        if not entries.min() >= REGULAR:
            return None
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            continue
        return Diagonal(entries, float(entries.min()), inverse)
    return None


def cholesky_slip(rest: np.ndarray, tried: np.ndarray) -> float:
    """Return how far below zero an eigenvalue of sigma - diag(tried) may be, and what D loses. A
    Cholesky factorisation that ends proves eigenvalues above -c / (1 - c) times the trace, c =
    gamma_{s+1} [Rump 2006]; the diagonal, and so `tried`, is off by a unit."""
    side, trace = len(rest), float(np.maximum(np.diag(rest), 0.0).sum())
    return 1.001 * gamma(side + 2) * trace + 2 * UNIT * float(tried.max())


def ceiling(sigma: np.ndarray, delta: np.ndarray, diagonal: Diagonal, k: int) -> float:
    """Return an upper bound of q_S over the S of at most k features, rounding included."""
    w, D, size = diagonal.inverse @ delta, diagonal.entries, len(delta)
    top = float(_q_ceiling(sigma, delta, w, D))
    dropped = np.sort(D * w * w)[: max(size - k, 0)]
    return top - float(dropped.sum()) * (1 - gamma(size + 8))


def _q_ceiling(sigma: np.ndarray, delta: np.ndarray, w: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return an upper bound of q on all features (..., s), from any w, with D below sigma."""
    size = delta.shape[-1]
    r = delta - (sigma @ w[..., None])[..., 0]
    length = np.abs(w)
    largest = np.abs(delta).max(axis=-1, initial=0.0, keepdims=True)
    # Entries of sigma are at most one, but for rounding.
    slip = 2 * gamma(size + 4) * (length.sum(axis=-1, keepdims=True) + largest)
    left = np.abs(r) + slip
    spare = left**2 / D + 3 * left * length + gamma(size + 8) * length * (np.abs(delta) + left)
    return (w * (delta + r)).sum(axis=-1) + spare.sum(axis=-1) * (1 + gamma(2 * size + 8))


def whole_ceilings(sigma: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return upper bounds of q on whole supports, and lower bounds of their least eigenvalues.

    With the computed eigenvectors V and values l, G = V'V - I and R = sigma V - V diag(l),

        least eigenvalue of sigma  >=  (min l - |G| max l - |V| |R|) / (1 + |G|)   if above 0,

    since V'sigma V = diag(l) + G diag(l) + V'R, and |V|^2 <= 1 + |G|.
    """
    size = delta.shape[-1]
    if size == 0:
        return np.zeros(len(delta)), np.ones(len(delta))
    values, vectors = np.linalg.eigh(sigma)
    gram = vectors.transpose(0, 2, 1) @ vectors - np.eye(size)
    miss = sigma @ vectors - vectors * values[:, None, :]
    # Entries of sigma and V, and lengths of V's columns, are at most one, but for rounding.
    noise = 2.2 * size * gamma(size + 4)
    unlike = np.linalg.norm(gram, axis=(1, 2)) * (1 + 1e-9) + size * noise
    astray = np.linalg.norm(miss, axis=(1, 2)) * (1 + 1e-9) + size * noise
    lost = unlike * np.abs(values).max(axis=1) + (1 + unlike) * astray
    least = (values[:, 0] - lost * (1 + 1e-9)) / (1 + unlike) * (1 - 1e-12)
    sure = (least > 0) & (unlike < 1e-3)
    safe = np.where(sure[:, None], np.maximum(values, 1e-300), 1.0)
    w = (vectors @ ((vectors.transpose(0, 2, 1) @ delta[..., None]) / safe[..., None]))[..., 0]
    q = _q_ceiling(sigma, delta, w, np.where(sure, least, 1.0)[:, None])
    return np.where(sure, q, np.inf), np.where(sure, least, 0.0)


def objective_floor(q: Floats, k: int, least: Floats, error: MomentError) -> np.ndarray:
    """Return the F* that no support with this bound of q comes below, moments' rounding included:
    q_S <= (sqrt(q) + sqrt(k / least) error.delta)^2 / (1 - h), h = k error.sigma / least."""
    c, h = rounding_of_floor(k, least, error)
    root = np.sqrt(np.maximum(q, 0.0)) + c
    floor = (1 - 8 * UNIT) / (1 + root * root / (1 - h) * (1 + 8 * UNIT))
    return np.where(h < 0.5, floor, 0.0)


def rounding_of_floor(k: int, least: Floats, error: MomentError) -> tuple[np.ndarray, np.ndarray]:
    """Return c and h <= 1/2 of `objective_floor`: q of the data <= (sqrt(q) + c)^2 / (1 - h)."""
    least = np.asarray(least, dtype=float)
    h = np.minimum(k * error.sigma / least * (1 + 4 * UNIT), 0.5)
    return np.sqrt(k / least) * error.delta * (1 + 4 * UNIT), h


def objective_ceiling(loss: SupportLoss, w: np.ndarray, error: MomentError) -> float:
    """Return an upper bound of F(w) on the data, rounding included."""
    length, size = float(np.abs(w * loss.scale).sum()), int(np.count_nonzero(w))
    shift = error.delta * length + gamma(size + 4) * (1 + float(np.abs(w * loss.delta).sum()))
    miss = abs(1 - float(w @ loss.delta))
    spread = (error.sigma + gamma(2 * size + 8)) * length**2
    return loss.value(w) * (1 + 4 * UNIT) + spread + (2 * miss + 3 * shift) * shift


@dataclass(eq=False)
class SupportBounds:
    """What is proved about F on the supports of given rows; `loss` enters no bound. `error` is for
    features neither `silent` (constant) nor `blurred`; `tol` decides what rounding is too much."""

    loss: SupportLoss
    error: MomentError
    exact: ExactMoments
    silent: np.ndarray
    blurred: np.ndarray
    tol: float = 1e-9  # of the gap; F(0) = 1 sets the scale
    asked: int = 0  # supports whose optimum was computed in whole numbers

    @property
    def slack(self) -> float:
        """Bounds that rounding moves by more are computed in whole numbers, if that is cheap."""
        return self.tol / 4

    @property
    def useful(self) -> np.ndarray:
        return np.flatnonzero(~self.silent)

    @property
    def spent(self) -> bool:
        return self.asked >= 20_000

    def ceiling(self, w: np.ndarray, end: float = np.inf) -> float:
        """Return an upper bound of F(w) on the rows; inf where none can be had."""
        used, bound, slack = np.flatnonzero(w), np.inf, np.inf
        if not self.blurred[used].any():
            with np.errstate(over="ignore", invalid="ignore"):
                bound = objective_ceiling(self.loss, w, self.error)
                slack = bound - self.loss.value(w)
        if slack <= self.slack:
            return bound
        if self.exact.affordable(used, end):
            return float_above(self.exact.value(w))
        return bound if np.isfinite(bound) else np.inf

    def leaf(self, S: np.ndarray, upper: float, end: float) -> tuple[SupportOptimum | None, float]:
        """Return good weights on a support, and a lower bound of F* on it."""
        found, S = self.loss.optimum(S), S[~self.silent[S]]
        if S.size == 0:
            return found, 1.0
        floor, slack = self.floor_by_floats(S, S.size)
        if slack <= self.slack or self.spent or not self.exact.affordable(S, end):
            return found, floor
        self.asked += 1
        answer = self.exact.optimum(S, upper)
        value = float_below(answer.value)
        if value >= upper:
            return None, max(floor, value)
        if answer.w is not None and np.isfinite(answer.w).all():
            w = np.zeros(self.loss.dim)
            w[S] = answer.w
            q = 1 / value - 1 if value > 0 else np.inf
            found = found._replace(q=q, value=value, w=w)
        return found, max(floor, value)

    def floor_by_floats(self, S: np.ndarray, k: int) -> tuple[float, float]:
        """Return a lower bound of F* on any k of these features, and what it may have lost."""
        if self.blurred[S].any():
            return 0.0, np.inf
        sigma, delta = self.loss.scaled_sigma[np.ix_(S, S)], self.loss.scaled_delta[S]
        diagonal = certified_diagonal(sigma)
        if diagonal is None:
            return 0.0, np.inf
        q = ceiling(sigma, delta, diagonal, k)
        floor = float(objective_floor(q, k, diagonal.least, self.error))
        return floor, 1 / (1 + max(float(delta @ diagonal.inverse @ delta), 0.0)) - floor


def support_bounds_of(average: RowAverage, tol: float = 1e-9) -> SupportBounds:
    """Return the bounds of F on the supports of an average over rows."""
    source, positive = average.source or Source(average.X, average.mass, None), average.positive
    found, ends = row_average.row_moments(average, offset=source.offset), []
    counts = np.ones(positive.size, dtype=bool) if source.weight is None else source.weight > 0
    for side in (positive & counts, ~positive & counts):
        rows: Any = source.X[side]
        few = rows.min(axis=0), rows.max(axis=0)
        ends += few if isinstance(rows, np.ndarray) else [end.toarray().ravel() for end in few]
    low, high, other_low, other_high = ends
    flat = (low == high) & (other_low == other_high)  # constant within each class
    silent = flat & (low == other_low)
    delta, sigma = np.where(silent, 0.0, found.delta), found.sigma.copy()
    sigma[flat], sigma[:, flat] = 0.0, 0.0
    loss = SupportLoss(found._replace(delta=delta, sigma=sigma), average.lam)
    # Blurred are features about which floats tell too little: they call one constant while its
    # numbers differ, it varies by less than floats have, or its entries or means have lost much.
    variance = np.diag(loss.sigma) + loss.lam / 2
    called = ~loss.informative | ((np.diag(loss.scaled_sigma) == 0) & ~flat)
    faint = (variance < 1e-290) & ~(flat & (loss.lam == 0) & (np.abs(loss.delta) > 1e-145))
    rough = (found.entry > 1e-6 * loss.scale) | (found.mean > 1e-3 * loss.scale)
    blurred = ~silent & (called | faint | rough | ~np.isfinite(loss.scale))
    sure, parts = ~silent & ~blurred, (found.entry, found.mean, np.abs(loss.delta))
    largest = [float((part[sure] / loss.scale[sure]).max(initial=0.0)) for part in parts]
    error = row_average.moment_error(average.mass.size, *largest)
    exact = ExactMoments(source.X, positive, source.weight, average.lam)
    return SupportBounds(loss, error, exact, silent, blurred, tol)


def sparse_floor(average: RowAverage, k: int) -> float:
    """Return a lower bound of F over all weights with at most k nonzeros, without a search; zero
    where the features are dependent or too many."""
    n, d = average.mass.size, average.dim
    if d > LARGEST_SIDE or n * d * d > LARGEST_WORK:
        return 0.0
    bounds = support_bounds_of(average)
    used = bounds.useful
    return bounds.floor_by_floats(used, min(k, used.size))[0] if used.size else 1.0


def objective_above(average: RowAverage, w: np.ndarray) -> float:
    """Return an upper bound of F(w), rounding included, from the features that w uses; a looser one
    where their moments would take too long."""
    used = np.flatnonzero(w)
    average, w = average.among(used), w[used]
    if average.mass.size * used.size**2 <= LARGEST_WORK:
        return support_bounds_of(average).ceiling(w)
    source = average.source or Source(average.X, average.mass, None)
    means = average.means if source.offset is None else average.means + source.offset
    given = RowAverage(source.X, average.positive, average.mass, means, average.share)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = row_average.square_parts(given, w)
        square = parts.square + parts.square_error
        whole = (square + average.lam / 2 * float(w @ w)) * (1 + gamma(w.size + 16))
    return float(whole) if np.isfinite(whole) else np.inf
