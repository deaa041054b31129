"""What a command works on and prints: options, the data that they name, the request, the result."""

import csv
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
import scipy.sparse as sp
from click.core import ParameterSource

from ... import __version__
from ...exact import HINGE, AllPairs, InputError, OrderedPairs, PairList, concordance, delong
from ...exact.api.path import check_lams, unit_penalty
from ...exact.certificate.order import counted_scores, group_concordance
from ...exact.errors import meant
from ...exact.formulation.formulation import true_space
from ...exact.formulation.request import Options as Limits
from ...exact.formulation.request import Request, pairs_of_parts
from ...exact.pairs.auc import auc
from ...exact.pairs.kinds import ordered_pairs_of
from ...exact.pairs.nearest_pairs import nearest_pairs
from ...exact.problem.penalties import GroupLasso, Ridge, Sign, penalty_from
from ...exact.spaces.kernels import PRECOMPUTED, get_kernel, name_of
from ...exact.spaces.rows import partitions_of
from ...exact.tools.arrays import check_count
from ..cli import Options
from ..data.datasets import data_sha256, load, names
from ..files import tables
from ..files.labels import Labels
from ..files.parquet_folder import is_parquet_folder, read_parquet_folder
from .endings import counted_progress, note

Names = TypeVar("Names", list[str], tuple[str, ...])
SCHEMA_VERSION = 1
ALL = "nonnegative"
SAID = {None: None, "yes": True, "no": False}

BYTES_A_PAIR = 40  # two rows, a weight and a sorted copy of the rows, of a pair written down
COUNTED = 20  # rows from which on numbers that count them do not do so by chance
FIRST_PARTS = 9  # partitions that are looked at for such numbers
FEWEST_QUERIES = 10  # with a pair, for an interval of the concordance: they are what is drawn


def selection_of(options: Options, model: Any = None) -> tables.Selection:
    """Return what to read of a file: the columns of a model, where they have names, and svmlight
    as the rows that it was trained on."""
    columns, drop = split_names(options.columns), split_names(options.drop) or ()
    header, zero_based, width = SAID[options.header], SAID[options.zero_based], None
    if model is not None:
        columns = None if model.columns is None else true_names(model.columns)
        zero_based = model.zero_based if zero_based is None else zero_based
        width = int(model.whole.n_features_in_)
    target = options.target if options.event is None else options.event
    others = (options.worst_of, options.qid, options.time)
    extra = tuple(name for name in others if name is not None)
    return tables.Selection(target, columns, drop, True, header, zero_based, width, extra)


def limits_of(options: Options, **more: Any) -> Limits:
    asked = {"method": options.method, "tol": options.tol, "max_time": options.max_time}
    return Limits(**(asked | more))


