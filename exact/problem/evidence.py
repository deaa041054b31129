"""What a minorant is made from: enough to make it again, so that no claim in it is trusted.

A risk makes minorants (`Risk.minorant`) from the kinds of evidence that it knows and raises
`InputError` for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Scores:
    """The slopes of the loss at any scores: alpha = -loss'(margin), shrunk."""

    scores: np.ndarray
    width: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Alpha:
    """One dual variable for each listed pair."""

    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Marginals:
    """The summed alpha of each row's pairs, for the hinge over all pairs."""

    u: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """The slopes at the scores of some weights, rounded down to a grid, for rows read in blocks."""

    w: np.ndarray
    bins: int
    half: int
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Mix:
    """A mixture of other evidence: a mixture of minorants is a minorant."""

    parts: tuple[tuple[float, Evidence], ...]


Evidence = Scores | Alpha | Marginals | Weights | Mix
