"""svmlight files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.validation.files.tables import read_svmlight


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


def test_a_comment_may_speak_of_query_groups(tmp_path: Path) -> None:
    assert read_svmlight(write(tmp_path, "1 1:2 # qid:3\n-1 1:3\n")).X.shape == (2, 1)


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
