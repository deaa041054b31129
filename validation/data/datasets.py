"""Data sets by name: scikit-learn's built-in ones and the papers' generators (`linear:5000` has so
many rows), without a network, and the papers' real sets in a folder of the user's."""

import hashlib
import math
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import ndtr

from ...exact.errors import InputError, brief, meant
from ...exact.tools.arrays import as_float64, check_choice, check_labels, check_number
from ..files import tables
from ..files.labels import two_classes

# The AUC of the true score under the models of [ScalingUp, Section 4.1], by quadrature.
#
# The model is y = sign(alpha + f(x) + eps) with x ~ N2(0, I) and eps ~ N(0, 1), and f is
# x1 + x2 (`linear`) or |x|^2 (`radial`). Only the law of t = f(x) matters, of density g. With
# p(t) = P(y = 1 | t) = Phi(t + alpha),
#
#     share = int p g,    AUC = int g(t) (1 - p(t)) [ int_t^inf p g ] dt / (share (1 - share)).
#
# The paper prints 90.377 % and 90.985 % from a Monte Carlo run, with "approximately 80 %" of the
# responses negative. With 80 % the models give 90.809 % and 96.471 %; the printed values belong to
# 76.3 % and 56.3 % negatives.

Model = Literal["linear", "radial"]
Law = tuple[Callable[[np.ndarray], np.ndarray], float, float]  # a density between two ends
# Beyond these ends less than 1e-17 of the mass lies.
_LAWS: dict[str, Law] = {
    "linear": (lambda t: np.exp(-t * t / 4.0) / (2.0 * math.sqrt(math.pi)), -12.5, 12.5),
    "radial": (lambda t: 0.5 * np.exp(-t / 2.0), 0.0, 80.0),
}
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)  # errors of 1e-11
_HASH_ROWS = 16_384


def _law(model: str, share_pos: float) -> Law:
    check_choice("model", model, _LAWS)
    check_number("share_pos", share_pos, 0.0, 1.0)
    return _LAWS[model]


def _integral(law: Law, f: Callable[[np.ndarray], np.ndarray], start: Any) -> Any:
    """Integrals of f * density from each of `start` to the end of the law."""
    density, _, high = law
    half = (high - np.asarray(start)[..., None]) / 2
    t = high + half * (_NODES - 1)
    return (half * f(t) * density(t)) @ _WEIGHTS


@lru_cache(maxsize=128)
def offset_for_share(model: Model, share_pos: float = 0.2) -> float:
    """Offset alpha at which a wanted share of the responses is positive [ScalingUp, Section 4.1].
    Solves int Phi(t + alpha) g(t) dt = share_pos for alpha."""
    law = _law(model, share_pos)

    def excess(alpha: float) -> float:
        return float(_integral(law, lambda t: ndtr(t + alpha), law[1])) - share_pos

    reach = 2.0
    while not excess(-reach) < 0 < excess(reach):
        reach *= 2.0
    return float(brentq(excess, -reach, reach, xtol=1e-12))  # type: ignore[arg-type]


@lru_cache(maxsize=128)
def population_auc(model: Model, share_pos: float = 0.2) -> float:
    """AUC of the true score f over the whole population [ScalingUp, eq. (1), Section 4.1]. P(f(x) >
    f(x') | y = 1, y' = -1) for independent (x, y) and (x', y'); ties have probability 0. The error
    is below 1e-8 for share_pos in [0.01, 0.99]."""
    law = _law(model, share_pos)
    alpha = offset_for_share(model, share_pos)

    def below_a_positive(t: np.ndarray) -> np.ndarray:
        return ndtr(-(t + alpha)) * _integral(law, lambda above: ndtr(above + alpha), t)

    return float(_integral(law, below_a_positive, law[1])) / (share_pos * (1.0 - share_pos))


