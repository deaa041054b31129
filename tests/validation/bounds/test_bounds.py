"""Theorem 4 as printed, its steps, Theorem 4' and its ingredients; the theorems of SHT.

Bounds are never less than in exact arithmetic: 60 digits decide. They stand next to true errors.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import naive
from aucert.approx import StochasticHardThresholding, draw_pairs, nystrom_map, sparse_problem
from aucert.exact import HINGE, AllPairs, Gram, InputError, PairList, Rows, TooLargeError, solve
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation.bounds import printed, sht
from aucert.validation.bounds.experiment import approximation_errors, certified, prepare
from aucert.validation.bounds.kernel import Approximation, large_spectral_norm, spectral_norm
from aucert.validation.bounds.prime import Projected, sandwich, theorem4_prime
from aucert.validation.data import datasets
from decimal_losses import DIGITS, decimal, true_kernel
from loops import each, refuses, seeds
from subset_problems import with_signal

TOL = 1e-9
KERNELS = (Linear(), Gaussian(2.0), Laplacian(0.7))
KERNEL = KERNELS[1]


def made(kernel: Kernel = KERNEL, d: int = 4, n: int = 14, p: int = 3) -> Approximation:
    """A few rows, a third of them positive, and d of them as landmarks."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, p)), rng.permutation(n) < n // 3
    return Approximation.of_landmarks(kernel, X, X[:d], positive)


def matrices(a: Approximation) -> tuple[np.ndarray, np.ndarray]:
    truth: Any = a.truth
    return truth.K, a.features @ a.features.T


Table = list[list[Decimal]]


