"""The four methods that a reader meets first say what they do before they do it.

Each starts with its pseudo-code, and no number stands in its functions without a name and a reason.
"""

from __future__ import annotations

import ast
from pathlib import Path

import aucert
from loops import each

SOLVERS = Path(aucert.__file__).parent / "exact" / "solvers"

METHODS = (
    "smoothed_newton.py",
    "smoothing/levels.py",
    "cutting_plane.py",
    "active_pairs.py",
    "best_subset/branch_and_bound.py",
)
"""Their main files. Levels are the inner loop of the smoothed Newton method."""

PARTS = ("smoothing", "bundle", "window")
"""The rooms of what they are made of."""

PLAIN = (0, 1, 2, -1, 0.5)
"""Numbers that need no name: counts, signs, squares and halves."""


def unexplained(source: str) -> list[str]:
    """Numbers inside functions, but for the defaults of their arguments."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in [part for line in function.body for part in ast.walk(line)]:
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                found += [] if node.value in PLAIN else [f"{node.lineno}: {node.value}"]
    return found


def unreasoned(source: str) -> list[str]:
    """Module constants of numbers without a docstring below them."""
    body = ast.parse(source).body
    found = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Name | ast.Subscript):
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found += [] if said else [f"{node.lineno}: {ast.unparse(node)}"]
    return found


def pseudo_code(source: str) -> list[str]:
    """The indented lines of a module's docstring."""
    said = ast.get_docstring(ast.parse(source), clean=False) or ""
    return [line for line in said.splitlines() if line.startswith("    ")]


@each("name", METHODS)
def test_a_method_starts_with_its_pseudo_code(name: str) -> None:
    lines = pseudo_code((SOLVERS / name).read_text(encoding="utf-8"))
    assert 5 <= len(lines) <= 12, lines


def test_every_number_of_a_method_has_a_name_and_a_reason() -> None:
    parts = [path for room in PARTS for path in (SOLVERS / room).glob("*.py")]
    for path in [SOLVERS / name for name in METHODS] + parts:
        if not path.stem.endswith("_compiled"):
            source = path.read_text(encoding="utf-8")
            assert unexplained(source) + unreasoned(source) == [], path


def test_a_planted_number_is_caught() -> None:
    assert unexplained("def f(x, y=7):\n    return 0.37 * x + 2 * y") == ["2: 0.37"]
    assert unreasoned('A = 3\n"""Why."""\nB = 4\nC = 5\n') == ["3: B = 4", "4: C = 5"]
    assert pseudo_code('"""What.\n\n    one\n    two\n"""') == ["    one", "    two"]
