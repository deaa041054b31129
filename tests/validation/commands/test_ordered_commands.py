"""`solve` and `certify` over queries and survival times: what is printed, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import concordance, concordance_index, query_pairs, solve
from aucert.exact.pairs.concordance import delong
from aucert.exact.proof import check_proof
from aucert.validation.cli import main
from loops import each
from ordered_naive import naive_survival

ROWS, QUERIES = 30, 4


def table(folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """Write a table of two features, a query, a time, an event and a grade."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(ROWS, 2)), 3)
    noisy = X[:, 0] + rng.normal(size=ROWS)
    held = {
        "a": X[:, 0],
        "b": X[:, 1],
        "q": rng.integers(0, QUERIES, ROWS),
        "t": np.round(np.exp(-noisy), 1),
        "e": (rng.random(ROWS) < 0.7).astype(int),
        "g": np.clip(np.round(noisy), -1, 1),
    }
    path = folder / "table.csv"
    lines = [",".join(held)] + [
        ",".join(f"{held[name][k]:g}" for name in held) for k in range(ROWS)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path, held


def result(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    main([str(word) for word in words] + ["--json"])
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aucert: ") and err.count("\n") == 1
    return err


def test_the_structure_goes_with_queries_and_is_named(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    out = tmp_path / "out"
    words = ("--qid", "q", "--target", "e", "--columns", "a,b", "--structure", 2)
    found = result(capsys, "solve", path, "--lam", 0.1, *words, "--out", out)
    X = np.column_stack([held["a"], held["b"]])
    same = solve(X, held["e"], 0.1, qid=held["q"], structure=2.0)
    assert found["primal"] == pytest.approx(same.certificate.primal, rel=1e-9)
    assert found["proof"] is None
    assert "0.1/2 (|f|^2 + 2 times the spread of f within each class)" in found["statement"]
    judged = result(capsys, "certify", path, *words[:4], "--model", out / "model.npz")
    assert judged["primal"] == pytest.approx(found["primal"], rel=1e-12)
    assert "spread of f" in judged["statement"]


def test_ranking_by_query(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    out = tmp_path / "out"
    words = ("--lam", 0.1, "--qid", "q", "--tol", 1e-6)
    found = result(capsys, "solve", path, *words, "--out", out)
    X = np.column_stack([held[name] for name in "abte"])
    same = solve(X, held["g"], 0.1, qid=held["q"], tol=1e-6)
    assert found["primal"] == pytest.approx(same.certificate.primal, rel=1e-6)
    assert found["n_pos"] is found["n_neg"] is found["auc"] is found["auc_interval"] is None
    assert found["n_pairs"] == query_pairs(held["q"], held["g"]).count()
    assert 0.5 < found["concordance"] <= 1
    assert found["penalty"] == {"l2": 0.1, "l1": 0.0}
    assert found["pairs"] == "query:q"
    assert "pairs of one query ('q')" in found["statement"]
    assert "hinge" in found["statement"]
    judged = result(capsys, "certify", path, *words, "--weights", out / "weights.csv")
    assert judged["primal"] == pytest.approx(found["primal"], rel=1e-12)
    assert judged["concordance"] == found["concordance"]
    assert judged["n_right"] > 0
    assert "pairs of one query ('q')" in judged["statement"]


def test_survival(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    out = tmp_path / "out"
    words = ("--lam", 0.1, "--time", "t", "--event", "e", "--tol", 1e-6)
    found = result(capsys, "solve", path, *words, "--out", out, "--loss", "logistic")
    w = np.loadtxt(out / "weights.csv", delimiter=",", skiprows=1, usecols=1)
    X = np.column_stack([held[name] for name in "abqg"])
    index = concordance_index(held["t"], held["e"], X @ w)
    assert found["concordance"] == pytest.approx(index.value, abs=1e-12)
    assert found["n_pairs"] == len(naive_survival(held["t"], held["e"] == 1).i)
    assert "the earlier event above" in found["statement"]
    assert "logistic" in found["statement"]


def test_the_lasso_has_lam_zero_and_no_radius(tmp_path: Path, capsys) -> None:
    path, _ = table(tmp_path)
    words = ("--lam", 0, "--l1", 0.05, "--qid", "q", "--tol", 1e-6)
    found = result(capsys, "solve", path, *words)
    assert found["lam"] == 0
    assert found["radius"] is None
    assert found["penalty"] == {"l2": 0.0, "l1": 0.05}
    assert "0.05 |w|_1" in found["statement"]


def test_two_classes_have_delongs_interval(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    scores = tmp_path / "scores.csv"
    np.savetxt(scores, held["a"])
    words = ("--lam", 0.1, "--target", "e", "--scores", scores)
    found = result(capsys, "certify", path, *words)
    wanted = delong(held["a"], held["e"] == 1)
    assert found["auc"] == pytest.approx(wanted.value, abs=1e-12)
    assert found["auc_interval"] == pytest.approx(list(wanted.interval()))
    assert found["concordance"] is None
    main(["certify", str(path), *(str(word) for word in words)])
    assert " to " in next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("auc_interval")
    )


def test_scores_that_part_the_classes_have_no_interval(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    scores = tmp_path / "scores.csv"
    np.savetxt(scores, held["e"] * 2.0)
    found = result(capsys, "certify", path, "--lam", 0.1, "--target", "e", "--scores", scores)
    assert found["auc"] == 1.0 and found["auc_interval"] is None


def test_svmlight_has_its_own_queries(tmp_path: Path, capsys) -> None:
    path = tmp_path / "rows.txt"
    lines = ["2 qid:1 1:1 2:0.5", "0 qid:1 1:0.25", "1 qid:2 2:1", "0 qid:2 1:1 2:0.5"]
    path.write_text("\n".join(lines) + "\n")
    found = result(capsys, "solve", path, "--lam", 1, "--qid", "qid", "--tol", 1e-6)
    assert found["n_pairs"] == 2
    assert "--qid qid" in refused(capsys, "solve", path, "--lam", 1)
    path.write_text("2 qid:1 1:1\n0 1:0.25\n")
    assert "row 2 has no query group" in refused(capsys, "solve", path, "--lam", 1, "--qid", "qid")
    path.write_text("2 qid:one 1:1\n0 qid:one 1:0.25\n")
    assert "whole number" in refused(capsys, "solve", path, "--lam", 1, "--qid", "qid")


def test_arrays_of_an_npz_file_order_its_rows(tmp_path: Path, capsys) -> None:
    _, held = table(tmp_path)
    X = np.column_stack([held["a"], held["b"]])
    path = tmp_path / "table.npz"
    np.savez(path, X=X, y=held["g"], q=held["q"], t=held["t"], e=held["e"])
    by_query = result(capsys, "solve", path, "--lam", 1, "--qid", "q", "--tol", 1e-6)
    assert by_query["n_pairs"] == query_pairs(held["q"], held["g"]).count()
    words = ("--time", "t", "--event", "e", "--tol", 1e-6)
    assert result(capsys, "solve", path, "--lam", 1, *words)["n_pairs"] > 0
    np.savez(path, X=X, y=held["g"], q=held["q"][:-1])
    assert "must have shape (30,)" in refused(capsys, "solve", path, "--lam", 1, "--qid", "q")


@each(
    ("words", "said"),
    [
        (("--qid", "none"), "no column 'none'"),
        (("--qid", "g"), "label column"),
        (("--qid", "q", "--target", "q"), "both the query and the grade"),
        (("--qid", "q", "--positive", "1"), "--positive is for two classes"),
        (("--qid", "q", "--time", "t", "--event", "e"), "not both"),
        (("--qid", "q", "--pairs", "nearest:2"), "leave --pairs out"),
        (("--qid", "q", "--fpr-max", "0.5"), "partial AUC is over all pairs"),
        (("--qid", "q", "--structure", "1"), "structure"),
        (("--qid", "q", "--method", "closed-form"), "two classes"),
        (("--qid", "a"), "pair"),
        (("--qid", "b", "--columns", "a"), "no query has two rows of different grades"),
        (("--time", "t"), "together"),
        (("--event", "e"), "together"),
        (("--time", "t", "--event", "t"), "both the time and the event"),
        (("--time", "t", "--event", "g"), "event"),
        (("--time", "t", "--event", "e", "--target", "g"), "--target"),
        (("--target", "e", "--fpr-max", "0"), "fpr_max"),
        (("--target", "e", "--tpr-min", "1"), "tpr_min"),
        (("--target", "e", "--fpr-max", "nan"), "fpr_max"),
        (("--target", "e", "--l1", "-1"), "l1"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, capsys, words: tuple[str, ...], said: str
) -> None:
    path, _ = table(tmp_path)
    assert said in refused(capsys, "solve", path, "--lam", 0.1, *words)


def test_text_and_missing_values_are_refused(tmp_path: Path, capsys) -> None:
    path, _ = table(tmp_path)
    good = path.read_text()
    for column, word in ((2, ""), (0, "word"), (3, ""), (3, "nan")):
        lines = good.splitlines()
        cells = lines[4].split(",")
        cells[column] = word
        path.write_text("\n".join([*lines[:4], ",".join(cells), *lines[5:]]) + "\n")
        asked = ("--qid", "q") if column < 3 else ("--time", "t", "--event", "e")
        assert "row 5" in refused(capsys, "solve", path, "--lam", 0.1, *asked)


@each("ending", ["csv", "parquet"])
def test_queries_may_have_names(tmp_path: Path, capsys, ending: str) -> None:
    path, held = table(tmp_path)
    words = ("--lam", 0.1, "--qid", "q", "--tol", 1e-6)
    wanted = result(capsys, "solve", path, *words)
    named = np.array([f"q {k:g}" for k in held["q"]])
    if ending == "parquet":
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        from pyarrow.parquet import write_table

        path = tmp_path / "table.parquet"
        write_table(pa.table({**held, "q": named}), path)
    else:
        cells = [[*map(str, row)] for row in zip(*{**held, "q": named}.values(), strict=True)]
        path.write_text("\n".join([",".join(held), *map(",".join, cells)]) + "\n")
    found = result(capsys, "solve", path, *words)
    assert found["n_pairs"] == wanted["n_pairs"]
    assert found["primal"] == pytest.approx(wanted["primal"], rel=1e-12)


def test_a_query_without_a_name_among_names_is_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,q,g\n1,one,0\n2,,1\n3,two,0\n")
    said = refused(capsys, "solve", path, "--lam", 1, "--qid", "q")
    assert "column 'q', row 3: missing value" in said


def test_the_concordance_has_an_interval_by_rows_or_by_queries(tmp_path: Path, capsys) -> None:
    path, held = table(tmp_path)
    words = ("--lam", 0.1, "--time", "t", "--event", "e")
    out = tmp_path / "out"
    found = result(capsys, "solve", path, *words, "--out", out)
    w = np.loadtxt(out / "weights.csv", delimiter=",", skiprows=1, usecols=1)
    scores = np.column_stack([held[name] for name in "abqg"]) @ w
    wanted = concordance_index(held["t"], held["e"], scores, 0.0)
    assert found["concordance_interval"] == pytest.approx(list(wanted.interval()))
    main(["certify", str(path), *map(str, words), "--weights", str(out / "weights.csv")])
    assert "concordance_interval" in capsys.readouterr().out
    few = result(capsys, "solve", path, "--lam", 0.1, "--qid", "q")
    assert few["concordance"] is not None and few["concordance_interval"] is None
    rows = np.arange(120)
    X, grade = np.sin(rows * rows), rows % 7 % 3
    path.write_text(
        "x,q,g\n" + "".join(f"{x},{k // 10},{g}\n" for x, k, g in zip(X, rows, grade, strict=True))
    )
    many = result(capsys, "solve", path, "--lam", 0.1, "--qid", "q")
    w = solve(X[:, None], grade, 0.1, qid=rows // 10).w
    wanted = concordance(query_pairs(rows // 10, grade), X * w, units="groups")
    assert many["concordance_interval"] == pytest.approx(list(wanted.interval()))


def test_built_in_data_have_no_order(tmp_path: Path, capsys) -> None:
    path, _ = table(tmp_path)
    assert "built in" in refused(capsys, "solve", "wdbc", "--lam", 0.1, "--qid", "q")
    weights = tmp_path / "w.csv"
    weights.write_text("1\n1\n1\n1\n")
    exact = ("--lam", 1, "--weights", weights, "--qid", "q", "--exact")
    assert "--exact is for two classes" in refused(capsys, "certify", path, *exact)


@each("by", ["qid", "time"])
def test_the_folder_has_a_proof_that_the_checker_verifies(tmp_path: Path, capsys, by: str) -> None:
    path, held = table(tmp_path)
    order = ("--qid", "q", "--target", "g") if by == "qid" else ("--time", "t", "--event", "e")
    out = tmp_path / "out"
    found = result(capsys, "solve", path, "--lam", 0.1, *order, "--tol", 1e-6, "--out", out)
    assert found["proof"] == "proof.npz"
    features = [name for name in held if name not in order]
    columns: dict = {"y": held["g"], "qid": held["q"]}
    if by == "time":
        columns = {"time": held["t"], "event": held["e"]}
    data = tmp_path / "data.npz"
    np.savez(data, X=np.column_stack([held[name] for name in features]), **columns)
    assert check_proof.main([str(out / "proof.npz"), str(data)]) == 0
    assert capsys.readouterr().out.startswith("verified gap <= ")
    words = ("solve", path, "--lam", 0.1, *order, "--tol", 1e-6, "--loss", "squared_hinge")
    assert result(capsys, *words, "--out", out)["proof"] is None
    assert not (out / "proof.npz").exists()


def test_groups_and_signs_are_named_by_columns_and_kept_with_the_model(
    tmp_path: Path, capsys
) -> None:
    path, held = table(tmp_path)
    out, words = tmp_path / "out", ("--lam", 0.01, "--qid", "q", "--tol", 1e-5)
    penalty = ("--l1", 0.02, "--groups", "a,b", "--sign", "t,e", "--loss", "squared_hinge")
    found = result(capsys, "solve", path, *words, *penalty, "--out", out)
    X = np.column_stack([held[name] for name in "abte"])
    parts = {"l1": 0.02, "groups": [0, 0, 2, 3], "sign": [2, 3], "loss": "squared_hinge"}
    same = solve(X, held["g"], 0.01, qid=held["q"], tol=1e-5, **parts)
    assert found["primal"] == pytest.approx(same.certificate.primal, rel=1e-5)
    assert found["penalty"] == {"l2": 0.01, "l1": 0.02, "groups": 3, "sign": [2, 3]}
    assert same.zeros_proved is not None
    assert found["zeros_proved"] == int(same.zeros_proved.sum())
    assert "0.02 sum of sqrt(size) |w_group|" in found["statement"]
    assert "w_k >= 0 for 't', 'e'" in found["statement"]
    judged = result(capsys, "certify", path, "--qid", "q", "--model", out / "model.npz")
    assert judged["penalty"] == found["penalty"]
    assert judged["primal"] == pytest.approx(found["primal"], rel=1e-9)


@each(
    ("words", "why"),
    [
        (("--groups", "a,b"), "l1 > 0"),
        (("--l1", 0.1, "--groups", "a,zz"), "no such column: 'zz'"),
        (("--l1", 0.1, "--groups", "a,b;b,t"), "stands in two groups"),
        (("--l1", 0.1, "--groups", "a;;b"), "needs the names of columns"),
        (("--sign", "g"), "no such column: 'g'"),
        (("--sign", "a", "--kernel", "rbf"), "linear kernel"),
    ],
)
def test_penalties_that_make_no_sense_are_refused(
    tmp_path: Path, capsys, words: tuple, why: str
) -> None:
    path, _ = table(tmp_path)
    assert why in refused(capsys, "solve", path, "--lam", 0.1, "--qid", "q", *words)


@pytest.mark.slow
def test_a_fresh_process_knows_the_model_of_ordered_pairs(tmp_path: Path, capsys) -> None:
    path, _ = table(tmp_path)
    out = tmp_path / "out"
    result(capsys, "solve", path, "--lam", 0.1, "--qid", "q", "--tol", 1e-5, "--out", out)
    command = [sys.executable, "-m", "aucert", "certify", str(path), "--qid", "q", "--tol", "1e-4"]
    command += ["--model", str(out / "model.npz"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "certified"
