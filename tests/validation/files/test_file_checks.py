"""What all readers of users' files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.tables import (
    check_names,
    damage_reported,
    nearest,
    target_place,
)

PATH = Path("f.csv")


def test_only_the_named_errors_become_ours() -> None:
    sentence = r"^f\.csv: damaged, or not a readable gzip file \(two lines\)$"
    with pytest.raises(InputError, match=sentence), damage_reported(PATH, "gzip", EOFError):
        raise EOFError("two\n lines.")
    with pytest.raises(InputError, match=r"^mine$"), damage_reported(PATH, "gzip", ValueError):
        raise InputError("mine")
    with pytest.raises(KeyError), damage_reported(PATH, "gzip", EOFError):
        raise KeyError


def test_the_target_is_the_last_column_by_default() -> None:
    assert target_place(PATH, ["a", "b", "c"], None) == 2
    assert target_place(PATH, ["a", "b", "c"], "a") == 0


def test_names_are_unique_and_not_empty() -> None:
    check_names(PATH, ["a", "A", "1"])
    with pytest.raises(InputError, match="column 2 has no name"):
        check_names(PATH, ["a", ""])
    with pytest.raises(InputError, match="two columns are called 'b'"):
        check_names(PATH, ["a", "b", "b"])


def test_the_nearest_names_come_first_and_a_long_list_is_cut() -> None:
    assert nearest("ages", ["age", "height"]) == "the nearest names are 'age'"
    assert nearest("zzz", [str(k) for k in range(12)]).endswith("'9', ...")
