"""Which tests notice planted mistakes? python tests/tools/mutants.py --area NAME | --summary | ...

A mutant is one operator, comparison, condition, `max` or `min` of one file turned into another. It
is planted in a copy of the tree, never in the tree itself, and the tests of its area run against
it. Kept is which test functions fail: those are its killers. What fails without a mutant, and
mutants that stop the tests from being collected, count for nothing.

    --area NAME      draw and run this area's mutants that the results lack; repeatable; `all`
    --summary        the killed share of each area, and by how many one test function alone
    --again NAME     run the recorded mutants of an area once more: none that was killed may survive
    --sample N       N mutants of all areas, drawn anew each day; nothing is kept

`mutants.jsonl` next to this file keeps the seed of the draw and one result per line, written as
soon as it is known, so that a run can be stopped and taken up again. Files with compiled loops get
a fresh compiler cache, since a cached loop does not see that a loop it calls has changed.
"""

import argparse
import ast
import contextlib
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
RESULTS = HERE.with_suffix(".jsonl")
SEED = 11
NUMBER = 60  # mutants of an area
LIMIT = 300  # seconds by the clock for the tests of one mutant, or four times those without one


class Area(NamedTuple):
    """Files, and the tests that are asked about their mutants; `last` only by what survives."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    last: tuple[str, ...] = ("tests/soundness", "tests/judge")


def within(*rooms: str) -> Area:
    """Return the area of some rooms, whose tests stand in folders of the same names."""
    return Area(rooms, tuple(f"tests/{room}" for room in rooms))


AREAS: dict[str, Area] = {
    "problem": Area(
        ("exact/problem", "exact/losses", "exact/structured.py"),
        ("tests/exact/problem", "tests/exact/losses", "tests/exact/structure"),
    ),
    "sums": within("exact/sums"),
    "pairs": within("exact/pairs"),
    "rows": within("exact/spaces"),
    "certificate": within("exact/certificate"),
    "proof": within("exact/proof"),
    "solvers": within("exact/solvers"),
    "square-loss": Area(
        ("exact/square_loss", "exact/subsets"), ("tests/exact/square_loss", "tests/exact/subsets")
    ),
    "asking": within("exact/formulation", "exact/api", "exact/estimators"),
    "tools": within("exact/tools"),
    "approx": within("approx"),
    "bounds": within("validation/bounds", "validation/budget", "validation/checking"),
    "claims": within("validation/claims", "validation/tables"),
    "files": within("validation/files", "validation/commands", "validation/report"),
}


def _report(**line: Any) -> None:
    if path := os.environ.get("MUTANT_REPORT"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


ENTERED: dict[tuple[str, str], set[str]] = {}  # test files that entered a function; "" at import


class Tracer:
    """Notes which functions of the tree the tests of each file enter."""

    now = ""

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            code = frame.f_code
            name = code.co_qualname.replace(".<locals>", "").split(".<")[0]
            file = code.co_filename[len(str(ROOT)) + 1 :]
            ENTERED.setdefault((file, name), set()).add(self.now)


TRACER = Tracer()


def pytest_configure() -> None:
    if os.environ.get("MUTANT_TRACE"):
        threading.setprofile(TRACER)
        sys.setprofile(TRACER)


def pytest_unconfigure() -> None:
    if os.environ.get("MUTANT_TRACE"):
        sys.setprofile(None)
        for (file, name), by in ENTERED.items():
            _report(file=file, entered=name, by=sorted(by))


def pytest_runtest_logstart(nodeid: str) -> None:
    TRACER.now = nodeid.split("::")[0]
    _report(begun=nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed or report.when == "call":
        _report(test=report.nodeid, failed=report.failed, seconds=report.duration)


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _report(uncollected=report.nodeid)


PAIRS: list[tuple[Any, Any]] = [
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.LShift, ast.RShift), (ast.And, ast.Or)),
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *(("maximum", "minimum"), ("max", "min")),
]
OTHER = {ast.FloorDiv: ast.Mult, **dict(PAIRS), **{b: a for a, b in PAIRS}}
CHECKERS = ("check_proof.py", "check_partitions.py")  # they have vectors and a formal proof


class Mutant(NamedTuple):
    """Where something is turned: `at` is the place among the nodes of the file's tree."""

    file: str
    function: str
    kind: str
    line: int
    text: str
    at: int

    @property
    def key(self) -> str:
        """What tells it from the others as long as the code around it is the same."""
        return f"{self.file}:{self.function}:{self.kind}:{self.text}"


