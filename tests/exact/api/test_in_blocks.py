"""Which rows are read in blocks: many, that mostly differ; fewer where a row has few numbers."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from loops import each


def test_many_tied_rows_are_solved_to_the_last_digits() -> None:
    """Bins alone stall on them, and a second solve would begin anew."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2))
    y = X @ [1.0, 0.5] + rng.normal(size=len(X)) > 0.8
    found = solve(X.round(), y, 1e-3, tol=1e-9)
    assert found.status == Status.CERTIFIED


@each(
    "X",
    [
        np.zeros((100_000, 0)),
        np.zeros((100_000, 2), dtype=[("a", float), ("b", float)]),
        np.full((100_000, 2), "a"),
        np.zeros((100_000, 2), dtype=complex),
    ],
    ids=["no columns", "records", "text", "complex"],
)
def test_what_is_no_matrix_of_numbers_is_refused_in_a_sentence(X: np.ndarray) -> None:
    with pytest.raises(InputError):
        solve(X, np.arange(len(X)) % 2, 0.1)
