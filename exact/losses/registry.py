"""What a loss of a pair must state, what follows from it, the six losses, and their list by name.

A loss is a convex function of the margin t = f(x_i) - f(x_j). Its dual part is
``dual(alpha) = -loss*(-alpha)``, the least value of loss(t) + alpha t over all t; alpha is
feasible where that is not minus infinity. Certificates need no more than Fenchel's inequality for
every feasible alpha: ``loss(t) >= dual(alpha) - alpha t``, with equality at alpha = -loss'(t)."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import InputError, brief
from ..sums.binned import binned_hinge
from ..sums.convolved import LARGEST_EXPONENT, check_margin, convolved, exponential_sums, few_pairs
from ..sums.swept import PairSums, hinge_sums, quadratic_sums
from ..tools.arrays import check_choice

# Margins at which a loss of one's own is held to its contract.
GRID = np.concatenate([-np.geomspace(500, 1e-3, 25), [0.0], np.geomspace(1e-3, 500, 25)])


class Loss(Protocol):
    """A convex loss of the margin t, with value >= 0 and dual(0) >= 0. Functions are elementwise,
    right to a few units in the last place of their largest term: `value` is loss(t), `alpha` is
    -loss'(t), smoothed over `width` at a kink, `dual` is -loss*(-alpha), the least value of loss(t)
    + alpha t, and `clip` returns the nearest feasible alpha. `name` is that of the command line.
    `lipschitz` and `smoothness` bound |loss'| and loss'', or are infinite; `nonincreasing` says
    that alpha >= 0. ``all_pairs(pairs, scores, width)`` may give the sums over all pairs, or None
    where these are summed one by one."""

    @property
    def name(self) -> str: ...
    @property
    def lipschitz(self) -> float: ...
    @property
    def smoothness(self) -> float: ...
    @property
    def nonincreasing(self) -> bool: ...
    def value(self, t: np.ndarray) -> np.ndarray: ...
    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray: ...
    def dual(self, alpha: np.ndarray) -> np.ndarray: ...
    def clip(self, alpha: np.ndarray) -> np.ndarray: ...


def kinked(loss: Loss) -> bool:
    """Return whether a loss must be smoothed: it has a kink, and bounded slopes on both sides."""
    return not np.isfinite(loss.smoothness) and bool(np.isfinite(loss.lipschitz))


def check_loss(loss: Loss) -> Loss:
    """Refuse a loss that breaks its contract on a grid: a lacking method, wrong sign or factor."""
    wanted = ("name", "lipschitz", "smoothness", "nonincreasing", "value", "alpha", "dual", "clip")
    missing = [part for part in wanted if not hasattr(loss, part)]
    if missing:
        raise InputError(
            f"unknown loss {brief(loss)}: take a name, or an object with {', '.join(wanted)} "
            f"(it lacks {missing[0]})"
        )
    value, alpha = np.asarray(loss.value(GRID)), np.asarray(loss.clip(loss.alpha(GRID)))
    dual = np.asarray(loss.dual(alpha))
    above = float(np.asarray(loss.dual(np.asarray(loss.clip(np.zeros(1)))))[0])
    if not (np.isfinite(value).all() and (value >= 0).all() and above >= 0):
        raise InputError(f"the loss {loss.name!r} must have value >= 0 and dual(0) >= 0")
    terms = np.abs(dual)[:, None] + np.abs(alpha[:, None] * GRID[None, :]) + value[None, :]
    excess = dual[:, None] - alpha[:, None] * GRID[None, :] - value[None, :]
    wrong = np.argwhere(~(excess <= 1e-12 * (1 + terms)))
    if wrong.size:
        k, j = wrong[0]
        raise InputError(
            f"the loss {loss.name!r} breaks loss(t) >= dual(alpha) - alpha t at t = {GRID[j]:g}, "
            f"alpha = {alpha[k]:g}: its dual part is not -loss*(-alpha)"
        )
    if loss.nonincreasing and (alpha < 0).any():
        raise InputError(f"the loss {loss.name!r} has alpha < 0, so it is not nonincreasing")
    return loss


def shrunk_dual(loss: Loss, total: float, conjugate: float) -> tuple[float, float]:
    """Return p and q with sum c dual(s alpha) >= s p - s^2 q for every s in [0, 1]. A dual part is
    concave with dual(0) >= 0, so that q = 0 will do; a loss may know better."""
    own = getattr(loss, "shrunk_dual", None)
    return (conjugate, 0.0) if own is None else own(total, conjugate)


def steepness(loss: Loss, t: np.ndarray, slip: np.ndarray) -> np.ndarray:
    """Return a bound of |loss'| within `slip` of t: the slope of a convex loss grows with t."""
    if np.isfinite(loss.lipschitz):
        return np.full(t.shape, loss.lipschitz)
    if not np.isfinite(loss.smoothness):
        ends = np.abs(loss.alpha(t - slip)), np.abs(loss.alpha(t + slip))
        return np.maximum(*ends) * (1 + 1e-12)
    return np.abs(loss.alpha(t)) + loss.smoothness * slip


