"""Formulas of the pages: each is set whole on the site, and each place that a page names exists."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path

import pytest

from aucert.validation.suite import claims
from aucert.validation.tables.run import tables
from loops import each

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLAIN = runpy.run_path(str(DOCS / "plain_formulas.py"))
CODE = re.compile(r"^```(?!\{glossary).*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
DOLLARS = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$(?!\$)([^$]+?)\$", re.DOTALL)
ROLES = re.compile(r":math:`([^`]+)`|\.\. math::((?:.*\n(?=#? {5,}))*.*)")


def resolve(target: str) -> object:
    """Import a module, or an attribute of one, or of a class in it."""
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(parts[:cut])
        try:
            found: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not f"{name}.".startswith(f"{error.name}."):
                raise  # the module is there, and something it needs is not
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(target)


def exists(target: str) -> bool:
    """Whether `claim:NAME`, `table:NAME` or a dotted name of ours is there."""
    kind, _, name = target.rpartition(":")
    if kind:
        return name in {"claim": {entry.name for entry in claims()}, "table": tables()}[kind]
    try:
        resolve(name)
    except (ImportError, AttributeError):
        return False
    return name.startswith("aucert.")


def test_every_place_of_a_formula_exists() -> None:
    lines = (DOCS / "formulas.md").read_text("utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    places = {name for row in rows for name in re.findall(r"`([^`]+)`", row[3])}
    assert places and sorted(name for name in places if not exists(name)) == []


@each(
    ("plain", "expected"),
    [
        ("lam/2 |f|^2", r"\lambda /2 \vert f\vert ^{2}"),
        ("f^", r"\hat{f}"),
        ("f~_B", r"\tilde{f}_{B}"),
        ("n+ n-", "n^{+} n^{-}"),
        ("n+1", "n+1"),
        ("k*/k", "k^{*}/k"),
        ("n^(3/2)", "n^{3/2}"),
        ("sqrt(log(4/delta) / (2B))", r"\sqrt{\log (4/\delta ) / (2B)}"),
        ("w_tau_k", r"w_{\tau _{k}}"),
        ("theta~_B' E", r"\tilde{\theta }_{B}^{\prime } E"),
        ("n x n", r"n \times n"),
        ("K = x x'", r"K = x x^{\prime }"),
        ("<u, v> <= 1", r"\langle u, v\rangle \le 1"),
        ("100,000", "100{,}000"),
        ("xbar_+", r"\bar{x}_{+}"),
    ],
)
def test_plain_formulas_become_latex(plain: str, expected: str) -> None:
    assert PLAIN["latex"](plain) == expected


@each(
    "plain",
    ["ScalingUp", "eq. (4)", "claim:eq-17-as-printed", "aucert.exact", "tests/a.py", "some words",
     "swap(w_l, w_i)", "f(", "x_", "^"],
)  # fmt: skip
def test_what_is_no_formula_stays_as_it_is(plain: str) -> None:
    assert PLAIN["latex"](plain) is None
    assert PLAIN["typeset"](f"a `{plain}` b") == f"a `{plain}` b"


@each("page", PLAIN["PAGES"])
def test_every_span_is_read_and_can_be_drawn(page: str) -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    spans = PLAIN["SPAN"].findall((DOCS / f"{page}.md").read_text("utf-8"))
    formulas = [span for span in spans if not PLAIN["NOT_A_FORMULA"].match(" ".join(span.split()))]
    made = {span: PLAIN["latex"](" ".join(span.replace("\\|", "|").split())) for span in formulas}
    assert [span for span, text in made.items() if text is None] == []
    assert all(convert(text) for text in made.values())


def in_pages() -> dict[str, list[str]]:
    pages = {p.name: CODE.sub("", p.read_text("utf-8")) for p in sorted(DOCS.glob("*.md"))}
    found = {name: DOLLARS.findall(text) for name, text in pages.items()}
    return {name: ["".join(pair) for pair in pairs] for name, pairs in found.items() if pairs}


def in_tutorials() -> dict[str, list[str]]:
    found = {}
    for script in sorted((DOCS / "tutorials").glob("[0-9]*.py")):
        formulas = ["".join(pair) for pair in ROLES.findall(script.read_text("utf-8"))]
        found[script.name] = [re.sub(r"\n#? *", " ", formula) for formula in formulas]
    return found


@each("where", [in_pages, in_tutorials], ids=["pages", "tutorials"])
def test_every_formula_is_read_whole(where) -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    left = {
        (name, formula): convert(formula)
        for name, formulas in where().items()
        for formula in formulas
        if "\\\\" not in formula and re.search(r"\\", re.sub(r"&#?\w+;", "", convert(formula)))
    }
    assert left == {}
