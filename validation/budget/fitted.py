"""Reading a fitted model: its features, its weights, and the problem that it was fitted to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...approx.drawn_pairs import draw_pairs
from ...approx.incomplete import IncompleteROCSVM
from ...approx.newton.truncated_newton import NewtonClassifier
from ...approx.nystrom import Nystrom
from ...exact.certificate.solution import Status
from ...exact.errors import InputError
from ...exact.losses.loss import Loss
from ...exact.losses.registry import HINGE, SQUARED_HINGE, get_loss
from ...exact.pairs.all_pairs import PairList
from ...exact.spaces.kernels import Kernel
from ...exact.spaces.rows import check_matrix
from ...exact.tools.rounding import above, gamma


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What an error budget needs of a model."""

    w: np.ndarray
    lam: float
    loss: Loss
    features: Callable[[Any], Any]
    inputs: Callable[[Any], Any]
    kernel: Kernel | None
    pairs: PairList | None
    replaced: bool
    stopped_at: float | None
    stated: float | None = None

    def check_objective(self, value: float) -> None:
        """Raise `InputError` unless the model was fitted to the objective that has this value.

        Row weights are not kept by a model, nor are the rows: what they were shows only here.
        """
        if self.stated is not None and abs(value - self.stated) > 1e-6 * abs(self.stated):
            raise InputError(
                f"the model's own objective is {self.stated:.6g}, on these rows it is {value:.6g}: "
                "it was fitted to other rows, with row weights or with a structure, and the "
                "budget knows none of these"
            )


def read_model(model: Any, positive: np.ndarray) -> FittedModel:
    """Return the parts of a fitted linear or Nyström classifier, or of a pipeline that ends in
    one."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    before, last = [step for step in steps[:-1] if step not in (None, "passthrough")], steps[-1]
    check_is_fitted(last)
    if not (hasattr(last, "coef_") and hasattr(last, "lam")):
        raise InputError(
            f"no error budget for {type(last).__name__}: it needs a model with coef_ and lam"
        )
    maps: list[Nystrom] = [step for step in before if isinstance(step, Nystrom)]
    if maps and (len(maps) > 1 or before[-1] is not maps[0]):
        raise InputError(
            "Nystrom must stand once, right before the model: its norm is the kernel's"
        )
    own: Nystrom | None = getattr(last, "nystrom_", None)
    if own is not None and maps:
        raise InputError("two Nystrom maps in a row: the kernel that is meant is not defined")
    chosen = own if own is not None else maps[0] if maps else None
    scalers = [step for step in before if step is not chosen]

    def inputs(X: Any) -> Any:
        for step in scalers:
            X = step.transform(X)
        return check_matrix(X)

    def features(X: Any) -> Any:
        return inputs(X) if chosen is None else chosen.map_.transform(inputs(X))

    return FittedModel(
        np.asarray(last.coef_[0], dtype=float),
        float(last.lam),
        _loss(last),
        features,
        inputs,
        None if chosen is None else chosen.map_.kernel,
        _pairs(last, positive),
        bool(getattr(last, "replace", True)),
        promised(float(last.tol)) if getattr(last, "status_", None) == Status.CERTIFIED else None,
        last.certificate_.primal if hasattr(last, "certificate_") else None,
    )


def promised(tol: float) -> float | None:
    """Return the absolute eps >= F_B(f) - p~_B that a relative tolerance promises before the draw.

    What is certified is primal - dual <= tol primal, and dual <= p~_B <= F_B(0) = 1 for every draw
    and each of the losses, so that primal <= 1 / (1 - tol): eps = tol / (1 - tol).
    """
    return above(tol / (1 - tol) * (1 + gamma(4))) if tol < 1 else None


def _loss(model: Any) -> Loss:
    if isinstance(model, NewtonClassifier):
        return SQUARED_HINGE
    named = getattr(model, "loss", None)
    return HINGE if named is None else get_loss(named)


def _pairs(model: Any, positive: np.ndarray) -> PairList | None:
    """Return the pairs that the model was fitted to, drawn again."""
    if not isinstance(model, IncompleteROCSVM):
        return None
    seed = model.random_state
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise InputError("the drawn pairs are not kept: fit with a number as random_state")
    return draw_pairs(positive, model.n_pairs_, int(seed), model.replace)
