"""The frozen judge: answers recorded once, proved again here, and reached again by the library."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import tomllib
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent


def loaded(name: str) -> Any:
    """Return a module of this folder; others have the same short names."""
    spec = importlib.util.spec_from_file_location(f"judge_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check, problems = loaded("check"), loaded("problems")
CHANGES = tomllib.loads((HERE / "changes.toml").read_text(encoding="utf-8")).get("change", [])


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """The recorded lines by name."""
    text = (HERE / "answers.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len({line["name"] for line in lines}) == len(lines)
    return {line["name"]: line for line in lines}


def numbers(line: dict[str, Any], name: str) -> np.ndarray:
    return np.array([float.fromhex(x) for x in line[name]])


def differs(problem: Any, line: dict[str, Any]) -> list[str]:
    """Return what a new answer has against the recorded one."""
    if json.loads(json.dumps(problem.stated)) != line["problem"] or problem.tol > (
        line["tol"] or problem.tol
    ):
        return ["another problem is asked"]
    claimed, wrong = problem.ask(problem.stated, problem.tol), []
    old = float.fromhex(line["dual"]), float.fromhex(line["primal"])
    if not (claimed["dual"] <= old[1] and old[0] <= claimed["primal"]):
        wrong.append(f"[{claimed['dual']!r}, {claimed['primal']!r}] lies apart from {list(old)}")
    if line["tol"] is None:  # somebody's weights, whose gap is what it is
        if claimed["primal"] - claimed["dual"] > (old[1] - old[0]) * (1 + 1e-9) + 1e-9 * old[1]:
            wrong.append("the gap is wider")
    elif not problems.reached(claimed["dual"], claimed["primal"], line["tol"]):
        wrong.append(f"the gap {claimed['primal'] - claimed['dual']:.1e} misses {line['tol']:g}")
    if "scores" in line:
        away = np.abs(claimed["scores"] - numbers(line, "scores"))
        rows = problems.new_rows(len(line["w"]))
        limit = (claimed["radius"] + numbers(line, "radius")[0]) * np.linalg.norm(rows, axis=1)
        if not (away <= limit * (1 + 1e-9) + 1e-12).all():
            wrong.append(f"scores differ by {away.max():.1e}")
    return wrong


def changed(name: str) -> list[dict[str, Any]]:
    return [change for change in CHANGES if change["name"] == name]


def judged(asked: Iterable[Any], answers: dict[str, Any]) -> None:
    """Fail with all that differs, unless it is listed."""
    wrong = {}
    for problem in asked:
        assert problem.name in answers, f"{problem.name} is not recorded"
        if found := differs(problem, answers[problem.name]):
            wrong[problem.name] = found
    assert not wrong, wrong


@pytest.mark.slow
def test_every_answer_is_proved_again(answers: dict[str, Any]) -> None:
    verdicts = [check.check(line) for line in answers.values()]
    assert verdicts.count("proved") >= 60


@pytest.mark.slow
def test_false_answers_are_refused(answers: dict[str, Any]) -> None:
    for line in list(answers.values())[::5]:
        if line["proof"] == "recorded only":
            continue
        dual, primal = float.fromhex(line["dual"]), float.fromhex(line["primal"])
        off = 1e-8 * primal + (primal - dual)
        for forged in (
            {"dual": (dual + off).hex()},
            {"primal": (primal - off).hex()},
            {"w": [(2 * float.fromhex(x) + 1).hex() for x in line["w"]]},
        ):
            with pytest.raises(ValueError):
                check.check({**line, **forged})


def test_series_hold_the_functions() -> None:
    for x in (Fraction(-40), Fraction(-7, 3), Fraction(0), Fraction(1, 1000), Fraction(30)):
        low, high = check.exp(x)
        assert low <= high and high - low <= high / 2**90 + Fraction(1, 2**100)
        assert float(low) <= math.exp(x) * (1 + 1e-15) and float(high) >= math.exp(x) * (1 - 1e-15)
    for x in (Fraction(1, 10**9), Fraction(2, 3), Fraction(1), Fraction(3, 2), Fraction(10**6)):
        above = check.log_above(x)
        assert abs(float(above) - math.log(x)) <= 1e-14 * (1 + abs(math.log(x)))
        assert check.exp(above)[1] >= x  # log of x is at most what was found


def test_the_library_gives_the_recorded_answers(answers: dict[str, Any]) -> None:
    asked = problems.problems()
    gone = {name for name in answers if not name.startswith("command:")} - {p.name for p in asked}
    assert all("*" in change["removed"] for name in gone for change in changed(name) or [{}])
    judged((problem for problem in asked if problem.name not in problems.SLOW), answers)


@pytest.mark.slow
def test_the_library_gives_the_slow_answers(answers: dict[str, Any]) -> None:
    judged((problem for problem in problems.problems() if problem.name in problems.SLOW), answers)


def same_words(name: str, claimed: dict[str, Any], line: dict[str, Any]) -> None:
    """Compare keys and verdicts with those recorded, but for the changes that are listed."""
    keys, verdicts = set(line["keys"]), dict(line["verdicts"])
    for change in changed(name):
        assert change["issue"] and change["reason"]
        keys = keys - set(change.get("removed", [])) | set(change.get("added", []))
        verdicts |= change.get("verdicts", {})
    assert set(claimed["keys"]) == keys, (name, set(claimed["keys"]) ^ keys)
    # What needs real data says so where they are absent.
    found = {
        k: verdicts.get(k) if v == "not-testable" else v for k, v in claimed["verdicts"].items()
    }
    assert found == verdicts, {
        k: (found.get(k), verdicts.get(k))
        for k in found.keys() | verdicts.keys()
        if found.get(k) != verdicts.get(k)
    }


@pytest.mark.slow
def test_commands_say_the_same_words(answers: dict[str, Any], tmp_path: Path) -> None:
    for name, ask in problems.commands(tmp_path):
        if name not in problems.SLOW:
            same_words(name, ask(), answers[name])


@pytest.mark.release
def test_all_claims_have_the_recorded_verdicts(answers: dict[str, Any], tmp_path: Path) -> None:
    asked = dict(problems.commands(tmp_path))
    for name in problems.SLOW:
        if name in asked:
            same_words(name, asked[name](), answers[name])
