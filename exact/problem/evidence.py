"""What a minorant is made from: enough to make it again, so that no claim in it is trusted.

A risk makes minorants (`Risk.minorant`) from the kinds of evidence that it knows and raises
`InputError` for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Scores:
    """The slopes of the loss at any scores: alpha = -loss'(margin), shrunk.

    Parameters
    ----------
    scores : array (n,)
        Feasibility does not depend on them, only the size of the gap does.
    width : float
        >= 0: smoothing of a loss with a kink, in units of score.
    scale : float in [0, 1]
        Shrinks alpha, which keeps it feasible.
    """

    scores: np.ndarray
    width: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Alpha:
    """One dual variable for each listed pair.

    Parameters
    ----------
    alpha : array (m,)
        In units where the hinge's box is [0, 1]; it is clipped into the loss's box.
    """

    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Marginals:
    """The summed alpha of each row's pairs, for the hinge over all pairs.

    Parameters
    ----------
    u, v : arrays (n_pos,), (n_neg,)
        >= 0, in units of the normalised pair weights: each adds up to at most one.
    """

    u: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """The slopes at the scores of some weights, rounded down to a grid, for rows read in blocks.

    Parameters
    ----------
    w : array (dim,)
    bins : int
        Bins a unit of score, a power of two.
    half : int
        Half width of the smoothing in bins, >= 0.
    scale : float in [0, 1]
        Shrinks alpha.
    """

    w: np.ndarray
    bins: int
    half: int
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Mix:
    """A mixture of other evidence: a mixture of minorants is a minorant.

    Parameters
    ----------
    parts : tuple of (float, Evidence)
        Shares in [0, 1] that add up to at most one (what is missing goes to the minorant zero, one
        because no loss is negative), each with its evidence.
    """

    parts: tuple[tuple[float, Evidence], ...]


Evidence = Scores | Alpha | Marginals | Weights | Mix
