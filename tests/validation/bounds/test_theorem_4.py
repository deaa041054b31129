"""Theorem 4 as printed, its steps, Theorem 4', and both next to true errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.exact.spaces.rows import Rows
from aucert.validation.bounds.experiment import (
    EXCESS,
    EXCESS_PRIOR,
    NYSTROM,
    POSTERIOR,
    PRINTED,
    PRIOR,
    REALISED,
    REPAIRED,
    Experiment,
    approximation_errors,
    certified,
    prepare,
)
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.bounds.prime import Projected, sandwich, theorem4_prime
from aucert.validation.bounds.printed import (
    Bound,
    DrawnPair,
    Norms,
    eq_17,
    eq_17_objectives,
    eq_18,
    eq_19,
    eq_20,
    eq_21,
    hoeffding,
    least_norm,
    most_often,
    often,
    theorem4,
)
from aucert.validation.data import datasets
from loops import each, seeds

CORRECTED = {NYSTROM, EXCESS, EXCESS_PRIOR, POSTERIOR, PRIOR}
TOL = 1e-9


KERNEL = Gaussian(2.0)


def made(kernel: Kernel = KERNEL, d: int = 4, n: int = 14, p: int = 3) -> Approximation:
    """A few rows, a third of them positive, and d of them as landmarks."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, p)), rng.permutation(n) < n // 3
    return Approximation.of_landmarks(kernel, X, X[:d], positive)


# Theorem 4 as printed.


@each("power", [1.5, 2.5])
@each("p", [0.5, 1.0])
@each("C", ["1/lam", "2/lam", "realised"])
def test_the_terms_are_those_of_the_printed_formula(C: str, p: float, power: float) -> None:
    a = made()
    pairs = draw_pairs(a.positive, 37, 3)
    norms = Norms(full=1.3, drawn=1.7, projected=9.0, drawn_projected=0.8)
    bound = theorem4(a, 0.2, pairs=pairs, C=C, norms=norms, p=p, power=power, delta=0.1)
    truth: Any = a.truth
    K, near = truth.K, a.features @ a.features.T
    n, B, lam = 14, 37, 0.2
    squares = {"1/lam": [5.0] * 3, "2/lam": [10.0] * 3, "realised": [1.69, 2.89, 0.64]}[C]
    E2 = np.abs(np.linalg.eigvalsh(K - near)).max()
    lam_min, lam_plus = np.linalg.eigvalsh(K)[0], np.linalg.eigvalsh(near)[-4]
    N = np.bincount(np.r_[pairs.i, pairs.j]).max()
    A1 = (1 + 2 * max(squares[0], squares[1]) ** 0.5) / 2**0.5
    A2 = (squares[2] / lam_plus) ** 0.5
    A3 = (2 / lam) ** 0.5 * ((squares[0] / lam_min) ** 0.5 + A2) ** p
    assert bound.terms["A1"] == pytest.approx(A1 * np.sqrt(np.log(40) / B))
    assert bound.terms["A2"] == pytest.approx(N / B * A2 * E2 * n**0.5)
    assert bound.terms["A3"] == pytest.approx(N / B * A3 * (N * E2 * n**power / B) ** 0.5)
    assert bound.at_least == pytest.approx(bound.total) == pytest.approx(sum(bound.terms.values()))
    assert bound.quantities["N_max"] == pytest.approx(N)


def test_without_pairs_the_largest_count_is_exceeded_as_rarely_as_is_said() -> None:
    a = made()
    bound = theorem4(a, 0.2, 50)
    assert (bound.quantities["N_max"], True) == (often(*a.sizes, 50)[0], often(4, 9, 50)[1] <= 1e-3)
    t, tail = often(4, 9, 50, level=0.3)
    counts = np.random.default_rng(0).multinomial(50, [1 / 4] * 4, size=2000).max(axis=1)
    # a union over the rows: a little too large; five standard errors are 0.05
    assert tail <= 0.3 and tail / 3 < (counts > t).mean() < tail + 0.05
    single = theorem4(a, 0.2, pairs=draw_pairs(a.positive, 400, 1))
    merged = theorem4(a, 0.2, 400, pairs=draw_pairs(a.positive, 400, 1, merge=True))
    assert merged.total == pytest.approx(single.total)


