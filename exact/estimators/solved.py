"""Estimators made of solutions, and models certified anew."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..api.certify import certify_request
from ..certificate.audit import Audit
from ..certificate.solution import Solution
from ..errors import InputError
from ..formulation.request import Options
from .base import keep_solution
from .roc_svm import ROCSVM, SAUCSVM
from .saving import load_model, register, save_model
from .survival import RankingSVM, SurvivalSVM

__all__ = ["load_model", "recertify", "save_model"]


@dataclass(eq=False, repr=False)
class SolvedSVM(SAUCSVM):
    """What `aucert solve --out` writes where `ROCSVM` and `SAUCSVM` lack a part of the problem."""

    structure: float = 0.0
    _: KW_ONLY
    seed: int = 0
    worst_of: str | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.worst_of is not None:
            raise InputError("a model of worst groups is not fitted: call solve with worst_of")


@dataclass(eq=False, repr=False)
class SolvedOrder(SolvedSVM):
    """What `aucert solve --out` writes for ordered pairs: it gives scores, and knows no classes."""

    _: KW_ONLY
    qid: str | None = None
    target: str | None = None
    time: str | None = None
    event: str | None = None

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {k: shape for k, shape in super()._shapes().items() if k != "classes_"}

    def fit(self, *given: object, **named: object) -> Any:
        raise InputError("a model of ordered pairs is not fitted: call solve with qid or time")

    def predict(self, X: object) -> np.ndarray:
        """Return the score of each row: (n,)."""
        return self.decision_function(X)


register(ROCSVM, SAUCSVM, SolvedSVM, SolvedOrder, RankingSVM, SurvivalSVM)


def solved_model(
    solution: Solution,
    rows: Any,
    scores: np.ndarray,
    positive: np.ndarray,
    classes: np.ndarray,
    parameters: dict[str, Any],
    weight: np.ndarray | None = None,
) -> ROCSVM:
    """Return the estimator that a fit with these parameters would be, from an existing solution."""
    asked, kind = parameters, SolvedSVM
    if not str(asked["pairs"]).startswith("drawn") and asked.get("worst_of") is None:
        kind = SAUCSVM if asked["structure"] else ROCSVM
        asked = {name: asked[name] for name in asked.keys() & kind().get_params()}
    model = _keep(kind(**asked), solution, rows)
    model.classes_ = classes
    model._cut(scores, positive, weight, model.threshold)
    return model


def solved_order(solution: Solution, rows: Any, parameters: dict[str, Any]) -> SolvedOrder:
    model = _keep(SolvedOrder(**parameters), solution, rows)
    model.intercept_ = np.zeros(1)
    return model


def _keep(model: Any, solution: Solution, rows: Any) -> Any:
    model.n_features_in_ = int(rows.shape[1])
    keep_solution(model, solution)
    model._keep(rows)
    return model


def recertify(
    model: ROCSVM,
    X: object,
    y: object,
    sample_weight: object = None,
    *,
    tol: float = 1e-9,
    max_time: float | None = None,
) -> Audit:
    """Certify a fitted or loaded model anew, from its problem and its weights alone.

    Parameters
    ----------
    model : ROCSVM or SAUCSVM
        For others, and those that choose a parameter themselves, call `certify` with their weights.
    X, y, sample_weight
        The rows that it was fitted on, for kernels in their order.
    tol, max_time
        As in `certify`; those of the model are not asked.

    Raises
    ------
    InputError
        For another model, or rows that cannot be those of the fit.
    """
    if type(model) not in (ROCSVM, SAUCSVM, SolvedSVM):
        raise InputError(f"recertify is not for {type(model).__name__}: call certify with w=...")
    check_is_fitted(model)
    fresh = type(model)(**model.get_params())
    rows, positive, weight, _ = fresh._check_fit(X, y, sample_weight)
    if list(fresh.classes_) == list(model.classes_)[::-1]:
        positive = ~positive  # the smaller label was named as the positive one
    elif list(fresh.classes_) != list(model.classes_):
        raise InputError(
            f"the labels are {fresh.classes_.tolist()}, the model was fitted on "
            f"{np.asarray(model.classes_).tolist()}"
        )
    request = replace(fresh._request(), pairs=fresh._pairs(rows, positive, weight))
    w = weights_on(model, rows)
    return certify_request(rows, positive, request, Options(tol=tol, max_time=max_time), w)


def weights_on(model: ROCSVM, rows: object) -> np.ndarray:
    """Return the weights, or the coefficients of all rows of a kernel machine."""
    n, d = np.shape(rows)  # type: ignore[arg-type]
    if hasattr(model, "coef_"):
        w = np.asarray(model.coef_, dtype=float)[0]
        if w.size != d:
            raise InputError(f"X has {d} features, the model {w.size}")
        return w
    support = np.asarray(model.support_)
    kept = getattr(model, "_support_rows", None)
    fits = not support.size or int(support.max()) < n
    if fits and kept is not None:
        here = rows[support]  # type: ignore[index]
        fits = here.shape == kept.shape and not np.any(abs(here - kept).max() > 0)
    if not fits:
        raise InputError("these are not the rows that the model was fitted on, in their order")
    w = np.zeros(n)
    w[support] = model.dual_coef_
    return w
