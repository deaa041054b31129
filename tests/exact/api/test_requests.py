"""Every request is the problem of its listed pairs, by Clarabel; audits say what can be proved."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucert.exact as ac
from aucert.approx import RankSVM
from aucert.exact import ROCSVM, PairList, certify, solve
from aucert.exact.formulation.scores import printed_error
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.penalties import penalty_from
from aucert.exact.problem.scalings import convention_loss, objective_scale
from aucert.exact.spaces.gram import AS_STORED
from convex_programs import losses, penalty_value, worst_reference
from cutting import cut
from fuzzing import LinearTruth
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
ACROSS, EQUAL = (
    ac.cross_group_pairs(Y, MEMBER, "north", "south"),
    ac.OrderedPairs(QID, Y, share="equal"),
)
GAINS, BOTH = ac.query_pairs(QID, GRADE + 1, gain=True), {"qid": QID, "sample_weight": WEIGHT}
PAIRS: dict[str, tuple[Any, dict[str, Any], Pairs, Any]] = {
    "classes": (Y, {}, ordered(None, Y), ONES),
    "other class": (Y, {"positive": False}, ordered(None, ~Y), ONES),
    "weights": (Y, {"sample_weight": WEIGHT}, ordered(None, Y, WEIGHT, WEIGHT), WEIGHT),
    "listed": (Y, {"pairs": PairList(LISTED[:, 0], LISTED[:, 1], SHARES)}, EVERY, ONES),
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
        model = ac.SAUCSVM(tol=1e-5, structure=0.0).set_params(loss=loss, **wish)
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


@each("model", [ROCSVM(0.1), RankSVM(0.1), ac.ROCSVMCV([0.3, 0.02], cv=2, random_state=0)], ids=str)
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
    rough = ac.cross_validated_path(PX, PY, [0.5, 0.05], cv=3, kernel=Polynomial(), tol=1e-2)
    sharp = ac.cross_validated_path(explicit(PX), PY, [0.5, 0.05], cv=3, tol=1e-10)
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
    found = ac.solve_problem(ac.linear_problem(PX, PY, 0.01), np.ones(2), tol=1e-9)
    ranked = ac.solve_problem(ac.ordered_problem(PX, PY, 0.01, qid=qid), method="descent")
    assert found.status == ac.Status.CERTIFIED
    for one, best in ((found, solve(PX, PY, 0.01)), (ranked, solve(PX, PY, 0.01, qid=qid))):
        assert one.certificate.primal == pytest.approx(best.certificate.primal)
    lasso = replace(
        ac.linear_problem(PX, PY, 1.0, ac.SQUARED_HINGE), penalty=ac.ElasticNet(0.0, 0.05)
    )
    assert ac.solve_problem(lasso, tol=1e-8).zeros_proved is not None


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = np.arange(80) % 4 == 0
    return rng.normal(size=(80, 3)) + 0.6 * y[:, None], y.astype(int)


@each("loss", ["hinge", "squared_hinge", "square"])
def test_the_gap_is_the_true_distance_to_the_optimum(data, loss):
    X, y = data
    best = solve(X, y, 1e-2, loss=loss, tol=1e-11)
    w = best.w + np.array([0.1, -0.2, 0.05])
    audit: Any = certify(X, y, 1e-2, w=w, loss=loss)
    assert audit.gap == pytest.approx(audit.primal - best.certificate.primal, rel=1e-6)
    assert audit.radius >= np.linalg.norm(w - best.w)
    loose: Any = certify(X, y, 1e-2, w=w, loss=loss, refine=False)
    assert loose.dual <= best.certificate.primal
    assert loose.gap >= audit.gap - audit.rounding - loose.rounding
    longer = certify(X, y, 1e-2, w=[*w, 17.0], loss=loss)  # an intercept, which no pair sees
    assert "intercept" in longer.statement
    assert replace(longer, statement=audit.statement) == audit


def test_scores_outside_the_class_get_a_lower_bound_and_no_gap(data):
    X, y = data
    audit: Any = certify(X, y, 0.1, scores=np.sin(9 * X[:, 0]))
    assert audit.gap is audit.primal is audit.radius is None and audit.residual > 1e-3
    assert audit.dual == pytest.approx(solve(X, y, 0.1).certificate.primal, rel=1e-8)
    assert audit.statement.startswith("Not in this model class: no gap")
    w = np.array([0.3, 0.1, 0.2])
    of_w, of_scores = certify(X, y, 0.1, w=w), certify(X, y, 0.1, scores=X @ w + 4.0)
    assert of_scores.gap == pytest.approx(of_w.gap, rel=1e-9)
    assert of_scores.residual is not None and of_scores.residual < 1e-12
    F = np.random.default_rng(0).normal(size=(12, 3))  # a matrix on which F has no minimum
    K, y = F @ F.T - 6e-14 * np.eye(12), np.arange(12) % 2
    assert np.linalg.eigvalsh(K)[0] < -5e-14 and ac.Gram(K).shift > 5e-14
    kind: Any = {"kernel": "precomputed"}
    w = solve(K, y, 0.1, **kind).w
    for judged in (certify(K, y, 0.1, w=w, **kind), certify(K, y, 0.1, scores=K @ w, **kind)):
        assert judged.statement.endswith(AS_STORED)
    assert AS_STORED not in certify(K, y, 0.1, w=np.zeros(12)).statement


@each("rival", ["liblinear-ranksvm", "dlib", "roclab", "svm-rank", "scikit-learn", "torch"])
def test_a_rivals_constant_names_the_problem_its_loss_included(data, rival):
    """`test_problems` has the formulas."""
    (X, y), w, of = data, [0.3, 0.1, 0.2], (0.02, 20 * 60, rival)
    lam, loss, scale = ac.lam_from_C(*of), convention_loss(rival), objective_scale(*of)
    theirs = certify(X, y, w=w, rival=rival, C=0.02)
    ours: Any = certify(X, y, lam, w=w, loss=loss)
    assert (theirs.lam, theirs.loss) == (lam, loss)
    assert theirs.gap == pytest.approx(ours.gap, rel=1e-7)
    assert theirs.rival_primal == pytest.approx(scale * ours.primal, rel=1e-12)
    assert theirs.rival_gap == pytest.approx(scale * ours.gap, rel=1e-7)
    assert f"in the units of {rival} at C = 0.02" in theirs.statement
    assert ours.rival_primal is None and "units" not in ours.statement


def test_a_list_of_pairs_is_counted_by_its_length_if_its_weights_are_equal(data):
    X, y = data
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(y == 0)[:5]
    options = {"w": [0.3, 0.1, 0.2], "rival": "knn", "C": 0.5}
    assert certify(X, y, pairs=PairList(i, j), **options).lam == pytest.approx(1 / (0.5 * 5))
    refuses("unequal weights", certify, X, y, pairs=PairList(i, j, np.arange(1.0, 6.0)), **options)
    weight = 1.0 + np.arange(80) % 3  # row weights count as repetitions in a sum over pairs
    whole, options["rival"] = np.repeat(np.arange(80), weight.astype(int)), "svm-rank"
    weighted = certify(X, y, sample_weight=weight, **options)
    repeated = certify(X[whole], y[whole], **options)
    assert weighted.lam == pytest.approx(repeated.lam, rel=1e-13)
    assert weighted.rival_gap == pytest.approx(repeated.rival_gap, rel=1e-7)


@each("refine", [False, True])
@each("parted", [False, True])
@each("loss", ["hinge", "squared_hinge"])
def test_an_audit_takes_a_finer_grid_than_the_solver(loss: str, parted: bool, refine: bool) -> None:
    """That of the solver's grid was 1e-3 above F, and was called "up to 4e-9"."""
    rng, y = np.random.default_rng(3), np.arange(300) % 3 == 0
    X = rng.normal(size=(300, 2)) + y[:, None]
    rows = ac.PartitionedRows(cut(X, y, None, [150])) if parted else ac.StreamedRows(X, 16)
    labels, lam = None if parted else y, 1e-2
    rough = solve(rows, labels, lam, loss=loss, method="descent", tol=0.3)
    truth = LinearTruth(X, y, lam, loss).objective(rough.w)
    assert rough.certificate.primal - truth > 1e-7
    found: Any = certify(rows, labels, lam, w=rough.w, loss=loss, refine=refine, tol=0.3)
    assert truth <= Fraction(found.primal)
    assert found.primal == pytest.approx(float(truth), rel=1e-8)
    said = found.statement.split("have an objective of at most ")[1].split(" over")[0]
    assert truth <= float(said) <= float(truth) * (1 + 1e-8)
    best: Any = certify(X, y, lam, w=rough.w, loss=loss)
    assert found.dual <= best.dual + best.gap
    assert not refine or found.dual == pytest.approx(best.dual, rel=0.3)