@each("kernel", [Linear(), Gaussian(2.0)])
def test_of_a_singular_kernel_the_bound_is_undefined(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(14, 3))
    X[3], positive = X[0], np.arange(14) % 3 == 0
    bound = theorem4(Approximation.of_landmarks(kernel, X, X[5:8], positive), 0.1, 1000)
    assert bound.total == bound.at_least == np.inf and bound.vacuous
    assert np.isfinite(bound.terms["A1"]) and np.isfinite(bound.terms["A2"])
    near = made(Gaussian(0.01), n=60)  # an eigenvalue below rounding
    bound = theorem4(near, 0.1, 1000)
    assert near.lam_min.low == 0.0 < near.lam_min.high
    assert bound.total == np.inf and 1.0 < bound.at_least < np.inf


def test_a_bound_stands_next_to_the_true_error_and_is_vacuous_from_its_limit_on() -> None:
    bound = Bound("a", {"x": 0.3, "y": 0.3}, left_side=0.2)
    assert bound.ratio == pytest.approx(3.0) and bound.violated is False and not bound.vacuous
    assert replace(bound, left_side=0.7).violated
    assert replace(bound, left_side=0.0).ratio == np.inf
    unknown = replace(bound, left_side=None)
    assert unknown.ratio is None and unknown.violated is None
    assert str(bound) == "a: 0.2 <= 0.6 = 0.3 (x) + 0.3 (y)"
    assert Bound("a", {"x": 0.5, "y": 0.5}).vacuous and Bound("a", {"x": float("nan")}).vacuous
    assert not Bound("a", {"x": 1.5}, limit=2.0).vacuous


@each("share", [1.0, 7.0])
def test_beyond_floats_the_largest_count_has_chernoffs_bound(share: float) -> None:
    """Of rows so many that counts are Poisson's; below, where the tail is exact, it is larger."""
    n = 2e12
    t, bound = most_often(n, share * n)
    assert n * stats.poisson.sf(t, 2 * share) <= bound <= 0.1
    near, exact = most_often(1e12, share * 1e12)
    assert near <= t <= near + 3 and exact <= 0.1


@pytest.mark.slow
def test_a_kernel_in_memory_violates_the_printed_theorem() -> None:
    """1000 rows, two pure clusters and ten single rows, which are the landmarks."""
    n, lam, B = 1000, 1.24, 50_000
    cluster = np.concatenate([np.zeros(495), np.ones(495), 2 + np.arange(10)]).astype(int)
    positive = np.where(cluster < 2, cluster == 0, cluster % 2 == 0)
    K = 0.5 * (cluster[:, None] == cluster[None, :]) + 0.5 * np.eye(n)
    V = K[:, -10:]  # K of the landmarks is the identity
    a, pairs = Approximation.of_matrices(K, V @ V.T, positive), draw_pairs(positive, B, 0)
    f = solve(K, positive, lam, kernel="precomputed", tol=1e-7)
    drawn = solve(K, positive, lam, kernel="precomputed", pairs=pairs, tol=1e-7)
    near = solve(V, positive, lam, pairs=pairs, tol=1e-7)
    squares = [float(f.w @ K @ f.w), float(drawn.w @ K @ drawn.w), float(near.w @ near.w)]
    norms = Norms(squares[0] ** 0.5, squares[1] ** 0.5, None, squares[2] ** 0.5)
    U = f.certificate.primal - lam / 2 * squares[0]
    left = abs(U - near.certificate.primal + lam / 2 * squares[2])
    more: dict[str, Any] = {"pairs": pairs, "C": "realised", "norms": norms, "left_side": left}
    printed, repaired = theorem4(a, lam, **more), theorem4(a, lam, power=2.5, **more)
    assert left == pytest.approx(0.792, abs=0.005)
    assert printed.total == pytest.approx(0.666, abs=0.02)
    assert printed.violated and not printed.vacuous
    assert not repaired.violated and repaired.vacuous


# The steps of its proof, by loops over the pairs.


def hinge(problem: Problem, scores: np.ndarray) -> float:
    """The mean hinge over the listed or over all pairs, by a loop."""
    positive = problem.pairs.positive
    if isinstance(problem.pairs, PairList):
        pairs = list(zip(problem.pairs.i, problem.pairs.j, strict=True))
    else:
        pairs = [(i, j) for i in np.flatnonzero(positive) for j in np.flatnonzero(~positive)]
    return sum(max(0.0, 1 - scores[i] + scores[j]) for i, j in pairs) / len(pairs)


