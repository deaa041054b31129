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

from ...exact.errors import InputError
from ..data.real_data import real_data_folder
from .interrupts import stopped_at_once
from .pages import Shown, write_index, write_page
from .registry import chosen, tables
from .stored import missing_data, part_key, part_path, plain, read_part, write_part
from .table import Experiment, Job, Part, Results, Run, Table

Progress = Callable[[int, int, str], object]
"""Called after each part with the number done, the number in all, and its name."""


@dataclass(frozen=True)
class Finished:
    """What became of a part: its document, or why there is none."""

    experiment: str
    part: str
    document: Mapping[str, Any] | None = None
    failed: str | None = None


@dataclass
class Gathered:
    """What has come in so far, by experiment and part."""

    done: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)

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
    folder = _made(Path(out))
    plan = _plan(entries, run)
    gathered = Gathered()
    try:
        _gather(plan, run, folder, jobs, gathered, progress)
    finally:  # an interrupt included: what is finished is shown
        shown = [_shown(table, plan[table.experiment.name][1], run, gathered) for table in entries]
        for item in shown:
            write_page(folder, item)
        write_index(folder, shown)
    return shown


Plan = dict[str, tuple[Experiment, tuple[Part, ...]]]


def _plan(entries: Sequence[Table], run: Run) -> Plan:
    """Return the experiments of the tables, each once, with their parts."""
    plan: Plan = {}
    for experiment in (table.experiment for table in entries):
        parts = tuple(experiment.parts(run, experiment.spent(run.profile)))
        if len({part.key for part in parts}) < len(parts):
            raise ValueError(f"{experiment.name}: two parts have one key")
        plan.setdefault(experiment.name, (experiment, parts))
    return plan


def _gather(
    plan: Plan,
    run: Run,
    folder: Path,
    jobs: int,
    gathered: Gathered,
    progress: Progress | None,
) -> None:
    """Run the parts that are to be run, and note what became of each."""
    todo: list[tuple[Experiment, Part]] = []
    for experiment, parts in plan.values():
        for part in parts:
            reason = missing_data(part, run)
            if reason is not None:
                gathered.missing[experiment.name, part.key] = reason
            else:
                todo.append((experiment, part))
    with closing(_finished(todo, run, folder, jobs)) as results:
        for count, item in enumerate(results, start=1):
            at = (item.experiment, item.part)
            if item.document is not None:
                gathered.done[at] = item.document
            else:
                gathered.failed[at] = item.failed or "failed"
            if progress is not None:
                progress(count, len(todo), f"{item.experiment} {item.part}")


def _finished(
    todo: Sequence[tuple[Experiment, Part]], run: Run, folder: Path, jobs: int
) -> Generator[Finished, None, None]:
    """Yield the parts as they are done; with one job nothing is started elsewhere."""
    if jobs == 1 or len(todo) < 2:
        for experiment, part in todo:
            yield run_part(experiment, part, run, folder)
        return
    parallel = joblib.Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered")
    tasks = (joblib.delayed(run_part)(*item, run, folder) for item in todo)
    yield from parallel(tasks)  # type: ignore[misc]


def run_part(experiment: Experiment, part: Part, run: Run, folder: Path) -> Finished:
    """Run one part, or read what an equal run has left; write what is new at once."""
    key = part_key(experiment, part, run)
    path = part_path(folder, experiment, part, run)
    document = read_part(path, key)
    if document is not None:
        return Finished(experiment.name, part.key, document)
    job = Job(experiment.name, part, run, experiment.spent(run.profile))
    start = time.perf_counter()
    try:
        with stopped_at_once(), threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gaps are shown instead
            result = plain(experiment.compute(job))
    except Exception as error:
        return Finished(
            experiment.name, part.key, failed=f"{part.key}: {type(error).__name__}: {error}"
        )
    write_part(path, key, result, time.perf_counter() - start)
    document = read_part(path, key)
    if document is None:
        raise InputError(f"{path}: cannot be read again")
    return Finished(experiment.name, part.key, document)


def _shown(table: Table, parts: tuple[Part, ...], run: Run, gathered: Gathered) -> Shown:
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
