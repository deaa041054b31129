"""All tables and figures, by name, in the order of the papers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ....exact.errors import InputError
from .. import nonlinear, sauc, scaling_up, sht
from ..table import Table

PAPER_MODULES = (scaling_up, sauc, sht, nonlinear)
"""Each has a tuple `TABLES`."""


def tables() -> dict[str, Table]:
    """Return name to table.

    Raises
    ------
    ValueError
        If two have one name.
    """
    found: dict[str, Table] = {}
    for module in PAPER_MODULES:
        for table in module.TABLES:
            if table.name in found:
                raise ValueError(f"two tables are called {table.name!r}")
            found[table.name] = table
    return found


def chosen(names: Sequence[str], registry: Mapping[str, Table]) -> list[Table]:
    """Return the tables named, all of them without names, in the order of the registry.

    Raises
    ------
    InputError
        For a name that no table has.
    """
    for name in names:
        if name not in registry:
            near = difflib.get_close_matches(name, registry, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(near)}?" if near else "see `aucert reproduce --list`"
            raise InputError(f"no table is called {name!r}: {hint}")
    return [table for name, table in registry.items() if not names or name in names]
