"""The tables of ScalingUp."""

from __future__ import annotations

from ..table import Table
from .table1 import TABLE_1
from .table2 import TABLE_2
from .table3 import TABLE_3

TABLES: tuple[Table, ...] = (TABLE_1, TABLE_2, TABLE_3)