THIRD = np.arange(30) % 3 == 0


@each("extra", ["constant", "copy", "one-hot"])
def test_columns_that_depend_on_others_exactly_do_not_cost_the_gap(extra: str) -> None:
    rng = np.random.default_rng(8)
    X, kinds = rng.normal(size=(30, 3)), np.eye(3)[np.arange(30) % 3 - (np.arange(30) % 5 == 0)]
    more = {"constant": np.full((30, 1), 0.1), "copy": X[:, :1], "one-hot": kinds}[extra]
    X = np.hstack([more, X])
    scores = X @ rng.normal(size=X.shape[1])
    audit: Any = certify(X, THIRD, 0.1, scores=scores)
    assert audit.gap is not None
    centred = X - X.mean(axis=0)
    least = float(np.sum((np.linalg.pinv(centred) @ (scores - scores.mean())) ** 2))
    assert audit.primal == pytest.approx(audit.loss_value + 0.05 * least, rel=1e-11)


def test_a_norm_that_no_function_with_this_loss_has_is_refused() -> None:
    """Where nothing else bounds the norm, the optimum does: F of no function is below it."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 3))
    X[:, 2] = X[:, 1] * (1 + 1e-15 * rng.integers(0, 3, size=30))
    scores, best = 5.0 * (X.sum(axis=1) + 2.0 * THIRD), X @ solve(X, THIRD, 10.0).w
    refuses("norm2 = 0 is impossible", certify, X, THIRD, 10.0, scores=best, norm2=0.0)
    assert certify(X, THIRD, 10.0, scores=scores, norm2=0.0).gap is None


def test_the_residual_is_what_least_squares_leave_of_the_standard_deviation() -> None:
    """A function that comes nearer in the largest difference does not make the sentence false."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        X, scores = rng.normal(size=(25, 3)), rng.exponential(size=25) ** 2
        audit: Any = certify(X, THIRD[:25], 0.1, scores=scores)
        design = np.column_stack([X, np.ones(25)])
        left = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
        direct = float(np.sqrt(np.mean(left**2)) / np.std(scores))
        assert audit.residual == pytest.approx(direct, rel=1e-12)
        assert audit.residual <= 1.0  # zero leaves all of it
        said = float(audit.statement.split("No function of it leaves less than ")[1].split(" ")[0])
        assert 0.99 * direct < said <= direct


