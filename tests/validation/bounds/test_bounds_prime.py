"""Theorem 4': each constant by hand, and no violation over a grid of problems and draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.validation.bounds.experiment import (
    EXCESS,
    EXCESS_PRIOR,
    NYSTROM,
    POSTERIOR,
    PRIOR,
    Draw,
    Experiment,
    prepare,
)
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.bounds.prime import (
    Projected,
    _Sizes,
    fast_form,
    sandwich,
    slow_form,
    theorem4_prime,
)
from aucert.validation.bounds.printed import Norms, theorem4
from aucert.validation.data import datasets
from loops import each

CORRECTED = (NYSTROM, EXCESS, EXCESS_PRIOR, POSTERIOR, PRIOR)


def experiment(
    kernel: Kernel, lam: float, d: int, n: int = 60, seed: int = 0, tol: float = 1e-9
) -> Experiment:
    data = datasets.load(f"{('linear', 'radial')[seed % 2]}:{n}", seed)
    if seed % 4 >= 2:  # pure noise
        rng = np.random.default_rng(seed)
        return prepare(data.X, rng.permutation(data.y), kernel, lam, d, seed, tol)
    return prepare(data.X, data.y, kernel, lam, d, seed, tol)


@pytest.fixture(scope="module")
def case() -> Experiment:
    """A problem whose bounds are near the truth: a kernel of narrow width, lam = 1."""
    return experiment(Gaussian(50.0), 1.0, 12)


def naive(a: Approximation, lam: float, B: int, delta: float) -> dict[str, float]:
    """The numbers of the setting, by loops over pairs."""
    truth: Any = a.truth
    K, near = truth.K, a.features @ a.features.T
    pairs = [(i, j) for i in np.flatnonzero(a.positive) for j in np.flatnonzero(~a.positive)]

    def squares(G: np.ndarray) -> list[float]:
        return [G[i, i] + G[j, j] - 2 * G[i, j] for i, j in pairs]

    R, Rp = max(squares(K)) ** 0.5, max(squares(near)) ** 0.5
    R2 = float(np.mean(squares(near))) ** 0.5
    L = float(np.log(2 / delta))
    return {
        "R": R,
        "Rp": Rp,
        "R2": R2,
        "L": L,
        "z": (R2 + Rp * (2 * L) ** 0.5) / B**0.5,
        "S": min(lam**-0.5, R / lam),
        "Sp": min(lam**-0.5, Rp / lam),
        "eps_N": float(np.linalg.norm(K - near, 2)) * sum(1 / m for m in a.sizes) / (2 * lam),
    }


def form(a: Approximation, c: np.ndarray) -> float:
    """c'E c."""
    truth: Any = a.truth
    return float(c @ (truth.K - a.features @ a.features.T) @ c)


# By hand.


@each("informed", [False, True])
@each(("lam", "B"), [(1.0, 50), (0.02, 50), (1.0, 50_000)])
def test_part_1_is_the_smaller_of_its_two_forms(lam: float, B: int, informed: bool) -> None:
    a = experiment(Laplacian(0.5), 1.0, 10).approximation
    c = np.where(a.positive, 0.8 / a.sizes[0], -0.8 / a.sizes[1])
    known = Projected(c, gap=0.01) if informed else None
    bound = theorem4_prime(a, lam, B, part="I", delta=0.1, projected=known)
    s = naive(a, lam, B, 0.1)
    nystrom = form(a, c) / (2 * lam) if informed else s["eps_N"]
    root = (2 * s["L"]) ** 0.5
    fast = (s["R2"] + s["Rp"] * root) * (2 * s["R2"] + s["Rp"] * root) / (lam * B)
    slow = 2 * s["Sp"] * s["R2"] / B**0.5 + 2 * (1 + s["Rp"] * s["Sp"]) * (s["L"] / (2 * B)) ** 0.5
    assert bound.terms["sampling"] == pytest.approx(min(fast, slow))
    assert bound.terms["nystrom"] == pytest.approx(nystrom, abs=1e-11)
    assert bound.terms["inexact"] == pytest.approx(0.01 if informed else 0.0)
    rest = bound.total - bound.terms["sampling"]
    assert bound.alternatives["fast"] == pytest.approx(fast + rest)
    assert bound.alternatives["slow"] == pytest.approx(slow + rest)
    assert (fast < slow) == (lam * B >= 50)  # both forms are met


