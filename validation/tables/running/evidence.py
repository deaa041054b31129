"""The numbers that pages are made of, one file an experiment, small enough to keep in a project.

    DIR/PROFILE-seedN/EXPERIMENT.jsonl

The first line tells what the file is: experiment, protocol, budget, the command that makes it, what
each part was made with, and the SHA-256 of all lines below it. Then follows a line a part.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....exact.errors import InputError
from ...files.written import finite_json, write_atomically
from ..stored import part_key
from ..table import Experiment, Part, Run

SAVE_EVERY = 60.0  # Seconds after which new parts are written to the evidence while a run goes on.

# Entries of a part's key that all parts of a file share.
_COMMON = ("schema_version", "experiment", "protocol", "budget", "seed", "profile")

# Entries of a part's key that differ from part to part.
_SINGLE = ("part", "parameters", "data_sha256")

Documents = dict[str, dict[str, Any]]  # Key of a part to its document.


def evidence_path(folder: Path, experiment: str, profile: str, seed: int) -> Path:
    """Return where the evidence of an experiment stands."""
    return folder / f"{profile}-seed{seed}" / f"{experiment}.jsonl"


def read_evidence(path: Path) -> Documents:
    """Return the documents of a file of evidence; none if there is no such file."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    first, _, rest = text.partition(b"\n")
    try:
        head = json.loads(first)
        if head["sha256"] != hashlib.sha256(rest).hexdigest():
            raise InputError(f"{path}: the checksum does not fit: restore the file or remove it")
        lines = [finite_json(line) for line in rest.splitlines()]
        return {line["part"]: _document(head, line) for line in lines}
    except (ValueError, KeyError, TypeError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: this is not a file of evidence: remove it") from None


def _document(head: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part's document as its own file has it."""
    key = {name: head[name] for name in _COMMON} | {name: line[name] for name in _SINGLE}
    times = {name: float(line[name]) for name in ("seconds", "cpu_seconds")}
    made = head["made_with"][line["made_with"]]
    return {"key": key, "result": dict(line["result"]), **times, "environment": made}


def write_evidence(path: Path, documents: Iterable[Mapping[str, Any]]) -> None:
    """Write the documents of finished parts of one experiment, at least one, as evidence."""
    documents = list(documents)
    made: list[Any] = []
    lines = []
    for document in documents:
        if document["environment"] not in made:
            made.append(document["environment"])
        line = {name: document["key"][name] for name in _SINGLE}
        line |= {name: round(document[name], 4) for name in ("seconds", "cpu_seconds")}
        line |= {"made_with": made.index(document["environment"]), "result": document["result"]}
        lines.append(_line(line))
    rest = "".join(lines).encode()
    head = {name: documents[0]["key"][name] for name in _COMMON}
    profile, seed = head["profile"], head["seed"]
    head |= {
        "command": f"aucert reproduce --profile {profile} --seed {seed} --evidence DIR",
        "parts": len(lines),
        "made_with": made,
        "sha256": hashlib.sha256(rest).hexdigest(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write(_line(head).encode() + rest))


def _line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


@dataclass
class EvidenceFolder:
    """Finished parts as evidence: found before a run, added to while it goes on."""

    folder: Path | None
    run: Run
    _known: dict[str, Documents] = field(default_factory=dict)
    _new: set[str] = field(default_factory=set)
    _saved: float = field(default_factory=time.monotonic)

    def find(self, experiment: Experiment, part: Part) -> dict[str, Any] | None:
        """Return the document of a part, or None if there is none of this protocol.

        Of a part whose data are not here, the checksums of the data cannot be compared.
        """
        document = self._documents(experiment.name).get(part.key)
        if document is None:
            return None
        key = part_key(experiment, part, self.run)
        if not key["data_sha256"]:
            key["data_sha256"] = document["key"]["data_sha256"]
        return document if document["key"] == key else None

    def add(self, document: dict[str, Any]) -> None:
        """Take in a part that was just finished; write the files now and then."""
        if self.folder is None:
            return
        key = document["key"]
        known = self._documents(key["experiment"])
        for part in [p for p, kept in known.items() if _differ(kept["key"], key)]:
            del known[part]
        known[key["part"]] = document
        self._new.add(key["experiment"])
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Write the file of each experiment that has new parts."""
        for name in sorted(self._new):
            documents = sorted(self._known[name].values(), key=lambda item: item["key"]["part"])
            write_evidence(self._path(name), documents)
        self._new.clear()
        self._saved = time.monotonic()

    def _documents(self, experiment: str) -> Documents:
        if experiment not in self._known:
            at = None if self.folder is None else self._path(experiment)
            self._known[experiment] = {} if at is None else read_evidence(at)
        return self._known[experiment]

    def _path(self, experiment: str) -> Path:
        if self.folder is None:
            raise ValueError("there is no folder of evidence")
        return evidence_path(self.folder, experiment, self.run.profile, self.run.seed)


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return any(one[name] != other[name] for name in _COMMON)
