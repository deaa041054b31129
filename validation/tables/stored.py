"""One file a finished part: written at once, complete or not at all, and used again.

A part is kept for what its numbers depend on: experiment, protocol number, parameters, budget,
seed, profile and the checksums of its data. The version of the library and the source of the
experiment are recorded beside the numbers, but do not discard them: every moved import would.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...exact.errors import InputError
from ..files.written import finite_json, write_json
from ..report.document import environment
from .table import Experiment, Part, Run

SCHEMA_VERSION = 2

NO_FOLDER = "no folder of real data: give --data-dir, or set AUCERT_DATA"


def missing_data(part: Part, run: Run) -> str | None:
    """Return why a part cannot be run, or None if all its files are there."""
    if not part.needs:
        return None
    if run.data_dir is None:
        return NO_FOLDER
    absent = [f"{name}.npz" for name in part.needs if not (run.data_dir / f"{name}.npz").is_file()]
    return f"not in the data folder: {', '.join(absent)}" if absent else None


def part_key(experiment: Experiment, part: Part, run: Run) -> dict[str, Any]:
    """Return all that a result depends on: results of another key are never used again.

    Checksums of data that are not here are left out.
    """
    here = run.data_dir is not None and missing_data(part, run) is None
    key = {
        "schema_version": SCHEMA_VERSION,
        "experiment": experiment.name,
        "protocol": experiment.protocol,
        "part": part.key,
        "parameters": part.parameters,
        "budget": experiment.spent(run.profile),
        "seed": run.seed,
        "profile": run.profile,
        "data_sha256": {name: file_sha256(str(run.data_dir / f"{name}.npz")) for name in part.needs}
        if run.data_dir is not None and here
        else {},
    }
    return json.loads(json.dumps(key))  # tuples become lists, as they will be in the file


def provenance(experiment: Experiment) -> dict[str, Any]:
    """Return what a result was made with: library, source of the experiment, environment."""
    made = {"version": __version__, "code": code_sha256(experiment)}
    return made | environment() | {"processors": os.cpu_count()}


def code_sha256(experiment: Experiment) -> str:
    """Return the fingerprint of the file that computes the parts, and of those beside it in use."""
    module = sys.modules.get(experiment.compute.__module__)
    if module is None or not getattr(module, "__file__", None):
        return ""
    home = module.__name__.rpartition(".")[0]
    used = {getattr(value, "__module__", None) for value in vars(module).values()}
    names = sorted(name for name in used if isinstance(name, str) and name.startswith(f"{home}."))
    digest = hashlib.sha256()
    for name in dict.fromkeys([module.__name__, *names]) if home else [module.__name__]:
        source = getattr(sys.modules.get(name), "__file__", None)
        if source is not None:
            digest.update(Path(source).read_bytes())
    return digest.hexdigest()


def file_sha256(path: str) -> str:
    """Return the fingerprint of a file, read again only after it has changed."""
    status = os.stat(path)
    return _file_sha256(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _file_sha256(path: str, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_path(folder: Path, experiment: Experiment, part: Part, run: Run) -> Path:
    """Return where a part's file stands: profiles and seeds do not overwrite each other."""
    place = folder / "parts" / experiment.name / f"{run.profile}-seed{run.seed}"
    return place / f"{part.key}.json"


def read_part(path: Path, key: dict[str, Any]) -> dict[str, Any] | None:
    """Return the document of an equal run, or None if there is none or it is damaged."""
    try:
        document = finite_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    fits = isinstance(document, dict) and document.get("key") == key
    return document if fits and isinstance(document.get("result"), dict) else None


def write_part(path: Path, document: dict[str, Any]) -> None:
    """Write the file of a finished part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made ({error.strerror or error})") from None
    write_json(path, document)


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
