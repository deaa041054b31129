"""Everybody's scaling gives the minimiser that its own objective has."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from aucert.exact.errors import InputError
from aucert.exact.scalings import CONVENTIONS, C_from_lam, lam_from_C
from aucert.exact.solving import solve


def data():
    rng = np.random.default_rng(7)
    y = np.arange(20) % 3 == 0
    return rng.normal(size=(20, 2)) + 0.8 * y[:, None], y


def own_objective(convention: str, C: float, margins: np.ndarray, w: np.ndarray, r: float) -> float:
    """The objective as its authors write it, over the margins w'(x_i - x_j) of all pairs."""
    hinge, ridge = np.maximum(0.0, 1.0 - margins), 0.5 * float(w @ w)
    return {
        "auc-svm": lambda: ridge + C * hinge.sum(),
        "nonlinear-1": lambda: ridge + C * hinge.sum(),
        "nonlinear-2": lambda: ridge + C * (hinge**2).sum(),
        "prsvm": lambda: ridge + C / 2 * (hinge**2).sum(),
        "liblinear-ranksvm": lambda: ridge + C * (hinge**2).sum(),
        "svm-rank": lambda: ridge + C * hinge.sum(),
        "dlib": lambda: ridge + C * hinge.mean(),
        "roclab": lambda: hinge.mean() + C * ridge,
        "knn": lambda: ridge + C * hinge.sum(),
        "sht-authors": lambda: r * (1 - r) * ((1.0 - margins) ** 2).mean() + C * ridge,
    }[convention]()


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_minimiser_of_the_converted_problem_minimises_the_authors_objective(convention):
    X, y = data()
    differences = (X[y][:, None] - X[~y][None]).reshape(-1, 2)
    share, C = float(y.mean()), 0.03
    lam = lam_from_C(C, len(differences), convention, share)
    w = solve(X, y.astype(int), lam, loss=CONVENTIONS[convention], tol=1e-12).w

    def objective(v: np.ndarray) -> float:
        return own_objective(convention, C, differences @ v, v, share)

    best = min(
        scipy.optimize.minimize(
            objective, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}
        ).fun
        for start in (w, np.zeros(2), np.ones(2))
    )
    assert objective(w) <= best + 1e-9 * abs(best)
    # and a lam off by two would not do
    other = solve(X, y.astype(int), 2 * lam, loss=CONVENTIONS[convention], tol=1e-12).w
    assert objective(other) > best + 1e-7 * abs(best)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_conversion_and_its_inverse_undo_each_other(convention):
    lam = lam_from_C(0.37, 120, convention, 0.2)
    assert C_from_lam(lam, 120, convention, 0.2) == pytest.approx(0.37, rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 10), "C must be > 0"),
        ((float("nan"), 10), "C must be > 0"),
        ((1.0, 0), "n_pairs"),
        ((1.0, 10, "libfm"), "unknown convention"),
        ((1.0, 10, "sht-authors"), "share_pos"),
    ],
)
def test_bad_scalings_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        lam_from_C(*arguments)


def test_bad_lam_is_refused():
    with pytest.raises(InputError, match="lam must be > 0"):
        C_from_lam(-1.0, 10)
