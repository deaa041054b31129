"""A property on many cases is one test that loops over them and names the case that failed."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from aucert.exact import InputError

FEW = 1  # cases of a loop that run by default, if it has more than one more; the others are slow
GOLDEN = (5**0.5 - 1) / 2  # its multiples lie evenly in [0, 1) in any order of the cases
asked = {"seeds": 0, "first": 0}
Test = Callable[..., None]


class Case(NamedTuple):
    values: dict[str, Any]
    labels: dict[str, object]
    slow: bool

    def __str__(self) -> str:
        return ", ".join(f"{k}={self.labels.get(k, repr(v)[:100])}" for k, v in self.values.items())


def each(names: str | Sequence[str], cases: Iterable[Any], ids: Any = None) -> Any:
    """`pytest.mark.parametrize`, but one loop: stacked over all combinations, slow cases apart."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(cases)
    labels = list(map(ids, cases) if callable(ids) else ids or [None] * len(cases))
    own = [_case(names, case, label) for case, label in zip(cases, labels, strict=True)]

    def decorate(test: Test) -> Test:
        inner = getattr(test, "inner", test)

        @functools.wraps(test)
        def loop(*values: Any, part: list[Case] | None = None, **fixtures: Any) -> None:
            if part is None:  # called by hand, with one case
                return inner(*values, **fixtures)
            skipped = []
            for k, case in enumerate(part):
                with _anew(fixtures, k) as given:
                    try:
                        inner(**case.values, **given)
                    except pytest.skip.Exception as reason:
                        skipped.append(reason)
                    except BaseException as error:
                        error.add_note(f"in the case {case}")
                        raise
            if part and len(skipped) == len(part):
                raise skipped[0]

        others = [p for p in inspect.signature(test).parameters if p not in (*names, "part")]
        known = getattr(test, "cases", [Case({}, {}, False)])
        asks = [inspect.Parameter(p, inspect.Parameter.KEYWORD_ONLY) for p in ("part", *others)]
        pairs = [(a, b) for a in known for b in own]
        both = [Case(b.values | a.values, b.labels | a.labels, a.slow or b.slow) for a, b in pairs]
        loop.__dict__.update(inner=inner, cases=both, __signature__=inspect.Signature(asks))
        return loop

    return decorate


def _case(names: list[str], case: Any, label: object) -> Case:
    slow = False
    if hasattr(case, "marks"):  # made by pytest.param
        assert {mark.name for mark in case.marks} <= {"slow"}
        slow, label = bool(case.marks), label or case.id
        case = case.values[0] if len(case.values) == 1 else case.values
    values = dict(zip(names, case if len(names) > 1 else [case], strict=True))
    return Case(values, {} if label is None else dict.fromkeys(values, label), slow)


@contextmanager
def _anew(fixtures: dict[str, Any], k: int) -> Iterator[dict[str, Any]]:
    """The fixtures as a test of its own finds them: an empty folder, nothing patched or printed."""
    given = dict(fixtures)
    if "tmp_path" in given:
        given["tmp_path"] /= f"case_{k}"
        given["tmp_path"].mkdir()
    if "capsys" in given:
        given["capsys"].readouterr()
    if "monkeypatch" not in given:
        yield given
        return
    with given["monkeypatch"].context() as given["monkeypatch"]:
        yield given


def parts(cases: list[Case]) -> list[Any]:
    """The few cases that run by default, from all over, and the others, marked slow."""
    able = [case for case in cases if not case.slow]
    if len(able) > FEW + 1:
        able = _spread(able, FEW)
    few = {id(case) for case in able}
    rest = [case for case in cases if id(case) not in few]
    made = [pytest.param(able, id="few" if rest else "all")] if able else []
    return [*made, *([pytest.param(rest, id="rest", marks=pytest.mark.slow)] if rest else [])]


def _spread(cases: list[Any], few: int) -> list[Any]:
    return [case for k, case in enumerate(cases) if k * GOLDEN % 1 < few / len(cases)]


def ask(seeds: int, first: int) -> None:
    """At least so many seeds in each loop over seeds, from that one on; before tests are loaded."""
    asked.update(seeds=seeds, first=first)


def seeds(few: int) -> range:
    """So many seeds, which every commit is tried with; a release asks for more and for new ones."""
    return range(asked["first"], asked["first"] + max(few, asked["seeds"]))


def some(cases: Iterable[Any], few: int) -> list[Any]:
    """So many of the cases, from all over; all of them where a release asks for more seeds."""
    cases = list(cases)
    if asked["seeds"] or len(cases) <= few:
        return cases
    return _spread(cases, few)


def first_fast(cases: Iterable[Any], fast: int = 1) -> list[Any]:
    cases = list(cases)
    assert len(cases) > fast > 0
    return [*cases[:fast], *map(_slow, cases[fast:])]


def _slow(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(case, marks=pytest.mark.slow)


def refuses(said: str, call: Any, *of: Any, error: Any = InputError, **how: Any) -> None:
    """The call ends with this error, in these words."""
    with pytest.raises(error, match=said):
        call(*of, **how)
