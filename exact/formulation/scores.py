"""The audit of scores: their loss as given, and the norm as far as the scores determine it.

Meant are the functions of least norm for their own scores, which are the given ones to within
`apart` but for a constant. One of them is known, w; for any other f,

    |f - w| <= |z| / sigma,

z the difference of the scores and sigma the smallest singular value of the map from such functions
to centred scores, bounded from below; where that fails nothing is known about |f|.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..certificate.audit import Audit, AuditStatus, Rival, audit_of
from ..certificate.certificate import Certificate, dual_value
from ..certificate.order import certified_order
from ..errors import InputError
from ..problem.problem import Problem
from ..problem.risk import Minorant, PairRisk
from ..spaces.factor import DENSE_LIMIT
from ..spaces.rows import Rows, Space
from ..structured import Structured
from ..tools.rounding import LONG_UNIT, UNIT, Bound, above, at_least, at_most, gamma
from .formulation import Formulation

OPEN_SHARE = 1e-6  # largest share of F that what scores leave open may cost; beyond, no gap
NORM_SHARE = 1e-6  # relative error up to which a given norm counts as the least one


class ScoreFit(NamedTuple):
    """A function of the space that has given scores nearly, with what was proved about it."""

    w: np.ndarray
    residual: float
    least_residual: float
    miss: float
    apart: float
    moved: float


class _Known(NamedTuple):
    """Coordinates, `stretch` = 1 / sigma, how far `apart` from least norm they are, and what every
    function leaves of the scores at least."""

    w: np.ndarray
    stretch: float = np.inf
    apart: float = 0.0
    left_at_least: float = 0.0


def fit_scores(task: Formulation, scores: np.ndarray) -> ScoreFit:
    space, base, printed = task.meant.space, task.base, printed_error(scores)
    if printed == 0 and not np.any(scores != scores[0]):
        return ScoreFit(np.zeros(space.dim), 0.0, 0.0, 0.0, 0.0, 0.0)
    known, held = None, base.held
    if held is None or base.n * base.dim <= 20_000_000:  # larger matrices have no bound of sigma
        is_matrix = base.gram is not None and base.gram.K is not None
        if held is not None and base.dim < base.n:
            known = _by_columns(held, scores)
        elif (held is not None or is_matrix) and base.n <= DENSE_LIMIT:
            known = _by_products(base, scores)
    if known is None:
        known = _Known(task.lift(least_squares(task.work.space, scores - scores.mean())))
    left, error = _left(space, known.w, scores)
    miss = (float(np.abs(left).max()) + error) * (1 + gamma(8))
    computed = float(np.max(base.careful_scores(known.w)[1])) * UNIT / LONG_UNIT
    apart = 2 * miss + 2 * computed + printed
    long = scores.astype(np.longdouble)
    centred, top = (long - long.mean()).astype(float), float(np.abs(scores).max())
    deviation, root = float(np.linalg.norm(centred)), float(np.sqrt(scores.size))
    slip = gamma(scores.size + 8) * deviation + gamma(scores.size + 8, LONG_UNIT) * top * root
    moved, z = np.inf, apart + miss  # the norm of a function whose scores differ by at most z
    if np.isfinite(known.stretch):
        moved = known.stretch * z * root + known.apart
        if isinstance(space, Structured):
            spread = space.structure * float(space.scatter.mass().sum()) * z**2
            moved = float(np.sqrt(moved**2 + spread * (1 + gamma(space.n + 8))))
        moved *= 1 + gamma(16)
    residual = least = 0.0
    if deviation > 0:
        residual = float(np.linalg.norm(left)) / deviation
        least = known.left_at_least / (deviation + slip) * (1 - gamma(8))
    return ScoreFit(known.w, residual, least, miss, apart, moved)


def printed_error(scores: np.ndarray) -> float:
    """Return what printing cost the largest score, if all were printed, else 0."""
    for digits in range(6, 16):  # scores of six digits count as exact, of more as printed
        if all(float(f"{score:.{digits - 1}e}") == score for score in scores.tolist()):
            if digits == 6:
                return 0.0
            top = float(np.abs(scores).max())
            unit = 10.0 ** (float(np.floor(np.log10(top))) + 1 - digits)
            return 0.5 * unit * (1 + 1e-9) + 2 * UNIT * top
    return 0.0


def least_squares(space: Space, wanted: np.ndarray) -> np.ndarray:
    """Return the least-norm coordinates of rows whose scores come nearest; nothing is proved."""
    assert space.held is not None
    if isinstance(space.held.X, np.ndarray):
        return np.linalg.lstsq(space.held.X, wanted, rcond=None)[0]
    centred = sp.linalg.LinearOperator(
        (space.n, space.dim),
        matvec=lambda v: space.scores(np.ravel(v)),
        rmatvec=lambda c: space.pull(np.ravel(c)),
    )
    return sp.linalg.lsqr(centred, wanted, atol=1e-15, btol=1e-15, iter_lim=5000)[0]


def _left(space: Space, w: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the centred scores less those of w, and a bound of the error of each."""
    reached, error = space.careful_scores(w)
    left = scores.astype(np.longdouble) - reached
    left -= left.mean()
    # Two subtractions, and the rounding to float64; any constant may be taken off.
    size = float(np.abs(scores).max() + np.abs(reached).max())
    slip = float(np.max(error)) + 4 * LONG_UNIT * size + 2 * UNIT * float(np.abs(left).max())
    return left.astype(float), slip * (1 + gamma(8))


