"""The page of verdicts is that of the recorded ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdicts_page", DOCS / "verdicts.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_page_has_the_recorded_verdicts_and_the_counts_of_planted_mistakes() -> None:
    page, made = (DOCS / "verdicts.md").read_text(encoding="utf-8"), script()
    for part in ("\n".join(made.counts()), made.mutations()):
        assert part in page, "run python docs/verdicts.py"
    for kind in ("theorem", "finding"):
        assert "\n".join(made.stories(kind)) in page, "run python docs/verdicts.py"
