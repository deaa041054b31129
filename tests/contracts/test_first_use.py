"""What first-time users tripped over: each message or line says what to do next."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from aucert.exact import (
    ROCSVMCV,
    Problem,
    Ridge,
    Rows,
    certify,
    lam_from_C,
    regularization_path,
    solve,
)
from aucert.exact.errors import InputError
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.solvers.qp import QP
from aucert.validation import theorem4
from aucert.validation.commands import problems
from aucert.validation.commands.endings import counted_progress
from command import Command
from on_disk import write

RNG = np.random.default_rng(5)
Y = np.arange(40) % 3 == 0
X = RNG.normal(size=(40, 2)) + Y[:, None]


def test_a_column_of_text_is_named() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame({"age": X[:, 0], "town": np.where(Y, "Ulm", "Bonn")})
    for rows in (frame, frame.astype(object)):
        with pytest.raises(InputError, match="town"):
            solve(rows, Y, 0.1)
        with pytest.raises(InputError, match="town"):
            certify(rows, Y, 0.1, w=np.zeros(2))
        with pytest.raises(InputError, match="town"):
            regularization_path(rows, Y, [0.1])


def test_no_message_prints_an_array_or_a_long_number() -> None:
    bound: Any = theorem4
    for call in (
        lambda: bound(X, Y, X[:, 0]),
        lambda: solve(X, Y, X[:, 0]),
        lambda: solve(X, Y, 10**400),
        lambda: solve(X, Y, 0.1, method=X),
        lambda: solve(X, Y, 0.1, kernel=X),
        lambda: ROCSVMCV(cv=X).fit(X, Y),
        lambda: lam_from_C(cast(Any, X), 10),
        lambda: Problem(Rows(X), cast(Any, X), Ridge(0.1)),
    ):
        with pytest.raises(InputError) as refused:
            call()
        assert len(str(refused.value)) < 250 and "\n" not in str(refused.value)
    with pytest.raises(InputError, match="of_landmarks"):
        bound(X, Y, 0.1)
    with pytest.raises(InputError, match=r"must be a number, not an array of shape \(40,\)"):
        bound(X, Y, X[:, 0])
    for meant, call in (
        ("descent", lambda: solve(X, Y, 0.1, method="decsent")),
        ("svm-rank", lambda: lam_from_C(1.0, 10, "svm-rnak")),
        ("union", lambda: nearest_pairs(X, Y, 1, "unoin")),
        ("OSQP", lambda: QP(backend="OSPQ")),
    ):
        with pytest.raises(InputError, match=f"did you mean {meant}"):
            call()


def test_a_row_number_as_a_feature_is_warned_about_in_folders(command: Command) -> None:
    Path("data").mkdir()
    columns = {"a": X[:, 0], "b": X[:, 1], "id": np.arange(40), "label": Y.astype(int)}
    for k, rows in enumerate([slice(0, 0), slice(0, 9), slice(9, 40)]):
        part = {name: values[rows] for name, values in columns.items()}
        write(f"data/part-{k}.parquet", part)
    command("solve data --lam 0.1 --target label")
    assert "id" in command.notes and "row" in command.notes


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_says_what_is_done_and_no_bar_stands_full(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    terminal = Terminal()

    def shown(*words: str) -> str:
        terminal.seek(terminal.truncate(0))
        monkeypatch.setattr(sys, "stderr", terminal)
        command(*words)
        return terminal.getvalue()

    np.savez("few.npz", X=X, y=Y)
    found = shown("solve few.npz --lam 0.1")
    assert "first step over 40 rows" in found and "sample" not in found
    assert "cross-validation in 2 folds" in shown("path few.npz --n-lams 2 --cv 2")
    monkeypatch.setattr(problems, "FEWEST", 40)
    monkeypatch.setattr(problems, "ROWS_PER_COORDINATE", 1)
    assert "a sample of the 40 rows" in shown("solve few.npz --lam 0.1")
    terminal.seek(terminal.truncate(0))
    with counted_progress("parts", "writing") as show:
        assert show is not None
        for done in (1, 2):
            show(done, 2, "one")
            time.sleep(0.15)  # it is drawn ten times a second
    assert "parts: 1 of 2 done  one" in (found := terminal.getvalue())
    assert "parts: 2 of 2 done  writing" in found
