"""All tables and figures, by name, in the order of the papers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ...exact.errors import InputError
from . import convergence, nonlinear, sauc, scaling_up, sht
from .table import Table

TABLES = (
    *(scaling_up.TABLE_1, scaling_up.TABLE_2, scaling_up.TABLE_3),
    *(sauc.TABLE_1, sauc.TABLE_2, sauc.TABLE_3, sauc.TABLE_4, sauc.FIG_1, sauc.FIG_2),
    *(sauc.FIG_2_TOY, sauc.FIG_3, sauc.FIG_4, sauc.FIG_5),
    *(sht.TABLE_1, sht.TABLE_2, sht.TABLE_3, sht.LISTS, sht.FIG_1, sht.FIG_2, sht.FIG_3, sht.FIG_4),
    *(nonlinear.TABLE_1, nonlinear.TABLE_2, nonlinear.TABLE_3, nonlinear.TABLE_4),
    *(nonlinear.FIGURE_1, convergence.TABLE),
)


def tables() -> dict[str, Table]:
    """Return name to table."""
    return {table.name: table for table in TABLES}


def chosen(names: Sequence[str], registry: Mapping[str, Table]) -> list[Table]:
    """Return the tables named, all of them without names, in the order of the registry."""
    for name in names:
        if name not in registry:
            near = difflib.get_close_matches(name, registry, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(near)}?" if near else "see `aucert reproduce --list`"
            raise InputError(f"no table is called {name!r}: {hint}")
    return [table for name, table in registry.items() if not names or name in names]
