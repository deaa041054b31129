"""The problem, and what solvers do with any: its functions, the search along a line, a sample."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError, NoPairError, OverflowingError, brief
from ..losses.registry import Loss, get_loss
from ..pairs.all_pairs import AllPairs, Labelled, PairList, split_labels
from ..pairs.ordered_pairs import OrderedPairs
from ..spaces.partitions import Drawn, marks
from ..spaces.rows import Rows, Space
from ..sums.swept import PairSums
from ..tools.arrays import adapted, as_float64
from .penalties import OURS, Penalty, Ridge, check_penalty
from .risk import Mean, Risk
from .tail import Tail, Worst

THINNING = 20  # a large problem is first solved on one row in this many
LEAST_ROWS = 5000  # rows of a sample: fewer say too little
ROWS_PER_COORDINATE = 20  # rows of a sample: fewer say too little of a coordinate
LARGE = 10  # a large problem has so many times the rows of its smallest sample, or saves nothing
FEWEST = LARGE * LEAST_ROWS  # rows of a large problem, however few its coordinates


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise F(f) = penalty(f) + U(scores of f). [ScalingUp, eq. (3)]

    Sizes that do not fit together raise `InputError`.

    Parameters
    ----------
    space : Space in which f lives
    risk : Risk
        U, say `Mean(pairs, loss)`: sum_ij c_ij loss(f(x_i) - f(x_j)), sum c_ij = 1.
    penalty : Penalty
        `Ridge(lam)`, another of `problem.penalties`, or one that keeps their contract.
    """

    space: Space
    risk: Risk
    penalty: Penalty

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk", adapted(self.risk, Risk, "risk"))
        object.__setattr__(self, "penalty", adapted(self.penalty, Penalty, "penalty", "l2"))
        if self.risk.n != self.space.n:
            raise InputError(f"{self.space.n} rows, but labels of shape ({self.risk.n},)")
        self.penalty.check(self.space)
        if type(self.penalty) not in OURS:
            check_penalty(self.penalty, self.space)

    @property
    def pairs(self) -> Any:
        return self._mean("pairs").pairs

    @property
    def loss(self) -> Loss:
        return self.risk.loss if isinstance(self.risk, Worst) else self._mean("loss").loss

    def _mean(self, name: str) -> Mean:
        if not isinstance(self.risk, Mean):
            raise InputError(f"this needs a mean over pairs: {self.risk!r} states no {name}")
        return self.risk

    @property
    def n(self) -> int:
        return self.space.n

    @property
    def n_pos(self) -> Any:
        """Number of positive rows: an int, or None where the pairs have no two classes."""
        return self.pairs.n_pos if isinstance(self.pairs, Labelled) else None

    @property
    def n_neg(self) -> Any:
        return self.pairs.n_neg if isinstance(self.pairs, Labelled) else None

    @property
    def n_pairs(self) -> int:
        """Number of pairs of positive weight; a row that stands for several counts once."""
        return self.pairs.count()

    @property
    def lam(self) -> float:
        """The ridge's weight; `InputError` for another penalty, whose rest would be left out."""
        if not isinstance(self.penalty, Ridge):
            raise InputError(f"this needs the ridge penalty, not {brief(self.penalty)}")
        return self.penalty.l2

    def over(self, space: Space) -> Problem:
        return replace(self, space=space)

    def with_pairs(self, pairs: AllPairs | PairList) -> Problem:
        bound = pairs if pairs.labels is not None else pairs.on(self.pairs.positive)
        return replace(self, risk=Mean(bound, self.loss))

    def named_rows(self) -> Problem:
        """Return the same problem over the rows that its pairs name, if these are half at most: F
        is the same in the same coordinates, and so is each alpha."""
        rows = self.space.given
        if not isinstance(self.pairs, PairList) or rows is None:
            return self
        named = np.zeros(self.n, dtype=bool)
        named[self.pairs.i] = named[self.pairs.j] = True
        if 2 * int(named.sum()) > self.n:
            return self
        try:
            space = Rows(rows.raw[named])
        except InputError:  # numbers so small that only the other rows make them rows of a matrix
            return self
        return self.on_rows(space, self.pairs.among(named))

    def on_rows(self, space: Space, pairs: Any) -> Problem:
        return replace(self, space=space, risk=Mean(pairs, self.loss))

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        return self.risk.sums(scores, width)

    def objective(self, w: np.ndarray) -> float:
        return self.sums(self.space.scores(w)).value + self.penalty.value(self.space, w).value

    def check_weights(self, w: object) -> np.ndarray:
        vector = as_float64(w, "the weights")
        if vector.shape != (self.space.dim,):
            raise InputError(f"{self.space.dim} coordinates, the weights shape {vector.shape}")
        if not np.isfinite(vector).all():
            at = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(f"weight {at} is {vector[at]}: weights must be finite")
        if float(np.abs(vector).max(initial=0.0)) > 1e100:
            raise InputError("a weight is larger than 1e+100: its square overflows")
        return vector


