"""Penalties and risks, false ones too; few pairs over their own rows; scalings of objectives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
from aucert.approx import draw_pairs
from aucert.exact import AllPairs, Ridge
from aucert.exact.losses.registry import HINGE
from aucert.exact.problem import scalings, tail
from aucert.exact.problem.penalties import ElasticNet, Sign
from aucert.exact.tools.rounding import Bound
from decimal_losses import mean_of
from loops import each, refuses
from naive import exact, products, weighted_pairs
from own_parts import Box, WeightedL1

RNG = np.random.default_rng(5)
X, Y = np.round(RNG.normal(size=(20, 4)), 1), np.arange(20) % 3 == 0
GROUPS = np.array([0, 0, 1, 1])
ALL: list[Any] = [
    Ridge(0.3),
    ElasticNet(0.3, 0.2),
    ElasticNet(0.0, 0.2),
    ac.GroupLasso(0.3, 0.2, GROUPS),
    ac.GroupLasso(0.0, 0.2, np.array(["b", "b", "a", "c"])),
    Sign(ElasticNet(0.3, 0.2), np.array([0, 3])),
    Sign(ac.GroupLasso(0.3, 0.2, GROUPS)),
    Sign(Ridge(0.3)),
]


def problem(penalty: Any, loss: Any = ac.SQUARED_HINGE) -> ac.Problem:
    return ac.Problem(ac.Rows(X), ac.Mean(AllPairs().on(Y), loss), penalty)


@each("penalty", ALL[1:], ids=lambda p: type(p).__name__)
def test_what_is_shrunk_is_inside_for_every_error(penalty: Any) -> None:
    for _ in range(200):
        g, error = RNG.normal(size=4), 10.0 ** RNG.uniform(-12, 0)
        s = getattr(penalty, "shrink", lambda *_: 0.0)(g, error)
        assert 0 <= s <= 1
        for _ in range(5):
            e = RNG.normal(size=4)
            moved = s * (g + error * e / np.linalg.norm(e))
            assert np.abs(penalty.residual(moved)).max() <= 4e-16


def test_a_wrong_sign_costs_infinitely_much_and_is_refused() -> None:
    task = problem(Sign(Ridge(0.1), np.array([1])))
    w = np.array([-1.0, -1e-300, 1.0, 0.0])
    assert task.objective(w) == np.inf and np.isfinite(task.objective(np.abs(w)))
    witness = ac.Minorant.from_scores(task, task.space.scores(np.abs(w)))
    refuses("break its constraint", ac.Certificate.of, task, w, witness)


@each("penalty", ALL, ids=lambda p: type(p).__name__)
@each("loss", [HINGE, ac.SQUARED_HINGE, ac.SQUARE], ids=lambda loss: loss.name)
def test_the_best_scale_is_no_worse_than_others(loss: Any, penalty: Any) -> None:
    if penalty.l2 == 0 and loss != HINGE:
        pytest.skip("the lasso takes the whole dual point, which any shrinking makes valid")
    task = problem(penalty, loss)
    chosen: Any = ac.Minorant.from_scores(task, np.zeros(20), 0.5).evidence
    assert 0 <= chosen.scale <= 1

    def bound(scale: float) -> float:
        given = ac.Minorant.from_scores(task, np.zeros(20), 0.5, scale)
        return ac.Certificate.of(task, np.zeros(4), given).dual

    assert all(bound(chosen.scale) >= bound(s) - 1e-9 for s in np.linspace(0, 1, 21))


HALF = 0.1
FALSE: list[tuple[str, float, dict[str, Any]]] = [
    ("is not the norm", HALF, {
        "quick_distance": lambda self, *of: Bound(Box.quick_distance(self, *of).value / 2, 0.0)}),
    ("the error of its .* is -1e-15", HALF, {
        "distance": lambda self, *of: Bound(Box.distance(self, *of).value, -1e-15)}),
    ("the error of its .* is -1e-15", HALF, {
        "value": lambda self, *of: Bound(Box.value(self, *of).value, -1e-15)}),
    ("proves zeros where", 1.0, {"zeros": lambda self, g, error: np.abs(g) < self.high}),
    ("outside the set", HALF, {"residual": lambda self, g: 0.5 * Box.residual(self, g)}),
    ("not the nearest point", HALF, {
        "residual": lambda self, g: g - 0.9 * np.clip(g, self.low, self.high)}),
    ("outside the set", HALF, {
        "value": lambda self, space, w: Bound(self.l2 / 2 * float(w @ w), 0.0)}),
    ("is not the norm", HALF, {"distance": lambda *_: Bound(0.0, 0.0)}),
]  # fmt: skip


@each(("said", "half", "parts"), FALSE)
def test_a_false_penalty_is_caught(said: str, half: float, parts: dict[str, Any]) -> None:
    refuses(said, problem, type("Faulty", (Box,), parts)(0.1, -half, half))


def test_what_is_no_penalty_is_refused_and_ones_own_is_taken() -> None:
    wrong: dict[str, Any] = {
        "l2 = -0.1": Box(-0.1, -0.1, 0.1),
        "l2 = nan": Box(np.nan, -0.1, 0.1),
        "shrink": Box(0.0, -0.1, 0.1),
        "it lacks l2": object(),
    }
    for said, penalty in wrong.items():
        refuses(said, problem, penalty)
    problem(Box(0.1, -0.1, 0.4))
    problem(WeightedL1(0.1, np.arange(4.0)))


@dataclass(frozen=True)
class Unshrunk(Box):
    factor: float = 1.0
    part: float = 0.0

    def shrink(self, g: np.ndarray, error: float) -> float:
        size = float(np.abs(g).max()) + self.part * error
        return min(self.factor, 0.999 * min(-self.low, self.high) / size)


@each(("factor", "part", "ok"), [(1, 1, True), (1, 0, False), (2, 1, False)])
@each("l2", [0.0, 0.1])
def test_a_false_shrink_is_caught(factor: float, part: float, ok: bool, l2: float) -> None:
    penalty = Unshrunk(l2, -0.2, 0.2, factor, part)
    problem(penalty) if ok else refuses("shrink", problem, penalty)


def test_penalties_tell_where_every_pull_near_one_is_inside() -> None:
    g, error = np.array([0.5, -0.5, 2.0, -2.0]), np.full(4, 0.4)
    assert ElasticNet(1.0, 1.0).zeros(g, error).tolist() == [True, True, False, False]
    assert ElasticNet(1.0, 0.9).zeros(g, error).tolist() == [False] * 4  # at the edge: not proved
    assert Sign(ElasticNet(1.0, 1.0)).zeros(g, error).tolist() == [True, True, False, True]
    assert Sign(Ridge(1.0), np.array([1, 3])).zeros(g, error).tolist() == [False, True, False, True]
    groups = ac.GroupLasso(1.0, 1.0, np.array([0, 0, 1, 1]))
    assert groups.zeros(g, error).tolist() == [True, True, False, False]  # 1.27 < sqrt(2)
    assert groups.zeros(g, error + 0.11).tolist() == [False] * 4  # 1.43 is not
    assert Sign(groups).zeros(g, error + 0.11)[:2].all()  # only 1.01 can pull


def test_errors_of_scores_move_the_hinge_as_far_as_the_slip_says() -> None:
    """Below the margin the hinge is linear, so that the bound is reached."""
    positive = np.arange(12) % 3 == 0
    risk, error = ac.Mean(AllPairs().on(positive), HINGE), np.full(12, 0.01)
    moved = risk.sums(np.where(positive, -0.01, 0.01)).value - risk.sums(np.zeros(12)).value
    assert 0.019 < moved <= risk.slip(error, 1.0) + 1e-15


def test_many_rows_pay_for_the_largest_error_where_it_costs_next_to_nothing(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    positive, error = np.arange(12) % 3 == 0, 1e-15 * rng.random(12)
    for loss in (HINGE, ac.LOGISTIC):
        risk = ac.Mean(AllPairs().on(positive), loss)
        fine = {upper: risk.slip(error, upper) for upper in (1.0, 1e-3, -1.0)}
        with monkeypatch.context() as patch:
            patch.setattr("aucert.exact.problem.risk.LONG_ROWS", 0)
            assert fine[1.0] < risk.slip(error, 1.0) <= 1e-13
            for upper in (1e-3, -1.0):  # what is not a small share of U is bounded row by row
                assert risk.slip(error, upper) == fine[upper]
            assert risk.slip(1e3 * error, 1.0) < 2e3 * loss.lipschitz * error.max()


@pytest.mark.long_digits
def test_the_distance_of_the_ridge_pays_for_the_norm_it_is_the_root_of() -> None:
    rng = np.random.default_rng(0)
    space, c = ac.Rows(rng.normal(size=(40, 3))), rng.normal(size=40)
    found, square = Ridge(1.0).distance(space, c), space.dual_norm2(c)
    assert square.error > 0
    assert (found.value + found.error) ** 2 >= square.value + square.error


def test_capped_weights_are_feasible_in_exact_arithmetic() -> None:
    """Sums of row weights over the largest are at least k, or the share makes up for it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        positive = np.arange(200) % 2 == 0
        kq = [Fraction(1, 3) * 100, Fraction("12.3456789012345678"), Fraction(7)][seed % 3]
        risk = ac.Tail(ac.Mean(AllPairs().on(positive), HINGE), Fraction(100), kq)
        scores = np.round(rng.normal(size=200), 1)
        for width in (0.0, 0.2, 50.0):
            (_, p), (_, q) = risk.chosen(scores, width)
            share, q = Fraction(risk.share(p, q)), [Fraction(x) for x in q.tolist()]
            scale = share * kq / sum(q)
            assert scale * max(q) <= 1 and scale * sum(q) <= kq
            assert share > 1 - Fraction(1, 10**12)