def linear(lam: float, seed: int) -> tuple[Problem, Problem, np.ndarray, np.ndarray]:
    """A linear problem over all and over B = n drawn pairs, with both optima."""
    data = datasets.load("linear:60", seed)
    space, positive = Rows(data.X), data.is_positive
    full, drawn = (
        pair_problem(space, positive, pairs, HINGE, Ridge(lam))
        for pairs in (AllPairs(), draw_pairs(positive, 60, seed))
    )
    return full, drawn, certified(full, TOL).w, certified(drawn, TOL).w


@each("seed", seeds(4))
def test_eq_17_and_hoeffding_by_hand(seed: int) -> None:
    full, drawn, w, w_B = linear(1.0, seed)
    X: Any = full.space
    U, U_B = [[hinge(p, X.raw @ at) for at in (w, w_B)] for p in (full, drawn)]
    step, objectives = (form(full, drawn, w, w_B) for form in (eq_17, eq_17_objectives))
    largest = max(abs(U[0] - U_B[0]), abs(U[1] - U_B[1]))
    assert step.left == pytest.approx(abs(U[0] - U_B[1]))
    assert step.right == objectives.right == pytest.approx(largest)
    assert step.corrected == pytest.approx(largest + abs(w_B @ w_B - w @ w) / 2)
    assert objectives.left == pytest.approx(abs(U[0] + w @ w / 2 - U_B[1] - w_B @ w_B / 2))
    bound = hoeffding(full, drawn, w, w_B, 60, 3.0, 10.0, 0.1)
    assert bound.left == pytest.approx(largest) and bound.holds and bound.corrected is None
    assert bound.right == pytest.approx((1 + 6 * 10**0.5) * (np.log(40) / 120) ** 0.5)


def test_eqs_18_19_20_21_by_hand() -> None:
    lam, B, n = 0.05, 80, 40
    data = datasets.load("linear:40", 3)
    case = prepare(data.X, data.y, Laplacian(1.0), lam, 8, 3)
    positive, pairs = data.is_positive, draw_pairs(data.is_positive, B, 3)
    exact, near_w = (
        certified(pair_problem(space, positive, pairs, HINGE, Ridge(lam)), TOL).w
        for space in (case.factor, case.projected.space)
    )
    a, truth = case.approximation, case.approximation.truth
    K: Any = truth.K
    near, hat = a.features @ a.features.T, np.linalg.solve(K, case.factor.raw @ exact)
    tilde = least_norm(a.features, near_w)
    drawn = pair_problem(case.full.space, positive, pairs, HINGE, Ridge(lam))
    pair = DrawnPair(a, drawn, B, hat, tilde)
    N, E2 = np.bincount(np.r_[pairs.i, pairs.j]).max(), np.linalg.norm(K - near, 2)
    change = np.sqrt((hat - tilde) @ K @ (hat - tilde))
    lengths = np.linalg.norm(hat) + np.linalg.norm(tilde)

    at_hat, at_tilde = hinge(drawn, K @ hat), hinge(drawn, near @ tilde)
    size = n * change + np.sqrt(n) * E2 * np.linalg.norm(tilde)
    assert eq_18(pair).left == pytest.approx(abs(at_hat - at_tilde))
    assert eq_18(pair).right == pytest.approx(N / B * size)
    assert eq_18(pair, U_full=0.9).left == pytest.approx(abs(0.9 - at_tilde))

    def objective(theta: np.ndarray) -> float:
        return hinge(drawn, K @ theta) + lam / 2 * float(theta @ K @ theta)

    first, last = eq_20(pair), eq_20(pair, "last")
    assert first.left == last.left == pytest.approx(objective(tilde) - objective(hat))
    sums = hinge(drawn, K @ tilde) - at_tilde + hinge(drawn, near @ hat) - at_hat
    assert first.right == pytest.approx(sums)
    penalty = lam / 2 * (tilde @ (K - near) @ tilde - hat @ (K - near) @ hat)
    assert first.corrected == pytest.approx(sums + penalty)
    assert last.right == pytest.approx(N * E2 * np.sqrt(n) / B * lengths)

    assert eq_19(pair).left == pytest.approx(lam / 2 * change**2)
    assert eq_19(pair).right == first.left and eq_19(pair).holds

    root = np.sqrt(2 * N * E2 * np.sqrt(n) / (B * lam))
    assert eq_21(pair).left == pytest.approx(change)
    assert eq_21(pair).right == eq_21(pair).corrected == pytest.approx(root * np.sqrt(lengths))
    assert eq_21(pair, p=1.0).right == pytest.approx(root * lengths)
    with pytest.raises(InputError, match="theta_tilde must have one number per row: 40"):
        DrawnPair(a, drawn, B, hat, tilde[:4])


