"""What is installed is what the repository holds, and the papers around the code agree with it."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import aucert

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(str(aucert.__file__)).resolve().parent
ROOMS = ("exact", "approx", "validation")
SCRIPTS = ("run", "release")
IN_CI = os.environ.get("CI") == "true"


def installed() -> importlib.metadata.Distribution:
    """The installed distribution; never the `aucert.egg-info` that a build leaves in the clone."""
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    found = list(importlib.metadata.distributions(name="aucert", path=places))
    if not found:
        pytest.skip("aucert is not installed in this environment")
    return found[0]


def git(*arguments: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def files_of_the_checkout() -> set[str]:
    """What an install should copy: the files git knows, or would, in the root and the rooms."""
    if not git("rev-parse", "--git-dir") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nothing to compare the installed files with")
    names = git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    wanted = {n for n in names if re.fullmatch(rf"[^/]+\.py|py.typed|({'|'.join(ROOMS)})/.*", n)}
    coming = "validation/evidence/next/"  # parts of runs under way, not installed
    return {name for name in wanted if (ROOT / name).exists() and not name.startswith(coming)}


def test_installed_files_are_the_files_of_the_checkout() -> None:
    distribution = installed()
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        pytest.skip("installed editable: nothing was copied")
    copied = {str(f) for f in distribution.files or () if f.parts[0] == "aucert"}
    copied = {name.removeprefix("aucert/") for name in copied if not name.endswith(".pyc")}
    expected = files_of_the_checkout()
    assert sorted(copied - expected) == [], "left over from an old build/: delete it, install again"
    assert sorted(expected - copied) == [], "not installed: see `packages` in pyproject.toml"


@pytest.mark.skipif(not IN_CI, reason="elsewhere an editable install is welcome")
def test_ci_runs_the_installed_package_and_not_the_checkout() -> None:
    site_packages = Path(sysconfig.get_path("purelib")).resolve()
    assert PACKAGE.is_relative_to(site_packages)


def test_the_package_under_test_is_the_one_a_script_would_import(tmp_path: Path) -> None:
    """pytest imports the root `__init__.py` for itself: see tests/conftest.py."""
    command = [sys.executable, "-c", "import aucert; print(aucert.__file__)"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    import aucert as seen_inside_a_test

    assert seen_inside_a_test.__file__ == run.stdout.strip()


@pytest.mark.parametrize("ending", [".venv/bin/aucert validate", "pytest -n auto --maxprocesses 4"])
def test_the_one_line_commands_of_the_readme_are_what_ci_runs(ending: str) -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (command,) = [line for line in lines if line.endswith(ending)]
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    for name in SCRIPTS:
        assert f"'{command}'" in (ROOT / ".ci" / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+[\w.]*)", changelog, flags=re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert released[0] == aucert.__version__
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [aucert.__version__]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = ROOT / "docs" / "release"
    recipe = (folder / "meta.yaml").read_text(encoding="utf-8")
    assert f'{{% set version = "{aucert.__version__}" %}}' in recipe
    zenodo = json.loads((folder / "zenodo.json").read_text(encoding="utf-8"))
    assert (zenodo["version"], zenodo["license"]) == (aucert.__version__, project["license"])
    needed = {name for name in project["dependencies"] if not name.startswith("ecos")}
    listed = re.findall(r"^    - ([\w-]+) (>=[\d.]+)$", recipe.split("  run:")[1], re.MULTILINE)
    found = {name.removesuffix("-base") + least for name, least in listed}
    assert found - {"python" + project["requires-python"]} == needed
    assert f"aucert = {project['scripts']['aucert']}" in recipe
    assert installed().version == aucert.__version__, "install again"
