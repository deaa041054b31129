"""`aucert path`: the path and its folds, of a file or of a folder of Parquet files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import cross_validated_path, regularization_path
from command import Command
from on_disk import write

RNG = np.random.default_rng(0)
Y = RNG.random(1200) < 0.3
X = np.round(RNG.normal(size=(1200, 2)) + 0.8 * Y[:, None], 2)
LAMS = [0.3, 0.003]
ASKED = "--lam 0.3 --lam 0.003 --target y --columns a,b"


def columns(order: np.ndarray) -> dict[str, np.ndarray]:
    """The rows in this order, with a query and a time that hardly tell anything."""
    a, b, y = *X[order].T, Y[order].astype(int)
    return {"a": a, "b": b, "y": y, "q": np.arange(1200) // 50, "t": np.round(np.exp(-a), 3)}


@pytest.fixture
def table(command: Command) -> Command:
    """The command in a folder with the rows in one file, in their order."""
    write("rows.csv", columns(np.arange(1200)))
    return command


@pytest.fixture
def folder(table: Command) -> Command:
    """With them in four files, too, one of them without rows, and one with one class alone."""
    held = columns(np.argsort(Y, kind="stable"))
    Path("data").mkdir()
    for k, rows in enumerate(map(slice, (0, 500, 500, 900), (500, 500, 900, 1200))):
        part = {name: values[rows] for name, values in held.items() if name != "t"}
        write(f"data/{k}.parquet", part, row_group_size=150)
    return table


def test_the_path_of_a_file_is_that_of_the_library(table: Command) -> None:
    stated = table.json(f"path rows.csv {ASKED} --cv 3 --seed 4")
    path, folds = regularization_path(X, Y, LAMS), cross_validated_path(X, Y, LAMS, cv=3, seed=4)
    for point, found in zip(stated["path"], path.points, strict=True):
        assert point["primal"] == pytest.approx(found.certificate.primal, rel=1e-12)
        assert point["auc"] == pytest.approx(found.auc)
    np.testing.assert_allclose(stated["cv"]["fold_auc"], folds.fold_auc, atol=1e-12)
    assert stated["cv"]["best"] == folds.lam_of("best")
    assert stated["n_pairs"] == Y.sum() * (~Y).sum() and stated["positive"] == 1
    assert stated["complete"] and "lam" not in stated


def test_a_folder_has_the_path_of_its_rows_in_one_file(folder: Command) -> None:
    many, one = (
        folder.json(f"path {name} {ASKED} --cv 3 --tol 1e-6") for name in ("data", "rows.csv")
    )
    for apart, held in zip(many["path"], one["path"], strict=True):
        assert abs(apart["primal"] - held["primal"]) <= apart["gap"] + held["gap"]
        assert apart["status"] == "certified"
        assert apart["auc"] == pytest.approx(held["auc"], abs=1e-3)
    low, auc, high = (np.array(many["cv"][f"fold_{key}"]) for key in ("low", "auc", "high"))
    assert auc.shape == (3, 2) and (low <= auc).all() and (auc <= high).all()
    for key in ("n", "n_pos", "n_neg", "n_pairs", "positive"):
        assert many[key] == one[key]
    assert many["data_sha256"] is None


@pytest.mark.slow
def test_a_folder_whose_rows_have_queries_has_a_path(folder: Command) -> None:
    stated = folder.json("path data --qid q --target y --n-lams 3 --tol 1e-6")
    rows = columns(np.argsort(Y, kind="stable"))
    held = regularization_path(
        np.c_[rows["a"], rows["b"]], rows["y"].astype(float), n_lams=3, qid=rows["q"]
    )
    for one, other in zip(stated["path"], held.points, strict=True):
        room = one["gap"] + other.certificate.gap + 1e-8 * one["primal"]
        assert one["lam"] == pytest.approx(other.lam, rel=1e-9)
        assert abs(one["primal"] - other.certificate.primal) <= room
    assert stated["n_pos"] is None and stated["n_pairs"] == held.task.meant.pairs.count()


def test_what_is_written_is_whole_and_can_be_drawn(table: Command) -> None:
    lines = table(f"path rows.csv {ASKED} --cv 3 --out out").splitlines()
    assert lines[0].split()[0] == "lam" and "held out" in lines[0]
    assert [line.split()[0] for line in lines[1:3]] == ["0.3", "0.003"]
    assert "no weights have less" in lines[3] and "the best lam is" in lines[4]
    held: dict[str, Any] = json.loads(Path("out/path.json").read_text())
    assert [point["lam"] for point in held["path"]] == LAMS
    with open("out/path-weights.csv", newline="") as file:
        title, *rows = list(csv.reader(file))
    weights = regularization_path(X, Y, LAMS).weights
    assert title == ["lam", "a", "b"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:], weights)
    table("plot out --out path.svg")
    # A kernel's coefficients are not the weights of columns: those of the earlier run go.
    table("path rows.csv --lam 0.3 --target y --columns a,b --tol 1e-2 --kernel rbf --out out")
    assert [file.name for file in Path("out").iterdir()] == ["path.json"]


def test_ordered_pairs_have_a_path_and_folds(table: Command) -> None:
    for order in ("--qid q --target y", "--time t --event y"):
        words = f"path rows.csv {order} --columns a,b --lam 0.1 --cv 2 --tol 1e-4"
        stated = table.json(words)
        assert stated["n_pos"] is None and stated["path"][0]["status"] == "certified"
        assert 0.4 < stated["cv"]["mean_auc"][0] <= 1
        assert table(words).split()[5:7] == ["gap", "C"]


def test_when_the_time_is_over_the_table_says_so(table: Command) -> None:
    assert "The time ran out" in table(f"path rows.csv {ASKED} --max-time 1e-9")
