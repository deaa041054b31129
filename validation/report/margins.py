"""Which side of the margin a pair is on for the exact optimum, told by a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...exact.errors import InputError
from ...exact.problem.problem import split_labels
from ...exact.spaces.kernels import Linear, get_kernel
from ...exact.tools.checks import check_count

# Relative error of a score, generously: features of order one, up to some 10,000 of them.
ROUNDING = 1e-10


def last_step(model: Any) -> tuple[Any, Any]:
    """Return the transformers before the classifier, None if there are none, and the classifier."""
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return None, model
    before = model[:-1] if len(model.steps) > 1 else None
    return before, model.steps[-1][1]


def scored_rows(model: Any, X: object, y: object) -> tuple[np.ndarray, np.ndarray]:
    """Return f at the rows, without the intercept, and the mask of the positive rows."""
    _, classifier = last_step(model)
    if not hasattr(model, "decision_function") or not hasattr(classifier, "intercept_"):
        raise InputError("give a fitted model with decision_function and intercept_")
    positive, _, _ = split_labels(y, classifier.classes_[1])
    scores = np.asarray(model.decision_function(X)) - float(np.ravel(classifier.intercept_)[0])
    return scores, positive


def counted_pairs(model: Any, y: object, shown: int) -> str:
    """Return the label of an axis that counts pairs: it says so where only a sample is shown."""
    positive, _, _ = split_labels(y, last_step(model)[1].classes_[1])
    every = int(positive.sum()) * int((~positive).sum())
    return "pairs" if every == shown else f"pairs, {shown:,} drawn of {every:,}"


def certified_margins(
    model: Any, X: object, y: object, *, n_pairs: int = 20_000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins of pairs, and how far each can be from that of the exact optimum.

    With r the certificate's radius, |f - f*| <= r, so that the margin of a pair moves by at most
    r |k_i - k_j|: a margin farther than this from 1 is on the same side for the optimum.
    """
    check_count("n_pairs", n_pairs)
    before, classifier = last_step(model)
    kind = getattr(classifier, "kernel", "linear")
    if not hasattr(classifier, "certificate_") or kind == "precomputed":
        raise InputError("give a fitted model with a certificate, not with a precomputed kernel")
    scores, positive = scored_rows(model, X, y)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if plus.size * minus.size <= n_pairs:
        i, j = np.repeat(plus, minus.size), np.tile(minus, plus.size)
    else:
        rng = np.random.default_rng(seed)
        i, j = rng.choice(plus, n_pairs), rng.choice(minus, n_pairs)
    transformed: Any = X if before is None else before.transform(X)
    rows = transformed.toarray() if issparse(transformed) else np.asarray(transformed, dtype=float)
    if kind == "linear":
        length = np.sqrt(Linear().diagonal(rows[i] - rows[j]))
    else:  # |k_i - k_j| <= |k_i| + |k_j|
        norm = np.sqrt(get_kernel(kind, classifier.gamma, rows.shape[1]).diagonal(rows))
        length = norm[i] + norm[j]
    margins = scores[i] - scores[j]
    return margins, classifier.certificate_.radius * length + ROUNDING * (1 + np.abs(margins))
