"""The structure next to pairs within queries: every row counts in it, pairs are the queries'."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import (
    ROCSVMCV,
    SAUCSVM,
    OrderedPairs,
    certify,
    cross_group_pairs,
    cross_validated_path,
    regularization_path,
    solve,
)
from aucert.exact.errors import InputError
from loops import each

LAM, STRUCTURE = 0.1, 2.0
LOSSES: dict[str, Any] = {
    "hinge": lambda t: cp.pos(1 - t),
    "squared_hinge": lambda t: cp.square(cp.pos(1 - t)),
    "square": lambda t: cp.square(1 - t),
    "logistic": lambda t: cp.logistic(-t),
}


def some_rows(seed: int = 0, n: int = 40) -> dict[str, Any]:
    """Rows with ties, two equal features' values, five queries of which the last has one class."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    y = (X @ [1.0, -0.5, 0.0] + rng.normal(size=n) > 0).astype(int)
    qid = rng.integers(0, 5, n)
    y[qid == 4] = 1
    return {"X": X, "y": y, "qid": qid, "weight": rng.integers(0, 4, n)}


def naive(rows: dict[str, Any], loss: str, weight: np.ndarray) -> tuple[Any, Any]:
    """Return the problem over listed pairs and its weights, for an independent solver."""
    y, qid = rows["y"], rows["qid"]
    listed = [
        (i, j, float(weight[i] * weight[j]))
        for i in range(len(y))
        for j in range(len(y))
        if y[i] == 1 and y[j] == 0 and qid[i] == qid[j] and weight[i] * weight[j] > 0
    ]
    return over(listed, rows, loss, weight)


def over(
    listed: list[tuple[int, int, float]], rows: dict[str, Any], loss: str, weight: np.ndarray
) -> tuple[Any, Any]:
    """Return the mean over these pairs (i, j, share) and the structure of all rows."""
    X, y = rows["X"], rows["y"]
    i, j, share = (np.array(column) for column in zip(*listed, strict=True))
    w = cp.Variable(3)
    spread: Any = 0
    for side in (0, 1):
        r = weight[y == side] / weight[y == side].sum()
        centred = X[y == side] - r @ X[y == side]
        spread = spread + cp.sum_squares(cp.multiply(np.sqrt(r), centred @ w))
    mean = (share / share.sum()) @ LOSSES[loss]((X[i] - X[j]) @ w)
    return mean + LAM / 2 * (cp.sum_squares(w) + STRUCTURE * spread), w


@each("loss", LOSSES)
@each("kind", ["plain", "weighted", "sparse"])
def test_the_optimum_is_that_over_listed_pairs(loss: str, kind: str) -> None:
    rows = some_rows()
    X = sp.csr_matrix(rows["X"]) if kind == "sparse" else rows["X"]
    weight = rows["weight"] if kind == "weighted" else np.ones(len(rows["y"]), int)
    words = {"qid": rows["qid"], "structure": STRUCTURE, "loss": loss}
    words |= {"sample_weight": weight} if kind == "weighted" else {}
    check(X, rows["y"], words, naive(rows, loss, weight))


@each("loss", LOSSES)
@each("kind", ["between groups", "equal shares"])
def test_other_pairs_of_two_grades_have_the_structure_too(loss: str, kind: str) -> None:
    """Positives of one group above negatives of another; queries that count the same."""
    rows = some_rows(5)
    y, qid = rows["y"], rows["qid"]
    weight = np.ones(y.size)
    if kind == "between groups":
        pairs = cross_group_pairs(y, qid, 0, 1)
        up, low = np.flatnonzero((y == 1) & (qid == 0)), np.flatnonzero((y == 0) & (qid == 1))
        listed = [(int(i), int(j), 1.0) for i in up for j in low]
        weight = np.isin(np.arange(y.size), [*up, *low]) * 1.0  # other rows are in no pair
    else:
        pairs = OrderedPairs(qid, y, share="equal")
        listed = []
        for one in range(5):
            up, low = (np.flatnonzero((y == grade) & (qid == one)) for grade in (1, 0))
            listed += [(int(i), int(j), 1 / (up.size * low.size)) for i in up for j in low]
    words = {"pairs": pairs, "structure": STRUCTURE, "loss": loss}
    check(rows["X"], None, words, over(listed, rows, loss, weight))


