"""The help of every command, and every choice of every option: some are looked up by strings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

from aucert.exact.estimators.thresholds import RULES
from aucert.exact.losses.registry import ALL_LOSSES, LOSSES
from aucert.exact.solvers.choose import NAMES
from aucert.exact.spaces.kernels import kernel_names
from aucert.validation import cli
from aucert.validation.cli import aucert, main

SHORTEST = {
    "solve": "xor --lam 1",
    "path": "xor --n-lams 2",
    "certify": "xor --lam 1 --weights w.npy",
    "predict": "model.npz xor",
    "validate": "--list",
    "check-solver": "--list",
    "bench": "mine.py:fit --data none",  # each run is a process of its own
    "plot": "solved --out picture.svg",
    "reproduce": "--list",
}
"""The least that a command takes."""


def choices() -> Iterator[list[str]]:
    """A command line for each choice of each option."""
    for name, command in aucert.commands.items():
        for option in command.params:
            for choice in option.type.choices if isinstance(option.type, click.Choice) else ():
                yield [name, *SHORTEST[name].split(), option.opts[0], str(choice)]


def status(arguments: list[str]) -> int:
    """How a command line ends; an error that it does not expect is raised."""
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_words_are_those_of_the_library() -> None:
    lists = (
        (cli.FIRST, LOSSES), (cli.LOSSES, ALL_LOSSES), (cli.METHODS, NAMES),
        (cli.KERNELS, kernel_names()), (cli.RULES, RULES),
    )  # fmt: skip
    for words, known in lists:
        assert words.split() == list(known)


@pytest.mark.slow
def test_every_command_has_help_and_takes_every_choice_of_every_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("w.npy", np.zeros(2))
    assert status(["--help"]) == 0
    for name in aucert.commands:
        assert status([name, "--help"]) == 0
        assert name in capsys.readouterr().out
    lines = list(choices())
    assert lines
    for arguments in lines:
        ended = status(arguments)  # 2: what asks for another option, or for larger data
        said = capsys.readouterr()
        assert ended in (0, 2) and bool(said.out) == (ended == 0), (arguments, said)
