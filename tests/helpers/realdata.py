"""Where the tests find the papers' real data sets, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_CLONE = Path(__file__).resolve().parents[2]
_NEXT_TO_CLONE = _CLONE.parent / "shared" / "data"


def real_folder() -> Path | None:
    """Folder of the real data: AUCERT_DATA, else `../shared/data` next to the clone, else None."""
    named = os.environ.get("AUCERT_DATA")
    folder = Path(named).expanduser() if named else _NEXT_TO_CLONE
    return folder if folder.is_dir() else None


def require_real(name: str) -> Path:
    """Return the path of `name.npz`, or skip the test, saying what is not there."""
    folder = real_folder()
    if folder is None:
        pytest.skip(f"needs the real data file {name}.npz: set AUCERT_DATA to a folder that has it")
    path = folder / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"needs the real data file {name}.npz, which is not in {folder}")
    return path
