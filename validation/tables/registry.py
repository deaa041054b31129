"""All tables and figures, by name, in the order of the papers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ...exact.errors import InputError
from .nonlinear import batch, online, sets
from .sauc import geometry, neighbours, real, toy
from .scaling_up import table1, table2, table3
from .sht import convergence, genes, synthetic
from .table import Table

TABLES = (
    *(table1.TABLE_1, table2.TABLE_2, table3.TABLE_3),
    *(toy.TABLE_1, toy.TABLE_2, real.TABLE_3, real.TABLE_4, geometry.FIG_1, geometry.FIG_2),
    *(toy.FIG_2_TOY, toy.FIG_3, neighbours.FIG_4, neighbours.FIG_5),
    *(synthetic.TABLE_1, synthetic.TABLE_2, genes.TABLE_3, genes.LISTS),
    *(convergence.FIG_1, synthetic.FIG_2, genes.FIG_3, genes.FIG_4),
    *(sets.TABLE_1, batch.TABLE_2, batch.TABLE_3, online.TABLE_4, online.FIGURE_1),
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
