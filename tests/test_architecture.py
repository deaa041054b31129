"""The house rules that a reader relies on, held by reading the source.

Every checker takes source text: the tests at the end plant a violation and see it caught.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = frozenset(PYPROJECT["tool"]["setuptools"]["packages"])

ROOMS = ("exact", "approx", "validation")  # each may know those to its left
# What states the problem (open to `approx`) and what solves it (closed: an approximation must
# never be helped by the answer). A new file in exact/ has to be entered in one of the two.
STATES = frozenset(
    """errors atomic_files parameters rounding compiling spaces kernels gram gram_factor reduction
    structure structured woodbury nearest_pairs formulation auc losses pairs pair_list pair_sums
    pair_sums_compiled pair_sums_counted
    pair_sums_counted_compiled curvature marginals squared_loss row_average support_loss
    support_swaps problem scalings witness certificate check_proof proof proof_evidence solution
    classifier threshold model_codec model_files row_moments subset_bounds support_search
    restricted_constants bins streamed streamed_compiled pair_sums_binned pair_sums_grid
    bins_compiled evaluation evaluators slope_search subsample certified_order
    curvature_compiled newton_points newton_equation audit folds convex_square pair_graph""".split()
)
SOLVES = frozenset(
    """qp qp_backends cutting_plane newton smoothed_newton pair_hessian line_search window window_qp
    active_pairs multipliers multipliers_compiled newton_systems polish solving auditing
    subset subset_exhaustive branch_and_bound subset_dive relaxation convex_reference estimators
    path path_selection path_estimators saved_models hard_margin""".split()
)
# Inside `validation`: each may know those to its left, and everything beside the folders named
# here (`cli`, which starts everything) is free.
FOLDERS = (
    *("plots", "files", "data", "bounds", "budget", "claims", "report", "suite"),
    *("reference", "checking", "benchmarks", "tables", "commands", "formal"),
)
MAY_USE_CVXPY = frozenset({"aucert.exact.qp", "aucert.exact.relaxation"})
UNSAFE_MODULES = frozenset({"pickle", "cloudpickle", "dill", "marshal", "shelve"})
UNSAFE_CALLS = frozenset({"eval", "exec", "compile"})
MAX_FILE_LINES = 300
MAX_BODY_LINES = 60


@dataclass(frozen=True)
class Import:
    """One imported thing: `from a.b import c` is `Import("a.b", "c", ...)`."""

    module: str
    name: str
    lazy: bool
    """Inside a function: runs only when that function is called."""

    @property
    def target(self) -> str:
        """The module meant, or `package.name` for a name that a package re-exports."""
        return (
            f"{self.module}.{self.name}" if self.name and self.module in PACKAGES else self.module
        )


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
    return {
        ".".join(("aucert", *f.relative_to(ROOT).with_suffix("").parts)): f.read_text("utf-8")
        for f in sorted(files)
    }


@functools.cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a source, made once for all checkers."""
    return ast.parse(source)