def test_rates_are_the_decimal_numbers_that_are_meant() -> None:
    pairs = AllPairs().on(np.arange(20) < 10)
    for rates, wanted in (
        ((0.3, 0.9), (1, 3)),  # (1 - 0.9) * 10 is less than one in floats
        ((0.25, 0.55), (Fraction(9, 2), Fraction(5, 2))),  # the last row counts in part
        ((0.001,), (10, 1)),
    ):
        risk: Any = ac.tail_risk(pairs, HINGE, *rates)
        assert (risk.kp, risk.kq) == wanted


def test_group_weights_are_exactly_feasible_and_tend_to_the_worst() -> None:
    for width in (0.0, 1e-300, 1e-3, 1.0, 1e9):
        for values in (RNG.uniform(size=5), np.zeros(3), np.array([1.0]), np.array([1e200, 0.0])):
            q = tail.group_weights(values, width)
            assert sum(map(Fraction, q.tolist())) == 1 and q.min() >= 0
            assert q[np.argmax(values)] == q.max()
    assert tail.group_weights(np.array([0.2, 0.9, 0.1]), 1e-3).tolist() == [0, 1, 0]


@each("loss", [HINGE, ac.SQUARED_HINGE, ac.SQUARE], ids=lambda loss: loss.name)
@each("sparse", [False, True])
def test_objective_gradient_and_certificate_are_those_of_all_rows(loss: Any, sparse: bool) -> None:
    rng, n = np.random.default_rng(0), 400
    y = rng.uniform(size=n) < 0.3
    X = np.where(rng.uniform(size=(n, 4)) < 0.5, rng.normal(size=(n, 4)) + y[:, None], 0.0)
    drawn, rows = draw_pairs(y, 60, 1), ac.Rows(sp.csr_array(X) if sparse else X)
    pairs = ac.PairList(drawn.i, drawn.j, rng.uniform(size=60))
    whole = ac.pair_problem(rows, y, pairs, loss, Ridge(0.05))
    near = whole.named_rows()
    assert near.n <= 120 < whole.n and near.n_pairs == whole.n_pairs
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=4)
        assert near.objective(w) == pytest.approx(whole.objective(w), rel=1e-12)
        pulls = [p.space.pull(p.sums(p.space.scores(w)).c) for p in (near, whole)]
        np.testing.assert_allclose(*pulls, rtol=1e-10, atol=1e-13)
        made = [(p, w, ac.Minorant.from_scores(p, p.space.scores(w))) for p in (near, whole)]
        one, other = (ac.Certificate.of(*of) for of in made)
        assert one.gap == pytest.approx(other.gap, rel=1e-9)


