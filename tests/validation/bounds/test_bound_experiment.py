"""True errors next to their bounds: what is measured, on real rows and on the generators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian, Laplacian
from aucert.validation.bounds.experiment import (
    EXCESS,
    POSTERIOR,
    PRINTED,
    PRIOR,
    REALISED,
    REPAIRED,
    approximation_errors,
    prepare,
)
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.bounds.prime import Projected, sandwich, theorem4_prime
from aucert.validation.bounds.printed import Norms
from aucert.validation.claims.claim import Context
from aucert.validation.claims.common import wdbc_sample
from aucert.validation.data import datasets
from loops import each


def test_the_errors_are_those_of_problems_solved_one_by_one() -> None:
    data = datasets.load("radial:50", 2)
    lam, d, kernel = 0.05, 10, Gaussian(0.5)
    case = prepare(data.X, data.y, kernel, lam, data.X[:d])
    draw = case.draw(100, 7)
    K = kernel(data.X, data.X)
    f = solve(K, data.y, lam, kernel="precomputed")
    C = kernel(data.X, data.X[:d])
    V = C @ np.linalg.inv(np.linalg.cholesky(C[:d])).T
    f_P = solve(V, data.y, lam)
    near = solve(V, data.y, lam, pairs=draw_pairs(data.is_positive, 100, 7))

    def loss(scores: np.ndarray) -> float:
        margins = scores[data.is_positive][:, None] - scores[~data.is_positive]
        return float(np.maximum(0, 1 - margins).mean())

    U = loss(K @ f.w)
    U_B = near.certificate.primal - lam / 2 * float(near.w @ near.w)
    F = loss(V @ near.w) + lam / 2 * float(near.w @ near.w)
    radius = 2 * f.certificate.radius
    assert draw.loss_difference == pytest.approx(abs(U - U_B), abs=10 * radius)
    assert draw.excess == pytest.approx(F - f.certificate.primal, abs=10 * radius)
    nystrom = f_P.certificate.primal - f.certificate.primal
    assert draw.nystrom == pytest.approx(nystrom, abs=1e-7)


@each("jitter", [1e-3, 0.3])
def test_any_approximation_from_below_will_do(jitter: float) -> None:
    """K~ = C (W + jitter I)^-1 C' is not a projection; |w| then exceeds the function's own norm."""
    data = datasets.load("linear:50", 3)
    kernel, lam, B = Laplacian(0.5), 0.2, 5000
    K, C = kernel(data.X, data.X), kernel(data.X, data.X[:10])
    K_tilde = C @ np.linalg.solve(C[:10] + jitter * np.eye(10), C.T)
    a = Approximation.of_matrices(K, K_tilde, data.is_positive)
    full = solve(K, data.y, lam, kernel="precomputed")
    near = solve(a.features, data.y, lam)
    f = Projected(full.witness.c, full.certificate.gap)
    f_P = Projected(near.witness.c, near.certificate.gap)
    low, high = sandwich(a, lam, f, f_P)
    lost = near.certificate.primal - full.certificate.primal
    assert low - 1e-8 <= lost <= high + 1e-8
    U = full.certificate.primal - lam / 2 * float(full.w @ K @ full.w)
    for seed in range(5):
        drawn = solve(a.features, data.y, lam, pairs=draw_pairs(data.is_positive, B, seed))
        size = float(drawn.w @ drawn.w)
        U_B = drawn.certificate.primal - lam / 2 * size
        norms = Norms(drawn_projected=float(np.sqrt(size)) + drawn.certificate.radius)
        bound = theorem4_prime(
            a, lam, B, projected=f_P, norms=norms, eps=1e-9, gap_full=f.gap, left_side=abs(U - U_B)
        )
        assert bound.violated is False


def test_realised_norms_are_below_one_over_lam_and_tighten_the_printed_bound() -> None:
    data = datasets.load("linear:60", 1)
    draws = approximation_errors(
        data.X, data.y, Gaussian(50.0), 0.1, 12, [60, 600], n_draws=2, realised=True
    )
    assert [draw.B for draw in draws] == [60, 60, 600, 600]
    for draw in draws:
        assert draw.bounds[REALISED].quantities["C"] <= 10
        assert draw.bounds[REALISED].quantities["C_B"] <= 10
        assert draw.bounds[REALISED].total < draw.bounds[PRINTED].total
        assert draw.bounds[PRINTED].total < draw.bounds[REPAIRED].total
        assert draw.violated == []
    assert REALISED not in prepare(data.X, data.y, Gaussian(5.0), 0.1, 12).draw(60, 0).bounds


def test_on_breast_cancer_rows_the_corrected_bounds_say_something_and_the_printed_none() -> None:
    data = wdbc_sample(Context("bounds", 0), 60, 90)
    draws = approximation_errors(data.X, data.y, Gaussian(0.02), 0.1, 30, [150, 15_000], n_draws=3)
    for draw in draws:
        assert draw.violated == []
        assert draw.bounds[PRINTED].vacuous
        assert draw.bounds[POSTERIOR].total <= draw.bounds[PRIOR].total
    assert not draws[-1].bounds[EXCESS].vacuous and not draws[-1].bounds[POSTERIOR].vacuous


@each(
    ("change", "match"),
    [
        ({"lam": 0.0}, "lam must be > 0"),
        ({"landmarks": 0}, "n_landmarks must be a whole number >= 1"),
        ({"landmarks": 99}, "99 landmarks are wanted"),
        ({"B": 0}, "must be a whole number >= 1"),
        ({"n_draws": 0}, "n_draws must be a whole number >= 1"),
        ({"delta": 1.0}, "delta must be > 0 and < 1"),
        ({"y": np.ones(50)}, "exactly two classes"),
    ],
)
def test_bad_input_is_refused(change: dict[str, object], match: str) -> None:
    data = datasets.load("linear:50", 0)
    good = {"X": data.X, "y": data.y, "kernel": Gaussian(1.0), "lam": 1.0, "landmarks": 5, "B": 50}
    with pytest.raises(InputError, match=match):
        approximation_errors(**(good | change))  # type: ignore[arg-type]


def test_a_drawn_solution_below_the_certified_optimum_is_an_error() -> None:
    data = datasets.load("radial:40", seed=1)
    case = prepare(data.X, data.y, Gaussian(0.5), 0.1, 5)
    assert case.draw(40, 0).excess >= 0
    best = replace(case.f.certificate, primal=2.0, dual=2.0)
    with pytest.raises(RuntimeError, match="below the certified optimum"):
        replace(case, f=replace(case.f, certificate=best)).draw(40, 0)