@lru_cache(maxsize=128)
def share_for_auc(model: Model, wanted: float) -> float:
    """Share of positive responses, at most 1/2, that gives the true score a wanted population AUC.
    Solves population_auc(model, share) = wanted: the AUC falls as the share grows from 0 to 1/2."""
    low, high = (population_auc(model, share) for share in (0.5, 0.01))
    if not low <= wanted <= high:
        known = f"[{low:.4f}, {high:.4f}]"
        raise InputError(f"the AUC of the {model} model is in {known}, not {wanted}")
    root = brentq(lambda s: population_auc(model, s) - wanted, 0.01, 0.5, xtol=1e-10)
    return float(root)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels that are 1 on the positive rows, and where they come from."""

    name: str
    X: np.ndarray
    y: np.ndarray
    source: str
    sha256: str
    support: np.ndarray | None = None

    @property
    def is_positive(self) -> np.ndarray:
        return np.asarray(self.y == 1)

    @property
    def n_pos(self) -> int:
        return int(np.count_nonzero(self.is_positive))

    @property
    def n_neg(self) -> int:
        return int(self.y.shape[0]) - self.n_pos


def make_dataset(name: str, X: Any, y: Any, *, source: str, support: Any = None) -> Dataset:
    """Put a data set together: float64 rows in C order, both classes present, fingerprint."""
    rows = np.ascontiguousarray(as_float64(X, f"{name}: X"))
    labels = check_labels(y, f"{name}: y")
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise InputError(f"{name}: X has shape {rows.shape} and y has shape {labels.shape}")
    data = Dataset(name, rows, labels, source, data_sha256(rows, labels), support)
    if data.n_pos == 0 or data.n_neg == 0:
        found = f"{data.n_pos} positive and {data.n_neg} negative rows, but both classes are needed"
        raise InputError(f"{name}: {found}: take more rows or another seed")
    return data


def data_sha256(X: Any, y: Any) -> str:
    """SHA-256 of a data set: shapes, dtypes, and the bytes of X and y in C order, little-endian,
    for any memory layout and machine. A sparse X enters as canonical CSR (indices sorted,
    duplicates summed, stored zeros dropped); it differs from the same matrix stored densely."""
    digest, parts = hashlib.sha256(), [np.asarray(X), np.asarray(y)]
    if sp.issparse(X):
        rows = sp.csr_array(X, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        digest.update(f"csr {'x'.join(map(str, X.shape))};".encode())
        parts[:1] = rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data
    for values in parts:
        if values.dtype.hasobject:
            raise InputError("a data set of Python objects has no fingerprint: use numbers or text")
        dtype = values.dtype.newbyteorder("<")
        digest.update(f"{dtype.str} {'x'.join(map(str, values.shape))};".encode())
        values = np.atleast_1d(values)
        for start in range(0, len(values), _HASH_ROWS):  # no second copy of the data
            block = values[start : start + _HASH_ROWS].astype(dtype, copy=False)
            digest.update(block.tobytes("C"))
    return digest.hexdigest()


# [SAUC, Table 1]: mean, off-diagonal covariance, samples; the first two are class I.
_XOR_VARIANCE = 0.15
_XOR_PARTS = (
    ((0.8, 0.0), 0.1, 100),
    ((-0.8, 0.0), 0.1, 100),
    ((0.0, 0.8), -0.1, 200),
    ((0.0, -0.8), -0.1, 200),
)


def linear(n: int = 5000, seed: int = 0, *, share_pos: float = 0.2) -> Dataset:
    """Draw from the linear model [ScalingUp, Section 4.1]: y = sign(alpha + x1 + x2 + eps). x ~
    N2(0, I), eps ~ N(0, 1), and alpha gives the wanted share of positives in the population; the
    share in the sample varies. y is 0 or 1."""
    return _sign_model("linear", n, seed, share_pos)


def radial(n: int = 5000, seed: int = 0, *, share_pos: float = 0.2) -> Dataset:
    """Draw from the radial model, y = sign(alpha + |x|^2 + eps), as `linear` does."""
    return _sign_model("radial", n, seed, share_pos)


def _sign_model(model: Model, n: int, seed: int, share_pos: float) -> Dataset:
    alpha = offset_for_share(model, share_pos)
    rng = _random(model, n, seed)
    X = rng.standard_normal((n, 2))
    f = X.sum(axis=1) if model == "linear" else np.square(X).sum(axis=1)
    y = (alpha + f + rng.standard_normal(n) > 0.0).astype(np.int64)
    how = f"{share_pos:g} positive, noise 1, n={n}, seed={seed}"
    source = f"generated: {model} model [ScalingUp, Section 4.1], {how}"
    return make_dataset(f"{model}:{n}", X, y, source=source)


def xor(n: int = 120, seed: int = 0) -> Dataset:
    """Draw the XOR toy problem [SAUC, Table 1], four Gaussians: class I (positive, a third of the
    rows, not drawn) at (+-0.8, 0) with covariance [[.15, .1], [.1, .15]], class II at (0, +-0.8)
    with [[.15, -.1], [-.1, .15]]. n = 120 gives the paper's training size, 40 against 80."""
    n_pos = round(n / 3)
    counts = (n_pos - n_pos // 2, n_pos // 2, n - n_pos - (n - n_pos) // 2, (n - n_pos) // 2)
    X, part = _xor_draw(counts, _random("xor", n, seed, least=6))
    source = f"generated: XOR toy problem [SAUC, Table 1], n={n}, seed={seed}"
    return make_dataset(f"xor:{n}", X, (part < 2).astype(np.int64), source=source)


def xor_train_test(seed: int = 0) -> tuple[Dataset, Dataset]:
    """Draw the 600 rows of [SAUC, Table 1] and split each Gaussian 1/5 to 4/5 [SAUC, Fig. 2]."""
    counts = [count for _, _, count in _XOR_PARTS]
    X, part = _xor_draw(counts, _random("xor", sum(counts), seed))
    # The rows of a part are independent draws: its first fifth is a random fifth.
    at = np.concatenate([np.flatnonzero(part == k)[: n // 5] for k, n in enumerate(counts)])
    source = f"generated: XOR toy problem [SAUC, Table 1 and Fig. 2], seed={seed}"
    y, rest = (part < 2).astype(np.int64), np.delete(np.arange(len(X)), at)
    first = make_dataset("xor-train", X[at], y[at], source=f"{source}, training fifth")
    return first, make_dataset("xor-test", X[rest], y[rest], source=f"{source}, the rest")


def _xor_draw(counts: Sequence[int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the number of the Gaussian of each row."""
    rows = []
    for (mean, covariance, _), count in zip(_XOR_PARTS, counts, strict=True):
        scatter = [[_XOR_VARIANCE, covariance], [covariance, _XOR_VARIANCE]]
        factor = np.linalg.cholesky(np.array(scatter))
        rows.append(np.array(mean) + rng.standard_normal((count, 2)) @ factor.T)
    return np.concatenate(rows), np.repeat(np.arange(len(_XOR_PARTS)), counts)


def sparse_mean_shift(
    n: int = 1000, seed: int = 0, *, d: int = 1000, k_star: int = 20, r: float = 0.05,
    mu: float = 0.3, normalize: bool = False,
) -> Dataset:  # fmt: skip
    """Draw the sparse mean shift [SHT, Section IV-A]. Entries are N(0, 1); for the positives, those
    in a random set S of k_star features are N(mu, 1). S is returned as `support`. Rows stand in
    random order."""
    if not 1 <= k_star <= d:
        raise InputError(f"k_star must lie between 1 and d = {d}, not {k_star}")
    if not 0.0 < r < 1.0:
        raise InputError(f"r must lie strictly between 0 and 1, not {brief(r)}")
    rng = _random("sparse-mean-shift", n, seed)
    support = np.sort(rng.choice(d, size=k_star, replace=False))
    y = rng.permutation((np.arange(n) < round(r * n)).astype(np.int64))
    X = rng.standard_normal((n, d))
    X[np.ix_(y == 1, support)] += mu
    if normalize:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    how = f"n={n}, d={d}, k_star={k_star}, r={r:g}, mu={mu:g}, seed={seed}"
    how += ", normalized" if normalize else ""
    source = f"generated: sparse mean shift [SHT, Section IV-A], {how}"
    return make_dataset(f"sparse-mean-shift:{n}", X, y, source=source, support=support)


def _random(name: str, n: int, seed: int, least: int = 2) -> np.random.Generator:
    if n < least:
        raise InputError(f"{name}: at least {least} rows are needed, not {n}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    return np.random.default_rng(seed)


_MAX_ROWS = 100_000_000

# Name to reader of scikit-learn, labels that are positive, and what they stand for.
FIXED: dict[str, tuple[str, Collection[int], str]] = {
    "wdbc": ("load_breast_cancer", {0}, "malignant against benign"),
    "digits": ("load_digits", range(5), "0-4 against 5-9"),
    "digits-even": ("load_digits", range(0, 10, 2), "even, odd"),
    "wine": ("load_wine", {1}, "class_1 against the rest"),
    "iris": ("load_iris", {1}, "versicolor against the rest"),
}

# Each takes `n` and `seed`, with a default n of its paper.
GENERATORS: dict[str, Callable[..., Dataset]] = {
    "linear": linear,
    "radial": radial,
    "xor": xor,
    "sparse-mean-shift": sparse_mean_shift,
}


def names() -> list[str]:
    """All names that `load` knows; the generators also take `name:rows`."""
    return [*FIXED, *GENERATORS]


def load(name: str, seed: int = 0) -> Dataset:
    base, colon, rows = name.partition(":")
    if base in FIXED:
        if colon:
            raise InputError(f"{base} has a fixed number of rows: leave out ':{rows}'")
        from sklearn import datasets  # lazily: it takes longer to load than the data

        reader, positive, what = FIXED[base]
        X, target = getattr(datasets, reader)(return_X_y=True)
        y = np.isin(target, list(positive)).astype(np.int64)
        return make_dataset(base, X, y, source=f"scikit-learn {reader}: {what}")
    if base not in GENERATORS:
        hint = meant(base, names()) or f"; there is {', '.join(names())}"
        raise InputError(f"no built-in data set {base!r}{hint}")
    if not colon:
        return GENERATORS[base](seed=seed)
    if not (rows.isascii() and rows.isdigit() and 0 < int(rows) <= _MAX_ROWS):
        needed = f"a number of rows from 1 to {_MAX_ROWS:,} is needed, as in {base}:5000"
        raise InputError(f"{name!r}: after the colon {needed}")
    return GENERATORS[base](n=int(rows), seed=seed)


# The real data sets of the papers, read from a folder of the user's that AUCERT_DATA names. An npz
# file holds `X`, NaN for missing values, `y` with the original labels, and where they apply
# `feature_names`; `X_test` and `y_test`; `n_train` (that many leading rows are the published
# training part); `scale` (X is to be multiplied by it).

Part = Literal["all", "train", "test"]
FOLDER_VARIABLE = "AUCERT_DATA"


@dataclass(frozen=True)
class Task:
    """A binary task of a paper: a file, the labels counted as positive, columns left out."""

    file: str
    positive: tuple[object, ...]
    note: str = ""
    drop: tuple[str, ...] = ()
    missing: Literal["refuse", "drop-rows"] = "refuse"


_RATIO = "inferred from the printed class ratio [Nonlinear, Table 1]"
# Name to task. Sets with missing values, which the papers do not say how to fill, are left out.
TASKS: dict[str, Task] = {
    "skin": Task("skin", (1,), "skin against the rest [ScalingUp, Section 4.2]"),
    "bank": Task(
        "bank_additional_full",
        ("yes",),
        "yes against no [ScalingUp, Section 4.2]; that `duration` is the column dropped is usual, "
        "not said",
        drop=("duration",),
    ),
    "accelerometer": Task("accelerometer_gyro", (0,), "standing [ScalingUp, Section 4.2]"),
    "usps": Task("usps", (0, 1, 2, 3, 4), f"0-4 against 5-9, {_RATIO}"),
    "connect-4": Task("connect4", (1, 0), f"win or draw against loss, {_RATIO}"),
    "magic04": Task("magic04", ("g",), f"majority class, {_RATIO}"),
    "spambase": Task("spambase", (0,), f"majority class, {_RATIO}"),
    "ijcnn1": Task("ijcnn1", (-1,), f"majority class, {_RATIO}"),
    "cod-rna": Task("cod_rna", (-1,), f"majority class, {_RATIO}; its third file is missing"),
    "covtype": Task("covtype_sub", (1, 2, 3), f"1-3 against 4-7, {_RATIO}; a subset of the rows"),
    "colon": Task("colon", (1,), "tumour [SHT, Section IV.B]"),
    "leukemia": Task("leukemia", ("ALL",), "lymphoblastic [SHT, Section IV.B]"),
}


def real_data_folder() -> Path | None:
    """Folder named by the environment variable AUCERT_DATA; None if it is not set or empty."""
    value = os.environ.get(FOLDER_VARIABLE)
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise InputError(f"{FOLDER_VARIABLE}={value}: no such folder")
    return folder


def load_real(name: str, folder: str | Path | None = None, part: Part = "all") -> Dataset:
    """Read a binary task of the papers by its name in `TASKS`; positives are 1."""
    if name not in TASKS:
        raise InputError(f"no real data set {name!r}; {tables.nearest(name, TASKS, 'sets')}")
    where = real_data_folder() if folder is None else Path(folder)
    if where is None:
        raise InputError(f"{name} is read from files: set {FOLDER_VARIABLE} to their folder")
    task = TASKS[name]
    data = load_npz(where / f"{task.file}.npz", positive=task.positive, part=part, drop=task.drop)
    return replace(data, name=name, source=f"{data.source}; positive: {task.note}")


def load_npz(
    path: str | Path, positive: object = None, part: Part = "all", drop: Sequence[str] = (),
    missing: Literal["refuse", "drop-rows"] = "refuse",
) -> Dataset:  # fmt: skip
    found = tables.existing_file(path)
    arrays = tables.read_arrays(found)
    if "X" not in arrays or "y" not in arrays:
        raise InputError(f"{path}: no arrays 'X' and 'y'; {tables.nearest('X', arrays, 'arrays')}")
    X, y = _part(path, arrays, part)
    as_many = X.ndim == 2 and y.shape == X.shape[:1]
    if missing == "drop-rows" and as_many and X.dtype.kind == "f":
        names = tables.feature_names(arrays, X.shape[1], path)
        complete = ~np.isnan(X[:, [name not in drop for name in names]]).any(axis=1)
        X, y = X[complete], y[complete]
    asked = tables.Selection("y", drop=tuple(drop))
    table = tables.read_npz(found, asked, arrays | {"X": X, "y": y})
    scale = arrays.get("scale", np.ones(1))
    if scale.size != 1 or scale.dtype.kind not in "iuf" or not np.isfinite(scale).all():
        raise InputError(f"{path}: 'scale' must be one finite number")
    wanted = positive if isinstance(positive, tuple | list) else [positive]
    sides = [two_classes(table.labels, one, f"{path}, array 'y'")[0] for one in wanted]
    labels = np.sum(sides, axis=0)  # one or several labels against the rest
    name = found.stem if part == "all" else f"{found.stem}-{part}"
    source = f"file {found.name}, {part} rows"
    return make_dataset(name, table.X * float(scale.item()), labels, source=source)


def _part(path: str | Path, arrays: dict[str, Any], part: Part) -> tuple[np.ndarray, np.ndarray]:
    X, y, n_train = arrays["X"], arrays["y"], arrays.get("n_train")
    if "X_test" in arrays and "y_test" in arrays:
        n_train = len(X)
        X, y = (np.concatenate([arrays[name], arrays[f"{name}_test"]]) for name in "Xy")
    if n_train is None and part != "all":
        raise InputError(f"{path}: no published split: part must be 'all', not {part!r}")
    first = None if n_train is None else int(n_train)
    rows = {"all": slice(None), "train": slice(first), "test": slice(first, None)}
    chosen = rows[check_choice("part", part, rows)]
    return X[chosen], y[chosen]
