"""Every public name says what it does, what it takes, what it raises; and everything has a type.

Public are the names in `__all__` of `aucert.exact`, `aucert.approx` and `aucert.validation`, and
their methods. Every other function and class without a leading underscore needs a docstring, and
annotations, too. A parameter that is explained `As in` another name is explained.
"""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loops import each

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("exact", "approx", "validation")
SELF = ("self", "cls")


PAGES = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "site_pages.py")))
PUBLIC = [
    pytest.param(value, id=f"{room}.{name}")
    for room in ROOMS
    for name, value in PAGES.public_names(room).items()
    if callable(value) and not inspect.ismodule(value)
]


def described(value: Any, *titles: str) -> dict[str, str]:
    """What a docstring says of each parameter: type and text."""
    found: dict[str, str] = {}
    for title in titles:
        for names, kind, text in PAGES.sections(value.__doc__).get(title, []):
            found |= {name.strip(" *"): f"{kind} {text}".strip() for name in names.split(",")}
    return found


def parameters(value: Any) -> list[str]:
    """Names of the parameters that a caller gives."""
    if inspect.isclass(value) and issubclass(value, BaseException | Enum):
        return []
    return [
        name for name in inspect.signature(value).parameters if name[0] != "_" and name not in SELF
    ]


def gaps_in(value: Any) -> list[str]:
    """What the docstring of a public name leaves out."""
    text = inspect.getdoc(value) or ""
    wrong = [] if text else ["it has no docstring"]
    known = described(value, "Parameters", "Attributes")
    prose = re.sub(r"\s+", " ", text)
    for name in parameters(value):
        by_reference = re.search(rf"(^|\n)[^\n]*\b{name}\b[^\n]*(:|As )", text) is not None
        whole = "rguments as" in prose or "parameters are those of" in prose
        if name not in known and not by_reference and not whole:
            wrong.append(f"{name} is not explained")
        elif name in known and not known[name]:
            wrong.append(f"{name} has neither a type nor a text")
    return wrong


def raises_input_error(value: Any) -> bool:
    """Whether the function itself, not what it calls, raises `InputError`."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(value)))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return any("InputError" in ast.unparse(exception) for exception in raised)


@each("value", PUBLIC)
def test_a_public_name_explains_itself_and_every_argument(value) -> None:
    assert gaps_in(value) == []


@each("value", [p for p in PUBLIC if inspect.isfunction(p.values[0])])
def test_a_public_function_tells_its_errors(value) -> None:
    text = inspect.getdoc(value) or ""
    assert "Raises\n------" in text or "aises" in text or not raises_input_error(value)
