"""How a command ends: bad input in one sentence, what `--out` may replace, options, memory."""

import errno
import itertools
import json
import os
import resource
import shlex
import signal
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
import numpy as np
import pytest

from aucert.exact.estimators.thresholds import RULES
from aucert.exact.losses.registry import ALL_LOSSES, LOSSES
from aucert.exact.solvers.choose import NAMES
from aucert.exact.spaces.kernels import KERNEL_NAMES
from aucert.exact.tools import atomic_files
from aucert.validation import cli
from aucert.validation.cli import aucert
from aucert.validation.commands import endings
from aucert.validation.commands.endings import output_folder, run
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
    "solve t.csv --lam 1 --pairs near": "drawn:B",
    "solve t.csv --lam 1 --loss cubic": "cubic",
    "solve t.csv --lam 1 --loss square --method lifted --out o": "square",
    "solve wdbc --lam 1 --method qp": "cutting-plane",
    "solve t.csv --lam 1 --method tail-newton": "called 'descent'",
    "solve t.csv --lam 1 --target il": "'y'",
    "solve t.csv --lam 1 --positive 7": "7",
    "solve t.csv --lam 1 --kernel precomputed --standardise": "--standardise",
    "solve t.csv --lam 1 --frob": "--frob",
    "solve '' --lam 1": "data",
    "solve missing.csv --lam 1": "missing.csv",
    "solve wdcb --lam 1": "wdbc",
    "solve wdbc --lam 1 --target x": "built in",
    "solve wdbc --lam 1 --worst-of a": "file",
    "solve linear:1 --lam 1": "linear",
    "solve folder.csv --lam 1": "folder",
    "solve one.csv --lam 1": "class",
    "solve words.csv --lam 1 --target x": "--target",
    "solve bad.csv --lam 1": f"--drop {','.join(f'c{k}' for k in range(25))}\n",
    "solve bad.csv --lam 1 --out new": "--drop",
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
    f"{ORDERED} --qid q --time t --event e": "both",
    f"{ORDERED} --qid q --pairs nearest:2": "--pairs",
    f"{ORDERED} --qid q --target g --columns a,q": "'q'",
    f"{ORDERED} --time t": "together",
    f"{ORDERED} --time t --event t": "both",
    f"{ORDERED} --time t --event e --target g": "--target",
    f"{ORDERED} --time t --event e --columns a,e": "'e'",
    f"{ORDERED} --qid q --l1 0.1 --groups a,zz": "'zz'",
    f"{ORDERED} --qid q --l1 0.1 --groups 'a,b;b,t'": "two groups",
    f"{ORDERED} --qid q --sign g": "'g'",
    "solve rows.svm --lam 1": "--qid",
    "solve some.svm --lam 1 --qid qid": "row 2",
    "solve named.svm --lam 1 --qid qid": "whole",
    "solve hole.csv --lam 1 --qid q": "row 3",
    "solve word.csv --lam 1 --qid q": "row 2",
    "solve late.csv --lam 1 --time t --event e": "row 3",
    "solve nan.csv --lam 1 --time t --event e": "row 2",
    f"{REGION}s": "mean region",
    f"{REGION} --worst-of y --target y": "label",
    f"{REGION} --worst-of a --columns a,b": "aucert",
    f"{REGION} --pairs nearest:2": "--pairs",
    "solve short.npz --lam 1 --worst-of region": "shape",
    "solve short.npz --lam 1 --worst-of area": "'area'",
    "solve short.npz --lam 1 --worst-of ''": "''",
    "solve short.npz --lam 1 --target ''": "''",
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
    f"{RIVAL} --from dlib": "--C",
    f"{RIVAL} --C 1": "--from",
    f"{RIVAL} --from liblinear-ranksvm --C 1 --loss hinge": "squared_hinge",
    f"{CERTIFY} --weights w2.npy --exact --kernel rbf --gamma 1": "linear",
    f"{CERTIFY} --scores w5.npy --exact": "--weights",
    "certify o.csv --lam 1 --weights w5.npy --qid q --exact": "classes",
    "certify t.csv --model m/model.npz --weights m/weights.csv": "one of",
    "certify t.csv --model m/model.npz --standardise": "--model",
    "predict m/none.npz t.csv": "read",
    "path t.csv --n-lams 1000000000": "100000",
    "solve t.csv --lam 1 --no-data": "--out",
    "solve none.csv --lam 1 --out new/x/y": "no such",
    "predict m/model.npz folder.csv": "one by one",
    "predict t.csv t.csv": "model",
    "predict m/model.npz none.csv": "no such",
    "predict m/model.npz t.csv --out m": "folder",
    "predict m/model.npz wdbc": "30",
    "predict m/model.npz t.csv --keep nay": "'nay'",
    "predict m/model.npz t.csv --keep a,score": "score",
    "predict m/model.npz t.csv --out m/model.npz": "another",
    "predict m/model.npz x.csv": "'b'",
    "predict m/model.npz t.csv --drop nay": "--drop",
    "predict m/model.npz vast.csv": "row 1 overflows",
    "plot large.json --out p.svg": "drawn",
    f"{PATH} --lam 1 --n-lams 20": "--n-lams",
    f"{PATH} --cv 3 --fpr-max 0.1": "--cv",
    f"{PATH} --row-weights a": "Parquet",
    "bench mine": "MODULE:FUNCTION",
    "bench mine:fit mine:fit": "twice",
    "bench mine:fit --target y": "built in",
    "bench mine:fit --data no.csv --out b": "no such",
    "plot t.csv --out p.svg": "JSON",
    "plot none.json --out p.svg": "no such",
    "plot other.json --out p.svg": "drawn",
    "plot empty.json --out p.svg": "drawn",
    "plot other.json --out p.gif": ".svg",
    "check-solver": "solver",
    "check-solver mine:fit --only tie --out b": "ties",
    "check-solver mine:fit --out ''": "--out",
    "validate --only nope": "aucert validate --list",
    "validate --list --only theorem-4-first-ter": "theorem-4-first-term",
    "validate --out ''": "--out",
    "reproduce --out '  '": "--out",
    "reproduce scaling-up-tabel-1": "scaling-up-table-1",
    "reproduce --data-dir /nowhere/at/all": "/nowhere/at/all",
    "reproduce --jobs 0": "jobs",
    "reproduce --seed -1": "seed",
    "reproduce --profile slow": "slow",
    "reproduce sauc-fig-1 --max-time 0 --estimate": "max",
}
FOLDER = {
    "solve data --lam 1 --fpr-max 0.1": "sample",
    "solve data --lam 1 --kernel rbf": "sample",
    "solve data --lam 1 --pairs drawn:5": "--pairs",
    "solve data --lam 1 --standardise": "standardise",
    "solve data --lam 1 --method qp": "descent",
    "solve data --lam 1 --proof": "--out",
    "solve data --lam 1 --proof --loss logistic --out o": "hinge",
    "solve data --lam 1 --qid q --proof --out o": "queries",
    "solve data --lam 1 --out o --proof-rows new": "--proof",
    "solve data --lam 1 --out o --proof --proof-rows m": "empty",
    "solve data --lam 1 --out o --proof --proof-rows t.csv": "folder",
    "solve t.csv --lam 1 --out o --proof --proof-rows new": "leave",
    "certify data --lam 1 --scores w5.npy": "--weights",
    "certify data --lam 1 --weights w2.npy --exact": "folder",
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
        "word.csv": "a,q,y\nfew,1,0\n2,1,1\n",
        "late.csv": "a,t,e\n1,2,1\n2,,1\n3,4,0\n",
        "nan.csv": "a,t,e\n1,nan,1\n2,3,1\n3,4,0\n",
        "rows.svm": "2 qid:1 1:1\n0 qid:1 1:0.25\n",
        "some.svm": "2 qid:1 1:1\n0 1:0.25\n",
        "named.svm": "2 qid:one 1:1\n0 qid:one 1:0.25\n",
        "mine.py": "def fit(X, y, lam):\n    return X[0]\n",
        "other.json": '{"a": 1}',
        "empty.json": '{"path": []}',
        "large.json": f'{{"bench": [{{"curves": [{{"gap": [{10**400}], "seconds": []}}]}}]}}',
        "vast.csv": "a,b\n1.7e308,1.7e308\n",
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


def test_the_label_is_named_where_the_last_column_has_no_name(filled: Command) -> None:
    filled("solve xor --lam 1 --out xor")  # the new folder is not the data
    offered = filled.refused("solve last.csv --lam 1").partition("--drop ")[2].strip()
    filled(f"solve last.csv --lam 1 --target y --drop {offered}")


def test_columns_are_kept_as_they_are_and_certify_takes_what_predict_writes(filled) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    Path("k.csv").write_text('a,b,y,id,note,n\n1,2,0,007,"x, y",1\n3,4,1,,,2.5\n')
    held = {"a": [1.0, 3.0], "b": [2.0, 4.0], "y": [0, 1], "id": ["007", ""], "n": [1, None]}
    held["day"] = [date(2026, 1, 2), None]
    pq.write_table(pa.table(held), "k.parquet")
    out = filled("predict m/model.npz k.csv --keep y,id,note,n,b")
    assert out.startswith('y,id,note,n,b,score,label\n0,007,"x, y",1,2,')
    assert "\n1,,,2.5,4," in out
    found = filled.json("predict m/model.npz k.csv --keep id,n --out s.csv")["kept"]
    assert found == {"id": ["007", ""], "n": [1, 2.5]}
    found = filled.json("predict m/model.npz k.parquet --keep id,n,a,day")
    kept = {"id": ["007", ""], "n": [1, None], "a": [1, 3], "day": ["2026-01-02", None]}
    assert found["kept"] == kept
    audit = filled.json("certify k.csv --lam 1 --target y --columns a,b --scores s.csv")
    assert audit["auc"] == float(found["scores"][1] > found["scores"][0])


@pytest.mark.slow
def test_a_closed_stream_takes_what_is_written() -> None:
    for words, found in (("solve xor --lam 1 2>&-", "certified"), ("validate --list >&-", "")):
        run = f"{shlex.quote(sys.executable)} -m aucert {words}"
        done = subprocess.run(run, shell=True, capture_output=True, text=True, check=True)
        assert found in done.stdout and not done.stderr


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
def test_a_result_is_printed_before_the_error_of_a_full_disk(filled, monkeypatch, words, found):
    error = OSError(errno.ENOSPC, "No space left on device")
    if "--json" in words:  # nor may a folder be written any more
        error = OSError(errno.EACCES, "Permission denied")

    def full(*given: object) -> None:
        raise error

    monkeypatch.setattr(atomic_files, "_replace", full)
    status, out, err = filled.run(*words.split(), "--out", "full")
    assert status == 2 and found in out and err.count("\n") == 1 and str(error.strerror) in err
    assert not [path for path in Path().glob("full/*.*") if path.suffix != ".jsonl"]


SOLVED = "solve linear:60 --lam 0.01 --out out"
WRITTEN = {"weights.csv", "model.npz", "proof.npz", "data.npz", "solution.json"}


def contents(folder: Path = Path("out")) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_of_somebody_else_is_never_replaced(command: Command) -> None:
    for name in ("weights.csv", "proof.npz", "solution.json"):
        Path("out").mkdir()
        Path("out", name).write_text("[1, 2, 3]")
        said = command.refused(SOLVED)
        assert name in said and "another folder" in said
        assert contents() == {name: b"[1, 2, 3]"}
        Path("out", name).unlink()
        Path("out").rmdir()


def test_an_earlier_run_is_replaced_unless_it_has_changed(command: Command) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("kept")
    command(SOLVED)
    first = contents()
    assert set(first) == WRITTEN | {"notes.txt"}
    command(SOLVED, "--kernel rbf")
    second = contents()
    assert set(second) == {"notes.txt", "weights.csv", "model.npz", "solution.json"}
    assert json.loads(second["solution.json"])["proof"] is None
    assert second["weights.csv"] != first["weights.csv"] and second["notes.txt"] == b"kept"
    for name in ("weights.csv", "proof.npz"):
        command(SOLVED)
        assert contents()["weights.csv"] == first["weights.csv"]
        Path("out", name).write_text("mine now")
        before = contents()
        assert name in command.refused(SOLVED)
        assert contents() == before
        Path("out", name).write_bytes(first[name])


def limited(words: str, kind: int, most: int) -> tuple[str, str]:
    """Run the command with a limit of the system: its output, and the one sentence it says."""
    done = subprocess.run(
        [sys.executable, "-m", "aucert", *words.split()],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
        timeout=300,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("aucert: "), done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_files_limited_in_size_are_one_sentence_that_says_so(command: Command) -> None:
    """Of the weights, of the solution, of the proof: an archive adds an error of its own."""
    rows = np.c_[np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2]
    np.savetxt("data.csv", rows, delimiter=",", header="a,b,y", comments="")
    words = "solve data.csv --lam 0.01"
    command(words)  # the compiler's cache is made before: it would not be written
    for size in (400, 10, 1500):
        out, said = limited(f"{words} --out out", resource.RLIMIT_FSIZE, size)
        assert "certified" in out and "File too large" in said and ".aucert-" not in said
        assert not Path("out").exists()


def test_an_interrupt_waits_for_the_moves(tmp_path: Path, monkeypatch) -> None:
    replace = os.replace

    def interrupted(*given) -> None:
        signal.raise_signal(signal.SIGINT)
        replace(*given)

    monkeypatch.setattr(endings.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), output_folder(str(tmp_path / "new")) as folder:
        assert folder is not None
        for name in "abc":
            (folder / name).write_text(name)
    assert contents(tmp_path / "new") == {"a": b"a", "b": b"b", "c": b"c"}


def numpys() -> ImportError:
    """As numpy raises it: a page of advice, and the reason as its cause."""
    error = ImportError("\n\nIMPORTANT: PLEASE READ THIS\n\n" * 20)
    error.__cause__ = ImportError("libblas.so: failed to map segment from shared object")
    return error


FULL = (errno.ENOSPC, "No space left on device")
ENDINGS = {
    "libblas.so: failed to map segment": (2, numpys()),
    "compiled library cannot be loaded": (2, OSError("Could not find/load shared object file 'x'")),
    "no thread": (2, RuntimeError("can't start new thread")),
    "the output cannot be written: No space": (2, OSError(*FULL)),
    "m.npz: No space left": (2, OSError(*FULL, "m.npz")),
    "": (141, BrokenPipeError(errno.EPIPE, "Broken pipe")),  # what read the output has stopped
    "\n": (1, SystemExit(1)),  # a verdict
}


@each("said", ENDINGS)
def test_what_gives_out_is_one_sentence(said: str, monkeypatch, capsys) -> None:
    status, error = ENDINGS[said]

    @click.command()
    def fails() -> None:
        raise error

    for name in ("stdout", "stderr"):  # click puts others in their place
        monkeypatch.setattr(sys, name, getattr(sys, name))
    with pytest.raises(SystemExit) as found:
        run(fails, [])
    out, err = capsys.readouterr()
    assert (found.value.code, out) == (status, "") and said.strip() in err
    assert err.count("\n") == (status == 2), err


def test_a_module_that_is_not_there_is_a_defect() -> None:
    @click.command()
    def fails() -> None:
        raise ModuleNotFoundError("No module named 'aucert.nowhere'")

    with pytest.raises(ModuleNotFoundError):
        run(fails, [])


# Every choice of every option: some are looked up by strings

SHORTEST = {  # the least that a command takes
    "solve": "xor --lam 1",
    "path": "xor --n-lams 2",
    "certify": "xor --lam 1 --weights w.npy",
    "predict": "model.npz xor",
    "validate": "--list",
    "check-solver": "--list",
    "bench": "mine.py:fit --data none",  # each run is a process of its own
    "plot": "solved --out picture.svg",
    "reproduce": "--list",
}


def choices() -> Iterator[list[str]]:
    for name, command in aucert.commands.items():
        for option in command.params:
            for choice in option.type.choices if isinstance(option.type, click.Choice) else ():
                yield [name, *SHORTEST[name].split(), option.opts[0], str(choice)]


def test_words_are_those_of_the_library() -> None:
    lists = (
        (cli.FIRST, LOSSES), (cli.LOSSES, ALL_LOSSES), (cli.METHODS, NAMES),
        (cli.KERNELS, KERNEL_NAMES), (cli.RULES, RULES),
    )  # fmt: skip
    for words, known in lists:
        assert words.split() == list(known)


@pytest.mark.slow
def test_every_command_has_help_and_takes_every_choice_of_every_option(command: Command) -> None:
    np.save("w.npy", np.zeros(2))
    assert command("--help")
    for name in aucert.commands:
        assert name in command(name, "--help")
    lines = list(choices())
    assert lines
    for arguments in lines:
        ended, out, said = command.run(*arguments)
        # 2: what asks for another option, or for larger data
        assert ended in (0, 2) and bool(out) == (ended == 0), (arguments, out, said)


LIMIT = 3 * 2**30  # bytes: the libraries alone take about one and a half GiB of addresses
PEAK = """
import resource, sys
from aucert.validation.cli import main
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.slow
@each("kind", ["npz", "parquet", "csv"])
def test_a_million_rows_fit_in_four_times_the_data(tmp_path: Path, kind: str) -> None:
    def peak(*args: object) -> int:
        run = [sys.executable, "-c", PEAK, *map(str, args)]
        found = subprocess.run(run, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        return int(found.stderr.split()[-1]) * (1 if sys.platform == "darwin" else 1024)

    rng = np.random.default_rng(0)
    y = (rng.random(1_000_000) < 0.2).astype(int)
    X = np.round(rng.normal(size=(1_000_000, 8)) + 0.5 * y[:, None], 5)
    paths = tmp_path / f"data.{kind}", tmp_path / f"small.{kind}"
    for path, n in zip(paths, (1_000_000, 50), strict=True):
        columns = {f"f{k}": X[:n, k] for k in range(8)}
        write(path, ({"X": X[:n]} if kind == "npz" else columns) | {"y": y[:n]})
    weights = write(tmp_path / "w.csv", "0.3\n" * 8)
    basis = peak("solve", paths[1], "--lam", "0.01")
    for name, *rest in (("solve",), ("certify", "--weights", weights)):
        found = peak(name, paths[0], "--lam", "0.01", "--tol", "1e-6", *rest)
        assert found - basis <= 4 * X.nbytes


@pytest.mark.slow
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    def refused(words: str, limit: int = LIMIT) -> str:
        out, said = limited(f"solve {words}", resource.RLIMIT_AS, limit)
        assert out == ""
        return said

    np.savez("data.npz", y=np.arange(4) % 2)
    words = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {(4, 10**9)}, }}"
    words = words.ljust(117) + "\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words.encode()
    with zipfile.ZipFile("data.npz", "a") as archive:  # no room is made for what is not there
        archive.writestr("X.npy", header + bytes(64))
    said = refused("data.npz --lam 1")
    assert "29.8 GiB" in said and "damaged" in said and "'X'" in said
    for count in (10**12, 10**30):
        said = refused(f"linear:100 --lam 1 --pairs drawn:{count}")
        assert f"--pairs drawn:{count}" in said and "memory" in said
    X = np.random.default_rng(0).normal(size=(30_000, 300))
    np.savez("data.npz", X=X, y=np.arange(30_000) % 2)
    words = "data.npz --lam 1e-6 --kernel rbf --gamma 1.0"
    assert "not enough memory" in refused(words, 5 * 2**29)
