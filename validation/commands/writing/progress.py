"""Progress of one solver on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ....exact.certificate.solution import Step


@contextmanager
def solver_progress(quiet: bool = False) -> Iterator[Callable[[Step], None]]:
    """Yield a callback that shows the iterations, the best objective and the gap so far.

    Parameters
    ----------
    quiet : bool
        Show nothing, even on a terminal.
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

        def show(step: Step) -> None:
            progress.update(
                task,
                description=f"step {step.n_iter}  objective {step.primal:.6g}  gap {step.gap:.2g}",
            )

        yield show
