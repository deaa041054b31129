"""Weights that came from anywhere, over rows that are read in blocks."""

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import StreamedRows, certify
from fuzz_truth import LinearTruth

RNG = np.random.default_rng(3)
Y = np.arange(90) % 3 == 0
X = RNG.normal(size=(90, 3)) + Y[:, None]


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_are_certified_for_both_losses_of_rows_in_blocks(loss, refine):
    w, truth = np.array([0.9, 0.8, 1.0]), LinearTruth(X, Y, 0.1, loss)
    found = certify(StreamedRows(X, 16), Y, 0.1, w=w, loss=loss, refine=refine)
    held = certify(X, Y, 0.1, w=w, loss=loss, refine=True)
    assert found.primal is not None and held.primal is not None
    assert truth.objective(w) <= Fraction(found.primal) + Fraction(found.rounding)
    assert found.primal == pytest.approx(held.primal, rel=1e-6)  # on the solver's grid 5e-4 above
    assert found.dual - found.rounding <= held.primal
    if refine:
        assert found.dual == pytest.approx(held.dual, rel=0.05)  # few rows in blocks stall
