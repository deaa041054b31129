"""What a command works on (a file, a folder, a built-in name), and the options of the problem."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ....exact.errors import InputError
from ....exact.formulation.request import Request
from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.pairs.nearest_pairs import nearest_pairs
from ....exact.pairs.ordered.asked import ordered_pairs_of
from ....exact.pairs.ordered.ordered_pairs import OrderedPairs
from ....exact.spaces.kernels import PRECOMPUTED
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from ...data.datasets import load, names
from ...data.labelled_data import data_sha256
from ...files.selection import Selection
from ...memory import check_room
from ..writing.progress import pass_progress
from .penalties import penalty_options
from .scaled_tables import fit_scaling, scaled, selection_of, true_names

BYTES_A_PAIR = 40
"""Two rows and a weight, and a sorted copy of the rows, of a pair that is written down."""


@dataclass(frozen=True, eq=False)
class Data:
    """Rows and labels with their fingerprint.

    Attributes
    ----------
    name : str
    X : array or CSR (n, d), or PartitionedRows
    y : array (n,)
        1 on the positive rows, 0 elsewhere; empty for `PartitionedRows`.
    sha256 : str or None
        None for a folder, whose files are fingerprinted at each pass instead.
    label : str or number, optional
        What the positive rows are called in the file; None for built-in data.
    ordered : OrderedPairs, optional
        With `--qid` or `--time`: the pairs; `y` is then the grades or the times.
    ordered_by : {"qid", "time"}, optional
        Which of the two.
    negative : str or number, optional
        What the other rows are called; None for all the rest.
    columns : list of str, optional
        Names of the features, where the file has some.
    scaler : StandardScaler, optional
        What made X of the columns, with `--standardise`.
    """

    name: str
    X: Any
    y: np.ndarray
    sha256: str | None
    label: str | float | None = None
    ordered: OrderedPairs | None = None
    ordered_by: str | None = None
    negative: str | float | None = None
    columns: list[str] | None = None
    scaler: Any = None

    @property
    def labels(self) -> np.ndarray | None:
        """What a request takes as y: None where the pairs hold the order."""
        return self.y if self.ordered is None and not self.partitioned else None

    @property
    def positive(self) -> np.ndarray:
        """Bool array (n,)."""
        return self.y == 1

    @property
    def labelled(self) -> dict[str, Any]:
        """What orders the rows, by the names that `write_proof` has for it."""
        if self.ordered is None:
            return {"y": self.y, "positive": 1}
        if self.ordered_by == "qid":
            return {"y": self.y, "qid": self.ordered.group}
        return {"y": None, "time": self.y, "event": self.ordered.upper}

    @property
    def partitioned(self) -> bool:
        """Whether the rows, and their labels with them, stay in a folder of files."""
        return isinstance(self.X, PartitionedRows)


def open_data(name: str, options: dict[str, Any], model: Any = None) -> Data:
    """Return the data that `name` stands for: a built-in name, else a file.

    Parameters
    ----------
    name : str
    options : dict
        target, positive, seed and kernel; columns, drop and standardise where they are known.
    model : SavedModel, optional
        Its columns are read, in its order, and scaled as it scales them.

    Raises
    ------
    InputError
        If there is neither, or the file cannot be used.
    """
    if _is_built_in(name):
        if any(options.get(key) is not None for key in ("target", "positive", "columns", "drop")):
            raise InputError(
                f"{name} is built in: --target, --positive, --columns and --drop are for files"
            )
        data = load(name, options["seed"])
        y = data.is_positive.astype(np.int64)
        scaler = fit_scaling(data.X, None, options) if model is None else model.scaler
        return Data(name, scaled(scaler, data.X), y, data.sha256, scaler=scaler)
    from ...files.data_files import read_table
    from ...files.folders.parquet_folder import is_parquet_folder

    if is_parquet_folder(name):
        return _folder_data(name, options, model)
    _check_name(name)
    positive = options["positive"]
    if model is not None and positive is None:
        positive = model.label
    X, y, meta = read_table(name, _features_of(options, model), positive)
    columns = true_names(meta.columns)
    scaler = fit_scaling(X, columns, options) if model is None else model.scaler
    sha = data_sha256(X, y)
    names_of = {"negative": meta.negative, "columns": columns, "scaler": scaler}
    return Data(name, scaled(scaler, X), y, sha, meta.positive, **names_of)


def _folder_data(name: str, options: dict[str, Any], model: Any) -> Data:
    """Return the rows of a folder of Parquet files, which stay there."""
    from ...files.folders.parquet_folder import read_parquet_folder

    if options.get("standardise") or (model is not None and model.scaler is not None):
        raise InputError("--standardise is for one table: standardise the files of a folder first")
    asked, positive = selection_of(options), options["positive"]
    if model is not None:
        positive = model.label if positive is None else positive
        asked = asked if model.columns is None else replace(asked, columns=model.columns)
    found = read_parquet_folder(name, asked, positive, options.get("row_weights"))
    kept = {"negative": found.negative, "columns": true_names(found.columns)}
    with pass_progress(quiet=options.get("as_json", False)) as heard:
        rows = found.rows(heard=heard)
    rows.engine.heard = None
    return Data(name, rows, np.zeros(0), None, found.positive, **kept)


def data_of(name: str, options: dict[str, Any], model: Any = None) -> Data:
    """Return the data that a command's options ask for, with their order where they have one.

    Raises
    ------
    InputError
        As `open_data`, and for options of ordered pairs that do not go together.
    """
    qid, time, event = (options.get(key) for key in ("qid", "time", "event"))
    target, positive = options["target"], options["positive"]
    if qid is None and time is None and event is None:
        data = open_data(name, options, model)
        if options.get("row_weights") is not None and not data.partitioned:
            raise InputError("--row-weights is for a folder of Parquet files")
        return data
    if qid is not None and not (time is None and event is None):
        raise InputError("give either --qid, or --time and --event, not both")
    if qid is None and (time is None or event is None):
        raise InputError("give --time and --event together")
    if positive is not None:
        raise InputError("--positive is for two classes: leave it out with --qid or --time")
    if qid is None and target is not None:
        raise InputError("--target is not for survival: --time and --event order the rows")
    if options["pairs"] != "all":
        raise InputError("--qid and --time make the pairs: leave --pairs out")
    if _is_built_in(name):
        raise InputError(f"{name} is built in: --qid, --time and --event are for files")
    _check_name(name)
    return _ordered_data(name, options, model)


def _ordered_data(name: str, options: dict[str, Any], model: Any) -> Data:
    """Return rows with the pairs of their queries, or of their times."""
    from ...files.ordered_tables import read_by_query, read_survival

    asked, qid = _features_of(options, model), options.get("qid")
    if qid is not None:
        table = read_by_query(name, qid, asked)
    else:
        table = read_survival(name, options["time"], options["event"], asked)
    pairs = ordered_pairs_of(table.grade, table.qid, table.time, table.event)
    y, beside = (table.grade, table.qid) if qid is not None else (table.time, table.event)
    assert y is not None and beside is not None
    whole = data_sha256(table.X, y) + data_sha256(np.zeros((1, 1)), beside)
    sha, columns = sha256(whole.encode()).hexdigest(), true_names(table.columns)
    scaler = fit_scaling(table.X, columns, options) if model is None else model.scaler
    X = scaled(scaler, table.X)
    by = "time" if qid is None else "qid"
    return Data(name, X, y, sha, None, pairs, by, columns=columns, scaler=scaler)


def _features_of(options: dict[str, Any], model: Any) -> Selection:
    """Return what the options ask to read; a model's columns, in its order, if it has names."""
    asked = selection_of(options)
    if model is not None and model.columns is not None and true_names([*model.columns]):
        asked = replace(asked, columns=model.columns)
    return asked


