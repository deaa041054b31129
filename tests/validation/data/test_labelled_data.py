"""The fingerprint of a data set, and the record that carries it."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError
from aucert.validation.data.labelled_data import data_sha256, make_dataset
from loops import each

X = np.arange(12.0).reshape(4, 3)
Y = np.array([0, 1, 1, 0])


def test_the_fingerprint_is_that_of_the_written_out_bytes() -> None:
    wanted = hashlib.sha256(b"<f8 4x3;" + X.tobytes() + b"<i8 4;" + Y.tobytes()).hexdigest()
    assert data_sha256(X, Y) == wanted


@each(
    "same",
    [np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2, axis=0)[::2], X.copy()],
    ids=["column order", "big-endian", "strided", "copy"],
)
def test_memory_layout_does_not_matter(same) -> None:
    assert data_sha256(same, Y) == data_sha256(X, Y)


@each(
    ("rows", "y"),
    [
        (X + np.eye(4, 3) * 1e-15, Y),
        (X[::-1], Y),
        (X.reshape(3, 4), Y),
        (X.astype(np.float32), Y),
        (X, np.array([1, 0, 1, 0])),
        (X, Y.astype(np.int8)),
        (X, Y.reshape(4, 1)),
        (sp.csr_array(X), Y),
    ],
    ids=["value", "order", "shape", "dtype", "labels", "label dtype", "label shape", "sparse"],
)
def test_anything_else_changes_it(rows, y) -> None:
    assert data_sha256(rows, y) != data_sha256(X, Y)


def test_a_sparse_fingerprint_depends_on_the_matrix_not_on_its_storage() -> None:
    plain = sp.csr_array(X)
    wide = sp.csr_array((plain.data, plain.indices.astype(np.int64), plain.indptr), shape=X.shape)
    messy = sp.csr_array(
        (
            np.array([1.0, 0.0, 1.0, 2.0]),  # unsorted, a duplicate, a stored zero
            np.array([2, 0, 2, 1]),
            np.array([0, 4]),
        ),
        shape=(1, 3),
    )
    assert len({data_sha256(m, Y) for m in (plain, plain.tocsc(), plain.tocoo(), wide)}) == 1
    assert data_sha256(messy, [1]) == data_sha256(sp.csr_array([[0.0, 2.0, 2.0]]), [1])
    assert messy.nnz == 4, "the argument is left alone"


def test_text_labels_have_a_fingerprint_and_python_objects_none() -> None:
    assert data_sha256(X, np.array(["a", "b", "b", "a"])) != data_sha256(X, Y)
    with pytest.raises(InputError, match="Python objects"):
        data_sha256(X, np.array(["a", None, 1, 2], dtype=object))


def test_a_dataset_counts_its_classes_by_the_positive_label() -> None:
    data = make_dataset("toy", X, np.array(["M", "B", "B", "B"]), positive="M", source="by hand")
    assert (data.n_pos, data.n_neg) == (1, 3)
    assert data.is_positive.tolist() == [True, False, False, False]
    assert data.sha256 == data_sha256(data.X, data.y)
    assert data.X.dtype == np.float64


@each("y", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_a_dataset_of_one_class_is_refused(y) -> None:
    with pytest.raises(InputError, match=r"toy: [04] positive and [04] negative rows"):
        make_dataset("toy", X, y, source="by hand")
