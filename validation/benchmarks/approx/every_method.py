"""Every method with its default parameters on every real data set of at most 100,000 rows.

Gap, AUC on the rows of the fit, and seconds. The columns are standardised, rows with missing values
left out. A warning is an error, except that a limit of time set here may be reached; exit status 1
says that some method warned or failed. Each fit is a line of --out, and a second run goes on after
the last.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.errors import InputError
from ....exact.pairs.auc import auc
from ...data.datasets import load
from ...data.labelled_data import Dataset
from ...data.real_data import TASKS, Task, load_npz, load_real, real_data_folder
from ..harness import Lines, benchmark
from ..problems.samples import standardised
from .method_list import METHODS, Method

MOST_ROWS = 100_000

OTHERS = {
    "colon-libsvm": Task("colon_libsvm", (-1,), "tumour; the standardised version"),
    "protein": Task("protein_val", (0,), "class 0 against the rest; a part of the rows"),
    "arrhythmia": Task("arrhythmia", (1,), "normal; J has hardly a value", drop=("J",)),
    "automobile": Task("automobile", (1, 2, 3), "risky, symboling above zero"),
    "hepatitis": Task("hepatitis", (1,), "died; PROTIME has hardly a value", drop=("PROTIME",)),
}
"""Sets that the papers' tasks leave out, or that only serve here."""


def read(name: str, folder: Path) -> Dataset:
    """Return a set; of those with a published test part too large, the training part.

    Raises
    ------
    InputError
        If it is not there, or has more than `MOST_ROWS` rows however it is taken.
    """
    if name == "wdbc":
        return load("wdbc")
    if name in OTHERS:
        task = OTHERS[name]
        path = folder / f"{task.file}.npz"
        return load_npz(path, positive=task.positive, drop=task.drop, missing="drop-rows")
    data = load_real(name, folder)
    if len(data.X) > MOST_ROWS:
        with contextlib.suppress(InputError):
            data = load_real(name, folder, "train")
    if len(data.X) > MOST_ROWS:
        raise InputError(f"{name}: {len(data.X)} rows, more than {MOST_ROWS}")
    return data


def measure(method: Method, X: np.ndarray, y: np.ndarray, max_time: float) -> dict[str, Any]:
    """Return the line of one fit: seconds, AUC, gap, and what was said on the way."""
    line: dict[str, Any] = {"seconds": None, "gap": None, "auc": None, "note": "", "wrong": ""}
    if len(y) > method.most_rows:
        return line | {"note": f"> {method.most_rows} rows"}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            outcome = method.fit(X, y, max_time)
        except Exception as error:  # whatever it is, the table goes on and says so
            line["wrong"] = f"{type(error).__name__}: {error}"
            return line
        line["seconds"] = time.process_time() - start
    said = list(dict.fromkeys(str(w.message) for w in heard))
    if outcome.out_of_time:
        line["note"] = "time"
    elif said:
        line["wrong"] = said[0]
    line["gap"], line["auc"] = outcome.gap, float(auc(outcome.scores, y))
    return line


def run(
    names: Sequence[str], methods: Sequence[Method], folder: Path, out: Path | None, max_time: float
) -> Iterator[dict[str, Any]]:
    """Yield a line for each set and method, those already in `out` as they are there."""
    known: dict[tuple[str, str], dict[str, Any]] = {}
    if out is not None and out.exists():
        for text in out.read_text().splitlines():
            line = json.loads(text)
            known[line["set"], line["method"]] = line
    for name in names:
        wanted = [method for method in methods if (name, method.name) not in known]
        X, y = standardised(read(name, folder)) if wanted else (np.empty((0, 0)), np.empty(0))
        for method in methods:
            line = known.get((name, method.name))
            if line is None:
                shape = {"set": name, "n": len(y), "d": X.shape[1], "n_pos": int(y.sum())}
                line = {**shape, "method": method.name, **measure(method, X, y, max_time)}
                if out is not None:
                    with out.open("a") as file:
                        file.write(json.dumps(line) + "\n")
            yield line


def cell(line: dict[str, Any]) -> str:
    """Return gap, AUC and seconds, or why there are none, 22 letters wide."""
    if line["auc"] is None:
        return f"{line['note'] or 'FAILED':>22}"
    gap = "-" if line["gap"] is None else f"{max(line['gap'], 0.0):.0e}"
    mark = "!" if line["wrong"] else "*" if line["note"] else " "
    return f"{gap:>6} {line['auc']:7.4f} {line['seconds']:6.2f}{mark}"


def table(lines: Sequence[dict[str, Any]], columns: int = 4) -> str:
    """Return the sections of the table: some methods side by side, a set a row."""
    names = list(dict.fromkeys(line["method"] for line in lines))
    sets = {line["set"]: line for line in lines}
    at = {(line["set"], line["method"]): cell(line) for line in lines}
    text = []
    for first in range(0, len(names), columns):
        some = names[first : first + columns]
        text.append(f"{'':13}{'rows':>6}{'cols':>5} " + " ".join(f"{m:>22}" for m in some))
        for name, line in sets.items():
            cells = " ".join(at.get((name, method), " " * 22) for method in some)
            text.append(f"{name:13}{line['n']:6d}{line['d']:5d} {cells}".rstrip())
        text.append("")
    return "\n".join(text)


@benchmark(
    out="a line for each fit; goes on after the last",
    only="names of sets",
    methods="names of methods",
    max_time="seconds for each fit",
)
def main(
    out: Path | None = None,
    only: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    max_time: float = 900.0,
) -> Lines:
    """Yield the table, and return 1 if a method warned or failed."""
    folder = real_data_folder()
    if folder is None:
        yield "skipped: the data are read from files; set AUCERT_DATA to their folder"
        return 0
    chosen = [m for m in METHODS if not methods or m.name in methods]
    lines: list[dict[str, Any]] = []
    for name in only or ("wdbc", *OTHERS, *TASKS):
        try:
            for line in run([name], chosen, folder, out, max_time):
                lines.append(line)
                yield line
                shown = f"{name} {line['method']}: {cell(line).strip()} {line['wrong']}"
                print(shown, file=sys.stderr, flush=True)
        except InputError as reason:
            yield f"left out: {reason}"
    yield "relative gap, AUC on the rows of the fit, CPU seconds; - no gap; * time up; ! wrong"
    yield table(lines)
    wrong = [line for line in lines if line["wrong"]]
    yield from (f"{line['set']} {line['method']}: {line['wrong']}" for line in wrong)
    asked = [line for line in lines if line["seconds"] is not None or line["wrong"]]
    small = f"; {len(lines) - len(asked)} left out for their size"
    yield f"{len(asked)} fits, {len(wrong)} with a warning or an error" + small * (asked != lines)
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
