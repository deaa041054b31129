"""Pairs drawn from rows in partitions: only the rows that they name are fetched.

Which pairs are drawn depends on the number of rows of each class alone, so that the same seed draws
the same pairs in memory and in partitions.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...exact.certificate.certificate import Certificate, Witness
from ...exact.certificate.evaluate_rows import binned_at
from ...exact.certificate.notes import noting
from ...exact.errors import InputError, TooLargeError
from ...exact.losses.registry import HINGE
from ...exact.pairs.pair_list import PairList
from ...exact.pairs.partitioned_pairs import pairs_in
from ...exact.problem.problem import Problem, Ridge
from ...exact.problem.risk import Mean
from ...exact.spaces.partitions.partitioned_rows import PartitionedRows
from ...exact.spaces.rows import Space
from .draw_pairs import draw_codes

MOST_NUMBERS = 1 << 28
"""Numbers in the rows that are fetched, at most (2 GB)."""

BINS, SMOOTH_BINS = 1 << 10, 1 << 9
"""Bins a unit of score of the certificate over all pairs."""

WIDTHS = (0.01, 0.1, 0.5, 2.0, 8.0)
"""Smoothing widths whose dual points of the hinge are compared: a pass over the rows each."""


def named_rows(
    rows: PartitionedRows, n_pairs: int, seed: int, different: bool
) -> tuple[np.ndarray, np.ndarray, PairList]:
    """Return the rows (m, d) that drawn pairs name, which of them are positive, and the pairs.

    Parameters
    ----------
    rows : PartitionedRows
        Without weights.
    n_pairs, seed
        As `draw_pairs`.
    different : bool
        Whether to draw without replacement.

    Raises
    ------
    InputError
        If rows have weights, a class is missing, or more different pairs are wanted than there are.
    TooLargeError
        If too many rows would be fetched.
    """
    facts = rows.facts
    if facts.weighted:
        raise InputError(
            "pairs are drawn from partitions whose rows have no weights: leave them out"
        )
    pairs_in(facts)
    n_pos, n_neg = facts.n_pos, facts.n - facts.n_pos
    if min(2 * n_pairs, facts.n) * rows.dim > MOST_NUMBERS:
        raise TooLargeError(
            f"{n_pairs} drawn pairs name up to {min(2 * n_pairs, facts.n)} rows of {rows.dim} "
            f"columns, which are fetched: draw at most {MOST_NUMBERS // (2 * rows.dim)} pairs "
            "(n_pairs)"
        )
    i, j = np.divmod(draw_codes(n_pos, n_neg, n_pairs, seed, not different), n_neg)
    plus, at_i = np.unique(i, return_inverse=True)
    minus, at_j = np.unique(j, return_inverse=True)
    found = rows.named(minus, plus)
    positive = found.positive
    listed = PairList(
        np.flatnonzero(positive)[at_i], np.flatnonzero(~positive)[at_j], None, positive
    )
    return found.rows, positive, listed


def certificate_over_all(
    rows: PartitionedRows, loss: Any, lam: float, w: np.ndarray
) -> Certificate:
    """Return how far `w` is from the optimum over all pairs, by a dual point of its scores.

    The point is shrunk by the rule that holds for any loss. In memory the square and the squared
    hinge have a better rule of their own, so that there the gap of weights far from the optimum is
    smaller.
    """
    problem = Problem(cast(Space, rows), Mean(pairs_in(rows.facts), loss), Ridge(lam))
    with noting():
        grids = [(SMOOTH_BINS, 0)]
        if loss == HINGE:
            grids = [(BINS, max(1, round(width * BINS / 2))) for width in WIDTHS]
        found = [Certificate.of(problem, w, _scaled(problem, w, *grid)) for grid in grids]
    return max(found, key=lambda one: one.dual)


def _scaled(problem: Problem, w: np.ndarray, bins: int, half: int) -> Witness:
    """Return the dual point of the scores of `w` at its best scale."""
    found = binned_at(problem, w, bins, half)
    return Witness.from_weights(problem, w, found.bins, half, found.scale(problem.lam))
