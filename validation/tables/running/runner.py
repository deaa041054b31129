"""Running tables: part by part, resumable after a kill at any moment, in parallel if wanted.

Every part draws its random numbers from (seed, experiment, purpose) and runs with one thread, so
neither the order nor the number of processes changes a number, only the seconds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from ....exact.errors import InputError
from ....exact.tools.interrupts import finish, stopped_at_once
from ...data.real_data import real_data_folder
from ...workers import unheard_by_workers
from ..pages import Shown, write_index, write_page
from ..planning import FULL_LIMIT, Estimate, Plan, estimates, in_order, planned
from ..stored import missing_data, part_key, part_path, plain, read_part, write_part
from ..table import Experiment, Job, Part, Results, Run, Table
from .registry import chosen, tables

Progress = Callable[[int, int, str], object]
"""Called after each part with the number done, the number in all, and its name."""


@dataclass(frozen=True)
class Finished:
    """What became of a part: its document, or why there is none; late if it was not begun."""

    experiment: str
    part: str
    document: Mapping[str, Any] | None = None
    failed: str | None = None
    late: bool = False


@dataclass
class Gathered:
    """What has come in so far, by experiment and part; the limit if it was used up."""

    done: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)

    def of(self, kind: str, experiment: str) -> dict[str, Any]:
        """Return key to value of one experiment."""
        found = getattr(self, kind)
        return {part: value for (name, part), value in found.items() if name == experiment}


def reproduce(
    names: Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    data_dir: str | Path | None = None,
    out: str | Path = "aucert-tables",
    jobs: int = 1,
    progress: Progress | None = None,
    registry: Mapping[str, Table] | None = None,
    max_time: float | None = None,
) -> list[Shown]:
    """Run tables and write OUT/NAME.md, .csv, .svg and OUT/index.md.

    Parameters
    ----------
    names : names of tables
        All by default.
    profile : {"quick", "full"}
    seed : int
        >= 0.
    data_dir : path, optional
        Folder of the real data; the one that AUCERT_DATA names by default. What is not there is
        shown as missing.
    out : path
        Made if it is not there. Finished parts are kept in OUT/parts and used again.
    jobs : int
        Processes, >= 1.
    progress : function, optional
    registry : dict, optional
        Other tables than the papers'.
    max_time : float, optional
        Seconds, > 0, after which no part is begun; those that run end. By default 12 hours for
        "full", no limit for "quick". What was not begun is named on the pages.

    Returns
    -------
    list of Shown
        In the order of the registry. After an interrupt the pages are written with what is
        there, and `KeyboardInterrupt` goes on.

    Raises
    ------
    InputError
        For an unknown name or profile, a bad number, or a folder that is not there or cannot be
        written.
    """
    entries = chosen(names, tables() if registry is None else registry)
    run = Run(profile, _counted("seed", seed, 0), _folder(data_dir))
    _counted("jobs", jobs, 1)
    plan = planned(entries, run)
    limit = limit_of(profile, max_time)
    folder = _made(Path(out))
    gathered = Gathered()
    try:
        _gather(plan, run, folder, jobs, gathered, progress, limit)
        finish()
    finally:  # an interrupt included: what is finished is shown
        parts = {name: found for name, (_, found) in plan.items()}
        shown = [_shown(t, parts[t.experiment.name], run, gathered, limit) for t in entries]
        for item in shown:
            write_page(folder, item)
        write_index(folder, shown)
    return shown


def estimate(
    names: Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    data_dir: str | Path | None = None,
    out: str | Path = "aucert-tables",
    registry: Mapping[str, Table] | None = None,
) -> list[Estimate]:
    """Return what `reproduce` with these arguments would still take; nothing is run or written."""
    entries = chosen(names, tables() if registry is None else registry)
    run = Run(profile, _counted("seed", seed, 0), _folder(data_dir))
    return estimates(entries, run, Path(out))


def limit_of(profile: str, max_time: float | None) -> float | None:
    """Return the seconds after which no part is begun, or None.

    Raises
    ------
    InputError
        If `max_time` is not above 0.
    """
    if max_time is None:
        return FULL_LIMIT if profile == "full" else None
    if not max_time > 0:
        raise InputError(f"max_time must be above 0 seconds, not {max_time!r}")
    return float(max_time)


def _gather(
    plan: Plan,
    run: Run,
    folder: Path,
    jobs: int,
    gathered: Gathered,
    progress: Progress | None,
    limit: float | None = None,
) -> None:
    """Run the parts that are to be run, and note what became of each."""
    deadline = None if limit is None else time.monotonic() + limit
    todo: list[tuple[Experiment, Part]] = []
    for experiment, part in in_order(plan, run):
        reason = missing_data(part, run)
        if reason is not None:
            gathered.missing[experiment.name, part.key] = reason
        else:
            todo.append((experiment, part))
    with closing(_finished(todo, run, folder, jobs, deadline)) as results:
        for count, item in enumerate(results, start=1):
            at = (item.experiment, item.part)
            if item.document is not None:
                gathered.done[at] = item.document
            elif item.late:
                gathered.late.add(item.experiment)
            else:
                gathered.failed[at] = item.failed or "failed"
            if progress is not None:
                progress(count, len(todo), f"{item.experiment} {item.part}")


def _finished(
    todo: Sequence[tuple[Experiment, Part]],
    run: Run,
    folder: Path,
    jobs: int,
    deadline: float | None = None,
) -> Generator[Finished, None, None]:
    """Yield the parts as they are done; with one job nothing is started elsewhere."""
    if jobs == 1 or len(todo) < 2:
        for experiment, part in todo:
            yield run_part(experiment, part, run, folder, deadline)
        return
    # By itself joblib hands out finished parts, which are only read, by ever larger batches, and
    # then as many long ones to a single process.
    parallel = joblib.Parallel(
        n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1
    )
    tasks = (joblib.delayed(run_part)(*item, run, folder, deadline) for item in todo)
    with unheard_by_workers():
        finished = parallel(tasks)
    yield from finished  # type: ignore[misc]


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
    seconds = (time.perf_counter() - start, time.process_time() - spent)
    write_part(path, key, result, *seconds)
    document = read_part(path, key)
    if document is None:
        raise InputError(f"{path}: cannot be read again")
    return Finished(experiment.name, part.key, document)


def _shown(
    table: Table, parts: tuple[Part, ...], run: Run, gathered: Gathered, limit: float | None
) -> Shown:
    """Return the table with everything that its page says."""
    name = table.experiment.name
    documents = gathered.of("done", name)
    results = Results(
        run,
        table.experiment.spent(run.profile),
        parts,
        {key: document["result"] for key, document in documents.items()},
        gathered.of("missing", name),
        gathered.of("failed", name),
        limit if name in gathered.late else None,
    )
    return Shown.of(table, results, documents)


def _counted(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return value


def _folder(data_dir: str | Path | None) -> Path | None:
    if data_dir is None:
        return real_data_folder()
    folder = Path(data_dir).expanduser()
    if not folder.is_dir():
        raise InputError(f"--data-dir {data_dir}: there is no such folder")
    return folder.resolve()


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error})") from None
    return folder.resolve()