# Theorem 4'. Its formulas are in test_ingredients.


def experiment(kernel: Kernel, lam: float, d: int, n: int = 60, seed: int = 0) -> Experiment:
    data = datasets.load(f"{('linear', 'radial')[seed % 2]}:{n}", seed)
    y = np.random.default_rng(seed).permutation(data.y) if seed % 4 >= 2 else data.y  # pure noise
    return prepare(data.X, y, kernel, lam, d, seed, TOL)


@pytest.fixture(scope="module")
def case() -> Experiment:
    """A problem whose bounds are near the truth: a kernel of narrow width, lam = 1."""
    return experiment(Gaussian(50.0), 1.0, 12)


def test_terms_and_alternatives_add_up_and_tuning_divides_delta(case: Experiment) -> None:
    a = case.approximation
    for part, forms in (("I", {"fast", "slow"}), ("II", {"penalties", "lipschitz"})):
        for lam in (0.02, 1.0, 50.0):
            bound = theorem4_prime(a, lam, 50, part=part)
            assert set(bound.alternatives) == forms
            assert min(bound.alternatives.values()) == pytest.approx(bound.total, rel=1e-12)
        tuned = theorem4_prime(a, 1.0, 1000, part=part, delta=0.05, tuned_over=10)
        assert tuned.total == theorem4_prime(a, 1.0, 1000, part=part, delta=0.005).total
        assert any("10 settings" in note for note in tuned.notes)


def test_r2_is_the_size_of_the_sampling_error_of_a_gradient() -> None:
    """E Z^2 = (R2^2 - |mean|^2) / B at alpha = 1: a smaller R2 would not bound E Z."""
    a = experiment(Gaussian(50.0), 1.0, 60, seed=2).approximation
    V, B = a.features, 50
    mean = V[a.positive].mean(axis=0) - V[~a.positive].mean(axis=0)
    rng, squares = np.random.default_rng(0), []
    for _ in range(2000):
        pairs = draw_pairs(a.positive, B, rng)
        deviation = (V[pairs.i] - V[pairs.j]).mean(axis=0) - mean
        squares.append(float(deviation @ deviation))
    expected = (a.R2**2 - float(mean @ mean)) / B
    assert np.mean(squares) == pytest.approx(expected, rel=0.05)
    assert expected > 0.9 * a.R2**2 / B


def test_the_sandwich_is_equality_while_every_hinge_is_active() -> None:
    active, whole = experiment(Gaussian(5.0), 20.0, 6), experiment(Gaussian(5.0), 0.1, 60)
    found, none = (
        sandwich(case.approximation, case.lam, Projected.of(case.f), case.posterior)
        for case in (active, whole)
    )
    assert found == pytest.approx((active.nystrom, active.nystrom), rel=1e-6)
    assert none[1] < 1e-9  # every row is a landmark
    assert whole.draw(600, 0).bounds[EXCESS].terms["nystrom"] < 1e-9


def test_the_corrected_bound_vanishes_with_b_and_the_printed_one_does_not(
    case: Experiment,
) -> None:
    a, near = experiment(Gaussian(50.0), 1.0, 60).approximation, case.approximation
    for part in ("I", "II"):
        few, many = (theorem4_prime(a, 1.0, 10**k, part=part).total for k in (10, 12))
        assert many < few / 8 and many < 1e-4
    assert theorem4(near, 1.0, 10**12).total > 1 > theorem4_prime(near, 1.0, 10**12).total


def test_the_left_side_of_part_1_can_exceed_one_and_those_of_the_others_cannot() -> None:
    """One feature, one positive row on the wrong side, near zero: a pair of it turns f round."""
    X = np.concatenate([np.ones(9), [-0.1], 1e-3 * np.arange(10)])[:, None]
    case = prepare(X, np.repeat([1, 0], 10), Linear(), 1e-3, X, tol=TOL)
    rng = np.random.default_rng(0)
    few = [case.draw(1, rng) for _ in range(30)]
    largest, s = max(draw.excess for draw in few), few[0].bounds[EXCESS].quantities
    assert 9 < largest <= 1.5 + s["Rp"] * s["Sp"]
    assert max(draw.loss_difference for draw in few) <= 1 and -1e-12 <= case.nystrom <= 1
    assert not any(set(draw.violated) & CORRECTED for draw in few)
    zero = case.full.objective(np.zeros_like(case.f.w))
    assert zero == 1 and 0 <= zero - case.f.certificate.dual <= 1
    for B in (1, 100_000):
        bound = theorem4_prime(case.approximation, 1.0, B, part="I")
        assert any("f = 0" in note for note in bound.notes)
        assert bound.vacuous == (bound.total >= 1)


