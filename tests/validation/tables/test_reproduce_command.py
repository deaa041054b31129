"""`aucert reproduce`: the list, bad input, JSON, an interrupt; small runs of the real tables."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.approx.nystrom import nystrom_map
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.kernels import get_kernel
from aucert.validation.cli import main
from aucert.validation.data.generators import linear, radial
from aucert.validation.tables import nonlinear, scaling_up
from aucert.validation.tables.run import tables
from aucert.validation.tables.scaling_up import Mapped, full_fit, hinge
from aucert.validation.tables.table import Experiment, Job, Run
from loops import each
from realdata import real_folder, require_real


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    return int(ended.value.code or 0)


def test_the_list_has_a_line_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--list", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in document["tables"]] == list(tables())
    assert {"quick", "full", "printed"} == set(document["tables"][0]["minutes"])


@each(
    "arguments",
    [("scaling-up-tabel-1",), ("--data-dir", "/nowhere/at/all"), ("--jobs", "0"), ("--seed", "-1")],
)
def test_bad_input_ends_with_status_2_and_one_line(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert command(*arguments, "--out", str(tmp_path)) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("aucert: ")


def test_without_data_the_json_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert command("nonlinear-table-1", "--json", "--out", str(tmp_path)) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert any("--data-dir" in line for line in table["missing"])
    assert all(entry["ours"] is None for entry in table["entries"])


@pytest.mark.slow
def test_an_interrupt_ends_with_status_130_and_the_pages(tmp_path: Path) -> None:
    out = tmp_path / "out"  # made once the run begins
    arguments = ["reproduce", "scaling-up-table-2", "--profile", "full", "--out", str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "aucert", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not out.is_dir():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130 and said.strip() == "aucert: interrupted"
    assert "parts are not done" in (out / "scaling-up-table-2.md").read_text()


def tiny(experiment: Experiment, **cut: object) -> Experiment:
    """Return the experiment with other budgets."""
    lines = [
        dataclasses.replace(line, quick=cut[line.what]) if line.what in cut else line
        for line in experiment.budget
    ]
    return dataclasses.replace(experiment, budget=tuple(lines))


def run_part(experiment: Experiment, key: str, data_dir: Path | None = None) -> dict[str, Any]:
    run, budget = Run("quick", 0, data_dir), experiment.spent("quick")
    part = next(part for part in experiment.parts(run, budget) if part.key == key)
    return experiment.compute(Job(experiment.name, part, run, budget))


def test_the_optimum_is_below_the_incomplete_fit_on_the_linear_model() -> None:
    cut = {"training rows": [400], "test rows": 2000, "grid of lam": [1e-2]}
    found = run_part(tiny(scaling_up.TABLE_1.experiment, **cut), "n=400,rep=0")
    assert 0 <= found["full_excess"] <= 1e-6 < found["incomplete_excess"] < 0.1
    assert 85 < found["full_auc"] < 95


def test_drawn_pairs_and_all_pairs_one_by_one_take_the_same_steps() -> None:
    data = linear(400, 0)
    found = scaling_up.loops(data.X, data.is_positive, 1e-2, 0, 200)
    best = full_fit(hinge(data.X, data.is_positive, 1e-2)).w
    w = found["listed"][0]
    assert w @ best > 0.99 * np.linalg.norm(w) * np.linalg.norm(best)
    assert found["listed"][2] > 10 * found["drawn"][2] > 0


def test_rows_in_features_made_when_read_have_the_optimum_of_those_made_before() -> None:
    data = radial(3000, 0)
    features = nystrom_map(get_kernel("rbf", 0.5, 2), data.X[:40])
    whole, streamed = (
        full_fit(hinge(rows, data.is_positive, 1e-2), 1e-6)
        for rows in (features.transform(data.X), Mapped(data.X, features.transform))
    )
    assert isinstance(
        hinge(Mapped(data.X, features.transform), data.is_positive, 1.0).space, StreamedRows
    )
    low, high = whole.certificate.dual, streamed.certificate.primal
    assert low - 1e-12 <= high <= low * (1 + 2e-6)
    radius = whole.certificate.radius + streamed.certificate.radius
    assert np.linalg.norm(streamed.w - whole.w) <= radius


def test_nystrom_and_whole_kernel_agree_on_the_radial_model() -> None:
    cut = {"training rows": [300], "test rows": 2000, "grid of lam": [1e-2], "gamma": [0.5]}
    small = tiny(scaling_up.EXPERIMENT_2, landmarks=80, **cut)
    found = run_part(small, "n=300,rep=0")
    assert abs(found["full_nystrom_auc"] - found["full_kernel_auc"]) < 0.1
    assert found["full_nystrom_excess"] <= 1e-5


def test_the_real_tables_run_on_few_rows() -> None:
    require_real("accelerometer_gyro")
    few = {
        "training rows, at most": 300,
        "rows that choose gamma and lam, at most": 300,
        "landmarks": 20,
        "grid of lam": [1e-3],
        "steps of Adamax, at most": 50,
    }
    found = run_part(
        tiny(scaling_up.TABLE_3.experiment, **few), "accelerometer,split=0", real_folder()
    )
    assert found["n_train"] == 300 and 60 < found["radial_full_auc"] <= 100


FEW = {
    "training rows, at most": 300,
    "test rows, at most": 500,
    "rows of RBF-RankSVM, at most": 100,
    "landmarks and Fourier features": 20,
    "rows that are tuned on, at most": 150,
    "log2 C": [-10, -5],
    "log2 C, RBF-RankSVM": [-5],
    "log2 gamma, RBF-RankSVM": [-3],
    "width, RFAUC": [1],
    "epochs of Fig. 1": [1, 2],
    "log2 C, NOAM": [0],
    "lam, NSAUC": [1e-7],
    "step, NSOLAM": [10],
    "radius, NSOLAM": [10.0],
}


@each("method", nonlinear.BATCH_METHODS)
def test_every_batch_method_is_certified(method: str) -> None:
    require_real("magic04")
    found = run_part(tiny(nonlinear.BATCH, **FEW), f"magic04,{method},split=0", real_folder())
    assert found["gap"] <= nonlinear.TOL and 60 < found["auc"] <= 100


def test_the_online_methods_run_on_one_split() -> None:
    require_real("skin")
    found = run_part(tiny(nonlinear.ONLINE, **FEW), "skin,split=0", real_folder())
    assert all(50 < found[f"{method}_auc"] <= 100 for method in nonlinear.ONLINE_METHODS)
    assert len(found["NSAUC_curve"]) == 2 and found["optimum_gap"] <= 1e-4


def test_methods_share_a_split_and_splits_differ() -> None:
    require_real("magic04")
    folder, small = real_folder(), tiny(nonlinear.BATCH, **FEW)
    run, budget = Run("quick", 0, folder), small.spent("quick")
    parts = {part.key: part for part in small.parts(run, budget)}
    rows = [
        nonlinear.split(Job("nonlinear-batch", parts[f"magic04,{key}"], run, budget)).X
        for key in ("nbauc,split=0", "linear,split=0", "linear,split=1")
    ]
    assert (rows[0] == rows[1]).all() and (rows[0] != rows[2]).any()


def test_the_estimate_is_printed_and_nothing_is_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ("--estimate", "--profile", "full", "--jobs", "2", "--out", str(out))
    assert command("sauc-fig-1", "sht-fig-1", *arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines[:-1]] == ["sauc-fig-1", "sht-fig-1"]
    assert lines[-1].startswith("in all: ") and lines[-1].endswith("nothing is begun after 12 h")
    assert command("sauc-fig-1", "sht-fig-1", *arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    minutes = sum(entry["cpu_minutes"] for entry in document["experiments"])
    assert document["cpu_minutes"] == minutes > 0
    assert document["hours"] == pytest.approx(minutes / 120) and document["max_time"] == 12 * 3600
    assert not out.exists()


def test_a_run_that_its_limit_ends_says_what_is_missing_with_status_0(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("sauc-fig-1", "--max-time", "1e-9", "--out", str(tmp_path))
    assert command(*arguments) == 0
    assert "Time limit of 1e-09 s reached: 40 of 40 parts" in capsys.readouterr().out
    assert command(*arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["complete"] is False and len(document["tables"][0]["unfinished"]) == 40
    assert command("sauc-fig-1", "--max-time", "0", "--out", str(tmp_path)) == 2
    assert command("sauc-fig-1", "--max-time", "0", "--estimate") == 2
