"""Claims that weigh chance turn where the numbers say so, and only there."""

from __future__ import annotations

import pytest

from aucert.validation import suite
from aucert.validation.claims import sht, theorem_4
from aucert.validation.claims.judge import upper_limit


def test_violations_spread_over_all_cells_refute_a_bound() -> None:
    # Two draws of five in each cell: no single cell can tell, all together do.
    assert theorem_4.refuted([2] * 54, [5] * 54)
    assert not theorem_4.refuted([2] + [0] * 53, [5] * 54)


def test_five_violations_of_five_in_one_cell_refute_a_bound() -> None:
    assert theorem_4.refuted([5] + [0] * 53, [5] * 54)


def test_violations_as_rare_as_allowed_do_not_refute_a_bound() -> None:
    assert not theorem_4.refuted([1] * 13 + [0] * 41, [5] * 54)


def test_an_upper_limit_is_that_of_clopper_and_pearson() -> None:
    # No hit in n draws: (1 - p)^n = level; n hits in n: nothing is excluded.
    assert upper_limit(0, 9, 0.01) == pytest.approx(1 - 0.01 ** (1 / 9))
    assert upper_limit(9, 9, 0.01) == 1.0


def test_theorem_1_says_nothing_where_it_does_not_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sht, "CASES", ((400, 10, 2, 0.5, 4),))
    assert suite.run(["sht-theorem-1-bound"]).rows[0].verdict == "vacuous"