def turned(node: ast.AST) -> tuple[str, ast.AST] | None:
    """Return a kind and the node that takes the place of this one, or None."""
    new: Any = copy.deepcopy(node)
    old: Any = None
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in OTHER:
        old, new.op = type(node.op), OTHER[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        old, new.ops[0] = type(node.ops[0]), OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        return f"without {type(node.op).__name__}", new.operand
    elif isinstance(node, ast.Call):
        what = "attr" if isinstance(node.func, ast.Attribute) else "id"
        if (name := getattr(node.func, what, "")) in OTHER:
            setattr(new.func, what, OTHER[name])
            return f"{name} to {OTHER[name]}", new
    return None if old is None else (f"{old.__name__} to {OTHER[old].__name__}", new)


def nodes_of(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes inside functions, but for annotations and what is raised, with its name."""

    def below(node: ast.AST, name: str, inside: bool) -> Iterator[tuple[str, ast.AST]]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or isinstance(child, ast.Raise):
                    continue
                into, where = inside, name
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    into, where = isinstance(child, ast.FunctionDef), f"{name}.{child.name}"
                elif inside:
                    yield name.lstrip("."), child
                yield from below(child, where, into)

    return below(tree, "", False)


def mutants_of(root: Path, area: Area) -> list[Mutant]:
    found = []
    paths = {path for room in area.files for path in (root / room).rglob("*.py")}
    paths |= {root / room for room in area.files if room.endswith(".py")}
    for path in sorted(paths):
        if path.name in CHECKERS:
            continue
        source = path.read_text(encoding="utf-8")
        lines, seen = source.splitlines(), Counter()
        for at, (function, node) in enumerate(nodes_of(ast.parse(source))):
            if (made := turned(node)) is None:
                continue
            line = getattr(node, "lineno", 0)
            text = lines[line - 1].strip()
            seen[function, made[0], text] += 1
            again = seen[function, made[0], text]
            text = text if again == 1 else f"{text}  # {again}"
            found.append(Mutant(str(path.relative_to(root)), function, made[0], line, text, at))
    return found


def planted(source: str, mutant: Mutant) -> str:
    tree = ast.parse(source)
    node = list(nodes_of(tree))[mutant.at][1]
    made = turned(node)
    assert made is not None and made[0] == mutant.kind

    class Planter(ast.NodeTransformer):
        def visit(self, one: ast.AST) -> ast.AST:
            return made[1] if one is node else self.generic_visit(one)

    return ast.unparse(ast.fix_missing_locations(Planter().visit(tree)))


class Copy:
    """A copy of the tree in which mutants are planted, with a compiler cache."""

    def __init__(self, folder: Path):
        self.folder, self.root, self.cache = folder, folder / "aucert", folder / "cache"
        self.entered: dict[tuple[str, str], set[str]] = {}
        listed = ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
        for name in subprocess.run(listed, capture_output=True, check=True).stdout.split(b"\0"):
            source = ROOT / name.decode()
            if name and source.is_file():
                to = self.root / name.decode()
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, to)

    def tests(self, paths: Any, cache: Path, limit: float, *more: str, trace=False) -> Any:
        """Run tests; return failed functions with seconds, the last one begun, and the status."""
        report = self.folder / "report.jsonl"
        report.unlink(missing_ok=True)
        tools = str(self.root / HERE.parent.relative_to(ROOT))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.folder), tools]),
            "NUMBA_CACHE_DIR": str(cache),
            "MUTANT_REPORT": str(report),
            "MUTANT_TRACE": "1" if trace else "",
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }
        if not paths:  # pytest would run all tests there are
            return {}, [], 0, False
        asked = ["-n", "0", "-q", "-p", "mutants", "-p", "no:cacheprovider", "--tb=no", *more]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *asked, *paths],
            cwd=self.root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)  # with what the tests started
                process.wait()
        text = report.read_text(encoding="utf-8") if report.exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            if "entered" in line:
                key = line["file"], line["entered"]
                self.entered[key] = self.entered.get(key, set()) | set(line["by"])
        failed: dict[str, float] = {}
        for line in lines:
            if line.get("failed"):
                name = line["test"].split("[")[0]
                failed[name] = round(failed.get(name, 0.0) + line["seconds"], 2)
        begun = [line["begun"].split("[")[0] for line in lines if "begun" in line]
        return failed, begun, status, any("uncollected" in line for line in lines)


@contextlib.contextmanager
def copied() -> Iterator[Copy]:
    with tempfile.TemporaryDirectory() as folder:
        yield Copy(Path(folder).resolve())


def reached(copy: Copy, mutant: Mutant, compiled: bool, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return those test files among `paths` that enter the mutant's function; all if none is known.

    What is compiled enters nothing that can be traced, and what runs at import concerns all tests.
    """
    by = copy.entered.get((mutant.file, mutant.function), set())
    if compiled or not by or "" in by:
        return paths
    return tuple(sorted(one for one in by if any(one.startswith(path) for path in paths)))


def judged(copy: Copy, area: Area, mutant: Mutant, known: set[str], seconds: float) -> dict:
    """Plant a mutant, run the tests, put the file back, and return the result."""
    path = copy.root / mutant.file
    source, stamp = path.read_text(encoding="utf-8"), path.stat()
    cache, cpu = copy.cache, sum(os.times()[2:4])
    compiled = "numba" in source or "compiled" in source
    if compiled:
        cache = copy.folder / "fresh"
        shutil.rmtree(cache, ignore_errors=True)
    limit = max(LIMIT, 4 * seconds)
    try:
        path.write_text(planted(source, mutant), encoding="utf-8")
        for asked, more in ((area.tests, ()), (area.last, ("-x",))):
            paths = reached(copy, mutant, compiled, asked)
            failed, begun, status, uncollected = copy.tests(paths, cache, limit, *more)
            killers = {name: took for name, took in failed.items() if name not in known}
            if killers or uncollected or status not in (0, 1):
                break
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # caches look at it
    result = "killed" if killers else "survived"
    if status is None and begun and not killers:
        result, killers = "killed", {begun[-1]: limit}  # the test that did not end
    elif uncollected or status not in (0, 1, None):
        result, killers = "not collected", {}
    spent = round(sum(os.times()[2:4]) - cpu, 1)  # of what ran below
    stated = {"key": mutant.key, "line": mutant.line, "result": result, "killers": killers}
    return stated | {"cpu": spent}


def baseline(copy: Copy, area: Area) -> tuple[dict, set[str], float]:
    """Run the tests without a mutant: fills the cache, and says what fails anyway."""
    begin = time.monotonic()
    known: set[str] = set()
    count = 0
    for paths in (area.tests, area.last):
        failed, begun, status, uncollected = copy.tests(paths, copy.cache, 3600, trace=True)
        if (status or 0) < 0:  # a profiler in threads can crash the interpreter
            failed, begun, status, uncollected = copy.tests(paths, copy.cache, 3600)
        if status not in (0, 1, 5) or uncollected:
            raise SystemExit(f"the tests {paths} do not run without a mutant: status {status}")
        known, count = known | set(failed), count + len(set(begun))
    return {"functions": count, "fails anyway": sorted(known)}, known, time.monotonic() - begin


def results(path: Path) -> list[dict[str, Any]]:
    """Return the lines of the results, the last one of each mutant; the first holds the seed."""
    if not path.exists():
        command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        append(path, {"seed": SEED, "commit": commit})
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    last = {line["key"]: line for line in lines if "key" in line}
    return [line for line in lines if "key" not in line or last[line["key"]] is line]


def append(path: Path, line: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def drawn(root: Path, name: str, number: int, seed: object) -> list[Mutant]:
    """Return the mutants of an area in the order in which they are run."""
    found = mutants_of(root, AREAS[name])
    return random.Random(f"{seed} {name}").sample(found, min(number, len(found)))


def run_area(name: str, asked: argparse.Namespace) -> None:
    lines = results(asked.results)
    done = {line["key"] for line in lines if line.get("area") == name and "key" in line}
    area = AREAS[name]
    left = [m for m in drawn(ROOT, name, asked.number, lines[0]["seed"]) if m.key not in done]
    print(f"{name}: {len(done)} mutants are known, {len(left)} to run", flush=True)
    if not left:
        return
    with copied() as copy:
        stated, known, seconds = baseline(copy, area)
        append(asked.results, {"area": name, "tests": [*area.tests, *area.last], **stated})
        for mutant in left:
            result = judged(copy, area, mutant, known, seconds)
            append(asked.results, {"area": name, **result})
            print(f"{result['result']:13s} {mutant.file}:{mutant.line} {mutant.kind}", flush=True)


def run_again(name: str, asked: argparse.Namespace) -> int:
    """Run an area's recorded mutants of code that is the same; return how many live now."""
    lines = [x for x in results(asked.results) if x.get("area") == name and "key" in x]
    here = {mutant.key: mutant for mutant in mutants_of(ROOT, AREAS[name])}
    same = [line for line in lines if line["key"] in here and line["result"] == "killed"]
    print(f"{name}: {len(same)} that were killed stand as they did", flush=True)
    alive = 0
    with copied() as copy:
        _, known, seconds = baseline(copy, AREAS[name])
        for line in same:
            found = judged(copy, AREAS[name], here[line["key"]], known, seconds)
            if found["result"] == "survived":
                alive += 1
                print(f"SURVIVES {line['key']}; it was killed by {[*line['killers']]}", flush=True)
    return alive


def run_sample(asked: argparse.Namespace) -> int:
    """Run some mutants of all areas, others each day; return 1 if very few are killed."""
    rng = random.Random(time.strftime("%Y-%m-%d"))
    names = [rng.choice([*AREAS]) for _ in range(asked.sample)]
    said: Counter[str] = Counter()
    with copied() as copy:
        for name, number in Counter(names).items():
            area = AREAS[name]._replace(last=())
            _, known, seconds = baseline(copy, area)
            for mutant in drawn(ROOT, name, number, rng.random()):
                result = judged(copy, area, mutant, known, seconds)["result"]
                said[result] += 1
                print(f"{result:13s} {mutant.file}:{mutant.line} {mutant.kind}", flush=True)
    share = said["killed"] / max(said["killed"] + said["survived"], 1)
    before = shares(results(asked.results)).get("all", (0.0, 0))[0]
    print(f"{dict(said)}: {share:.0%} killed by the tests of their rooms; recorded {before:.0%}")
    return int(share < before - 0.25)  # of sixty, four standard deviations


def shares(lines: list[dict[str, Any]]) -> dict[str, tuple[float, int]]:
    """Return the killed share of each area and of all, and of how many mutants."""
    found: dict[str, tuple[float, int]] = {}
    for name in (*AREAS, "all"):
        said = [x["result"] for x in lines if "key" in x and name in ("all", x["area"])]
        counted = [result for result in said if result != "not collected"]
        if counted:
            found[name] = counted.count("killed") / len(counted), len(counted)
    return found


def summary(asked: argparse.Namespace) -> None:
    lines = results(asked.results)
    print(f"{'area':18s} {'mutants':>7s} {'killed':>7s} {'by one function':>16s} {'CPU s':>7s}")
    for name, (share, count) in shares(lines).items():
        own = [x for x in lines if "key" in x and name in ("all", x["area"])]
        alone = sum(len(x["killers"]) == 1 for x in own)
        cpu = sum(x["cpu"] for x in own)
        print(f"{name:18s} {count:7d} {share:7.1%} {alone:16d} {cpu:7.0f}")


def main() -> int:
    as_it_is = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_is)
    parser.add_argument("--area", action="append", choices=[*AREAS, "all"], default=[])
    parser.add_argument("--again", action="append", choices=[*AREAS], default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--number", type=int, default=NUMBER, help="mutants of an area")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    for name in AREAS if "all" in asked.area else asked.area:
        run_area(name, asked)
    alive = sum(run_again(name, asked) for name in asked.again)
    low = run_sample(asked) if asked.sample else 0
    if asked.summary:
        summary(asked)
    return int(bool(alive or low))


if __name__ == "__main__":
    sys.exit(main())
