"""Progress of long work on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ....exact.certificate.solution import Step


@contextmanager
def solver_progress(quiet: bool = False, engine: Any = None) -> Iterator[Callable[[Step], None]]:
    """Yield a callback that shows the iterations, the best objective and the gap so far.

    Parameters
    ----------
    quiet : bool
        Show nothing, even on a terminal.
    engine : LocalEngine, optional
        Its passes over the rows are shown, too.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("starting", total=None)
        words = {"step": "starting", "pass": ""}

        def say(kind: str, told: str) -> None:
            words[kind] = told
            progress.update(task, description=words["step"] + words["pass"])

        def show(step: Step) -> None:
            gap = f"gap {step.gap:.2g}"
            say("step", f"step {step.n_iter}  objective {step.primal:.6g}  {gap}")

        def heard(done: int, count: int) -> None:
            say("pass", f"  {done / count:.0%} of a pass")

        if engine is not None:
            engine.heard = heard
        try:
            yield show
        finally:
            if engine is not None:
                engine.heard = None


@contextmanager
def pass_progress(quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function (done, all) for the first pass over the rows: a bar, or None if quiet."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("first pass", total=None)
        yield lambda done, count: progress.update(task, completed=done, total=count)


@contextmanager
def counted_progress(
    of: str, words: Callable[[Any], str], quiet: bool = False
) -> Iterator[Callable[[int, int, Any], None] | None]:
    """Yield a function (done, total, item) that moves a bar, or None where nothing is shown.

    Parameters
    ----------
    of : str
        What is counted.
    words : callable
        Says what was done last: takes its item.
    quiet : bool
        Show nothing, even on a terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task(of, total=None)
        yield lambda done, total, item: bar.update(
            task, completed=done, total=total, description=words(item)
        )