def _is_built_in(name: str) -> bool:
    return name.split(":")[0] in names() and not Path(name).exists()


def _check_name(name: str) -> None:
    """Raise `InputError` for what is neither a file nor built in, with the nearest names."""
    base = name.split(":")[0]
    if not Path(name).exists() and not Path(name).suffix:
        close = difflib.get_close_matches(base, names(), 3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"built in: {', '.join(names())}"
        raise InputError(f"{name}: no such file, and no built-in data of that name ({hint})")


def request_of(options: dict[str, Any], data: Data) -> Request:
    """Return the request that the options make; `certify` sets lam later where a rival gives it."""
    if options["gamma"] is not None and options["kernel"] in ("linear", PRECOMPUTED):
        raise InputError(f"--gamma is not for the {options['kernel']} kernel")
    lam = 1.0 if options["lam"] is None else options["lam"]
    ordered = data.ordered
    pairs = ordered or read_pairs(options["pairs"], data, options["seed"])
    return Request.of(
        lam,
        options["loss"],
        pairs,
        positive=1 if ordered is None and not data.partitioned else None,
        kernel=options["kernel"],
        gamma=options["gamma"],
        structure=options["structure"],
        **penalty_options(options, data.columns, int(data.X.shape[1])),
        fpr_max=options.get("fpr_max", 1.0),
        tpr_min=options.get("tpr_min", 0.0),
    )


def read_pairs(text: str, data: Data, seed: int) -> AllPairs | PairList:
    """Return the pairs that `--pairs` asks for: `all`, `nearest:K` or `drawn:B`.

    Raises
    ------
    InputError
        If the text is neither.
    """
    if text == "all":
        return AllPairs()
    if data.partitioned:
        raise InputError("rows in a folder go with --pairs all: take a sample of them as one file")
    kind, _, number = text.partition(":")
    counted = number.isdigit() and int(number) > 0
    if kind == "nearest" and counted:
        return nearest_pairs(data.X, data.positive, int(number))
    if kind == "drawn" and counted:
        from ....approx.drawn_pairs.draw_pairs import draw_pairs

        check_room(f"--pairs {text}", BYTES_A_PAIR * int(number), "draw fewer pairs")
        return draw_pairs(data.positive, int(number), seed)
    raise InputError(f"--pairs takes all, nearest:K or drawn:B with K, B >= 1, not {text!r}")
