"""Models over queries and survival times: chosen and scaled columns, written, read, certified."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import load_model, recertify, solve
from aucert.exact.errors import InputError
from aucert.validation.cli import main
from loops import each, first_fast

ROWS = 24
ORDERS = {"query": "--qid q --target g --drop t,e", "time": "--time t --event e --drop q,g"}
"""Both leave the features a and b."""


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    try:
        main([part for word in words for part in str(word).split()])
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Write the same rows as a table, as one with its columns turned, and as arrays."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(ROWS, 2)), 3) * [1.0, 40.0]
    noisy = X[:, 0] + X[:, 1] / 40 + rng.normal(size=ROWS)
    held = {
        "a": X[:, 0],
        "b": X[:, 1],
        "q": rng.integers(0, 4, ROWS).astype(float),
        "t": np.round(np.exp(-noisy), 1),
        "e": (rng.random(ROWS) < 0.7).astype(float),
        "g": np.clip(np.round(noisy), -1, 1),
    }
    for name, columns in (("t.csv", "abqteg"), ("turned.csv", "gtbqea")):
        lines = [",".join(columns)]
        lines += [",".join(repr(float(held[c][k])) for c in columns) for k in range(ROWS)]
        Path(name).write_text("\n".join(lines) + "\n")
    arrays = {name: held[name] for name in "qteg"}
    np.savez("t.npz", X=X, feature_names=np.array(["a", "b"]), **arrays)
    return held


KINDS = ["", "--standardise", "--l1 0.02 --standardise", "--kernel rbf --gamma 0.5 --standardise"]


@each("words", first_fast(KINDS, 2))
@each("order", ORDERS)
def test_a_model_is_written_scored_and_certified(capsys, held, order: str, words: str) -> None:
    asked = f"--lam 0.1 --tol 1e-6 --loss logistic {ORDERS[order]} {words}"
    status, text, err = run(capsys, "solve t.csv", asked, "--out out --json")
    solved = json.loads(text)
    assert (status, err) == (0, "")
    X = np.column_stack([held["a"], held["b"]])
    if words:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    if words in ("", "--standardise"):
        which = {"qid": held["q"]} if order == "query" else {"time": held["t"], "event": held["e"]}
        y = held["g"] if order == "query" else None
        naive = solve(X, y, 0.1, loss="logistic", tol=1e-6, **which)  # type: ignore[arg-type]
        assert solved["primal"] == pytest.approx(naive.certificate.primal, rel=2e-6)
    for table in ("t.csv", "turned.csv"):
        status, text, _ = run(capsys, "certify", table, "--model out/model.npz --json")
        found = json.loads(text)
        assert status == 0 and found["relative_gap"] <= 2e-6 and found["pairs"] == solved["pairs"]
        assert found["primal"] == pytest.approx(solved["primal"], rel=1e-9)
        assert ("standardised" in found["statement"]) == ("--standardise" in words)
    _, text, err = run(capsys, "predict out/model.npz turned.csv")
    assert "columns not used" in err
    lines = text.splitlines()
    model = load_model("out/model.npz")
    with pytest.warns(UserWarning, match="feature names"):
        expected = model.predict(np.column_stack([held["a"], held["b"]]))
    assert lines[0] == "score"  # there are no classes
    np.testing.assert_array_equal([float(line) for line in lines[1:]], expected)
    document = json.loads(run(capsys, "predict out/model.npz t.csv --json")[1])
    assert document["labels"] is document["classes"] is None
    assert run(capsys, "predict out/model.npz t.csv --out s.csv")[1].startswith("24 rows scored; ")


def weights(capsys: pytest.CaptureFixture[str], *words: object) -> list[float]:
    """Return the weights that `solve` writes."""
    assert run(capsys, "solve", *words, "--lam 0.1 --tol 1e-6 --loss logistic --out w")[0] == 0
    lines = Path("w/weights.csv").read_text().splitlines()[1:]
    return [float(line.split(",")[-1]) for line in lines]


@each("order", ORDERS)
def test_columns_are_chosen_in_tables_and_arrays(capsys, held, order: str) -> None:
    kept = " ".join(ORDERS[order].split()[:-2])
    wanted = weights(capsys, "t.csv", kept, "--columns b,a")
    assert len(wanted) == 2 and len(weights(capsys, "t.npz", kept, "--drop b")) == 1
    for table in ("turned.csv", "t.npz"):
        assert weights(capsys, table, kept, "--columns b,a") == pytest.approx(wanted, rel=1e-9)


def test_a_chosen_column_of_svmlight_rows_with_queries(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["2 qid:1 1:1 2:0.5", "0 qid:1 1:0.25", "1 qid:2 2:1", "0 qid:2 1:1 2:0.5"]
    Path("rows.svm").write_text("\n".join(lines) + "\n")
    assert len(weights(capsys, "rows.svm --qid qid --columns 2")) == 1


def test_weights_are_matched_by_name(capsys, held) -> None:
    words = f"--lam 0.1 --tol 1e-6 --loss logistic {ORDERS['query']}"
    assert run(capsys, "solve t.csv", words, "--out out")[0] == 0
    lines = Path("out/weights.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["feature", "a", "b"]
    Path("w.csv").write_text("\n".join([lines[2], lines[1]]) + "\n")
    status, text, _ = run(capsys, "certify turned.csv", words, "--weights w.csv --json")
    assert status == 0 and json.loads(text)["relative_gap"] <= 2e-6


@each(
    ("words", "said"),
    [
        ("--qid q --target g --drop q", "'q' orders"),
        ("--qid q --target g --columns a,q", "'q' orders"),
        ("--time t --event e --drop t", "'t' orders"),
        ("--time t --event e --columns a,e", "'e' is the label column"),
        ("--qid q --target g --columns a,z", "no column 'z'"),
        ("--qid q --target g --columns a,a", "asked for twice"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(capsys, held, words: str, said: str) -> None:
    status, out, err = run(capsys, "solve t.csv --lam 0.1", words)
    assert (status, out, err.count("\n")) == (2, "", 1) and said in err, err


def test_a_model_of_ordered_pairs_is_not_fitted_again(capsys, held) -> None:
    words = f"--lam 0.1 --tol 1e-6 --loss logistic {ORDERS['time']}"
    assert run(capsys, "solve t.csv", words, "--out out")[0] == 0
    model = load_model("out/model.npz")
    X = np.column_stack([held["a"], held["b"]])
    with pytest.raises(InputError, match="solve with qid or time"):
        model.fit(X, held["e"])
    with pytest.raises(InputError, match="recertify is for"):
        recertify(model, X, held["e"])
