"""`solve` and `certify` with `--worst-of`: words and numbers, files of each kind, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import load_model, solve
from aucert.exact.errors import InputError
from aucert.validation.cli import main
from loops import each

RNG = np.random.default_rng(4)
N = 60
Y = (np.arange(N) % 3 == 0).astype(int)
REGION = np.array(["north", "south"])[RNG.integers(0, 2, N)]
X = np.round(RNG.normal(size=(N, 2)) + Y[:, None], 3)
HOW = ("--lam", "0.05", "--worst-of", "region", "--tol", "1e-4")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    lines = [f"{a:g},{b:g},{r},{y}" for (a, b), r, y in zip(X, REGION, Y, strict=True)]
    path.write_text("\n".join(["a,b,region,y", *lines]) + "\n")
    return path


def result(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    main([str(word) for word in words] + ["--json"])
    return json.loads(capsys.readouterr().out)


def test_the_largest_mean_of_the_groups_is_solved_and_certified(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    said = result(capsys, "solve", table, *HOW, "--out", out)
    wanted = solve(X, Y, 0.05, worst_of=REGION, tol=1e-4)
    assert said["primal"] == pytest.approx(wanted.certificate.primal, rel=1e-12)
    counts = [(REGION == r) & (Y == k) for r in ("north", "south") for k in (0, 1)]
    assert said["n_pairs"] == sum(int(counts[k].sum() * counts[k + 1].sum()) for k in (0, 2))
    assert said["pairs"] == "worst-of:region" and "worst of 2 groups" in said["statement"]
    assert not (out / "proof.npz").exists()
    again = result(capsys, "certify", table, "--model", out / "model.npz", "--max-time", "1")
    assert again["primal"] == pytest.approx(said["primal"], rel=1e-12)
    assert again["pairs"] == "worst-of:region"
    main(["predict", str(out / "model.npz"), str(table), "--out", str(tmp_path / "scores.csv")])
    with pytest.raises(InputError, match="worst groups is not fitted"):
        load_model(out / "model.npz").fit(X, Y)


def test_npz_and_parquet_and_numbers_say_the_same(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = result(capsys, "solve", table, *HOW)
    numbers = (REGION == "south").astype(int) * 7
    np.savez(tmp_path / "words.npz", X=X, y=Y, region=REGION)
    np.savez(tmp_path / "numbers.npz", X=X, y=Y, region=numbers)
    wide = tmp_path / "wide.csv"
    lines = [f"{y},{r},9,{a:g},{b:g}" for (a, b), r, y in zip(X, numbers, Y, strict=True)]
    wide.write_text("\n".join(["y,region,z,a,b", *lines]) + "\n")
    chosen = ("--target", "y", "--drop", "z")
    named = ("--target", "y", "--columns", "a,b")
    for path, more in ((tmp_path / "words.npz", ()), (tmp_path / "numbers.npz", ())):
        assert result(capsys, "solve", path, *HOW, *more)["primal"] == said["primal"]
    for more in (chosen, named):
        found = result(capsys, "solve", wide, *HOW, *more)
        assert (found["primal"], found["n_pairs"]) == (said["primal"], said["n_pairs"])
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "region": REGION, "y": Y})
    frame.to_parquet(tmp_path / "table.parquet")
    found = result(capsys, "solve", tmp_path / "table.parquet", *HOW)
    assert found["primal"] == said["primal"]


@each(
    ("words", "why"),
    [
        (("--worst-of", "regions"), "the nearest names are 'region'"),
        (("--worst-of", "y", "--target", "y"), "label column"),
        (("--worst-of", "a", "--columns", "a,b"), "aucert: "),
        (("--fpr-max", "0.5"), "worst_of goes without"),
        (("--structure", "1"), "worst_of goes without"),
        (("--pairs", "nearest:2"), "leave --pairs out"),
        (("--qid", "a"), "leave --qid"),
    ],
)
def test_what_does_not_go_together_is_one_clear_line(
    table: Path, words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check(capsys, why, "solve", table, *HOW, *words)


def check(capsys: pytest.CaptureFixture[str], why: str, *words: object) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and why in err and err.count("\n") == 1


def test_other_places_of_groups_are_refused(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tmp_path / "w.csv"
    weights.write_text("weight\n1\n1\n")
    check(capsys, "leave --worst-of out", "certify", table, *HOW, "--weights", weights, "--exact")
    check(capsys, "is for one file", "solve", "wdbc", *HOW)
    np.savez(tmp_path / "short.npz", X=X, y=Y, region=REGION[:-1])
    check(capsys, "must have shape (60,)", "solve", tmp_path / "short.npz", *HOW)
    check(capsys, "array 'area'", "solve", tmp_path / "short.npz", *HOW, "--worst-of", "area")
    plain = tmp_path / "rows.libsvm"
    plain.write_text("1 1:2\n0 1:1\n")
    check(capsys, "no names of columns", "solve", plain, *HOW)
