"""How a command ends where a library, a thread, a disk or a reader of the output gives out."""

from __future__ import annotations

import errno
import sys

import click
import pytest

from aucert.validation.commands.endings import run
from loops import each


def numpys() -> ImportError:
    """As numpy raises it: a page of advice, and the reason as its cause."""
    error = ImportError("\n\nIMPORTANT: PLEASE READ THIS\n\n" * 20)
    error.__cause__ = ImportError("libblas.so: failed to map segment from shared object")
    return error


ENDINGS = {
    "a library": (
        numpys(),
        "a library cannot be loaded (libblas.so: failed to map segment from shared object): is "
        "there enough memory?",
    ),
    "the compiler": (
        OSError("Could not find/load shared object file 'lib.so' from resource location: 'x'."),
        "a compiled library cannot be loaded: is there enough memory?",
    ),
    "a thread": (
        RuntimeError("can't start new thread"),
        "no thread can be started: is there enough memory, and are more processes allowed?",
    ),
    "a full disk below the output": (
        OSError(errno.ENOSPC, "No space left on device"),
        "the output cannot be written: No space left on device",
    ),
    "a full disk": (
        OSError(errno.ENOSPC, "No space left on device", "m.npz"),
        "m.npz: No space left on device",
    ),
}


def ending(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> object:
    @click.command()
    def fails() -> None:
        raise error

    for name in ("stdout", "stderr"):  # click puts others in their place
        monkeypatch.setattr(sys, name, getattr(sys, name))
    with pytest.raises(SystemExit) as found:
        run(fails, [])
    return found.value.code


@each("case", ENDINGS)
def test_what_gives_out_is_one_sentence(case: str, monkeypatch, capsys) -> None:
    error, sentence = ENDINGS[case]
    assert ending(error, monkeypatch) == 2
    assert capsys.readouterr() == ("", f"aucert: {sentence}\n")


def test_a_reader_that_stops_is_no_other_verdict(monkeypatch) -> None:
    assert ending(BrokenPipeError(errno.EPIPE, "Broken pipe"), monkeypatch) == 141
    assert ending(SystemExit(1), monkeypatch) == 1


def test_a_module_that_is_not_there_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError):
        ending(ModuleNotFoundError("No module named 'aucert.nowhere'"), monkeypatch)
