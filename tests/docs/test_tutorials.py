"""The tutorials run and show lines of the library; pages name what there is."""

from __future__ import annotations

import re
import runpy
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
    try:
        runpy.run_path(str(script), run_name="__main__")
        assert shown, "a tutorial has pictures"
    finally:
        plt.close("all")


def test_relative_links_of_the_pages_lead_somewhere() -> None:
    made = {"_tutorials", "_api", "_results"}
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        if {"_build", *made} & set(page.relative_to(ROOT).parts):
            continue
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
            if "://" in link or link.startswith("_results/"):  # made when the site is built
                continue
            assert (page.parent / link).exists(), f"{page.name}: {link}"


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
