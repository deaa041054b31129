"""The tables and figures of SHT."""

from __future__ import annotations

from ..table import Table
from .convergence_figure import FIG_1
from .gene_tables import FIG_3, TABLE_3
from .marker_tables import FIG_4, LISTS
from .synthetic_tables import FIG_2, TABLE_1, TABLE_2

TABLES: tuple[Table, ...] = (
    *(TABLE_1, TABLE_2, TABLE_3, LISTS),
    *(FIG_1, FIG_2, FIG_3, FIG_4),
)
