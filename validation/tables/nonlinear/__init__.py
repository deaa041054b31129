"""The tables and the figure of Nonlinear."""

from __future__ import annotations

from ..table import Table
from .figure1 import FIGURE_1
from .table1 import TABLE_1
from .table4 import TABLE_4
from .table23 import TABLE_2, TABLE_3

TABLES: tuple[Table, ...] = (TABLE_1, TABLE_2, TABLE_3, TABLE_4, FIGURE_1)
