"""Public names explain themselves; formulas, links, tutorials and scripts of the docs work."""

import csv
import inspect
import itertools
import pkgutil
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aucert.validation.suite import claims
from aucert.validation.tables.run import tables
from loops import each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("[0-9]*.py"))
ROOMS = ("exact", "approx", "validation")

PAGES = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "site_pages.py")))

# Their arguments are those of another name, which their docstrings give.
LIKE_ANOTHER = set(
    """C_from_lam GradientDescent IncompleteSAUCSVM NSVMSGD2 SAUCSVM Status
    SubsampledRankSVM ordinal_pairs""".split()
)


@each("room", ROOMS)
def test_public_docstrings_name_every_argument(room: str) -> None:
    for name, value in PAGES.public_names(room).items():
        if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception)):
            text = inspect.getdoc(value) or ""
            asked = inspect.signature(value).parameters if name not in LIKE_ANOTHER else ()
            words = {k for k in asked if k[0] != "_"}
            assert text and words <= {*re.findall(r"\w+", text)}, name


PLAIN = runpy.run_path(str(DOCS / "plain_formulas.py"))
CODE = re.compile(r"^```(?!\{glossary).*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
DOLLARS = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$(?!\$)([^$]+?)\$", re.DOTALL)
ROLES = re.compile(r":math:`([^`]+)`|\.\. math::((?:.*\n(?=#? {5,}))*.*)")


def exists(target: str) -> bool:
    """Whether `claim:NAME`, `table:NAME` or a dotted name of ours is there."""
    kind, _, name = target.rpartition(":")
    if kind:
        return name in {"claim": {entry.name for entry in claims()}, "table": tables()}[kind]
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return False
    return name.startswith("aucert.")


def test_every_place_of_a_formula_exists() -> None:
    lines = (DOCS / "formulas.md").read_text("utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    places = {name for row in rows for name in re.findall(r"`([^`]+)`", row[3])}
    assert places and sorted(name for name in places if not exists(name)) == []
    convert = pytest.importorskip("latex2mathml.converter").convert
    found = list(formulas())
    left = [
        (name, formula)
        for name, formula in found
        if "\\\\" not in formula and "\\" in re.sub(r"&#?\w+;", "", convert(formula))
    ]
    assert left == [] and {name[-3:] for name, _ in found} == {".md", ".py"}


@each("page", PLAIN["PAGES"])
def test_every_span_is_read_and_can_be_drawn(page: str) -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    spans = PLAIN["SPAN"].findall((DOCS / f"{page}.md").read_text("utf-8"))
    formulas = [span for span in spans if not PLAIN["NOT_A_FORMULA"].match(" ".join(span.split()))]
    made = {span: PLAIN["latex"](" ".join(span.replace("\\|", "|").split())) for span in formulas}
    assert [span for span, text in made.items() if text is None] == []
    assert all(convert(text) for text in made.values())


def formulas() -> Iterator[tuple[str, str]]:
    for page in DOCS.glob("*.md"):
        for pair in DOLLARS.findall(CODE.sub("", page.read_text("utf-8"))):
            yield page.name, "".join(pair)
    for script in TUTORIALS:
        for pair in ROLES.findall(script.read_text("utf-8")):
            yield script.name, re.sub(r"\n#? *", " ", "".join(pair))


@pytest.mark.slow
@each("script", TUTORIALS)
def test_a_tutorial_runs_as_it_stands(script: Path, tmp_path: Path, monkeypatch) -> None:
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


SCRIPTS = {
    "scale": "--only threads",
    "peers": "--only logistic",
    "partitions": "--only files --n 100000 --jobs 1",
    "pair_problems": "--only survival",
    "methods": "--only sets --set wdbc --method RankSVM --method ROCSVM",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_benchmark_runs_on_few_rows(script: str, tmp_path: Path) -> None:
    asked = SCRIPTS[script].split()
    parts = [word for before, word in itertools.pairwise(asked) if before == "--only"]
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- table {part} -->\n\n```text\nold\n```\n" for part in parts))
    command = [sys.executable, str(DOCS / "benchmarks" / f"{script}.py"), "--quick", *asked]
    run = subprocess.run([*command, "--out", tmp_path, "--page", page], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()[-2000:]
    for part in parts:
        with (tmp_path / f"{part}.csv").open() as file:
            rows = list(csv.DictReader(file))
        filled = [title for title in rows[0] if any(row[title] for row in rows)]
        assert filled and all(title in page.read_text() for title in filled)
    assert "old" not in page.read_text().split()


@pytest.mark.slow
def test_the_picture_of_the_readme_shows_what_its_script_finds(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "how_far.py"))
    found = script["rows"]()
    drawn = (DOCS / "_static" / "how-far.svg").read_text("utf-8")
    assert all(name in drawn and f"AUC {area:.4f}" in drawn for name, area, _ in found)
    script["draw"](found, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 1000
