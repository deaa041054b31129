"""Tables as they come: words for 0 and 1, columns chosen and left out, all bad ones named, gzip."""

from __future__ import annotations

import gzip
import shlex
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.commands.inputs import row_counters, split_names
from aucert.validation.files.tables import Selection, read_raw, read_table
from loops import each

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


def test_the_advice_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"when, (UTC)",who\'s,x,y\nnoon,I,1,0\nnight,you,2,1\n')
    with pytest.raises(InputError) as error:
        read_table(tmp_path / "a.csv")
    option, value = shlex.split(str(error.value).rpartition("columns out with ")[2])
    assert option == "--drop" and split_names(value) == ("when, (UTC)", "who's")
    assert read_table(tmp_path / "a.csv", Selection(drop=split_names(value) or ()))[0].shape[1] == 1


@each("asked", [Selection(columns=("num",)), Selection(drop=("column 1", "pay"))])
@each("kind", ["csv", "parquet"])
def test_what_is_left_out_needs_no_name_of_its_own(
    tmp_path: Path, asked: Selection, kind: str
) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        path.write_text(",pay,num,pay,bought\n0,1,2,3,no\n1,4,5,6,yes\n")
    else:
        pa = pytest.importorskip("pyarrow")
        held = [pa.array(values) for values in ([0, 1], [1, 4], [2, 5], [3, 6], ["no", "yes"])]
        names = ["", "pay", "num", "pay", "bought"]
        pytest.importorskip("pyarrow.parquet").write_table(pa.table(held, names=names), path)
    assert read_table(path, asked)[0].tolist() == [[2], [5]]
    assert read_raw(path, Selection(columns=("num",), labelled=False)).X.tolist() == [[2], [5]]
    with pytest.raises(InputError, match="two columns are called 'pay': name each column once"):
        read_table(path, Selection(columns=("num", "pay")))
    with pytest.raises(InputError, match="two columns are called 'pay'"):
        read_table(path, Selection(target="pay"))


def test_a_saved_row_index_with_a_name_is_told() -> None:
    X = np.array([np.arange(5, 30), np.arange(25) ** 2, np.arange(25)[::-1]]).T.astype(float)
    assert row_counters(X, ["index", "square", "back"]) == ["index"]
    assert row_counters(X[:19], ["index", "square", "back"]) == []
    X[7, 0] = 0  # the ends agree, what lies between does not
    assert row_counters(X, ["index", "square", "back"]) == []


def test_a_column_may_be_called_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("column 1,column 2\n0,0\n1,1\n")
    assert read_table(tmp_path / "a.csv")[2].columns == ["column 1"]


@each("ending", ["csv", "tsv", "svmlight", "libsvm", "txt"])
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
    table = read_raw(untidy, Selection(columns=("age", "member"), labelled=False))
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
    assert read_raw(path, Selection(columns=("b",), labelled=False)).X.tolist() == [[1], [0]]