def in_decimals(seed: int) -> tuple[Approximation, Table, Table, Table]:
    """Return an approximation; K, K~ = V V' of its features, and E = K - K~, in 60 digits."""
    rng = np.random.default_rng([31, seed])
    n, p = int(rng.integers(5, 9)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3) + rng.choice([0.0, 100.0])
    square = float(((X - X[0]) ** 2).sum(axis=1).mean())
    kernel: Kernel = [Gaussian(1 / square), Laplacian(1 / np.sqrt(square)), Linear()][seed % 3]
    positive = np.arange(n) < max(n // 3, 1)
    features = nystrom_map(kernel, X[: int(rng.integers(1, n))]).transform(X)
    truth = Gram.of_kernel(kernel, X, held=False) if seed % 2 else Gram.of_kernel(kernel, X)
    V = naive.exact(features)
    near = [[decimal(sum(a * b for a, b in zip(x, z, strict=True))) for z in V] for x in V]
    K = true_kernel(kernel, X)
    with localcontext(DIGITS):
        E = [[x - y for x, y in zip(p, q, strict=True)] for p, q in zip(K, near, strict=True)]
    return Approximation(truth, features, positive), K, near, E


def exact_distances(K: Table, positive: np.ndarray) -> tuple[Decimal, Decimal]:
    """Return the largest distance over pairs, and the root mean square."""
    plus, minus = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
    squares = [K[i][i] + K[j][j] - 2 * K[i][j] for i in plus for j in minus]
    return max(squares).sqrt(), (sum(squares, Decimal(0)) / len(squares)).sqrt()


def form(E: Table, v: list[Decimal]) -> Decimal:
    rows = [sum(e * x for e, x in zip(row, v, strict=True)) for row in E]
    return sum((x * y for x, y in zip(v, rows, strict=True)), Decimal(0))


def top_of(E: Table) -> Decimal:
    """Return a lower bound of the spectral norm, good to nearly all digits of a double."""
    v = np.linalg.eigh(np.array(E, dtype=float))[1]
    vectors = [[Decimal(float(x)) for x in v[:, at]] for at in (0, -1)]
    return max(abs(form(E, x)) / sum(a * a for a in x) for x in vectors)


@each("seed", seeds(30))
def test_distances_and_norms_are_rounded_up(seed: int) -> None:
    a, K, near, E = in_decimals(seed)
    with localcontext(DIGITS):
        assert Decimal(a.R) >= exact_distances(K, a.positive)[0]
        far, mean = exact_distances(near, a.positive)
        assert Decimal(a.Rp) >= far and Decimal(a.R2) >= mean
        assert Decimal(a.E2) >= top_of(E)
        assert Decimal(a.K_max) ** 2 >= max(K[i][i] for i in range(a.n))
        size = max(K[i][i] for i in range(a.n))
        assert Decimal(a.E2) <= top_of(E) + size * Decimal("1e-11"), "and not by much"


@each("seed", seeds(30))
def test_the_cost_of_a_dual_point_lies_in_its_interval(seed: int) -> None:
    a, *_, E = in_decimals(seed)
    rng = np.random.default_rng(seed)
    share = float(rng.uniform(0, 1))
    c = np.where(a.positive, share / a.sizes[0], -share / a.sizes[1])
    found = a.error_interval(c)
    with localcontext(DIGITS):
        true = form(E, [Decimal(float(x)) for x in c])
        assert Decimal(found.low) <= max(true, Decimal(0)) <= Decimal(found.high)
    low, high = sandwich(a, 0.1, Projected(c, 1e-9), Projected(c, 1e-9))
    with localcontext(DIGITS):
        cost, gap = true / (2 * decimal(0.1)), decimal(1e-9)
        assert Decimal(low) <= max(cost - gap, Decimal(0)) and cost + gap <= Decimal(high)


@each("seed", seeds(30))
@each(("eps", "informed"), [(0.0, False), (1e-3, False), (1e-3, True)])
def test_the_totals_are_at_least_the_right_sides(seed: int, eps: float, informed: bool) -> None:
    """Theorem 4', a priori and not, evaluated in 60 digits from exact ingredients."""
    a, K, near, E = in_decimals(seed)
    rng = np.random.default_rng(seed)
    lam, B = float(10.0 ** rng.uniform(-3, 1)), int(rng.integers(10, 10**6))
    delta, gap, late = 0.05, 0.02, 0.03  # the gap of the dual point, and that of the full problem
    share = float(rng.uniform(0, 1))
    c = np.where(a.positive, share / a.sizes[0], -share / a.sizes[1])
    sizes = rng.uniform(0, 1, 3)
    known: dict[str, Any] = {"projected": Projected(c, gap)} if informed else {}
    norms = printed.Norms(full=sizes[0], projected=sizes[1], drawn_projected=sizes[2])
    more: dict[str, Any] = {"norms": norms, "gap_full": late} if informed else {}
    found = {
        part: theorem4_prime(
            a, lam, B, part=part, eps=eps, **known, **(more if part == "II" else {})
        )
        for part in ("A", "I", "II")
    }
    with localcontext(DIGITS):
        R, (Rp, R2) = exact_distances(K, a.positive)[0], exact_distances(near, a.positive)
        la, b, e, d = decimal(lam), Decimal(B), decimal(eps), decimal(delta)
        L, n_pos, n_neg = (2 / d).ln(), *map(Decimal, a.sizes)
        z = (R2 + Rp * (2 * L).sqrt()) / b.sqrt()
        S, Sp = (min(1 / la.sqrt(), r / la) for r in (R, Rp))
        nystrom = top_of(E) * (1 / n_pos + 1 / n_neg) / (2 * la)
        full, projected, drawn, full_gap = S, Sp, Sp, Decimal(0)
        if informed:
            true = form(E, [Decimal(float(x)) for x in c])
            nystrom = max(true, Decimal(0)) / (2 * la) + decimal(gap)
            full, projected, drawn = map(decimal, sizes)
            full_gap = decimal(late)
        r = z / la + (2 * e / la).sqrt()
        fast = r * (2 * R2 + Rp * (2 * L).sqrt()) / b.sqrt()
        far = Sp + (2 * e / la).sqrt()
        slow = 2 * far * R2 / b.sqrt() + (2 + Rp * (far + Sp)) * (L / (2 * b)).sqrt()
        one = min(fast, slow) + e + nystrom
        away = (2 * nystrom / la).sqrt()
        slack = Rp * (2 * e / la).sqrt() + R * (2 * full_gap / la).sqrt()
        H = (1 + Rp * projected) * ((4 / d).ln() / (2 * b)).sqrt()
        penalties = max(z * z / (2 * la), nystrom) + (full + drawn) * (z + la * away) / 2
        two = H + slack + min(penalties, R * away + Rp * z / la)
        for part, right in (("A", nystrom), ("I", one), ("II", two)):
            total = Decimal(found[part].total)
            assert right <= total <= right * Decimal("1.0001") + Decimal("1e-5") / la, part


def in_blocks(E: np.ndarray, step: int) -> Any:
    def blocks() -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(E), step):
            yield slice(start, start + step), E[start : start + step]

    return blocks