def test_a_full_solution_that_stopped_early_needs_a_term_of_its_own() -> None:
    """In the limit of many draws, without a Nystrom error, the left side is that of f^ alone."""
    case = experiment(Gaussian(50.0), 1.0, 60)
    a, lam, B, best = case.approximation, case.lam, 10**12, case.f.certificate
    gap = case.full.objective(0.9 * case.f.w) - best.dual
    losses = [case.full.sums(case.full.space.scores(w)).value for w in (0.9 * case.f.w, case.f.w)]
    moved = abs(losses[0] - losses[1])
    norms = Norms(*[float(case.full.space.norm2(case.f.w)) ** 0.5 + best.radius] * 4)
    assert moved > theorem4_prime(a, lam, B, projected=case.posterior, norms=norms).total
    bound = theorem4_prime(a, lam, B, projected=case.posterior, norms=norms, gap_full=gap)
    assert moved <= bound.total


# True errors next to the bounds.


def test_the_errors_are_those_of_problems_solved_one_by_one() -> None:
    data = datasets.load("radial:50", 2)
    lam, d, kernel = 0.05, 10, Gaussian(0.5)
    case = prepare(data.X, data.y, kernel, lam, data.X[:d])
    draw = case.draw(100, 7)
    K, C = kernel(data.X, data.X), kernel(data.X, data.X[:d])
    f = solve(K, data.y, lam, kernel="precomputed")
    V = C @ np.linalg.inv(np.linalg.cholesky(C[:d])).T
    f_P = solve(V, data.y, lam)
    near = solve(V, data.y, lam, pairs=draw_pairs(data.is_positive, 100, 7))

    def loss(scores: np.ndarray) -> float:
        return hinge(case.full, scores)

    size = lam / 2 * float(near.w @ near.w)
    radius = 20 * f.certificate.radius
    error = abs(loss(K @ f.w) - near.certificate.primal + size)
    assert draw.loss_difference == pytest.approx(error, abs=radius)
    assert draw.excess == pytest.approx(loss(V @ near.w) + size - f.certificate.primal, abs=radius)
    nystrom = f_P.certificate.primal - f.certificate.primal
    assert draw.nystrom == pytest.approx(nystrom, abs=1e-7)
    best = replace(case.f.certificate, primal=2.0, dual=2.0)
    with pytest.raises(RuntimeError, match="below the certified optimum"):
        replace(case, f=replace(case.f, certificate=best)).draw(40, 0)


@each("jitter", [1e-3, 0.3])
def test_any_approximation_from_below_will_do(jitter: float) -> None:
    """K~ = C (W + jitter I)^-1 C' is not a projection; |w| then exceeds the function's own norm."""
    data = datasets.load("linear:50", 3)
    kernel, lam, B = Laplacian(0.5), 0.2, 5000
    K, C = kernel(data.X, data.X), kernel(data.X, data.X[:10])
    K_tilde = C @ np.linalg.solve(C[:10] + jitter * np.eye(10), C.T)
    a = Approximation.of_matrices(K, K_tilde, data.is_positive)
    full, near = solve(K, data.y, lam, kernel="precomputed"), solve(a.features, data.y, lam)
    f, f_P = (Projected(s.witness.c, s.certificate.gap) for s in (full, near))
    low, high = sandwich(a, lam, f, f_P)
    assert low - 1e-8 <= near.certificate.primal - full.certificate.primal <= high + 1e-8
    U = full.certificate.primal - lam / 2 * float(full.w @ K @ full.w)
    for seed in range(5):
        drawn = solve(a.features, data.y, lam, pairs=draw_pairs(data.is_positive, B, seed))
        size = float(drawn.w @ drawn.w)
        left = abs(U - drawn.certificate.primal + lam / 2 * size)
        norms = Norms(drawn_projected=float(np.sqrt(size)) + drawn.certificate.radius)
        more: dict[str, Any] = {"projected": f_P, "norms": norms, "gap_full": f.gap}
        assert theorem4_prime(a, lam, B, eps=1e-9, left_side=left, **more).violated is False


