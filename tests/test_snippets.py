"""Every `aucert` command and every piece of Python in README and docs is run as it stands.

The fences of one page run in their order, in one empty folder, the Python ones in one namespace.
Run are ```python fences and those ```bash fences whose first line starts with `aucert `. The
comment `<!-- not run -->` before a fence leaves it out; `<!-- slow -->` leaves it, and with it the
rest of the page, to the slow tests; `<!-- printed -->` says that a fence shows what the one before
it prints.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from aucert.validation.cli import main
from loops import first_fast

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARKS = {f"<!-- {mark} -->": mark for mark in ("not run", "slow", "printed")}


@dataclass(frozen=True)
class Fence:
    language: str
    text: str
    line: int
    """Number of the opening line: so many lines stand before the text."""
    mark: str

    @property
    def runs(self) -> bool:
        command = self.language == "bash" and self.text.startswith("aucert ")
        return (self.language == "python" or command) and self.mark != "not run"


def fences(page: str) -> list[Fence]:
    """The fenced blocks of a page, each with the mark in the comment before it."""
    found: list[Fence] = []
    start, language, mark, lines = 0, "", "", page.splitlines()
    for number, line in enumerate(lines, start=1):
        opening = re.match(r"```\s*(\w*)", line)
        if start and line.rstrip() == "```":
            text = "\n".join(lines[start : number - 1]) + "\n"
            found.append(Fence(language, text, start, mark))
            start, mark = 0, ""
        elif not start and opening:
            start, language = number, opening[1]
        elif not start and line.strip():
            mark = MARKS.get(line.strip(), "")
    if start:
        raise ValueError(f"the fence opened in line {start} is never closed")
    return found


def commands(text: str) -> list[list[str]]:
    """The command lines of a fence as argument lists; a `\\` at the end of a line continues it."""
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    split = [shlex.split(line, comments=True) for line in lines]
    for arguments in filter(None, split):
        if arguments[0] != "aucert":
            raise ValueError(f"only `aucert` commands may share this fence: {arguments}")
    return [arguments[1:] for arguments in split if arguments]


def run_command(arguments: list[str]) -> None:
    """Run it in this process: a new one would spend most of its time on imports."""
    output, errors, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    assert not code, f"aucert {shlex.join(arguments)}\n{output.getvalue()}\n{errors.getvalue()}"


def run_command_afresh(arguments: list[str]) -> None:
    """Run it as users do, in a process that has imported nothing yet."""
    command = [sys.executable, "-m", "aucert", *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, f"aucert {shlex.join(arguments)}\n{run.stdout}\n{run.stderr}"


def run_page(page: Path, *, slow: bool, run: Callable[[list[str]], None] = run_command) -> None:
    namespace: dict[str, object] = {"__name__": "snippet"}
    shown = io.StringIO()
    for fence in fences(page.read_text(encoding="utf-8")):
        if fence.mark == "slow" and not slow:
            return
        if fence.mark == "printed":
            assert shown.getvalue() == fence.text, f"{page.name}, line {fence.line}: prints else"
        if fence.runs and fence.language == "python":
            shown = io.StringIO()
            # our own pages, run on purpose; padded so that a traceback shows the page's line
            code = compile("\n" * fence.line + fence.text, str(page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(shown):
                exec(code, namespace)
        elif fence.runs:
            for arguments in commands(fence.text):
                run(arguments)


def pages(*, slow: bool) -> list:
    """The pages with something to run; with `slow`, those the fast run cuts short."""
    chosen = []
    for page in PAGES:
        running = [f for f in fences(page.read_text(encoding="utf-8")) if f.runs]
        if any(f.mark == "slow" for f in running) if slow else running:
            chosen.append(pytest.param(page, id=page.relative_to(ROOT).as_posix()))
    return chosen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.mark.parametrize("page", first_fast(pages(slow=False), 2))
def test_the_snippets_of_a_page_run(page: Path, folder: Path) -> None:
    run_page(page, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(slow=True))
def test_the_long_snippets_of_a_page_run(page: Path, folder: Path) -> None:
    run_page(page, slow=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/start.md"])
def test_commands_need_nothing_that_an_earlier_one_imported(name: str, folder: Path) -> None:
    run_page(ROOT / name, slow=True, run=run_command_afresh)


def test_fences_share_a_namespace_and_a_false_one_fails_at_its_line(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("```python\na = 1\n```\n\n```python\nassert a == 1\nassert a == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        run_page(page, slow=False)
    assert caught.traceback[-1].lineno == 6  # pytest counts from 0
