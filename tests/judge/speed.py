"""Is it slower than it was? python tests/judge/speed.py --against COMMIT [--all] [--only NAME]

The library of a commit and that of this tree run 24 pieces of work in turn, each time in a fresh
process with one thread and a compiler cache of its own for each side. What counts is CPU time: of
a call after a small one and, unless it is long, one of the same size (loading compiled loops is a
part of first answers), or of the whole process where first answers are meant. Slower is where the
median of the paired ratios (new / old) is above 1.1 and their lower quartile above 1.05. Exit
status 1 if anything is.

No run takes more than about five seconds with the old library, except those marked long (--all).
The rows of real data sets are looked for in AUCERT_DATA.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
PAIRS = 7
MEDIAN, QUARTILE = 1.1, 1.05
LIMIT = 600  # seconds for one process
PARTS = ("exact", "approx", "validation", "__init__.py", "__main__.py", "py.typed")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Job = Callable[[], object]


class Work(NamedTuple):
    """A job made with `aucert.exact` for a size, the size, and that of the first call (0: none)."""

    make: Callable[[Any, int], Job]
    size: int
    first: int
    long: bool = False


# --------------------------------------------------------------------------------------- the work


def rows(n: int, d: int, share: float = 0.3, shift: float = 0.5, seed: int = 0) -> tuple[Any, Any]:
    """Return normal rows of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    y[:2] = True, False
    X = rng.standard_normal((n, d))
    X[:, : (d + 3) // 4] += shift * y[:, None]
    return X, y.astype(int)


def plain(d: int, lam: float = 1e-3, share: float = 0.3, **asked: Any) -> Callable[[Any, int], Job]:
    """Return `solve` on normal rows."""

    def make(exact: Any, n: int) -> Job:
        X, y = rows(n, d, share)
        return lambda: exact.solve(X, y, lam, **asked)

    return make


def correlated(exact: Any, n: int) -> Job:
    X, y = rows(n, 40)
    return lambda: exact.solve(np.cumsum(X, axis=1), y, 1e-3)


def sparse(exact: Any, n: int) -> Job:
    import scipy.sparse

    rng, d, each = np.random.default_rng(0), 5000, 12
    columns = (d * rng.random((n, each)) ** 2).astype(int)
    X = scipy.sparse.csr_array(
        (np.ones(n * each), columns.ravel(), np.arange(0, n * each + 1, each)), shape=(n, d)
    )
    X.sum_duplicates()
    y = (columns[:, 0] % 3 == 0) ^ (rng.random(n) < 0.2)
    return lambda: exact.solve(X, y, 1e-2)


def one_hot(exact: Any, n: int) -> Job:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 8, (n, 5))
    X = np.hstack([levels[:, [k]] == np.arange(8) for k in range(5)]).astype(float)
    y = (levels[:, 0] + levels[:, 1] + rng.integers(0, 8, n)) > 12
    return lambda: exact.solve(X, y, 1e-3)


