"""svmlight files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.exact.errors import InputError
from aucert.validation.files.tables import read_svmlight
from loops import each


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "data.libsvm"
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_become_rows_of_a_sparse_matrix(tmp_path: Path) -> None:
    text = "# made_by hand\n+1 1:2 3:4.5 # first\n\n-1 2:1e-3\n"
    table = read_svmlight(write(tmp_path, text))
    assert sp.issparse(table.X) and table.X.format == "csr"
    assert table.X.toarray().tolist() == [[2, 0, 4.5], [0, 1e-3, 0]]
    assert (table.labels.values, table.labels.codes.tolist()) == ([-1, 1], [1, 0])
    assert len(table.columns) == 3


def test_query_groups_are_refused_with_their_row(tmp_path: Path) -> None:
    path = write(tmp_path, "# made by hand\n1 1:2 # no qid:3 here\n-1 qid:7 2:1e-3\n")
    words = r"row 3 has a query group \(qid:7\): name it with --qid qid"
    with pytest.raises(InputError, match=words):
        read_svmlight(path)


def test_a_comment_may_speak_of_query_groups(tmp_path: Path) -> None:
    assert read_svmlight(write(tmp_path, "1 1:2 # qid:3\n-1 1:3\n")).X.shape == (2, 1)


def test_numbers_that_lose_digits_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:9007199254740992 2:1e300\n-1 1:3 2:9007199254740993\n")
    with pytest.raises(InputError, match="9007199254740993 in column '2', row 2 loses digits"):
        read_svmlight(path)
    path = write(tmp_path, "9007199254740993 1:1\n9007199254740992 1:3\n")
    with pytest.raises(InputError, match="9007199254740993 in column 'label', row 1 loses digits"):
        read_svmlight(path)


def test_indices_count_from_zero_if_zero_occurs(tmp_path: Path) -> None:
    assert read_svmlight(write(tmp_path, "1 0:2 1:3\n0 1:4\n")).X.toarray().tolist() == [
        [2, 3],
        [0, 4],
    ]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_a_written_file_reads_back_bit_for_bit(tmp_path: Path, X: np.ndarray) -> None:
    lines = [
        f"{k % 2} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, start=1))
        for k, row in enumerate(X.tolist())
    ]
    table = read_svmlight(write(tmp_path, "\n".join(lines)))
    assert table.X.shape == X.shape
    assert table.X.data.tobytes() == X.tobytes()  # written in full, zeros too


@each(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("\n# only words\n", "the file is empty"),
        ("1\n0\n", "no feature columns"),
        ("1 1:2\n\nyes 1:2\n", "row 3 starts with 'yes', not with a number"),
        ("1,2,3\n4,5,6\n", "row 1 starts with '1,2,3', not with a number"),
        ("1 1:2\nnan 1:2\n", "row 2 starts with 'nan', not with a number"),
        ("1 1:2\n0 1:x\n", "row 2 holds '1:x' where index:value is needed"),
        ("1 1:2\n0 1:1_0\n", "row 2 holds '1:1_0' where index:value is needed"),
        ("1 1:2\n0 7\n", "row 2 holds '7' where index:value is needed"),
        ("1 1:2\n0 -1:7\n", "row 2 holds '-1:7' where index:value is needed"),
        ("1 1:2\n0 3:7 2:1\n", "row 2: index 2 comes after 3, sort the indices"),
        ("1 1:2\n0 3:7 3:1\n", "row 2: index 3 comes after 3"),
        ("1 1:2\n# x\n0 2:nan\n", "missing value in column '2', row 3"),
        ("1 1:2\n0 1:1 2:inf\n", "infinite value in column '2', row 2"),
        ("1 1:2\n0 99999999999999:1\n", "damaged, or not a readable svmlight file"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=words) as error:
        read_svmlight(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_target_makes_no_sense_here(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds its label first: leave out the target"):
        read_svmlight(write(tmp_path, "1 1:2\n"), "y")
