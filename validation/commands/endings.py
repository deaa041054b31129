"""How a command ends: exit statuses, one line for bad input, interrupts, and what it leaves.

Exit status 0; 1 exactly when a verdict differs from the expected one; 2 for bad input, with one
line that says what to do; 130 when interrupted: `solve` and `path` print and write their best point
so far, and of any other work at hand nothing is written; 141 when what read the output, such as
`head`, has stopped reading.

Nothing heavy is imported here: `--help` needs no numpy.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from ..early import interrupted_early


def run(group: click.Command, arguments: Sequence[str] | None = None) -> None:
    """Run a command; never a traceback for bad input, and a warning is one line.

    After a command that has put its results in place, interrupts stay unheard.
    """
    with warnings.catch_warnings():
        # Where files are limited in size joblib says so at its import, whether it is used or not.
        warnings.filterwarnings("ignore", r"(?s).*joblib will operate in serial mode")
        warnings.showwarning = lambda message, *place: _say(str(message))
        _run(group, arguments)


def _run(group: click.Command, arguments: Sequence[str] | None) -> None:
    out = sys.stdout
    try:
        group.main(arguments, prog_name="aucert", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        sys.exit(2)
    except click.ClickException as error:
        _fail(" ".join(error.format_message().split()))
    except MemoryError as error:
        words = f" ({str(error).rstrip('.')})" if str(error) else ""
        do = "take fewer rows, pairs or features, or a machine with more"
        _fail(f"there is not enough memory{words}: {do}")
    except OSError as error:
        _fail(_file_trouble(error))
    except ImportError as error:
        if not _UNLOADED.search(str(_origin(error))):
            raise  # a defect of ours
        _fail(f"a library cannot be loaded ({_origin(error)}): is there enough memory?")
    except SystemExit as error:
        if error.code == 1 and sys.stdout is not out:
            sys.exit(141)  # click puts another there where the reader has stopped, and says 1
        raise
    except (KeyboardInterrupt, click.Abort):
        interrupted()
    except (ValueError, RuntimeError) as error:
        _fail(_refusal(error))
    except BaseException as error:
        from .interrupts import is_interrupt

        if isinstance(error, SystemExit) or not is_interrupt(error):
            raise
        interrupted()


_UNLOADED = re.compile("shared object|cannot allocate", re.IGNORECASE)


def _origin(error: BaseException) -> BaseException:
    """Return the error that this one began with."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _file_trouble(error: OSError) -> str:
    if error.errno is None and _UNLOADED.search(str(error)):
        return "a compiled library cannot be loaded: is there enough memory?"
    return f"{error.filename or 'the output cannot be written'}: {error.strerror or error}"


