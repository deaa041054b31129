"""The old names of the minorant and of its makers; see `problem.minorant`."""

from __future__ import annotations

from ..problem.minorant import Minorant
from ..problem.risk import LONG_ROWS

__all__ = ["LONG_ROWS", "Minorant", "Witness"]

Witness = Minorant
