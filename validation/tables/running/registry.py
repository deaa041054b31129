"""All tables and figures, by name, in the order of the papers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ....exact.errors import InputError
from ..nonlinear import figure1, table1, table4, table23
from ..sauc import geometry_figures, neighbour_figures, real_tables, real_times, toy_tables
from ..scaling_up import table1 as linear
from ..scaling_up import table2 as radial
from ..scaling_up import table3 as real_sets
from ..sht import convergence_figure, gene_tables, marker_tables, synthetic_tables
from ..table import Table

TABLES = (
    *(linear.TABLE_1, radial.TABLE_2, real_sets.TABLE_3),
    *(toy_tables.TABLE_1, toy_tables.TABLE_2, real_tables.TABLE_3, real_times.TABLE_4),
    *(geometry_figures.FIG_1, geometry_figures.FIG_2, toy_tables.FIG_2_TOY, toy_tables.FIG_3),
    *(neighbour_figures.FIG_4, neighbour_figures.FIG_5),
    *(synthetic_tables.TABLE_1, synthetic_tables.TABLE_2, gene_tables.TABLE_3, marker_tables.LISTS),
    *(convergence_figure.FIG_1, synthetic_tables.FIG_2, gene_tables.FIG_3, marker_tables.FIG_4),
    *(table1.TABLE_1, table23.TABLE_2, table23.TABLE_3, table4.TABLE_4, figure1.FIGURE_1),
)


def tables() -> dict[str, Table]:
    """Return name to table."""
    found = {table.name: table for table in TABLES}
    if len(found) < len(TABLES):
        raise ValueError("two tables have one name")
    return found


def chosen(names: Sequence[str], registry: Mapping[str, Table]) -> list[Table]:
    """Return the tables named, all of them without names, in the order of the registry."""
    for name in names:
        if name not in registry:
            near = difflib.get_close_matches(name, registry, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(near)}?" if near else "see `aucert reproduce --list`"
            raise InputError(f"no table is called {name!r}: {hint}")
    return [table for name, table in registry.items() if not names or name in names]
