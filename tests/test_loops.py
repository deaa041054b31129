"""Loops over cases: all of them run, in two parts, and a failure names its case."""

from pathlib import Path
from typing import Any

import pytest

import loops
from loops import FEW, Case, each, first_fast, parts, seeds


def values(made: list[Any]) -> list[list[tuple]]:
    return [[tuple(case.values.values()) for case in p.values[0]] for p in made]


@each("a", [1, pytest.param(2, marks=pytest.mark.slow)], ids=["one", "two"])
@each(("b", "c"), [(3, 4), (5, 6)])
def property_of(a: int, b: int, c: int, seen: list, tmp_path: Path) -> None:
    seen.append((a, b, c, tmp_path.name, any(tmp_path.iterdir())))
    (tmp_path / "file").touch()
    if b == 5:
        pytest.skip("not this one")
    assert a == 1, "wrong"


def test_stacked_loops_run_all_combinations_each_in_a_folder_of_its_own(tmp_path: Path) -> None:
    few, rest = parts(property_of.cases)
    assert values([few, rest]) == [[(1, 3, 4), (1, 5, 6)], [(2, 3, 4), (2, 5, 6)]]
    assert not few.marks and [mark.name for mark in rest.marks] == ["slow"]
    seen: list = []
    property_of(part=few.values[0], seen=seen, tmp_path=tmp_path)
    assert seen == [(1, 3, 4, "case_0", False), (1, 5, 6, "case_1", False)]


def test_a_failure_names_its_case(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="wrong") as failure:
        property_of(part=property_of.cases, seen=[], tmp_path=tmp_path)
    assert failure.value.__notes__ == ["in the case a=two, b=3, c=4"]
    skipped = [case for case in property_of.cases if case.values["b"] == 5]
    (tmp_path / "skipped").mkdir()
    with pytest.raises(pytest.skip.Exception):
        property_of(part=skipped, seen=[], tmp_path=tmp_path / "skipped")


def test_of_many_cases_a_few_from_all_over_are_fast() -> None:
    for n in (1, FEW + 1, FEW + 2, 40, 300):
        cases = [Case({"k": k}, {}, False) for k in range(n)]
        made = values(parts(cases))
        assert sorted(k for part in made for (k,) in part) == list(range(n))
        kept = [k for (k,) in made[0]]
        assert kept[0] == 0 and len(kept) == n if n <= FEW + 1 else abs(len(kept) - FEW) <= 1
    slow = [Case({"k": k}, {}, k > 0) for k in range(30)]
    assert values(parts(slow))[0] == [(0,)]
    assert len(first_fast(range(3), 2)) == 3


def test_more_seeds_and_others_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(seeds(300)) == max(300, loops.asked["seeds"])
    monkeypatch.setattr(loops, "asked", {"seeds": 40, "first": 7})
    assert seeds(8) == range(7, 47)
