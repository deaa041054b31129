"""The claim about Table II's own numbers [SHT, Section IV-A]."""

from __future__ import annotations

from ...data.printed_numbers import numbers
from ..claim import Context, Outcome, Verdict

TABLE_2 = numbers("SHT", "Table II")
F1, JACCARD = (
    {name: row[part] for name, row in TABLE_2.items()} for part in (slice(4), slice(4, 8))
)


def sht_jaccard_column(context: Context) -> Outcome:
    low = {}
    for name, scores in F1.items():
        for k_star, score, index in zip((20, 40, 60, 80), scores, JACCARD[name], strict=True):
            least = (score - 5e-4) / (2 - score + 5e-4)
            if index + 5e-4 < least:
                low[f"{name}, k* = {k_star}: printed, least possible"] = [index, least]
    return Outcome(
        Verdict.FAILS if low else Verdict.HOLDS,
        f"{len(low)} of 28 are too small",
        printed=".200 beside F1 .365 (SHT-AUC, k* = 40)",
        details=low,
        tolerance="rounding of both printed numbers, 0.0005 each",
    )
