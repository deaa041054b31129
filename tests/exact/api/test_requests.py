"""Every request through the public door is the problem of its listed pairs, solved by Clarabel."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.approx import RankSVM
from aucert.exact import (
    ROCSVM,
    ROCSVMCV,
    SAUCSVM,
    SQUARED_HINGE,
    ElasticNet,
    OrderedPairs,
    PairList,
    Status,
    certify,
    cross_group_pairs,
    cross_validated_path,
    linear_problem,
    ordered_problem,
    query_pairs,
    solve,
    solve_problem,
)
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.penalties import penalty_from
from convex_programs import losses, penalty_value, worst_reference
from loops import each, first_fast, refuses
from ordered_naive import Naive, naive_ordered, naive_survival
from own_parts import Box, Polynomial, RoundedHinge, WeightedL1

Pairs = list[tuple[int, int, float]]
N, RNG = 36, np.random.default_rng(3)
Y = RNG.permutation(N) < 13
X = np.round(RNG.normal(size=(N, 4)) + 0.5 * Y[:, None], 1)
X[5], Y[5] = X[8], Y[8]  # equal rows of one class become one
QID, WEIGHT = RNG.integers(0, 3, N), RNG.integers(1, 4, N)
GRADE = np.clip(np.round(X[:, 0] + RNG.normal(size=N)), -1, 1)
TIME, EVENT = np.ceil(9 * RNG.random(N)), RNG.random(N) < 0.7
MEMBER = np.array(["north", "south"])[RNG.integers(0, 2, N)]
NORTH, ONES = MEMBER == "north", np.ones(N)
LISTED = np.array([(i, j) for i in np.flatnonzero(Y) for j in np.flatnonzero(~Y)])[::7]
SHARES = RNG.uniform(0.5, 2, len(LISTED))


def pairs_of(naive: Naive) -> Pairs:
    return [(i, j, float(c)) for i, j, c in zip(naive.i, naive.j, naive.weight, strict=True)]


def ordered(group: Any, key: Any, upper: Any = None, lower: Any = None, **more: Any) -> Pairs:
    return pairs_of(naive_ordered(group, key, upper, lower, **more))


# The labels, the words of the request, the pairs meant, and how the structure weighs the rows.
# Rows that are in no pair "between groups" count nowhere.
SURVIVAL, CROSSED = pairs_of(naive_survival(TIME, EVENT)), ordered(None, Y, NORTH, ~NORTH)
EVERY = [(i, j, c / SHARES.sum()) for (i, j), c in zip(LISTED, SHARES, strict=True)]
ACROSS, EQUAL = cross_group_pairs(Y, MEMBER, "north", "south"), OrderedPairs(QID, Y, share="equal")
GAINS, BOTH = query_pairs(QID, GRADE + 1, gain=True), {"qid": QID, "sample_weight": WEIGHT}
PAIRS: dict[str, tuple[Any, dict[str, Any], Pairs, Any]] = {
    "classes": (Y, {}, ordered(None, Y), ONES),
    "other class": (Y, {"positive": False}, ordered(None, ~Y), ONES),
    "weights": (Y, {"sample_weight": WEIGHT}, ordered(None, Y, WEIGHT, WEIGHT), WEIGHT),
    "listed": (Y, {"pairs": PairList(*LISTED.T, SHARES)}, EVERY, ONES),
    "queries": (Y, {"qid": QID}, ordered(QID, Y), ONES),
    "weighted queries": (Y, BOTH, ordered(QID, Y, WEIGHT, WEIGHT), WEIGHT),
    "grades": (GRADE, {"qid": QID}, ordered(QID, GRADE), None),
    "gains": (None, {"pairs": GAINS}, ordered(QID, GRADE + 1, gain=GRADE + 1), None),
    "survival": (None, {"time": TIME, "event": EVENT}, SURVIVAL, None),
    "between groups": (None, {"pairs": ACROSS}, CROSSED, 1.0 * (Y == NORTH)),
    "equal shares": (None, {"pairs": EQUAL}, ordered(QID, Y, share=ONES), ONES),
}
WISHES: list[dict[str, Any]] = [
    {"lam": 0.1},
    {"lam": 0.1, "l1": 0.02},
    {"lam": 0.0, "l1": 0.02},
    {"lam": 0.1, "l1": 0.02, "groups": [*"aabb"]},
    {"lam": 0.0, "l1": 0.02, "groups": [*"aabb"]},
    {"lam": 0.1, "l1": 0.02, "groups": [*"aabb"], "sign": "nonnegative"},
    {"lam": 0.1, "sign": "nonnegative"},
    {"lam": 0.1, "l1": 0.02, "sign": [0, 1]},
    {"penalty": Box(0.1, -0.01, 0.03)},
    {"penalty": WeightedL1(0.1, np.array([0.0, 0.01, 0.02, 0.03]))},
    {"lam": 0.1, "worst_of": MEMBER},
    {"lam": 0.1, "l1": 0.05, "worst_of": MEMBER},
    {"lam": 0.1, "structure": 2.0},
    {"lam": 0.1, "kernel": "rbf", "gamma": 0.3},
    {"lam": 0.1, "kernel": "laplacian", "gamma": 0.3, "structure": 2.0},
    {"lam": 0.1, "kernel": Polynomial(2)},
    {"lam": 0.1, "kernel": "precomputed"},
]


def fits(pairs: str, wish: dict[str, Any]) -> bool:
    """Whether the request means something: others are refused in `test_bad_input`."""
    if "worst_of" in wish:
        return "pairs" not in PAIRS[pairs][1] and pairs != "weighted queries"
    return not ("structure" in wish and PAIRS[pairs][3] is None)


def kernel_matrix(wish: dict[str, Any]) -> np.ndarray | None:
    kernel = wish.get("kernel")
    if kernel in (None, "rbf", "laplacian"):
        power, gamma = 2 if kernel == "rbf" else 1, wish.get("gamma", 0.0)
        K = np.exp(-gamma * (np.abs(X[:, None] - X[None]) ** power).sum(axis=2))
        return None if kernel is None else K
    return (1 + X @ X.T) ** 2


def covariance(F: np.ndarray, pairs: str) -> np.ndarray:
    """Return Sigma: both class covariances."""
    parts = [(F[side], PAIRS[pairs][3][side]) for side in (Y, ~Y)]
    return np.sum([np.atleast_2d(np.cov(Z.T, aweights=c, ddof=0)) for Z, c in parts], axis=0)


def features(pairs: str, wish: dict[str, Any]) -> np.ndarray:
    """Return rows whose linear machine it is: of the centred kernel matrix, whitened."""
    K, F = kernel_matrix(wish), X
    if K is not None:
        H = np.eye(N) - 1 / N
        values, vectors = np.linalg.eigh(H @ K @ H)
        kept = values > 1e-13 * values.max() * N
        F = vectors[:, kept] * np.sqrt(values[kept])
    if "structure" not in wish:
        return F
    values, axes = np.linalg.eigh(covariance(F, pairs))
    return (F @ axes) / np.sqrt(1 + wish["structure"] * values)


def lists_of(pairs: str, wish: dict[str, Any]) -> list[Pairs]:
    """Return the pairs, or those within each group, of which the worst counts."""
    whole = PAIRS[pairs][2]
    if "worst_of" not in wish:
        return [whole]
    inside = [[p for p in whole if MEMBER[p[0]] == MEMBER[p[1]] == g] for g in ("north", "south")]
    return [[(i, j, c / sum(p[2] for p in part)) for i, j, c in part] for part in inside]


def penalty_of(wish: dict[str, Any]) -> Any:
    words = ("lam", "l1", "groups", "sign")
    return wish.get("penalty") or penalty_from(**{k: wish[k] for k in words if k in wish})


def objective(pairs: str, wish: dict[str, Any], loss: str, w: np.ndarray) -> float:
    """Return F(w), by its definition."""
    K = kernel_matrix(wish)
    s = (X if K is None else K) @ w
    means = []
    for part in lists_of(pairs, wish):
        i, j, c = (np.array(column) for column in zip(*part, strict=True))
        means.append(float(c @ losses(loss, s[i] - s[j]).value))
    if K is None and "structure" not in wish:
        return max(means) + float(penalty_value(penalty_of(wish), w)[0].value)
    norm2 = float(w @ (w if K is None else s))
    if "structure" in wish:
        norm2 += wish["structure"] * float(covariance(s[:, None], pairs)[0, 0])
    return max(means) + wish["lam"] / 2 * norm2


def check(pairs: str, wish: dict[str, Any], loss: Any) -> None:
    """`solve`, `certify` of weights and of scores, and a model are about these very pairs."""
    y, words, _, _ = PAIRS[pairs]
    given = kernel_matrix(wish) if wish.get("kernel") == "precomputed" else X
    lists = lists_of(pairs, wish)
    best, _ = worst_reference(features(pairs, wish), lists, loss.name, penalty_of(wish))
    room, asked = 1e-7 * (1 + best), {"loss": loss, **words, **wish}
    found: Any = solve(given, y, tol=1e-5, **asked)
    stated = found.certificate
    assert stated.dual <= best + room and best - room <= stated.primal
    assert stated.relative_gap < 1e-4
    assert stated.primal == pytest.approx(objective(pairs, wish, loss.name, found.w), rel=1e-9)
    off = 0.7 * found.w + 0.01
    audit: Any = certify(given, y, w=off, tol=1e-5, **asked)
    value = objective(pairs, wish, loss.name, off)
    assert audit.primal == pytest.approx(value, rel=1e-9)
    assert audit.dual <= best + room and value - best - room <= audit.gap
    assert audit.gap <= 1.5 * (value - best) + 1e-3
    assert audit.n_pairs == sum(map(len, lists))
    if set(wish) <= {"lam", "structure"}:
        scored: Any = certify(given, y, scores=X @ off, tol=1e-5, **asked)
        assert scored.primal == pytest.approx(audit.primal, rel=1e-7)
    plain = set(wish) <= {"lam", "structure", "kernel", "gamma"}
    if y is Y and plain and not set(words) - {"qid", "sample_weight"}:
        model = SAUCSVM(tol=1e-5, structure=0.0).set_params(loss=loss, **wish)
        primal = model.fit(given, y, **words).certificate_.primal
        assert primal == pytest.approx(stated.primal, rel=1e-4)


LOSSES = (*ALL_LOSSES.values(), RoundedHinge())
FITTING = enumerate(both for both in itertools.product(PAIRS, WISHES) if fits(*both))
CASES = [(*both, LOSSES[k % len(LOSSES)]) for k, both in FITTING]


def test_a_request_has_the_optimum_of_its_listed_pairs() -> None:
    for case in {case[0]: case for case in CASES}.values():  # one of each kind of pairs
        check(*case)


@pytest.mark.slow
@each(("pairs", "wish", "loss"), CASES, ids=str)
def test_every_request_has_this_optimum(pairs: str, wish: dict[str, Any], loss: Any) -> None:
    check(pairs, wish, loss)


@each("make", [ROCSVM(0.1, loss="squared_hinge", tol=1e-5), RankSVM(lam=0.1, tol=1e-5)], ids=str)
@each("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_estimators_compare_within_a_query_and_do_not_remember_it(make: Any, weight: Any) -> None:
    best = solve(X, Y, 0.1, loss="squared_hinge", qid=QID, sample_weight=weight).certificate.primal
    model = clone(make).fit(X, Y, sample_weight=weight, qid=QID)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-5)
    again = model.fit(X, Y, sample_weight=weight).certificate_.primal
    assert again != pytest.approx(best, rel=1e-4)


@each("model", [ROCSVM(0.1), RankSVM(0.1), ROCSVMCV([0.3, 0.02], cv=2, random_state=0)], ids=str)
def test_queries_are_routed(model: Any) -> None:
    alone = clone(model).fit(StandardScaler().fit_transform(X), Y, qid=QID)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), model.set_fit_request(qid=True))
        assert pipeline.fit(X, Y, qid=QID)[-1].coef_ == pytest.approx(alone.coef_)


PY = np.arange(60) % 3 == 0
PX = np.random.default_rng(3).normal(size=(60, 2)) + 0.5 * PY[:, None]
LAM = 0.05


def explicit(X: np.ndarray) -> np.ndarray:
    """Features whose products are (1 + x'z)^2."""
    a, b, root = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


def test_ranges_of_held_out_auc_hold_where_k_of_x_and_x_is_not_one() -> None:
    """With k(x, x) = 1 taken for granted, the lengths of new rows were far too short."""
    rough = cross_validated_path(PX, PY, [0.5, 0.05], cv=3, kernel=Polynomial(), tol=1e-2)
    sharp = cross_validated_path(explicit(PX), PY, [0.5, 0.05], cv=3, tol=1e-10)
    assert (rough.fold_low <= sharp.fold_auc).all() and (sharp.fold_auc <= rough.fold_high).all()
    assert (rough.fold_low < rough.fold_high).any()


TRUE = Polynomial()
FALSE_KERNELS: list[tuple[str, dict[str, Any]]] = [
    ("gives shapes", {"__call__": lambda self, X, Z: TRUE(X, Z)[:-1]}),
    ("not finite", {"__call__": lambda self, X, Z: np.nan * TRUE(X, Z)}),
    ("diagonal|negative eigenvalue", {"__call__": lambda self, X, Z: -TRUE(X, Z)}),
    ("not symmetric", {"__call__": lambda self, X, Z: TRUE(X, Z) + 0.01 * (X[:, :1] - Z[:, 0])}),
    ("diagonal that is not", {"diagonal": lambda self, X: 1.01 * TRUE.diagonal(X)}),
    (r"k\(x, x\) < 0", {"diagonal": lambda self, X: -TRUE.diagonal(X)}),
    *(("a bound in", {"noise": lambda self, X, wrong=wrong: wrong}) for wrong in (np.nan, 2.0)),
]


@each(("said", "parts"), FALSE_KERNELS)
def test_a_false_kernel_is_refused(said: str, parts: dict[str, Any]) -> None:
    refuses(said, solve, PX, PY, LAM, kernel=type("Faulty", (Polynomial,), parts)())


def partial_rows(shift: float = 2.0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + shift * y[:, None], 2), y


@pytest.mark.slow
@each("kernel", ["linear", "rbf"])
@each("loss", first_fast(["hinge", "logistic"]))
def test_solve_and_certify_agree(kernel: str, loss: str) -> None:
    X, y = partial_rows()
    meant = {"kernel": kernel, "loss": loss, "fpr_max": 0.3, "tpr_min": 0.25}
    found = solve(X, y, 0.1, tol=1e-7, **meant)
    audit: Any = certify(X, y, 0.1, w=found.w, tol=1e-6, **meant)
    assert found.status == audit.status == "certified"
    assert audit.primal == pytest.approx(found.certificate.primal, rel=1e-9)
    assert "worst 15 positive and 12 negative" in audit.statement
    whole: Any = certify(X, y, 0.1, w=found.w, kernel=kernel, loss=loss)
    assert whole.gap > 1e-3 and audit.primal > whole.primal
    model = ROCSVM(0.1, tol=1e-7, **meant).fit(X, y)
    assert model.certificate_.primal == pytest.approx(found.certificate.primal, rel=1e-6)


def test_a_trivial_surrogate_is_said() -> None:
    X, y = partial_rows(0.0)
    asked: dict[str, Any] = {"fpr_max": 0.1, "tpr_min": 0.7, "tol": 1e-6}
    for call in (lambda: solve(X, y, 0.1, **asked), lambda: ROCSVM(0.1, **asked).fit(X, y)):
        with pytest.warns(UserWarning, match="weights zero are optimal") as said:
            call()
        assert {warning.filename for warning in said} == {__file__}  # the user's own line


def test_short_numbers_are_taken_as_they_are() -> None:
    for kind in (np.float32, np.float16, np.longdouble):
        for asked in ({"lam": 0.05, "l1": 0.1}, {"lam": 0.05, "structure": 0.3}, {"lam": 0.3}):
            short: dict[str, Any] = {name: kind(value) for name, value in asked.items()}
            plain: dict[str, Any] = {name: float(value) for name, value in short.items()}
            one, other = (solve(PX, PY, **numbers) for numbers in (short, plain))
            held = one.certificate
            assert one.w.tolist() == other.w.tolist() and held.primal == other.certificate.primal
            assert all(type(x) is float for x in (held.primal, held.dual, held.gap, held.rounding))


def test_stated_problems_have_the_optimum_of_their_data() -> None:
    qid = np.arange(60) // 6
    found = solve_problem(linear_problem(PX, PY, 0.01), np.ones(2), tol=1e-9)
    ranked = solve_problem(ordered_problem(PX, PY, 0.01, qid=qid), method="descent")
    assert found.status == Status.CERTIFIED
    for one, best in ((found, solve(PX, PY, 0.01)), (ranked, solve(PX, PY, 0.01, qid=qid))):
        assert one.certificate.primal == pytest.approx(best.certificate.primal)
    lasso = replace(linear_problem(PX, PY, 1.0, SQUARED_HINGE), penalty=ElasticNet(0.0, 0.05))
    assert solve_problem(lasso, tol=1e-8).zeros_proved is not None
