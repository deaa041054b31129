"""Tables as they come: words for 0 and 1, columns chosen and left out, all bad ones named, gzip."""

from __future__ import annotations

import gzip
import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.data_files import Selection, read_features, read_table

UNTIDY = "id,member,age,city,paid\nk1,yes,31,Bern,no\nk2,No,44,Rome,yes\nk3,TRUE,0,Bern,no\n"


@pytest.fixture
def untidy(tmp_path: Path) -> Path:
    path = tmp_path / "untidy.csv"
    path.write_text(UNTIDY)
    return path


def test_words_for_0_and_1_are_numbers_and_columns_can_be_left_out(untidy: Path) -> None:
    X, y, meta = read_table(untidy, Selection(drop=("id", "city")))
    assert X.tolist() == [[1, 31], [0, 44], [1, 0]] and y.tolist() == [0, 1, 0]
    assert meta.columns == ["member", "age"] and meta.ignored == ["id", "city"]


def test_chosen_columns_keep_the_order_asked_for(untidy: Path) -> None:
    X, _, meta = read_table(untidy, Selection(columns=("age", "member")))
    assert meta.columns == ["age", "member"] and X[0].tolist() == [31, 1]


def test_all_refused_columns_are_named_at_once(untidy: Path) -> None:
    with pytest.raises(InputError, match="2 columns cannot be used") as error:
        read_table(untidy)
    for words in ("'id' (text 'k1', row 2)", "'city' (text 'Bern', row 2)", "--drop id,city"):
        assert words in str(error.value)


def test_the_advice_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("when (UTC),who's,y\nnoon,I,0\nnight,you,1\n")
    with pytest.raises(InputError) as error:
        read_table(tmp_path / "a.csv")
    words = shlex.split(str(error.value).rpartition("columns out with ")[2])
    assert words == ["--drop", "when (UTC),who's"]


@pytest.mark.parametrize("cell", ["1,5", "1.234,5", "1,000"])
def test_commas_in_a_number_are_known_for_what_they_are(tmp_path: Path, cell: str) -> None:
    (tmp_path / "a.csv").write_text(f'a;y\n"{cell}";0\n2;1\n')
    with pytest.raises(InputError, match=r"decimal point and nothing between the thousands"):
        read_table(tmp_path / "a.csv")


def test_zero_bytes_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a,b,y\n1,2,0\n3,4,1\n".encode("utf-16-le"))
    with pytest.raises(InputError, match="zero bytes in row 1: no text, save it as CSV"):
        read_table(tmp_path / "a.csv")


def test_kinds_of_bad_cells_in_several_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c,y\n1,,inf,0\nx,2,3,1\n")
    with pytest.raises(InputError) as error:
        read_table(tmp_path / "a.csv")
    for words in ("'a' (text 'x', row 3)", "'b' (missing value, row 2)", "'c' (infinite value"):
        assert words in str(error.value)


def test_words_and_other_numbers_in_one_column_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n2,0\nyes,1\n")
    with pytest.raises(InputError, match=r"'a' holds words like 'yes' .row 3. and numbers"):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Selection(drop=("nme", "x")), "no columns 'nme', 'x'"),
        (Selection(columns=("aeg",)), "no column 'aeg'.*'age'"),
        (Selection(columns=("age", "age")), "asked for twice"),
        (Selection(drop=("paid",)), "'paid' is the label column"),
        (Selection(drop=("id", "member", "age", "city")), "no feature columns are left"),
    ],
)
def test_a_wrong_choice_of_columns_is_refused(untidy: Path, asked: Selection, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_table(untidy, asked)


@pytest.mark.parametrize("ending", ["csv", "tsv", "svmlight", "libsvm", "txt"])
def test_a_gzipped_table_is_the_table(tmp_path: Path, ending: str) -> None:
    text = {"csv": "a,b,y\n1,2,0\n3,4,1\n", "tsv": "a\tb\ty\n1\t2\t0\n3\t4\t1\n"}
    text = text.get(ending, "0 1:1 2:2\n1 1:3 2:4\n")
    plain, packed = tmp_path / f"t.{ending}", tmp_path / f"t.{ending}.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain, packed):
        X, y, _ = read_table(path)
        X = X if isinstance(X, np.ndarray) else X.toarray()
        assert X.tolist() == [[1, 2], [3, 4]] and y.tolist() == [0, 1]
    packed.write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(InputError, match="damaged"):
        read_table(packed)


def test_a_tsv_may_hold_commas(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a, really\ty\n1\t0\n2\t1\n")
    assert read_table(tmp_path / "t.tsv")[2].columns == ["a, really"]


def test_sparse_and_npz_columns_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "t.svmlight").write_text("0 1:1 2:2\n1 1:3 2:4\n")
    assert read_table(tmp_path / "t.svmlight", Selection(drop=("1",)))[0].toarray().tolist() == [
        [2],
        [4],
    ]
    path = tmp_path / "t.npz"
    np.savez(path, X=[[1.0, np.nan], [2.0, 1.0]], y=[0, 1], feature_names=["a", "b"])
    X, _, meta = read_table(path, Selection(drop=("b",)))  # what is left out may be bad
    assert X.tolist() == [[1], [2]] and meta.columns == ["a"]


def test_features_are_read_without_labels_by_name(untidy: Path) -> None:
    table = read_features(untidy, ("age", "member"))
    assert table.X.tolist() == [[31, 1], [44, 0], [0, 1]]
    assert table.ignored == ["id", "city", "paid"]


def test_parquet_words_choice_and_labels(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    held = {"s": ["u", "v"], "m": ["yes", "no"], "b": [True, False], "y": [0, 1]}
    pq.write_table(pa.table(held), path)
    X, _, meta = read_table(path, Selection(drop=("s",)))
    assert X.tolist() == [[1, 1], [0, 0]] and meta.ignored == ["s"]
    assert read_features(path, ("b",)).X.tolist() == [[1], [0]]


def test_a_pipe_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with pytest.raises(InputError, match=r"this is a pipe, .* save it in a file"):
        read_table(path)
    with pytest.raises(InputError, match=r"/dev/null: this is a device"):
        read_table("/dev/null")