def check(X: Any, y: np.ndarray | None, words: dict[str, Any], problem: tuple[Any, Any]) -> None:
    """Compare `solve` and `certify` with the naive objective and its own optimum."""
    objective, w = problem
    found: Any = solve(X, y, LAM, **words)
    stated = found.certificate
    w.value = found.w
    assert objective.value == pytest.approx(stated.primal, rel=1e-12)
    cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
    slack = stated.rounding + 1e-7
    assert stated.dual - slack <= objective.value <= stated.primal + slack
    assert stated.relative_gap <= 1e-9
    off = found.w + 0.01
    audit: Any = certify(X, y, LAM, w=off, **words)
    w.value = off
    excess = float(objective.value) - stated.primal
    assert excess - 1e-8 <= audit.gap <= 3 * excess


def test_kernels_and_features_agree() -> None:
    """A linear kernel given as a matrix is the linear machine, structure and queries included."""
    rows = some_rows(1)
    words: Any = {"qid": rows["qid"], "structure": STRUCTURE}
    linear = solve(rows["X"], rows["y"], LAM, **words)
    K = rows["X"] @ rows["X"].T
    kernel = solve(K, rows["y"], LAM, kernel="precomputed", **words)
    bound = linear.certificate.gap + kernel.certificate.gap + 1e-9
    assert abs(linear.certificate.primal - kernel.certificate.primal) <= bound
    curved: Any = solve(rows["X"], rows["y"], LAM, kernel="rbf", gamma=0.5, **words).certificate
    assert curved.relative_gap <= 1e-9


def test_one_query_is_all_pairs() -> None:
    rows = some_rows(2)
    one = solve(rows["X"], rows["y"], LAM, structure=STRUCTURE)
    same = solve(rows["X"], rows["y"], LAM, structure=STRUCTURE, qid=np.zeros(len(rows["y"])))
    bound = one.certificate.gap + same.certificate.gap + 1e-12
    assert abs(one.certificate.primal - same.certificate.primal) <= bound


def test_estimators_paths_and_folds_take_it() -> None:
    rows = some_rows(3)
    X, y, qid = rows["X"], rows["y"], rows["qid"]
    best = solve(X, y, LAM, qid=qid, structure=STRUCTURE).certificate
    model = SAUCSVM(LAM, structure=STRUCTURE).fit(X, y, qid=qid)
    assert model.certificate_.primal == pytest.approx(best.primal, rel=1e-8)
    path: Any = regularization_path(X, y, [LAM], qid=qid, structure=STRUCTURE)
    assert path.points[0].certificate.primal == pytest.approx(best.primal, rel=1e-5)
    folds = cross_validated_path(X, y, [LAM, 0.01], qid=qid, structure=STRUCTURE, cv=2)
    chosen: Any = ROCSVMCV([LAM, 0.01], structure=STRUCTURE, cv=2, random_state=0).fit(
        X, y, qid=qid
    )
    assert (folds.fold_low <= folds.fold_auc).all() and (folds.fold_auc <= folds.fold_high).all()
    assert (folds.fold_gap <= 1e-6).all() and chosen.certificate_.relative_gap <= 1e-9


def test_more_than_two_grades_and_times_are_refused() -> None:
    rows = some_rows(4)
    grade = np.arange(len(rows["y"])) % 3
    with pytest.raises(InputError, match="3 kinds of rows: leave structure out"):
        solve(rows["X"], grade, LAM, qid=rows["qid"], structure=1.0)
    with pytest.raises(InputError, match="40 kinds of rows"):
        solve(rows["X"], None, LAM, time=1.0 + np.arange(40), structure=1.0)
    pairs = OrderedPairs(rows["qid"], grade)
    with pytest.raises(InputError, match="3 kinds of rows"):
        solve(rows["X"], None, LAM, pairs=pairs, structure=1.0)
