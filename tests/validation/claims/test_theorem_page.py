"""The steps of the proof in docs/theorem-4-prime.md."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.approx.drawn_pairs import draw_pairs
from aucert.exact.losses.registry import HINGE
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.spaces.kernels import Gaussian
from aucert.validation.bounds.experiment import Experiment, certified, prepare
from aucert.validation.data import datasets
from loops import each, seeds

LAM, B = 0.2, 60


@pytest.fixture(scope="module")
def case() -> Experiment:
    data = datasets.load("radial:50", seed=3)
    return prepare(data.X, data.y, Gaussian(0.5), LAM, 8, seed=1, tol=1e-11)


def gradient(case: Experiment, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """g: the mean of alpha P Delta over pairs, alpha a slope of the hinge at f^_P."""
    V = case.approximation.features
    scores = V @ case.f_P.w
    alpha = (1 - scores[i] + scores[j] > 0).astype(float)
    return ((V[i] - V[j]) * alpha[:, None]).mean(axis=0)


def pairs_of(case: Experiment, seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = draw_pairs(case.full.pairs.positive, B, seed)
    return drawn.i, drawn.j


def centre(case: Experiment) -> np.ndarray:
    """The mean of alpha P Delta over all pairs: lam f^_P, up to pairs at the kink."""
    plus, minus = (
        np.flatnonzero(side) for side in (case.full.pairs.positive, ~case.full.pairs.positive)
    )
    return gradient(case, np.repeat(plus, minus.size), np.tile(minus, plus.size))


def test_the_dual_value_changes_by_the_error_form(case: Experiment) -> None:
    c = case.f_P.witness.c
    V = case.approximation.features
    whole = case.full.space.norm2(c)  # c'K c
    error = case.approximation.error_form(c)
    assert whole - float(np.sum((V.T @ c) ** 2)) == pytest.approx(error, rel=1e-6, abs=1e-12)


def test_marginals_are_at_most_one_over_the_class(case: Experiment) -> None:
    c, positive = case.f.witness.c, case.full.pairs.positive
    sizes = np.where(positive, positive.sum(), (~positive).sum())
    assert np.all(np.abs(c) <= 1 / sizes + 1e-12)
    assert float(c @ c) <= 1 / positive.sum() + 1 / (~positive).sum()


@each("seed", seeds(5))
def test_stability_holds_in_every_draw(case: Experiment, seed: int) -> None:
    drawn = draw_pairs(case.full.pairs.positive, B, seed)
    problem = pair_problem(case.projected.space, case.full.pairs.positive, drawn, HINGE, Ridge(LAM))
    found = certified(problem, 1e-11)
    f_P = case.f_P.w
    # Any slope at a kink makes a subgradient.
    scores = problem.space.scores(f_P)
    sub = LAM * f_P - problem.space.pull(problem.sums(scores).c)
    Z = float(np.linalg.norm(sub))
    assert np.linalg.norm(found.w - f_P) <= Z / LAM + 1e-4
    gap = problem.objective(f_P) - found.certificate.dual
    assert -1e-9 <= gap <= Z**2 / (2 * LAM) + 1e-9


def test_one_draw_moves_z_by_what_mcdiarmid_is_told(case: Experiment) -> None:
    i, j = pairs_of(case, 0)
    other_i, other_j = pairs_of(case, 1)
    lam_f, Rp = centre(case), case.approximation.Rp
    before = np.linalg.norm(gradient(case, i, j) - lam_f)
    for k in range(B):
        swapped_i, swapped_j = i.copy(), j.copy()
        swapped_i[k], swapped_j[k] = other_i[k], other_j[k]
        after = np.linalg.norm(gradient(case, swapped_i, swapped_j) - lam_f)
        assert abs(after - before) <= 2 * Rp / B + 1e-12


def test_the_losses_differ_as_the_identity_says(case: Experiment) -> None:
    drawn = draw_pairs(case.full.pairs.positive, B, 7)
    problem = pair_problem(case.projected.space, case.full.pairs.positive, drawn, HINGE, Ridge(LAM))
    found = certified(problem, 1e-11)
    U = case.full.sums(case.full.space.scores(case.f.w)).value
    U_B = problem.sums(problem.space.scores(found.w)).value
    penalties = LAM / 2 * (problem.space.norm2(found.w) - case.full.space.norm2(case.f.w))
    optima = case.full.objective(case.f.w) - problem.objective(found.w)
    assert U - U_B == pytest.approx(optima + penalties, abs=1e-12)
