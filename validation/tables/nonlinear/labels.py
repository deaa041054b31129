"""Names under which sets are shown that are not the paper's row for row."""

from __future__ import annotations

LABELS = {
    "covtype": "covtype, sample of 258,565 rows",
    "cod-rna": "cod-rna, without its third file",
}


def label(name: str) -> str:
    """Return the name of a row or panel."""
    return LABELS.get(name, name)
