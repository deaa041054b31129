"""What a run of SHT-AUC reports, how it ends, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.sht import DIVERGED, StochasticHardThresholding, Stop, sparse_problem
from aucert.approx.thresholding import hard_threshold, largest
from aucert.exact.errors import InputError
from aucert.exact.problem.problem import linear_problem
from aucert.exact.square_loss.row_average import RowAverage
from loops import each
from pairwise import mean_square
from sparse_signal import draw


def steepest(loss: RowAverage) -> float:
    """The largest eigenvalue of the Hessian, from the gradients."""
    zero = loss.gradient(np.zeros(loss.dim))
    columns = [loss.gradient(e) - zero for e in np.eye(loss.dim)]
    return float(np.linalg.eigvalsh(np.array(columns)).max())


def test_what_is_reported_belongs_to_the_weights_returned() -> None:
    X, y = draw()
    loss = sparse_problem(X, y)
    for keep in ("best", "last"):
        found = StochasticHardThresholding(3, n_blocks=6, keep=keep).solve(loss)
        assert found.objective == pytest.approx(mean_square(X, y == 1, found.w), rel=1e-11)
        then = hard_threshold(found.w - loss.gradient(found.w) / steepest(loss), 3)
        scale = max(np.linalg.norm(then), np.linalg.norm(found.w))
        residual = np.linalg.norm(then - found.w) / scale
        assert found.stationarity == pytest.approx(residual, rel=1e-6)
        screen = largest(loss.delta, 3)
        assert found.screening_overlap == len(set(screen) & set(found.support)) / 3


def test_the_best_epoch_is_kept_and_the_last_one_on_demand() -> None:
    loss = sparse_problem(*draw(mu=(0.3, 0.2, 0.2)))
    solver = StochasticHardThresholding(3, n_blocks=12, max_epochs=40)
    best, last = solver.solve(loss), replace(solver, keep="last").solve(loss)
    assert best.objective == min(line.objective for line in best.history)
    assert last.objective == last.history[-1].objective
    assert best.objective < last.objective


def test_the_history_counts_iterations_and_changes_of_the_support() -> None:
    solver = StochasticHardThresholding(3, n_blocks=5, max_epochs=4, tol=0)
    seen = []
    found = solver.solve(sparse_problem(*draw()), callback=seen.append)
    assert [line.n_iter for line in found.history] == [0, 5, 10, 15, 20]
    assert [line.changes for line in found.history[:2]] == [0, 3]
    assert seen == found.history
    assert found.n_iter == 20


def test_a_start_is_taken_up_and_a_fixed_point_is_kept() -> None:
    loss = sparse_problem(*draw())
    solver = StochasticHardThresholding(3, tol=1e-6)
    there = solver.solve(loss)
    again = solver.solve(loss, w0=there.w)
    assert (again.n_iter, again.status) == (0, Stop.STATIONARY)
    np.testing.assert_array_equal(again.w, there.w)


@each("n_blocks", [1, 5])
@each("step", [10.0, 1e200])
def test_a_step_too_long_is_noticed_and_the_start_survives(n_blocks, step) -> None:
    solver = StochasticHardThresholding(3, n_blocks=n_blocks, step=step)
    found = solver.solve(sparse_problem(*draw()))
    assert found.status == Stop.DIVERGED
    assert found.objective <= DIVERGED
    assert np.isfinite(found.w).all()
    assert "step" in found.status.advice


def test_time_and_interruption_end_a_run_with_a_valid_point() -> None:
    X, y = draw()
    loss = sparse_problem(X, y)
    timed = StochasticHardThresholding(3, n_blocks=6, max_time=1e-9).solve(loss)
    assert (timed.status, timed.n_iter) == (Stop.TIME_LIMIT, 1)

    def stop(line) -> None:
        if line.n_iter >= 12:
            raise KeyboardInterrupt

    stopped = StochasticHardThresholding(3, n_blocks=6).solve(loss, callback=stop)
    assert (stopped.status, stopped.n_iter) == (Stop.INTERRUPTED, 12)
    for found in (timed, stopped):
        assert found.objective == pytest.approx(mean_square(X, y == 1, found.w), rel=1e-11)


@each(
    ("w0", "message"),
    [
        (np.zeros(7), "8 finite numbers"),
        (np.full(8, np.nan), "8 finite numbers"),
        (np.ones(8), "more than k = 2"),
        (np.eye(8)[0] * 1e200, "overflows"),
    ],
)
def test_a_bad_start_is_refused(w0, message) -> None:
    with pytest.raises(InputError, match=message):
        StochasticHardThresholding(2).solve(sparse_problem(*draw()), w0=w0)


def test_more_blocks_than_rows_and_other_losses_are_refused() -> None:
    X, y = draw()
    with pytest.raises(InputError, match="61 blocks"):
        StochasticHardThresholding(2, n_blocks=61).solve(sparse_problem(X, y))
    with pytest.raises(InputError, match="square loss"):
        StochasticHardThresholding(2).solve(linear_problem(X, y, 1.0, "hinge"))