@functools.cache
def imports(source: str, module: str) -> list[Import]:
    """All imports of a module, relative ones made absolute; `import_module("x")` counts as one."""
    package = module.split(".")[:-1]
    found = []

    def visit(node: ast.AST, lazy: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, "", lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            found.extend(Import(name, alias.name, lazy) for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in {"import_module", "__import__"}:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append(Import(first.value, "", lazy))
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(parsed(source), lazy=False)
    return found


def called(node: ast.Call) -> str:
    """The last name of what is called: `load` of `joblib.load(...)`."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def fence_violations(source: str, module: str) -> list[str]:
    """Imports against `validation -> approx -> exact`, or from what solves into what must not."""
    room, wrong = module.split(".")[1], []
    for item in imports(source, module):
        target = item.target.split(".")
        if target[0] != "aucert" or room not in ROOMS:
            continue
        other = target[1] if len(target) > 1 else ""
        part = target[2] if len(target) > 2 else ""
        if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
            wrong.append(f"{module}: {room} may not know {item.target}")
        elif room == "approx" and other == "exact" and part not in STATES:
            wrong.append(f"{module}: {item.target} is not a module that only states the problem")
        elif room == "exact" and module.split(".")[2] in STATES and part in SOLVES:
            wrong.append(f"{module}: what states the problem may not import a solver, {part}")
    return wrong


def order_violations(source: str, module: str) -> list[str]:
    """Imports against the order of the folders of `validation`."""
    name = module.split(".")
    if name[1] != "validation" or name[2] not in FOLDERS:
        return []
    wrong = []
    for item in imports(source, module):
        target = item.target.split(".")
        known = target[:2] == ["aucert", "validation"] and len(target) > 2
        if known and target[2] not in FOLDERS[: FOLDERS.index(name[2]) + 1]:
            wrong.append(f"{module}: {name[2]} may not know {item.target}")
    return wrong


def import_style_violations(source: str, module: str) -> list[str]:
    """Absolute imports of the library by itself; cvxpy at the wrong place or the wrong time."""
    wrong = []
    for node in ast.walk(parsed(source)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        wrong += [
            f"{module}: {n}: write it relatively" for n in names if n.split(".")[0] == "aucert"
        ]
    for item in imports(source, module):
        if item.module.split(".")[0] == "cvxpy" and not (item.lazy and module in MAY_USE_CVXPY):
            wrong.append(f"{module}: cvxpy only inside functions of {sorted(MAY_USE_CVXPY)}")
    return wrong


def unsafe_violations(source: str, module: str) -> list[str]:
    """Reads that could run somebody's code, and compiled arithmetic that reorders sums."""
    wrong = []
    for item in imports(source, module):
        if item.module.split(".")[0] in UNSAFE_MODULES or (item.module, item.name) == (
            "joblib",
            "load",
        ):
            wrong.append(f"{module}: imports {item.module} {item.name}")
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            plain = isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS
            if plain or ast.unparse(node.func) == "joblib.load":
                wrong.append(f"{module}:{node.lineno}: {ast.unparse(node.func)}")
        elif isinstance(node, ast.keyword) and node.arg in {"fastmath", "allow_pickle"}:
            off = isinstance(node.value, ast.Constant) and node.value.value is False
            wrong += [] if off else [f"{module}:{node.value.lineno}: {node.arg}"]
    return wrong


def size_violations(source: str, module: str) -> list[str]:
    """A file or the body of a function (docstring not counted) that has grown too long."""
    lines = len(source.splitlines())
    wrong = [f"{module}: {lines} lines"] if lines > MAX_FILE_LINES else []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[:1] if ast.get_docstring(node) is None else node.body[1:2]
            length = (node.end_lineno or 0) - first[0].lineno + 1 if first else 0
            if length > MAX_BODY_LINES:
                wrong.append(f"{module}: the body of {node.name} has {length} lines")
    return wrong


def resolve(item: Import, sources: Iterable[str]) -> str:
    """The library module an import reads; empty for other people's."""
    candidates = (item.target, f"{item.target}.__init__", f"{item.module}.__init__")
    return next((name for name in candidates if name in sources), "")


def import_circle(sources: dict[str, str]) -> list[str]:
    """One circle of modules that import each other (lazily too), or an empty list."""
    graph = {
        module: {resolve(item, sources) for item in imports(source, module)} - {module, ""}
        for module, source in sources.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


Checker = Callable[[str, str], list[str]]
CHECKERS: tuple[Checker, ...] = (
    fence_violations,
    import_style_violations,
    unsafe_violations,
    size_violations,
    order_violations,
)


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda f: f.__name__)
def test_the_library_obeys(checker) -> None:
    assert [wrong for module, text in library().items() for wrong in checker(text, module)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert import_circle(library()) == []


def test_every_file_of_exact_either_states_or_solves() -> None:
    files = {f.stem for f in (ROOT / "exact").glob("*.py")} - {"__init__"}
    assert not STATES & SOLVES
    assert sorted(files - STATES - SOLVES) == [], "enter it in STATES or in SOLVES above"


def test_every_part_of_validation_has_its_place_in_the_order() -> None:
    room = ROOT / "validation"
    folders = {f.parent.name for f in room.glob("*/__init__.py")}
    files = {f.stem for f in room.glob("*.py")} - {"__init__", "cli"}
    assert sorted(folders | files) == sorted(FOLDERS), "enter it in FOLDERS above"


def test_packages_listed_are_the_folders_with_an_init() -> None:
    assert package_folders(ROOT) == PACKAGES


def test_root_init_imports_nothing_and_the_root_ships_two_files() -> None:
    assert imports(library()["aucert.__init__"], "aucert.__init__") == []
    assert {f.name for f in ROOT.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_tests_are_no_package_and_their_names_are_unique() -> None:
    names = [f.name for f in (ROOT / "tests").rglob("test_*.py")]
    assert list((ROOT / "tests").rglob("__init__.py")) == []
    assert sorted(n for n in set(names) if names.count(n) > 1) == []


def test_importing_exact_loads_no_heavy_library(tmp_path: Path) -> None:
    heavy = ("cvxpy", "numba", "matplotlib", "jinja2", "click", "rich", "pyarrow")
    code = f"import sys, aucert.exact; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr


def planted() -> Iterator[tuple[Checker, str, str, bool]]:
    """Checker, module, source, and whether the checker must complain."""
    fence, style, unsafe, size, order = CHECKERS
    yield fence, "aucert.exact.pairs", "from ..approx.nystrom import Nystrom", True
    yield fence, "aucert.exact.pairs", "def f():\n    from .. import validation", True
    yield fence, "aucert.exact.problem", "def f():\n    from .newton import Newton", True
    yield fence, "aucert.exact.solving", "from .newton import Newton", False
    yield fence, "aucert.approx.adamax", "from ..exact.qp import QP", True
    yield fence, "aucert.approx.adamax", "from ..exact import newton", True
    yield fence, "aucert.approx.adamax", "from ..exact import solve", True
    yield fence, "aucert.approx.adamax", "import_module('aucert.exact.newton')", True
    yield fence, "aucert.approx.adamax", "from ..validation.bounds import theorem4", True
    yield fence, "aucert.approx.adamax", "from ..exact.pairs import AllPairs", False
    yield fence, "aucert.validation.bounds.printed", "from ..exact import solve", False
    yield order, "aucert.validation.files.labels", "from ..data import datasets", True
    yield order, "aucert.validation.bounds.prime", "def f(): from ..claims import sht", True
    yield order, "aucert.validation.claims.sauc.toy", "from ... import suite", True
    yield order, "aucert.validation.report.document", "from ..cli import main", True
    yield order, "aucert.validation.claims.sauc.toy", "from ...bounds import theorem4", False
    yield order, "aucert.validation.claims.sauc.toy", "from .common import toy", False
    yield order, "aucert.validation.cli", "from .commands.validate import run_validate", False
    yield style, "aucert.exact.qp", "import cvxpy", True
    yield style, "aucert.exact.qp", "def f():\n    import cvxpy as cp", False
    yield style, "aucert.exact.newton", "def f():\n    import cvxpy as cp", True
    yield style, "aucert.exact.qp", "from aucert.exact.pairs import AllPairs", True
    yield unsafe, "aucert.exact.pairs", "import pickle", True
    yield unsafe, "aucert.exact.pairs", "from joblib import load", True
    yield unsafe, "aucert.exact.pairs", "import joblib\njoblib.load('x')", True
    yield unsafe, "aucert.exact.pairs", "eval('1')", True
    yield unsafe, "aucert.exact.pairs", "numpy.load('x', allow_pickle=True)", True
    yield unsafe, "aucert.exact.pairs", "njit(fastmath=True)(f)", True
    yield unsafe, "aucert.exact.pairs", "re.compile('x')\nload('x', allow_pickle=False)", False
    yield size, "aucert.exact.pairs", "x = 1\n" * (MAX_FILE_LINES + 1), True
    yield size, "aucert.exact.pairs", "def f():\n" + "    x = 1\n" * (MAX_BODY_LINES + 1), True
    long_docstring = '    """' + "\n" * MAX_BODY_LINES + '"""\n'
    yield size, "aucert.exact.pairs", "def f():\n" + long_docstring + "    x = 1\n" * 60, False


@pytest.mark.parametrize(("checker", "module", "source", "complains"), list(planted()))
def test_a_planted_violation_is_caught(checker, module, source, complains) -> None:
    assert bool(checker(source, module)) == complains


def test_a_planted_circle_is_caught() -> None:
    chain = {"aucert.exact.a": "from .b import x", "aucert.exact.b": "from . import c"}
    assert import_circle({**chain, "aucert.exact.c": ""}) == []
    assert import_circle({**chain, "aucert.exact.c": "def f():\n    from .a import y"}) != []
    reexport = {"aucert.exact.__init__": "from .a import x", "aucert.exact.a": "from . import x"}
    assert import_circle(reexport) != []


def test_a_planted_package_is_found(tmp_path: Path) -> None:
    for folder in ("exact", "exact/tables", "tests/exact", "build/lib/exact", "docs"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("exact", "exact/tables", "tests/exact", "build/lib/exact"):
        (tmp_path / folder / "__init__.py").touch()
    assert package_folders(tmp_path) == {"aucert", "aucert.exact", "aucert.exact.tables"}
