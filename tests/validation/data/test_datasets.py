"""Data sets by name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from aucert.exact.errors import InputError
from aucert.validation.data.datasets import load, names
from aucert.validation.data.labelled_data import data_sha256
from loops import each

SIZES = {
    "wdbc": (569, 30, 212, 357),
    "digits": (1797, 64, 901, 896),
    "digits-even": (1797, 64, 891, 906),
    "wine": (178, 13, 71, 107),
    "iris": (150, 4, 50, 100),
    "linear": (5000, 2, None, None),
    "radial": (5000, 2, None, None),
    "xor": (120, 2, 40, 80),
    "sparse-mean-shift": (1000, 1000, 50, 950),
}


@each("name", names())
def test_every_name_loads_a_clean_data_set_of_known_size(name: str) -> None:
    data = load(name)
    n, d, n_pos, n_neg = SIZES[name]
    assert data.X.shape == (n, d)
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert set(np.unique(data.y)) == {0, 1} and data.positive == 1
    assert data.n_pos + data.n_neg == n
    if n_pos is not None:
        assert (data.n_pos, data.n_neg) == (n_pos, n_neg)
    assert data.sha256 == data_sha256(data.X, data.y)
    assert data.source


def test_wdbc_counts_malignant_as_positive() -> None:
    """scikit-learn codes malignant as 0."""
    raw: dict = load_breast_cancer()  # type: ignore[assignment]
    malignant = list(raw["target_names"]).index("malignant")
    assert np.array_equal(load("wdbc").y == 1, raw["target"] == malignant)
    assert np.array_equal(load("wdbc").X, raw["data"])


def test_the_two_digit_tasks_split_the_ten_digits_as_they_say() -> None:
    digit = load_digits()["target"]  # type: ignore[index]
    assert np.array_equal(load("digits").y == 1, digit <= 4)
    assert np.array_equal(load("digits-even").y == 1, digit % 2 == 0)


def test_generators_obey_the_seed_and_fixed_sets_ignore_it() -> None:
    assert load("radial:50", seed=1).sha256 != load("radial:50", seed=2).sha256
    assert load("radial:50").sha256 == load("radial:50", seed=0).sha256
    assert load("iris", seed=1).sha256 == load("iris", seed=2).sha256


@each(
    ("name", "words"),
    [
        ("wdcb", "did you mean wdbc"),
        ("zzz", "there is wdbc, digits, digits-even"),
        ("", "no built-in data set ''"),
        ("wdbc:100", "wdbc has a fixed number of rows: leave out ':100'"),
        ("linear:", "a number of rows from 1"),
        ("linear:0", "a number of rows from 1"),
        ("linear:-5", "a number of rows from 1"),
        ("linear:1e5", "a number of rows from 1"),
        ("linear:999999999999", "a number of rows from 1"),
        ("linear:1", "at least 2 rows"),
    ],
)
def test_a_wrong_name_is_refused_with_advice(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load(name)
