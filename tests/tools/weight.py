"""Lines of every room next to its budget: `python tests/tools/weight.py [--update]`.

Lines are those of `.py` files, and of templates, JSON and TOML that stand in for code. Net lines
are those that are not blank, comment, docstring or import. Evidence, formal proofs, vectors,
reference problems, recorded answers and printed numbers do not count. `--update` lowers the limits
of `weight_limits.toml` to what is there, but never below the budget; a room that has none gets one.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Path(__file__).with_name("weight_limits.toml")


@dataclass(frozen=True)
class Room:
    """The files of a room, and its budget of lines and net lines."""

    files: tuple[str, ...]
    lines: int
    net: int | None = None
    without: str = "no such folder"


ROOMS = {
    "exact": Room(("exact/**/*.py",), 21_500, 14_500),
    "approx": Room(("approx/**/*.py",), 6_200, 3_400),
    "validation": Room(("validation/**/*.py", "validation/**/*.html"), 14_500, 10_000),
    "claims as data": Room(("validation/**/*.toml", "validation/claims/**/*.json"), 2_200),
    "benchmarks": Room(("docs/benchmarks/**/*.py",), 1_500),
    "tests": Room(("tests/**/*.py", "tests/**/*.json"), 25_000, 19_000),
    "docs: scripts": Room(("docs/*.py",), 900),
    "docs: tutorials": Room(("docs/tutorials/*.py",), 1_500),
}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a body, those inside others included."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            for inner in getattr(node, name, []):
                yield from statements([inner])


def net_lines(source: str) -> int:
    """Lines of Python that are not blank, comment, docstring or import."""
    left_out: set[int] = set()
    for node in statements(ast.parse(source).body):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, source.splitlines()), start=1)
    return sum(bool(line) and line[0] != "#" and k not in left_out for k, line in lines)


def weigh(room: Room, root: Path = ROOT) -> dict[str, int]:
    """Lines and net lines of a room."""
    paths = {path for pattern in room.files for path in root.glob(pattern)}
    kept = [path for path in paths if not path.is_relative_to(root / room.without)]
    sources = {path: path.read_text(encoding="utf-8") for path in kept}
    net = [
        net_lines(text) if path.suffix == ".py" else sum(map(bool, text.split("\n")))
        for path, text in sources.items()
    ]
    return {"lines": sum(text.count("\n") for text in sources.values()), "net": sum(net)}


def limits() -> dict[str, dict[str, int]]:
    """For each room the larger of its budget and its count at the last submission."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8")) if LIMITS.exists() else {}


def lowered(room: Room, found: dict[str, int], limit: dict[str, int]) -> dict[str, int]:
    """The limits of a room after a submission with these counts: never raised."""
    least = {"lines": room.lines} | ({"net": room.net} if room.net else {})
    return {
        key: max(few, min(found[key], limit.get(key, found[key]))) for key, few in least.items()
    }


def main(arguments: list[str]) -> int:
    """Print the table; with `--update` lower the limits first."""
    found = {name: weigh(room) for name, room in ROOMS.items()}
    if "--update" in arguments:
        old = limits()
        new = {name: lowered(room, found[name], old.get(name, {})) for name, room in ROOMS.items()}
        blocks = [
            f'["{name}"]\n' + "".join(f"{key} = {value}\n" for key, value in limit.items())
            for name, limit in new.items()
        ]
        LIMITS.write_text("\n".join(blocks), encoding="utf-8")
    print(f"{'room':16}{'lines':>8}{'budget':>8}{'limit':>8}{'net':>9}{'budget':>8}{'limit':>8}")
    for name, limit in limits().items():
        room, count = ROOMS[name], found[name]
        line = f"{name:16}{count['lines']:8,}{room.lines:8,}{limit['lines']:8,}{count['net']:9,}"
        print(line + (f"{room.net:8,}{limit['net']:8,}" if room.net else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