def _basis(space: Rows) -> tuple[Any, ...] | None:
    """Return a basis of the columns, the others, T, M, C, the error of M and sigma, or None. M = P
    X[:, basis] T, P the centring, is nearly orthonormal, |M u| >= sigma |u|, and all other columns
    are X[:, basis] C, each but for a constant, exactly."""
    A = space.dense()
    A -= A.mean(axis=0)
    lengths = np.linalg.norm(A, axis=0)
    raw = space.raw if isinstance(space.raw, np.ndarray) else space.raw.toarray()
    varies = (raw != raw[0]).any(axis=0)
    lengths[~varies | (lengths == 0)] = 1.0
    A[:, ~varies] = 0.0
    R, order = scipy.linalg.qr(A / lengths, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > 1e-10).sum())  # less of a column's length counts as rounding
    basis, others = order[:rank], order[rank:]
    C = _dependence(raw, basis, others, R[:rank], lengths) if rank else None
    if C is None:
        return None
    T = scipy.linalg.solve_triangular(R[:rank, :rank], np.eye(rank)) / lengths[basis][:, None]
    # A T is proved to be nearly orthonormal. A has one rounding an entry (the offset is off), the
    # product gamma_r |A| |T|; the mean squares of M'M - I are computed with gamma_n |M|^2.
    A, n = space.dense()[:, basis], space.n
    product = A @ T
    M = product - product.mean(axis=0)
    size = float(np.linalg.norm(np.abs(A) @ np.abs(T))) * (1 + gamma(n * rank + 8))
    mass = float((product * product).sum()) * (1 + gamma(n * rank + 8))
    error = (gamma(rank + 8) + 2 * UNIT) * size
    # M misses being centred, and its entries round: both are in proportion to |A T|.
    error += (gamma(n + 8) + 2 * UNIT) * float(np.sqrt(mass))
    off = float(np.linalg.norm(M.T @ M - np.eye(rank))) * (1 + gamma(rank * rank + 8))
    off += gamma(n + 8) * mass
    if not off < 0.75:
        return None
    sigma = float(np.sqrt(1 - off)) * (1 - gamma(8)) - error
    return (basis, others, T, M, C, error, sigma) if sigma > 0.25 else None


def _dependence(
    raw: np.ndarray, basis: np.ndarray, others: np.ndarray, R: np.ndarray, lengths: np.ndarray
) -> np.ndarray | None:
    """Return C (r, k) with raw[:, others] = raw[:, basis] C up to a constant each, or None."""
    rank, fractions = basis.size, np.frompyfunc(Fraction, 1, 1)
    C, spent = np.zeros((rank, others.size)), 0
    if not others.size:
        return C
    near = scipy.linalg.solve_triangular(R[:, :rank], R[:, rank:])
    near *= lengths[others][None, :] / lengths[basis][:, None]
    for k, column in enumerate(others):
        shares = np.array([Fraction(x).limit_denominator(64) for x in near[:, k].tolist()])
        used = np.flatnonzero(shares)
        spent += raw.shape[0] * (used.size + 1)
        C[:, k] = shares.astype(float)
        if spent > 2_000_000:  # products of fractions, which are slow
            return None
        left = fractions(raw[:, column]) - fractions(raw[:, basis[used]]) @ shares[used]
        if (left != left[0]).any():
            return None
    return C