def test_realised_norms_are_below_one_over_lam_and_tighten_the_printed_bound() -> None:
    data = datasets.load("linear:60", 1)
    draws = approximation_errors(
        data.X, data.y, Gaussian(50.0), 0.1, 12, [60, 600], n_draws=2, realised=True
    )
    assert [draw.B for draw in draws] == [60, 60, 600, 600]
    for draw in draws:
        realised, printed, repaired = (draw.bounds[k] for k in (REALISED, PRINTED, REPAIRED))
        assert realised.quantities["C"] <= 10 and realised.quantities["C_B"] <= 10
        assert realised.total < printed.total < repaired.total and draw.violated == []
    assert REALISED not in prepare(data.X, data.y, Gaussian(5.0), 0.1, 12).draw(60, 0).bounds


def refusals() -> list[tuple[Any, dict[str, Any], list[tuple[dict[str, Any], str]]]]:
    """What is called, with what, and what is wrong then."""
    a, zeros = made(), Projected(np.zeros(3))
    data = datasets.load("linear:50", 0)
    full, drawn, w, w_B = linear(1.0, 0)
    space: Any = full.space
    other = pair_problem(Rows(space.dense()), full.pairs.positive, drawn.pairs, HINGE, Ridge(1))
    steps = {"full": full, "drawn": drawn, "w": w, "w_B": w_B}
    merged = draw_pairs(a.positive, 400, 1, merge=True)
    rows = {"X": data.X, "y": data.y, "kernel": KERNEL, "lam": 1.0, "landmarks": 5, "B": 50}
    common: list[tuple[dict[str, Any], str]] = [
        *(({"lam": lam}, "lam must be > 0") for lam in (0.0, -1.0, float("nan"))),
        *(({"delta": delta}, "delta must be > 0 and < 1") for delta in (0.0, 1.0, 1.5)),
        ({"B": 0}, "must be a whole number >= 1"),
    ]
    printed: list[tuple[dict[str, Any], str]] = [
        ({"B": None}, "give B"),
        ({"C": "3/lam"}, "C must be one of"),
        ({"C": "realised"}, "needs the norms"),
        ({"C": "realised", "norms": Norms(1.0, 1.0)}, "needs the norms"),
        ({"p": -1.0}, "p must be > 0"),
        ({"N_max": 0.0}, "N_max must be > 0"),
        ({"pairs": PairList(np.array([0]), np.array([0]))}, "not a"),
        ({"pairs": merged, "B": None}, "weights of their"),
    ]
    prime: list[tuple[dict[str, Any], str]] = [
        ({"B": None}, "needs B"),
        ({"part": "III"}, "part must be one of A, I, II"),
        ({"eps": -1e-3}, "eps must be >= 0"),
        ({"gap_full": float("inf")}, "gap_full must be >= 0"),
        ({"tuned_over": 0}, "tuned_over must be a whole number >= 1"),
        ({"with_replacement": False}, "with replacement"),
        ({"projected": zeros}, "14 finite numbers"),
    ]
    experiments: list[tuple[dict[str, Any], str]] = [
        ({"landmarks": 0}, "n_landmarks must be a whole number >= 1"),
        ({"landmarks": 99}, "99 landmarks are wanted"),
        ({"n_draws": 0}, "n_draws must be a whole number >= 1"),
        ({"y": np.ones(50)}, "exactly two classes"),
    ]
    bound = {"approximation": a, "lam": 0.1, "B": 10}
    return [
        (theorem4, bound, common + printed),
        (theorem4_prime, bound, common + prime),
        (approximation_errors, rows, common[::3] + experiments),
        (eq_17, steps, [({"drawn": other}, "share their space"), ({"w": w[:1]}, "weights shape")]),
        (hoeffding, {**steps, "B": 60, "K_max": 1.0, "C_max": 1.0}, common[3:6]),
        (Projected, {"marginals": np.zeros(60)}, [({"gap": -1.0}, "gap must be >= 0")]),
        (Norms, {}, [({"full": -1.0}, "norm `full` must be >= 0")]),
    ]


def test_bad_arguments_are_refused() -> None:
    for call, good, cases in refusals():
        for change, match in cases:
            with pytest.raises(InputError, match=match):
                call(**(good | change))