def loss_slip(loss: Loss, mass: np.ndarray, error: np.ndarray, value: float) -> float:
    """Return what errors e = e_i + e_j of margins can do to the mean loss: at most lipschitz
    mean |e|, and, as loss'^2 <= 2 smoothness loss, sqrt(2 smoothness value) rms(e) + smoothness / 2
    rms(e)^2. A loss may have its own ``slip(mass, error, value)``."""
    own = getattr(loss, "slip", None)
    if own is not None:
        return float(own(mass, error, value))
    slips = []
    if np.isfinite(loss.lipschitz):
        slips.append(loss.lipschitz * float(mass @ error))
    if np.isfinite(loss.smoothness):
        with np.errstate(over="ignore"):  # infinite is a bound, too
            rms = float(np.sqrt(2 * float(mass @ error**2)))
        rough = float(np.sqrt(2 * loss.smoothness * value))
        slips.append(rough * rms + loss.smoothness / 2 * rms**2)
    if not slips:
        raise InputError(f"the loss {loss.name!r} bounds neither its slope nor its curvature")
    return min(slips)


class _Bounded:
    """A loss whose slope is between -1 and 0."""

    lipschitz, nonincreasing = 1.0, True

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(alpha, 0.0), 1.0)


class _Convolved(_Bounded):
    """One with the attributes and methods that `sums.convolved` lists."""

    def all_pairs(self, pairs: Any, scores: np.ndarray, width: float) -> PairSums | None:
        few = few_pairs(pairs, scores, width)
        return None if few else convolved(pairs, scores, self, width)


@dataclass(frozen=True)
class Hinge(_Bounded):
    """The hinge max(0, 1 - t); alpha in [0, 1]; dual part alpha. [ScalingUp, eq. (4), eq. (13);
    SAUC, eq. (2); Nonlinear, eq. (2), p = 1]"""

    name, smoothness = "hinge", np.inf

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        if width > 0:
            return np.minimum(np.maximum((1.0 - t) / width + 0.5, 0.0), 1.0)
        return (t < 1.0).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha

    def all_pairs(self, pairs: Any, scores: np.ndarray, width: float) -> PairSums:
        sums = binned_hinge if pairs.form == "binned" else hinge_sums
        return sums(pairs, scores, width)


class _Curved:
    """A loss whose dual part is alpha - corner alpha^2 / 2."""

    corner: float

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - self.corner * alpha**2 / 2.0

    def shrunk_dual(self, total: float, conjugate: float) -> tuple[float, float]:
        """The conjugate sum of s alpha is s p - s^2 q, here exactly."""
        return total, total - conjugate


@dataclass(frozen=True)
class SquaredHinge(_Curved):
    """The squared hinge max(0, 1 - t)^2; alpha >= 0; dual part alpha - alpha^2 / 4. [Nonlinear, eq.
    (2), p = 2, eq. (5)]"""

    name, nonincreasing = "squared_hinge", True
    corner, lipschitz, smoothness = 0.5, np.inf, 2.0

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return 2.0 * np.maximum(0.0, 1.0 - t)

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, alpha)

    def all_pairs(self, pairs: Any, scores: np.ndarray, width: float) -> PairSums:
        return quadratic_sums(pairs, scores, square=False)


@dataclass(frozen=True)
class Square(_Curved):
    """The square (1 - t)^2; any alpha; dual part alpha - alpha^2 / 4. [SHT, eq. (3)]"""

    name, nonincreasing = "square", False
    corner, lipschitz, smoothness = 0.5, np.inf, 2.0

    def value(self, t: np.ndarray) -> np.ndarray:
        return (1.0 - t) ** 2

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return 2.0 * (1.0 - t)

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return alpha

    def all_pairs(self, pairs: Any, scores: np.ndarray, width: float) -> PairSums:
        return quadratic_sums(pairs, scores, square=True)


