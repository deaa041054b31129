"""Claims that weigh chance turn where the numbers say so, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.validation import suite
from aucert.validation.claims.claim import Context
from aucert.validation.claims.common import upper_limit
from aucert.validation.claims.nonlinear import rivals, stochastic
from aucert.validation.claims.scaling_up.theorem_4 import prime, readings
from aucert.validation.claims.sht import theory
from aucert.validation.data import datasets


def test_violations_spread_over_all_cells_refute_a_bound() -> None:
    # Two draws of five in each cell: no single cell can tell, all together do.
    assert prime.refuted([2] * 54, [5] * 54)
    assert not prime.refuted([2] + [0] * 53, [5] * 54)


def test_five_violations_of_five_in_one_cell_refute_a_bound() -> None:
    assert prime.refuted([5] + [0] * 53, [5] * 54)


def test_violations_as_rare_as_allowed_do_not_refute_a_bound() -> None:
    assert not prime.refuted([1] * 13 + [0] * 41, [5] * 54)


def test_an_upper_limit_is_that_of_clopper_and_pearson() -> None:
    # No hit in n draws: (1 - p)^n = level; n hits in n: nothing is excluded.
    assert upper_limit(0, 9, 0.01) == pytest.approx(1 - 0.01 ** (1 / 9))
    assert upper_limit(9, 9, 0.01) == 1.0


def test_a_reading_below_the_true_error_is_not_said_to_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = readings.Reading.right
    monkeypatch.setattr(
        readings.Reading, "right", lambda self, *args, **rest: 0.1 * right(self, *args, **rest)
    )
    assert suite.run(["theorem-4-readings-that-stand"]).rows[0].verdict == "fails"


def test_theorem_1_says_nothing_where_it_does_not_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "CASES", ((400, 10, 2, 0.5, 4),))
    assert suite.run(["sht-theorem-1-bound"]).rows[0].verdict == "vacuous"


@pytest.mark.slow
def test_averaging_that_does_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)

    def no_better(*args: Any) -> float:
        return float(np.exp(rng.normal(0.0, 0.7)))

    monkeypatch.setattr(stochastic, "_times_as_large", no_better)
    assert suite.run(["averaging-lowers-the-excess"]).rows[0].verdict == "fails"


@pytest.mark.slow
def test_one_draw_made_twenty_times_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Context, "_sequence", lambda self, stream: np.random.SeedSequence([self.seed, 7])
    )
    assert suite.run(["averaging-lowers-the-excess"]).rows[0].verdict == "fails"


def test_rows_in_both_halves_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    data, split = datasets.load("xor:200", 0), np.array_split
    rivals._halves(data, np.random.default_rng(0))
    monkeypatch.setattr(rivals.np, "array_split", lambda a, k: [split(a, k)[0]] * k)
    with pytest.raises(AssertionError, match="in both halves"):
        rivals._halves(data, np.random.default_rng(0))


def table(lead: float, spread: float) -> dict[str, dict[str, np.ndarray]]:
    noise = spread * np.random.default_rng(0).standard_normal((3, 8))
    noise -= noise.mean(axis=1, keepdims=True)
    return {
        name: {"NSAUC": 0.9 + lead + noise[k], "NOAM": np.full(8, 0.9)}
        for k, name in enumerate(rivals.SETS)
    }


def test_a_lead_within_chance_is_not_clear() -> None:
    mean, low = rivals.clear_lead(table(0.001, 0.02), "NOAM")
    assert mean == pytest.approx(0.001) and low < 0


def test_a_lead_beyond_chance_is_clear() -> None:
    mean, low = rivals.clear_lead(table(0.02, 0.005), "NOAM")
    assert mean == pytest.approx(0.02) and 0 < low < mean
