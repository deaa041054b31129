"""The report of a run: one JSON document and one HTML page that needs nothing beside it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..claims.claim import Verdict
from ..claims.recorded import record
from ..claims.verdicts import ERROR, KINDS, PAPERS
from ..files.written import write_atomically, write_json
from ..plots import Figure, svg
from .cases import CasePicture, case_pictures
from .clauses import shortened
from .dot_chart import dot_chart
from .leanings import by_departure, by_itself, departures, in_short, measured_alone, told
from .row import Row
from .story import Story, stories

SCHEMA_VERSION = 2
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "cvxpy", "osqp", "clarabel", "ecos")


def environment() -> dict[str, str]:
    """Return the versions that numbers may depend on: Python, the system, the libraries."""
    found = {"python": platform.python_version(), "system": platform.system()}
    found["machine"] = platform.machine()
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


@dataclass(frozen=True)
class Report:
    """All rows of a run and what they were run with."""

    rows: tuple[Row, ...]
    seed: int
    profile: str
    version: str
    library_sha256: str
    environment: dict[str, str]
    seconds: float

    @property
    def unexpected(self) -> list[Row]:
        """The rows whose verdict is not the expected one, or that raised."""
        return [row for row in self.rows if not row.as_expected]

    @property
    def taken_over(self) -> int:
        """How many rows were read from the files of an earlier run."""
        return sum(row.taken_over for row in self.rows)

    @property
    def exit_code(self) -> int:
        """1 exactly when a verdict differs from the expected one, else 0."""
        return int(bool(self.unexpected))

    def as_json(self) -> dict[str, Any]:
        """Return the document of `aucert validate --json`."""
        return {
            "schema_version": SCHEMA_VERSION,
            "version": self.version,
            "library_sha256": self.library_sha256,
            "seed": self.seed,
            "parameters": {"profile": self.profile, "only": [row.name for row in self.rows]},
            "environment": self.environment,
            "seconds": self.seconds,
            "recorded": {name: record()[name] for name in ("date", "version", "profile")},
            "claims": [row.public for row in self.rows],
        }

    def summary(self) -> list[dict[str, Any]]:
        """Return one entry a paper: how many claims had which verdict, and how many surprise."""
        entries = []
        for paper in PAPERS:
            rows = [row for row in self.rows if row.paper == paper]
            counts = {name: _count(rows, name) for name in (*map(str, Verdict), ERROR)}
            kinds = {kind: sum(row.kind == kind for row in rows) for kind in KINDS}
            unexpected = sum(not row.as_expected for row in rows)
            if rows:
                entry = {"paper": paper, "n": len(rows), "counts": counts, "kinds": kinds}
                entries.append(entry | {"unexpected": unexpected})
        return entries

    def table(self) -> list[dict[str, Any]]:
        """Return one entry a paper and kind: how many statements had which verdict."""
        entries = []
        for paper in PAPERS:
            for kind in KINDS:
                rows = [row for row in self.rows if (row.paper, row.kind) == (paper, kind)]
                counts = {name: _count(rows, name) for name in (*map(str, Verdict), ERROR)}
                if rows:
                    entry = {"paper": paper, "kind": kind, "n": len(rows), "counts": counts}
                    entries.append(entry)
        return entries

    def html(self) -> str:
        """Return the page: escaped text, pictures inside, no script and no link to anywhere."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        jinja = Environment(
            loader=PackageLoader("aucert.validation.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        jinja.filters.update(
            shown=shown,
            brief=brief,
            by_itself=by_itself,
            measured=measured_alone,
            by_departure=by_departure,
            in_short=in_short,
            departures=departures,
            told=told,
            seconds=shown_seconds,
            picture=_picture,
            numbers=_numbers,
            repeat=repeat,
            charts=_charts,
            bars=_bars,
        )
        return jinja.get_template("report.html").render(
            report=self,
            verdicts=[*Verdict],
            error=ERROR,
            kinds=KINDS,
            recorded=record(),
            stories=stories(self.rows),
            papers=[entry["paper"] for entry in self.summary()],
        )

    def write(self, folder: str | Path) -> None:
        """Write claims.json and report.html, each complete or not at all."""
        text = self.html().encode()
        write_json(Path(folder) / "claims.json", self.as_json())
        write_atomically(Path(folder) / "report.html", lambda file: file.write(text))


def repeat(row: Row) -> str:
    """Return the command that runs this row's claim again."""
    profile = "" if row.profile == "quick" else f" --profile {row.profile}"
    return f"aucert validate --only {row.name} --seed {row.seed}{profile}"


def shown(value: object) -> str:
    """Return a number with six digits, a list with commas, text as it is, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {shown(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return str(value)


def brief(value: object) -> str:
    """Return the beginning of what was measured, up to a whole part of it."""
    return shortened(shown(value))


def shown_seconds(value: float) -> str:
    """Return seconds with two digits after the point below ten, one above."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _count(rows: Sequence[Row], verdict: str) -> int:
    return sum(row.verdict == verdict for row in rows)


def _numbers(details: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what the page shows of a claim's details.

    Not the traceback, which has paths, nor the deviations, which stand under "Protocol".
    """
    hidden = ("traceback", "deviations")
    return [(name, value) for name, value in details.items() if name not in hidden]


def _bars(story: Story) -> object:
    """Return the picture of a paper, marked as safe: `bars` escapes the text in it."""
    from markupsafe import Markup

    return Markup(story.bars())


def _picture(figure: Figure) -> object:
    """Return the drawing, marked as safe: matplotlib escapes the text in it, `svg` the title."""
    from markupsafe import Markup

    return Markup(svg(figure))


def _charts(row: Row) -> list[tuple[object, CasePicture]]:
    """Return the drawings of a claim that brings none of its own; `dot_chart` escapes the text."""
    from markupsafe import Markup

    charts = [] if row.figures else case_pictures(row.details)
    return [(Markup(dot_chart(chart, f"{row.name}: {chart.caption}")), chart) for chart in charts]
