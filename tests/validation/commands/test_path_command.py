"""`aucert path`: the path and its folds, of a file, a folder of Parquet files or built-in data."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aucert.exact import cross_validated_path, regularization_path
from aucert.validation import cli
from aucert.validation.files import parquet_folder
from loops import each

RNG = np.random.default_rng(0)
Y = RNG.random(1200) < 0.3
X = np.round(RNG.normal(size=(1200, 2)) + 0.8 * Y[:, None], 2)
LAMS = ("--lam", "0.3", "--lam", "0.003")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The rows in one file, with a query and a time that hardly tell anything."""
    query, time = np.arange(1200) // 10, np.round(np.exp(-X[:, 0]), 3)
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["a", "b", "y", "q", "t"])
        lines.writerows(zip(*X.T, np.where(Y, 1, 0), query, time, strict=True))
    return tmp_path / "rows.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same rows in four files, one of them without rows, and one with one class alone."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet_folder, "_processors", lambda: 1)
    order = np.argsort(Y, kind="stable")
    rows, labels = X[order], np.where(Y, 1, 0)[order]
    found = tmp_path / "data"
    found.mkdir()
    for k, (first, last) in enumerate([(0, 500), (500, 500), (500, 900), (900, 1200)]):
        part = {"a": rows[first:last, 0], "b": rows[first:last, 1], "y": labels[first:last]}
        part["q"] = np.arange(first, last) // 50
        pq.write_table(pa.table(part), found / f"{k}.parquet", row_group_size=150)
    return found


def answer(*words: object) -> dict[str, Any]:
    found = CliRunner().invoke(cli.aucert, ["path", *map(str, words), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_the_path_of_a_file_is_that_of_the_library(table: Path) -> None:
    stated = answer(table, *LAMS, "--target", "y", "--columns", "a,b", "--cv", 3, "--seed", 4)
    path = regularization_path(X, Y, [0.3, 0.003])
    folds = cross_validated_path(X, Y, [0.3, 0.003], cv=3, seed=4)
    assert [point["primal"] for point in stated["path"]] == pytest.approx(
        [point.certificate.primal for point in path.points], rel=1e-12
    )
    assert [point["auc"] for point in stated["path"]] == pytest.approx(path.aucs)
    np.testing.assert_allclose(stated["cv"]["fold_auc"], folds.fold_auc, atol=1e-12)
    assert stated["cv"]["best"] == folds.lam_of("best")
    assert stated["n_pairs"] == Y.sum() * (~Y).sum() and stated["positive"] == 1
    assert stated["complete"] and "lam" not in stated


def test_a_folder_has_the_path_of_its_rows_in_one_file(folder: Path, table: Path) -> None:
    words = (*LAMS, "--target", "y", "--columns", "a,b", "--cv", 3, "--tol", "1e-6")
    many, one = answer(folder, *words), answer(table, *words)
    for apart, held in zip(many["path"], one["path"], strict=True):
        room = sum(point["gap"] for point in (apart, held))
        assert abs(apart["primal"] - held["primal"]) <= room
        assert apart["status"] == "certified"
        assert apart["auc"] == pytest.approx(held["auc"], abs=1e-3)
    low, high = (np.array(many["cv"][key]) for key in ("fold_low", "fold_high"))
    auc = np.array(many["cv"]["fold_auc"])
    assert auc.shape == (3, 2) and (low <= auc).all() and (auc <= high).all()
    for key in ("n", "n_pos", "n_neg", "n_pairs", "positive"):
        assert many[key] == one[key]
    assert many["data_sha256"] is None


@pytest.mark.slow
def test_a_folder_whose_rows_have_queries_has_a_path(folder: Path) -> None:
    stated = answer(folder, "--qid", "q", "--target", "y", "--n-lams", 3, "--tol", "1e-6")
    order = np.argsort(Y, kind="stable")
    query = np.arange(1200) // 50
    held = regularization_path(X[order], Y[order].astype(float), n_lams=3, qid=query)
    for one, other in zip(stated["path"], held.points, strict=True):
        certificate = other.certificate
        room = one["gap"] + certificate.gap
        assert one["lam"] == pytest.approx(other.lam, rel=1e-9)
        assert abs(one["primal"] - certificate.primal) <= room + 1e-8 * certificate.primal
    assert stated["n_pos"] is None and stated["n_pairs"] == held.task.meant.pairs.count()


def test_what_is_written_is_whole_and_can_be_drawn(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [str(table), *LAMS, "--target", "y", "--columns", "a,b", "--out", str(out)]
    shown = CliRunner().invoke(cli.aucert, ["path", *words, "--cv", "3"])
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split()[0] == "lam" and "held out" in lines[0]
    assert [line.split()[0] for line in lines[1:3]] == ["0.3", "0.003"]
    assert "no weights have less" in shown.stdout and "the best lam is" in shown.stdout
    held = json.loads((out / "path.json").read_text())
    assert [point["lam"] for point in held["path"]] == [0.3, 0.003]
    with open(out / "path-weights.csv", newline="") as file:
        title, *rows = list(csv.reader(file))
    assert title == ["lam", "a", "b"]
    path = regularization_path(X, Y, [0.3, 0.003])
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:], path.weights)
    drawn = ["plot", str(out), "--out", str(tmp_path / "path.svg")]
    assert CliRunner().invoke(cli.aucert, drawn).exit_code == 0
    # A kernel's coefficients are not the weights of columns: those of the earlier run go.
    again = [str(table), "--lam", "0.3", "--target", "y", "--columns", "a,b", "--tol", "1e-2"]
    more = ["--kernel", "rbf", "--out", str(out)]
    assert CliRunner().invoke(cli.aucert, ["path", *again, *more]).exit_code == 0
    assert {file.name for file in out.iterdir()} == {"path.json"}


@each(
    "words",
    [
        ("--qid", "q", "--target", "y", "--columns", "a,b"),
        ("--time", "t", "--event", "y", "--columns", "a,b"),
    ],
)
def test_ordered_pairs_have_a_path_and_folds(words: tuple[str, ...], table: Path) -> None:
    stated = answer(table, *words, "--lam", "0.1", "--cv", 2, "--tol", "1e-4")
    assert stated["n_pos"] is None and stated["path"][0]["status"] == "certified"
    assert 0.4 < stated["cv"]["mean_auc"][0] <= 1
    shown = CliRunner().invoke(cli.aucert, ["path", str(table), *words, "--lam", "0.1"])
    assert shown.stdout.split()[5:7] == ["gap", "C"]


def test_when_the_time_is_over_the_table_says_so(table: Path) -> None:
    words = [str(table), "--target", "y", "--columns", "a,b", "--max-time", "1e-9"]
    shown = CliRunner().invoke(cli.aucert, ["path", *words])
    assert shown.exit_code == 0 and "The time ran out: smaller lam are missing." in shown.stdout
