"""The command line in this process: what it prints, and what it ends with."""

import json
import shlex
from typing import Any

import pytest

from aucert.validation.cli import main


class Command:
    """Words may be put together in one text, as in a shell."""

    notes = ""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def run(self, *words: object) -> tuple[int, str, str]:
        """Return the exit status, the output and what went to standard error."""
        parts = [shlex.split(w) if " " in (w := str(word)) else [w] for word in words]
        self.capsys.readouterr()
        status = 0
        try:
            main([part for several in parts for part in several])
        except SystemExit as end:
            status = int(end.code or 0)
        out, self.notes = self.capsys.readouterr()
        return status, out, self.notes

    def __call__(self, *words: object) -> str:
        """Return the output of a command that ends well."""
        status, out, notes = self.run(*words)
        assert status == 0, notes
        return out

    def json(self, *words: object) -> dict[str, Any]:
        return json.loads(self(*words, "--json"))

    def refused(self, *words: object) -> str:
        """Return the one line in which a command refuses its input."""
        status, out, notes = self.run(*words)
        assert (status, out, notes.count("\n")) == (2, "", 1), (words, status, out, notes)
        assert notes.startswith("aucert: "), notes
        return notes
