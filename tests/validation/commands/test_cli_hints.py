"""What the command line says where a table is read otherwise than its owner meant."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.validation.cli import main
from aucert.validation.commands import solve_path as solve_command


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Columns x and kind; "eight" scores high in x, but "three" is the larger word."""
    path = tmp_path / "digits.csv"
    rows = [f"{x},{'eight' if x > 0 else 'three'}" for x in (-2, -1, 1, 2)]
    path.write_text("\n".join(["x,kind", *rows]) + "\n")
    np.save(tmp_path / "w.npy", np.array([1.0]))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        main([str(a) for a in arguments])
        status = 0
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def test_the_positive_label_is_said(capsys, table) -> None:
    _, out, _ = run(capsys, "solve", table, "--lam", 1)
    assert "positive      three\n" in out
    _, out, _ = run(capsys, "solve", table, "--lam", 1, "--positive", "eight", "--json")
    assert json.loads(out)["positive"] == "eight"
    _, out, _ = run(capsys, "solve", "xor", "--lam", 1)
    assert "positive  " not in out


def test_weights_that_rank_the_other_class_higher_are_pointed_out(capsys, table) -> None:
    certify = ["certify", table, "--lam", 1, "--weights", table.with_name("w.npy")]
    status, out, _ = run(capsys, *certify)
    assert status == 0 and out.splitlines()[-1].startswith("An AUC of 0 ranks the other class")
    assert "--positive" in out
    _, out, _ = run(capsys, *certify, "--positive", "eight")
    assert "other class" not in out


def test_text_is_said_to_be_perhaps_the_label(capsys, table) -> None:
    status, _, err = run(capsys, "solve", table, "--lam", 1, "--target", "x")
    assert status == 2 and "'three'" in err and "--target" in err and err.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(
    capsys, table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object, **more: object) -> None:
        raise AssertionError("solved first")

    monkeypatch.setattr(solve_command, "solve_request", never)
    status, _, err = run(capsys, "solve", table, "--lam", 1, "--out", table)
    assert status == 2 and "this is a file, a folder is needed" in err


def test_a_sparse_file_is_solved_with_every_kernel(capsys, tmp_path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5 2:1\n-1 1:0.2\n1 2:3\n")
    for kernel in ("linear", "rbf", "laplacian"):
        _, out, err = run(capsys, "solve", path, "--lam", 1, "--kernel", kernel)
        assert "certified" in out and not err
