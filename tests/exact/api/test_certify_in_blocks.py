"""Weights that came from anywhere, over rows that are read in blocks."""

import re
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import PartitionedRows, StreamedRows, certify, solve
from cutting import cut
from fuzzing import LinearTruth
from loops import each

RNG = np.random.default_rng(3)
Y = np.arange(90) % 3 == 0
X = RNG.normal(size=(90, 3)) + Y[:, None]


@each("refine", [False, True])
@each("loss", ["hinge", "squared_hinge"])
def test_weights_are_certified_for_both_losses_of_rows_in_blocks(loss, refine):
    w, truth = np.array([0.9, 0.8, 1.0]), LinearTruth(X, Y, 0.1, loss)
    found = certify(StreamedRows(X, 16), Y, 0.1, w=w, loss=loss, refine=refine)
    held = certify(X, Y, 0.1, w=w, loss=loss, refine=True)
    assert found.primal is not None and held.primal is not None
    assert truth.objective(w) <= Fraction(found.primal)
    assert found.primal == pytest.approx(held.primal, rel=1e-6)  # on the solver's grid 5e-4 above
    assert found.dual <= held.primal
    if refine:
        assert found.dual == pytest.approx(held.dual, rel=0.05)  # few rows in blocks stall


@each("refine", [False, True])
@each("parted", [False, True])
@each("loss", ["hinge", "squared_hinge"])
def test_the_objective_of_weights_that_a_coarse_grid_made_is_that_of_a_fine_one(
    loss: str, parted: bool, refine: bool
) -> None:
    """That of the solver's grid was 1e-3 above F, and was called "up to 4e-9"."""
    X, y = RNG.normal(size=(300, 2)) + (np.arange(300) % 3 == 0)[:, None], np.arange(300) % 3 == 0
    rows = PartitionedRows(cut(X, y, None, [150])) if parted else StreamedRows(X, 16)
    labels, lam = None if parted else y, 1e-2
    rough = solve(rows, labels, lam, loss=loss, method="descent", tol=0.3)
    true = float(LinearTruth(X, y, lam, loss).objective(rough.w))
    assert rough.certificate.primal - true > 1e-7
    found = certify(rows, labels, lam, w=rough.w, loss=loss, refine=refine, tol=0.3)
    assert found.primal == pytest.approx(true, rel=1e-8)
    said = re.search(r"have an objective of at most (\S+) over", found.statement)
    assert said is not None
    assert true <= float(said[1]) <= true * (1 + 1e-8)
