"""Every public name says what it does, what it takes, what it raises; and everything has a type.

Public are the names in `__all__` of `aucert.exact`, `aucert.approx` and `aucert.validation`, and
their methods. Every other function and class without a leading underscore needs a docstring, and
annotations, too. A parameter that is explained `As in` another name is explained.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from aucert.validation.claims.recorded import statements
from loops import each

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("exact", "approx", "validation")
KEYS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")
SELF = ("self", "cls")
CITATION = re.compile(r"\[(\w+), (?:\w+\.? )?[^\]]*\]")


def page_maker() -> ModuleType:
    """`docs/site_pages.py`, whose reader of docstrings makes the site's tables."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = page_maker()
PUBLIC = [
    pytest.param(value, id=f"{room}.{name}")
    for room in ROOMS
    for name, value in PAGES.public_names(room).items()
    if callable(value) and not isinstance(value, type(PAGES))
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


@pytest.mark.slow
@each("room", ROOMS)
def test_citations_name_a_paper(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                for key in re.findall(r"\[([A-Z]\w+), (?:eq|Sec|Alg|Th|Tab|Fig|Prop|Lem)", text):
                    assert key in KEYS, f"{path.name}: [{key}, ...]"


@each(
    "value",
    [p for p in PUBLIC if inspect.isclass(p.values[0]) and str(p.id).startswith("approx.")],
)
def test_a_method_of_a_paper_cites_it(value) -> None:
    module = importlib.import_module(value.__module__)
    assert CITATION.search(f"{value.__doc__}{module.__doc__}"), "give [KEY, item]"


def definitions(source: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Public functions, classes and methods of a module, with dotted names."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                told = ast.get_docstring(node) or ""
                for inner in node.body:
                    if not isinstance(inner, ast.FunctionDef) or inner.name.startswith("_"):
                        continue
                    # a property may be told among the attributes of its class
                    if "property" not in decorators(inner) or f"\n{inner.name} : " not in told:
                        yield f"{node.name}.{inner.name}", inner


def decorators(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Last names of the decorators."""
    called = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return {d.attr if isinstance(d, ast.Attribute) else ast.unparse(d) for d in called}


def untold(source: str) -> list[str]:
    """Public definitions without a docstring.

    A setter shares that of its property; a claim's function is told by its statement.
    """
    return [
        name
        for name, node in definitions(source)
        if ast.get_docstring(node) is None
        and "setter" not in decorators(node)
        and name.replace("_", "-") not in statements()
    ]


COMPILED = {"compiled", "compiled_later"}


def untyped(source: str) -> list[str]:
    """Parameters and results of functions, private ones included, without an annotation.

    The compiler finds the types of what it compiles by itself.
    """
    wrong = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and not decorators(node) & COMPILED:
            taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            wrong += [
                f"{node.name}({argument.arg})"
                for k, argument in enumerate(taken)
                if argument.annotation is None and not (k == 0 and argument.arg in SELF)
            ]
            if node.returns is None and node.name != "__init__":
                wrong.append(f"{node.name} ->")
    return wrong


STANDS_ALONE = ("check_proof.py", "check_partitions.py")  # files to copy and to read as a whole
LIBRARY = [
    path
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.name not in STANDS_ALONE
]


def test_everything_public_in_the_library_has_a_docstring() -> None:
    found = {str(p.relative_to(ROOT)): untold(p.read_text("utf-8")) for p in LIBRARY}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_everything_in_the_library_has_its_types() -> None:
    found = {str(p.relative_to(ROOT)): untyped(p.read_text("utf-8")) for p in LIBRARY}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_planted_omissions_are_found() -> None:
    def silent(a: int) -> None: ...

    def partly(a: int, b: int) -> None:
        """Do it.

        Parameters
        ----------
        a : int
        """

    assert gaps_in(silent) == ["it has no docstring", "a is not explained"]
    assert gaps_in(partly) == ["b is not explained"]
    assert untold("def f(): ...\ndef _g(): ...\nclass A:\n    'A.'\n    def h(self): ...") == [
        "f",
        "A.h",
    ]
    assert untyped("def f(a, b: int) -> int: ...\ndef g(): ...") == ["f(a)", "g ->"]
    assert PAGES.sections(partly.__doc__)["Parameters"] == [("a", "int", "")]
