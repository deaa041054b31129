"""The results in the docs: whole, of one run, and quoted as they stand."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from aucert.validation.tables.registry import tables
from loops import each

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAMES = tuple(tables())


@pytest.fixture(scope="module")
def result_rows() -> ModuleType:
    spec = importlib.util.spec_from_file_location("result_rows", DOCS / "result_rows.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_quote_the_results_as_they_stand(result_rows: ModuleType) -> None:
    papers = []
    for name in result_rows.PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        papers += [found[2] for found in result_rows.BLOCK.finditer(text)]
        assert result_rows.written(text) == text, f"run python docs/result_rows.py ({name})"
    assert sorted(papers) == sorted({table.paper for table in tables().values()})


@each("profile", ["quick", "full"])
@each("name", NAMES)
def test_every_result_is_there_whole(name: str, profile: str) -> None:
    folder = DOCS / "results" / profile
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert f"aucert reproduce {name} --profile {profile}" in text
    assert f"seed 0, profile {profile}: " in text and "nothing was run" not in text
    assert not re.search(r"parts are not done|parts? failed", text)
    assert (folder / f"{name}.csv").read_text(encoding="utf-8").count("\n") >= 1
    for picture in re.findall(r"\]\(([\w-]+\.svg)\)", text):
        assert (folder / picture).is_file()
    if "--data-dir" in text:
        assert re.search(r"- [\w-]+\.npz: `[0-9a-f]{64}`", text), "no checksum of its data"
