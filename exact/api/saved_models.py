"""Saving and loading the estimators of `aucert.exact`: see `model_files.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..certificate.audit import Audit
from ..classifier.model_codec import register
from ..classifier.model_files import load_model, save_model
from ..errors import InputError
from .certify import certify_request
from .roc_svm import ROCSVM
from .sauc_svm import SAUCSVM

__all__ = ["load_model", "recertify", "save_model"]

register(ROCSVM, SAUCSVM)


def recertify(model: ROCSVM, X: object, y: object, sample_weight: object = None) -> Audit:
    """Certify a fitted or loaded model anew on the rows that it was fitted on.

    Nothing is taken over from the model but its parameters and its weights.

    Parameters
    ----------
    model : ROCSVM or SAUCSVM
        Without a choice of its own parameters; for others call `certify` with their weights.
    X : array or sparse matrix (n, d), or (n, n) for a precomputed kernel
        The rows of the fit, for kernels in their order.
    y : array (n,)
    sample_weight : array (n,), optional

    Returns
    -------
    Audit
        How far the weights are from the optimum on these rows.

    Raises
    ------
    InputError
        For another model, or rows that cannot be those of the fit.
    """
    if type(model) not in (ROCSVM, SAUCSVM):
        raise InputError(
            f"recertify is for ROCSVM and SAUCSVM, not {type(model).__name__}: "
            "call certify(X, y, lam, w=...) with its weights"
        )
    check_is_fitted(model)
    fresh = type(model)(**model.get_params())
    rows, positive, weight = fresh._check_fit(X, y, sample_weight)
    if list(fresh.classes_) != list(model.classes_):
        raise InputError(
            f"the labels are {fresh.classes_.tolist()}, the model was fitted on "
            f"{np.asarray(model.classes_).tolist()}"
        )
    request = replace(fresh._request(), pairs=fresh._pairs(rows, positive, weight))
    w = _weights(model, rows)
    return certify_request(rows, positive, request, w, tol=model.tol, max_time=model.max_time)


def _weights(model: ROCSVM, rows: object) -> np.ndarray:
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
