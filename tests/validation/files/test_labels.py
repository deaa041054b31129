"""Which class is positive."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.labels import (
    MAX_CLASSES,
    LabelColumn,
    array_labels,
    two_classes,
)
from loops import each


def column(*texts: str):
    labels = LabelColumn("f")
    for row, text in enumerate(texts, start=1):
        labels.add(text, row)
    return labels.labels()


@each(
    ("texts", "positive", "y"),
    [
        (("-1", "1", "1"), 1, [0, 1, 1]),
        (("1", "2", "1"), 2, [0, 1, 0]),
        (("9", "10", "9"), 10, [0, 1, 0]),  # as text, "9" would be the larger
        (("M", "B", "B"), "M", [1, 0, 0]),
        (("no", "yes", "no"), "yes", [0, 1, 0]),
        (("10", "9", "x", "x"), None, None),
    ],
)
def test_the_larger_label_is_positive_by_default(texts, positive, y) -> None:
    labels = column(*texts)
    if y is None:
        assert labels.values == ["10", "9", "x"], "one text makes all of them text"
        return
    found, one, zero = two_classes(labels, None, "f")
    assert found.tolist() == y and found.dtype == np.int64
    assert (one, zero) == (positive, next(v for v in labels.values if v != positive))


def test_equal_numbers_are_one_class_however_they_are_written() -> None:
    labels = column("1", "1.0", " 1", "0", "-0.0")
    assert labels.values == [0, 1]
    assert labels.codes.tolist() == [1, 1, 1, 0, 0]
    assert labels.counts() == {0: 2, 1: 3}


@each("positive", ["0", 0, 0.0, " 0.0 ", False, np.int8(0)])
def test_a_positive_number_may_be_given_as_text(positive) -> None:
    assert two_classes(column("0", "1", "1"), positive, "f")[0].tolist() == [1, 0, 0]


@each("y", [np.array([True, False, True]), np.array([1, 0, 1])])
@each("positive", ["True", True, "1", None])
def test_truth_values_are_one_and_zero(y, positive) -> None:
    assert two_classes(array_labels(y, "f"), positive, "f")[0].tolist() == [1, 0, 1]
    assert two_classes(array_labels(y, "f"), "false", "f")[0].tolist() == [0, 1, 0]


def test_several_classes_with_a_positive_one_are_one_against_the_rest() -> None:
    y, one, zero = two_classes(column("a", "b", "c", "b"), "b", "f")
    assert (y.tolist(), one, zero) == ([0, 1, 0, 1], "b", None)


@each("kind", ["column", "array"])
def test_a_continuous_target_is_refused(kind: str) -> None:
    values = [str(k / 7) for k in range(MAX_CLASSES + 1)]
    with pytest.raises(InputError, match="more than 1000 different values: this is not a class"):
        if kind == "column":
            column(*values)
        else:
            array_labels(np.array(values, dtype=float), "f")


@each("text", ["", " ", "NA", "NaN", "?", "null", "None", "N/A"])
def test_a_missing_label_names_its_row(text: str) -> None:
    with pytest.raises(InputError, match="f, row 2: missing"):
        column("a", text)


@each("bad", [np.nan, np.inf])
def test_a_label_that_is_not_finite_names_its_row(bad: float) -> None:
    with pytest.raises(InputError, match="f, row 3: missing or infinite"):
        array_labels(np.array([0, 1, bad]), "f")


@each("y", [np.array([1j, 0]), np.array([None, 1], dtype=object)])
def test_labels_of_other_types_are_refused(y) -> None:
    with pytest.raises(InputError, match="labels must be numbers or text"):
        array_labels(y, "f")
