"""Bad input to each command: one sentence with this word, status 2, and nothing written."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.tools import atomic_files
from command import Command
from loops import each, first_fast
from on_disk import write

ORDERED = "solve o.csv --lam 0.1"
REGION = "solve r.csv --lam 0.05 --worst-of region"
CERTIFY = "certify t.csv --lam 1"
RIVAL = "certify t.csv --weights w2.npy"
PATH = "path t.csv --target y"

SOLVE = {
    "solve": "DATA",
    "solve t.csv": "--lam",
    "solve t.csv --lam 0": "lam",
    "solve t.csv --lam one": "one",
    "solve t.csv --lam 1 --tol 0": "tol",
    "solve t.csv --lam 1 --max-time -3": "max_time",
    "solve t.csv --lam 1 --pairs drawn:0": "drawn:B",
    "solve t.csv --lam 1 --pairs near": "drawn:B",
    "solve t.csv --lam 1 --loss cubic": "cubic",
    "solve t.csv --lam 1 --loss higne": "mean hinge",
    "solve t.csv --lam 1 --loss square --method lifted --out o": "square",
    "solve wdbc --lam 1 --method qp": "cutting-plane",
    "solve t.csv --lam 1 --method tail-newton": "called 'descent'",
    "path t.csv --method quasi-newton": "called 'descent'",
    "solve t.csv --lam 1 --target il": "'y'",
    "solve t.csv --lam 1 --positive 7": "7",
    "solve t.csv --lam 1 --columns a,,b": "names",
    "solve t.csv --lam 1 --kernel precomputed --standardise": "--standardise",
    "solve t.csv --lam 1 --frob": "--frob",
    "solve '' --lam 1": "data",
    "solve missing.csv --lam 1": "missing.csv",
    "solve wdcb --lam 1": "wdbc",
    "solve wdbc --lam 1 --target x": "built in",
    "solve wdbc --lam 1 --drop a": "built in",
    "solve wdbc --lam 1 --qid q": "built in",
    "solve wdbc --lam 1 --worst-of a": "file",
    "solve linear:1 --lam 1": "linear",
    "solve linear:x --lam 1": "linear",
    "solve folder.csv --lam 1": "folder",
    "solve one.csv --lam 1": "class",
    "solve words.csv --lam 1 --target x": "--target",
    "solve bad.csv --lam 1": f"--drop {','.join(f'c{k}' for k in range(25))}\n",
    "solve t.csv --lam 1 --out taken": "taken",
    "solve t.csv --lam 1 --out ''": "--out",
    "solve t.csv --lam 1 --out taken/x": "--out taken/x",
    "solve last.csv --lam 1": "--target",
    "solve table.txt --lam 1": ".csv",
    "frobnicate": "frobnicate",
}
ORDERS = {
    f"{ORDERED} --qid none": "'none'",
    f"{ORDERED} --qid g": "label",
    f"{ORDERED} --qid q --target q": "both",
    f"{ORDERED} --qid q --positive 1": "--positive",
    f"{ORDERED} --qid q --time t --event e": "both",
    f"{ORDERED} --qid q --pairs nearest:2": "--pairs",
    f"{ORDERED} --qid q --fpr-max 0.5": "partial",
    f"{ORDERED} --qid q --structure 1": "structure",
    f"{ORDERED} --qid q --method closed-form": "classes",
    f"{ORDERED} --qid a": "pair",
    f"{ORDERED} --qid b --columns a": "grades",
    f"{ORDERED} --qid q --target g --columns a,q": "'q'",
    f"{ORDERED} --qid q --target g --columns a,a": "twice",
    f"{ORDERED} --time t": "together",
    f"{ORDERED} --event e": "together",
    f"{ORDERED} --time t --event t": "both",
    f"{ORDERED} --time t --event g": "event",
    f"{ORDERED} --time t --event e --target g": "--target",
    f"{ORDERED} --time t --event e --drop t": "'t'",
    f"{ORDERED} --time t --event e --columns a,e": "'e'",
    f"{ORDERED} --target e --fpr-max 0": "fpr_max",
    f"{ORDERED} --qid q --groups a,b": "l1",
    f"{ORDERED} --qid q --l1 0.1 --groups a,zz": "'zz'",
    f"{ORDERED} --qid q --l1 0.1 --groups 'a,b;b,t'": "two groups",
    f"{ORDERED} --qid q --l1 0.1 --groups 'a;;b'": "names",
    f"{ORDERED} --qid q --sign g": "'g'",
    f"{ORDERED} --qid q --sign a --kernel rbf": "linear",
    "solve rows.svm --lam 1": "--qid",
    "solve some.svm --lam 1 --qid qid": "row 2",
    "solve named.svm --lam 1 --qid qid": "whole",
    "solve hole.csv --lam 1 --qid q": "row 3",
    f"{REGION}s": "mean region",
    f"{REGION} --worst-of y --target y": "label",
    f"{REGION} --worst-of a --columns a,b": "aucert",
    f"{REGION} --fpr-max 0.5": "worst_of",
    f"{REGION} --structure 1": "worst_of",
    f"{REGION} --pairs nearest:2": "--pairs",
    f"{REGION} --qid a": "--qid",
    "solve short.npz --lam 1 --worst-of region": "shape",
    "solve short.npz --lam 1 --qid region": "shape",
    "solve short.npz --lam 1 --worst-of area": "'area'",
    "solve plain.svm --lam 1 --worst-of region": "names",
}
OTHERS = {
    CERTIFY: "--weights",
    "certify t.csv --weights w2.npy": "--lam",
    f"{CERTIFY} --weights w5.npy": "5 weights",
    f"{CERTIFY} --scores w5.npy": "60",
    f"{CERTIFY} --weights nowhere.npy": "nowhere.npy",
    f"{CERTIFY} --weights w2.npy --norm2 1": "--norm2",
    f"{CERTIFY} --weights w2.npy --from dlib --C 1": "both",
    f"{RIVAL} --from libfm --C 1": "libfm",
    f"{RIVAL} --from dlib --C 0": "C must",
    f"{RIVAL} --from dlib": "--C",
    f"{RIVAL} --C 1": "--from",
    f"{RIVAL} --from liblinear-ranksvm --C 1 --loss hinge": "squared_hinge",
    f"{CERTIFY} --weights w2.npy --exact --kernel rbf --gamma 1": "linear",
    f"{CERTIFY} --weights w2.npy --exact --structure 2": "--structure",
    f"{CERTIFY} --scores w5.npy --exact": "--weights",
    "certify o.csv --lam 1 --weights w5.npy --qid q --exact": "classes",
    "certify r.csv --lam 1 --weights w2.npy --worst-of region --exact": "--worst-of",
    "certify t.csv --model m/model.npz --weights m/weights.csv": "one of",
    "certify t.csv --model m/model.npz --standardise": "--model",
    "certify t.csv --model m/model.npz --drop a": "--model",
    "predict m/none.npz t.csv": "read",
    "predict m t.csv": "folder",
    "predict m/model.npz folder.csv": "one by one",
    "predict t.csv t.csv": "model",
    "predict m/model.npz none.csv": "no such",
    "predict m/model.npz t.csv --out m": "folder",
    "predict m/model.npz t.csv --out no/s.csv": "folder",
    "predict m/model.npz t.csv --drop ,": "names",
    "predict m/model.npz wdbc": "30",
    "predict m/model.npz t.csv --keep nay": "'nay'",
    "predict m/model.npz t.csv --keep a,score": "score",
    "predict m/model.npz t.csv --out t.csv": "another",
    "predict m/model.npz t.csv --out m/model.npz": "another",
    "predict m/model.npz x.csv": "'b'",
    f"{PATH} --lam -1": "lam",
    f"{PATH} --n-lams 0": "n_lams",
    f"{PATH} --lam 1 --n-lams 20": "--n-lams",
    f"{PATH} --cv 1": "cv",
    f"{PATH} --cv 3 --fpr-max 0.1": "--cv",
    f"{PATH} --cv 3 --pairs drawn:9": "--cv",
    f"{PATH} --tol 0": "tol",
    f"{PATH} --groups 'a;b'": "l1_ratio",
    f"{PATH} --kernel rbf --l1-ratio 0.5": "linear",
    f"{PATH} --row-weights a": "Parquet",
    "path t.csv --target none": "none",
    "bench mine": "MODULE:FUNCTION",
    "bench mine:fit mine:fit": "twice",
    "bench mine:fit --lam 0": "lam",
    "bench mine:fit --max-time -1": "max_time",
    "bench mine:fit --target y": "built in",
    "bench mine:none --data t.csv": "none",
    "bench mine:fit --data no.csv --out b": "no such",
    "plot t.csv --out p.svg": "JSON",
    "plot list.json --out p.svg": "JSON",
    "plot none.json --out p.svg": "no such",
    "plot . --out p.svg": "folder",
    "plot other.json --out p.svg": "drawn",
    "plot broken.json --out p.svg": "drawn",
    "plot empty.json --out p.svg": "drawn",
    "plot other.json --out p.gif": ".svg",
    "check-solver": "solver",
    "check-solver mine": "MODULE:FUNCTION",
    "check-solver mine:fit --only tie --out b": "ties",
    "check-solver mine:fit --tol nan": "tol",
    "check-solver nosolver:fit --out b": "nosolver",
    "check-solver mine:none --out b": "none",
    "check-solver mine:fit --out ''": "--out",
    "validate --only nope": "nope",
    "validate --list --only theorem-4-first-ter": "theorem-4-first-term",
    "validate --out ''": "--out",
    "reproduce --out '  '": "--out",
}
FOLDER = {
    "solve data --lam 1 --fpr-max 0.1": "sample",
    "solve data --lam 1 --kernel rbf": "sample",
    "solve data --lam 1 --pairs drawn:5": "--pairs",
    "solve data --lam 1 --standardise": "standardise",
    "solve data --lam 1 --method qp": "descent",
    "solve data --lam 1 --columns a,z": "'z'",
    "solve data --lam 1 --positive great": "'great'",
    "solve data --lam 1 --qid q --target q": "label",
    "solve data --lam 1 --time a --event b": "--qid",
    "solve data --lam 1 --proof": "--out",
    "solve data --lam 1 --proof --loss logistic --out o": "hinge",
    "solve data --lam 1 --qid q --proof --out o": "queries",
    "solve data --lam 1 --out o --proof-rows new": "--proof",
    "solve data --lam 1 --out o --proof --proof-rows m": "empty",
    "solve data --lam 1 --out o --proof --proof-rows t.csv": "folder",
    "solve t.csv --lam 1 --out o --proof --proof-rows new": "leave",
    "certify data --lam 1 --scores w5.npy": "--weights",
    "certify data --lam 1 --weights w2.npy --exact": "folder",
    "path data --lam 1 --kernel rbf": "sample",
    "path data --lam 1 --l1-ratio 0.5": "ridge",
    "path data --lam 1 --method qp": "descent",
    "path data --lam 1 --standardise": "standardise",
    "path data --lam 1 --qid q --cv 99": "folds",
    "bench mine:fit --data data --target y": "folder",
    "solve split --lam 1 --qid q": "split",
}


@pytest.fixture
def filled(command: Command) -> Command:
    """The command in a folder with files of many kinds."""
    rng = np.random.default_rng(0)
    y, few = np.arange(60) % 3 // 2, np.arange(30) % 3 // 2
    X = np.round(rng.normal(size=(60, 2)) + y[:, None], 3)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y}
    place = np.where(np.arange(60) % 2, "north", "south")
    write("t.csv", table)
    write("r.csv", {"a": X[:, 0], "b": X[:, 1], "region": place, "y": y})
    held = {"a": X[:30, 0], "b": X[:30, 1], "q": np.arange(30) // 8}
    held |= {"t": np.exp(-X[:30, 1]).round(1), "e": few, "g": np.clip(X[:30, 0].round(), -1, 1)}
    write("o.csv", held)
    write("x.csv", {"a": X[:30, 0], "x": X[:30, 1]})
    write("bad.csv", {f"c{k}": ["x", "z"] * 9 for k in range(25)} | {"a": few[:18], "y": few[:18]})
    np.savez("short.npz", X=X, y=y, region=place[:-1])
    for name, text in {
        "last.csv": "a,b,y,\n1,2,0,\n3,4,1,\n",
        "table.txt": "a;b;y\n1;2;0\n3;4;1\n",
        "one.csv": "a,b,y\n1,2,0\n3,4,0\n",
        "words.csv": "x,kind\n1,three\n2,eight\n",
        "hole.csv": "a,q,y\n1,one,0\n2,,1\n3,two,0\n",
        "rows.svm": "2 qid:1 1:1\n0 qid:1 1:0.25\n",
        "some.svm": "2 qid:1 1:1\n0 1:0.25\n",
        "named.svm": "2 qid:one 1:1\n0 qid:one 1:0.25\n",
        "plain.svm": "1 1:2\n0 1:1\n",
        "mine.py": "def fit(X, y, lam):\n    return X[0]\n",
        "list.json": "[1]",
        "other.json": '{"a": 1}',
        "empty.json": '{"path": []}',
        "broken.json": '{"bench": [{"curves": [{"name": 1}]}]}',
        "taken": "",
    }.items():
        Path(name).write_text(text)
    Path("folder.csv").mkdir()
    for k in (2, 5):
        np.save(f"w{k}.npy", np.ones(k))
    command("solve t.csv --lam 0.1 --out m")
    return command


BAD = {"solve": SOLVE, "orders": ORDERS, "others": OTHERS, "folder": FOLDER}
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    ["solve", "orders", pytest.param("others", marks=SLOW), pytest.param("folder", marks=SLOW)],
)
def test_bad_input_is_one_sentence_and_writes_nothing(filled: Command, name: str) -> None:
    if name == "folder":
        k = np.arange(300)
        columns = {"a": np.sin(k), "b": np.cos(3 * k), "q": k // 30, "y": k % 2}
        for folder, cuts in (("data", (0, 150, 300)), ("split", (0, 140, 300))):
            Path(folder).mkdir()
            for start, stop in itertools.pairwise(cuts):
                part = {name: values[start:stop] for name, values in columns.items()}
                write(f"{folder}/{start}.parquet", part)
    before = set(Path().rglob("*"))
    for words, said in BAD[name].items():
        assert said in filled.refused(words + " "), words
    assert {path for path in Path().rglob("*") if "__pycache__" not in path.parts} == before


def test_a_missing_value_is_named_by_its_row(filled: Command) -> None:
    lines = Path("o.csv").read_text().splitlines()
    for column, word in ((2, ""), (0, "word"), (3, ""), (3, "nan")):
        cells = lines[4].split(",")
        cells[column] = word
        Path("o.csv").write_text("\n".join([*lines[:4], ",".join(cells), *lines[5:]]) + "\n")
        order = "--qid q" if column < 3 else "--time t --event e"
        assert "row 5" in filled.refused(f"{ORDERED} {order}")


def test_the_label_is_named_where_the_last_column_has_no_name(filled: Command) -> None:
    offered = filled.refused("solve last.csv --lam 1").partition("--drop ")[2].strip()
    filled(f"solve last.csv --lam 1 --target y --drop {offered}")


def test_columns_are_kept_as_they_are_and_certify_takes_what_predict_writes(
    filled: Command,
) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    Path("k.csv").write_text('a,b,y,id,note,n\n1,2,0,007,"x, y",1\n3,4,1,,,2.5\n')
    held = {"a": [1.0, 3.0], "b": [2.0, 4.0], "y": [0, 1], "id": ["007", ""], "n": [1, None]}
    pq.write_table(pa.table(held), "k.parquet")
    out = filled("predict m/model.npz k.csv --keep y,id,note,n,b")
    assert out.startswith('y,id,note,n,b,score,label\n0,007,"x, y",1,2,')
    assert "\n1,,,2.5,4," in out
    found = filled.json("predict m/model.npz k.csv --keep id,n --out s.csv")["kept"]
    assert found == {"id": ["007", ""], "n": [1, 2.5]}
    found = filled.json("predict m/model.npz k.parquet --keep id,n")
    assert found["kept"] == {"id": ["007", ""], "n": [1, None]}
    audit = filled.json("certify k.csv --lam 1 --target y --columns a,b --scores s.csv")
    assert audit["auc"] == float(found["scores"][1] > found["scores"][0])


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(filled: Command) -> None:
    filled(f"{PATH} --lam 1 --tol 1e-3 --cv 50")
    assert filled.notes.startswith("aucert: cv = 50") and filled.notes.count("\n") == 1


@each(
    ("words", "found"),
    first_fast(
        [
            ("solve t.csv --lam 0.1", "certified"),
            ("path t.csv --lam 0.1 --json", '"certified"'),
            ("predict m/model.npz t.csv", "score,label\n"),
            ("predict m/model.npz t.csv --json", '"scores"'),
            ("validate --only eq-2-of-a-constant-score", "eq-2-of-a-constant-score"),
            ("validate --only eq-2-of-a-constant-score --json", "eq-2-of-a-constant-score"),
            ("check-solver mine:fit --only two-rows --json", '"problems"'),
            ("bench mine:fit --data t.csv --max-time 1", "mine:fit"),
            ("reproduce nonlinear-table-1", "nonlinear-table-1"),
        ],
        6,
    ),
)
def test_a_result_is_printed_before_the_error_of_a_full_disk(
    filled: Command, monkeypatch: pytest.MonkeyPatch, words: str, found: str
) -> None:
    error = OSError(errno.ENOSPC, "No space left on device")
    if "--json" in words:  # nor may a folder be written any more
        error = OSError(errno.EACCES, "Permission denied")

    def full(*given: object) -> None:
        raise error

    monkeypatch.setattr(atomic_files, "_replace", full)
    status, out, err = filled.run(*words.split(), "--out", "full")
    assert status == 2 and found in out and err.count("\n") == 1 and str(error.strerror) in err
    assert not [path for path in Path().glob("full/*.*") if path.suffix != ".jsonl"]
