"""Dask's own progress bar on standard error, with what is proved so far beside it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from distributed import Future
from distributed.diagnostics.progress import format_time
from distributed.diagnostics.progressbar import TextProgressBar


class Bar(TextProgressBar):
    """A bar for the tasks of one pass, and a few words."""

    def __init__(self, futures: list[Future], told: str):
        self._told = told
        super().__init__(futures)

    def _draw_bar(self, remaining: int, all: int, **kwargs: Any) -> None:  # dask's own names
        share = 1 - remaining / all if all else 1.0
        bar = "#" * int(self.width * share)
        beside = f" | {self._told}" if self._told else ""
        with suppress(ValueError):  # the terminal may be gone
            sys.stderr.write(
                f"\r[{bar:<{self.width}}] | {share:.0%} of the pass | "
                f"{format_time(self.elapsed)}{beside}"
            )
            sys.stderr.flush()

    def _draw_stop(self, **kwargs: Any) -> None:
        with suppress(ValueError):
            sys.stderr.write("\33[2K\r")
            sys.stderr.flush()


def shown(futures: list[Future], told: str) -> None:
    """Show the bar until all futures are done."""
    Bar(futures, told)
