"""Claims about headlines of the papers notice the mistake that they are there for."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation import suite


def test_a_gradient_that_costs_more_than_rows_times_features_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = RowAverage.gradient

    def costly(self: RowAverage, w: np.ndarray) -> np.ndarray:
        for _ in range(4):  # as a sum over pairs would
            _ = self.X.T @ (self.X @ w)
        return right(self, w)

    monkeypatch.setattr(RowAverage, "gradient", costly)
    assert suite.run(["sht-gradient-costs-o-bd"]).rows[0].verdict == "fails"