@dataclass(frozen=True)
class Logistic(_Convolved):
    """The logistic loss log(1 + exp(-t)); alpha in [0, 1]; dual part the entropy of alpha,
    -alpha log(alpha) - (1 - alpha) log(1 - alpha). Over the pairs of a query it is RankNet's."""

    name, smoothness = "logistic", 0.25
    centre, reach = 0.0, 44.0

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -t) + np.log1p(np.exp(-np.abs(t)))

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        small = np.exp(-np.abs(t))
        return np.where(t > 0, small, 1.0) / (1.0 + small)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        upper = alpha * np.log(np.where(alpha > 0, alpha, 1.0))
        return -upper - (1.0 - alpha) * np.log1p(-np.where(alpha < 1, alpha, 0.0))

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        small = np.exp(-np.abs(x))
        small = small / (1.0 + small)
        rest = np.where(step == 0.5, 0.0, np.where(step > 0.5, -small, small))
        return rest, self.dual(small)

    def bent(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        small = np.exp(-np.abs(x))
        bend = small / (1.0 + small) ** 2
        return bend, x * bend

    def remainders(self, h: float) -> tuple[float, float]:
        r = 1 - h - h * h / 4  # within h of t, alpha (1 - alpha) >= r B [docs/certificates.md]
        # The last hundredth pays for rounding theta.
        return 1 / (6 * r * r), float(np.exp(2 * h)) / (8 * r) * 1.01

    def tail(self, distance: float) -> float:
        return float(np.exp(-distance)) * (1 + 1e-12)


@dataclass(frozen=True)
class SmoothHinge(_Curved, _Convolved):
    """0 for t >= 1, (1 - t)^2 / (2 corner) to t = 1 - corner, then 1 - t - corner / 2.

    alpha in [0, 1]; dual part alpha - corner alpha^2 / 2.

    Parameters
    ----------
    corner : float
        Width of the rounded corner, in units of the margin, from 0.001 to 1000.

    Raises
    ------
    InputError
        If `corner` is outside that range.
    """

    corner: float = 1.0
    name = "smooth_hinge"

    def __post_init__(self) -> None:
        # A narrower one is a hinge to the solvers, a wider one a square.
        if not 1e-3 <= self.corner <= 1e3:
            raise InputError(f"corner = {self.corner!r}: it is a number between 0.001 and 1000")

    @property
    def smoothness(self) -> float:
        return float(np.nextafter(1.0 / self.corner, np.inf))  # 1 / corner, rounded up

    @property
    def centre(self) -> float:
        return 1.0 - self.corner / 2.0  # where alpha is one half

    @property
    def reach(self) -> float:
        return self.corner / 2.0 + 1e-9 * (1.0 + self.corner)

    def value(self, t: np.ndarray) -> np.ndarray:
        z = np.maximum(0.0, 1.0 - t)
        rounded = np.minimum(z, self.corner)
        return rounded * (rounded / (2.0 * self.corner)) + (z - rounded)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.minimum(np.maximum((1.0 - t) / self.corner, 0.0), 1.0)

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        alpha = np.clip(0.5 - x / self.corner, 0.0, 1.0)
        return alpha - step, self.dual(alpha) - (1.0 - self.corner / 2.0) * step

    def tail(self, distance: float) -> float:
        return 0.0  # outside its corner the loss is linear


@dataclass(frozen=True)
class Exponential:
    """The exponential loss exp(-t); alpha >= 0; dual part alpha - alpha log(alpha). Over all pairs
    it is the loss of RankBoost, and the product of the class means of exp(-s_i) and exp(s_j)."""

    name, nonincreasing = "exponential", True
    lipschitz = smoothness = np.inf

    def value(self, t: np.ndarray) -> np.ndarray:
        check_margin(float(np.min(t, initial=0.0)))
        return np.exp(-np.asarray(t))

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return self.value(t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - alpha * np.log(np.where(alpha > 0, alpha, 1.0))

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, alpha)

    def slip(self, mass: np.ndarray, error: np.ndarray, value: float) -> float:
        most = 2.0 * float(np.max(error[mass > 0], initial=0.0))
        if not most <= LARGEST_EXPONENT:
            raise InputError(
                f"scores are known to within {most / 2:g} only: the exponential loss cannot "
                "be bounded, take smaller weights or another loss"
            )
        return value * float(np.expm1(most)) * (1 + 1e-12)

    def all_pairs(self, pairs: Any, scores: np.ndarray, width: float) -> PairSums:
        return exponential_sums(pairs, scores)


HINGE = Hinge()
SQUARED_HINGE = SquaredHinge()
SQUARE = Square()
LOGISTIC = Logistic()
SMOOTH_HINGE = SmoothHinge()
EXPONENTIAL = Exponential()

# The losses that are quadratic in pieces, or linear: their sums can be had in whole numbers.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, SQUARE)}
# The other losses. For a new one, write a class and add it here.
SMOOTH_LOSSES: dict[str, Loss] = {loss.name: loss for loss in (LOGISTIC, SMOOTH_HINGE, EXPONENTIAL)}
ALL_LOSSES: dict[str, Loss] = LOSSES | SMOOTH_LOSSES
# A loss of any other class is held to its contract.
OURS: tuple[type, ...] = tuple(type(loss) for loss in ALL_LOSSES.values())


def get_loss(loss: str | Loss) -> Loss:
    if isinstance(loss, str):
        return ALL_LOSSES[check_choice("loss", loss, ALL_LOSSES)]
    if type(loss) in OURS:
        return loss
    if isinstance(loss, OURS):
        raise InputError(
            f"the loss {loss!r} is a child of one of ours, whose sums over all pairs it would "
            "inherit: write it as a class of its own"
        )
    return check_loss(loss)