def own_objective(convention: str, loss: str, C: float, X: Any, y: Any, w: Any) -> float:
    half, share, pairs = 0.5 * sum(w * w), sum(y) / len(y), weighted_pairs(y.tolist(), AllPairs())
    mean = float(mean_of(loss, products(exact(X), exact(w)), pairs))
    total = len(pairs) * mean
    return {
        "prsvm": half + C / 2 * total,
        "scikit-survival": half + C / 2 * total,
        "dlib": half + C * mean,
        "roclab": C * half + mean,  # gradient: lambda beta - column means of the slopes
        "torch": C * half + mean,  # weight_decay adds C w to the gradient
        "sht-authors": share * (1 - share) * mean + C * half,
    }.get(convention, half + C * total)


CASES = [(name, loss) for name, scaling in scalings.SCALINGS.items() for loss in scaling.losses]


@each(("convention", "loss"), CASES)
def test_the_authors_objective_is_ours_times_the_scale_everywhere(convention, loss):
    y = np.arange(20) % 3 == 0
    X = np.random.default_rng(7).normal(size=(20, 2)) + 0.8 * y[:, None]
    n_pairs, share, C = int(y.sum() * (~y).sum()), float(y.mean()), 0.03
    lam = ac.lam_from_C(C, n_pairs, convention, share)
    problem = ac.linear_problem(X, y, lam, loss)
    scale = scalings.objective_scale(C, n_pairs, convention, share)
    for w in np.random.default_rng(0).normal(size=(5, 2)):
        own = own_objective(convention, loss, C, X, y, w)
        assert own == pytest.approx(scale * problem.objective(w), rel=1e-12)


