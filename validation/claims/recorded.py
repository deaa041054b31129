"""The verdicts of the last recorded run: what each claim is expected to come to.

    aucert validate --out OUT
    python -m aucert.validation.claims.recorded OUT/claims.json DATE

records a run anew. A verdict that differs from the recorded one is a change, for better or worse.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .verdicts import Verdict

FILE = Path(__file__).with_name("recorded.json")

# What the papers say, how it can be read and judged: by claim `quote`, `readings`, `arithmetic`,
# and of theorems `regime` and `turned_by`.
SOURCES = Path(__file__).with_name("sources.json")


@lru_cache(maxsize=1)
def record() -> dict[str, Any]:
    """Return date, version, profile and verdicts by name of the last recorded run."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def recorded_verdict(name: str) -> Verdict:
    """Return what a claim came to in the last recorded run; "undecided" if it was not in it."""
    return Verdict(record()["verdicts"].get(name, Verdict.UNDECIDED))


@lru_cache(maxsize=1)
def _sources() -> dict[str, dict[str, Any]]:
    return json.loads(SOURCES.read_text(encoding="utf-8"))


def source(name: str) -> dict[str, Any]:
    """Return what `SOURCES` has of a claim."""
    found = dict(_sources().get(name, {}))
    return found | {"readings": tuple(found.get("readings", ()))}


def write(document: Mapping[str, Any], date: str, path: Path = FILE) -> None:
    """Write the verdicts of a run, as `aucert validate --json` has it, as the recorded ones."""
    found = {
        "date": date,
        "version": document["version"],
        "profile": document["parameters"]["profile"],
        "verdicts": {row["name"]: row["verdict"] for row in document["claims"]},
    }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2])
