"""One claim, run and judged: its row is kept in a folder, and used again by an equal run.

Each finished claim is written to OUT/claims/NAME.json at once and used again by a later run with
the same files of the library, evidence and all, the same real data, versions, seed and profile;
what was read and not run is marked. A file that was damaged, or edited by hand, is not used: its
checksum does not fit. (Who makes a new checksum too deceives himself: nothing in the user's own
folder can be kept from him.)
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import traceback
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .. import __version__
from ..exact.errors import InputError
from ..exact.tools.interrupts import stopped_at_once
from .claims.claim import Claim, Context, Outcome, Verdict
from .claims.verdicts import ERROR, vocabulary
from .data.real_data import real_data_folder
from .extremes import NaNError, has_nan
from .files.written import write_json
from .report.document import environment
from .report.row import Row
from .report.severity import SEVERITY
from .tables.stored import file_sha256

SCHEMA_VERSION = 3

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("exact", "approx", "validation")
# Names of folders and ends of files that Python and Numba make: byte code and caches.
MADE = ("__pycache__", ".pyc", ".pyo", ".nbi", ".nbc")


def run_claim(entry: Claim, seed: int, profile: str, folder: Path | None = None) -> Row:
    """Run one claim, or read what an equal run has left in the folder; write what is new."""
    if folder is None:
        with stopped_at_once():
            return _judged(entry, seed, profile)
    path, key = folder / "claims" / f"{entry.name}.json", _key(entry, seed, profile)
    earlier = _read(path, key)
    if earlier is not None:
        return earlier
    with stopped_at_once():
        row = _judged(entry, seed, profile)
    content = {"key": key, "row": asdict(row)}
    write_json(path, content | {"sha256": _sha256(content)})
    return row


def _key(entry: Claim, seed: int, profile: str) -> dict[str, Any]:
    """Return all that a verdict depends on: a row of another key is never used again."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": entry.name,
        "version": __version__,
        "library_sha256": library_sha256(),
        "data_sha256": data_sha256(),
        "environment": environment(),
        "seed": seed,
        "profile": profile,
        "missing": entry.missing,
    }


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
            if outcome.verdict == Verdict.NOT_TESTABLE and _is_absent(entry, outcome):
                expected = Verdict.NOT_TESTABLE
            return _row(entry, seed, profile, start, outcome.verdict, expected, outcome)
        except Exception as error:
            outcome = _raised(error)
            return _row(entry, seed, profile, start, ERROR, expected, outcome)
    return _row(entry, seed, profile, start, outcome.verdict, expected, outcome)


def _is_absent(entry: Claim, outcome: Outcome) -> bool:
    """Whether a claim of ours lacks data or packages that are indeed not here.

    It names them under "absent" in its details, as `Claim.needs` does. To say that it cannot be
    tested is not enough: with its evidence deleted it would be as expected.
    """
    needs = outcome.details.get("absent", ())
    lacking = (replace(entry, needs=(need,)).missing is not None for need in needs)
    return entry.kind == "suite" and bool(needs) and all(lacking)


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
        turned_by=outcome.turned_by or entry.turned_by,
        arithmetic=entry.arithmetic,
        effects=outcome.effects,
        protocol=outcome.protocol,
        severity=SEVERITY.get(entry.name, ""),
    )
    # Through JSON and back: a fresh row and one read from its file are then the same.
    text = json.dumps(asdict(row), allow_nan=False, default=_plain)
    return Row.from_document(json.loads(text))


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


@cache
def library_sha256() -> str:
    """Return the fingerprint of the library that this process runs: `files_sha256`, taken once."""
    return files_sha256(ROOT)


def files_sha256(root: Path) -> str:
    """Return the fingerprint of the files of a library, to be found in the folder `root`.

    Evidence, recorded verdicts and printed numbers count as the source does: verdicts rest on them.
    What is hidden or in `MADE` does not.
    """
    digest = hashlib.sha256()
    rooms = (sorted((root / room).rglob("*")) for room in ROOMS)
    for path in [*sorted(root.glob("*.py")), *(path for room in rooms for path in room)]:
        inside = path.relative_to(root)
        if path.is_file() and not any(p.startswith(".") or p.endswith(MADE) for p in inside.parts):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{inside.as_posix()}\0{content}\0".encode())
    return digest.hexdigest()


def data_sha256() -> str | None:
    """Return the fingerprint of the real data at hand; None without a folder of them."""
    try:
        folder = real_data_folder()
    except InputError:  # a folder that is not there: claims that need it say so
        return "no such folder"
    if folder is None:
        return None
    return _sha256({p.name: _content(p) for p in folder.glob("*.npz")})


def _content(path: Path) -> str:
    try:
        return file_sha256(str(path)) if path.is_file() else "no file"
    except OSError as error:  # claims that need the file say so
        return f"cannot be read: {error}"
