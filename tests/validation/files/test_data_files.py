"""One function for every kind of table."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError
from aucert.validation.data.labelled_data import data_sha256
from aucert.validation.files.tables import read_table
from loops import each

X = np.array([[0.5, 2.0], [3.0, 4.0], [5.0, 6.25]])
LABELS = [1, 2, 1]


def save(folder: Path, ending: str) -> Path:
    """The same small table in the given format."""
    path = folder / f"data{ending}"
    lines = [f"{a!r},{b!r},{k}" for (a, b), k in zip(X.tolist(), LABELS, strict=True)]
    text = "\n".join(["a,b,y", *lines])
    if ending == ".npz":
        np.savez(path, X=X, y=LABELS)
    elif ending == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": LABELS}), path)
    elif "csv" in ending.lower():
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    else:
        rows = [f"{k} 1:{a!r} 2:{b!r}" for (a, b), k in zip(X.tolist(), LABELS, strict=True)]
        path.write_text("\n".join(rows))
    return path


ENDINGS = [".csv", ".CSV", ".csv.gz", ".npz", ".parquet", ".txt", ".libsvm", ".svm"]


@each("ending", ENDINGS)
def test_every_format_gives_the_same_rows_and_labels(tmp_path: Path, ending: str) -> None:
    rows, y, meta = read_table(save(tmp_path, ending))
    dense = rows.toarray() if sp.issparse(rows) else rows
    assert np.array_equal(dense, X)
    assert y.tolist() == [0, 1, 0] and y.dtype == np.int64
    assert (meta.positive, meta.negative, meta.labels.counts()) == (2, 1, {1: 2, 2: 1})
    assert len(meta.columns) == 2
    if not sp.issparse(rows):
        assert data_sha256(rows, y) == data_sha256(X, np.array([0, 1, 0]))


@each("ending", ENDINGS)
def test_the_positive_class_can_be_named(tmp_path: Path, ending: str) -> None:
    _, y, meta = read_table(save(tmp_path, ending), positive="1")
    assert y.tolist() == [1, 0, 1]
    assert (meta.positive, meta.negative) == (1, 2)
    with pytest.raises(InputError, match="no class '3'; the classes are 1, 2"):
        read_table(save(tmp_path, ending), positive="3")
