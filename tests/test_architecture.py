"""The order of the rooms, no circles, no code from data, a light import, the list of packages.

Every checker takes source text: the tests at the end plant a violation and see it caught.
"""

import ast
import functools
import graphlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = frozenset(PYPROJECT["tool"]["setuptools"]["packages"])

ROOMS = ("exact", "approx", "validation")  # each may know those to its left
# Rooms of `exact` that find optima: an approximation must never be helped by the answer.
CLOSED = frozenset({"solvers", "api", "subsets", "roc_svm", "solved", "survival"})
OPEN = {f.parent.name for f in (ROOT / "exact").glob("*/__init__.py")} - CLOSED
OPEN |= {f.stem for f in (ROOT / "exact").glob("*.py")} - CLOSED
UNSAFE_MODULES = frozenset({"pickle", "cloudpickle", "dill", "marshal", "shelve"})
UNSAFE_CALLS = frozenset({"eval", "exec", "compile", "joblib.load"})


def package_folders(root: Path) -> set[str]:
    """Dotted names of all folders that hold an `__init__.py`, the root being `aucert`."""
    found = {"aucert"}
    for folder in (p for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")):
        if folder.name in {"build", "dist", "tests"} or (folder / "pyvenv.cfg").exists():
            continue
        inits = folder.rglob("__init__.py")
        found |= {".".join(("aucert", *f.parent.relative_to(root).parts)) for f in inits}
    return found


def library() -> dict[str, str]:
    """Source text of every library module by its dotted name; packages end in `.__init__`."""
    files = [*ROOT.glob("*.py"), *(f for room in ROOMS for f in (ROOT / room).rglob("*.py"))]
    names = {file: file.relative_to(ROOT).with_suffix("").parts for file in sorted(files)}
    return {".".join(("aucert", *name)): file.read_text("utf-8") for file, name in names.items()}


@functools.cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


def called(node: ast.Call) -> str:
    """What is called: `f`, or `a.f` of a module a."""
    function, of = node.func, getattr(node.func, "value", None)
    if isinstance(function, ast.Attribute):
        return f"{of.id}.{function.attr}" if isinstance(of, ast.Name) else ""
    return function.id if isinstance(function, ast.Name) else ""


@functools.cache
def imports(source: str, module: str) -> list[str]:
    """What a module imports, made absolute: modules, or names that a package or library exports."""
    package, found = module.split(".")[:-1], []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            whole = name in PACKAGES or not name.startswith("aucert")
            found += [f"{name}.{alias.name}" if whole else name for alias in node.names]
        elif isinstance(node, ast.Call) and called(node).endswith("import_module"):
            found += [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
    return found


def order_violations(source: str, module: str) -> list[str]:
    """Imports against `validation -> approx -> exact`, or by `approx` from a closed room."""
    room, wrong = module.split(".")[1], []
    for item in imports(source, module):
        target = item.split(".")
        if target[0] != "aucert" or room not in ROOMS:
            continue
        other, inside = target[1] if len(target) > 1 else "", target[2:]
        if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
            wrong.append(f"{module}: {room} may not know {item}")
        shut = CLOSED & set(inside) or not OPEN & set(inside[:1])
        if (room, other) == ("approx", "exact") and shut:
            wrong.append(f"{module}: {item} is not in a room that is open to approx")
    return wrong


def unsafe_violations(source: str, module: str) -> list[str]:
    """Reads that could run somebody's code, and compiled arithmetic that reorders sums."""
    wrong = [x for x in imports(source, module) if x.split(".")[0] in UNSAFE_MODULES]
    wrong += [x for x in imports(source, module) if x == "joblib.load"]
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and called(node) in UNSAFE_CALLS:
            wrong.append(f"line {node.lineno}: {called(node)}")
        elif isinstance(node, ast.keyword) and node.arg in {"fastmath", "allow_pickle"}:
            off = isinstance(node.value, ast.Constant) and node.value.value is False
            wrong += [] if off else [f"line {node.value.lineno}: {node.arg}"]
    return [f"{module}: {text}" for text in wrong]


def import_circle(sources: dict[str, str]) -> list[str]:
    """One circle of modules that import each other (lazily too), or an empty list.

    What is imported under `if TYPE_CHECKING:` is not loaded, and makes no circle.
    """
    block = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n)+", re.MULTILINE)

    def module_of(item: str) -> str:
        names = (item, f"{item}.__init__", f"{item.rpartition('.')[0]}.__init__")
        return next((name for name in names if name in sources), "")

    graph = {
        module: {*map(module_of, imports(block.sub("", source), module))} - {module, ""}
        for module, source in sources.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_the_library_obeys() -> None:
    files = library().items()
    checkers = (order_violations, unsafe_violations)
    assert [w for check in checkers for module, text in files for w in check(text, module)] == []
    assert import_circle(library()) == []
    assert package_folders(ROOT) == PACKAGES


def test_importing_exact_loads_no_heavy_library(tmp_path: Path) -> None:
    heavy = ("cvxpy", "numba", "matplotlib", "jinja2", "click", "rich", "pyarrow")
    code = f"import sys, aucert.exact; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr


def test_a_planted_violation_is_caught() -> None:
    order, unsafe = order_violations, unsafe_violations
    pairs, descent = "aucert.exact.pairs.all_pairs", "aucert.approx.newton.descent"
    for checker, module, source, complains in (
        (order, pairs, "from ...approx.nystrom import Nystrom", True),
        (order, pairs, "def f():\n    from ... import validation", True),
        (order, descent, "from ...exact.solvers.qp import QP", True),
        (order, descent, "from ...exact import solvers", True),
        (order, descent, "from ...exact.api.certify import certify", True),
        (order, descent, "import_module('aucert.exact.solvers.choose')", True),
        (order, descent, "from ...exact.pairs.all_pairs import AllPairs", False),
        (order, "aucert.validation.bounds.printed", "from ...exact import solve", False),
        (unsafe, pairs, "import pickle", True),
        (unsafe, pairs, "from joblib import load", True),
        (unsafe, pairs, "import joblib\njoblib.load('x')", True),
        (unsafe, pairs, "eval('1')", True),
        (unsafe, pairs, "numpy.load('x', allow_pickle=True)", True),
        (unsafe, pairs, "njit(fastmath=True)(f)", True),
        (unsafe, pairs, "re.compile('x')\nload('x', allow_pickle=False)", False),
    ):
        assert bool(checker(source, module)) == complains, (module, source)
    chain = {"aucert.exact.a": "from .b import x", "aucert.exact.b": "from . import c"}
    assert import_circle({**chain, "aucert.exact.c": ""}) == []
    assert import_circle({**chain, "aucert.exact.c": "def f():\n    from .a import y"}) != []
    reexport = {"aucert.exact.__init__": "from .a import x", "aucert.exact.a": "from . import x"}
    assert import_circle(reexport) != []