@each(("lam", "B"), [(1.0, 50), (50.0, 50), (0.1, 50_000)])
def test_part_2_is_the_smaller_of_its_two_branches(lam: float, B: int) -> None:
    a = experiment(Laplacian(0.5), 1.0, 10).approximation
    c = np.where(a.positive, 0.8 / a.sizes[0], -0.8 / a.sizes[1])
    s, q, norms = naive(a, lam, B, 0.1), form(a, c), Norms(0.1, 7.0, 0.2, 0.3)
    bound = theorem4_prime(a, lam, B, delta=0.1, projected=Projected(c), norms=norms)
    H = (1 + s["Rp"] * 0.2) * (np.log(40) / (2 * B)) ** 0.5
    loss = max(s["z"] ** 2, q) / (2 * lam)
    first = H + loss + 0.5 * (0.1 + 0.3) * (s["z"] + q**0.5)
    second = H + s["R"] * q**0.5 / lam + s["Rp"] * s["z"] / lam
    assert bound.total == pytest.approx(min(first, second))
    assert bound.alternatives["penalties"] == pytest.approx(first)
    assert bound.alternatives["lipschitz"] == pytest.approx(second)
    assert (first < second) == (lam < 50)  # both branches are met


@each("lam", [0.1, 50.0])
def test_a_priori_the_norms_and_the_error_form_are_replaced_by_their_bounds(lam: float) -> None:
    a = experiment(Laplacian(0.5), 1.0, 10).approximation
    B, s = 5000, naive(a, lam, 5000, 0.05)
    assert (s["Sp"] < s["S"]) == (lam == 50.0)
    H = (1 + s["Rp"] * s["Sp"]) * (np.log(80) / (2 * B)) ** 0.5
    q = 2 * lam * s["eps_N"]
    first = H + max(s["z"] ** 2 / (2 * lam), s["eps_N"])
    first += 0.5 * (s["S"] + s["Sp"]) * (s["z"] + q**0.5)
    second = H + (s["R"] * q**0.5 + s["Rp"] * s["z"]) / lam
    assert theorem4_prime(a, lam, B).total == pytest.approx(min(first, second))
    assert theorem4_prime(a, lam, part="A").total == pytest.approx(s["eps_N"])


def test_solvers_that_stop_early_are_paid_for(case: Experiment) -> None:
    a, lam, B, eps, c = case.approximation, 0.3, 4000, 0.01, case.posterior.marginals
    s = naive(a, lam, B, 0.05)
    root = (2 * s["L"]) ** 0.5
    r = s["z"] / lam + (2 * eps / lam) ** 0.5
    fast = r * (2 * s["R2"] + s["Rp"] * root) / B**0.5 + eps
    radius = s["Sp"] + (2 * eps / lam) ** 0.5
    slow = 2 * radius * s["R2"] / B**0.5 + eps
    slow += (2 + s["Rp"] * (s["Sp"] + radius)) * (s["L"] / (2 * B)) ** 0.5
    known = Projected(c, gap=0.02)
    nystrom = form(a, c) / (2 * lam) + 0.02
    bound = theorem4_prime(a, lam, B, part="I", projected=known, eps=eps)
    assert bound.total == pytest.approx(min(fast, slow) + nystrom)
    exact = theorem4_prime(a, lam, B, projected=known)
    late = theorem4_prime(a, lam, B, projected=known, eps=eps, gap_full=0.03)
    slack = s["R"] * (2 * 0.03 / lam) ** 0.5 + s["Rp"] * (2 * eps / lam) ** 0.5
    assert late.total - exact.total == pytest.approx(slack)
    s["away"] = (2 * nystrom / lam) ** 0.5
    H = (1 + s["Rp"] * s["Sp"]) * (np.log(80) / (2 * B)) ** 0.5
    lipschitz = H + s["R"] * s["away"] + s["Rp"] * s["z"] / lam
    assert exact.alternatives["lipschitz"] == pytest.approx(lipschitz)


