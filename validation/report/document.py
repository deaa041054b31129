"""The report of a run: one JSON document and one HTML page that needs nothing next to it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..bounds.prime import sampling_term
from ..claims.claim import ERROR, KINDS, SEVERITIES, Verdict
from ..claims.recorded import record
from ..files.written import write_atomically, write_json
from .headlines import WORDS, forests, headlines, of_figure, printed, rates
from .row import Row

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
    folder: Path | None = None  # where it was written

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

    def counts(self) -> list[tuple[str, dict[str, int]]]:
        """Return kind by kind, and for all, how many claims stand where; each adds up to all."""
        found: list[tuple[str, dict[str, int]]] = []
        for kind in (*KINDS, "all"):
            rows = [row for row in self.rows if kind in (row.kind, "all")]
            columns = {
                name: sum(row.verdict in some for row in rows) for name, some in COLUMNS.items()
            }
            if rows:
                found.append((kind, columns | {"all": len(rows)}))
        return found

    def html(self) -> str:
        """Return the page: escaped text, pictures inside, no script and no link to anywhere."""
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

        jinja = Environment(
            loader=PackageLoader("aucert.validation.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        jinja.filters.update(
            shown=shown,
            seconds=shown_seconds,
            repeat=repeat,
            svg=lambda figure: Markup(of_figure(figure)),
        )
        rows = {row.name: row for row in self.rows}
        figures = {figure.name: figure for row in self.rows for figure in row.figures}
        return jinja.get_template("report.html").render(
            report=self,
            rows=rows,
            ten=headlines(rows),
            rates=rates(rows),
            forests=forests(self.rows),
            figures=[figures[name] for name in FIGURES if name in figures],
            part_1=part_1(),
            wrong={name: form for name, form in printed().items() if name in rows},
            severities=SEVERITIES,
            words=WORDS,
            recorded=record(),
            kinds=KINDS,
            sizes=SIZES,
            safe=Markup,
        )

    def write(self, folder: str | Path) -> None:
        """Write claims.json and report.html, each complete or not at all."""
        text = self.html().encode()
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_json(Path(folder) / "claims.json", self.as_json())
        write_atomically(Path(folder) / "report.html", lambda file: file.write(text))


COLUMNS: dict[str, tuple[str, ...]] = {
    "stand": (Verdict.HOLDS, Verdict.BORNE_OUT),
    "fall": (Verdict.FAILS, Verdict.CONTRADICTED),
    "empty or loose": (Verdict.VACUOUS, Verdict.LOOSE),
    "undecided": (Verdict.UNDECIDED,),
    "not run": (Verdict.NOT_TESTABLE, ERROR),
}
# Pictures of the section on Theorem 4, by the names that their claims give them.
FIGURES = ("theorem-4-against-n", "bound-against-error-3", "theorem-4-prime-part-1")


# Rows of the tables of ScalingUp, which draws as many pairs; lam of its order.
SIZES = (5_000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000)
LAMS = (0.1, 0.01, 0.001, 0.0001, 0.00001)


def part_1() -> dict[float, list[float]]:
    """Return what (I) of Theorem 4' has for B = n drawn pairs, where k(x, x) = 1: R^2 = 2."""
    return {lam: [sampling_term(lam, n, 2**0.5) for n in SIZES] for lam in LAMS}


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


def shown_seconds(value: float) -> str:
    """Return seconds with two digits after the point below ten, one above."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
