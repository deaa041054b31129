"""A page in the making: cells that are means, and paired tests, as they are entered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .statistics import NamedTest, mean_error, paired_test
from .table import Entry, Page


@dataclass
class Sheet:
    """Entries and tests of a page, in its order."""

    entries: list[Entry] = field(default_factory=list)
    tests: list[NamedTest] = field(default_factory=list)

    def mean(
        self, row: str, column: str, values: np.ndarray, printed: str | None = None, digits: int = 2
    ) -> tuple[float, float] | None:
        """Enter the mean over repetitions beside the print; return it with its error, if any."""
        ours, error = mean_error(values)
        self.entries.append(Entry(row, column, printed, ours, error, values.size, digits))
        return None if ours is None else (ours, error or 0.0)

    def largest(self, row: str, column: str, values: np.ndarray) -> None:
        """Enter the largest of proved upper bounds, where there is one."""
        if values.size:
            text = f"<= {values.max():.1e}"
            self.entries.append(Entry(row, column, None, text, None, values.size))

    def paired(
        self,
        sides: Iterable[np.ndarray],
        names: tuple[str, str],
        unit: str,
        digits: int = 3,
        before: str = "",
        overlap: float = 0.0,
        after: str = "",
    ) -> None:
        """Enter the paired t-test of first minus second, where there are three pairs or more."""
        a, b = sides
        test = paired_test(a, b, overlap) if len(a) == len(b) else None
        if test is not None:
            name = f"{before}{': ' * bool(before)}{' minus '.join(names)}"
            self.tests.append(NamedTest(name, test, unit, digits, after))

    def page(self, differences: tuple[str, ...] = (), **rest: Any) -> Page:
        """Return the page; `rest` are pictures and conclusion."""
        return Page(tuple(self.entries), tuple(self.tests), differences, **rest)
