"""LightGBM's ranking example, from a folder that has the form of theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from aucert.exact import InputError
from aucert.validation.benchmarks.exact.pair_problems import main, of_lightgbm


def write_example(folder: Path, sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    dump_svmlight_file(rng.random((30, 4)), rng.integers(0, 5, 30), str(folder / "rank.train"))
    np.savetxt(folder / "rank.train.query", sizes, fmt="%d")


def test_the_example_is_solved_to_its_goal(tmp_path: Path) -> None:
    write_example(tmp_path, [10, 0, 15, 5])
    rows = list(of_lightgbm(tmp_path))
    assert len(rows) == 9
    assert all(measured <= goal for _, measured, goal, _ in rows if goal is not None)


def test_a_folder_without_it_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="is not there"):
        list(of_lightgbm(tmp_path))
    write_example(tmp_path, [10, 15])
    with pytest.raises(InputError, match="queries of 25 rows for a table of 30"):
        list(of_lightgbm(tmp_path))
    (tmp_path / "rank.train").write_text("no rows\n")
    with pytest.raises(SystemExit) as ended:
        main(["--parts", "lasso", "--lightgbm", str(tmp_path)])
    assert ended.value.code == 2 and "is not there" in capsys.readouterr().err
