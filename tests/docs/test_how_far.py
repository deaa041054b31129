"""The picture in README shows what its script computes."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("how_far", ROOT / "docs" / "how_far.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_picture_and_the_sentence_of_the_readme_are_what_the_script_finds(
    tmp_path: Path,
) -> None:
    module = script()
    found = module.rows()
    drawn = (ROOT / "docs" / "_static" / "how-far.svg").read_text("utf-8")
    for name, area, _ in found:
        assert name in drawn and f"AUC {area:.4f}" in drawn
    (_, ours, proved), *others = found
    assert proved <= 1e-9 and max(area for _, area, _ in others) > ours
    gaps = sorted(gap for _, _, gap in others)
    said = re.search(r"are (\d+)\s+to (\d+) % above", (ROOT / "README.md").read_text("utf-8"))
    assert said is not None
    assert [round(100 * gaps[0]), round(100 * gaps[-1], -1)] == [int(x) for x in said.groups()]
    module.draw(found, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 1000
