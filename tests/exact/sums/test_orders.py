"""The orders of both classes, from one thread and from two."""

from __future__ import annotations

import numpy as np

from aucert.exact.sums.orders import both_orders
from aucert.exact.tools.threads import at_most
from loops import each


@each("sizes", [(1, 1), (1, 50), (300, 7)])
def test_both_orders_are_those_of_each_for_any_number_of_threads(sizes) -> None:
    rng = np.random.default_rng(0)
    t, b = (rng.integers(0, 9, size).astype(float) for size in sizes)
    for threads in (None, 1, 2, 5):
        with at_most(threads):
            first, second = both_orders(t, b)
        assert np.array_equal(first, np.argsort(t)) and np.array_equal(second, np.argsort(b))