def left_out(key: str) -> bool:
    return click.get_current_context().get_parameter_source(key) in (None, ParameterSource.DEFAULT)


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Return the names of an option like `--drop a,b`, or None where it was not given. They are one
    line of a CSV file: a name that holds a comma stands between double quotes."""
    if text is None:
        return None
    row: list[str] = []
    with suppress(csv.Error):
        row = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    found = tuple(name.strip() for name in row)
    if not found or not all(found):
        quoted = 'a name that holds a comma between double quotes: "a, b"'
        do = f"give names of columns with one comma between two, and {quoted}"
        raise InputError(f"{text!r}: {do}")
    return found


@dataclass(frozen=True, eq=False)
class Data:
    """Rows (n, d), labels (n,) that are 1 on the positive rows, and their fingerprint; of a folder
    the rows alone. With `--qid` or `--time` y are the grades or the times."""

    name: str
    X: Any
    y: np.ndarray
    sha256: str | None
    label: str | float | None = None  # What the positive rows are called.
    negative: str | float | None = None  # And the others; None is all the rest.
    columns: list[str] | None = None
    names: Labels | None = None  # What stood for the label of each row.
    ordered: OrderedPairs | None = None
    ordered_by: str | None = None  # "qid", also for a folder whose rows have queries, or "time".
    scaler: Any = None  # What made X of the columns, with `--standardise` or by the model.
    member: np.ndarray | None = None  # The group of each row (n,), with `--worst-of`.
    zero_based: bool | None = None  # This and `assumed` are as in `Table`.
    assumed: bool = False

    @property
    def labels(self) -> np.ndarray | None:
        """What a request takes as y: None where the pairs hold the order."""
        return self.y if self.ordered is None and not self.partitioned else None

    @property
    def positive(self) -> np.ndarray:
        return self.y == 1

    @property
    def labelled(self) -> dict[str, Any]:
        """What orders the rows, by the names that `write_proof` has for it."""
        if self.ordered is None:
            if self.names is None or self.label is None:
                return {"y": self.y, "positive": 1}
            rest = next(x for x in self.names.values if x != self.label)  # one of them, for all
            return {"y": Labels([rest, self.label], self.y).written(), "positive": self.label}
        if self.ordered_by == "qid":
            return {"y": self.y, "qid": self.ordered.group}
        return {"y": None, "time": self.y, "event": self.ordered.upper}

    @property
    def has_classes(self) -> bool:
        """Whether rows are positive or negative, rather than ordered within queries or by time."""
        return self.ordered_by is None

    @property
    def partitioned(self) -> bool:
        return partitions_of(self.X) is not None

    @property
    def in_units(self) -> str:
        """The sentence that standardised columns need, or nothing."""
        about = "this is about them, not about the columns as the file has them."
        return "" if self.scaler is None else f" The columns are standardised: {about}"


def open_data(name: str, options: Options, model: Any = None) -> Data:
    """Return the data that `name` stands for: a built-in name, a folder or a file. Of a model
    the columns are read, in its order, and scaled as it scales them."""
    kind = kind_of(name, options)
    if options.positive is None and model is not None:
        options = replace(options, positive=model.label)
    if kind == "built in":
        data = load(name, options.seed)
        found = Data(name, data.X, data.is_positive.astype(np.int64), data.sha256)
    else:
        with needed(None if model is None else model.columns):
            found = (_folder_data if kind == "folder" else _file_data)(name, options, model)
    return _standardised(found, options, model)


@contextmanager
def needed(columns: tuple[str, ...] | None) -> Iterator[None]:
    """Within, no error offers to leave out columns that a model needs."""
    try:
        yield
    except tables.BadColumnsError as error:
        raise error if columns is None else InputError(error.wrong) from None


ORDER = "qid or time or event"
LINEAR = "is for linear weights, given by --weights or --model, over all pairs of two classes"
FILES = "--target, --positive, --columns and --drop are for files"
FOLDS = "--cv is for all pairs: leave --pairs, --fpr-max and --tpr-min out"
SPARSE = ", ".join(tables.SVMLIGHT)
KNOWN = "lam is known, by --lam or the model"
CHECKED = "--proof-rows writes what --proof is checked against"
QUERIES = "there are no proof files over partitions for the pairs within queries"
RULES = (  # an option or a kind of data, what does not go with it ("no x": its absence), and why
    ("worst_of", ORDER, "--worst-of is for two classes: leave --qid, --time and --event out"),
    ("worst_of", "pairs", "--worst-of makes the pairs: leave --pairs out"),
    ("worst_of", "built in or folder", "{}: --worst-of is for one file: it names a column of it"),
    ("qid", "time or event", "give either --qid, or --time and --event, not both"),
    ("time", "no event", "give --time and --event together"),
    ("event", "no time", "give --time and --event together"),
    ("positive", ORDER, "--positive is for two classes: leave it out with --qid or --time"),
    ("target", "time", "--target is not for survival: --time and --event order the rows"),
    ("pairs", "folder", "rows in a folder go with --pairs all: take a sample of them as one file"),
    ("pairs", ORDER, "--qid and --time make the pairs: leave --pairs out"),
    ("built in", ORDER, "{} is built in: --qid, --time and --event are for files"),
    ("folder", "time", "--time and --event are for one file: a folder takes --qid"),
    ("row_weights", "no folder", "--row-weights is for a folder of Parquet files"),
    ("built in", "target or positive or columns or drop", f"{{}} is built in: {FILES}"),
    ("built in", "keep", "{} is built in: --keep is for files"),
    ("zero_based", "no svmlight", f"{{}}: --zero-based is for svmlight files ({SPARSE})"),
    ("header", "no text", "{}: --header is for .csv and .tsv files"),
    ("gamma", "linear", "--gamma is not for the linear kernel"),
    ("gamma", "precomputed", "--gamma is not for the precomputed kernel"),
    ("cv", "pairs or fpr_max or tpr_min", FOLDS),
    ("proof", "no out", "--proof and --no-data are about files in a folder: give --out"),
    ("no_data", "no out", "--proof and --no-data are about files in a folder: give --out"),
    ("proof", "no hinge", "--proof is for the hinge: leave it out, or --loss"),
    ("proof", "folder of queries", f"{QUERIES}: leave --proof out, or give one file"),
    ("proof_rows", "no proof", f"{CHECKED}: give --proof, too"),
    ("proof_rows", "no folder", "--proof-rows is for a folder of Parquet files: leave it out"),
    ("norm2", "no scores", "--norm2 goes with --scores"),
    ("lam", "convention or C", f"{KNOWN}: leave both --from and --C out"),
    ("exact", "scores", f"--exact {LINEAR}: leave --scores out"),
    ("exact", "no linear", f"--exact {LINEAR}: leave --kernel out"),
    ("exact", "structure", f"--exact {LINEAR}: leave --structure out"),
    ("exact", ORDER, f"--exact {LINEAR}: leave --qid, --time and --event out"),
    ("exact", "worst_of", f"--exact {LINEAR}: leave --worst-of out"),
    ("exact", "fpr_max or tpr_min", f"--exact {LINEAR}: leave --fpr-max and --tpr-min out"),
    ("exact", "folder", "--exact is for rows that are held in memory, not for a folder"),
    ("scores", "folder", "{}: rows in a folder are certified with --weights or --model"),
)


def kind_of(name: str, options: Options) -> str:
    """Return "built in", "folder" or "file": a name is built in unless a file, or a folder of
    Parquet files, has it. What is refused here needs no data: a large file is not read first."""
    if not name.strip():
        raise InputError(f"{name!r} names no data: give a file, a folder, or {', '.join(names())}")
    kind = "folder" if is_parquet_folder(name) else "file"
    if name.split(":")[0] in names() and not Path(name).is_file():
        kind = kind if any(Path(name).rglob("*.parquet")) else "built in"
    limits_of(options)
    if options.lam is not None:
        penalty_from(options.lam, options.l1)
    if options.lams:
        check_lams(options.lams)
        if not left_out("n_lams"):
            raise InputError("--lam names the grid: leave --n-lams out")
    if options.cv is not None:
        check_count("cv", options.cv, 2)

    known, ending = [kind, options.loss, options.kernel], name.lower().removesuffix(".gz")
    if ending.endswith(tables.SVMLIGHT):
        known.append("svmlight")
    vector = options.weights is not None or options.scores is not None  # may have a header
    if vector or ending.endswith((".csv", ".tsv")):
        known.append("text")
    if kind == "folder" and options.qid is not None:
        known.append("folder of queries")

    def there(what: str) -> bool:
        if what.startswith("no "):
            return not there(what.removeprefix("no "))
        option = Options.__dataclass_fields__.get(what)
        return what in known if option is None else getattr(options, what) != option.default

    for one, others, why in RULES:
        if there(one) and any(map(there, others.split(" or "))):
            raise InputError(why.format(name))
    if kind == "file" and not (Path(name).exists() or Path(name).suffix):
        hint = meant(name.split(":")[0], names()) or f" (built in: {', '.join(names())})"
        raise InputError(f"{name}: no such file, and no built-in data of that name{hint}")
    return kind


def _folder_data(name: str, options: Options, model: Any) -> Data:
    if options.standardise or (model is not None and model.scaler is not None):
        raise InputError("--standardise is for one table: standardise the files of a folder first")
    asked, qid = replace(selection_of(options, model), extra=()), options.qid
    if model is not None:  # where they are only numbers, too
        asked = replace(asked, columns=model.columns)
    found = read_parquet_folder(name, asked, options.positive, options.row_weights, qid)
    then = "putting together what they hold"
    with counted_progress("first pass, parts", then, options.as_json) as heard:
        heard(0, len(found.partitions))
        rows = found.rows(heard=heard)
    rows.engine.heard = None
    columns, order = true_names(found.columns), None if qid is None else "qid"
    if model is None:
        # Numbers that count the rows do so within each block; the first ones may be small or empty.
        some = (next(iter(part.blocks()), None) for part in found.partitions[:FIRST_PARTS])
        rows_of = (block.columns.T for block in some if block is not None)
        _warn_of_counters(name, next((X for X in rows_of if len(X) >= COUNTED), None), columns)
    labels = found.positive, found.negative
    return Data(name, rows, np.zeros(0), None, *labels, columns, ordered_by=order)


def _file_data(name: str, options: Options, model: Any) -> Data:
    """Return the rows of a file: two classes, or the pairs of their queries or of their times."""
    asked, pairs, by = selection_of(options, model), None, None
    if options.qid is not None:
        table, by = tables.read_raw(name, asked), "qid"
        y = tables.as_numbers(table.labels.written(), name, "grade")
        extra = table.extra[options.qid]
        pairs = ordered_pairs_of(y, extra, None, None)
    elif options.time is not None:
        table, by = tables.read_raw(name, asked), "time"
        extra = tables.as_numbers(table.labels.written(), name, "event")
        if (wrong := np.flatnonzero((extra != 0) & (extra != 1))).size:
            row = f"the event of data row {wrong[0] + 1} is {extra[wrong[0]]:g}"
            raise InputError(f"{name}: {row}: it must be 0 or 1")
        y = tables.as_numbers(table.extra[options.time], name, "time")
        pairs = ordered_pairs_of(None, None, y, extra)
    else:
        _, y, table = tables.read_table(name, asked, options.positive)
        extra = None if options.worst_of is None else table.extra[options.worst_of]
    columns, sha = true_names(table.columns), data_sha256(table.X, y)
    if model is None:
        _warn_of_counters(name, table.X, columns)
    if extra is not None:  # words by their order
        codes = np.unique(extra, return_inverse=True)[1] if extra.dtype.kind == "U" else extra
        sha = sha256((sha + data_sha256(np.zeros((1, 1)), codes)).encode()).hexdigest()
    more: Any = {"names": table.labels, "member": extra} if by is None else {"ordered": pairs}
    more |= {"ordered_by": by, "zero_based": table.zero_based, "assumed": table.assumed}
    return Data(name, table.X, y, sha, table.positive, table.negative, columns, **more)


def _warn_of_counters(name: str, X: Any, columns: list[str] | None) -> None:
    """Say which columns of a table, or of the first rows of a folder, count the rows."""
    for column in row_counters(X, columns):
        do = f"leave it out with --drop {shlex.quote(tables.option_of([column]))}"
        what = f"column '{column}' counts the rows: if it is a saved row index and no feature"
        note(f"{name}: {what}, {do}")


def row_counters(X: Any, columns: list[str] | None) -> list[str]:
    """Return the named columns that hold k, k + 1, k + 2, ...: most likely saved row indices. Few
    rows can do so by chance."""
    if columns is None or not isinstance(X, np.ndarray) or len(X) < COUNTED:
        return []
    ends = np.flatnonzero((X[1] - X[0] == 1) & (X[-1] - X[0] == len(X) - 1))
    return [columns[k] for k in ends if (np.diff(X[:, k]) == 1).all()]


def true_names(columns: Names) -> Names | None:
    """Return names of columns, or None where they are only their places in the file."""
    places = [int(name) for name in columns if name.isdecimal()]
    return None if len(places) == len(columns) and places == sorted(places) else columns


def _standardised(data: Data, options: Options, model: Any) -> Data:
    """Return the data as `--standardise` or the scaler of the model makes them. Sparse rows are
    divided and not centred; the centre does not matter to pairs."""
    X, scaler, sparse = data.X, None if model is None else model.scaler, sp.issparse(data.X)
    if options.standardise:
        if options.kernel == PRECOMPUTED:
            not_for = "not for a precomputed kernel"
            raise InputError(f"--standardise is for columns of features, {not_for}")
        from sklearn.preprocessing import StandardScaler

        with np.errstate(all="ignore"):
            scaler = StandardScaler(with_mean=not sparse).fit(X)
        if (bad := np.flatnonzero(~np.isfinite(scaler.scale_))).size:
            name = f"'{data.columns[bad[0]]}'" if data.columns else f"number {bad[0] + 1}"
            raise InputError(f"column {name} is too large to standardise: its variance overflows")
        if data.columns:
            scaler.feature_names_in_ = np.array(data.columns, dtype=object)
    if scaler is None:
        return data
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rows have no names
            rows = scaler.transform(dense_for(scaler, X, data.name))
    except ValueError as error:  # another number of columns
        raise InputError(f"{data.name}: {error}") from None
    rows = sp.csr_array(rows) if sp.issparse(rows) else np.ascontiguousarray(rows)
    if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
        raise InputError("a number overflows when the columns are standardised: rescale the data")
    return replace(data, X=rows, scaler=scaler)


def dense_for(scaler: Any, X: Any, name: str) -> Any:
    """Return the rows as the scaler takes them: sparse ones as a table where it moves zeros."""
    moves = any(getattr(scaler, key, False) for key in ("with_mean", "with_centering"))
    if not (sp.issparse(X) and (moves or hasattr(scaler, "min_"))):
        return X
    what = f"{name}: the rows as a dense table, since the model takes means off its columns"
    tables.check_room(what, 8 * X.shape[0] * X.shape[1], "give fewer rows at a time")
    return sp.csr_array(X).toarray()


def request_of(options: Options, data: Data) -> Request:
    """Return the request that the options make; `certify` sets lam later where a rival gives it.
    That of a path, which has a share of l1, has a penalty at lam = 1."""
    lam: float | None = 1.0 if options.lam is None else options.lam
    penalty: dict[str, Any] = penalty_options(options, data)
    if options.l1_ratio is not None:
        unit = unit_penalty(options.l1_ratio, penalty["groups"], penalty["sign"])
        lam, penalty = None, {"penalty": unit}
    same = ("kernel", "gamma", "structure", "fpr_max", "tpr_min")
    asked: dict[str, Any] = {key: getattr(options, key) for key in same} | penalty
    asked["worst_of"] = data.member
    asked["positive"] = 1 if data.has_classes and not data.partitioned else None
    asked["pairs"] = data.ordered or read_pairs(options.pairs, data, options.seed)
    return Request.of(lam, options.loss, **asked)


def read_pairs(text: str, data: Data, seed: int) -> AllPairs | PairList:
    """Return the pairs that `--pairs` asks for: `all`, `nearest:K` or `drawn:B`."""
    if text == "all":
        return AllPairs()
    kind, _, number = text.partition(":")
    if number.isdecimal() and int(number) > 0:
        if kind == "nearest":
            return nearest_pairs(data.X, data.positive, int(number))
        if kind == "drawn":
            from ...approx.drawn_pairs import draw_pairs

            tables.check_room(f"--pairs {text}", BYTES_A_PAIR * int(number), "draw fewer pairs")
            return draw_pairs(data.positive, int(number), seed)
    raise InputError(f"--pairs takes all, nearest:K or drawn:B with K, B >= 1, not {text!r}")


def penalty_options(options: Options, data: Data) -> dict[str, Any]:
    """Return l1, groups and sign as a `Request` takes them. "A,B;C,D" are groups: every other
    column is one of its own. "nonnegative" and "A,B" are signs."""
    groups, sign, d = options.groups, options.sign, int(data.X.shape[1])
    if isinstance(groups, str):
        parts = [_places("--groups", part, data.columns, d) for part in groups.split(";")]
        first = {k: part[0] for part in parts for k in part}
        if len(first) < sum(map(len, parts)):
            raise InputError(f"--groups {groups}: a column stands in two groups")
        groups = [first.get(k, k) for k in range(d)]
    if isinstance(sign, str) and sign != ALL:
        sign = _places("--sign", sign, data.columns, d)
    return {"l1": options.l1, "groups": groups, "sign": sign}


def _places(option: str, text: str, columns: list[str] | None, d: int) -> list[int]:
    """Return the places of the columns "A,B", by their names or their numbers."""
    asked = [name.strip() for name in text.split(",") if name.strip()]
    if not asked:
        raise InputError(f"{option} needs the names of columns: A,B")
    held = columns if columns is not None else [str(k) for k in range(d)]
    if absent := [name for name in asked if name not in held]:
        what = "no such column" if columns is not None else f"columns are numbered 0 to {d - 1}"
        raise InputError(f"{option} {text}: {what}: '{absent[0]}'")
    if len(set(asked)) < len(asked):
        raise InputError(f"{option} {text}: a column is named twice")
    return [held.index(name) for name in asked]


def penalty_keys(penalty: Any) -> dict[str, Any]:
    """Return l2 and l1, the number of groups and the columns of a sign where there are some."""
    inner = penalty.penalty if isinstance(penalty, Sign) else penalty
    found: dict[str, Any] = {"l2": penalty.l2, "l1": getattr(inner, "l1", 0.0)}
    if isinstance(inner, GroupLasso):
        found["groups"] = int(inner.groups.max()) + 1
    if isinstance(penalty, Sign):
        found["sign"] = ALL if penalty.columns is None else penalty.columns.tolist()
    return found


def penalty_in_words(request: Request, columns: list[str] | None) -> tuple[str, str]:
    """Return the penalty as a formula, and which weights are >= 0, by the names of the columns."""
    keys, size = penalty_keys(request.penalty), "|f|^2"
    if request.structure != 0:
        size = f"({size} + {request.structure:g} times the spread of f within each class)"
    parts = [f"{keys['l2']:g}/2 {size}"] if keys["l2"] > 0 else []
    if keys["l1"]:
        grouped = "sum of sqrt(size) |w_group|" if "groups" in keys else "|w|_1"
        parts.append(f"{keys['l1']:g} {grouped}")
    sign = keys.get("sign")
    where = "" if sign is None else "w >= 0"
    if isinstance(sign, list):
        named = [str(k) if columns is None else f"'{columns[k]}'" for k in sign]
        where = f"w_k >= 0 for {', '.join(named) or 'no column'}"
    return " + ".join(parts), where


def scores_of(data: Data, request: Request, w: np.ndarray) -> Any:
    """Return the scores of weights, or of kernel coefficients: (n,). Of a folder return their
    counts; where its rows have queries, their concordance."""
    if data.partitioned:
        grouped, w = data.X.grouped, w[: data.X.dim]
        return counted_scores(data.X, w) if grouped is None else group_concordance(grouped, w)
    if request.is_linear or request.gives_matrix:
        return np.asarray(data.X @ w[: data.X.shape[1]])
    kernel = get_kernel(request.kernel, request.gamma, int(data.X.shape[1]))
    return true_space(kernel, data.X).scores(w)


def common_keys(data: Data, options: Options, request: Request) -> dict[str, Any]:
    n, n_pos = int(data.X.shape[0]), None
    pairs = pairs_of_parts(data.X) if data.partitioned else request.pairs_on(data.positive)
    if data.has_classes:
        n_pos = data.X.facts.n_pos if data.partitioned else int(data.positive.sum())
    over, loss, kernel = options.pairs, request.loss.name, name_of(request.kernel)
    if options.worst_of is not None:
        over = f"worst-of:{options.worst_of}"
    elif options.qid is not None:
        over = f"query:{options.qid}"
    elif options.time is not None:
        over = f"survival:{options.time},{options.event}"
    given = [k for k in click.get_current_context().params if k not in ("name", "as_json", "out")]
    asked = {"lam" if key == "lams" else key: getattr(options, key) for key in given}
    asked = {"data": data.name} | asked | {"loss": loss, "kernel": kernel}
    keys: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "version": __version__}
    keys |= {"seed": options.seed, "parameters": asked, "data_sha256": data.sha256, "n": n}
    keys |= {"positive": data.label, "n_pos": n_pos, "n_neg": None if n_pos is None else n - n_pos}
    keys |= {"n_pairs": pairs.count(), "lam": request.penalty.l2}
    keys |= {"penalty": penalty_keys(request.penalty), "loss": loss, "pairs": over}
    return keys | {"kernel": kernel}


def order_keys(data: Data, scores: Any) -> dict[str, Any]:
    """Return the AUC or, where pairs are ordered, the concordance, with intervals of 95 %:
    DeLong's, which needs two rows of each class, or the infinitesimal jackknife's, by rows or by
    queries. There is none where the estimated variance is zero: one point would tell nothing of
    other rows. From the counts of a folder the AUC is known up to `auc_within`."""
    keys = ("auc", "auc_interval", "concordance", "concordance_interval")
    known: dict[str, Any] = dict.fromkeys(keys)
    if data.partitioned and data.X.grouped is not None:
        return known | {"concordance": scores}
    if data.partitioned:
        low, high = scores.auc_range()
        return known | {"auc": (low + high) / 2, "auc_within": (high - low) / 2}
    if data.ordered is not None:
        count = data.ordered.groups_with_pairs if data.ordered_by == "qid" else 1
        found = concordance(data.ordered, scores, units="groups" if count > 1 else "rows")
        name, value, enough = "concordance", found.value, count == 1 or count >= FEWEST_QUERIES
    else:
        positive = data.positive
        name, value = "auc", auc(scores, positive)
        enough = min(int(positive.sum()), int((~positive).sum())) >= 2
        found: Any = delong(scores, positive) if enough else None
    interval = found.interval() if enough and found.standard_error > 0 else None
    return known | {name: value, f"{name}_interval": interval and list(interval)}


def objective_in_words(data: Data, request: Request, options: Options) -> str:
    """Return a sentence on the objective, or nothing for the plain one: hinge, ridge, all pairs."""
    plain = request.loss == HINGE and data.has_classes and data.member is None
    ridge = isinstance(request.penalty, Ridge) and request.structure == 0
    if plain and ridge and not request.is_partial:
        return ""
    which = "pairs of a positive and a negative row"
    if options.qid is not None:
        which = f"pairs of one query ('{options.qid}'), the larger grade above"
    elif data.ordered is not None:
        which = f"comparable pairs of '{options.time}', the earlier event above"
    elif data.member is not None:
        count = np.unique(data.member).size
        which += f" of one group ('{options.worst_of}'), in the worst of {count} groups"
    if request.is_partial:
        rates = f"up to {options.fpr_max:g} and true positive rates from {options.tpr_min:g}"
        which += f", false positive rates {rates}"
    formula, signs = penalty_in_words(request, data.columns)
    where = f", {signs}" if signs else ""
    return f" The objective is {formula} + mean {request.loss.name} loss over {which}{where}."


def text_of(document: dict[str, Any]) -> str:
    """Return the lines that show the result of `solve` or `certify`."""
    shown = (
        "n positive n_pos n_neg n_pairs lam loss pairs method primal dual gap relative_gap radius "
        "rounding zeros_proved residual rival_primal rival_gap n_sure_right n_sure_wrong auc "
        "auc_within auc_interval concordance concordance_interval status seconds"
    )
    known = {key: document.get(key) for key in shown.split()}
    lines = []
    for key, value in known.items():
        if value is None and key != "relative_gap":
            continue
        text = f"{value:.12g}" if isinstance(value, float) else str(value)
        if isinstance(value, list):
            text = " to ".join(f"{part:.6g}" for part in value)
        lines.append(f"{key:13} {'undefined' if value is None else text}")
    lines += [f"{'exact ' + key:13} {value}" for key, value in document.get("exact", {}).items()]
    if known["n_sure_right"] is not None:
        sure = "{n_sure_right} of {n_pairs} pairs in order, and {n_sure_wrong} in reverse"
        lines.append(f"The optimum certainly has {sure.format_map(known)}.")
    return "\n".join([*lines, *dict.fromkeys((document["statement"], document["message"]))])
