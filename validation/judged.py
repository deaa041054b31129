"""One claim, run and judged: its row is kept in a folder, and used again by an equal run.

Each finished claim is written to OUT/claims/NAME.json at once and used again by a later run with
the same version of the library, seed and profile; what was read and not run is marked. A file that
was damaged, or edited by hand, is not used: its checksum does not fit. (Who makes a new checksum
too deceives himself: nothing in the user's own folder can be kept from him.)
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import traceback
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .. import __version__
from ..exact.tools.interrupts import stopped_at_once
from .claims.claim import Claim, Context, Outcome, Verdict
from .claims.verdicts import ERROR, vocabulary
from .extremes import NaNError, has_nan
from .files.written_files import write_json
from .report.row import Row

SCHEMA_VERSION = 2


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
        turned_by=outcome.turned_by or entry.turned_by,
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
