"""Lines of claims on which a verdict or a printed number hangs, each turned by itself."""

from __future__ import annotations

from decimal import Decimal

from aucert.validation.claims import sht
from aucert.validation.claims.claim import REGISTRY, Context, Outcome, Verdict


def run(name: str) -> Outcome:
    return REGISTRY[name].run(Context(name, 0))


def test_eleven_of_the_28_printed_jaccard_indices_are_too_small() -> None:
    """In decimals, from the table: index < F1 / (2 - F1) for any numbers both were rounded from."""
    half, small = Decimal("0.0005"), set()
    for name, scores in sht.F1.items():
        for k_star, score, index in zip((20, 40, 60, 80), scores, sht.JACCARD[name], strict=True):
            f1, printed = Decimal(str(score)) - half, Decimal(str(index)) + half
            if printed * (2 - f1) < f1:
                small.add(f"{name}, k* = {k_star}: printed, least possible")
    outcome = run("sht-jaccard-column")
    assert len(small) == 11 and set(outcome.details) == small
    assert outcome.measured == "11 of 28 are too small" and outcome.verdict == Verdict.FAILS


def test_a_jaccard_index_that_rounding_explains_is_not_too_small(monkeypatch) -> None:
    """At F1 = 0.5 the least index is 1/3: 0.333 may be one of 0.3335, 0.332 may not."""
    monkeypatch.setattr(sht, "F1", {"A": (0.5, 0.5, 0.5, 0.5)})
    monkeypatch.setattr(sht, "JACCARD", {"A": (0.333, 0.3335, 0.332, 0.9)})
    outcome = run("sht-jaccard-column")
    assert set(outcome.details) == {"A, k* = 60: printed, least possible"}
    monkeypatch.setattr(sht, "JACCARD", {"A": (0.333, 0.4, 0.5, 0.9)})
    assert run("sht-jaccard-column").verdict == Verdict.HOLDS
