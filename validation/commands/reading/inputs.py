"""What a command works on: a file, a folder or a built-in name."""

from __future__ import annotations

import difflib
import shlex
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import numpy as np

from ....exact.errors import InputError
from ....exact.pairs.ordered.asked import ordered_pairs_of
from ....exact.pairs.ordered.ordered_pairs import OrderedPairs
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from ...data.datasets import load, names
from ...data.labelled_data import data_sha256
from ...files.labels import Label, Labels
from ...files.tables import (
    SVMLIGHT,
    Selection,
    option_of,
    read_by_query,
    read_survival,
    read_table,
)
from ..writing.progress import pass_progress
from .scaled_tables import fit_scaling, row_counters, scaled, selection_of, true_names

ROW_WEIGHTS = "--row-weights is for a folder of Parquet files"


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
        Which of the two; "qid" for a folder whose rows have queries, too.
    negative : str or number, optional
        What the other rows are called; None for all the rest.
    columns : list of str, optional
        Names of the features, where the file has some.
    names : Labels, optional
        What stood for the label of each row; None for built-in data.
    scaler : StandardScaler, optional
        What made X of the columns, with `--standardise`.
    member : array (n,), optional
        The group of each row, with `--worst-of`.
    zero_based, assumed
        As in `RawTable`.
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
    names: Labels | None = None
    scaler: Any = None
    member: np.ndarray | None = None
    zero_based: bool | None = None
    assumed: bool = False

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
            if self.names is None:
                return {"y": self.y, "positive": 1}
            rest = next(x for x in self.names.values if x != self.label)  # one of them, for all
            return {"y": Labels([rest, self._label], self.y).written(), "positive": self._label}
        if self.ordered_by == "qid":
            return {"y": self.y, "qid": self.ordered.group}
        return {"y": None, "time": self.y, "event": self.ordered.upper}

    @property
    def for_checker(self) -> dict[str, Any]:
        """The columns that order the rows for the checker of proofs; each label is the file's."""
        if self.names is not None:
            return {"y": self.names.written()}
        return {name: x for name, x in self.labelled.items() if isinstance(x, np.ndarray)}

    @property
    def _label(self) -> Label:
        assert self.label is not None
        return self.label

    @property
    def has_classes(self) -> bool:
        """Whether rows are positive or negative, rather than ordered within queries or by time."""
        return self.ordered is None and self.ordered_by is None

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
    check_told(name, options)
    if _is_built_in(name):
        if any(options.get(key) is not None for key in ("target", "positive", "columns", "drop")):
            raise InputError(
                f"{name} is built in: --target, --positive, --columns and --drop are for files"
            )
        data = load(name, options["seed"])
        y = data.is_positive.astype(np.int64)
        scaler = fit_scaling(data.X, None, options) if model is None else model.scaler
        return Data(name, scaled(scaler, data.X), y, data.sha256, scaler=scaler)
    from ...files.parquet_folder import is_parquet_folder

    if is_parquet_folder(name):
        return _folder_data(name, options, model)
    _check_name(name)
    positive = options["positive"]
    if model is not None and positive is None:
        positive = model.label
    X, y, meta = read_table(name, _features_of(options, model), positive)
    columns = true_names(meta.columns)
    if model is None:
        _tell_row_counters(name, X, columns)
    scaler = fit_scaling(X, columns, options) if model is None else model.scaler
    sha = data_sha256(X, y)
    names_of = {"negative": meta.negative, "columns": columns, "scaler": scaler}
    names_of |= {"zero_based": meta.zero_based, "assumed": meta.assumed}
    names_of["names"] = meta.labels
    names_of |= {"member": meta.beside.get(options.get("worst_of") or "")}
    return Data(name, scaled(scaler, X), y, sha, meta.positive, **names_of)


def check_told(name: str, options: dict[str, Any]) -> None:
    """Raise `InputError` where an option says how another kind of file is read."""
    ending = name.lower().removesuffix(".gz")
    if options.get("zero_based") is not None and not ending.endswith(SVMLIGHT):
        raise InputError(f"{name}: --zero-based is for svmlight files ({', '.join(SVMLIGHT)})")
    beside = options.get("weights") is not None or options.get("scores") is not None
    if options.get("header") is not None and not (beside or ending.endswith((".csv", ".tsv"))):
        raise InputError(f"{name}: --header is for .csv and .tsv files")


def _tell_row_counters(name: str, X: Any, columns: list[str] | None) -> None:
    """Say on standard error which columns look like saved row indices: they are used anyway."""
    for column in row_counters(X, columns):
        click.echo(
            f"aucert: {name}: column '{column}' counts the rows: if it is a saved row index and no "
            f"feature, leave it out with --drop {shlex.quote(option_of([column]))}",
            err=True,
        )


