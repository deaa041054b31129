"""Running tables: part by part, resumable after a kill at any moment, in parallel if wanted."""

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ... import __version__
from ...exact.errors import InputError, brief
from ...exact.tools.arrays import check_count
from .. import store
from ..commands.endings import finish, stopped_at_once
from ..data.datasets import real_data_folder
from ..files.written import check_name, made_folder
from ..report.document import environment
from ..store import Document
from . import convergence, nonlinear, sauc, scaling_up, sht  # noqa: F401  they enter tables
from .pages import Judge, Shown, write_pages
from .table import SAID, TABLES, Experiment, Job, Part, Results, Run, Table

FULL_LIMIT = 12 * 3600.0  # Seconds that the full profile may take by default.

Progress = Callable[[int, int, str], object]  # of the number done, that in all, and the name


def tables() -> dict[str, Table]:
    """Return name to table, in the order of tables.toml, which is that of the papers."""
    return {name: TABLES[name] for name in SAID}


def chosen(names: Sequence[str], registry: Mapping[str, Table]) -> list[Table]:
    for name in names:
        check_name("table", name, registry, "see `aucert reproduce --list`")
    return [table for name, table in registry.items() if not names or name in names]


def planned(entries: Iterable[Table], run: Run) -> dict[str, tuple[Experiment, tuple[Part, ...]]]:
    """Return the experiments of tables by name, each once, with their parts."""
    plan = {}
    for experiment in {table.experiment.name: table.experiment for table in entries}.values():
        parts = tuple(experiment.parts(experiment.spent(run.profile)))
        if len({part.key for part in parts}) < len(parts):
            raise ValueError(f"{experiment.name}: two parts have one key")
        plan[experiment.name] = experiment, parts
    return plan


def cpu_minutes(experiment: Experiment, profile: str) -> float | None:
    """Return the minutes of all parts together, the full profile's by the evidence; or None."""
    if profile == "quick" or (profile == "printed" and experiment.printed_minutes):
        return experiment.quick_minutes if profile == "quick" else experiment.printed_minutes
    path = store.evidence_path(store.EVIDENCE, experiment.name, Run("full"))
    kept = store.read_evidence(path).values()
    return sum(document["cpu_seconds"] for document in kept) / 60 if kept else None


@dataclass
class Gathered:
    """What became of the parts of one experiment; late if the limit was used up."""

    experiment: Experiment
    parts: tuple[Part, ...]
    log: store.Log
    evidence: Path | None
    kept: dict[str, Document]  # in the evidence, some perhaps of another protocol
    done: dict[str, Document] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    late: bool = False


def begun(
    names: Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    data_dir: str | Path | None = None,
    out: str | Path = "aucert-tables",
    registry: Mapping[str, Table] | None = None,
    evidence: str | Path | None = None,
) -> tuple[list[Table], Run, dict[str, Gathered]]:
    """Return tables, options, and what the evidence and the folder have of each experiment."""
    entries, data = chosen(names, tables() if registry is None else registry), real_data_folder()
    if data_dir is not None:
        data = Path(data_dir).expanduser().resolve()
        if not data.is_dir():
            raise InputError(f"--data-dir {data_dir}: no such folder")
    run = Run(profile, check_count("seed", seed, 0), data)
    folder = None if evidence is None else Path(evidence).expanduser().resolve()
    gathered = {}
    for name, (experiment, parts) in planned(entries, run).items():
        log = store.Log(store.evidence_path(Path(out) / "parts", name, run))
        path = None if folder is None else store.evidence_path(folder, name, run)
        kept = {} if path is None else store.read_evidence(path)
        item = gathered[name] = Gathered(experiment, parts, log, path, kept)
        for part in parts:
            absent, document = run.absent(part), kept.get(part.key)
            if document is None or not store.fits(document, experiment, part, run):
                document = None if absent else log.find(store.part_key(experiment, part, run))
            if document is not None:
                item.done[part.key] = document
            elif absent:
                files = ", ".join(f"{name}.npz" for name in absent)
                no_file = f"not in the data folder: {files}"
                item.missing[part.key] = store.NO_FOLDER if data is None else no_file
    return entries, run, gathered