def _by_columns(space: Rows, scores: np.ndarray) -> _Known | None:
    """Return the fit through nearly orthonormal columns, refined, or None without a basis."""
    found = _basis(space)
    if found is None:
        return None
    basis, others, T, M, C, M_error, sigma = found
    w, left, error = np.zeros(space.dim), scores - scores.mean(), 0.0
    place, mixed = np.concatenate([basis, others]), np.hstack([np.eye(basis.size), C])
    for _ in range(4):
        w[basis] += T @ (M.T @ left)
        if others.size:  # the weights of least norm with these scores
            w[place] = mixed.T @ np.linalg.solve(mixed @ mixed.T, mixed @ w[place])
        left, error = _left(space, w, scores)
    apart = 0.0
    if others.size:  # scores are blind to the span of N = [-C; I], and |N u| >= |u|
        slip = gamma(basis.size + 8) * (np.abs(C).T @ np.abs(w[basis]) + np.abs(w[others]))
        part = np.abs(w[others] - C.T @ w[basis]) + slip
        apart = float(np.linalg.norm(part)) * (1 + gamma(part.size + 8))
    size, root = float(np.linalg.norm(left)), float(np.sqrt(space.n))
    # The exact fit takes |M'r| / sigma at most off the square of what is left.
    sums = gamma(left.size + 8) * float(np.linalg.norm(M)) * size
    off = abs(float(left.sum())) + gamma(left.size) * float(np.abs(left).sum())
    slope = (float(np.linalg.norm(M.T @ left)) + sums + M_error * (size + off)) / sigma
    least = float(np.sqrt(max(size**2 * (1 - gamma(space.n + 8)) - slope**2, 0.0))) - error * root
    # |f| is at most this times the norm of its centred scores, for f of least norm.
    stretch = float(np.linalg.norm(T)) / sigma * (1 + gamma(T.size + 8))
    return _Known(w, stretch, apart, max(least, 0.0) * (1 - gamma(16)))


def _by_products(space: Space, scores: np.ndarray) -> _Known | None:
    """Return the fit through the coefficients of rows, no more than there are features: sum a_i k_i
    with sum a = 0, sigma^2 the least eigenvalue of K orthogonal to the constants."""
    n = space.n
    if space.held is not None:
        rows = space.held.dense()
        K = rows @ rows.T
        error = gamma(2 * space.dim + 8) * float((space.held.norms**2).sum())
    else:
        gram: Any = space.gram
        K = gram.K
        off = gram.noise * float((gram.lengths**2).sum()) + gram.shift
        error = off * (1 + gamma(n + 8))
    long = K.astype(np.longdouble)
    means = long.mean(axis=0)
    centred = (long - means[:, None] - means[None, :] + means.mean()).astype(float)
    top = float(np.abs(K).max())
    error += n * top * (8 * UNIT + 4 * gamma(2 * n + 8, LONG_UNIT))
    centred = (centred + centred.T) / 2
    tau = float(np.trace(centred)) / n
    # P K P + tau 11'/n, P = I - 11'/n, with a bound of its error in any matrix norm.
    found = _least_eigenvalue(centred + tau / n, error + 2 * UNIT * n * top)
    if found is None:
        return None
    factor, least = found
    a, coordinates = np.zeros(space.n), np.zeros(space.dim)
    left = scores - scores.mean()
    for _ in range(4):
        a = a + scipy.linalg.cho_solve(factor, left)
        a -= a.mean()
        coordinates = space.pull(a)
        left, _ = _left(space, coordinates, scores)
    apart = (abs(float(a.sum())) + gamma(space.n) * float(np.abs(a).sum())) * space.reach
    if space.held is not None:
        apart += space.held.pull_error(a)
    return _Known(coordinates, float(1 / np.sqrt(least)) * (1 + gamma(8)), apart)


def _least_eigenvalue(M: np.ndarray, error: float) -> tuple[Any, float] | None:
    """Return a factor of M and a positive lower bound of its least eigenvalue, or None. A Cholesky
    decomposition that ends proves lambda_min >= -2 gamma_{n+2} trace [Rump, BIT 46, 2006]."""
    n = M.shape[0]
    try:
        factor = scipy.linalg.cho_factor(M, lower=True)
    except np.linalg.LinAlgError:
        return None
    vector, length = np.random.default_rng(0).normal(size=n), 1.0
    for _ in range(12):
        vector = cast(np.ndarray, scipy.linalg.cho_solve(factor, vector / length))
        length = float(scipy.linalg.norm(vector, check_finite=False))  # squares may overflow
        if not 0 < length < np.inf:
            return None
    guess = 1 / length
    lost = error + (2 * gamma(n + 4) + 2 * UNIT) * float(np.abs(np.diag(M)).sum())
    for shift in (0.5 * guess, 0.1 * guess):
        if shift <= 2 * lost:
            return None
        try:
            scipy.linalg.cho_factor(M - shift * np.eye(n), lower=True)
        except np.linalg.LinAlgError:
            continue
        return factor, shift - lost
    return None


