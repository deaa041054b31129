"""Running tables: part by part, resumable after a kill at any moment, in parallel if wanted.

Every part draws its random numbers from (seed, experiment, purpose) and runs with one thread, so
neither the order nor the number of processes changes a number, only the seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib

from ....exact.errors import InputError
from ....exact.tools.interrupts import finish
from ...data.real_data import real_data_folder
from ...workers import unheard_by_workers
from ..pages import Shown, write_index, write_page
from ..planning import FULL_LIMIT, Estimate, Plan, estimates, in_order, planned
from ..said import Judge
from ..stored import missing_data
from ..table import Experiment, Part, Results, Run, Table
from .evidence import EvidenceFolder
from .part_runs import Finished, run_part
from .registry import chosen, tables

Todo = Sequence[tuple[Experiment, Part]]

# Called after each part with the number done, the number in all, and its name.
Progress = Callable[[int, int, str], object]


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
    evidence: str | Path | None = None,
    judge: Judge | None = None,
) -> list[Shown]:
    """Run tables and write OUT/NAME.md, .csv, .svg and OUT/index.md."""
    entries = chosen(names, tables() if registry is None else registry)
    run = Run(profile, _counted("seed", seed, 0), _folder(data_dir))
    _counted("jobs", jobs, 1)
    plan = planned(entries, run)
    limit = limit_of(profile, max_time)
    folder = _made(Path(out))
    gathered, kept = Gathered(), EvidenceFolder(_named(evidence), run)
    parts = {name: found for name, (_, found) in plan.items()}
    todo = _to_run(plan, run, gathered, kept)  # damaged evidence ends here, and the pages stay
    try:
        _gather(todo, run, folder, jobs, gathered, kept, progress, limit)
        finish()
    finally:  # an interrupt included: what is finished is shown
        kept.save()
        shown = [_shown(t, parts[t.experiment.name], run, gathered, limit, judge) for t in entries]
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
    evidence: str | Path | None = None,
) -> list[Estimate]:
    """Return what `reproduce` with these arguments would still take; nothing is run or written."""
    entries = chosen(names, tables() if registry is None else registry)
    run = Run(profile, _counted("seed", seed, 0), _folder(data_dir))
    kept = EvidenceFolder(_named(evidence), run)
    return estimates(entries, run, Path(out), kept.find)


def limit_of(profile: str, max_time: float | None) -> float | None:
    """Return the seconds after which no part is begun, or None."""
    if max_time is None:
        return FULL_LIMIT if profile == "full" else None
    if not max_time > 0:
        raise InputError(f"max_time must be above 0 seconds, not {max_time!r}")
    return float(max_time)


def _to_run(plan: Plan, run: Run, gathered: Gathered, kept: EvidenceFolder) -> Todo:
    """Note which parts are there and which lack data; return the others."""
    todo: list[tuple[Experiment, Part]] = []
    for experiment, part in in_order(plan, run):
        reason, document = missing_data(part, run), kept.find(experiment, part)
        if document is not None:
            gathered.done[experiment.name, part.key] = document
        elif reason is not None:
            gathered.missing[experiment.name, part.key] = reason
        else:
            todo.append((experiment, part))
    return todo


def _gather(
    todo: Todo,
    run: Run,
    folder: Path,
    jobs: int,
    gathered: Gathered,
    kept: EvidenceFolder,
    progress: Progress | None,
    limit: float | None = None,
) -> None:
    """Run the parts, and note what became of each."""
    deadline = None if limit is None else time.monotonic() + limit
    with closing(_finished(todo, run, folder, jobs, deadline)) as results:
        for count, item in enumerate(results, start=1):
            at = (item.experiment, item.part)
            if item.document is not None:
                gathered.done[at] = item.document
                kept.add(dict(item.document))
            elif item.late:
                gathered.late.add(item.experiment)
            else:
                gathered.failed[at] = item.failed or "failed"
            if progress is not None:
                progress(count, len(todo), f"{item.experiment} {item.part}")


def _finished(
    todo: Todo, run: Run, folder: Path, jobs: int, deadline: float | None = None
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


def _shown(
    table: Table,
    parts: tuple[Part, ...],
    run: Run,
    gathered: Gathered,
    limit: float | None,
    judge: Judge | None,
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
    return Shown.of(table, results, documents, judge)


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


def _named(folder: str | Path | None) -> Path | None:
    return None if folder is None else Path(folder).expanduser().resolve()


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error})") from None
    return folder.resolve()
