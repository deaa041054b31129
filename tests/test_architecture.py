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
# Inside `exact`: each room may know those to its left. The rooms of CLOSED find optima; `approx`
# may not enter them, because an approximation must never be helped by the answer.
EXACT = (
    *("errors", "tools", "spaces", "sums", "losses", "pairs", "problem", "structure"),
    *(
        "square_loss",
        "certificate",
        "proof",
        "formulation",
        "curvature",
        "classifier",
        "solvers",
        "api",
    ),
)
CLOSED = ("solvers", "api")
# Addresses of version 0.1, kept until version 0.3: they may import from any room.
SHIMS = frozenset({"check_proof"})
MAX_ROOMS, MAX_FILES = 15, 12
# Inside `validation`: each may know those to its left, and everything beside the folders named
# here (`cli`, which starts everything) is free.
FOLDERS = (
    *("early", "workers", "memory", "extremes", "plots", "files", "data", "bounds"),
    "budget",
    *("claims", "report", "tables", "findings", "judged", "suite"),
    *("reference", "checking"),
    "commands",
    "formal",
)
MAY_USE_CVXPY = frozenset(
    {"aucert.exact.solvers.qp", "aucert.exact.solvers.best_subset.relaxation"}
)
UNSAFE_MODULES = frozenset({"pickle", "cloudpickle", "dill", "marshal", "shelve"})
UNSAFE_CALLS = frozenset({"eval", "exec", "compile"})
LOSS_NAMES = frozenset(f.stem for f in (ROOT / "exact" / "losses").glob("*.py"))
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
    calls = "import_module" in source or "__import__" in source  # else expressions import nothing

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
            if calls or not isinstance(child, ast.expr):
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
    """Imports against `validation -> approx -> exact`, or by `approx` from a closed room."""
    room, wrong = module.split(".")[1], []
    for item in imports(source, module):
        target = item.target.split(".")
        if target[0] != "aucert" or room not in ROOMS:
            continue
        other = target[1] if len(target) > 1 else ""
        part = target[2] if len(target) > 2 else ""
        if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
            wrong.append(f"{module}: {room} may not know {item.target}")
        elif room == "approx" and other == "exact" and (part not in EXACT or part in CLOSED):
            wrong.append(f"{module}: {item.target} is not in a room that is open to approx")
    return wrong


def room_violations(source: str, module: str) -> list[str]:
    """Imports against the order of the rooms of `exact`."""
    name = module.split(".")
    if name[1] != "exact" or name[2] in {"__init__", *SHIMS}:
        return []
    wrong = []
    for item in imports(source, module):
        target = item.target.split(".")
        if target[:2] != ["aucert", "exact"]:
            continue
        part = target[2] if len(target) > 2 else item.name
        if part not in EXACT[: EXACT.index(name[2]) + 1]:
            wrong.append(f"{module}: {name[2]} may not know {item.target}")
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


def loss_name_violations(source: str, module: str) -> list[str]:
    """A branch on the name of a loss: a loss says what it is by what it does, or by its class."""
    if module.split(".")[1] not in ("exact", "approx"):
        return []
    wrong = []
    for node in ast.walk(parsed(source)):
        tested = [node] if isinstance(node, ast.Compare | ast.MatchValue) else []
        texts = {c.value for one in tested for c in ast.walk(one) if isinstance(c, ast.Constant)}
        if texts & LOSS_NAMES:
            wrong.append(f"{module}:{node.lineno}: {ast.unparse(node)}")  # type: ignore[attr-defined]
    return wrong


def twice_violations(source: str, module: str) -> list[str]:
    """A name that a module gives to two things: whoever meant the first one gets the second."""
    seen: set[str] = set()
    wrong = []
    for node in parsed(source).body:
        names = {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
        for target in node.targets if isinstance(node, ast.Assign) else ():
            stored = (p for p in ast.walk(target) if isinstance(p, ast.Name))
            names |= {part.id for part in stored if isinstance(part.ctx, ast.Store)}
        wrong += [f"{module}:{node.lineno}: {name} again" for name in sorted(names & seen)]
        seen |= names
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
    room_violations,
    loss_name_violations,
    twice_violations,
)


