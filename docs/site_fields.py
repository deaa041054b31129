"""Attributes of docstrings by their full names, and types without links to what only shares a name.

The site's parser takes a trailing underscore for a link, knows one name an attribute only, and
looks every word of a type up: the n of `array (n, d)` would lead to some attribute called n.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import pending_xref, pending_xref_condition

SECTION = "Attributes"


def attributes_apart(lines: list[str]) -> list[str]:
    """Return a docstring in markup whose attributes have an entry each, underscores as they are."""
    out: list[str] = []
    names, kind, text, inside = "", "", [], False

    def close() -> None:
        for name in filter(None, re.split(r",\s*", names)):
            plain = re.sub(r"_$", r"\\_", name)
            out.extend([f"{plain} : {kind}" if kind else plain, *text])

    for k, line in enumerate(lines):
        heads = k + 1 < len(lines) and re.fullmatch(r"-{3,}\s*", lines[k + 1]) is not None
        if heads or re.fullmatch(r"-{3,}\s*", line):
            close()
            names, kind, text, inside = "", "", [], line == SECTION or (inside and not heads)
            out.append(line)
        elif not inside:
            out.append(line)
        elif not line or line.startswith(" "):
            text.append(line)
        elif names.endswith(",") and not text:
            more, _, kind = line.partition(" : ")
            names = f"{names} {more}"
        else:
            close()
            names, _, kind = line.partition(" : ")
            text = []
    close()
    return out


def without_false_links(tree: nodes.document) -> None:
    """Make words of types plain again that no class is named by: classes begin with a capital."""
    for link in list(tree.findall(pending_xref)):
        word = str(link.get("reftarget", "")).rpartition(".")[2]
        of_a_type = link.get("refdomain") == "py" and link.get("reftype") in ("class", "obj")
        of_a_type &= next(link.findall(pending_xref_condition), None) is None  # of a signature
        if of_a_type and not word[:1].isupper():
            link.replace_self(link.children)


def links_to_classes_only(tree: nodes.document) -> None:
    """Make what is left of them plain once links are resolved: some words are looked up late."""
    for link in list(tree.findall(nodes.reference)):
        word = str(link.get("reftitle", "")).rpartition(".")[2]
        of_a_type = bool(link.children) and isinstance(link.children[0], nodes.emphasis)
        if word and of_a_type and not word[:1].isupper():
            link.replace_self(link.children)
