"""The tables and figures of SAUC."""

from __future__ import annotations

from ..table import Table
from .geometry_figures import FIG_1, FIG_2
from .neighbour_figures import FIG_4, FIG_5
from .real_tables import TABLE_3
from .real_times import TABLE_4
from .toy_tables import FIG_2_TOY, FIG_3, TABLE_1, TABLE_2

TABLES: tuple[Table, ...] = (
    *(TABLE_1, TABLE_2, TABLE_3, TABLE_4),
    *(FIG_1, FIG_2, FIG_2_TOY, FIG_3, FIG_4, FIG_5),
)