def audit_scores(
    task: Formulation,
    scores: np.ndarray,
    witness: Minorant,
    tol: float,
    norm2: float | None = None,
    rival: Rival | None = None,
) -> Audit:
    """Return the audit of scores (n,), with their least norm or one given. For every function meant
    the loss is off by what `fit.apart` can do to it, and the norm by `fit.moved`; where both
    together cost more than `OPEN_SHARE` of the objective, there is no gap."""
    problem, fit = task.meant, fit_scores(task, scores)
    loss_bound = loss_of(problem, scores)
    loss = loss_bound.value
    square, moved = problem.space.norm2(fit.w), fit.moved
    off = problem.space.norm2_error(fit.w) + moved * (2 * float(np.sqrt(square)) + moved)
    kind = "of least norm"
    if norm2 is not None:
        if norm2 < (square - off) * (1 - NORM_SHARE):
            raise InputError(f"norm2 = {norm2:g} is impossible: the least |f|^2 here is {square:g}")
        if not (abs(norm2 - square) <= NORM_SHARE * square and off <= NORM_SHARE * square):
            square, off, kind = float(norm2), 0.0, f"with |f|^2 = {norm2:.10g}, as given,"
    risk: Any = problem.risk
    slip = risk.slip(np.full(problem.n, fit.apart), loss)
    primal = loss + problem.lam / 2 * square
    payment = loss_bound.error + slip + problem.lam / 2 * off
    # A large norm must not make scores count as those of functions with another loss: F(0) = 1.
    unit = min(primal, max(loss, 1.0))
    dual = dual_value(problem, witness.renewed(problem))
    dual = dual if dual.low > 0 else Bound(0.0, 0.0)  # F >= 0 needs no witness
    if not (payment <= OPEN_SHARE * primal and slip <= OPEN_SHARE * unit):
        return Audit(
            lam=problem.penalty.l2,
            loss=problem.loss.name,
            loss_value=loss,
            dual=dual.low,
            rounding=above(max(2 * dual.error, loss_bound.error)),
            residual=fit.residual,
            n_pairs=problem.n_pairs,
            statement=f"{_why(fit)} The optimum is at least {at_least(dual.low)}, and the scores' "
            f"own mean loss is at most {at_most(loss_bound.high, 10)}.",
            status=AuditStatus.NO_GAP,
        )
    error = payment * (1 + gamma(8)) + gamma(8) * primal
    if norm2 is not None and primal - dual.value < -(error + dual.error):
        raise InputError(
            f"norm2 = {norm2:g} is impossible: with their mean loss of {loss:g} the scores would "
            f"have objective {primal:g}, and no function has less than {at_least(dual.low, 6)}"
        )
    certificate = Certificate.from_bounds(
        Bound(primal, error, loss_bound.excess), dual, problem.lam
    )
    # The optimum is within the radius of a function whose scores are within `apart` of the given
    # ones, and those of w are within `miss` of them.
    order = certified_order(problem, fit.w, certificate.radius, 2 * (fit.apart + fit.miss))
    meant = (
        f" This holds for every function {kind} whose scores differ from these by at most "
        f"{at_most(fit.apart, 2)}, one constant aside."
    )
    return audit_of(problem, certificate, loss, order, tol, rival, fit.residual, meant)


def loss_of(problem: Problem, scores: np.ndarray) -> Bound:
    """Return the mean loss of scores (n,), and a bound of its rounding: summed as given, and in the
    long format less their median, since sorted sums lose digits far from zero."""
    risk, median = problem.risk, float(np.median(scores))
    assert isinstance(risk, PairRisk)
    plain, sums = risk.sums(scores), risk.sums(scores.astype(np.longdouble) - median)
    error = 2 * LONG_UNIT * (np.abs(scores) + abs(median))
    slip = risk.slip(error, sums.value + sums.value_rounding)
    return min(
        Bound(plain.value, plain.value_rounding, plain.excess),
        Bound(sums.value, sums.value_rounding + slip + gamma(4) * sums.value, sums.excess),
        key=lambda found: found.error,
    )


def _why(fit: ScoreFit) -> str:
    if fit.least_residual > OPEN_SHARE:
        return (
            "Not in this model class: no gap. No function of it leaves less than "
            f"{at_least(fit.least_residual, 3)} of the standard deviation of the scores (root mean "
            "square), so they have no norm here."
        )
    close = (
        f"No gap: the function that least squares found leaves {at_most(fit.residual)} of the "
        "standard deviation of the scores (root mean square), "
    )
    if np.isfinite(fit.moved):
        return close + (
            "and scores that differ by so little can belong to functions of rather different "
            "objectives. Give the scores with more digits, or the weights."
        )
    return close + (
        "and the smallest singular value of the features or the kernel could not be bounded, so "
        "that the scores do not tell the norm of a function. Give the weights, or norm2."
    )
