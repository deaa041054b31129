"""Vectors of weights and scores."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.exact.errors import InputError
from aucert.validation.files.vectors import read_scores, read_vector
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


def test_a_single_number_is_a_vector_of_length_one(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("2.5")
    assert read_vector(tmp_path / "w.txt").values.tolist() == [2.5]


def test_a_wrong_length_names_both(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", W)
    with pytest.raises(InputError, match=r"w\.npy: holds 3 scores where 5 are needed"):
        read_scores(tmp_path / "w.npy", 5)


@each(
    ("text", "words"),
    [
        ("", "the file holds no weights"),
        ("\n \n", "the file holds no weights"),
        ("w\n", "the file holds no weights"),
        ("1\nx\n3\n", "text 'x' in row 2: weights must be numbers"),
        ("w\nv\n1\n", "text 'v' in row 2"),
        ("w\n1\n?\n", "missing value in row 3"),
        ("NA\n1\n", "missing value in row 1"),
        ("1_0\n1\n2_0\n", "text '1_0' in row 1"),
        ("1\n2_0\n", "text '2_0' in row 2"),
        ("1,x,3\n", "text 'x' in row 1"),
        ("1\nnan\n", "number 2 of the weights is nan: all must be finite"),
        ("w\n1\n-inf\n", "number 2 of the weights is -inf"),
        ("1,2\n3,4\n", "one number a line or one row; row 2 is neither"),
        ("1\n2\n3,4\n", "row 3 is neither"),
        ("a,b\n1,2\n3\n", "row 3 is neither"),
        ("hello\n1\n2\n", "text 'hello' in row 1: weights must be numbers; a title .* 'weight'"),
        ("hello\n", "text 'hello' in row 1"),
        ("a,b\n1,2,3\n", "text 'a b' in row 1"),
        ("hello\n1,2,3\n", "text 'hello' in row 1"),
    ],
)
def test_bad_text_is_refused_with_its_row(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "w.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as error:
        read_vector(path)
    assert str(error.value).startswith(str(path))


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_bytes(b"1\n\xff\xfe\n")
    with pytest.raises(InputError, match=r"damaged, or not a readable UTF-8 text file"):
        read_vector(tmp_path / "w.csv")
    (tmp_path / "w.csv.gz").write_bytes(gzip.compress(b"1\n" * 5000)[:-12])
    with pytest.raises(InputError, match=r"damaged, or not a readable gzip file"):
        read_vector(tmp_path / "w.csv.gz")


@each(
    ("values", "words"),
    [
        (np.ones((2, 2)), r"must be one row or one column; the shape is \(2, 2\)"),
        (np.ones((1, 1, 2)) * 0 + 1, None),
        (np.array(3.0), r"the shape is \(\)"),
        (np.array(["a", "b"]), "weights must be numbers, not <U1"),
        (np.array([1j]), "weights must be numbers, not complex128"),
        (np.array([1.0, np.nan]), "number 2 of the weights is nan"),
        (np.array([]), "the file holds no weights"),
    ],
)
def test_arrays_that_are_no_vector_are_refused(tmp_path: Path, values, words) -> None:
    np.save(tmp_path / "w.npy", values)
    if words is None:
        assert read_vector(tmp_path / "w.npy").values.tolist() == [1, 1]
        return
    with pytest.raises(InputError, match=words):
        read_vector(tmp_path / "w.npy")


def test_damaged_or_ambiguous_array_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=W, b=W)
    with pytest.raises(InputError, match="a single array of weights; it holds a, b"):
        read_vector(tmp_path / "two.npz")
    np.save(tmp_path / "objects.npy", np.array([None, 1], dtype=object))
    with pytest.raises(InputError, match="holds Python objects, which are never read"):
        read_vector(tmp_path / "objects.npy")
    np.savez(tmp_path / "objects.npz", w=np.array([None, 1], dtype=object))
    with pytest.raises(InputError, match="holds Python objects, which are never read"):
        read_vector(tmp_path / "objects.npz")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "objects.npy").read_bytes()[:20])
    with pytest.raises(InputError, match=r"cut\.npy: damaged, or not a readable npy file"):
        read_vector(tmp_path / "cut.npy")
    (tmp_path / "renamed.npy").write_bytes((tmp_path / "two.npz").read_bytes())
    with pytest.raises(InputError, match="npz file under another name"):
        read_vector(tmp_path / "renamed.npy")


def test_a_text_file_called_npy_gets_no_advice_to_load_it_unsafely(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_text("1 2 3\n")
    with pytest.raises(InputError, match=r"npy file; weights in a text .*\.txt") as error:
        read_vector(tmp_path / "w.npy")
    assert "pickle" not in str(error.value)


def test_paths_that_are_no_vector_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.npy: no such file"):
        read_vector(tmp_path / "gone.npy")
    (tmp_path / "w.json").write_text("[1]")
    with pytest.raises(InputError, match=r"weights are read from \.npy, \.npz, \.csv"):
        read_vector(tmp_path / "w.json")
    with pytest.raises(InputError, match="this is a folder"):
        read_vector(tmp_path)


def test_numbers_that_lose_digits_are_refused(tmp_path: Path) -> None:
    text, array = tmp_path / "w.txt", tmp_path / "w.npy"
    text.write_text("1\n9007199254740993\n")
    with pytest.raises(InputError, match="9007199254740993 in row 2 loses digits in float64"):
        read_vector(text)
    np.save(array, np.array([1, 2**53 + 1]))
    with pytest.raises(InputError, match="weights holds 9007199254740993 at place 1"):
        read_vector(array)
