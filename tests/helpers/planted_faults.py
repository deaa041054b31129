"""Mistakes planted by rule: whatever a claim calls of the library returns something else.

    python tests/helpers/planted_faults.py

looks for every claim that is not arithmetic for one function of the library that, if it returned
other numbers, would turn its verdict, and prints the `fault` of its entry in the TOML. Findings
have their own: there the numbers of the page are moved.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from aucert.validation import suite
from aucert.validation.claims.claim import REGISTRY, Claim
from aucert.validation.claims.recorded import statements

PLACE = "aucert.validation"
FACTORS = (3.0, 0.5)
SHIFT = 0.05
SEARCH = 20.0
"""Seconds that are spent on one claim, at most."""


def wrong(value: Any, factor: float) -> Any:
    """Return the value with its numbers scaled, arrays unevenly; all else as it is."""
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float | np.floating):
        return float(value) * factor + SHIFT
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        uneven = 1 + (factor - 1) * np.linspace(0, 1, max(value.size, 1)).reshape(value.shape)
        return value * uneven
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(wrong(part, factor) for part in value)
    if isinstance(value, list):
        return [wrong(part, factor) for part in value]
    if isinstance(value, dict):
        return {name: wrong(part, factor) for name, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {
            field.name: wrong(getattr(value, field.name), factor)
            for field in dataclasses.fields(value)
            if field.init
        }
        return dataclasses.replace(value, **parts)
    return value


def faulty(right: Callable[..., Any], factor: float) -> Callable[..., Any]:
    """Return the function with wrong results."""

    def wrapped(*given: Any, **named: Any) -> Any:
        return wrong(right(*given, **named), factor)

    return wrapped


@contextmanager
def planted(module: str, name: str, factor: float) -> Iterator[None]:
    """Within, a module's name stands for something that gives wrong results."""
    target: Any = sys.modules[f"{PLACE}.{module}"]
    *path, last = name.split(".")
    for part in path:
        target = getattr(target, part)
    right = inspect.getattr_static(target, last)
    if isinstance(right, classmethod | staticmethod):
        changed: Any = type(right)(faulty(right.__func__, factor))
    elif isinstance(right, property):
        changed = property(faulty(right.fget, factor))  # type: ignore[arg-type]
    else:
        changed = faulty(right, factor)
    forget()
    setattr(target, last, changed)
    try:
        yield
    finally:
        setattr(target, last, right)
        forget()


def forget() -> None:
    """Forget what claims keep from each other."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{PLACE}.claims"):
            for value in vars(module).values():
                clear = getattr(value, "cache_clear", None)
                if clear is not None:
                    clear()


def candidates(claim: Claim) -> Iterator[tuple[str, str]]:
    """Yield what a claim's functions call: of the library, then of its own module."""
    module = inspect.getmodule(claim.run)
    assert module is not None
    reached = list(_reached(claim.run, module, set()))
    for home, name, value in reached:
        if inspect.isfunction(value) and not value.__module__.startswith(f"{PLACE}.claims"):
            yield home, name
    for home, name, value in reached:
        if inspect.isclass(value) and value.__module__.startswith("aucert"):
            for method, function in vars(value).items():
                if not method.startswith("_") and (
                    inspect.isfunction(function) or isinstance(function, classmethod | staticmethod)
                ):
                    yield home, f"{name}.{method}"
    for home, name, value in reached:
        if inspect.isfunction(value) and value.__module__.startswith(f"{PLACE}.claims"):
            yield home, name


def _reached(function: Any, module: ModuleType, seen: set[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield the globals that a function names, and those of its helpers."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    codes = [code] if code is not None else []
    codes += [
        value.__code__
        for value in (vars(function).values() if inspect.isclass(function) else ())
        if inspect.isfunction(value)
    ]
    names: list[str] = []
    while codes:
        code = codes.pop()
        names += code.co_names
        codes += [const for const in code.co_consts if hasattr(const, "co_names")]
    for name in dict.fromkeys(names):
        value = vars(module).get(name)
        key = f"{module.__name__}.{name}"
        inner = inspect.unwrap(value) if callable(value) else value
        if key in seen or not (inspect.isfunction(inner) or inspect.isclass(inner)):
            continue
        seen.add(key)
        yield module.__name__, name, inner
        home = inspect.getmodule(inner)
        if home is not None and home.__name__.startswith(f"{PLACE}.claims"):
            yield from _reached(inner, home, seen)


def verdict(name: str) -> str:
    """Return what a claim comes to, "error" if it raises."""
    claim = REGISTRY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return suite.run_claim(claim, 0, "quick").verdict


def fault_of(claim: Claim) -> dict[str, Any] | None:
    """Return the first fault that turns a claim, else one that makes it raise."""
    raised: dict[str, Any] | None = None
    found_within = time.monotonic() + SEARCH
    for home, name in list(dict.fromkeys(candidates(claim)))[:24]:
        for factor in FACTORS:
            if time.monotonic() > found_within:
                return raised
            try:
                with planted(home.removeprefix(f"{PLACE}."), name, factor):
                    found = verdict(claim.name)
            except (AttributeError, TypeError):
                continue
            place = home.removeprefix(f"{PLACE}.")
            fault = {"module": place, "name": name, "factor": factor, "verdict": found}
            if found not in (str(claim.expected_verdict), "error"):
                return fault
            if found == "error" and raised is None:
                raised = fault
    return raised


def main() -> None:
    """Find a fault for each claim that has none yet."""
    for claim in suite.claims():
        known = claim.kind == "finding" or claim.arithmetic or "fault" in statements()[claim.name]
        if not known and claim.missing is None and not claim.name.endswith("-repeats"):
            print(claim.name, fault_of(claim), flush=True)


if __name__ == "__main__":
    main()
