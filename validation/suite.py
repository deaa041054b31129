"""Running the claims, resumable and in parallel. Each claim that gave a verdict is written to
OUT/claims.jsonl at once and used again by a later run with the same files of the library, evidence
and all, the same real data, versions, seed and profile."""

import hashlib
import itertools
import json
import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from .. import __version__
from ..exact.errors import InputError
from ..exact.tools.arrays import check_choice, check_count
from . import effects, reruns
from .claims import claim, recorded
from .claims.claim import Claim, Context, Outcome, Verdict
from .commands.endings import finish, stopped_at_once
from .data.datasets import real_data_folder
from .extremes import NaNError, has_nan
from .files.written import check_name, made_folder, plain_json
from .report.document import Report, Row, environment
from .store import Log, file_sha256, finished, sha256_of

SCHEMA_VERSION = 3
ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("exact", "approx", "validation")
MADE = ("__pycache__", ".pyc", ".pyo", ".nbi", ".nbc")  # byte code and caches

recorded.enter_all()
effects.enter_all()
reruns.enter_reruns()


def claims(
    registry: Mapping[str, Claim] | None = None, only: str | Sequence[str] = ()
) -> list[Claim]:
    """Return claims, paper by paper, those of one paper in the order of being entered."""
    known = claim.REGISTRY if registry is None else registry
    only = [only] if isinstance(only, str) else only
    for name in only:
        check_name("claim", name, known, "see `aucert validate --list`")
    found = (entry for entry in known.values() if not only or entry.name in only)
    return sorted(found, key=lambda entry: claim.FILED.index(entry.paper))


def run(
    only: str | Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    progress: Callable[..., object] | None = None,
    registry: Mapping[str, Claim] | None = None,
    first: Callable[[Report], object] | None = None,
) -> Report:
    """Run the claims and write the report, which `first` hears of before. Of each claim `progress`
    gets the number done, that in all, and the row. A run of some claims is merged into the report
    of more that the folder has, where these were run alike; else it is written to OUT/only."""
    chosen = claims(registry, only)
    check_choice("profile", profile, claim.PROFILES)
    seed, jobs = check_count("seed", seed, 0), check_count("jobs", jobs)
    folder, start = None if out is None else made_folder(out), time.perf_counter()
    log = Log(None if folder is None else folder / "claims.jsonl")
    keys = {entry.name: _key(entry, seed, profile) for entry in chosen}
    rows, earlier = dict[str, Row](), _earlier(log, keys)
    todo = [(entry, seed, profile) for entry in chosen if entry.name not in earlier]
    with closing(finished(run_claim, todo, jobs)) as results:
        for row in itertools.chain(earlier.values(), results):
            if row.name not in earlier and row.verdict != claim.ERROR:
                log.add({"key": keys[row.name], "row": asdict(row)})
            rows[row.name] = row
            if progress is not None:
                progress(len(rows), len(chosen), row)
    made = tuple(rows[entry.name] for entry in chosen)
    about = seed, profile, __version__, library_sha256(), environment()
    report = Report(made, *about, time.perf_counter() - start)
    if first is not None:
        first(report)
    if folder is not None:
        finish()
        report = replace(report, folder=_write(report, folder, log, claims(registry)))
    return report


def _write(report: Report, folder: Path, log: Log, entries: list[Claim]) -> Path:
    """Write the report, with the other claims of an earlier one; return the folder of it."""
    rows, path = {row.name: row for row in report.rows}, folder / "claims.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        before = {row["name"] for row in document["claims"]}
    except (OSError, ValueError, KeyError, TypeError):  # a file that is not a report stays as it is
        before = {path.name} if path.exists() else set[str]()
    if not before <= set(rows) and len(rows) < len(entries):
        keys = {entry.name: _key(entry, report.seed, report.profile) for entry in entries}
        rows = _earlier(log, keys) | rows
        if before <= set(rows):
            report = replace(report, rows=tuple(rows[name] for name in keys if name in rows))
        else:  # of other code, data, seed or profile: it stays as it is
            folder = folder / "only"
    report.write(folder)
    return folder


def run_claim(entry: Claim, seed: int, profile: str) -> Row:
    """Run one claim; what its function raises becomes a row, and is never swallowed."""
    start, context = time.perf_counter(), Context(entry.name, seed, profile)

    def row(outcome: Outcome, expected: Verdict = entry.expected_verdict) -> Row:
        taken = vars(entry) | vars(outcome) | {"expected_verdict": expected}
        del taken["run"], taken["needs"]
        taken |= {"seed": seed, "profile": profile, "version": __version__}
        taken |= {"seconds": time.perf_counter() - start, "data": context.used}
        for name in ("printed", "turned_by"):
            taken[name] = getattr(outcome, name) or getattr(entry, name)
        taken["figures"] = [*map(asdict, outcome.figures)]
        # Through JSON and back: a fresh row and one read from its file are then the same.
        return Row.from_document(json.loads(json.dumps(taken, allow_nan=False, default=plain_json)))

    if (why := entry.missing) is not None:
        return row(Outcome(Verdict.NOT_TESTABLE, why), Verdict.NOT_TESTABLE)
    try:
        with stopped_at_once(), threadpool_limits(1):
            outcome = entry.run(context)
        for where, value in {"measured": outcome.measured, **outcome.details}.items():
            if has_nan(value) or (isinstance(value, str) and re.search(r"\bnan\b", value)):
                raise NaNError(f"{where} is NaN: nothing can be judged by it")
        if outcome.verdict not in claim.vocabulary(entry.kind):
            raise ValueError(f"{outcome.verdict} is not a verdict of a {entry.kind}")
        return row(outcome)
    except Exception as error:
        details = {"traceback": "".join(traceback.format_exception(error))}
        return row(Outcome(claim.ERROR, f"{type(error).__name__}: {error}", details=details))


def _key(entry: Claim, seed: int, profile: str) -> dict[str, Any]:
    """Return all that a verdict depends on: a row of another key is never used again."""
    key: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "name": entry.name}
    key |= {"version": __version__, "library_sha256": library_sha256()}
    key |= {"data_sha256": data_sha256(), "environment": environment()}
    return key | {"seed": seed, "profile": profile, "missing": entry.missing}


def _earlier(log: Log, keys: Mapping[str, Any]) -> dict[str, Row]:
    """Return the rows of equal runs, by name; what raised is not kept."""
    known = {name: document for name, key in keys.items() if (document := log.find(key))}
    rows = {name: Row.from_document(document["row"]) for name, document in known.items()}
    return {name: replace(row, taken_over=True) for name, row in rows.items()}


@cache
def library_sha256() -> str:
    """Return the fingerprint of the library that this process runs: `files_sha256`, taken once."""
    return files_sha256(ROOT)


def files_sha256(root: Path) -> str:
    """Return the fingerprint of the files of a library in the folder `root`, source and numbers,
    for verdicts rest on both. What is hidden or in `MADE` does not count."""
    rooms, found = ((root / room).rglob("*") for room in ROOMS), {}
    for path in itertools.chain(root.glob("*.py"), *rooms):
        inside = path.relative_to(root)
        if path.is_file() and not any(p.startswith(".") or p.endswith(MADE) for p in inside.parts):
            found[inside.as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sha256_of(found)


def data_sha256() -> str | None:
    """Return the fingerprint of the real data at hand; None without a folder of them."""
    try:
        folder = real_data_folder()
    except InputError:  # a folder that is not there: claims that need it say so
        return "no such folder"
    if folder is None:
        return None
    files = (path for path in folder.glob("*.npz") if path.is_file())
    return sha256_of({path.name: file_sha256(path) for path in files})
