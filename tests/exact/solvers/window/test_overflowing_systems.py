"""Newton systems of rows so large that products overflow."""

import numpy as np

from aucert.exact.solvers.window.linear_systems import LAST, LAST_PRODUCTS, NewtonSystem


def test_a_system_that_overflows_makes_no_step_and_no_warning():
    rows = np.array([[1e99, 0.0], [0.0, 1e99], [1e99, 1e99]])
    i, j, c = np.array([0, 1]), np.array([2, 2]), np.array([0.5, 0.5])
    system = NewtonSystem(rows, i, j, c, 1e-3)
    active, r = np.array([0, 1]), np.array([1e99, -3e98])
    step, enough = system._by_products(active, c / 1e-9, r, LAST, LAST_PRODUCTS)
    assert np.isfinite(step).all() and not enough
