"""Ordered pairs through `solve`, `certify` and the path: what is asked for is done or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    OrderedPairs,
    PairList,
    certify,
    query_pairs,
    regularization_path,
    solve,
    survival_pairs,
)
from aucert.exact.errors import InputError
from loops import each, first_fast


def some_rows(n: int = 40, seed: int = 0) -> dict[str, Any]:
    """Rows, queries, tied grades, tied times, events and weights of 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noisy = X @ [1.0, -0.5, 0.0] + rng.normal(size=n)
    return {
        "X": X,
        "qid": rng.integers(0, 5, n),
        "grade": np.clip(np.round(noisy), -1, 1),
        "time": np.round(np.exp(-noisy), 1),
        "event": rng.random(n) < 0.7,
        "weight": rng.integers(0, 4, n),
    }


def listed(pairs: OrderedPairs, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return i, j and the weight of each pair, found one by one."""
    a = np.empty(pairs.n)
    a[pairs.arrangement.order] = pairs.a
    found = [
        (i, j, weight[i] * weight[j])
        for i in range(pairs.n)
        for j in range(pairs.n)
        if a[i] > 0 and pairs.group[i] == pairs.group[j] and pairs.key[i] > pairs.key[j]
    ]
    i, j, share = (np.array(column) for column in zip(*found, strict=True))
    return i, j, share / share.sum()


KINDS = ("qid", "time")


def asked(kind: str, rows: dict[str, Any]) -> tuple[Any, dict[str, Any], OrderedPairs]:
    """Return y, the words of the call, and the pairs that they mean."""
    if kind == "qid":
        return rows["grade"], {"qid": rows["qid"]}, query_pairs(rows["qid"], rows["grade"])
    words = {"time": rows["time"], "event": rows["event"]}
    return None, words, survival_pairs(rows["time"], rows["event"])


@each("kind", KINDS)
@each(
    "words",
    [
        {"loss": "hinge"},
        {"loss": "squared_hinge"},
        {"loss": "square"},
        {"loss": "logistic"},
        {"loss": "exponential"},
        {"l1": 0.05},
        {"lam": 0.0, "l1": 0.05},
        {"sign": "nonnegative"},
        {"kernel": "rbf", "gamma": 0.5},
        {"sample_weight": True},
    ],
)
def test_the_objective_is_the_mean_over_listed_pairs(kind: str, words: dict[str, Any]) -> None:
    rows = some_rows()
    y, which, pairs = asked(kind, rows)
    words = {"lam": 0.1} | words
    weight = np.ones(pairs.n)
    if "sample_weight" in words:
        words["sample_weight"] = weight = rows["weight"]
    i, j, share = listed(pairs, weight)
    found: Any = solve(rows["X"], y, tol=1e-6, **words, **which)
    assert found.certificate.relative_gap <= 1e-6
    if words.get("kernel") == "rbf":
        D = ((rows["X"][:, None] - rows["X"][None]) ** 2).sum(axis=2)
        K = np.exp(-0.5 * D)
        scores, penalty = K @ found.w, 0.05 * found.w @ K @ found.w
    else:
        scores = rows["X"] @ found.w
        penalty = words["lam"] / 2 * found.w @ found.w + words.get("l1", 0) * abs(found.w).sum()
    t = scores[i] - scores[j]
    losses = {
        "hinge": np.maximum(0, 1 - t),
        "squared_hinge": np.maximum(0, 1 - t) ** 2,
        "square": (1 - t) ** 2,
        "logistic": np.logaddexp(0, -t),
        "exponential": np.exp(-t),
    }
    naive = float(share @ losses[words.get("loss", "hinge")] + penalty)
    assert naive == pytest.approx(found.certificate.primal, rel=1e-9)
    if "sign" in words:
        assert (found.w >= 0).all()


@pytest.mark.slow
@each("kind", KINDS)
def test_certify_judges_weights_and_scores(kind: str) -> None:
    rows = some_rows()
    y, which, pairs = asked(kind, rows)
    best = solve(rows["X"], y, 0.1, tol=1e-10, **which)
    w = best.w + 1e-3
    audit: Any = certify(rows["X"], y, 0.1, w=w, **which)
    assert audit.gap > 0
    assert audit.n_pairs == pairs.count()
    i, j, _ = listed(pairs, np.ones(pairs.n))
    t = rows["X"][i] @ best.w - rows["X"][j] @ best.w
    assert 0 < audit.n_right <= (t > 0).sum()
    assert 0 < audit.n_wrong <= (t < 0).sum()
    assert audit.n_right + audit.n_wrong > 0.5 * len(t)
    of_scores: Any = certify(rows["X"], y, 0.1, scores=rows["X"] @ w, **which)
    assert of_scores.primal == pytest.approx(audit.primal, rel=1e-8)
    assert of_scores.n_right == pytest.approx(audit.n_right, abs=3)
    same = certify(rows["X"], None, 0.1, w=w, pairs=pairs)
    assert same.primal == audit.primal


@pytest.mark.slow
def test_the_sure_pairs_are_those_found_one_by_one() -> None:
    """Against `PairList` of the same pairs, whose count is written down."""
    rows = some_rows()
    for kind in KINDS:
        y, which, pairs = asked(kind, rows)
        i, j, _ = listed(pairs, np.ones(pairs.n))
        # a pair list joins two classes: every row stands there twice
        X = np.vstack([rows["X"], rows["X"]])
        labels = np.arange(2 * pairs.n) < pairs.n
        w = solve(rows["X"], y, 0.1, tol=1e-10, **which).w
        w = w * 1.01
        one: Any = certify(rows["X"], y, 0.1, w=w, **which)
        other: Any = certify(X, labels, 0.1, w=w, pairs=PairList(i, j + pairs.n))
        assert one.n_pairs == other.n_pairs
        assert one.primal == pytest.approx(other.primal, rel=1e-12)
        assert abs(one.n_right - other.n_right) <= 2
        assert abs(one.n_wrong - other.n_wrong) <= 2


@each("kind", first_fast(["time", "qid"]))
def test_a_path_has_its_certificates_and_concordance(kind: str) -> None:
    rows = some_rows()
    y, which, pairs = asked(kind, rows)
    path: Any = regularization_path(rows["X"], y, n_lams=3, **which)
    assert path.complete
    i, j, _ = listed(pairs, np.ones(pairs.n))
    for point in path.points:
        assert point.certificate.relative_gap <= 1e-6
        t = (rows["X"] @ point.solution.w)[i] - (rows["X"] @ point.solution.w)[j]
        assert point.auc == pytest.approx((t > 0).mean() + 0.5 * (t == 0).mean(), abs=0.02)
    # at the largest lam no pair has reached its margin
    w = path.points[0].solution.w
    assert (rows["X"][i] @ w - rows["X"][j] @ w).max() <= 1 + 1e-4


def test_partial_auc_has_a_path() -> None:
    rows = some_rows()
    path = regularization_path(rows["X"], rows["event"], [0.1], fpr_max=0.5)
    one = solve(rows["X"], rows["event"], 0.1, fpr_max=0.5, tol=1e-6)
    assert path.points[0].certificate.primal == pytest.approx(one.certificate.primal, rel=1e-5)


@each(
    ("words", "said"),
    [
        ({"structure": 1.0}, "3 kinds of rows"),
        ({"fpr_max": 0.5}, "partial AUC is over all pairs"),
        ({"positive": 1}, "leave positive out"),
        ({"pairs": PairList(np.array([0]), np.array([1]))}, "leave pairs out"),
        ({"method": "closed-form"}, "two classes"),
        ({"method": "qp"}, "two classes"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"sample_weight": -np.ones(40)}, "sample_weight"),
        ({"event": np.ones(40)}, "event goes with time"),
        ({"qid": np.arange(3)}, "groups of shape"),
        ({"qid": np.arange(40)}, "pair"),
        ({"qid": np.full(40, np.nan)}, "group of row 0"),
    ],
)
def test_what_groups_cannot_do_is_refused(words: dict[str, Any], said: str) -> None:
    rows = some_rows()
    words = {"qid": rows["qid"]} | words
    with pytest.raises(InputError, match=said):
        solve(rows["X"], rows["grade"], 0.1, **words)


@each(
    ("words", "said"),
    [
        ({"time": np.full(40, np.nan)}, "time of row 0"),
        ({"time": np.ones(3)}, "3 times, but events"),
        ({"time": np.ones(40), "event": np.ones(40)}, "pair"),
        ({"event": np.full(40, 2)}, "0 or 1"),
        ({"event": np.zeros(40)}, "pair"),
        ({"qid": np.ones(40)}, "leave y and qid None"),
        ({"X": np.ones((3, 2))}, "3 rows"),
    ],
)
def test_times_that_cannot_be_used_are_refused(words: dict[str, Any], said: str) -> None:
    rows = some_rows()
    words = {name: rows[name] for name in ("X", "time", "event")} | words
    with pytest.raises(InputError, match=said):
        solve(words.pop("X"), None, 0.1, **words)


def test_labels_beside_pairs_that_hold_an_order_are_refused() -> None:
    rows = some_rows()
    with pytest.raises(InputError, match="leave y None"):
        solve(rows["X"], rows["grade"], 0.1, pairs=query_pairs(rows["qid"], rows["grade"]))