@each("seed", seeds(12))
def test_a_norm_of_a_matrix_in_blocks_is_an_upper_bound_and_a_tight_one(seed: int) -> None:
    """Spectra that fall fast, slowly and not at all; more rows than directions."""
    rng = np.random.default_rng([32, seed])
    n = int(rng.integers(60, 140))
    values = [0.5 ** np.arange(n), 1 / (1 + np.arange(n)), np.ones(n)][seed % 3]
    if seed >= 6:
        values = values * rng.choice([-1, 1], n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    E = (Q * values) @ Q.T
    E = (E + E.T) / 2
    found = large_spectral_norm(in_blocks(E, 17), n)
    v = naive.exact(np.linalg.eigh(E)[1][:, np.abs(np.linalg.eigvalsh(E)).argmax()])
    image = naive.products(naive.exact(E), v)
    assert naive.norm2(image) <= Fraction(found) ** 2 * naive.norm2(v)
    assert naive.norm2(image) <= Fraction(spectral_norm(E)) ** 2 * naive.norm2(v)
    assert spectral_norm(E) <= 1 + 1e-11
    # Three passes leave the directions of a slow spectrum short of eigenvectors, and of none.
    assert found <= (1 + 1e-6, 1.02, np.sqrt(n))[seed % 3]


@each("kernel", KERNELS)
def test_a_kernel_in_blocks_gives_the_same_numbers(kernel: Kernel, monkeypatch) -> None:
    held = made(kernel, n=30)
    X, positive = np.random.default_rng(0).normal(size=(30, 3)), held.positive
    monkeypatch.setattr("aucert.validation.bounds.kernel.BLOCK_BYTES", 8 * 20 * 3)
    streamed = Approximation(Gram.of_kernel(kernel, X, held=False), held.features, positive)
    for name in ("R", "Rp", "R2", "K_max"):
        assert getattr(streamed, name) == pytest.approx(getattr(held, name))
    assert held.E2 * (1 - 1e-9) <= streamed.E2 <= held.E2 / 0.79
    assert streamed.lam_min.low == 0.0
    assert held.lam_min.low <= streamed.lam_min.high <= held.lam_min.high + 1e-12
    c = np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    costs = (a.error_interval(c).high for a in (streamed, held))
    assert next(costs) == pytest.approx(next(costs), rel=1e-6, abs=1e-9)


def test_marginals_that_are_slightly_infeasible_are_paid_for_and_others_refused() -> None:
    a = made()
    c = np.where(a.positive, 1 / a.sizes[0], -1 / a.sizes[1])
    excess = c + 1e-7 * (np.arange(a.n) == np.flatnonzero(a.positive)[0])
    paid, plain = (np.sqrt(a.error_interval(at).high) for at in (excess, c))
    assert paid >= plain + 0.9e-7
    for wrong, word in ((2 * c, "no alpha"), (-c, "<= 0 on negative"), (c[:3], "14 finite")):
        refuses(word, a.error_interval, wrong)


@each("kernel", KERNELS)
def test_of_a_singular_kernel_the_bound_is_undefined(kernel: Kernel) -> None:
    X, positive = np.random.default_rng(0).normal(size=(14, 3)), np.arange(14) % 3 == 0
    assert made(Linear()).lam_min == (0.0, 0.0)
    X[3] = X[0]
    a = Approximation.of_landmarks(kernel, X, X[5:8], positive)
    assert a.lam_min == (0.0, 0.0)
    assert Approximation.of_matrices(*matrices(a), positive).lam_min.low == 0.0
    bound = printed.theorem4(a, 0.1, 1000)
    assert bound.total == bound.at_least == np.inf and bound.vacuous
    assert np.isfinite(bound.terms["A1"]) and np.isfinite(bound.terms["A2"])
    near = made(Gaussian(0.01), n=60)  # an eigenvalue below rounding
    bound = printed.theorem4(near, 0.1, 1000)
    assert near.lam_min.low == 0.0 < near.lam_min.high
    assert bound.total == np.inf and 1.0 < bound.at_least < np.inf


@each("power", [1.5, 2.5])
@each("p", [0.5, 1.0])
@each("C", ["1/lam", "2/lam", "realised"])
def test_the_terms_are_those_of_the_printed_formula(C: str, p: float, power: float) -> None:
    a = made()
    pairs = draw_pairs(a.positive, 37, 3)
    norms = printed.Norms(full=1.3, drawn=1.7, projected=9.0, drawn_projected=0.8)
    bound = printed.theorem4(a, 0.2, pairs=pairs, C=C, norms=norms, p=p, power=power, delta=0.1)
    K, near = matrices(a)
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


def test_the_largest_count_of_a_row_is_rarely_above_its_bound() -> None:
    n, B, count, rng = 200, 5000, 400, np.random.default_rng(1)
    t, tail = printed.most_often(n, B)
    assert 0.02 < tail <= 0.1
    largest = rng.multinomial(B, np.full(n // 2, 2 / n), size=(count, 2)).max(axis=(1, 2))
    assert tail / 3 < (largest > t).mean() < tail + 5 * np.sqrt(tail / count)
    for share in (1.0, 7.0):  # of rows so many that counts are Poisson's: Chernoff's bound
        t, bound = printed.most_often(2e12, share * 2e12)
        assert 2e12 * stats.poisson.sf(t, 2 * share) <= bound <= 0.1
        near, exact = printed.most_often(1e12, share * 1e12)
        assert near <= t <= near + 3 and exact <= 0.1


def hinge(problem: Problem, scores: np.ndarray) -> float:
    """The mean hinge over the listed or over all pairs, by a loop."""
    listed = naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float)
    return naive.sums(scores, listed, "hinge").value


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
    found = full, drawn, w, w_B
    step, objectives = printed.eq_17(*found), printed.eq_17_objectives(*found)
    largest = max(abs(U[0] - U_B[0]), abs(U[1] - U_B[1]))
    assert step.left == pytest.approx(abs(U[0] - U_B[1]))
    assert step.right == objectives.right == pytest.approx(largest)
    assert step.corrected == pytest.approx(largest + abs(w_B @ w_B - w @ w) / 2)
    assert objectives.left == pytest.approx(abs(U[0] + w @ w / 2 - U_B[1] - w_B @ w_B / 2))
    bound = printed.hoeffding(*found, 60, 3.0, 10.0, 0.1)
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
    a = case.approximation
    K, near = matrices(a)
    hat = np.linalg.solve(K, case.factor.raw @ exact)
    tilde = np.linalg.lstsq(a.features.T, near_w, rcond=None)[0]
    drawn = pair_problem(case.full.space, positive, pairs, HINGE, Ridge(lam))
    pair = printed.DrawnPair(a, drawn, B, hat, tilde)
    N, E2 = np.bincount(np.r_[pairs.i, pairs.j]).max(), np.linalg.norm(K - near, 2)
    change = np.sqrt((hat - tilde) @ K @ (hat - tilde))
    lengths = np.linalg.norm(hat) + np.linalg.norm(tilde)
    at_hat, at_tilde = hinge(drawn, K @ hat), hinge(drawn, near @ tilde)
    size = n * change + np.sqrt(n) * E2 * np.linalg.norm(tilde)
    assert printed.eq_18(pair).left == pytest.approx(abs(at_hat - at_tilde))
    assert printed.eq_18(pair).right == pytest.approx(N / B * size)

    def objective(theta: np.ndarray) -> float:
        return hinge(drawn, K @ theta) + lam / 2 * float(theta @ K @ theta)

    first, last = printed.eq_20(pair), printed.eq_20(pair, "last")
    assert first.left == last.left == pytest.approx(objective(tilde) - objective(hat))
    sums = hinge(drawn, K @ tilde) - at_tilde + hinge(drawn, near @ hat) - at_hat
    assert first.right == pytest.approx(sums)
    penalty = lam / 2 * (tilde @ (K - near) @ tilde - hat @ (K - near) @ hat)
    assert first.corrected == pytest.approx(sums + penalty)
    assert last.right == pytest.approx(N * E2 * np.sqrt(n) / B * lengths)
    assert printed.eq_19(pair).left == pytest.approx(lam / 2 * change**2)
    assert printed.eq_19(pair).right == first.left and printed.eq_19(pair).holds
    root = np.sqrt(2 * N * E2 * np.sqrt(n) / (B * lam))
    step = printed.eq_21(pair)
    assert step.left == pytest.approx(change)
    assert step.right == step.corrected == pytest.approx(root * np.sqrt(lengths))
    assert printed.eq_21(pair, p=1.0).right == pytest.approx(root * lengths)
    with pytest.raises(InputError, match="theta_tilde must have one number per row: 40"):
        printed.DrawnPair(a, drawn, B, hat, tilde[:4])


def test_alternatives_are_those_of_the_part_and_tuning_divides_delta() -> None:
    a = made()
    for part, forms in (("I", {"fast", "slow"}), ("II", {"penalties", "lipschitz"})):
        for lam in (0.02, 1.0, 50.0):
            bound = theorem4_prime(a, lam, 50, part=part)
            assert set(bound.alternatives) == forms
            assert min(bound.alternatives.values()) == pytest.approx(bound.total, rel=1e-12)
        tuned = theorem4_prime(a, 1.0, 1000, part=part, delta=0.05, tuned_over=10)
        assert tuned.total == theorem4_prime(a, 1.0, 1000, part=part, delta=0.005).total
        assert any("10 settings" in note for note in tuned.notes)


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


def refusals() -> list[tuple[Any, dict[str, Any], list[tuple[dict[str, Any], str]]]]:
    a, zeros = made(), Projected(np.zeros(3))
    K, near = matrices(a)
    data = datasets.load("linear:50", 0)
    full, drawn, w, w_B = linear(1.0, 0)
    space: Any = full.space
    other = pair_problem(Rows(space.dense()), full.pairs.positive, drawn.pairs, HINGE, Ridge(1))
    steps = {"full": full, "drawn": drawn, "w": w, "w_B": w_B}
    merged = draw_pairs(a.positive, 400, 1, merge=True)
    rows = {"X": data.X, "y": data.y, "kernel": KERNEL, "lam": 1.0, "landmarks": 5, "B": 50}
    held = {"K": K, "K_tilde": near, "positive": a.positive}
    common: list[tuple[dict[str, Any], str]] = [
        *(({"lam": lam}, "lam must") for lam in (0.0, float("nan"))),
        *(({"delta": delta}, "delta must") for delta in (0.0, 1.0)),
        ({"B": 0}, "whole number"),
    ]
    bound = {"approximation": a, "lam": 0.1, "B": 10}
    start = {"delta": np.ones(3), "w_star": np.eye(3)[0], "w0": np.zeros(3)}
    return [
        (printed.theorem4, bound, [
            *common, ({"B": None}, "give B"), ({"C": "3/lam"}, "C must be one of"),
            ({"C": "realised"}, "needs the norms"), ({"p": -1.0}, "p must"),
            ({"C": "realised", "norms": printed.Norms(1.0, 1.0)}, "needs the norms"),
            ({"N_max": 0.0}, "N_max"), ({"pairs": merged, "B": None}, "weights of their"),
            ({"pairs": PairList(np.array([0]), np.array([0]))}, "not a"),
        ]),
        (theorem4_prime, bound, [
            *common, ({"B": None}, "needs B"), ({"part": "III"}, "part must be"),
            ({"eps": -1e-3}, "eps"), ({"gap_full": float("inf")}, "gap_full"),
            ({"tuned_over": 0}, "tuned_over"), ({"projected": zeros}, "14 finite numbers"),
            ({"with_replacement": False}, "with replacement"),
        ]),
        (approximation_errors, rows, [
            *common[::2], ({"landmarks": 0}, "n_landmarks"), ({"landmarks": 99}, "99 landmarks"),
            ({"n_draws": 0}, "n_draws"), ({"y": np.ones(50)}, "two classes"),
        ]),
        (printed.eq_17, steps, [
            ({"drawn": other}, "share their space"), ({"w": w[:1]}, "weights shape"),
        ]),
        (printed.hoeffding, {**steps, "B": 60, "K_max": 1.0, "C_max": 1.0}, common[2:4]),
        (Projected, {"marginals": np.zeros(60)}, [({"gap": -1.0}, "gap")]),
        (printed.Norms, {}, [({"full": -1.0}, "`full`")]),
        (Approximation.of_matrices, held, [
            ({"K_tilde": K + np.eye(14)}, "from below"), ({"K_tilde": np.eye(3)}, "rows"),
            ({"K_tilde": 0 * K}, "zero"), ({"positive": a.positive[:5]}, "boolean"),
        ]),
        (sht.restricted_constants_exact, {"M_blocks": np.eye(3)[None], "s": 2}, [
            *(({"s": s}, "s must be") for s in (0, -1, 1.5)),
            ({"M_blocks": np.eye(3)}, r"shape \(m, d, d\)"),
            ({"M_blocks": np.triu(np.ones((1, 3, 3)))}, "symmetric"),
        ]),
        (sht.sht_theorem1, {"M_blocks": np.eye(3)[None], "k": 1, "n_iter": 3, **start}, [
            ({"M_blocks": np.eye(3)}, r"shape \(m, d, d\)"), ({"nu": "other"}, "nu must be one of"),
            ({"M_blocks": np.zeros((1, 3, 3))}, "no curvature"), ({"n_iter": -1}, "n_iter"),
            *(({name: np.ones(3)}, "k = 1 must be at least") for name in ("w_star", "w0")),
            ({"k": 0}, "k must be a whole number"), ({"delta": np.ones(4)}, "3 finite"),
            ({"constants": sht.RestrictedConstants(2, 1.0, 1.0)}, "s = 2k \\+ k\\* = 3 is needed"),
        ]),
        (sht.sht_theorem2, {"n": 100, "d": 10, "s": 2, "r": 0.5, "b": 10}, [
            ({name: value}, f"{name} must be")
            for name, value in (("r", 0.6), ("r", 1), ("lam", 0.0), ("d", 1), ("form", "a"))
        ]),
        (sht.least_curvature, {"sizes": (10, 10), "d": 3}, [({"s": 4}, "s must lie")]),
    ]  # fmt: skip


LOG = math.log(1000)


def drawn_blocks(seed: int, m: int = 4, **rows: Any) -> list[RowAverage]:
    X, y = with_signal(seed, **rows)
    solver = StochasticHardThresholding(k=2, n_blocks=m)
    return solver.blocks(sparse_problem(X, y), np.random.default_rng(seed))


def best_single(blocks: list[RowAverage]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The blocks' matrices, delta, and the best vector with one nonzero, by trying all features."""
    M, delta = sht.block_matrices(blocks), blocks[0].delta
    diagonal = np.diag(M.mean(axis=0))
    at = int((delta**2 / diagonal).argmax())
    return M, delta, delta[at] / diagonal[at] * np.eye(delta.size)[at]


@each("seed", seeds(12))
@each("m", [1, 3, 6])
def test_constants_are_those_of_all_supports_and_below_the_bound(seed: int, m: int) -> None:
    M = sht.block_matrices(drawn_blocks(seed, m, d=7))
    for s in (1, 3, 7, 20):
        every = [np.ix_(S, S) for S in itertools.combinations(range(7), min(s, 7))]
        least = min(np.linalg.eigvalsh(M.mean(axis=0)[S])[0] for S in every)
        largest = max(np.linalg.eigvalsh(B[S])[-1] for S in every for B in M)
        exact = sht.restricted_constants_exact(M, s)
        assert exact.s == min(s, 7)
        assert exact.minus == pytest.approx(2 * least)
        assert exact.plus == pytest.approx(2 * largest)
        assert exact.ratio == pytest.approx(largest / least)
        assert exact.plus <= 2 * max(sht.largest_restricted(block, s) for block in M)


def test_too_many_supports_are_refused_and_dependent_features_have_no_curvature() -> None:
    refuses("a search", sht.restricted_constants_exact, np.eye(60)[None], 20, error=TooLargeError)
    rng = np.random.default_rng(6)
    for x in rng.normal(size=(20, 6)):  # dependent features
        single = sht.restricted_constants_exact(np.outer(x, x)[None], 2)
        assert (single.minus, single.ratio) == (0.0, math.inf)
    ones = np.ones((5, 5))
    assert sht.largest_restricted(np.diag([3.0, 1, 1, 1, 1]), 2) == pytest.approx(3.0)  # the whole
    assert sht.largest_restricted(ones, 2) == pytest.approx(2.0)  # the trace
    sparse = np.eye(6) + 0.4 * (np.eye(6, k=1) + np.eye(6, k=-1))
    assert sht.largest_restricted(sparse, 2) == pytest.approx(1.4)  # a row


@each(
    ("rho", "lemma2", "printed"),
    [(1.2, 0.24, 0.312), (1.5, 0.75, 1.0), (2.0, 2.0, 2.618), (5.0, 20.0, 23.31), (10, 90, 98.2)],
)
def test_the_least_k_in_both_readings(rho: float, lemma2: float, printed: float) -> None:
    assert sht.least_sparsity(rho, 1) == pytest.approx(lemma2)
    assert sht.least_sparsity(rho, 1, "printed") == pytest.approx(printed, rel=2e-3)
    for nu in ("lemma2", "printed"):
        k = sht.least_sparsity(rho, 10**6, nu)
        rest = (10**9,) if nu == "lemma2" else ()
        factor = sht.nu_lemma2 if nu == "lemma2" else sht.nu_printed
        for at in (int(k * 1.001), int(k * 0.999)):
            if at >= 10**6:
                assert (factor(at, 10**6, *rest) * (1 - 1 / rho) < 1) == (at > k)
        assert (sht.least_sparsity(1.0, 3, nu), sht.least_sparsity(np.inf, 3, nu)) == (0.0, np.inf)
    for d, k_star in itertools.product((5, 20, 1000), range(1, 6)):
        for at in range(k_star, min(d, 40) + 1):
            assert 1 <= sht.nu_lemma2(at, k_star, d) <= sht.nu_printed(at, k_star) + 1e-15


@each("nu", ["printed", "lemma2"])
def test_the_terms_are_those_of_the_formula(nu: str) -> None:
    blocks = drawn_blocks(0, n=4000, r=0.5, mu=(1.0, 0.0, 0.0))
    M, delta, target = best_single(blocks)
    bound = sht.sht_theorem1(M, delta, target, np.zeros(8), 3, 7, nu=nu)
    constants = sht.restricted_constants_exact(M, 7)
    factor = 1 + 1 / 3 + 3**-0.5 if nu == "printed" else sht.nu_lemma2(3, 1, 8)
    kappa = np.sqrt(factor * (1 - constants.minus / constants.plus))
    tops = [np.sort(np.abs(block.gradient(target)))[-7:] for block in blocks]
    sigma = np.sqrt(factor) / constants.plus * np.mean([np.linalg.norm(top) for top in tops])
    start = np.linalg.norm(target)
    assert kappa < 1 and bound.limit == pytest.approx(start)
    assert bound.terms["start"] == pytest.approx(kappa**7 * start)
    assert bound.terms["tolerance"] == pytest.approx(sigma / (1 - kappa))
    wanted = {"kappa": kappa, "sigma": sigma, "step": 1 / constants.plus}
    assert {name: bound.quantities[name] for name in wanted} == pytest.approx(wanted)
    assert bound.notes[0].endswith("holds")
    assert sht.sht_theorem1(M, delta, target, np.zeros(8), 3, 0).vacuous
    assert not sht.sht_theorem1(M[:1], delta, target, np.ones(8) * np.eye(8)[0] * 9, 3, 60).vacuous


def test_where_kappa_is_one_or_more_the_bound_is_infinite() -> None:
    M, delta, target = best_single(drawn_blocks(0, r=0.2, mu=(1.0, 0.0, 0.0)))
    bound = sht.sht_theorem1(M, delta, target, np.zeros(8), 3, 5)
    assert bound.quantities["kappa"] >= 1 and bound.notes[0].endswith("does not hold")
    assert bound.total == np.inf and bound.vacuous
    # rho = 2: the printed condition is k > 2 k*, the displayed nu needs k > 2.618 k*.
    M, target = np.diag([1.0] * 60 + [2.0] * 60)[None], np.repeat([1.0, 0.0], [10, 110])
    given = (M, M[0] @ target, target, np.zeros(120), 25, 5)
    constants = sht.RestrictedConstants(60, 2.0, 4.0)
    printed = sht.sht_theorem1(*given, constants=constants)
    assert printed.notes[0].endswith("holds") and printed.total == np.inf
    right = sht.sht_theorem1(*given, constants=constants, nu="lemma2")
    assert right.quantities["kappa"] < 1 and right.total < np.inf


def test_eqs_12_and_13_by_hand() -> None:
    for n, r in ((10**7, 0.5), (1000, 0.05), (1000, 0.5)):
        share, unit = 60 * LOG / (r * n), 60 * LOG / r
        right = (0.5 - 6 * math.sqrt(2) * math.sqrt(share)) ** 2 - 32 / 3 * share
        given = n, 1000, 60, r, 50
        printed, corrected = (sht.sht_theorem2(*given, form=f) for f in ("printed", "corrected"))
        assert printed.minus == pytest.approx(right)
        assert printed.plus == pytest.approx(16 * unit * (math.log(50) / 2 + LOG))
        assert corrected.plus == pytest.approx(16 * unit * (math.log(n) / 2 + LOG))
        assert printed.chance_minus == pytest.approx(1 - math.exp(-r * n / 72) - 0.12)
        assert printed.chance_plus == pytest.approx(0.97)
        if corrected.base < 0:  # not squared
            assert corrected.minus < 0 < printed.minus and corrected.ratio == math.inf
        else:
            assert corrected.minus == printed.minus
    for r, value in ((0.05, 484.0), (0.5, 43.4)):
        assert sht.sht_theorem2(1000, 1000, 60, r, 50).minus == pytest.approx(value, rel=2e-3)
    logs = 60 * math.log(math.e * 1000 / 60) + math.log(20)
    base = 1 - math.sqrt(60 / 949) - math.sqrt(2 * logs / 949)
    found = sht.least_curvature((50, 950), 1000, 60)
    assert found == pytest.approx(2 * 949 / 950 * base**2) == pytest.approx(0.005, abs=5e-4)
    X, y = np.random.default_rng(0).standard_normal((3000, 8)), np.arange(3000) < 900
    X[y] += 1.0
    M = sht.block_matrices([sparse_problem(X, y)])[0]
    assert 0 < sht.least_curvature((900, 2100), 8, 8) < 2 * np.linalg.eigvalsh(M)[0]


def test_bad_arguments_are_refused() -> None:
    for call, good, cases in refusals():
        for change, match in cases:
            refuses(match, call, **good | change)
