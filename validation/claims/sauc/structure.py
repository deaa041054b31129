"""Claims about the structure term: Prop. 1 and (15)-(17) of [SAUC]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....exact.pairs.all_pairs import PairList
from ....exact.pairs.nearest_pairs import nearest_pairs
from ....exact.spaces.factor import factor_gram
from ....exact.structured import (
    ClassScatter,
    PairScatter,
    class_scatter,
    deformed_gram,
    direct_gram,
)
from ...data.labelled_data import Dataset
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample
from .common import STRUCTURES, WIDTH, apart, every_pair, toy

EXACT = 1e-12  # Relative difference up to which two short sums of the same numbers count as equal.


def covariance(rows: np.ndarray, ddof: int = 0) -> np.ndarray:
    """Return the covariance (d, d) of the rows, their squares divided by their number - ddof."""
    centred = rows - rows.mean(axis=0)
    return centred.T @ centred / (len(rows) - ddof)


def _both_sides(X: np.ndarray, positive: np.ndarray, pairs: PairList, ddof: int = 0) -> float:
    """Return how far the sum of class covariances is from that of the pair differences."""
    differences = X[pairs.i] - X[pairs.j]
    summed = covariance(X[positive], ddof) + covariance(X[~positive], ddof)
    return apart(summed, covariance(differences, ddof))


def sauc_prop_1_covariance_of_differences(context: Context) -> Outcome:
    data, (xor, _) = wdbc_sample(context), toy(context)
    errors = {
        "breast cancer": _both_sides(data.X, data.is_positive, every_pair(data.is_positive)),
        "toy, features of the Gaussian kernel": _both_sides(
            factor_gram(WIDTH(xor.X, xor.X)).features, xor.is_positive, every_pair(xor.is_positive)
        ),
    }
    worst = max(errors.values())
    return Outcome(
        Verdict.HOLDS if worst <= EXACT else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details=errors,
        data=(data, xor),
        tolerance=f"relative difference at most {EXACT:g}",
    )


def sauc_prop_1_needs_division_by_n(context: Context) -> Outcome:
    data = wdbc_sample(context, 23, 41)
    pairs = every_pair(data.is_positive)
    divided = {ddof: _both_sides(data.X, data.is_positive, pairs, ddof) for ddof in (0, 1)}
    differ = divided[1] > 1e-3 and divided[0] <= EXACT
    return Outcome(
        Verdict.HOLDS if differ else Verdict.FAILS,
        f"relative difference {divided[1]:.2g} with n - 1, {divided[0]:.0e} with n",
        details={f"relative difference, divided by n - {ddof}": x for ddof, x in divided.items()},
        data=(data,),
        tolerance=f"above 1e-3 with n - 1, at most {EXACT:g} with n",
    )


def sauc_prop_1_needs_all_pairs(context: Context) -> Outcome:
    data, _ = toy(context)
    errors = {
        k: _both_sides(data.X, data.is_positive, nearest_pairs(data.X, data.is_positive, k))
        for k in (5, 10, 20, 30)
    }
    everything = _both_sides(data.X, data.is_positive, every_pair(data.is_positive))
    differ = min(errors.values()) > 0.1 and everything <= EXACT
    return Outcome(
        Verdict.HOLDS if differ else Verdict.FAILS,
        f"relative difference {errors[5]:.2g} at k = 5, {errors[30]:.2g} at k = 30",
        details={f"relative difference, k = {k}": x for k, x in errors.items()}
        | {"relative difference, all pairs": everything},
        data=(data,),
        tolerance=f"above 0.1 at every k, at most {EXACT:g} for all pairs",
    )


def sauc_covariance_of_listed_pairs(context: Context) -> Outcome:
    data, _ = toy(context)
    X, positive, n = data.X, data.is_positive, data.y.size
    rng = context.rng("weights")
    all_pairs = every_pair(positive)
    lists = {f"nearest, k = {k}": nearest_pairs(X, positive, k) for k in (5, 10)}
    lists["all"] = all_pairs
    lists["all, random weights"] = replace(all_pairs, weight=rng.random(all_pairs.i.size))
    errors = {}
    for name, pairs in lists.items():
        differences = X[pairs.i] - X[pairs.j]
        centred = differences - pairs.c @ differences
        direct = centred.T @ (pairs.c[:, None] * centred)
        errors[name] = apart(X.T @ PairScatter(pairs).times(X), direct)
    R = class_scatter(positive).times(np.eye(n))
    errors["R_w of all pairs against R"] = apart(PairScatter(all_pairs).times(np.eye(n)), R)
    worst = max(errors.values())
    return Outcome(
        Verdict.HOLDS if worst <= EXACT else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details={f"relative difference, {name}": x for name, x in errors.items()},
        data=(data,),
        tolerance=f"relative difference at most {EXACT:g}",
    )


def printed_R(n_pos: int, n_neg: int) -> np.ndarray:
    """Return R of [SAUC, eq. (15)], positive rows first, its zero blocks rectangular."""
    blocks = [np.eye(m) / m - np.full((m, m), 1 / m**2) for m in (n_pos, n_neg)]
    corner = np.zeros((n_pos, n_neg))
    return np.block([[blocks[0], corner], [corner.T, blocks[1]]])


def sauc_eq_15_structure_as_a_matrix(context: Context) -> Outcome:
    data, _ = toy(context)
    X = np.concatenate([data.X[data.is_positive], data.X[~data.is_positive]])
    positive = np.arange(X.shape[0]) < data.n_pos
    features = factor_gram(WIDTH(X, X)).features
    R = printed_R(data.n_pos, data.n_neg)
    pairs = every_pair(positive)
    differences = features[pairs.i] - features[pairs.j]
    error = apart(features.T @ R @ features, covariance(differences))
    return Outcome(
        Verdict.HOLDS if error <= EXACT else Verdict.FAILS,
        f"relative difference {error:.1e}",
        details={
            "relative difference": error,
            "rows": R.shape[0],
            "rank of R": np.linalg.matrix_rank(R),
            "largest difference from the R of the library": apart(
                class_scatter(positive).times(np.eye(len(X))), R
            ),
        },
        data=(data,),
        tolerance=f"relative difference at most {EXACT:g}",
    )


def woodbury(A: np.ndarray, U: np.ndarray, B: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the right side of [SAUC, eq. (16)]."""
    inverse = np.linalg.inv(A)
    inside = np.linalg.inv(B + B @ V @ inverse @ U @ B)
    return inverse - inverse @ U @ B @ inside @ B @ V @ inverse