def test_the_library_obeys() -> None:
    """One test of all rules, so that none is left to the slow ones."""
    files = library().items()
    assert [w for check in CHECKERS for module, text in files for w in check(text, module)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert import_circle(library()) == []


def test_every_part_of_exact_has_its_place_in_the_order() -> None:
    room = ROOT / "exact"
    folders = {f.parent.name for f in room.glob("*/__init__.py")}
    files = {f.stem for f in room.glob("*.py")} - {"__init__", *SHIMS}
    assert sorted(folders | files) == sorted(EXACT), "enter it in EXACT above"


def crowded(root: Path) -> list[str]:
    """Folders of `exact` and `approx` with more rooms or files than a reader can hold in mind."""
    found = []
    for init in [f for room in ("exact", "approx") for f in (root / room).rglob("__init__.py")]:
        folder = init.parent
        rooms = len(list(folder.glob("*/__init__.py")))
        files = len([f for f in folder.glob("*.py") if f.stem not in {"__init__", *SHIMS}])
        if rooms > MAX_ROOMS or files > MAX_FILES:
            found.append(f"{folder.relative_to(root)}: {rooms} rooms, {files} files")
    return found


def test_no_folder_is_crowded() -> None:
    assert crowded(ROOT) == []


def test_an_init_of_a_room_is_one_docstring() -> None:
    rooms = [f for room in ("exact", "approx") for f in (ROOT / room).glob("*/**/__init__.py")]
    assert rooms
    for init in rooms:
        body = parsed(init.read_text("utf-8")).body
        assert len(body) == 1 and isinstance(body[0], ast.Expr), init


def test_tests_mirror_the_folders() -> None:
    folders = {f.parent.relative_to(ROOT / "tests") for f in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {f for f in folders if f.parts and f.parts[0] in ROOMS}
    assert sorted(str(f) for f in mirrored if not (ROOT / f / "__init__.py").exists()) == []


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
    fence, style, unsafe, size, order, room, named, twice = CHECKERS
    pairs, descent = "aucert.exact.pairs.all_pairs", "aucert.approx.drawn_pairs.descent"
    yield fence, pairs, "from ...approx.nystrom.nystrom import Nystrom", True
    yield fence, pairs, "def f():\n    from ... import validation", True
    yield fence, descent, "from ...exact.solvers.qp import QP", True
    yield fence, descent, "from ...exact.solvers import newton", True
    yield fence, descent, "from ...exact.solvers.window.window import Window", True
    yield fence, descent, "from ...exact import solvers", True
    yield fence, descent, "from ...exact import solve", True
    yield fence, descent, "from ...exact.api.certify import certify", True
    yield fence, descent, "import_module('aucert.exact.solvers.newton')", True
    yield fence, descent, "from ...validation.bounds import theorem4", True
    yield fence, descent, "from ...exact.pairs.all_pairs import AllPairs", False
    yield fence, descent, "from ...exact.errors import InputError", False
    yield fence, "aucert.validation.bounds.printed", "from ...exact import solve", False
    yield room, pairs, "def f():\n    from ..solvers.newton import Newton", True
    yield room, pairs, "from ..certificate.solution import Solution", True
    yield room, pairs, "from .. import certificate", True
    yield room, pairs, "from .. import solve", True
    yield room, pairs, "from ..losses.hinge import Hinge", False
    yield room, pairs, "from ..errors import InputError", False
    yield room, "aucert.exact.api.solve", "from ..solvers.newton import Newton", False
    yield room, "aucert.exact.solvers.window.window", "from ...api.solve import solve", True
    yield room, "aucert.exact.solvers.window.window", "from ..qp import QP", False
    yield order, "aucert.validation.files.labels", "from ..data import datasets", True
    yield order, "aucert.validation.bounds.prime", "def f(): from ..claims import sht", True
    yield order, "aucert.validation.claims.sauc.pairs", "from ... import suite", True
    yield order, "aucert.validation.report.document", "from ..cli import main", True
    yield order, "aucert.validation.claims.sauc.pairs", "from ...bounds import theorem4", False
    yield order, "aucert.validation.claims.sauc.pairs", "from .common import toy", False
    yield order, "aucert.validation.cli", "from .commands.validate import run_validate", False
    yield style, "aucert.exact.solvers.qp", "import cvxpy", True
    yield style, "aucert.exact.solvers.qp", "def f():\n    import cvxpy as cp", False
    yield style, "aucert.exact.solvers.newton", "def f():\n    import cvxpy as cp", True
    yield (
        style,
        "aucert.exact.solvers.qp",
        "from aucert.exact.pairs.all_pairs import AllPairs",
        True,
    )
    yield named, pairs, "if loss.name == 'hinge':\n    pass", True
    yield named, descent, "x = loss in ('hinge', 'square')", True
    yield named, pairs, "match loss:\n    case 'logistic':\n        pass", True
    yield named, pairs, "if isinstance(loss, Hinge) or kernel == 'linear':\n    pass", False
    yield named, "aucert.validation.claims.claim", "x = loss == 'hinge'", False
    yield twice, pairs, "STEPS = 8\nSTEPS, FEWEST = 16, 4", True
    yield twice, pairs, "def f():\n    x = 1\nf = 2", True
    yield twice, pairs, "def f():\n    x = 1\nx = 2\nclass C:\n    x = 3", False
    yield unsafe, pairs, "import pickle", True
    yield unsafe, pairs, "from joblib import load", True
    yield unsafe, pairs, "import joblib\njoblib.load('x')", True
    yield unsafe, pairs, "eval('1')", True
    yield unsafe, pairs, "numpy.load('x', allow_pickle=True)", True
    yield unsafe, pairs, "njit(fastmath=True)(f)", True
    yield (
        unsafe,
        pairs,
        "re.compile('x')\nload('x', allow_pickle=False)",
        False,
    )
    yield size, pairs, "x = 1\n" * (MAX_FILE_LINES + 1), True
    yield (
        size,
        pairs,
        "def f():\n" + "    x = 1\n" * (MAX_BODY_LINES + 1),
        True,
    )
    long_docstring = '    """' + "\n" * MAX_BODY_LINES + '"""\n'
    yield (
        size,
        pairs,
        "def f():\n" + long_docstring + "    x = 1\n" * 60,
        False,
    )


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