def test_a_convention_has_forgiving_names_a_loss_of_its_own_and_an_inverse():
    names = {"SVMrank": "svm-rank", "sklearn": "scikit-learn", "PyTorch": "torch"}
    names |= {"Liblinear_RankSVM": "liblinear-ranksvm"}
    assert [scalings.convention_name(name) for name in names] == [*names.values()]
    assert scalings.convention_loss("dlib") == "hinge"
    for of in (("liblinear-ranksvm",), ("roclab", "squared_hinge")):
        assert scalings.convention_loss(*of) == "squared_hinge"
    said = "liblinear-ranksvm has the loss squared_hinge, not hinge"
    refuses(said, scalings.convention_loss, "liblinear-ranksvm", "hinge")
    for convention in scalings.SCALINGS:
        lam = ac.lam_from_C(0.37, 120, convention, 0.2)
        assert ac.C_from_lam(lam, 120, convention, 0.2) == pytest.approx(0.37, rel=1e-14)


FIRST_HALF = ([0.3, -1.2], [1.1, 0.4], [-0.7, 0.9], [0.2, 0.1], [-1.5, -0.3], [0.8, 1.6])
OTHER_HALF = ([-0.1, -0.8], [1.9, -0.5], [-0.6, 0.2], [0.5, 0.7], [-1.1, 1.3], [0.9, -1.4])
ROWS = np.array([*FIRST_HALF, *OTHER_HALF])
TIME = np.array([2.1, 0.7, 5.3, 3.2, 8.8, 1.4, 4.0, 1.9, 6.1, 2.7, 7.5, 0.9])
EVENT = np.array([1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1], dtype=bool)
GRADE = np.array([2, 1, 0, 2, 0, 1, 1, 2, 0, 1, 0, 2])
QUERY = np.repeat([0, 1], 6)
# coef_ of scikit-survival 0.28.0: FastSurvivalSVM(alpha=0.5, rank_ratio=1, tol=1e-12).
FAST = np.array([-0.8074647704180663, 0.01944021814958207])
# -(coef_ @ X)[0] of scikit-survival 0.28.0: HingeLossSurvivalSVM(alpha=0.01, pairs="all").
OF_HINGE = np.array([0.41999999911697616, -0.08599999951610804])
# Weights of XGBoost 3.2.0: gblinear, rank:pairwise, reg_lambda=0.2, 300 rounds in float32.
BOOSTER = np.array([1.0470389, -0.82287663])
PAIRS = {
    "survival": ac.survival_pairs(TIME, EVENT).count(),
    "rank": ac.query_pairs(QUERY, GRADE).count(),
}
ORDERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "survival": (None, {"time": TIME, "event": EVENT}),
    "rank": (GRADE, {"qid": QUERY}),
}


