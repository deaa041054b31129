"""Running tables: part by part, resumable after a kill at any moment, in parallel if wanted."""

import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ... import __version__
from ...exact.errors import InputError, brief
from ...exact.tools.arrays import check_choice, check_count
from .. import store
from ..commands.endings import finish, stopped_at_once
from ..data.datasets import real_data_folder
from ..files.written import check_name, made_folder
from ..report.document import environment
from ..store import Document
from .pages import Shown, write_pages
from .table import PROFILES, Experiment, Part, Results, Run, Table, experiments, tables

FULL_LIMIT = 12 * 3600.0  # Seconds that the full profile may take by default.


def chosen(names: Sequence[str], registry: Mapping[str, Table]) -> list[Table]:
    for name in names:
        check_name("table", name, registry, "see `aucert reproduce --list`")
    return [table for name, table in registry.items() if not names or name in names]


def cpu_minutes(experiment: Experiment, profile: str) -> float | None:
    """Return the minutes of all parts together, the full profile's by the evidence; or None."""
    if profile == "quick" or (profile == "printed" and experiment.printed_minutes):
        return experiment.quick_minutes if profile == "quick" else experiment.printed_minutes
    kept = store.read_evidence(Run("full").path(store.EVIDENCE, experiment.name)).values()
    return sum(document["cpu_seconds"] for document in kept) / 60 if kept else None


@dataclass
class Gathered:
    """The results of an experiment so far, and where they are kept."""

    experiment: Experiment
    results: Results
    log: store.Log
    evidence: Path | None


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
    check_choice("profile", profile, PROFILES)
    run = Run(profile, check_count("seed", seed, 0), data)
    folder = None if evidence is None else Path(evidence).expanduser().resolve()
    gathered = {}
    for name, experiment in experiments(entries).items():
        results, log = experiment.results(run), store.Log(run.path(Path(out) / "parts", name))
        path = None if folder is None else run.path(folder, name)
        kept = {} if path is None else store.read_evidence(path)
        for part in results.parts:
            absent, document = run.absent(part), kept.get(part.key)
            if not experiment.fits(document, part, run):
                document = None if absent else log.find(experiment.key(part, run))
            if document is not None:
                results.documents[part.key] = document
            elif absent:
                files = ", ".join(f"{name}.npz" for name in absent)
                no_file = f"not in the data folder: {files}"
                results.missing[part.key] = store.NO_FOLDER if data is None else no_file
        gathered[name] = Gathered(experiment, results, log, path)
    return entries, run, gathered


def reproduce(
    *,
    out: str | Path = "aucert-tables",
    jobs: int = 1,
    progress: Callable[..., object] | None = None,
    max_time: float | None = None,
    first: Callable[[list[Shown]], object] | None = None,
    **asked: Any,
) -> list[Shown]:
    """Run tables and write OUT/NAME.md, .csv, .svg and OUT/index.md, when `first` has heard. Of
    each part `progress` gets the number done, that in all, and the name. For others see `begun`."""
    entries, run, gathered = begun(out=out, **asked)  # Damaged evidence ends here: pages stay
    check_count("jobs", jobs)
    limit = limit_of(run.profile, max_time)
    deadline = None if limit is None else time.monotonic() + limit
    folder = made_folder(out).resolve()
    # A part comes when its experiment, run alone, would have reached its end: where time runs out,
    # the most expensive experiments lack their last repetitions and nothing else.
    todo: list[tuple[float, Experiment, Part]] = []
    for item in gathered.values():
        parts, left = item.results.parts, {*item.results.unfinished}
        each = (cpu_minutes(item.experiment, run.profile) or 0.0) / max(len(parts), 1)
        todo += [(each * k, item.experiment, p) for k, p in enumerate(parts, 1) if p.key in left]
    pieces = [(*piece, run, deadline) for _, *piece in sorted(todo, key=lambda piece: piece[0])]
    try:
        with closing(store.finished(run_part, pieces, jobs)) as found:
            for count, (name, key, made) in enumerate(found, start=1):
                results = gathered[name].results
                if isinstance(made, dict):
                    results.documents[key] = gathered[name].log.add(made)
                elif made is None:
                    results.limit = limit
                else:
                    results.failed[key] = made
                if progress is not None:
                    progress(count, len(pieces), f"{name} {key}")
        finish()
    finally:  # an interrupt included: what is finished is shown
        shown = [Shown(table, gathered[table.experiment.name].results) for table in entries]
        if first is not None:
            first(shown)
        for item in gathered.values():
            if item.evidence is not None:
                store.write_evidence(item.evidence, item.results.documents)
        write_pages(folder, shown)
    return shown


def run_part(
    experiment: Experiment, part: Part, run: Run, deadline: float | None
) -> tuple[str, str, Document | str | None]:
    """Run one part; return experiment, part, and its document, or why it failed. After the
    deadline, on the clock that all processes share, it is not begun: None."""
    if deadline is not None and time.monotonic() >= deadline:
        return experiment.name, part.key, None
    start, spent = time.perf_counter(), time.process_time()
    try:
        with stopped_at_once(), threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gaps are shown instead
            result = experiment.measured(part, run)
    except Exception as error:
        return experiment.name, part.key, f"{type(error).__name__}: {error}"
    seconds, cpu = time.perf_counter() - start, time.process_time() - spent
    made: Document = {"version": __version__, "code": code_sha256(experiment)} | environment()
    document: Document = {"key": experiment.key(part, run), "result": result}
    document |= {"seconds": seconds, "cpu_seconds": cpu}
    document["environment"] = made | {"processors": os.cpu_count()}
    return experiment.name, part.key, document


def code_sha256(experiment: Experiment) -> str:
    """Return the fingerprint of the file that computes the parts; empty where there is none."""
    source = getattr(sys.modules.get(experiment.compute.__module__), "__file__", None)
    return store.file_sha256(source) if source else ""


def estimate(**asked: Any) -> list[dict[str, Any]]:
    """Return what each experiment still takes: its tables and parts, how many are done or lack
    data, and minutes by the mean of those measured, None if none was. Arguments: `begun`."""
    entries, run, gathered = begun(**asked)
    found = []
    for name, item in gathered.items():
        results, made = item.results, [e.name for e in entries if e.experiment.name == name]
        minutes, count = cpu_minutes(item.experiment, run.profile), len(results.parts)
        if minutes is not None and count:
            minutes *= len(results.unfinished) / count
        done, missing = len(results.documents), len(results.missing)
        counts = {"parts": count, "done": done, "missing": missing}
        found.append({"tables": made} | counts | {"cpu_minutes": minutes})
    return found


def limit_of(profile: str, max_time: float | None) -> float | None:
    if max_time is None:
        return None if profile == "quick" else FULL_LIMIT
    if not max_time > 0:
        raise InputError(f"max_time must be above 0 seconds, not {brief(max_time)}")
    return float(max_time)
