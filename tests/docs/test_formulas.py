"""Every place that docs/formulas.md names for a formula exists: a name, a claim or a table."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from aucert.validation.suite import claims
from aucert.validation.tables.run import tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formulas.md"


def resolve(target: str) -> object:
    """Import a module, or an attribute of one, or of a class in it."""
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(parts[:cut])
        try:
            found: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not f"{name}.".startswith(f"{error.name}."):
                raise  # the module is there, and something it needs is not
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(target)


def exists(target: str) -> bool:
    """Whether `claim:NAME`, `table:NAME` or a dotted name of ours is there."""
    kind, _, name = target.rpartition(":")
    if kind:
        return name in {"claim": {entry.name for entry in claims()}, "table": tables()}[kind]
    try:
        resolve(name)
    except (ImportError, AttributeError):
        return False
    return name.startswith("aucert.")


def test_every_place_of_a_formula_exists() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    places = {name for row in rows for name in re.findall(r"`([^`]+)`", row[3])}
    assert places and sorted(name for name in places if not exists(name)) == []
