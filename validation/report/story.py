"""What the report tells first: per paper what stands, what falls and what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..claims.verdicts import PAPER_KINDS, PAPERS, Verdict
from .leanings import by_itself
from .row import Row

STANDS = (Verdict.HOLDS, Verdict.BORNE_OUT)
FALLS = (Verdict.FAILS, Verdict.CONTRADICTED)

ORDER = ("finding", "theorem")  # Headlines first.

GROUPS = ("stands", "falls", "open")
COLOURS = {"stands": "#0072b2", "falls": "#d55e00", "open": "#b5b5b5"}
WIDTH, BAR, STEP, LEFT = 736, 22, 34, 90

TITLES = {
    "ScalingUp": "Scaling Up ROC-Optimizing Support Vector Machines",
    "SAUC": "Structure-embedded AUC-SVM",
    "SHT": "Stochastic Hard Thresholding Algorithms for AUC Maximization",
    "Nonlinear": "Scalable Nonlinear AUC Maximization Methods",
}


BUT = "Our run departs from the paper's in what could have made them say so:"
# What the numbers of an undecided finding say by themselves to a heading and a note.
LEANINGS: dict[str, tuple[str, str]] = {
    Verdict.BORNE_OUT: ("What is open: the numbers are for it", BUT),
    Verdict.CONTRADICTED: ("What is open: the numbers are against it", BUT),
    Verdict.UNDECIDED: ("What is open: an interval crosses the line", ""),
    "": ("What says little or nothing, or could not be judged", ""),
}


@dataclass(frozen=True)
class Section:
    """A heading of the page, the rows under it, and what is said of all of them."""

    heading: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True)
class Story:
    """The statements of one paper, findings before theorems."""

    paper: str
    title: str
    stands: tuple[Row, ...]
    falls: tuple[Row, ...]
    open: tuple[Row, ...]
    ours: int

    @property
    def groups(self) -> list[tuple[str, tuple[Row, ...]]]:
        """Name and rows of each group."""
        return [(name, getattr(self, name)) for name in GROUPS]

    @property
    def theirs(self) -> tuple[Row, ...]:
        """All statements of the paper."""
        return (*self.stands, *self.falls, *self.open)

    @property
    def sections(self) -> list[Section]:
        """What the page lists, in this order: the open ones by where their numbers lean."""
        leaning: dict[str, list[Row]] = {lean: [] for lean in LEANINGS}
        for row in self.open:
            leaning[by_itself(row) if row.verdict == Verdict.UNDECIDED else ""].append(row)
        found = [Section("What stands", self.stands), Section("What falls", self.falls)]
        found += [
            Section(heading, tuple(leaning[lean]), note)
            for lean, (heading, note) in LEANINGS.items()
        ]
        return [section for section in found if section.rows]

    def bars(self) -> str:
        """Return one picture: how many theorems and findings stand, fall and are open."""
        most = max(
            (sum(row.kind == kind for _, rows in self.groups for row in rows))
            for kind in PAPER_KINDS
        )
        body = [f"<title>{escape(self.paper)}: theorems and findings by verdict</title>"]
        for k, kind in enumerate(ORDER):
            body += self._bar(kind, 8 + STEP * k, (WIDTH - LEFT - 20) / max(most, 1))
        height = 8 + STEP * len(PAPER_KINDS)
        return (
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img" font-family="inherit" '
            f'font-size="13">{"".join(body)}</svg>'
        )

    def _bar(self, kind: str, top: int, unit: float) -> list[str]:
        body = [f'<text x="0" y="{top + 16}" fill="currentColor">{kind}s</text>']
        x = float(LEFT)
        for name, rows in self.groups:
            count = sum(row.kind == kind for row in rows)
            if not count:
                continue
            width = count * unit
            ink = "#000000" if name == "open" else "#ffffff"
            body.append(
                f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BAR}" '
                f'fill="{COLOURS[name]}" style="stroke: var(--paper, #ffffff)"/>'
                f'<text x="{x + width / 2:.1f}" y="{top + 16}" text-anchor="middle" '
                f'fill="{ink}">{_label(count, name, width)}</text>'
            )
            x += width
        return body


def _label(count: int, name: str, width: float) -> str:
    words = f"{count} {name if name != 'stands' or count == 1 else 'stand'}"
    words = words.replace("falls", "fall") if count != 1 else words
    return words if width > 9 * len(words) else str(count)


def stories(rows: Sequence[Row]) -> list[Story]:
    """Return a story for each paper that has rows."""
    found = []
    for paper in PAPERS:
        here = [row for row in rows if row.paper == paper]
        theirs = sorted(
            (row for row in here if row.kind in PAPER_KINDS),
            key=lambda row: ORDER.index(row.kind),
        )
        if here:
            found.append(
                Story(
                    paper,
                    TITLES[paper],
                    tuple(row for row in theirs if row.verdict in STANDS),
                    tuple(row for row in theirs if row.verdict in FALLS),
                    tuple(row for row in theirs if row.verdict not in (*STANDS, *FALLS)),
                    len(here) - len(theirs),
                )
            )
    return found
