"""The claims of [SHT]: their verdicts, and that they notice a mistake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding
from aucert.approx.thresholding import hard_threshold
from aucert.validation import suite
from aucert.validation.claims import sht
from aucert.validation.report.row import Row


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


def test_the_double_sum_is_that_of_a_loop() -> None:
    X, positive = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]), np.array([True, False, True])
    w = np.array([0.3, -0.2])
    by_hand = [(1 - w @ (X[i] - X[1])) ** 2 for i in (0, 2)]
    assert sht.pair_loss(X, positive, w) == pytest.approx(np.mean(by_hand))


# Planted mistakes: each must turn a verdict round.


def test_a_wrong_matrix_of_moments_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = sht.moments

    def halved(*args: object) -> object:
        found = right(*args)  # type: ignore[arg-type]
        return replace(found, delta=found.delta * np.sqrt(2), sigma=found.sigma * 2)

    monkeypatch.setattr(sht, "moments", halved)
    assert run("hessian-as-printed").verdict == "holds"
    assert run("hessian-with-the-factor-two").verdict == "fails"


def test_exactly_k_entries_would_be_what_eq_6_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sht, "hard_threshold", lambda w, k, literal=False: hard_threshold(w, k))
    assert run("eq-6-keeps-k-entries").verdict == "holds"


@pytest.mark.slow
def test_a_method_that_does_select_would_not_be_called_screening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = StochasticHardThresholding
    monkeypatch.setattr(
        sht, "StochasticHardThresholding", lambda k, mode, **rest: right(k - 1, **rest)
    )
    assert run("published-sht-is-mean-difference-screening").verdict == "fails"