RECORDED = [
    # its coef_ has the opposite sign
    ("survival", "squared_hinge", -FAST, ac.lam_from_C(0.5, PAIRS["survival"], "sksurv"), 1e-10),
    ("survival", "hinge", OF_HINGE, ac.lam_from_C(0.01, PAIRS["survival"], "sksurv-hinge"), 1e-7),
    ("rank", "logistic", BOOSTER, 0.2 * len(ROWS) / PAIRS["rank"], 1e-8),
]


@each(("kind", "loss", "w", "lam", "most"), RECORDED)
def test_recorded_models_of_peers_are_optimal_at_the_lam_that_their_constant_means(
    kind: str, loss: str, w: np.ndarray, lam: float, most: float
) -> None:
    """At half of it, at twice it and with the other sign they are not."""
    y, order = ORDERS[kind]
    for factor, sign in ((1, 1), (0.5, 1), (2, 1), (1, -1)):
        witness = ac.solve(ROWS, y, factor * lam, loss=loss, tol=1e-11, **order).witness
        problem = ac.ordered_problem(ROWS, y, factor * lam, loss=loss, **order)
        gap: Any = ac.Certificate.of(problem, sign * w, witness).relative_gap
        assert gap < most if factor * sign == 1 else gap > (1e-3 if sign == 1 else 0.1)


def test_certify_converts_the_c_of_a_peer_over_ordered_pairs():
    rivals = ((-FAST, "scikit-survival", 0.5, 1e-8), (OF_HINGE, "sksurv-hinge", 0.01, 1e-6))
    for w, rival, C, most in rivals:
        found: Any = ac.certify(ROWS, None, w=w, rival=rival, C=C, time=TIME, event=EVENT)
        assert found.relative_gap < most
    asked: dict[str, Any] = {"w": BOOSTER, "C": 0.1}
    ranked = ac.certify(ROWS, GRADE, rival="svm-rank", qid=QUERY, **asked)
    lam = ac.lam_from_C(0.1, PAIRS["rank"], "svm-rank")
    given = ac.certify(ROWS, GRADE, lam, w=BOOSTER, qid=QUERY)
    assert (ranked.lam, ranked.primal) == (given.lam, given.primal)
    equal = ac.query_pairs(QUERY, GRADE, share="equal")
    refuses("give lam", ac.certify, ROWS, None, rival="svm-rank", pairs=equal, **asked)
    refuses("sht-authors", ac.certify, ROWS, GRADE, rival="sht-authors", qid=QUERY, **asked)
