"""Where the tests find the papers' real data sets, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NEXT_TO_CLONE = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def require_real(name: str) -> Path:
    """Return the path of `name.npz`, or skip the test.

    It is in the folder AUCERT_DATA, else in `../shared/data` next to the clone.
    """
    path = Path(os.environ.get("AUCERT_DATA", NEXT_TO_CLONE)).expanduser() / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"needs the real data file {name}.npz: set AUCERT_DATA to a folder that has it")
    return path
