"""The exponential loss as a product: its bounds of rounding hold, and have all their terms."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.sums.convolved import EXPONENTIAL_UNITS
from aucert.exact.tools.rounding import UNIT, gamma, short_chain
from loops import each, seeds

LOSS = ALL_LOSSES["exponential"]
JUST = 1 - 1e-9


def scored(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, positive rows and weights, some of them zero; some scores far apart."""
    rng = np.random.default_rng([5, seed])
    n = 12
    s = rng.normal(size=n) * 10.0 ** rng.integers(-1, 3)
    return s, np.arange(n) % 3 == 0, rng.integers(0, 3, n) + (np.arange(n) < 2)


def exact_sums(s: np.ndarray, y: np.ndarray, r: np.ndarray) -> tuple[Decimal, list[Decimal]]:
    """The mean loss and the marginals, to sixty digits."""
    values, one = [Decimal(float(x)) for x in s], Decimal(1)
    mass = Decimal(int(r[y].sum()) * int(r[~y].sum()))
    value, c = Decimal(0), [Decimal(0)] * s.size
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            part = one * int(r[i]) * int(r[j]) / mass * (values[j] - values[i]).exp()
            value, c[i], c[j] = value + part, c[i] + part, c[j] - part
    return value, c


@each("seed", seeds(12))
def test_the_bounds_hold_to_sixty_digits(seed: int) -> None:
    s, y, r = scored(seed)
    found = AllPairs(r).on(y).sums(s, LOSS)
    with localcontext() as context:
        context.prec = 60
        value, c = exact_sums(s, y, r)
        apart = sum(abs(Decimal(float(x)) - k) for x, k in zip(found.c, c, strict=True))
        linear = sum(k * Decimal(float(x)) for k, x in zip(c, s, strict=True))
        assert abs(Decimal(found.value) - value) <= Decimal(found.value_rounding)
        assert apart <= Decimal(found.rounding)
        off = abs(Decimal(found.conjugate) - (value + linear))
        assert off <= Decimal(found.conjugate_rounding)


@each("seed", seeds(12))
def test_every_term_of_the_bounds_is_there(seed: int) -> None:
    s, y, r = scored(seed)
    found = AllPairs(r).on(y).sums(s, LOSS)
    used = r > 0
    least, most = s[y & used].min(), s[~y & used].max()
    worst, middle = abs(most - least), (most + least) / 2
    chain, unit = gamma(2 * short_chain(s.size) + 4 * EXPONENTIAL_UNITS), 4 * UNIT
    size = np.abs(found.c)
    mass = float(size @ (1 + np.abs(np.where(used, s - middle, 0.0))))
    relative = chain * found.value + unit * (mass + worst * found.value)
    rounding = 2 * (relative + chain * float(size.sum()))
    linear = float(size @ np.abs(np.where(used, s - middle, 0.0)))
    slips = rounding * (1 + worst) + chain * (found.value + linear) + unit * mass * (1 + worst)
    assert found.value_rounding >= 2 * relative * JUST
    assert found.rounding >= rounding * JUST
    assert found.conjugate_rounding >= 2 * slips * JUST
