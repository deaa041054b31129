"""What runs by default: a sample of a test's cases, and the others among the slow tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from fast_cases import MANY_CASES, SAMPLE, leave_to_slow, mark_smoke


class Case(SimpleNamespace):
    """As much of a collected test as the sample looks at."""

    def __init__(self, name: str, slow: bool = False):
        super().__init__(nodeid=name, slow=slow)

    def get_closest_marker(self, name: str) -> bool:
        return name == "slow" and self.slow

    def add_marker(self, marker: Any) -> None:
        setattr(self, marker.name, True)


def left(cases: list[Case]) -> list[int]:
    leave_to_slow(cast(Any, cases))
    return [k for k, case in enumerate(cases) if not case.slow]


def test_of_many_cases_a_sample_from_all_over_is_left() -> None:
    for n in (MANY_CASES + 1, 40, 300):
        kept = left([Case(f"test_a[{k}]") for k in range(n)])
        assert kept[0] == 0 and abs(len(kept) - SAMPLE) <= 1
        gaps = [b - a for a, b in zip(kept, [*kept[1:], n], strict=True)]
        assert max(gaps) <= 0.53 * n  # of two, n / 2 at best


def test_few_cases_and_single_tests_all_run() -> None:
    cases = [Case("test_a"), *(Case(f"test_b[{k}]") for k in range(MANY_CASES))]
    assert len(left(cases)) == len(cases)


def test_cases_that_are_slow_already_do_not_count() -> None:
    cases = [Case(f"test_a[{k}]", slow=k >= 3) for k in range(30)]
    assert left(cases) == [0, 1, 2]


def test_the_first_fast_test_of_each_file_is_for_smoke() -> None:
    cases = [Case(name, slow=name.endswith("a")) for name in ("x::a", "x::b", "x::c", "y::d")]
    mark_smoke(cast(Any, cases))
    assert [case.nodeid for case in cases if getattr(case, "smoke", False)] == ["x::b", "y::d"]