def sauc_eq_16_for_a_nonsingular_b(context: Context) -> Outcome:
    rng = context.rng("matrices")
    errors = []
    for _ in range(50):
        # Diagonally dominant, so that every inverse is well conditioned.
        A = rng.uniform(-1, 1, (8, 8)) + 20 * np.eye(8)
        B = rng.uniform(-1, 1, (5, 5)) + 10 * np.eye(5)
        U, V = rng.uniform(-1, 1, (8, 5)), rng.uniform(-1, 1, (5, 8))
        small = 0.1 * U
        errors.append(apart(woodbury(A, small, B, V), np.linalg.inv(A + small @ B @ V)))
    worst = max(errors)
    return Outcome(
        Verdict.HOLDS if worst <= EXACT else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details={"largest relative difference": worst, "draws": len(errors)},
        tolerance=f"relative difference at most {EXACT:g}",
    )


def _routes(context: Context) -> tuple[np.ndarray, np.ndarray, ClassScatter, Dataset]:
    """Return K of the toy rows, features F with F F' = K, R, and the data's name."""
    data, _ = toy(context)
    K = WIDTH(data.X, data.X)
    return K, factor_gram(K).features, class_scatter(data.is_positive), data


def sauc_eq_17_as_printed(context: Context) -> Outcome:
    K, F, scatter, data = _routes(context)
    R = scatter.times(np.eye(K.shape[0]))
    sides = np.stack([scatter.positive, ~scatter.positive], axis=1).astype(float)
    lost, errors = {}, {}
    for structure in STRUCTURES:
        inside = R + structure * R @ K @ R
        # What the matrix does to the indicators of the two classes, where it should not be zero.
        lost[structure] = float(np.abs(inside @ sides).max() / np.abs(inside).max())
        right = direct_gram(F, scatter, structure)
        try:
            printed = deformed_gram(K, scatter, structure, "inv", paper_literal=True)
            errors[structure] = apart(printed, right)
        except np.linalg.LinAlgError:
            errors[structure] = None
    singular = max(lost.values()) <= EXACT
    shown = ", ".join("refused" if x is None else f"{x:.1e}" for x in errors.values())
    return Outcome(
        Verdict.FAILS if singular else Verdict.HOLDS,
        f"singular; numpy's inverse errs by {shown}" if singular else "nonsingular",
        printed="an inverse",
        details={f"lambda {s:g}: class indicators, relative": x for s, x in lost.items()}
        | {f"lambda {s:g}: relative error with numpy's inverse": x for s, x in errors.items()},
        data=(data,),
        tolerance=f"singular if it takes both class indicators to zero, to {EXACT:g}",
    )


def sauc_eq_17_by_the_root_of_r(context: Context) -> Outcome:
    K, F, scatter, data = _routes(context)
    errors = {}
    for structure in STRUCTURES:
        right = direct_gram(F, scatter, structure)
        for route in ("root", "pinv"):
            errors[route, structure] = apart(deformed_gram(K, scatter, structure, route), right)
    worst = max(errors.values())
    return Outcome(
        Verdict.HOLDS if worst <= 1e-9 else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details={f"{route}, lambda {s:g}: relative error": x for (route, s), x in errors.items()},
        data=(data,),
        tolerance="relative difference at most 1e-9 (differences of numbers of order one)",
    )
