"""Weights with names are put in the order of the columns, or refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from aucert.exact import certify, solve
from aucert.exact.errors import InputError
from aucert.exact.formulation.named_weights import in_column_order, match_weights, text_names


def frame(columns) -> SimpleNamespace:
    return SimpleNamespace(columns=columns)


def test_a_mapping_is_put_in_the_order_of_the_columns() -> None:
    w = match_weights(frame(["a", "b"]), {"Intercept": 9.0, "b": 2.0, "a": 1.0})
    assert w.tolist() == [1, 2]  # type: ignore[union-attr]


def test_a_column_may_be_called_like_an_intercept() -> None:
    assert in_column_order(np.array([1.0, 2.0]), ["a", "bias"], ["bias", "a"]).tolist() == [2, 1]


def test_without_names_on_both_sides_the_order_counts() -> None:
    w = np.array([1.0, 2.0])
    assert match_weights(frame(["a", "b"]), w) is w and match_weights(frame([0, 1]), w) is w
    assert match_weights([[1.0]], [1.0]) == [1.0]  # a list has a method called index
    assert text_names(5) is None
    with pytest.raises(InputError, match="X is not a frame"):
        match_weights(np.eye(2), {"a": 1.0})


def test_a_permuted_series_is_certified_as_what_it_means() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(30, 3)) * [1, 5, 9], columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=30) > 0).to_numpy()
    w = pandas.Series(solve(X, y, 0.1).w, index=X.columns)
    series = [w, w[["c", "a", "b"]], pandas.concat([pandas.Series({"const": 3.0}), w])]
    for given in (*series, w.to_frame().T[["b", "a", "c"]], w.to_frame()):
        assert certify(X, y, 0.1, w=given).relative_gap <= 1e-8  # type: ignore[operator]
    assert certify(X.to_numpy(), y, 0.1, w=w).relative_gap <= 1e-8  # type: ignore[operator]
    with pytest.raises(InputError, match="no weight for 'c'"):
        certify(X, y, 0.1, w=w[["a", "b"]])
