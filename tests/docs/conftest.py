"""The site, built once for all tests that look at it: with the tutorials run only for a release."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = shutil.ignore_patterns("_build", "_api", "_tutorials", "_results", "__pycache__")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the tutorials' pictures."""
    return _built(tmp_path_factory.mktemp("site"), "-D", "plot_gallery=0")


@pytest.fixture(scope="session")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as readers get it."""
    return _built(tmp_path_factory.mktemp("whole-site"))


def _built(work: Path, *options: str) -> Path:
    for name in ("sphinx", "myst_parser", "sphinx_gallery", "furo", "latex2mathml", "ziamath"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'aucert[docs]'")
    shutil.copytree(ROOT / "docs", work / "docs", ignore=MADE)
    for room in ("exact", "approx", "validation"):
        (work / room).symlink_to(ROOT / room)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", *options, "docs", "html"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return work / "html"
