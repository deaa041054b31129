"""Vectors of weights and scores."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.validation.files.vectors import read_vector
from aucert.validation.files.written import write_vector
from loops import each

W = np.array([1.5, -2.0, 1e-300])


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    w=arrays(
        np.float64,
        st.integers(1, 20),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    name=st.sampled_from(["w.csv", "w.txt"]),
)
def test_a_written_vector_reads_back_bit_for_bit(tmp_path: Path, w, name: str) -> None:
    write_vector(tmp_path / name, w, "weight")
    assert read_vector(tmp_path / name).values.tobytes() == w.tobytes()


@each(
    "text",
    [
        "1.5\n-2\n1e-300\n",
        "w\n1.5\n-2\n1e-300",
        "1.5,-2,1e-300\n",
        "a,b,c\n1.5,-2,1e-300\n",
        "1.5 -2 1e-300\n",
        "1.5;-2;1e-300",
        "1.5\t-2\t1e-300\r\n",
        '\ufeff"w"\r\n"1.5"\r\n\r\n"-2"\r\n"1e-300"\r\n',
        "the weights\n1.5,\n-2,\n1e-300,\n",
        "COEF_\n1.5,-2,1e-300\n",
        "decision_function\n1.5\n-2\n1e-300\n",
    ],
)
@each("name", ["w.csv", "w.txt", "w.csv.gz"])
def test_one_number_a_line_or_one_row_with_or_without_names(tmp_path, text, name: str) -> None:
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read_vector(tmp_path / name).values.tolist() == W.tolist()


@each("shape", [(3,), (3, 1), (1, 3)])
@each("dtype", ["float64", "float32", "int16"])
def test_npy_and_npz_of_one_row_or_column(tmp_path: Path, shape, dtype: str) -> None:
    w = np.array([1, -2, 3], dtype=dtype).reshape(shape)
    np.save(tmp_path / "w.npy", w)
    np.savez(tmp_path / "w.npz", any_name=w)
    for name in ("w.npy", "w.npz"):
        found = read_vector(tmp_path / name).values
        assert (found.tolist(), found.dtype, found.shape) == ([1, -2, 3], np.float64, (3,))
