"""Finished work, kept: a log that grows by a line a piece, so that a kill loses the piece at hand;
and evidence, sealed by the checksum in its first line, which says what the file is."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..exact.errors import InputError
from .files.written import finite_json, write_atomically

SCHEMA_VERSION = 2
EVIDENCE = Path(__file__).resolve().parent / "evidence"  # What the project keeps.
NO_FOLDER = "no folder of real data: give --data-dir, or set AUCERT_DATA"

# Entries of a part's key that all parts of a file of evidence share, and those that differ.
_COMMON = ("schema_version", "experiment", "protocol", "budget", "seed", "profile")
_SINGLE = ("part", "parameters", "data_sha256")
_TIMES = ("seconds", "cpu_seconds")

Document = dict[str, Any]
Result = TypeVar("Result")


def sha256_of(content: Any) -> str:
    """Return the fingerprint of what JSON can say."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def file_sha256(path: str | Path) -> str:
    """Return the fingerprint of a file, read again only after it has changed."""
    status = os.stat(path)
    return _file_sha256(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _file_sha256(path: str | Path, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain(value: Any) -> Any:
    """Return the value as JSON has it: NumPy numbers made plain, NaN and infinity None."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Log:
    """Documents with a "key", a line each with its checksum: a torn or edited line is not there.
    Without a path they are forgotten."""

    def __init__(self, path: Path | None):
        self.path = path
        self._known: dict[str, Document] = {}
        lines = path.read_bytes().splitlines() if path is not None and path.exists() else []
        for line in lines:
            try:
                document = finite_json(line)
                whole = document.pop("sha256") == sha256_of(document)
                key = sha256_of(document["key"])
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if whole:
                self._known[key] = document

    def find(self, key: Any) -> Document | None:
        return self._known.get(sha256_of(key))

    def add(self, document: Document) -> Document:
        """Append a document; return it as a later run will read it."""
        text = json.dumps(document | {"sha256": sha256_of(document)}, allow_nan=False)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:  # the empty line ends one that a kill has torn
                file.write(f"\n{text}\n".encode())
        kept = json.loads(json.dumps(document))
        self._known[sha256_of(kept["key"])] = kept
        return kept


def read_evidence(path: Path) -> dict[str, Document]:
    """Return the documents of a file of evidence by part; none if the file does not exist."""
    found: dict[str, Document] = {}
    if not path.exists():
        return found
    first, _, rest = path.read_bytes().partition(b"\n")
    try:
        head = json.loads(first)
        if head["sha256"] != hashlib.sha256(rest).hexdigest():
            raise InputError(f"{path}: the checksum does not fit: restore the file or remove it")
        for line in map(finite_json, rest.splitlines()):
            key = {name: head[name] for name in _COMMON} | {name: line[name] for name in _SINGLE}
            document = {"key": key, "result": dict(line["result"])}
            document |= {name: float(line[name]) for name in _TIMES}
            document["environment"] = head["made_with"][line["made_with"]]
            found[line["part"]] = document
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError(f"{path}: this is not a file of evidence: remove it") from None
    return found


def write_evidence(path: Path, done: dict[str, Document]) -> None:
    """Add finished parts to evidence if some are new; those of another protocol or budget go."""
    kept = read_evidence(path)
    new = [document for part, document in done.items() if kept.get(part) != document]
    if not new:
        return
    common = {name: new[0]["key"][name] for name in _COMMON}
    same = {p: d for p, d in kept.items() if common.items() <= d["key"].items()}
    made, lines = list[Any](), []
    for _, document in sorted((same | done).items()):
        if document["environment"] not in made:
            made.append(document["environment"])
        line = {name: document["key"][name] for name in _SINGLE}
        line |= {name: round(document[name], 4) for name in _TIMES}
        line |= {"made_with": made.index(document["environment"]), "result": document["result"]}
        lines.append(_line(line))
    rest = b"".join(lines)
    command = "aucert reproduce --profile {profile} --seed {seed} --evidence DIR".format(**common)
    head = common | {"command": command, "parts": len(lines), "made_with": made}
    head["sha256"] = hashlib.sha256(rest).hexdigest()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write(_line(head) + rest))


def _line(content: Document) -> bytes:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


# One loop over pieces of work: in this process, or in several, which hear of no interrupt. Every
# piece draws its random numbers from its own name and runs with one thread, so neither the order
# nor the number of processes changes a number, only the seconds.


def finished(
    work: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], jobs: int
) -> Generator[Result, None, None]:
    """Yield what `work` makes of each piece, as it is done."""
    if jobs == 1 or len(pieces) < 2:
        yield from itertools.starmap(work, pieces)
        return
    import joblib  # not where nothing is run

    # By itself joblib hands out quick pieces in ever larger batches, and then as many long ones to
    # a single process.
    asked: Any = {"backend": "loky", "return_as": "generator_unordered", "batch_size": 1}
    parallel = joblib.Parallel(n_jobs=jobs, **asked)
    with _unheard_by_workers():
        results: Any = parallel(joblib.delayed(work)(*piece) for piece in pieces)
    yield from results


@contextmanager
def _unheard_by_workers() -> Iterator[None]:
    """Let the processes that are started within hear of no interrupt: who started them ends them.
    They would each say so at length, some before they have begun."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend.resource_tracker import ensure_running

    resource_tracker.ensure_running()  # these let interrupts in again once they have started
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
