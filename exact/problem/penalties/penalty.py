"""What is added to the risk: Omega(f) = l2/2 |f|^2 + sigma_C(f).

C is a convex set that contains 0, and sigma_C(f) = sup over p in C of <p, f> its support function.
Then sup_f <g, f> - Omega(f) = dist(g, C)^2 / (2 l2), attained at f = (g - P_C(g)) / l2: all that
solvers and certificates need is `residual(g)` = g - P_C(g). C = {0} is the ridge. With l2 = 0 a
minorant of pull g is shrunk until its pull lies in C. Proofs are in `docs/certificates.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from ...errors import InputError
from ...spaces.rows import Rows, Space
from ...tools.checks import check_number
from ...tools.rounding import Bound, gamma
from .ridge import check_weight

SHRINKINGS = 80  # Steps of the golden section that looks for the best factor of a dual point.


class Penalty(Protocol):
    """l2/2 |f|^2 + sigma_C(f).

    A penalty may also have `check(space)`, which refuses a space; `shrink(g, error)`, the
    largest s in [0, 1] with s (g + e) in C for all |e| <= error (needed where l2 = 0);
    `quick_distance`, as `distance` with less care and a larger bound; and
    `best_scale(space, c, linear, square)`. `FeaturePenalty` makes `value` and `distance` of a
    `support` and a `residual`.
    """

    @property
    def l2(self) -> float:
        """The weight of |f|^2 / 2, >= 0."""
        ...

    def value(self, space: Space, w: np.ndarray) -> Bound:
        """Return Omega at the coordinates `w` (dim,); infinite where a constraint is broken."""
        ...

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return the distance of pull(c) to C."""
        ...

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return g - P_C(g): (dim,)."""
        ...


class FeaturePenalty(ABC):
    """A penalty on the weights of the features themselves, made of its support and residual.

    A child states l2, `support(w)` = sigma_C(w) (a sum of terms >= 0, or infinity) and
    `residual(g)`, each right to a few units in the last place of |g|_2 and of its largest term for
    each coordinate. Centred rows have the same weights, so they will do; kernels, structured
    norms and rotated features have others and are refused.
    """

    l2: float

    @abstractmethod
    def support(self, w: np.ndarray) -> float:
        """Return sigma_C(w), the part of the penalty next to l2/2 |w|^2."""

    @abstractmethod
    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return g - P_C(g): (dim,)."""

    def check(self, space: Space) -> None:
        """Raise `InputError` unless the coordinates are the weights of the features."""
        self._rows(space)

    def _rows(self, space: Space) -> Rows:
        if space.given is None:
            raise InputError(
                f"{type(self).__name__} acts on the weights of the features: it needs linear rows "
                f"in memory, not {type(space).__name__}; take the ridge for kernels and structures"
            )
        return space.given

    def value(self, space: Space, w: np.ndarray) -> Bound:
        """Return l2/2 |w|^2 + sigma_C(w)."""
        value = self.l2 / 2 * self._rows(space).norm2(w) + float(self.support(w))
        return Bound(value, gamma(2 * w.size + 32) * value if np.isfinite(value) else 0.0)

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |residual(pull(c))|, the pull summed in the long format."""
        return self._apart(*self._rows(space).careful_pull(c))

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |residual(pull(c))|, the pull summed in plain floats."""
        rows = self._rows(space)
        return self._apart(rows.pull(c), rows.pull_error(c))

    def _apart(self, g: np.ndarray, error: float) -> Bound:
        """Return the distance of g to C, which moves by no more than g does."""
        slip = error + gamma(2 * g.size + 32) * float(np.linalg.norm(g))
        return Bound(float(np.linalg.norm(self.residual(g))), slip * (1 + gamma(8)))


def best_scale(
    penalty: Penalty, space: Space, c: np.ndarray, linear: float, square: float
) -> float:
    """Return the s in [0, 1] with about the largest s linear - s^2 square - dist(s g, C)^2/(2 l2).

    Any s is valid: this only has to be good.
    """
    own = getattr(penalty, "best_scale", None)
    if own is not None:
        return own(space, c, linear, square)
    if penalty.l2 == 0:
        return 1.0
    g = space.pull(c)

    def bound(s: float) -> float:
        apart = float(np.linalg.norm(penalty.residual(s * g)))
        return s * linear - s**2 * square - apart**2 / (2 * penalty.l2)

    low, high, part = 0.0, 1.0, (np.sqrt(5.0) - 1) / 2
    for _ in range(SHRINKINGS):
        one, other = high - part * (high - low), low + part * (high - low)
        low, high = (low, other) if bound(one) >= bound(other) else (one, high)
    return float(max((low, high, 1.0), key=bound))


def check_weights(l2: float, l1: float) -> tuple[float, float]:
    """Return l2 and l1 as floats; `InputError` unless they are >= 0, and not both zero."""
    numbers = []
    for name, value in (("l2", l2), ("l1", l1)):
        number = check_number(name, value, closed="low")
        numbers.append(check_weight(name, value) if number > 0 else number)
    if not any(numbers):
        raise InputError("without l2 the weight l1 must be > 0: there is no penalty otherwise")
    return numbers[0], numbers[1]


def fraction(limit: float, size: float) -> float:
    """Return min(1, limit / size), a few units in the last place lower."""
    fits = size * (1 + gamma(8)) <= limit * (1 - gamma(8))
    return 1.0 if fits else max(0.0, limit / size * (1 - gamma(16)))
