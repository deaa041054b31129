"""The certificate of any point, with a dual point made from its scores alone."""

from __future__ import annotations

import numpy as np

from ..losses.registry import HINGE
from ..problem.problem import Problem
from ..spaces.rows import Space
from .certificate import Certificate, Minorant

# Smoothing widths of the hinge's kink whose bounds are compared.
WIDTHS = (0.0, *np.geomspace(1e-3, 10.0, 13).tolist())


def full_certificate(problem: Problem, w: np.ndarray, space: Space | None = None) -> Certificate:
    """Return how far any `w` is from the optimum, by the best dual point of its own scores.

    The slopes of the loss at the scores are a dual point, whatever the width over which the hinge's
    kink is smoothed. The width that proves the most is taken.
    """
    scores = problem.space.scores(problem.check_weights(w))
    widths = WIDTHS if problem.loss == HINGE else WIDTHS[:1]
    witnesses = [Minorant.from_scores(problem, scores, width) for width in widths]
    quick = problem.space if space is None else space

    def bound(witness: Minorant) -> float:
        return witness.value - quick.norm2(quick.pull(witness.c)) / (2 * problem.lam)

    return Certificate.of(problem, w, max(witnesses, key=bound))
