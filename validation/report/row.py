"""A claim that has been run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..claims.claim import DataUsed
from ..plots import Figure


@dataclass(frozen=True)
class Row:
    """A claim that has been run: what the table, the report and the JSON show.

    `taken_over`: read from the file that an earlier run of the same code and seed has left.
    """

    name: str
    paper: str
    place: str
    kind: str
    statement: str
    formula: str
    measured: str | float
    printed: str | None
    verdict: str
    expected_verdict: str
    seconds: float
    tolerance: str | None
    seed: int
    profile: str
    version: str
    quote: str = ""
    readings: tuple[str, ...] = ()
    regime: str = ""
    tuning: str = ""
    turned_by: str = ""
    arithmetic: bool = False
    data: tuple[DataUsed, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    effects: tuple[dict[str, Any], ...] = ()
    protocol: tuple[dict[str, str], ...] = ()
    severity: str = ""
    corrected: str = ""
    taken_over: bool = field(default=False, compare=False)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; never for a claim that raised."""
        return self.verdict == self.expected_verdict

    @property
    def public(self) -> dict[str, Any]:
        """The keys that other people's scripts may rely on."""
        row = asdict(self)
        hidden = ("details", "figures", "formula", "profile")
        return {key: value for key, value in row.items() if key not in hidden}

    @classmethod
    def from_document(cls, row: dict[str, Any]) -> Row:
        """Return the row that `asdict` and JSON took apart."""
        parts = {
            "data": tuple(DataUsed(**used) for used in row["data"]),
            "figures": tuple(Figure.from_document(figure) for figure in row["figures"]),
            "readings": tuple(row["readings"]),
            "effects": tuple(row["effects"]),
            "protocol": tuple(row["protocol"]),
        }
        return cls(**{**row, **parts})
