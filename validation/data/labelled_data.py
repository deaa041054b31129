"""A named, labelled data set with its fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError
from ...exact.tools.lossless import as_float64, check_labels

_HASH_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels, and where they come from."""

    name: str
    X: np.ndarray
    y: np.ndarray
    positive: object
    source: str
    sha256: str
    support: np.ndarray | None = None

    @property
    def is_positive(self) -> np.ndarray:
        """Array (n,) of bool."""
        return np.asarray(self.y == self.positive)

    @property
    def n_pos(self) -> int:
        """Number of rows of the positive class."""
        return int(np.count_nonzero(self.is_positive))

    @property
    def n_neg(self) -> int:
        """Number of all other rows."""
        return int(self.y.shape[0]) - self.n_pos


def make_dataset(
    name: str,
    X: Any,
    y: Any,
    *,
    positive: object = 1,
    source: str,
    support: np.ndarray | None = None,
) -> Dataset:
    """Put a data set together: float64 rows in C order, both classes present, fingerprint."""
    rows = np.ascontiguousarray(as_float64(X, f"{name}: X"))
    labels = check_labels(y, f"{name}: y")
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise InputError(f"{name}: X has shape {rows.shape} and y has shape {labels.shape}")
    data = Dataset(name, rows, labels, positive, source, data_sha256(rows, labels), support)
    if data.n_pos == 0 or data.n_neg == 0:
        raise InputError(
            f"{name}: {data.n_pos} positive and {data.n_neg} negative rows, but both classes are "
            "needed: take more rows or another seed"
        )
    return data


def data_sha256(X: Any, y: Any) -> str:
    """SHA-256 of a data set: shapes, dtypes, and the bytes of X and y.

    The bytes are taken in C order and little-endian, so the memory layout and the machine do not
    matter while the values, their order, their dtype and the shapes do. A sparse X enters as its
    canonical CSR form (indices sorted, duplicates summed, stored zeros dropped); it differs from
    the same matrix stored densely.
    """
    digest = hashlib.sha256()
    if sp.issparse(X):
        rows = sp.csr_array(X, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        digest.update(f"csr {'x'.join(map(str, X.shape))};".encode())
        for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
            _add(digest, part)
    else:
        _add(digest, np.asarray(X))
    _add(digest, np.asarray(y))
    return digest.hexdigest()


def _add(digest: Any, values: np.ndarray) -> None:
    """Feed dtype, shape and bytes, a block of rows at a time: no second copy of the data."""
    if values.dtype.hasobject:
        raise InputError("a data set of Python objects has no fingerprint: use numbers or text")
    dtype = values.dtype.newbyteorder("<")
    digest.update(f"{dtype.str} {'x'.join(map(str, values.shape))};".encode())
    if values.ndim == 0:
        values = values.reshape(1)
    for start in range(0, values.shape[0], _HASH_ROWS):
        digest.update(values[start : start + _HASH_ROWS].astype(dtype, copy=False).tobytes("C"))
