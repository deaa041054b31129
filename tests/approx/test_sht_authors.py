"""The published experiments' configuration of SHT-AUC."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.approx.thresholding import hard_threshold
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation.data.generators import sparse_mean_shift
from loops import each
from sparse_signal import draw


def blocks_of(solver: StochasticHardThresholding, loss: RowAverage) -> list[RowAverage]:
    return solver.blocks(loss, np.random.default_rng(0))


@each("k", range(1, 9))
def test_the_authors_keep_one_feature_less(k) -> None:
    found = StochasticHardThresholding(k, mode="authors", max_epochs=3).solve(
        sparse_problem(0.1 * draw()[0], draw()[1])
    )
    assert found.support.size == k - 1


def test_the_authors_step_is_scaled_by_the_class_shares() -> None:
    X, y = draw(r=0.25)
    loss = sparse_problem(0.1 * X, y)
    solver = StochasticHardThresholding(4, mode="authors", max_epochs=1)
    found = solver.solve(loss)
    assert found.step == pytest.approx(0.25 * 0.75)
    first = hard_threshold(2 * 0.1875 * loss.delta, 4, paper_literal=True)
    np.testing.assert_allclose(found.w, first, rtol=1e-12)
    assert replace(solver, step=3.0).solve(loss).step == pytest.approx(3 * 0.1875)


def test_the_authors_blocks_leave_the_remainder_to_the_last_one() -> None:
    loss = sparse_problem(*draw())
    for sizes, expected in [
        ({"n_blocks": 7}, [8] * 6 + [12]),  # b = floor(60 / 7) = 8, floor(60 / 8) = 7 blocks
        ({"block_size": 25}, [25, 35]),
        ({"block_size": 100}, [60]),
        ({}, [60]),
    ]:
        blocks = blocks_of(StochasticHardThresholding(2, mode="authors", **sizes), loss)
        assert [block.mass.size for block in blocks] == expected
        rows = np.concatenate([block.X for block in blocks])
        np.testing.assert_array_equal(rows, loss.X)


def test_the_authors_unequal_blocks_are_biased() -> None:
    loss = sparse_problem(*draw())
    blocks = blocks_of(StochasticHardThresholding(2, mode="authors", block_size=25), loss)
    w = np.linspace(-1, 1, 8)
    mean = np.mean([block.gradient(w) for block in blocks], axis=0)
    assert np.abs(mean - loss.gradient(w)).max() > 0.01 * np.abs(loss.gradient(w)).max()
    sizes = np.array([25, 35]) / 60
    weighted = sizes @ np.array([block.gradient(w) for block in blocks])
    np.testing.assert_allclose(weighted, loss.gradient(w), rtol=1e-11)


@each("n_blocks", [1, 10])
@each("k", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_the_authors_mode_is_screening_by_mean_differences(n_blocks, k) -> None:
    data = sparse_mean_shift(1000, 1, d=1000, k_star=20, r=0.05, normalize=True)
    loss = sparse_problem(data.X, data.y)
    found = StochasticHardThresholding(k, mode="authors", n_blocks=n_blocks, max_epochs=50).solve(
        loss
    )
    screened = hard_threshold(loss.delta, k - 1)
    cosine = found.w @ screened / np.linalg.norm(found.w) / np.linalg.norm(screened)
    assert cosine >= 0.99
    assert found.screening_overlap == 1.0


def test_the_authors_return_the_last_point_even_where_an_earlier_one_was_better() -> None:
    X, y = draw()
    solver = StochasticHardThresholding(4, mode="authors", n_blocks=10, step=0.2, keep="best")
    found = solver.solve(sparse_problem(X, y))
    assert found.objective == found.history[-1].objective
    assert found.objective > min(line.objective for line in found.history)