def _refusal(error: Exception) -> str:
    """Return the sentence for an error of ours; any other goes on as what it is, a defect."""
    from ...exact.errors import CertificateError, InputError
    from .interrupts import is_interrupt

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, CertificateError):
        return f"no result, for a check of it failed: {error}"
    if is_interrupt(error):
        interrupted()
    if "start new thread" in str(error):
        return "no thread can be started: is there enough memory, and are more processes allowed?"
    raise error


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Within, an interrupt ends the command at any place."""
    early = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if early else None
    program = early and before is interrupted_early  # not called from somebody's session
    early = early and before in (signal.default_int_handler, interrupted_early)
    if early:
        signal.signal(signal.SIGINT, interrupted_early)
    from . import interrupts

    if early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts.stopped_at_once(to_the_exit=program):
            yield
    except KeyboardInterrupt:
        raise click.Abort from None  # of the other, click itself says something: an empty line


def interrupted() -> NoReturn:
    """Say that the command was interrupted, and end it."""
    click.echo("aucert: interrupted", err=True)
    sys.exit(130)


def _say(message: str) -> None:
    """Print one line on standard error."""
    click.echo(f"aucert: {' '.join(message.split())}", err=True)


def _fail(message: str) -> NoReturn:
    _say(message)
    sys.exit(2)


# The folder of --out


def named_folder(name: str | None, option: str = "--out") -> Path | None:
    """Return the folder of `--out` or another option, or None where there is none.

    An empty name, which would be the folder one stands in, and that of a file are refused.
    """
    from ...exact.errors import InputError

    if name is None:
        return None
    if not name.strip():
        raise InputError(f"{option} needs the name of a folder ('.' is the current folder)")
    folder = Path(name)
    if os.path.exists(folder) and not folder.is_dir():
        raise InputError(f"{option} {name}: this is a file, a folder is needed")
    return folder


@contextmanager
def output_folder(
    name: str | None,
    check: Callable[[Path], object] = lambda folder: None,
    instead: tuple[str, ...] = (),
    option: str = "--out",
) -> Iterator[Path | None]:
    """Yield a folder to write into, or None; all in it, or nothing, moves to the named one.

    `check` is asked before the work, and the files `instead` are removed where they are not
    written now. An interrupt waits for the moves, and a killed process leaves a hidden folder.
    """
    from ...exact.errors import InputError
    from .interrupts import finish, held_back

    folder = named_folder(name, option)
    if folder is None:
        yield None
        return
    made = not os.path.exists(folder)
    if not made:
        check(folder)
    hidden = folder / f".aucert-{secrets.token_hex(8)}.tmp"
    try:
        try:
            hidden.mkdir(parents=True)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{option} {name}: cannot be written to ({why})") from None
        yield hidden
        finish()
        with held_back():
            _move(hidden, folder, instead)
    except BaseException as error:  # an interrupt too
        shutil.rmtree(hidden, ignore_errors=True)
        if made:
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        if isinstance(error, InputError):  # it is about the named folder
            raise type(error)(str(error).replace(f"{hidden.name}{os.sep}", "")) from error
        raise


@contextmanager
def result_first(say: Callable[[Any], object]) -> Iterator[list[Any]]:
    """Yield a list for the result: it is said at the end, also before an error of its files."""
    from ...exact.errors import InputError

    found: list[Any] = []
    try:
        yield found
    except (OSError, InputError):
        for each in found:
            say(each)
        raise
    say(*found)


def _move(hidden: Path, folder: Path, instead: tuple[str, ...]) -> None:
    from ...exact.errors import InputError

    moves = {path: Path(os.path.realpath(folder / path.name)) for path in sorted(hidden.iterdir())}
    for final in moves.values():  # links are followed
        if final.is_dir():
            raise InputError(f"{final}: this is a folder, a file is to be written there")
    for name in {*instead} - {path.name for path in moves}:
        (folder / name).unlink(missing_ok=True)
    for path, final in moves.items():
        if final.exists():
            shutil.copymode(final, path)
        shutil.move(path, final) if final.parent != folder.resolve() else os.replace(path, final)
    hidden.rmdir()


# Progress on standard error, on a terminal only


@contextmanager
def _task(first: str, quiet: bool, counted: bool) -> Iterator[Callable[..., None] | None]:
    """Yield a function (words, done, total) that shows a task, or None where nothing is shown.

    Without a total the bar moves to and fro.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    bar = rich.BarColumn() if counted else rich.SpinnerColumn()
    columns = (rich.TextColumn("{task.description}"), bar, rich.TimeElapsedColumn())
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(first, total=None)

        def update(words: str, done: int = 0, total: int | None = None) -> None:
            progress.tasks[0].total = total  # for `update` None would leave it as it is
            progress.update(task, description=words, completed=done)

        yield update


@contextmanager
def solver_progress(
    first: str, quiet: bool = False, engine: Any = None
) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is done now, after what is done `first`.

    The passes of an engine over its rows are shown, too.
    """
    with _task(first, quiet, counted=False) as update:
        if update is None:
            yield lambda words: None
            return
        shown = {"now": first, "part": ""}

        def say(kind: str, text: str) -> None:
            shown[kind] = text
            update(shown["now"] + shown["part"])

        if engine is not None:
            engine.heard = lambda done, count: say(
                "part", f"  part {done + 1} of {count}" if done < count else ""
            )
        try:
            yield partial(say, "now")
        finally:
            if engine is not None:
                engine.heard = None


@contextmanager
def counted_progress(
    of: str, then: str, quiet: bool = False, words: Callable[[Any], str] = str
) -> Iterator[Callable[..., None] | None]:
    """Yield a function (done, total, item) that moves a bar, or None where nothing is shown.

    `of` is what is counted, and `words` names an item that is done. Once all are, the bar moves on
    with what is done `then`.
    """
    with _task(of, quiet, counted=True) as update:
        if update is None:
            yield None
            return

        def show(done: int, total: int, item: object = "") -> None:
            text = f"{of}: {done} of {total} done  "
            if done < total:
                update(text + words(item), done, total)
            else:
                update(text + then)

        yield show