@each("digits", [7, 10, 15])
def test_printed_scores_are_off_by_half_a_unit_of_their_last_digit_at_most(digits: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        given = rng.normal(size=30) * 10.0 ** rng.uniform(-5, 5)
        printed = np.array([float(f"{x:.{digits}g}") for x in given])
        top = float(np.abs(printed).max())
        assert np.abs(printed - given).max() <= printed_error(printed) <= 10.0 ** (1 - digits) * top
    assert printed_error(np.random.default_rng(3).normal(size=30)) == 0.0  # not printed
    assert printed_error(np.array([3.0, -1.0, 0.0, 0.25])) == 0.0


@pytest.mark.filterwarnings("error")
@each("scale", [1e-140, 1e-100, 1e-92, 1e-60, 1e60, 1e90])
def test_rows_of_any_size_are_fitted_without_a_warning(scale: float) -> None:
    """The inverse of their products has squares that overflow."""
    rng, y = np.random.default_rng(3), np.array([0, 1, 0])
    X = scale * rng.normal(size=(3, 5))
    lam = float(np.clip(scale**2, 1e-90, 1e90))
    audit = certify(X, y, lam, scores=rng.normal(size=3))
    assert audit.gap is None or audit.gap >= 0


def test_pairs_without_weight_are_not_counted() -> None:
    X, y = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8) % 7 < 3
    weight = np.array([1.0, 0, 3, 1, 0, 2, 1, 0])
    i, j = np.nonzero(y)[0].repeat(4), np.tile(np.nonzero(~y)[0], 4)
    w, weighted = solve(X, y, 0.1, sample_weight=weight).w, {"sample_weight": weight}
    for rows, labels, words in (
        (X, y, weighted),
        (ac.StreamedRows(X), y, weighted),
        (ac.PartitionedRows(cut(X, y, weight, [3])), None, {}),
        (X, y, {"pairs": PairList(i, j, weight[i] * weight[j])}),
    ):
        audit = certify(rows, labels, 0.1, w=w, **words)  # type: ignore[arg-type]
        assert (audit.n_pairs, audit.n_sure_right, audit.n_sure_wrong) == (6, 4, 2)
        assert " over 6 pairs" in audit.statement
