"""What `validate` does once its options are read."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from ..claims.claim import Claim
from ..report.row import Row
from ..suite import claims, run
from .writing.console import claims_table, print_report
from .writing.outputs import named_folder
from .writing.progress import counted_progress

DEFAULT_OUT = "aucert-report"


def run_validate(options: dict[str, Any]) -> int:
    """Run the claims, print the table, write the report; return the exit status."""
    if options["list_only"]:
        _list(claims(only=options["only"]), options["as_json"])
        return 0
    out = named_folder(options["out"]) or DEFAULT_OUT
    with counted_progress("claims", _done, options["as_json"]) as progress:
        report = run(
            only=options["only"],
            profile=options["profile"],
            seed=options["seed"],
            jobs=options["jobs"],
            out=out,
            progress=progress,
        )
    if options["as_json"]:
        click.echo(json.dumps(report.as_json(), allow_nan=False, indent=2))
    else:
        print_report(report)
        click.echo(f"report: {out}/report.html")
    return report.exit_code


def _done(row: Row) -> str:
    return f"claims, {row.name} done"


def _list(entries: Sequence[Claim], as_json: bool) -> None:
    if as_json:
        names = ("name", "paper", "place", "kind", "statement")
        document = [
            {name: str(getattr(entry, name)) for name in names}
            | {"expected_verdict": str(entry.expected_verdict)}
            for entry in entries
        ]
        click.echo(json.dumps({"claims": document}, indent=2))
    elif sys.stdout.isatty():
        Console(highlight=False).print(claims_table(entries))
    else:  # one line a claim, so that names can be cut out
        for entry in entries:
            click.echo(f"{entry.name}\t{entry.paper}, {entry.place}\t{entry.statement}")
