"""A trial step at which the loss overflows is infinitely bad, and not the caller's mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import InputError, solve
from aucert.exact.certificate.solution import Recorder
from aucert.exact.errors import OverflowingError
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.proximal import look
from aucert.exact.spaces.rows import Rows
from loops import each

HARD = {"tail": [9, 30, 37], "ordered": [21, 93, 121]}
"""Seeds at which a trial step overflows: each made the whole solution fail once."""


def drawn(seed: int, scale: float, heavy: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Return rows that may be of very unequal size, labels, and a lam of the rows' unit."""
    rng = np.random.default_rng([11, seed])
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, p)) + rng.uniform(0, 4) * y[:, None]
    unequal = 10.0 ** rng.uniform(-2, 2, size=p) if seed % 3 == 0 else np.ones(p)
    if heavy:
        X *= np.exp(rng.uniform(0, 3) * rng.normal(size=(n, 1)))
    return scale * X * unequal, y.astype(int), float(10.0 ** rng.uniform(-12, 0)) * scale**2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The weights zero are optimal")
@each("scale", [1e-3, 1e3])
@each("asked", ["plain", "lasso", "tail", "ordered"])
def test_any_problem_and_any_scale_are_solved(asked: str, scale: float) -> None:
    certified = 0
    for seed in [*range(2), *HARD.get(asked, [])]:
        X, y, lam = drawn(seed, scale, asked == "ordered")
        more: dict[str, Any] = {
            "plain": {},
            "lasso": {"l1": 1e-3 * scale},
            "tail": {"fpr_max": 0.4},
            "ordered": {"qid": np.arange(y.size) % 2},
        }[asked]
        found = solve(X, y, lam=lam, loss="exponential", tol=1e-4, max_time=2, **more)
        assert found.certificate.primal <= 1 + 1e-9
        certified += found.status == "certified"
    assert certified >= 2


def steep() -> Problem:
    """Return a problem whose scores of the weights +-1 leave the range of exp."""
    pairs = AllPairs().on(np.array([True, False, True]))
    return Problem(
        Rows(np.array([[0.0], [1e3], [2e3]])), Mean(pairs, get_loss("exponential")), Ridge(1.0)
    )


def test_an_overflowing_point_is_infinite_and_never_the_best() -> None:
    problem, recorder = steep(), Recorder()
    seen = look(problem, recorder, np.ones(1), 0.0)
    assert not seen.finite and seen.primal == np.inf and seen.dual == -np.inf
    assert recorder.best_w is None and recorder.best_witness is None
    assert look(problem, recorder, np.zeros(1), 0.0).finite and recorder.best_primal == 1.0


def test_weights_of_the_caller_that_overflow_are_refused() -> None:
    with pytest.raises(InputError, match="overflows at a margin"):
        steep().objective(np.ones(1))
    squared = steep().with_loss(get_loss("squared_hinge"))
    with pytest.raises(OverflowingError, match="its square overflows"):
        squared.sums(np.array([0.0, 1e151, 0.0]))
