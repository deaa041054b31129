"""What the quasi-Newton method remembers of its steps."""

import numpy as np

from aucert.exact.solvers.smoothing.memory import Memory
from loops import each


class Rounded:
    """Inner products of which the square of one vector is lost to rounding."""

    def __init__(self, square: float):
        self.square = square

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        same = one[0] == other[0] == 2.0
        return self.square if same else float(one @ other)


@each("square", [0.0, -1e-20])
def test_a_change_whose_square_is_lost_to_rounding_is_not_remembered(square):
    # The first guess of the curvature divides by that square: it was a ZeroDivisionError.
    memory = Memory(Rounded(square).inner)
    memory.remember(np.array([1.0, 1.0]), np.array([2.0, 1.0]))
    assert np.isfinite(memory.direction(np.ones(2))).all() and not memory.steps
    memory.remember(np.array([1.0, 1.0]), np.array([3.0, 1.0]))
    assert len(memory.steps) == 1