def _folder_data(name: str, options: dict[str, Any], model: Any) -> Data:
    """Return the rows of a folder of Parquet files, which stay there."""
    from ...files.parquet_folder import read_parquet_folder

    if options.get("standardise") or (model is not None and model.scaler is not None):
        raise InputError("--standardise is for one table: standardise the files of a folder first")
    asked, positive = selection_of(options), options["positive"]
    if model is not None:
        positive = model.label if positive is None else positive
        asked = asked if model.columns is None else replace(asked, columns=model.columns)
    qid = options.get("qid")
    found = read_parquet_folder(name, asked, positive, options.get("row_weights"), qid)
    kept = {"negative": found.negative, "columns": true_names(found.columns)}
    with pass_progress(quiet=options.get("as_json", False)) as heard:
        rows = found.rows(heard=heard)
    rows.engine.heard = None
    by = None if qid is None else "qid"
    return Data(name, rows, np.zeros(0), None, found.positive, ordered_by=by, **kept)


def data_of(name: str, options: dict[str, Any], model: Any = None) -> Data:
    """Return the data that a command's options ask for, with their order where they have one.

    Raises
    ------
    InputError
        As `open_data`, and for options of ordered pairs that do not go together.
    """
    from ...files.parquet_folder import is_parquet_folder

    qid, time, event = (options.get(key) for key in ("qid", "time", "event"))
    target, positive = options["target"], options["positive"]
    if options.get("worst_of") is not None:
        return _grouped_data(name, options, model)
    if qid is None and time is None and event is None:
        data = open_data(name, options, model)
        if options.get("row_weights") is not None and not data.partitioned:
            raise InputError(ROW_WEIGHTS)
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
    check_told(name, options)
    if _is_built_in(name):
        raise InputError(f"{name} is built in: --qid, --time and --event are for files")
    if is_parquet_folder(name):
        if qid is None:
            raise InputError("--time and --event are for one file: a folder takes --qid")
        return _folder_data(name, options, model)
    if options.get("row_weights") is not None:
        raise InputError(ROW_WEIGHTS)
    _check_name(name)
    return _ordered_data(name, options, model)


def _grouped_data(name: str, options: dict[str, Any], model: Any) -> Data:
    """Return rows of two classes with their groups, whose column is no feature."""
    from ...files.parquet_folder import is_parquet_folder

    if any(options.get(key) is not None for key in ("qid", "time", "event")):
        raise InputError("--worst-of is for two classes: leave --qid, --time and --event out")
    if options["pairs"] != "all":
        raise InputError("--worst-of makes the pairs: leave --pairs out")
    if _is_built_in(name) or is_parquet_folder(name):
        raise InputError(f"{name}: --worst-of is for one file: it names a column of it")
    data = open_data(name, options, model)
    assert data.member is not None
    return replace(data, sha256=_sha_with(data.sha256, data.member))


def _sha_with(sha: str | None, beside: np.ndarray) -> str:
    """Return a fingerprint of rows and a column beside them, of words by their order."""
    codes = np.unique(beside, return_inverse=True)[1] if beside.dtype.kind == "U" else beside
    both = str(sha) + data_sha256(np.zeros((1, 1)), codes)
    return sha256(both.encode()).hexdigest()


def _ordered_data(name: str, options: dict[str, Any], model: Any) -> Data:
    """Return rows with the pairs of their queries, or of their times."""
    asked, qid = _features_of(options, model), options.get("qid")
    if qid is not None:
        table = read_by_query(name, qid, asked)
        y, beside = table.numbers(name, "grade"), table.beside[qid]
        pairs = ordered_pairs_of(y, beside, None, None)
    else:
        table, y, beside = read_survival(name, options["time"], options["event"], asked)
        pairs = ordered_pairs_of(None, None, y, beside)
    sha, columns = _sha_with(data_sha256(table.X, y), beside), true_names(table.columns)
    scaler = fit_scaling(table.X, columns, options) if model is None else model.scaler
    return Data(
        name,
        scaled(scaler, table.X),
        y,
        sha,
        ordered=pairs,
        ordered_by="time" if qid is None else "qid",
        columns=columns,
        scaler=scaler,
        zero_based=table.zero_based,
        assumed=table.assumed,
    )


def _features_of(options: dict[str, Any], model: Any) -> Selection:
    """Return what the options ask to read: of a model its columns, its width and its base."""
    asked = selection_of(options)
    if model is None:
        return asked
    if model.columns is not None and true_names([*model.columns]):
        asked = replace(asked, columns=model.columns)
    return model.read_as(asked)


def _is_built_in(name: str) -> bool:
    if not name.strip():
        raise InputError(f"{name!r} names no data: give a file, a folder, or {', '.join(names())}")
    return name.split(":")[0] in names() and not Path(name).exists()


def _check_name(name: str) -> None:
    """Raise `InputError` for what is neither a file nor built in, with the nearest names."""
    base = name.split(":")[0]
    if not Path(name).exists() and not Path(name).suffix:
        close = difflib.get_close_matches(base, names(), 3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"built in: {', '.join(names())}"
        raise InputError(f"{name}: no such file, and no built-in data of that name ({hint})")
