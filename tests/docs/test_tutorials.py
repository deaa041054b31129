"""The tutorials run and show lines of the library; pages name what there is."""

from __future__ import annotations

import ast
import os
import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from loops import each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("[0-9]*.py"))


@pytest.mark.slow
@each("script", TUTORIALS)
def test_a_tutorial_runs_as_it_stands(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    shown: list[int] = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()))
    before = cpu_seconds()
    try:
        runpy.run_path(str(script), run_name="__main__")
        assert shown, "a tutorial has pictures"
    finally:
        plt.close("all")
    assert cpu_seconds() - before < 60, "a tutorial takes less than a minute"


def cpu_seconds() -> float:
    """CPU time of this process and of those it waited for: a busy machine does not change it."""
    return sum(os.times()[:4])


def definitions(source: str) -> set[str]:
    """Names of functions and classes of a module, methods as `Class.method`."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)}
    return found


def shown_lines(text: str) -> list[tuple[str, str]]:
    """File and name of every piece of the library that a page shows."""
    blocks = re.split(r"\.\. literalinclude:: ", text)[1:]
    return [
        (block.splitlines()[0].strip(), re.search(r":pyobject: (\S+)", block)[1])  # type: ignore
        for block in blocks
    ]


@each("script", TUTORIALS[1:], ids=lambda path: path.stem)
def test_a_tutorial_shows_lines_of_the_library(script: Path) -> None:
    shown = shown_lines(script.read_text("utf-8"))
    for file, name in shown:
        assert name in definitions((DOCS / file.lstrip("/")).read_text("utf-8")), (file, name)


def test_relative_links_of_the_pages_lead_somewhere() -> None:
    made = {"_tutorials", "_api", "_results"}
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        if {"_build", *made} & set(page.relative_to(ROOT).parts):
            continue
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
            if "://" in link or link.startswith("_results/"):  # made when the site is built
                continue
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_module_that_a_page_runs_is_there() -> None:
    pages = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    named = {
        (page.name, module)
        for page in pages
        for module in re.findall(r"python -m (aucert[\w.]*)", page.read_text("utf-8"))
    }
    assert [pair for pair in sorted(named) if find_spec(pair[1].rstrip(".")) is None] == []


def test_the_whole_idea_on_one_page_agrees_with_the_library() -> None:
    from aucert.exact import solve

    page = runpy.run_path(str(DOCS / "tutorials" / "00_the_whole_idea.py"), run_name="page")
    rng = np.random.default_rng(0)
    plain, y = rng.normal(size=(200, 3)), np.arange(200) % 2 == 0
    for X, labels, lam in [
        (plain + y[:, None], y, 1e-2),
        (np.rint(plain + y[:, None]), y, 1e-3),  # ties
        (np.repeat(plain[:60], 2, axis=0), np.arange(120) % 3 == 0, 0.1),  # every row twice
        (plain, np.arange(200) == 7, 1e-1),  # one positive
        (plain, y, 1.0),
    ]:
        *_, (_, _, primal, dual) = page["solve"](X, labels, lam, tol=1e-8)
        ours = solve(X, labels, lam).certificate
        assert primal - dual <= 1e-8 * primal
        assert dual <= ours.primal + 1e-12 and ours.dual <= primal + 1e-12