def pair_problem(
    space: Space, positive: np.ndarray, pairs: AllPairs | PairList, loss: Loss, penalty: Penalty
) -> Problem:
    """Return the problem over `space` with this `penalty` whose risk is the mean of `loss` over
    `pairs`, labelled anew: `positive`, bool (n,), has the positive rows. Sizes that do not fit
    together and a missing class raise `InputError`."""
    if np.shape(positive) != (space.n,):
        raise InputError(f"{space.n} rows, but labels of shape {np.shape(positive)}")
    if not isinstance(pairs, PairList | AllPairs):
        raise InputError(f"pairs must be AllPairs() or a PairList, not {brief(pairs)}")
    return Problem(space, Mean(pairs.on(positive), loss), penalty)


def linear_problem(
    X: object, y: object, lam: float, loss: str | Loss = "hinge",
    pairs: AllPairs | PairList | None = None, positive: object = None,
) -> Problem:  # fmt: skip
    """Return the linear problem of a data matrix and its labels; other input raises `InputError`.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,) of two kinds of labels
    lam : float > 0
    loss : str, a name as in `solve`, or Loss
    pairs : AllPairs (by default) or PairList
    positive : label, by default the larger one
    """
    space = Rows(X)
    mask, _, _ = split_labels(y, positive)
    return pair_problem(space, mask, pairs or AllPairs(), get_loss(loss), Ridge(lam))


