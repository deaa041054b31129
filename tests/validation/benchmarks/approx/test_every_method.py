"""The table of every method: what a line says, that a run goes on, and two real sets."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucert.approx import IncompleteROCSVM, RankSVM
from aucert.exact.errors import InputError
from aucert.validation.benchmarks.approx import every_method
from aucert.validation.benchmarks.approx.every_method import cell, main, measure, read
from aucert.validation.benchmarks.approx.method_list import METHODS, Method, Outcome
from aucert.validation.benchmarks.problems.samples import standardised
from realdata import require_real

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + Y[:, None]


def test_a_line_has_gap_auc_and_seconds() -> None:
    line = measure(Method("RankSVM", RankSVM()), X, Y, 10.0)
    assert line["wrong"] == line["note"] == "" and line["seconds"] >= 0
    assert 0.6 < line["auc"] <= 1 and line["gap"] <= 1e-9
    assert len(cell(line)) == 22


def test_a_warning_an_error_and_the_limit_of_time_are_told_apart() -> None:
    def warns(X: np.ndarray, y: np.ndarray, max_time: float) -> Outcome:
        warnings.warn("odd", ConvergenceWarning, stacklevel=1)
        return Outcome(X[:, 0], None, max_time < 1)

    def fails(X: np.ndarray, y: np.ndarray, max_time: float) -> Outcome:
        raise ZeroDivisionError("by nothing")

    assert measure(Method("w", warns), X, Y, 2.0)["wrong"] == "odd"
    short = measure(Method("w", warns), X, Y, 0.5)
    assert (short["wrong"], short["note"]) == ("", "time") and cell(short)[-1] == "*"
    failed = measure(Method("f", fails), X, Y, 2.0)
    assert failed["wrong"] == "ZeroDivisionError: by nothing" and "FAILED" in cell(failed)
    assert measure(Method("l", warns, 0.5), X, Y, 2.0)["note"] == "time"
    large = measure(Method("l", warns, most_rows=10), X, Y, 2.0)
    assert large["auc"] is None and "> 10 rows" in cell(large)
    short = measure(Method("i", IncompleteROCSVM(1e-6, tol=0.0)), X, Y, 1e-9)
    assert short["note"] == "time" and short["wrong"] == ""


def test_every_name_is_there_once_and_every_estimator_too() -> None:
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names) >= 30
    from aucert import approx

    for name in approx.__all__:
        if isinstance(getattr(approx, name), type) and hasattr(getattr(approx, name), "fit"):
            assert any(name in method.name or name in repr(method.make) for method in METHODS), name


def test_without_the_data_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert main([]) == 0
    assert "skipped: the data are read from files; set AUCERT_DATA" in capsys.readouterr().out


def test_a_second_run_goes_on_after_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    out = tmp_path / "fits.jsonl"
    arguments = ["--only", "wdbc", "--out", str(out), "--methods", "top_fisher"]
    assert main(arguments) == 0
    first = out.read_text()
    assert main([*arguments, "linear_svm"]) == 0
    lines = [json.loads(text) for text in out.read_text().splitlines()]
    assert out.read_text().startswith(first) and len(lines) == 2
    assert [line["method"] for line in lines] == ["top_fisher", "linear_svm"]
    shown = capsys.readouterr().out
    assert "2 fits, 0 with a warning or an error" in shown and "wdbc            569   30" in shown
    monkeypatch.setattr(every_method, "measure", None)  # nothing is fitted anew
    assert main([*arguments, "linear_svm"]) == 0


def test_what_is_asked_of_fewer_rows_is_no_default_and_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limited = [method.make for method in METHODS if method.most_rows < 100_000]
    assert [repr(make) for make in limited] == ["ROCSVM(kernel='rbf')", "SAUCSVM(kernel='rbf')"]
    small = Method("small", RankSVM(), most_rows=10)
    monkeypatch.setattr(every_method, "METHODS", (small, Method("all", RankSVM())))
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert main(["--only", "wdbc"]) == 0
    shown = capsys.readouterr().out
    assert "1 fits, 0 with a warning or an error; 1 left out for their size" in shown


def test_a_set_that_is_too_large_or_not_there_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "skin.npz", X=rng.normal(size=(100_001, 3)), y=np.arange(100_001) % 2)
    with pytest.raises(InputError, match="skin: 100001 rows, more than 100000"):
        read("skin", tmp_path)
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert main(["--only", "diabetes"]) == 0
    assert "left out: " in capsys.readouterr().out


def test_columns_are_standardised_and_constant_ones_left_alone() -> None:
    data = read("wdbc", Path())
    rows, y = standardised(data)
    np.testing.assert_allclose(rows.std(axis=0), 1.0)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-12)
    assert y.sum() == 212


@pytest.mark.slow
def test_every_method_runs_on_two_real_sets_without_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = require_real("hepatitis").parent
    require_real("glass")
    monkeypatch.setenv("AUCERT_DATA", str(folder))
    assert main(["--only", "hepatitis", "glass4", "--max-time", "30"]) == 0
    shown = capsys.readouterr().out
    assert f"{2 * len(METHODS)} fits, 0 with a warning or an error" in shown
