"""The page of abstracts and conclusions is that of the recorded verdicts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).resolve().parents[2] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sentences_page", DOCS / "sentences.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_recorded_verdicts() -> None:
    made = script().page()
    assert (DOCS / "sentences.md").read_text(encoding="utf-8") == made, (
        "run python docs/sentences.py"
    )
