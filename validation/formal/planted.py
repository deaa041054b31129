"""False statements, one of each kind: a true one with a few characters changed.

The proof is left as it is. That Coq stops in it says that the statement matters to the proof; why
each of these is false is said next to it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from .sources import FOLDER


@dataclass(frozen=True)
class Planted:
    """`true` in a theorem or in a definition, to be replaced by `false`, and why that is false."""

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
