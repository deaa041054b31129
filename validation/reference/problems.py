"""The reference problems: data, lam, and an interval that is proved to hold the optimum.
`problems.json` next to this file holds them for any language. `tests/tools/make_reference.py` makes
it from the recipes."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.tools.rounding import float_above, float_below
from ..files.written import check_name

FILE = Path(__file__).with_name("problems.json")


@dataclass(frozen=True, eq=False)
class ReferenceProblem:
    """One problem with its proved optimum."""

    name: str
    data: str
    tests: str
    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None
    lam: float
    optimum: Mapping[str, tuple[float, float]]
    at_ones: Mapping[str, float]


@cache
def _all_problems() -> tuple[ReferenceProblem, ...]:
    document = json.loads(FILE.read_text(encoding="utf-8"), parse_float=Decimal)
    data = {entry["name"]: entry for entry in document["data"]}
    return tuple(_problem(data[entry["data"]], entry) for entry in document["problems"])


def _problem(data: Mapping[str, Any], entry: Mapping[str, Any]) -> ReferenceProblem:
    given = data["sample_weight"]
    weight = None if given is None else np.array(given, dtype=float)
    X, y = np.array(data["X"], dtype=float), np.array(data["y"], dtype=np.int64)
    for array in (X, y, *([] if weight is None else [weight])):
        array.setflags(write=False)
    optimum = {}  # the nearest float to "0.8" is above it
    for loss, (low, high) in entry["optimum"].items():
        optimum[loss] = float_below(Fraction(low)), float_above(Fraction(high))
    names, lam = (entry["name"], data["name"], data["tests"]), float(entry["lam"])
    at_ones = {loss: float(value) for loss, value in entry["at_ones"].items()}
    return ReferenceProblem(*names, X, y, weight, lam, optimum, at_ones)


def reference_problems(only: str | Iterable[str] | None = None) -> list[ReferenceProblem]:
    """Return the reference problems; their arrays cannot be written to."""
    problems = list(_all_problems())
    if only is None:
        return problems
    wanted = [only] if isinstance(only, str) else list(only)
    known = dict.fromkeys([p.name for p in problems] + [p.data for p in problems])
    for name in wanted:
        check_name("reference problem", name, known, f"there are {', '.join(known)}")
    return [p for p in problems if p.name in wanted or p.data in wanted]
