"""Pages of the site that are made from the code when it is built, so that they cannot go stale.

API pages from the public names and the docstrings; the command line's options from the commands;
the papers' tables from the evidence; the list of verdicts from the claims.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = {
    "exact": "The problem, stated exactly and solved with a proof of optimality.",
    "approx": "What the papers propose to make it cheap, and the rivals.",
    "validation": "Claims of the papers, and anybody's solver, checked against the exact answers.",
}
NOT_SHOWN = re.compile(r"\.(cli|commands|claims|files|checking\.worker)(\.|$)")
ROOT_MODULES = "root"
"""Name of the page of the modules that stand in no folder of their package."""

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


def modules(package: str) -> list[ModuleType]:
    """Return the modules of a package that the API shows, sorted by name."""
    root = importlib.import_module(f"aucert.{package}")
    names = [info.name for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")]
    kept = [name for name in sorted(names) if not NOT_SHOWN.search(name)]
    return [importlib.import_module(name) for name in kept]


def own_members(module: ModuleType) -> list[str]:
    """Return the public functions and classes that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def api_page(package: str) -> str:
    """Return the page of a package's public names."""
    title = f"aucert.{package}"
    lines = [title, "=" * len(title), "", PACKAGES[package], "", f".. currentmodule:: {title}", ""]
    for name, value in public_names(package).items():
        if inspect.isclass(value):
            lines += [f".. autoclass:: {name}", *_members(value), ""]
        elif callable(value):
            lines += [f".. autofunction:: {name}", ""]
        else:
            lines += [f".. autodata:: {name}", ""]
    lines += ["Modules by room", "---------------", "", ".. toctree::", "   :maxdepth: 1", ""]
    return "\n".join([*lines, *(f"   {name}" for name in rooms(package)), ""])


def rooms(package: str) -> dict[str, list[ModuleType]]:
    """Return the modules to show, by the page that they share: one a folder, one for the rest."""
    found: dict[str, list[ModuleType]] = {}
    for module in modules(package):
        if own_members(module):
            root, _, room = ".".join(module.__name__.split(".")[:3]).rpartition(".")
            alone = module.__name__ == f"{root}.{room}" and not hasattr(module, "__path__")
            found.setdefault(f"{root}.{ROOT_MODULES if alone else room}", []).append(module)
    return found


def _members(value: type) -> list[str]:
    """Return the options that show the methods of a class and of its bases within aucert."""
    others = [c.__name__ for c in value.__mro__ if not c.__module__.startswith("aucert")]
    return ["   :members:", f"   :inherited-members: {', '.join(others)}"]


def room_page(name: str, members: list[ModuleType]) -> str:
    """Return the page of one room: its own sentence, then a section a module."""
    package, room = name.split(".")[1:]
    title = f"{package}: modules outside the rooms" if room == ROOT_MODULES else f"{package}.{room}"
    opening = "" if room == ROOT_MODULES else inspect.getdoc(importlib.import_module(name)) or ""
    lines = [title, "=" * len(title), "", *as_markup(opening.splitlines()), ""]
    return "\n".join([*lines, *(module_section(module, title) for module in members)])


def module_section(module: ModuleType, room: str) -> str:
    """Return the section of one module."""
    title = module.__name__.split(".", 2)[2].removeprefix(f"{room.partition('.')[2]}.")
    lines = [
        title,
        "-" * len(title),
        "",
        *as_markup((inspect.getdoc(module) or "").splitlines()),
        "",
    ]
    public = {id(value) for package in PACKAGES for value in public_names(package).values()}
    for name in own_members(module):
        value = getattr(module, name)
        if id(value) in public:  # described once
            home = f"aucert.{module.__name__.split('.')[1]}"
            lines += [f"* ``{name}``: see the :doc:`public names <{home.split('.')[1]}>`.", ""]
            continue
        kind = "class" if inspect.isclass(value) else "function"
        lines += [f".. auto{kind}:: {module.__name__}.{name}"]
        lines += [*(_members(value) if kind == "class" else []), ""]
    return "\n".join(lines)


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
        pages |= {f"{name}.rst": room_page(name, many) for name, many in rooms(package).items()}
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
