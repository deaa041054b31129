"""The files of `solve --out`: which are ours to replace, and which somebody else's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ....exact.errors import InputError

WEIGHTS, PROOF, SOLUTION = "weights.csv", "proof.npz", "solution.json"
MODEL, DATA = "model.npz", "data.npz"
OURS = (WEIGHTS, MODEL, PROOF, DATA)


def checksums(folder: Path) -> dict[str, str | None]:
    """Return the SHA-256 of the files beside `solution.json`, by their names."""
    paths = (folder / name for name in OURS)
    return {path.name: _sha256(path) for path in paths if path.exists()}


def check_ours(folder: Path) -> None:
    """Raise if a file that would be replaced was not written by `solve`, or has changed since.

    Raises
    ------
    InputError
    """
    there = [name for name in (*OURS, SOLUTION) if (folder / name).exists()]
    if not there:
        return
    document = _earlier(folder / SOLUTION)
    if document is None:
        raise InputError(
            f"--out {folder}: there is a {there[0]} that aucert has not written: "
            "choose another folder, or move it away"
        )
    files = document.get("files")
    if not isinstance(files, dict):  # a version that kept none
        return
    for name in OURS:
        if name in there and files.get(name) != _sha256(folder / name):
            raise InputError(
                f"--out {folder}: {name} is not the one that aucert has written there: "
                "choose another folder, or move it away"
            )


def _earlier(path: Path) -> dict[str, Any] | None:
    """Return the document of an earlier run, or None if that is not what stands there."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    ours = {"schema_version", "version", "primal", "dual", "data_sha256"}
    return document if isinstance(document, dict) and ours <= document.keys() else None


def _sha256(path: Path) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