class Functions:
    """The functions f of a space: over rows vectors of weights (dim,); of a kernel coefficients and
    the scores beneath them (2, n), so that only a new one takes a product, which `stop` may end."""

    def __init__(self, space: Space, tol: float, stop: Callable[[], bool]):
        self.space, self.stop = space, stop
        self.product = None if space.gram is None else space.gram.product(tol, stop)  # c to K c
        self.zero = np.zeros(space.dim if space.gram is None else (2, space.n))

    def of(self, w: np.ndarray) -> np.ndarray:
        if self.product is None:
            return w
        return self.pull(w) if w.any() else self.zero

    def weights(self, f: np.ndarray) -> np.ndarray:
        return f if self.product is None else f[0].copy()

    def products(self, stack: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the inner products of f with a stack of functions."""
        return stack @ f if self.product is None else stack[:, 1] @ f[0]

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        return float(one @ other if self.product is None else one[0] @ other[1])

    def scores(self, f: np.ndarray) -> np.ndarray:
        return self.space.scores(f) if self.product is None else f[1]

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the function sum_i c_i k_i."""
        return self.space.pull(c) if self.product is None else np.stack([c, self.product(c)])


def root_of_slope(
    slope: Callable[[float], float], start: float, loose: float = 0.3, trials: int = 40, *,
    accept: Callable[[float], bool] = lambda t: True, limit: float = np.inf, narrow: float = 0.0,
    stop: Callable[[], bool] = lambda: False,
) -> float:  # fmt: skip
    """Return a length t > 0 at which |slope(t)| <= loose * |start|, or the best bracket's end.

    The line search of every solver. A test on values stalls in the last digits, where differences
    of values are rounding; the slope does not. `start` is the slope at 0; where it is not below 0,
    so is the length. A flat length must also be one that `accept` takes. None is above `limit`, and
    a bracket of this share of its upper end is `narrow`. After each trial `stop` may end it.
    """
    if not start < 0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    at_low, at_high, before = start, np.nan, 0.0
    for _ in range(trials):
        now = slope(t)
        if abs(now) <= loose * abs(start) and accept(t):
            return t
        # An end that stays twice has its slope halved, or secants creep along it (Illinois rule).
        halved = 0.5 if now * before > 0 else 1.0
        if now > 0:
            high, at_high, at_low = t, now, halved * at_low
        else:
            low, at_low, at_high = t, now, halved * at_high
        before = now
        if stop():
            return t
        if low == limit or high - low <= narrow * high < np.inf:
            break
        if high == np.inf:
            # 1.2: an outward trial goes this many times as far as the secant says
            reach = 1.2 * t * start / (start - now) if now > start else np.inf
            # At least twice and at most ten times as far as before: secants can be off.
            t = min(max(reach, 2.0 * t), 10.0 * t, limit)
            continue
        root = low - at_low * (high - low) / (at_high - at_low)
        # 0.05: share of the bracket that a trial keeps from its ends: at a kink a secant is off
        margin = 0.05 * (high - low)
        t = min(max(root, low + margin), high - margin)
    return low if low > 0 else t


def best_share(
    problem: Problem, scores: np.ndarray, target: np.ndarray, norms: tuple[float, float, float],
    sums: PairSums | None = None, loose: float = 0.02, trials: int = 24, *,
    accept_any: bool = False, stop: Callable[[], bool] = lambda: False,
) -> tuple[float, float, PairSums]:  # fmt: skip
    """Return the best share of the way between two functions that was tried, F there, and its sums.
    `norms` are |f|^2, <f, d> and |d|^2, d the way. F is convex along it, so the sign of its slope
    tells the side; where the loss overflows it rises. The target comes first."""
    lam, shift, (norm2, cross, length2) = problem.lam, target - scores, norms
    sums = problem.sums(scores) if sums is None else sums
    best = 0.0, float(sums.value + lam / 2 * norm2), sums

    def slope(t: float) -> float:
        nonlocal best
        try:
            now = problem.sums(target if t == 1.0 else scores + t * shift)
        except OverflowingError:
            return np.inf
        value = float(now.value + lam / 2 * max(norm2 + 2 * t * cross + t**2 * length2, 0.0))
        if value < best[1]:
            best = t, value, now
        return lam * (cross + t * length2) - float(now.c @ shift)

    first = lam * cross - float(sums.c @ shift)
    if first < 0:
        # Where the first slope is steep, a point that is flat next to it may still be a bad one.
        accept: Any = (lambda t: True) if accept_any else (lambda t: t == best[0])
        # 1e-3: a segment is searched to this bracket
        limits: Any = {"accept": accept, "limit": 1.0, "narrow": 1e-3, "stop": stop}
        root_of_slope(slope, first, loose, trials, **limits)
    else:
        slope(1.0)  # near the optimum the sign may be rounding
    return best


def best_on_segment(
    problem: Problem, w: np.ndarray, scores: np.ndarray, target: np.ndarray,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return the best point found on the way from `w` to `target`, and its objective."""
    space = problem.space
    norm_w, norm_target, norm_shift = (space.norm2(v) for v in (w, target, target - w))
    norms = norm_w, (norm_target - norm_w - norm_shift) / 2, norm_shift
    share, *_ = best_share(problem, scores, space.scores(target), norms, stop=stop)
    found = target if share == 1.0 else w + share * (target - w)
    return found, problem.objective(found)


def starting_sample(problem: Problem) -> Problem | None:
    """Return a large problem over a sample of its rows, a warm start; None where none pays."""
    least = max(LEAST_ROWS, ROWS_PER_COORDINATE * problem.space.dim)
    if not isinstance(problem.pairs, AllPairs) or problem.n < LARGE * least:
        return None
    # 100: most rows of a sample, in least ones: more say no more
    return subsample(problem, max(least, min(problem.n // THINNING, 100 * least)))


def part_of(problem: Problem) -> Problem | None:
    """Return the problem over a part of many rows that are held; None for few."""
    space = problem.space
    if isinstance(problem.risk, Tail):
        return _part_of_tail(problem, problem.risk)
    pairs, found = problem.pairs, None
    size = max(problem.n // THINNING, LEAST_ROWS, ROWS_PER_COORDINATE * space.dim)
    if problem.n < max(FEWEST, 4 * size) or space.held is None:
        return None
    if isinstance(pairs, AllPairs):
        return subsample(problem, size)
    if isinstance(pairs, OrderedPairs):
        found = pairs.part(size, np.random.default_rng(0))
    return None if found is None else problem.on_rows(Rows(space.held.raw[found[0]]), found[1])


def _part_of_tail(problem: Problem, risk: Tail) -> Problem | None:
    """Return partial AUC over a part of many rows, of each class as large a part as before."""
    size = 20_000  # rows, of which only a part counts
    if problem.n <= 2 * size or problem.space.held is None:
        return None
    pairs = risk.mean.pairs
    wanted = _wanted(pairs.n_pos, pairs.n_neg, size)
    index = _thinned(problem, pairs.positive, wanted)
    few = AllPairs(form=pairs.form).on(pairs.positive[index])
    # The parts in thousandths: sums of row weights stay whole numbers.
    kp, kq = (
        min(max(Fraction(round(1000 * k * share), 1000), Fraction(1)), Fraction(n))
        for k, share, n in zip((risk.kp, risk.kq), wanted, (few.n_pos, few.n_neg), strict=True)
    )
    rows = Rows(problem.space.held.rows(index), check=False, centred=True)
    return Problem(rows, Tail(Mean(few, risk.mean.loss), kp, kq), problem.penalty)


def _wanted(n_pos: int, n_neg: int, size: int) -> tuple[float, float]:
    """Return the shares of both classes in a sample of about `size` rows."""
    least, n = size // 10, n_pos + n_neg
    plus, minus = (min(k, max(least, round(size * k / n))) / k for k in (n_pos, n_neg))
    return plus, minus


def held_part(problem: Problem) -> Problem:
    """Return a sample, held in memory, of rows in blocks or partitions; all of them where few."""
    space = problem.space.grouped
    if space is None:
        held = starting_sample(problem) or subsample(problem, problem.n)
        assert held is not None  # all rows have some of weight
        return held
    size = max(problem.n // THINNING, 4 * LEAST_ROWS, 10 * ROWS_PER_COORDINATE * space.dim)
    size = min(size, 50_000_000 // space.dim)  # numbers in the rows of a sample of groups (400 MB)
    if 2 * size < problem.n:
        drawn = space.drawn_groups(size)
        if drawn.key.size:
            with suppress(NoPairError):
                return _of_groups(problem, drawn)
    return _of_groups(problem, space.all_rows())


def _of_groups(problem: Problem, drawn: Drawn) -> Problem:
    pairs = OrderedPairs(drawn.group, drawn.key, drawn.weight, drawn.weight)
    return problem.on_rows(Rows(drawn.rows), pairs)


def subsample(problem: Problem, size: int) -> Problem | None:
    """Return the problem over about `size` rows, each class thinned evenly, held in memory; None
    where the rows with a weight above 0 are too few for that."""
    pairs, space, wanted = problem.pairs, problem.space, _wanted(problem.n_pos, problem.n_neg, size)
    if space.apart is not None:
        found, positive, weight, *_ = space.apart.drawn(*wanted[::-1])
        rows = Rows(found - space.apart.offset)
    else:
        index = _thinned(problem, pairs.positive, wanted)
        positive, weight = pairs.positive[index], pairs.weight
        weight = None if weight is None else weight[index]
        rows = Rows(space.rows(index), check=False, centred=True)
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        if space.apart is not None:
            raise InputError("the rows with a weight above 0 are so few that a sample has none")
        return None
    return problem.on_rows(rows, AllPairs(weight).on(positive))


def _thinned(problem: Problem, is_positive: np.ndarray, wanted: tuple[float, float]) -> np.ndarray:
    """Return ascending row numbers: of each class every k-th row, the first always."""
    chosen: list[np.ndarray] = []
    seen = [0, 0]
    for rows in problem.space.blocks():
        positive = is_positive[rows]
        for side, own in enumerate((positive, ~positive)):
            at = np.flatnonzero(own)
            chosen.append(rows.start + at[marks(seen[side], at.size, wanted[side])])
            seen[side] += at.size
    return np.sort(np.concatenate(chosen))
