"""Running one part: with one thread, its warnings kept back, its result written at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ....exact.errors import InputError
from ....exact.tools.interrupts import stopped_at_once
from ..stored import part_key, part_path, plain, provenance, read_part, write_part
from ..table import Experiment, Job, Part, Run


@dataclass(frozen=True)
class Finished:
    """What became of a part: its document, or why there is none; late if it was not begun."""

    experiment: str
    part: str
    document: Mapping[str, Any] | None = None
    failed: str | None = None
    late: bool = False


def run_part(
    experiment: Experiment, part: Part, run: Run, folder: Path, deadline: float | None = None
) -> Finished:
    """Run one part, or read what an equal run has left; write what is new at once.

    After the deadline, on the clock that all processes share, parts are only read.
    """
    key = part_key(experiment, part, run)
    path = part_path(folder, experiment, part, run)
    document = read_part(path, key)
    if document is not None:
        return Finished(experiment.name, part.key, document)
    if deadline is not None and time.monotonic() >= deadline:
        return Finished(experiment.name, part.key, late=True)
    job = Job(experiment.name, part, run, experiment.spent(run.profile))
    start, spent = time.perf_counter(), time.process_time()
    try:
        with stopped_at_once(), threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gaps are shown instead
            result = plain(experiment.compute(job))
    except Exception as error:
        return Finished(
            experiment.name, part.key, failed=f"{part.key}: {type(error).__name__}: {error}"
        )
    times = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - spent}
    made = {"environment": provenance(experiment)}
    write_part(path, {"key": key, "result": result, **times, **made})
    document = read_part(path, key)
    if document is None:
        raise InputError(f"{path}: cannot be read again")
    return Finished(experiment.name, part.key, document)
