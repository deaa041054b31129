"""Minorants whose evidence somebody has tampered with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aucert.exact.problem.minorant import Minorant


def forged_as(witness: Minorant, **lie: object) -> Minorant:
    """Return the witness with other fields in its evidence."""
    evidence: Any = witness.evidence
    return replace(witness, evidence=replace(evidence, **lie))
