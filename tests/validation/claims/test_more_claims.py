"""The verdicts of the claims about remarks, experiments and cost; each can be turned round."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aucert.validation import suite
from aucert.validation.bounds.kernel import Approximation
from aucert.validation.claims import nonlinear, sauc, scaling_up, sht, theorem_4
from aucert.validation.claims.claim import Claim, Outcome, Verdict
from aucert.validation.claims.judge import upper_limit
from aucert.validation.report.row import Row
from loops import each
from realdata import require_real


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


class _Marked:
    """A draw that violates, or not."""

    def __init__(self, bad: bool) -> None:
        self.violated = ["4' (I)"] if bad else []


def _made(bad: list[bool], n_draws: int) -> Any:
    """Cells in which all draws violate, or none: the worst that sharing rows can do."""
    return [SimpleNamespace(draws=[_Marked(cell)] * n_draws) for cell in bad]


def test_the_limit_of_a_violation_counts_cells_and_not_draws() -> None:
    for bad in ([False] * 400, [True] * 3 + [False] * 397):
        few, many = (theorem_4.limit_by_cells("4' (I)", _made(bad, m)) for m in (1, 25))
        assert few == many
    assert theorem_4.limit_by_cells("4' (I)", _made([False] * 400, 25)) == pytest.approx(
        1 - theorem_4.DOUBT ** (1 / 400)
    )


def test_draws_of_one_cell_would_make_the_limit_false() -> None:
    # One cell in 400 is bad: by chance none of them is met, far more often than the level allows.
    share, met = 1 / 400, 1 - (1 - 1 / 400) ** 400
    by_draws, by_cells = (
        upper_limit(0, 10_000, theorem_4.DOUBT),
        upper_limit(0, 400, theorem_4.DOUBT),
    )
    assert 1 - met > 300 * theorem_4.DOUBT and by_draws < share < by_cells


def test_a_claim_on_data_that_are_not_there_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    row = run("protein-is-linearly-separable")
    assert (row.verdict, row.expected_verdict) == ("not-testable", "not-testable")
    assert "set AUCERT_DATA" in str(row.measured)
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert "protein_val.npz is not in" in str(run("protein-is-linearly-separable").measured)


def test_a_claim_is_run_again_once_its_data_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = Claim(
        "needs-data",
        "SHT",
        "nowhere",
        "suite",
        "It needs a file.",
        Verdict.HOLDS,
        lambda context: Outcome(Verdict.HOLDS, 1.0),
        needs=("data:a",),
    )
    registry = {entry.name: entry}
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    out = tmp_path / "out"
    assert suite.run(registry=registry, out=out).rows[0].verdict == "not-testable"
    (tmp_path / "a.npz").touch()
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert suite.run(registry=registry, out=out).rows[0].verdict == "holds"


# Planted mistakes: each must turn a verdict round.

Patch = tuple[object, str, Callable[[Any], Any]]


def _keeps_one_less(right: Any) -> Any:
    return lambda w, k, *rest: right(w, max(k - 1, 1), *rest)


def _nu_of_print_for_lemma_2(right: Any) -> Any:
    return lambda k, k_star, d: 1 + k_star / k + np.sqrt(k_star / k)


def _larger(factor: float) -> Callable[[Any], Any]:
    return lambda right: lambda *args, **rest: factor * right(*args, **rest)


def _drawn_more_often(factor: float) -> Callable[[Any], Any]:
    return lambda right: lambda n, B: (factor * right(n, B)[0], right(n, B)[1])


def _forty_times(right: Any) -> Any:
    return lambda size: np.tile(right(size), (1, 40))


def _printed_form(right: Any) -> Any:
    return lambda *args, **rest: right(*args, **(rest | {"form": "printed"}))


PATCHES: dict[str, Patch] = {
    "sht-lemma-2": (sht, "hard_threshold", _keeps_one_less),
    "sht-theorem-1-condition-with-the-nu-of-lemma-2": (
        sht,
        "nu_lemma2",
        _nu_of_print_for_lemma_2,
    ),
    "theorem-4-under-other-readings": (theorem_4, "most_often", _drawn_more_often(300)),
    "sht-lemma-3": (sht, "least_stretch", _larger(0.1)),
    "sht-lemma-4": (sht, "tail", _larger(2.0)),
    "sht-eq-21-cross-term-of-the-means": (sht, "supports", _forty_times),
    "sht-theorem-2-by-both-classes": (sht, "least_curvature", _larger(10.0)),
    "sht-smoothness-from-the-data": (sht, "largest_restricted", _larger(0.5)),
    "sht-theorem-2-eq-12-with-the-positive-part": (sht, "sht_theorem2", _printed_form),
    "sht-eq-14-with-the-logarithm-outside": (sht, "ratio_coefficients", _printed_form),
    "nystrom-error-order": (
        theorem_4,
        "uniform",
        lambda right: lambda X, d, seed: right(X, 1, seed),
    ),
    "n-max-under-the-printed-condition": (
        theorem_4,
        "largest_count",
        lambda right: lambda n, n_pos, rng, repeats: right(n, 10, rng, repeats),
    ),
    "sauc-diagonal-is-the-best-compromise": (
        sauc,
        "worse_rate",
        lambda right: lambda cuts: cuts.sensitivity + cuts.specificity,
    ),
    "algorithm-1-map-transposed": (
        nonlinear,
        "map_error",
        lambda right: lambda context, printed: right(context, True),
    ),
    "second-term-order-as-printed": (
        theorem_4,
        "orders",
        lambda right: lambda E2, p: right(1.0, p),
    ),
    "second-term-order-corrected": (theorem_4, "orders", lambda right: lambda E2, p: right(1.0, p)),
}


@each("name", list(PATCHES))
def test_a_planted_mistake_turns_the_verdict(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    module, attribute, change = PATCHES[name]
    monkeypatch.setattr(module, attribute, change(getattr(module, attribute)))
    row = run(name)
    assert row.verdict != row.expected_verdict, row.measured


@pytest.mark.slow
def test_landmarks_that_grow_with_the_rows_turn_the_cost_of_the_map(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        nonlinear, "kmeans", lambda X, size, seed: SimpleNamespace(rows=X[: len(X) // 8])
    )
    assert run("nystrom-cost-is-linear-in-the-rows").verdict == "fails"


def test_one_printed_number_changed_turns_the_verdict_about_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worse = {name: (*row[:4], 50.0) for name, row in nonlinear.TABLE_2.items()}
    monkeypatch.setattr(nonlinear, "TABLE_2", worse)
    assert run("nbauc-outperforms-by-table-2").verdict == "fails"
    monkeypatch.setattr(sht, "JACCARD", {k: (1.0,) * 4 for k in sht.JACCARD})
    assert run("sht-jaccard-column").verdict == "holds"


def test_speed_is_read_from_the_large_sets_with_the_five_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "nbauc-orders-of-magnitude-faster-by-table-3"
    row = run(name)
    assert row.verdict == "holds" and row.details["connect-4"] > 2_600
    fast = nonlinear.TABLE_3["ijcnn1"][1]
    monkeypatch.setattr(nonlinear, "TABLE_3", nonlinear.TABLE_3 | {"ijcnn1": (99 * fast, fast)})
    assert run(name).verdict == "fails"


def test_one_grouping_of_protein_that_is_apart_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUCERT_DATA", str(require_real("protein_val").parent))
    points = iter([1e-14, None, 1e-14])
    monkeypatch.setattr(nonlinear, "common_point", lambda X, positive: next(points))
    assert run("protein-is-linearly-separable").verdict == "holds"


def test_classes_that_meet_are_not_called_separable_nor_others_not() -> None:
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    positive = np.array([True, True, False, False])
    assert nonlinear.common_point(square, positive) is not None
    assert nonlinear.common_point(square + 3.0 * positive[:, None], positive) is None


@pytest.mark.slow
def test_a_certificate_that_is_too_small_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = scaling_up.least_gap
    monkeypatch.setattr(scaling_up, "least_gap", lambda problem, w: right(problem, w) / 2)
    assert run("duality-gap-bounds-the-loss-of-any-approximation").verdict == "fails"


@pytest.mark.slow
def test_a_hundredth_of_the_nystrom_term_is_noticed_over_the_wide_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Approximation.error_form
    monkeypatch.setattr(Approximation, "error_form", lambda self, c: right(self, c) / 100)
    theorem_4.cells.cache_clear()
    row = run("theorem-4-prime-over-a-wide-grid")
    theorem_4.cells.cache_clear()
    assert row.verdict == "fails" and int(row.details["(A): violated"]) > 0


@pytest.mark.slow
@each(("kappa", "verdict"), [(0.5, "fails"), (1.5, "vacuous")])
def test_a_tolerance_that_falls_where_kappa_is_below_one_fails(
    monkeypatch: pytest.MonkeyPatch, kappa: float, verdict: str
) -> None:
    sizes = count(1)

    def growing(*given: object, **named: object) -> SimpleNamespace:
        return SimpleNamespace(quantities={"kappa": kappa, "sigma": float(next(sizes))})

    monkeypatch.setattr(sht, "sht_theorem1", growing)
    assert run("sht-tolerance-grows-with-the-imbalance").verdict == verdict


def test_a_ratio_that_does_not_fall_for_many_rows_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rising(*sizes: int) -> tuple[float, float, np.ndarray]:
        return 1.0, 9.0, -np.arange(10.0)

    monkeypatch.setattr(sht, "denominator", rising)
    assert run("sht-eq-14-falls-with-the-share").verdict == "fails"
