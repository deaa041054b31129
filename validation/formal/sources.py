"""The Coq files of this folder: their order, their theorems, and false statements to try."""

from __future__ import annotations

import graphlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LIBRARY = "Formal"

# Commands that leave something unproved, or that switch a check of Coq off.
FORBIDDEN = (
    "Admitted admit give_up Axiom Axioms Parameter Parameters Conjecture Conjectures Abort "
    "Unset bypass_check Declare"
).split()

STATED = re.compile(r"^\s*(?:Theorem|Corollary)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """One Coq file: its name without the ending, and its text."""

    name: str
    text: str

    @property
    def code(self) -> str:
        """The text without comments, line by line as before."""
        return without_comments(self.text)

    @property
    def needs(self) -> list[str]:
        """The files of this folder that it imports."""
        lines = re.findall(rf"From {LIBRARY} Require (?:Import|Export)\s+([^.]*)\.", self.code)
        return [name for line in lines for name in line.split()]

    @property
    def theorems(self) -> list[str]:
        """Names of what it states: theorems and corollaries; lemmas are steps on the way."""
        return STATED.findall(self.code)

    @property
    def unproved(self) -> list[str]:
        """Forbidden words in it."""
        words = set(re.findall(r"\w+", self.code))
        return [word for word in FORBIDDEN if word in words]

    def lines_after(self, name: str) -> range:
        """Return the lines, from 1, where what is stated under a name can fail.

        Those of its proof for a theorem; all after it for a definition, which others rely on.
        """
        code = self.code
        start = re.search(rf"^(?P<kind>Theorem|Definition) {name}\b", code, re.MULTILINE)
        if start is None:
            raise KeyError(f"{self.name}.v states no {name}")
        end = re.compile(r"\bQed\.").search(code, start.end())
        last = end.end() if end and start["kind"] == "Theorem" else len(code)
        proof = code.index("Proof.", start.end())
        return range(code.count("\n", 0, proof) + 1, code.count("\n", 0, last) + 2)


def without_comments(text: str) -> str:
    """Return Coq source with each comment, nested ones too, replaced by its line ends."""
    kept, depth, at = [], 0, 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "(*" or (two == "*)" and depth):
            depth, at = depth + (1 if two == "(*" else -1), at + 2
            continue
        if not depth or text[at] == "\n":
            kept.append(text[at])
        at += 1
    return "".join(kept)


def sources(folder: Path = FOLDER) -> list[Source]:
    """Return the Coq files of a folder, each after those that it needs."""
    found = {f.stem: Source(f.stem, f.read_text(encoding="utf-8")) for f in folder.glob("*.v")}
    graph = {name: sorted(found[name].needs) for name in sorted(found)}
    return [found[name] for name in graphlib.TopologicalSorter(graph).static_order()]


@dataclass(frozen=True)
class Planted:
    """A false statement: a true one with `true` in it replaced by `false`, and why that is false.

    The proof is left as it is. That Coq stops in it says that the statement matters to the proof.
    """

    file: str
    theorem: str
    true: str
    false: str
    why: str

    @property
    def key(self) -> str:
        """A name for its file."""
        return f"{self.file}_{self.theorem}"

    def applied(self, text: str) -> str:
        """Return the text of the file with the statement changed."""
        start = re.search(rf"^(?:Theorem|Definition) {self.theorem}\b", text, re.MULTILINE)
        if start is None:
            raise ValueError(f"{self.key}: no such theorem or definition")
        at = start.end()
        end = text.index("Proof." if start[0].startswith("Theorem") else ".\n", at)
        statement = text[at:end]
        if self.true not in statement:
            raise ValueError(f"{self.key}: {self.true!r} is not in the statement")
        return text[:at] + statement.replace(self.true, self.false) + text[end:]


def planted() -> list[Planted]:
    """Return the false statements of `planted.json`."""
    return [Planted(**case) for case in json.loads((FOLDER / "planted.json").read_text("utf-8"))]
