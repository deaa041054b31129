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

import difflib
from collections.abc import Callable, Collection

import numpy as np

from ...exact.errors import InputError
from .generators import linear, radial, sparse_mean_shift, xor
from .labelled_data import Dataset, data_sha256, make_dataset

__all__ = ["Dataset", "data_sha256", "FIXED", "GENERATORS", "load", "names"]

_MAX_ROWS = 100_000_000


def _built_in(name: str, reader: str, positive: Collection[int], what: str) -> Dataset:
    from sklearn import datasets  # lazily: it takes longer to load than the data

    X, target = getattr(datasets, reader)(return_X_y=True)
    y = np.isin(target, list(positive)).astype(np.int64)
    return make_dataset(name, X, y, source=f"scikit-learn {reader}: {what}")


def wdbc() -> Dataset:
    """Breast cancer Wisconsin, 569 x 30: malignant positive, 212 against 357 benign.

    scikit-learn codes malignant as 0; here it is 1.
    """
    what = "malignant against benign"
    return _built_in("wdbc", "load_breast_cancer", {0}, what)


def digits() -> Dataset:
    """Handwritten digits, 1797 x 64: 0 to 4 positive, 5 to 9 negative."""
    return _built_in("digits", "load_digits", range(5), "0-4 against 5-9")


def digits_even() -> Dataset:
    """Handwritten digits, 1797 x 64: even positive, odd negative."""
    return _built_in("digits-even", "load_digits", range(0, 10, 2), "even, odd")


def wine() -> Dataset:
    """Wine, 178 x 13: the second cultivar positive, 71 against 107."""
    return _built_in("wine", "load_wine", {1}, "class_1 against the rest")


def iris() -> Dataset:
    """Iris, 150 x 4: versicolor positive, 50 against 100 (not linearly separable)."""
    return _built_in("iris", "load_iris", {1}, "versicolor against the rest")


# Name to loader, for the sets that have one size and no seed.
FIXED: dict[str, Callable[[], Dataset]] = {
    "wdbc": wdbc,
    "digits": digits,
    "digits-even": digits_even,
    "wine": wine,
    "iris": iris,
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
        return FIXED[base]()
    if base not in GENERATORS:
        near = difflib.get_close_matches(base, names(), n=3, cutoff=0.5) or names()
        raise InputError(f"no built-in data set {base!r}; there is {', '.join(near)}")
    if not colon:
        return GENERATORS[base](seed=seed)
    if not (rows.isascii() and rows.isdigit() and 0 < int(rows) <= _MAX_ROWS):
        raise InputError(
            f"{name!r}: after the colon a number of rows from 1 to {_MAX_ROWS:,} is needed, "
            f"as in {base}:5000"
        )
    return GENERATORS[base](n=int(rows), seed=seed)
