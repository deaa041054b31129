"""Data sets by name: scikit-learn's built-in ones and the papers' generators, without a network.

    wdbc               breast cancer, malignant (212) against benign (357)
    digits             8 x 8 digits 0-4 (901) against 5-9 (896)
    digits-even        8 x 8 digits, even (891) against odd (906)
    wine               second cultivar (71) against the other two (107)
    iris               versicolor (50) against the other two (100)
    linear, radial     [ScalingUp, Section 4.1]
    xor                [SAUC, Table 1]
    sparse-mean-shift  [SHT, Section IV-A]

The last four take a number of rows: `linear:5000`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from ...exact.errors import InputError, meant
from .generators import linear, radial, sparse_mean_shift, xor
from .labelled_data import Dataset, make_dataset

_MAX_ROWS = 100_000_000


# Name to reader of scikit-learn, labels that are positive, and what they stand for.
FIXED: dict[str, tuple[str, Collection[int], str]] = {
    "wdbc": ("load_breast_cancer", {0}, "malignant against benign"),
    "digits": ("load_digits", range(5), "0-4 against 5-9"),
    "digits-even": ("load_digits", range(0, 10, 2), "even, odd"),
    "wine": ("load_wine", {1}, "class_1 against the rest"),
    "iris": ("load_iris", {1}, "versicolor against the rest"),
}

# Name to generator: each takes `n` and `seed`, with a default n of its paper.
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
    """Load a built-in data set, or draw from a generator."""
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
        raise InputError(
            f"{name!r}: after the colon a number of rows from 1 to {_MAX_ROWS:,} is needed, "
            f"as in {base}:5000"
        )
    return GENERATORS[base](n=int(rows), seed=seed)