def test_tuning_on_the_draw_divides_delta(case: Experiment) -> None:
    a = case.approximation
    for part in ("I", "II"):
        tuned = theorem4_prime(a, 1.0, 1000, part=part, delta=0.05, tuned_over=10)
        assert tuned.total == theorem4_prime(a, 1.0, 1000, part=part, delta=0.005).total
        assert any("10 settings" in note for note in tuned.notes)


# Against exact solutions.


def errors(case: Experiment, B: int, count: int, seed: int = 0) -> list[Draw]:
    rng = np.random.default_rng(seed)
    return [case.draw(B, rng) for _ in range(count)]


def test_r2_is_the_size_of_the_sampling_error_of_a_gradient() -> None:
    """E Z^2 = (R2^2 - |mean|^2) / B at alpha = 1: a smaller R2 would not bound E Z."""
    a = experiment(Gaussian(50.0), 1.0, 60, seed=2).approximation
    V, B = a.features, 50
    mean = V[a.positive].mean(axis=0) - V[~a.positive].mean(axis=0)
    rng = np.random.default_rng(0)
    squares = []
    for _ in range(2000):
        pairs = draw_pairs(a.positive, B, rng)
        deviation = (V[pairs.i] - V[pairs.j]).mean(axis=0) - mean
        squares.append(float(deviation @ deviation))
    expected = (a.R2**2 - float(mean @ mean)) / B
    assert np.mean(squares) == pytest.approx(expected, rel=0.05)
    assert expected > 0.9 * a.R2**2 / B


def test_the_sandwich_is_equality_while_every_hinge_is_active() -> None:
    case = experiment(Gaussian(5.0), 20.0, 6)
    low, high = case.sandwich
    assert low == pytest.approx(case.nystrom, rel=1e-6)
    assert high == pytest.approx(case.nystrom, rel=1e-6)


def test_with_every_row_a_landmark_nothing_is_lost() -> None:
    case = experiment(Gaussian(5.0), 0.1, 60)
    assert case.sandwich[1] < 1e-9
    assert case.draw(600, 0).bounds[EXCESS].terms["nystrom"] < 1e-9


def test_the_corrected_bound_vanishes_with_b_and_the_printed_one_does_not(
    case: Experiment,
) -> None:
    a = experiment(Gaussian(50.0), 1.0, 60).approximation
    for part in ("I", "II"):
        few, many = (theorem4_prime(a, 1.0, 10**k, part=part).total for k in (10, 12))
        assert many < few / 8 and many < 1e-4
    near = case.approximation
    assert theorem4(near, 1.0, 10**12).total > 1 > theorem4_prime(near, 1.0, 10**12).total


# What the left sides can be.


def far_off() -> Experiment:
    """One feature, one positive row on the wrong side and near zero: a pair of it turns f round."""
    X = np.concatenate([np.ones(9), [-0.1], 1e-3 * np.arange(10)])[:, None]
    return prepare(X, np.repeat([1, 0], 10), Linear(), 1e-3, X, tol=1e-9)


def test_the_left_side_of_part_1_can_exceed_one_and_those_of_the_others_cannot() -> None:
    case = far_off()
    few = errors(case, 1, 30)
    assert max(draw.excess for draw in few) > 9
    assert max(draw.loss_difference for draw in few) <= 1 and -1e-12 <= case.nystrom <= 1
    assert not any(set(draw.violated) & set(CORRECTED) for draw in few)
    s = few[0].bounds[EXCESS].quantities
    assert max(draw.excess for draw in few) <= 1.5 + s["Rp"] * s["Sp"]