def ranking(exact: Any, n: int) -> Job:
    rng, (X, _) = np.random.default_rng(1), rows(n, 10)
    grade = np.clip(np.rint(X[:, 0] + rng.standard_normal(n) + 1), 0, 4)
    return lambda: exact.solve(X, grade, 1e-2, qid=np.arange(n) // 50)


def survival(exact: Any, n: int) -> Job:
    rng, (X, _) = np.random.default_rng(1), rows(n, 10)
    time, event = rng.exponential(np.exp(-X[:, 0])), rng.random(n) < 0.6
    return lambda: exact.solve(X, None, 1e-2, time=time, event=event)


def cross_validated(exact: Any, n: int) -> Job:
    X, y = rows(n, 10)
    return lambda: exact.ROCSVMCV().fit(X, y)


def path(exact: Any, n: int) -> Job:
    X, y = rows(n, 20)
    return lambda: exact.regularization_path(X, y, n_lams=12)


def blocks(exact: Any, n: int) -> Job:
    X, y = rows(n, 10)
    return lambda: exact.solve(exact.StreamedRows(X), y, 1e-3, tol=1e-6)


def partitions(exact: Any, n: int) -> Job:
    X, y = rows(n, 10)
    cuts = [slice(k, k + n // 4) for k in range(0, n, n // 4)]

    def job() -> object:
        try:
            held = exact.PartitionedRows([(X[cut], y[cut] == 1) for cut in cuts])  # type: ignore[list-item]
        except (TypeError, AttributeError):  # what held a part of the rows at first
            part: Any = exact.ArrayPartition
            held = exact.PartitionedRows([part(X[cut], y[cut] == 1) for cut in cuts])
        return exact.solve(held, None, 1e-3, tol=1e-6)

    return job


def best_subset(exact: Any, d: int) -> Job:
    X, y = rows(400, d)
    return lambda: exact.best_subset(X, y, 5, 1e-3)


def first_answer(exact: Any, n: int) -> Job:
    X, y = rows(n, 30)
    return lambda: exact.ROCSVM(lam=1e-3).fit(X, y)


def many_small(exact: Any, n: int) -> Job:
    X, y = rows(1000, 10)
    return lambda: [exact.solve(X, y, 10.0 ** -(1 + k % 4)) for k in range(n)]


def real(name: str, positive: object, lam: float, most: int) -> Callable[[Any, int], Job]:
    """Return `solve` on the rows of a real data set."""

    def make(exact: Any, n: int) -> Job:
        held = np.load(Path(os.environ["AUCERT_DATA"]) / f"{name}.npz", allow_pickle=False)
        step = max(1, len(held["y"]) // min(n, most))
        X, y = held["X"][::step].astype(float), held["y"][::step] == positive
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
        return lambda: exact.solve(X, y, lam)

    return make


REAL = {"real-spambase": "spambase", "real-ijcnn1": "ijcnn1", "real-covtype": "covtype_sub"}

WORK: dict[str, Work] = {
    "small": Work(plain(10), 1_000, 300),
    "narrow": Work(plain(8), 100_000, 2_000),
    "narrow-million": Work(plain(4), 1_000_000, 210_000),
    "medium": Work(plain(100), 10_000, 2_000),
    "wide": Work(plain(1000), 1_500, 200),
    "correlated": Work(correlated, 20_000, 2_000),
    "sparse": Work(sparse, 10_000, 500),
    "one-hot": Work(one_hot, 20_000, 1_000),
    "imbalanced": Work(plain(20, share=0.005), 50_000, 5_000),
    "kernel": Work(plain(3, 1e-2, kernel="rbf", gamma=0.3), 1_000, 100),
    "squared-hinge": Work(plain(20, loss="squared_hinge"), 100_000, 2_000),
    "squared-hinge-wide": Work(plain(400, loss="squared_hinge"), 3_000, 300),
    "logistic": Work(plain(20, loss="logistic"), 20_000, 2_000),
    "l1": Work(plain(100, l1=0.01), 5_000, 300),
    "ranking": Work(ranking, 10_000, 1_000),
    "survival": Work(survival, 5_000, 300),
    "partial-auc": Work(plain(10, 1e-2, fpr_max=0.5, tol=1e-6), 5_000, 300),
    "cross-validation": Work(cross_validated, 3_000, 300),
    "path": Work(path, 20_000, 1_000),
    "blocks": Work(blocks, 400_000, 20_000),
    "partitions": Work(partitions, 400_000, 20_000),
    "best-subset": Work(best_subset, 30, 12),
    "first-answer": Work(first_answer, 569, 0),
    "warm": Work(many_small, 40, 2),
    "long-million": Work(plain(30), 1_000_000, 210_000, True),
    "long-survival": Work(survival, 50_000, 500, True),
    "long-kernel": Work(plain(3, 1e-3, kernel="rbf", gamma=0.3), 5_000, 100, True),
    "long-ranking": Work(ranking, 100_000, 1_000, True),
    "real-spambase": Work(real("spambase", 1, 1e-3, 5_000), 5_000, 500, True),
    "real-ijcnn1": Work(real("ijcnn1", 1, 1e-3, 60_000), 60_000, 2_000, True),
    "real-covtype": Work(real("covtype_sub", 2, 1e-3, 300_000), 300_000, 5_000, True),
}


def measured(name: str, folder: str) -> None:
    """Do the work once in this process, and print its CPU seconds."""
    warnings.simplefilter("ignore")
    import aucert
    from aucert import exact

    work = WORK[name]
    if work.first:
        # Else a loop may be loaded in the call that counts: a matter of how much went before.
        importlib.import_module("aucert.exact.tools.compiling").compile_at_once()
        work.make(exact, work.first)()
    job = work.make(exact, work.size)
    if work.first and not work.long:
        job()
    begin = time.process_time() if work.first else 0.0
    job()
    seconds = time.process_time() - begin
    if not Path(aucert.__file__).resolve().is_relative_to(Path(folder).resolve()):
        raise SystemExit(f"measured {aucert.__file__}, not the library in {folder}")
    print(json.dumps(seconds))


# --------------------------------------------------------------------------------------- the sides


def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True)


def make_old(commit: str, folder: Path) -> None:
    (folder / "aucert").mkdir(parents=True)
    tar = git("archive", commit)
    if tar.returncode:
        raise SystemExit(tar.stderr.decode())
    subprocess.run(["tar", "-x", "-C", str(folder / "aucert")], input=tar.stdout, check=True)


def make_new(folder: Path) -> None:
    """Write the library of this tree, as it stands, to folder/aucert."""
    for part in PARTS:
        source, to = ROOT / part, folder / "aucert" / part
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, to)


def run(side: Path, name: str) -> float | str:
    """Return the CPU seconds of one fresh process, or why there are none."""
    environment = dict(os.environ, PYTHONPATH=str(side), NUMBA_CACHE_DIR=str(side / "cache"))
    environment |= dict.fromkeys(THREADS, "1")
    command = [sys.executable, str(HERE), "--measure", name, "--folder", str(side)]
    try:
        done = subprocess.run(
            command, env=environment, cwd=side, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    return float(json.loads(done.stdout.splitlines()[-1]))


def verdict(ratios: list[float]) -> str:
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    if middle > MEDIAN and low > QUARTILE:
        return "SLOWER"
    return "faster" if middle < 1 / MEDIAN and high < 1 / QUARTILE else "level"


def compared(name: str, old: Path, new: Path, pairs: int) -> tuple[str, str]:
    """Return the verdict on one piece of work, and its line of the table."""
    for side in (old, new):  # fills the caches
        if isinstance(failed := run(side, name), str):
            word = "CANNOT" if side == new else "not in the old one"
            return word, f"{name:20s} {word}: {failed}"
    times: list[tuple[float, float]] = []
    for k in range(pairs):
        order = (old, new) if k % 2 == 0 else (new, old)
        found = {side: run(side, name) for side in order}
        if isinstance(found[old], str) or isinstance(found[new], str):
            return "CANNOT", f"{name:20s} CANNOT: {found[old]} / {found[new]}"
        times.append((found[old], found[new]))  # type: ignore[arg-type]
    ratios = [b / a for a, b in times]
    before, after = np.median(times, axis=0)
    spread = " ".join(f"{x:5.2f}" for x in np.quantile(ratios, (0.25, 0.5, 0.75)))
    said = verdict(ratios)
    return said, f"{name:20s} {before:9.3f} {after:9.3f}   {spread}   {said}"


def absent(name: str) -> str | None:
    """Return why there are no rows for a piece of work, or None."""
    if name not in REAL:
        return None
    folder = os.environ.get("AUCERT_DATA")
    if not folder:
        return "AUCERT_DATA is not set"
    here = (Path(folder) / f"{REAL[name]}.npz").is_file()
    return None if here else f"{REAL[name]}.npz is not in AUCERT_DATA"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", metavar="COMMIT", help="the old library")
    parser.add_argument("--all", action="store_true", help="the long ones and real data, too")
    parser.add_argument("--only", action="append", choices=WORK, help="this one; repeatable")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--folder", help="for both libraries and their caches; kept")
    parser.add_argument("--measure", choices=WORK, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        measured(asked.measure, asked.folder)
        return 0
    if not asked.against:
        parser.error("give --against COMMIT")
    if git("cat-file", "-e", f"{asked.against}^{{commit}}").returncode:
        print(f"{asked.against} is not in this clone: nothing to compare with (a shallow clone?)")
        return 0
    names = asked.only or [name for name, work in WORK.items() if asked.all or not work.long]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(asked.folder or temporary).resolve()
        commit = git("rev-parse", asked.against).stdout.decode().strip()
        old, new = folder / f"old-{commit[:12]}", folder / "new"
        if not old.exists():
            make_old(commit, old)
        shutil.rmtree(new / "aucert", ignore_errors=True)
        make_new(new)
        print(f"CPU seconds, medians of {asked.pairs} pairs; quartiles of the ratios new / old")
        print(f"{'':20s} {commit[:9]:>9s} {'this tree':>9s}    25 %  50 %  75 %", flush=True)
        said = []
        for name in names:
            if (reason := absent(name)) is not None:
                print(f"{name:20s} skipped: {reason}", flush=True)
                continue
            word, line = compared(name, old, new, asked.pairs)
            said.append(word)
            print(line, flush=True)
    print(", ".join(f"{said.count(word)} {word}" for word in sorted(set(said))))
    return int("SLOWER" in said or "CANNOT" in said)


if __name__ == "__main__":
    sys.exit(main())
