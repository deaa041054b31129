"""The frame of the benchmarks: options, rows as they come, files; every benchmark runs in it."""

from __future__ import annotations

import csv
import json
import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.benchmarks.harness import Lines, Table, benchmark
from aucert.validation.benchmarks.measuring.timing import timed
from loops import first_fast

FOLDER = Path(__file__).parents[3] / "validation" / "benchmarks"
SMALLEST = {
    "exact.cluster": "--n 2000 --dim 2 --parts 2 --repeats 1 --lam 0 --workers",
    "exact.evaluation": "--sizes 100",
    "exact.first_answers": "--n 6000 --rows 400 --searched 200 --columns 2 --repeats 1",
    "exact.hard_regimes": "--only wide --shrink 100 --repeats 1 --max-time 0.05",
    "exact.kernel_machines": "--xor-rows 40 --lam 1 --structure 0",
    "exact.pair_problems": "--size small --parts lasso",
    "exact.partitions": "--n 20000 --dim 2 --lam 0.1 --jobs 1 --folder {folder}",
    "exact.path": "--lams 2 --rows 60",
    "exact.profile": "--shrink 1000 --repeats 1 --rows 1",
    "exact.qp_table": "--rows 20",
    "exact.rivals": "--shrink 1000 --lam 0.1 --factor 0",
    "exact.scale": "--shrink 1000 --repeats 1 --parts naive checks",
    "exact.sweep": "--problems 1 --first 3 --every 1 --out {folder}/sweep.jsonl",
    "approx.every_method": "--only wdbc --methods top_fisher",
    "approx.nsauc_gaps": "--data radial:60 --lam 0.1 --epochs 1",
    "approx.nystrom_scale": "--rows 300 --landmarks 5 --drawn 1 --max-time 1 --structure 0",
    "approx.online_passes": "--rows 60 --features 80 --nonzeros 3 --repeats 1 --dims",
    "approx.peers": "--rows 300",
    "approx.sauc_scale": "--toy-rows 80 --landmarks 4 --structure 1 --only",
    "approx.sparse_auc": "--max-time 0.05 --seeds 1 --problems 1",
    "speed.page": "--only threads --shrink 20000 --repeats 1",
    "approx.truncated_newton": "--rows 2000 --features 5 --lam 0.1",
}
_NEWER = ("cluster", "first_answers", "hard_regimes", "pair_problems", "partitions")
NEWER = (*(f"exact.{name}" for name in _NEWER), "speed.page")
"""Benchmarks that version 0.1 did not have."""

SLOW = (
    "exact.first_answers",
    "exact.hard_regimes",
    "approx.online_passes",
    "approx.peers",
    "approx.sparse_auc",
)
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SMALLEST]


@benchmark(sizes="of something", share="of 100 %")
def example(
    sizes: tuple[int, ...] = (1, 2),
    share: float = 0.5,
    name: str = "",
    out: Path | None = None,
    loud: bool = False,
) -> Lines:
    """Yield a table."""
    yield Table("A heading\nof two lines", "kind:<6", "n:4d", "share:7.1%", "gap:8.1e", "note:")
    for n in sizes:
        if n < 0:
            raise InputError("sizes must be positive")
        note = f"n is {n}" + "!" * loud
        yield name or "drawn", n, share, None if n == 1 else np.float64(n), note
    yield "text"
    yield {"n": 7, "gap": math.nan}
    return len(sizes)


def test_rows_stand_under_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert example([]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "A heading",
        "of two lines",
        "kind      n   share      gap  note",
        "drawn     1   50.0%        -  n is 1",
        "drawn     2   50.0%  2.0e+00  n is 2",
        "text",
    ]


def test_text_in_a_column_of_numbers_is_aligned() -> None:
    table = Table("", "gap:8.1e", "met:>4")
    assert str(table) == "     gap  met"
    assert table.show(["too large", "NO"]) == "too large   NO"
    assert table.show(["none", "yes"]) == "    none  yes"
    with pytest.raises(ValueError):
        table.show([1.0])
    with pytest.raises(ValueError, match="not title:format"):
        Table("", "gap:wide")


def test_options_have_the_types_and_defaults_of_the_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert example(["--sizes", "3", "4", "5", "--share", "0.25", "--name", "x"]) == 3
    assert "x         5   25.0%  5.0e+00  n is 5" in capsys.readouterr().out
    assert example(["--sizes", "3", "--loud"]) == 1  # what is False by default is a switch
    assert "n is 3!" in capsys.readouterr().out
    assert example(["--sizes"]) == 0
    with pytest.raises(SystemExit) as end:
        example(["--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0 and "of something, default 1 2" in shown and "of 100 %" in shown
    assert "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1" in shown
    assert "The frame of the benchmarks" in shown  # the docstring of this module


def test_the_files_hold_every_row(tmp_path: Path) -> None:
    example(["--json", str(tmp_path / "rows.json"), "--csv", str(tmp_path / "rows.csv")])
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row.get("n") for row in rows] == [1, 2, 7]
    assert rows[0]["table"] == "A heading of two lines" and rows[0]["gap"] is None
    assert rows[1]["gap"] == 2.0 and rows[2] == {"n": 7, "gap": None}
    with (tmp_path / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["n"] for line in lines] == ["1", "2", "7"] and lines[1]["note"] == "n is 2"


def test_bad_input_is_one_sentence_and_keeps_the_rows_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        example(["--sizes", "3", "-1", "--json", str(tmp_path / "rows.json")])
    assert end.value.code == 2 and "error: sizes must be positive" in capsys.readouterr().err
    assert len(json.loads((tmp_path / "rows.json").read_text())) == 1
    with pytest.raises(SystemExit) as end:
        example(["--csv", str(tmp_path / "absent" / "rows.csv")])
    assert end.value.code == 2
    streams = capsys.readouterr()
    assert "there is no folder" in streams.err and not streams.out


def test_ctrl_c_keeps_the_rows_before_it(tmp_path: Path) -> None:
    @benchmark()
    def interrupted() -> Lines:
        yield Table("", "n:4d")
        yield (1,)
        raise KeyboardInterrupt

    assert interrupted(["--json", str(tmp_path / "rows.json")]) == 130
    assert json.loads((tmp_path / "rows.json").read_text()) == [{"table": "", "n": 1}]


def test_the_best_of_several_times_and_the_last_answer_are_returned() -> None:
    calls: list[int] = []
    found, seconds = timed(lambda: calls.append(1) or len(calls), 3)
    assert found == len(calls) == 3 and 0 <= seconds < 1
    assert timed(lambda: 5, 0)[0] == 5


@pytest.mark.parametrize("name", first_fast(NAMES, 6))
def test_every_benchmark_runs_at_its_smallest_size(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    module = __import__(f"aucert.validation.benchmarks.{name}", fromlist=["main"])
    file = tmp_path / "rows.json"
    arguments = [*SMALLEST[name].format(folder=tmp_path).split(), "--json", str(file)]
    assert module.main(arguments) == 0
    assert capsys.readouterr().out
    assert all(len(row) > 1 for row in json.loads(file.read_text()))
    assert json.loads(file.read_text())


@pytest.mark.parametrize("name", [name for name in SMALLEST if name not in NEWER])
def test_the_addresses_of_version_0_1_answer(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = f"aucert.validation.benchmarks.{name.split('.')[1]}"
    monkeypatch.setattr(sys, "argv", [old, "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module(old, run_name="__main__")
    assert end.value.code == 0 and "--json" in capsys.readouterr().out
