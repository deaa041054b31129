"""Pages of the site that are made from the code when it is built, so that they cannot go stale.

API pages from the public names and the docstrings; the command line's options from the commands;
the papers' tables from the evidence; the list of verdicts from the claims.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = {
    "exact": "The problem, stated exactly and solved with a proof of optimality.",
    "approx": "What the papers propose to make it cheap, and the rivals.",
    "validation": "Claims of the papers, and anybody's solver, checked against the exact answers.",
}
UNDERLINE = re.compile(r"-{3,}\s*$")
ENTRY = re.compile(r"[\w, ]+ : \S")
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def sections(docstring: str | None) -> dict[str, list[tuple[str, str, str]]]:
    """Return the sections of a numpy docstring: title to entries (names, type, text)."""
    text = inspect.cleandoc(docstring or "")
    parts = HEADING.split(text)
    return {title: _entries(body) for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def _entries(body: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, list[str]]] = []
    for line in body.strip("\n").splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.append((names.strip(), kind.strip(), []))
        elif found:
            found[-1][2].append(line.strip())
    return [(names, kind, " ".join(text).strip()) for names, kind, text in found]


def public_names(package: str) -> dict[str, Any]:
    """Return the public objects of `aucert.<package>` by name."""
    module = importlib.import_module(f"aucert.{package}")
    return {name: getattr(module, name) for name in module.__all__}


def api_page(package: str) -> str:
    """Return the page of a package: a table of its public names, then each of them."""
    title, names = f"aucert.{package}", public_names(package)
    lines = [title, "=" * len(title), "", PACKAGES[package], "", f".. currentmodule:: {title}", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for name, value in names.items():
        first = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
        first = re.sub(r"\s*\[[^\]]*\]$", "", first)  # the source stands in the full text
        kind = "class" if inspect.isclass(value) else "func" if callable(value) else "data"
        lines += [f"   * - :py:{kind}:`{name}`", f"     - {_escaped(first)}"]
    lines.append("")
    for name, value in names.items():
        if inspect.isclass(value):
            lines += [f".. autoclass:: {name}", *_members(value), ""]
        elif callable(value):
            lines += [f".. autofunction:: {name}", ""]
        else:
            lines += [f".. autodata:: {name}", ""]
    return "\n".join([*lines, ""])


def _members(value: type) -> list[str]:
    """Return the options that show the methods of a class and of its bases within aucert."""
    others = [c.__name__ for c in value.__mro__ if not c.__module__.startswith("aucert")]
    return ["   :members:", f"   :inherited-members: {', '.join(others)}"]


def as_markup(lines: list[str]) -> list[str]:
    """Return the lines of a docstring, which is plain text, as restructured text.

    Formulas stand indented in the text before the sections: they become literal blocks, as do
    tables. Bars, stars and trailing underscores mean themselves.
    """
    end = next((k - 1 for k, line in enumerate(lines) if UNDERLINE.match(line)), len(lines))
    out: list[str] = []
    literal = False
    for line in lines[:end]:
        set_apart = line.startswith(("    ", "| "))
        if set_apart and not literal and not (out and ENTRY.match(out[-1])):
            out += ["", "::", ""]
            literal = True
        elif literal and line.strip() and not set_apart:
            out.append("")
            literal = False
        out.append(f"    {line}" if literal and line.strip() else _escaped(line))
    return out + [_entry(line) for line in lines[end:]]


def _entry(line: str) -> str:
    """Return a line of a section: the names of an entry are left to the parser."""
    names, colon, kind = line.partition(" : ")
    if line.startswith(" ") or not colon:
        return _escaped(line) if line.startswith(" ") else line
    return names + colon + _escaped(kind)


def _escaped(line: str) -> str:
    """Return the line with the characters of markup, outside of backticks, as themselves."""
    if UNDERLINE.match(line):
        return line
    parts = re.split(r"(`+[^`]*`+|\*\*\S[^*]*\*\*)", line)
    for k in range(0, len(parts), 2):
        bullet = re.match(r"\s*\* ", parts[k]) if k == 0 else None
        start = bullet.end() if bullet else 0
        tail = re.sub(r"([|*])", r"\\\1", parts[k][start:])
        parts[k] = parts[k][:start] + re.sub(r"(\w)_(?=\W|$)", r"\1\\_", tail)
    return "".join(parts)


def _cell(text: str) -> str:
    return re.sub(r"(?<!`)\*", r"\\*", text.replace("|", "\\|"))


def command_line_page() -> str:
    """Return a table for each command, from its own options."""
    import click

    from aucert.validation.cli import aucert

    lines = ["# Command line", ""]
    for name, command in aucert.commands.items():
        text = (command.help or "").split("\n\n")[0].replace("\n", " ")
        lines += [f"## aucert {name}\n", f"{text}\n"]
        lines += ["| option | allowed values | default | meaning |", "|---|---|---|---|"]
        for option in command.params:
            if isinstance(option, click.Option):
                allowed = option.type
                kind = ", ".join(allowed.choices) if isinstance(allowed, click.Choice) else ""
                kind = kind or ("" if option.is_flag else allowed.name)
                has = option.default is not None and not option.is_flag and not option.required
                default = f"`{option.default}`" if has else ""
                default = "required" if option.required else default
                if "Sentinel" in default:
                    default = ""
                cells = (f"`{option.opts[0]}`", kind, default, _cell(option.help or ""))
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write all pages; only what changed is touched, so that a second build is quick."""
    pages = {"command-line.md": command_line_page()}
    for package in PACKAGES:
        pages[f"{package}.rst"] = api_page(package)
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def write_results(folder: Path) -> None:
    """Write the papers' tables, from the evidence, and the list of verdicts."""
    from aucert import validation

    evidence = Path(validation.__path__[0]) / "evidence"
    words = ["reproduce", "--profile", "full"]
    command = [sys.executable, "-m", "aucert", *words, "--evidence", str(evidence)]
    subprocess.run([*command, "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
    (folder / "verdicts.md").write_text(verdicts_page(), encoding="utf-8")


def verdicts_page() -> str:
    """Return every statement that is judged, by kind, with its recorded verdict."""
    from aucert.validation import suite

    lines = ["# Every statement and its verdict", ""]
    claims = suite.claims()
    for kind in dict.fromkeys(claim.kind for claim in claims):
        head = "| paper | place | name | statement | verdict |"
        lines += [f"## {kind}", "", head, "|---" * 5 + "|"]
        for claim in claims:
            if claim.kind == kind:
                where = f"{claim.paper} | {_cell(claim.place)} | `{claim.name}`"
                said = f"{_cell(claim.statement)} | {claim.expected_verdict}"
                lines.append(f"| {where} | {said} |".replace("\n", " "))
        lines.append("")
    return "\n".join(lines)