def test_the_zero_function_loses_at_most_one() -> None:
    case = far_off()
    zero = case.full.objective(np.zeros_like(case.f.w))
    assert zero == 1 and 0 <= zero - case.f.certificate.dual <= 1


def test_a_part_1_that_is_one_or_more_tells_what_it_is_compared_with(case: Experiment) -> None:
    for B in (1, 100_000):
        bound = theorem4_prime(case.approximation, 1.0, B, part="I")
        stated = any("f = 0 loses at most 1" in note for note in bound.notes)
        assert stated and bound.vacuous == (bound.total >= 1)


@each("x", [1e-4, 0.1, 1.0, 10.0, 1e6])
def test_part_1_is_vacuous_while_lam_b_is_small(x: float) -> None:
    L = float(np.log(40))
    for share in (0.01, 0.5, 1.0):  # lam B / (2 L Rp^2), with Rp = 1, lam = 1/x
        for R2 in (0.0, 0.5, 1.0):
            B, Sp = 2 * L * share * x, min(x**0.5, x)
            z = (R2 + (2 * L) ** 0.5) / B**0.5
            sizes = _Sizes(1 / x, B, 0.05, 1.0, 1.0, R2, L, z, Sp, Sp)  # type: ignore[arg-type]
            assert min(fast_form(sizes), slow_form(sizes)) >= 1 - 1e-12


def test_a_full_solution_that_stopped_early_needs_a_term_of_its_own() -> None:
    """In the limit of many draws, without a Nystrom error, the left side is that of f^ alone."""
    case = experiment(Gaussian(50.0), 1.0, 60)
    a, lam, B, best = case.approximation, case.lam, 10**12, case.f.certificate
    early = 0.9 * case.f.w
    gap = case.full.objective(early) - best.dual
    scores = case.full.space.scores
    moved = abs(case.full.sums(scores(early)).value - case.full.sums(scores(case.f.w)).value)
    largest = float(case.full.space.norm2(case.f.w)) ** 0.5 + best.radius
    norms = Norms(largest, largest, largest, largest)
    assert moved > theorem4_prime(a, lam, B, projected=case.posterior, norms=norms).total
    bound = theorem4_prime(a, lam, B, projected=case.posterior, norms=norms, gap_full=gap)
    assert bound.terms["inexact"] == pytest.approx(a.R * (2 * gap / lam) ** 0.5)
    assert moved <= bound.total


# Bad input.


@each(
    ("arguments", "match"),
    [
        ({"lam": -1.0}, "lam must be > 0"),
        ({"delta": 0.0}, "delta must be > 0 and < 1"),
        ({"delta": 1.5}, "delta must be > 0 and < 1"),
        ({"B": 0}, "B must be a whole number >= 1"),
        ({"B": None}, "needs B"),
        ({"part": "III"}, "part must be one of A, I, II"),
        ({"eps": -1e-3}, "eps must be >= 0"),
        ({"gap_full": float("inf")}, "gap_full must be >= 0"),
        ({"tuned_over": 0}, "tuned_over must be a whole number >= 1"),
        ({"with_replacement": False}, "with replacement"),
        ({"projected": Projected(np.zeros(3))}, "60 finite numbers"),
    ],
)
def test_bad_arguments_are_refused(case: Experiment, arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        theorem4_prime(case.approximation, **({"lam": 0.1, "B": 10} | arguments))


def test_a_negative_gap_or_norm_is_refused(case: Experiment) -> None:
    with pytest.raises(InputError, match="gap must be >= 0"):
        Projected(np.zeros(60), gap=-1.0)
    with pytest.raises(InputError, match="norm `full` must be >= 0"):
        Norms(full=-1.0)
    with pytest.raises(InputError, match="lam must be > 0"):
        sandwich(case.approximation, 0.0, case.posterior, case.posterior)
