"""Weights of ordered pairs as products of whole numbers, so that their sums are exact.

The pair (i, j) weighs sum over terms of coefficient * a_i * b_j, divided by the mass of all pairs,
or of its group's. One term is enough for weights a_i b_j of moderate size. Weights of more bits are
split into parts of `LIMB` bits, and gains, a_i b_j (gain_i - gain_j), are a difference of two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError, NoPairError
from .arrangement import Arrangement

LIMB = 18  # Bits of a part of a weight that is split.

LARGEST_MASS = 1 << 40  # Weights are split unless a row's pairs weigh less than this in every term.

TOO_LARGE = "gains times weights are too large: use smaller whole numbers"


@dataclass(frozen=True, eq=False)
class Term:
    """One product of row weights; arrays are by place of the arrangement."""

    coefficient: int
    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True, eq=False)
class PairWeights:
    """The weights of ordered pairs."""

    terms: tuple[Term, ...]
    whole: tuple[Term, ...]
    mass: int
    inflation: float
    factor: np.ndarray
    shared: bool

    @classmethod
    def of(
        cls,
        at: Arrangement,
        a: np.ndarray,
        b: np.ndarray,
        gain: np.ndarray | None = None,
        share: np.ndarray | None = None,
    ) -> PairWeights:
        """Return the weights of whole-number row weights, all by place."""
        whole = (Term(1, a, b),)
        if gain is not None and share is not None:
            raise InputError("give gains or shares of the groups, not both")
        if gain is not None:
            if max(int(a.max()), int(b.max())) * int(gain.max()) >= LARGEST_MASS:
                raise InputError(TOO_LARGE)  # before the products: they could overflow unseen
            whole = (Term(1, a * gain, b), Term(-1, a, b * gain))
        terms = whole
        if max(largest_mass(at, term) for term in whole) >= LARGEST_MASS:
            if gain is not None:
                raise InputError(TOO_LARGE)
            terms = tuple(_split(at, whole[0]))
        masses = [[term.coefficient * m for m in group_masses(at, term)] for term in terms]
        by_group = [sum(parts) for parts in zip(*masses, strict=True)]
        mass = sum(by_group)
        if mass == 0:
            raise NoPairError(
                "no pair is ordered: a group needs an upper row above a lower one, both of weight"
            )
        inflation = sum(abs(sum(part)) for part in masses) / mass
        if share is None:
            return cls(terms, whole, mass, inflation, np.full(len(by_group), 1 / mass), False)
        held = np.array([m > 0 for m in by_group])
        whole_share = float(share[held].sum(dtype=np.longdouble))
        if not whole_share > 0:
            raise InputError("no group that has an ordered pair has a share")
        pairs = zip(share.tolist(), by_group, strict=True)
        factor = np.array([part / (whole_share * m) if m else 0.0 for part, m in pairs])
        return cls(terms, whole, mass, inflation, factor, True)


def partners(at: Arrangement, b: np.ndarray) -> np.ndarray:
    """Return the total weight of the rows below each place: the exact sum of b."""
    running = np.concatenate([[0], np.cumsum(b)])
    return running[at.end] - running[at.below]


def rows_above(at: Arrangement, a: np.ndarray) -> np.ndarray:
    """Return the total weight of the rows above each place: the exact sum of a."""
    running = np.concatenate([[0], np.cumsum(a)])
    block_starts = np.concatenate([[0], at.block_ends[:-1]])
    group_starts = np.concatenate([[0], at.group_ends[:-1]])
    return running[block_starts[at.block]] - running[group_starts[at.group]]


def largest_mass(at: Arrangement, term: Term) -> int:
    """Return a bound of the total weight of the pairs of one row."""
    tops = []
    for one, other in ((term.a, term.b), (term.b, term.a)):
        starts = np.concatenate([[0], at.group_ends[:-1]])
        summed = float(np.add.reduceat(other.astype(float), starts).max())  # int64 might overflow
        tops.append(int(one.max()) * (int(summed * (1 + 1e-6)) + 1))
    return max(tops)


def group_masses(at: Arrangement, term: Term) -> list[int]:
    """Return the exact total weight of the pairs of each group."""
    masses = term.a * partners(at, term.b)
    starts = np.concatenate([[0], at.group_ends[:-1]])
    high, low = (np.add.reduceat(part, starts) for part in (masses >> 32, masses & 0xFFFFFFFF))
    return [(x << 32) + y for x, y in zip(high.tolist(), low.tolist(), strict=True)]


def _split(at: Arrangement, term: Term) -> list[Term]:
    """Return terms with small weights that add up to a term with large ones."""
    found = []
    for e, a in _limbs(term.a):
        for f, b in _limbs(term.b):
            part = Term(1 << (e + f), a, b)
            if largest_mass(at, part) >= LARGEST_MASS << 8:
                raise InputError("so many rows of such large weights have no exact sums")
            found.append(part)
    return found


def _limbs(values: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return shifts and parts of `LIMB` bits with values = sum 2^shift part, without zeros."""
    parts = [(e, (values >> e) & ((1 << LIMB) - 1)) for e in range(0, 54, LIMB)]
    return [(e, part) for e, part in parts if part.any()]
