"""Running the claims: resumable, in parallel if wanted, with the same numbers either way.

Each finished claim is written to OUT/claims/NAME.json at once and used again by a later run with
the same version of the library, seed and profile; what was read and not run is marked. A file that
was damaged, or edited by hand, is not used: its checksum does not fit. (Who makes a new checksum
too deceives himself: nothing in the user's own folder can be kept from him.) Every claim draws its
random numbers from (seed, its own name) and runs with one thread, so neither the order nor the
number of processes changes a number.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from .. import __version__
from ..exact.errors import InputError
from ..exact.tools.interrupts import finish, stopped_at_once
from .claims import all_claims
from .claims.claim import REGISTRY, Claim, Context, Outcome, Verdict
from .claims.row import Row
from .claims.verdicts import ERROR, PAPERS, PROFILES, vocabulary
from .extremes import NaNError, has_nan
from .files.written_files import write_json
from .findings import registry as findings
from .report.document import Report, environment
from .workers import unheard_by_workers

all_claims.enter_all()
findings.enter_all()

SCHEMA_VERSION = 2

Progress = Callable[[int, int, Row], object]
"""Called after each claim with the number done, the number in all, and the row."""


def claims(registry: Mapping[str, Claim] | None = None) -> list[Claim]:
    """Return all claims, paper by paper, those of one paper in the order of being entered."""
    entries = (REGISTRY if registry is None else registry).values()
    return sorted(entries, key=lambda entry: PAPERS.index(entry.paper))


def run(
    only: Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
    registry: Mapping[str, Claim] | None = None,
) -> Report:
    """Run the claims and write the report.

    Parameters
    ----------
    only : names
        Which claims; all by default.
    profile : {"quick", "full"}
        "quick" ends within a minute or two; "full" takes larger samples.
    seed : int
        0 or more.
    jobs : int
        Processes, 1 or more.
    out : path, optional
        Folder for report.html, claims.json and claims/NAME.json; made if it is not there.
        Nothing is written without it.
    progress : function, optional
        Called with (done, total, row) as claims finish.
    registry : mapping of names to claims, optional
        Other claims than those of the papers.

    Returns
    -------
    Report
        Rows in the order of the registry. A claim that raised has the verdict "error", which
        is never the expected one.

    Raises
    ------
    InputError
        For an unknown name or profile, a bad number, or a folder that cannot be written.
    """
    chosen = _chosen(claims(registry), only)
    _check(profile, seed, jobs)
    folder = None if out is None else _made(Path(out))
    start = time.perf_counter()
    rows: dict[str, Row] = {}
    for row in _finished(chosen, seed, profile, jobs, folder):
        rows[row.name] = row
        if progress is not None:
            progress(len(rows), len(chosen), row)
    report = Report(
        rows=tuple(rows[entry.name] for entry in chosen),
        seed=seed,
        profile=profile,
        version=__version__,
        library_sha256=library_sha256(),
        environment=environment(),
        seconds=time.perf_counter() - start,
    )
    if folder is not None:
        finish()
        report.write(folder)
    return report


def _chosen(entries: list[Claim], only: Sequence[str]) -> list[Claim]:
    names = [entry.name for entry in entries]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(near)}?" if near else "see the list of claims"
            raise InputError(f"no claim is called {name!r}: {hint}")
    return [entry for entry in entries if not only or entry.name in only]


def _check(profile: str, seed: int, jobs: int) -> None:
    if profile not in PROFILES:
        raise InputError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")


def _made(folder: Path) -> Path:
    try:
        (folder / "claims").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error})") from None
    return folder


def _finished(
    chosen: Iterable[Claim], seed: int, profile: str, jobs: int, folder: Path | None
) -> Iterator[Row]:
    """Yield the rows as they are done; with one job nothing is started elsewhere."""
    chosen = list(chosen)
    if jobs == 1 or len(chosen) < 2:
        yield from (run_claim(entry, seed, profile, folder) for entry in chosen)
        return
    parallel = joblib.Parallel(
        n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1
    )
    tasks = (joblib.delayed(run_claim)(entry, seed, profile, folder) for entry in chosen)
    with unheard_by_workers():
        finished = parallel(tasks)
    yield from finished


def run_claim(entry: Claim, seed: int, profile: str, folder: Path | None = None) -> Row:
    """Run one claim, or read what an equal run has left in the folder; write what is new."""
    key = {
        "schema_version": SCHEMA_VERSION,
        "name": entry.name,
        "version": __version__,
        "library_sha256": library_sha256(),
        "seed": seed,
        "profile": profile,
        "missing": entry.missing,
    }
    path = None if folder is None else folder / "claims" / f"{entry.name}.json"
    earlier = None if path is None else _read(path, key)
    if earlier is not None:
        return earlier
    with stopped_at_once():
        row = _judged(entry, seed, profile)
    if path is not None:
        content = {"key": key, "row": asdict(row)}
        write_json(path, content | {"sha256": _sha256(content)})
    return row


def _read(path: Path, key: dict[str, Any]) -> Row | None:
    """Return the row of an equal run; None if there is none, or it is damaged, edited or raised."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        whole = document.pop("sha256") == _sha256(document)
        row = replace(Row.from_document(document["row"]), taken_over=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return row if whole and document["key"] == key and row.verdict != ERROR else None


def _sha256(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _judged(entry: Claim, seed: int, profile: str) -> Row:
    """Run the claim's function; what it raises becomes a row, and is never swallowed."""
    start = time.perf_counter()
    expected: str = entry.expected_verdict
    missing = entry.missing
    if missing is not None:
        expected = Verdict.NOT_TESTABLE
        outcome = Outcome(Verdict.NOT_TESTABLE, missing)
    else:
        try:
            with threadpool_limits(1):
                outcome = entry.run(Context(entry.name, seed, profile))
            _refuse_nan(outcome)
            if outcome.verdict not in vocabulary(entry.kind):
                raise ValueError(f"{outcome.verdict} is no verdict of a {entry.kind}")
            if entry.kind == "suite" and outcome.verdict == Verdict.NOT_TESTABLE:
                expected = Verdict.NOT_TESTABLE  # what it would be about is not here
            return _row(entry, seed, profile, start, outcome.verdict, expected, outcome)
        except Exception as error:
            outcome = _raised(error)
            return _row(entry, seed, profile, start, ERROR, expected, outcome)
    return _row(entry, seed, profile, start, outcome.verdict, expected, outcome)


def _refuse_nan(outcome: Outcome) -> None:
    """Raise `NaNError` if NaN is measured anywhere, in words too."""
    for where, value in {"measured": outcome.measured, **outcome.details}.items():
        if has_nan(value) or (isinstance(value, str) and re.search(r"\bnan\b", value)):
            raise NaNError(f"{where} is NaN: nothing can be judged by it")


def _raised(error: Exception) -> Outcome:
    shown = f"{type(error).__name__}: {error}"
    lines = "".join(traceback.format_exception(error))
    return Outcome(Verdict.NOT_TESTABLE, shown, details={"traceback": lines})


def _row(
    entry: Claim,
    seed: int,
    profile: str,
    start: float,
    verdict: str,
    expected: str,
    outcome: Outcome,
) -> Row:
    row = Row(
        name=entry.name,
        paper=entry.paper,
        place=entry.place,
        kind=entry.kind,
        statement=entry.statement,
        formula=entry.formula,
        measured=outcome.measured,
        printed=outcome.printed,
        verdict=str(verdict),
        expected_verdict=str(expected),
        seconds=time.perf_counter() - start,
        tolerance=outcome.tolerance,
        seed=seed,
        profile=profile,
        version=__version__,
        data=outcome.used,
        details=outcome.details,
        timings=outcome.timings,
        figures=outcome.figures,
        quote=entry.quote,
        readings=entry.readings,
        regime=entry.regime,
        tuning=entry.tuning,
        turned_by=outcome.turned_by,
        arithmetic=entry.arithmetic,
    )
    # Through JSON and back: a fresh row and one read from its file are then the same.
    text = json.dumps(asdict(row), allow_nan=False, default=_plain)
    return Row.from_document(json.loads(text))


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def library_sha256() -> str:
    """Return the fingerprint of the library's source: results of other code are never reused."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for room in ("exact", "approx", "validation"):
        for path in sorted((root / room).rglob("*.py")):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
