"""The claims of [SHT]: their verdicts, and that they notice a mistake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding
from aucert.approx.thresholding import hard_threshold
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation import suite
from aucert.validation.claims.sht import basics as sht
from aucert.validation.report.row import Row


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


def test_the_double_sum_is_that_of_a_loop() -> None:
    X, positive = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]), np.array([True, False, True])
    w = np.array([0.3, -0.2])
    by_hand = [(1 - w @ (X[i] - X[1])) ** 2 for i in (0, 2)]
    assert sht.pairwise(X, positive, w) == pytest.approx(np.mean(by_hand))


# Planted mistakes: each must turn a verdict round.


def test_an_average_over_rows_with_wrong_shares_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = RowAverage.of

    def wrong(*args: object, **rest: object) -> RowAverage:
        loss = right(*args, **rest)  # type: ignore[arg-type]
        return replace(loss, mass=np.full(loss.mass.size, 1 / loss.mass.size))

    monkeypatch.setattr(RowAverage, "of", wrong)
    assert run("prop-1-pairwise-is-an-average-over-rows").verdict == "fails"


def test_blocks_with_means_of_their_own_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StochasticHardThresholding.blocks
    monkeypatch.setattr(
        StochasticHardThresholding,
        "blocks",
        lambda self, loss, rng: [sht._on_its_own(block) for block in right(self, loss, rng)],
    )
    assert run("prop-1-in-blocks-needs-all-rows-means").verdict == "fails"


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


def test_a_solver_that_keeps_one_feature_less_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StochasticHardThresholding
    monkeypatch.setattr(
        sht,
        "StochasticHardThresholding",
        lambda k, **rest: right(max(k - 1, 1), **rest),
    )
    assert run("sht-keeps-exactly-k-features").verdict == "fails"


@pytest.mark.slow
def test_a_method_that_does_select_would_not_be_called_screening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = StochasticHardThresholding
    monkeypatch.setattr(
        sht, "StochasticHardThresholding", lambda k, mode, **rest: right(k - 1, **rest)
    )
    assert run("published-sht-is-mean-difference-screening").verdict == "fails"
