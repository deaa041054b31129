"""Formulas that pages and tutorials write in LaTeX are read whole by what sets them on the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loops import each

DOCS = Path(__file__).resolve().parents[2] / "docs"
CODE = re.compile(r"^```(?!\{glossary).*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
DOLLARS = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$(?!\$)([^$]+?)\$", re.DOTALL)
ROLES = re.compile(r":math:`([^`]+)`|\.\. math::((?:.*\n(?=#? {5,}))*.*)")


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