def reproduce(
    *,
    out: str | Path = "aucert-tables",
    jobs: int = 1,
    progress: Progress | None = None,
    max_time: float | None = None,
    judge: Judge | None = None,
    first: Callable[[list[Shown]], object] | None = None,
    **asked: Any,
) -> list[Shown]:
    """Run tables and write OUT/NAME.md, .csv, .svg and OUT/index.md, when `first` has heard. The
    other arguments are those of `begun`."""
    entries, run, gathered = begun(out=out, **asked)  # Damaged evidence ends here: pages stay
    check_count("jobs", jobs)
    limit = limit_of(run.profile, max_time)
    deadline = None if limit is None else time.monotonic() + limit
    folder = made_folder(out).resolve()
    # A part comes when its experiment, run alone, would have reached its end: where time runs out,
    # the most expensive experiments lack their last repetitions and nothing else.
    todo: list[tuple[float, Experiment, Part]] = []
    for item in gathered.values():
        each = (cpu_minutes(item.experiment, run.profile) or 0.0) / max(len(item.parts), 1)
        for at, part in enumerate(item.parts, start=1):
            if part.key not in item.done | item.missing:
                todo.append((each * at, item.experiment, part))
    pieces = [(*piece, run, deadline) for _, *piece in sorted(todo, key=lambda piece: piece[0])]
    try:
        with closing(store.finished(run_part, pieces, jobs)) as results:
            for count, (name, key, result) in enumerate(results, start=1):
                item = gathered[name]
                if isinstance(result, dict):
                    item.done[key] = item.log.add(result)
                elif result is None:
                    item.late = True
                else:
                    item.failed[key] = result
                if progress is not None:
                    progress(count, len(pieces), f"{name} {key}")
        finish()
    finally:  # an interrupt included: what is finished is shown
        shown = []
        for table in entries:
            item = gathered[table.experiment.name]
            done = {key: document["result"] for key, document in item.done.items()}
            reached = (done, item.missing, item.failed, limit if item.late else None)
            found = Results(run, item.experiment.spent(run.profile), item.parts, *reached)
            shown.append(Shown(table, found, item.done.values(), judge))
        if first is not None:
            first(shown)
        for item in gathered.values():
            if item.evidence is not None:
                store.write_evidence(item.evidence, item.kept, item.done)
        write_pages(folder, shown)
    return shown


def run_part(
    experiment: Experiment, part: Part, run: Run, deadline: float | None
) -> tuple[str, str, Document | str | None]:
    """Run one part; return experiment, part, and its document, or why it failed. After the
    deadline, on the clock that all processes share, it is not begun: None."""
    if deadline is not None and time.monotonic() >= deadline:
        return experiment.name, part.key, None
    job = Job(experiment.name, part, run, experiment.spent(run.profile))
    start, spent = time.perf_counter(), time.process_time()
    try:
        with stopped_at_once(), threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gaps are shown instead
            result = store.plain(experiment.compute(job))
    except Exception as error:
        return experiment.name, part.key, f"{type(error).__name__}: {error}"
    seconds, cpu = time.perf_counter() - start, time.process_time() - spent
    made: Document = {"version": __version__, "code": code_sha256(experiment)} | environment()
    document: Document = {"key": store.part_key(experiment, part, run), "result": result}
    document |= {"seconds": seconds, "cpu_seconds": cpu}
    document["environment"] = made | {"processors": os.cpu_count()}
    return experiment.name, part.key, document


def code_sha256(experiment: Experiment) -> str:
    """Return the fingerprint of the file that computes the parts; empty where there is none."""
    source = getattr(sys.modules.get(experiment.compute.__module__), "__file__", None)
    return store.file_sha256(source) if source else ""


@dataclass(frozen=True)
class Estimate:
    """What an experiment still takes; the minutes by the mean of those measured, None if none was.
    `done` parts are in the folder or the evidence, `missing` ones lack data."""

    tables: tuple[str, ...]
    parts: int
    done: int
    missing: int
    cpu_minutes: float | None

    @property
    def left(self) -> int:
        return self.parts - self.done - self.missing


def estimate(**asked: Any) -> list[Estimate]:
    """Return what `reproduce` would still take; nothing is run or written. Arguments: `begun`."""
    entries, run, gathered = begun(**asked)
    found = []
    for name, item in gathered.items():
        made = tuple(table.name for table in entries if table.experiment.name == name)
        count, done, missing = len(item.parts), len(item.done), len(item.missing)
        minutes = cpu_minutes(item.experiment, run.profile)
        if minutes is not None and count:
            minutes *= (count - done - missing) / count
        found.append(Estimate(made, count, done, missing, minutes))
    return found


def limit_of(profile: str, max_time: float | None) -> float | None:
    if max_time is None:
        return None if profile == "quick" else FULL_LIMIT
    if not max_time > 0:
        raise InputError(f"max_time must be above 0 seconds, not {brief(max_time)}")
    return float(max_time)
