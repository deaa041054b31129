"""How a command ends: exit statuses, one line for bad input, interrupts, and what it leaves. Exit
status 0; 1 exactly when a verdict differs from the expected one; 2 for bad input, with one line
that says what to do; 130 when interrupted: `solve` and `path` print and write their best point so
far, and of any other work at hand nothing is written; 141 when what read the output, such as
`head`, has stopped reading; 143 when SIGTERM ends a command that writes into a folder. Nothing
heavy is imported here: `--help` needs no numpy."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from ..early import interrupted_early


def run(group: click.Command, arguments: Sequence[str] | None = None) -> None:
    """Run a command; never a traceback for bad input, and a warning is one line. After a command
    that has put its results in place, interrupts stay unheard."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    out = sys.stdout
    with warnings.catch_warnings():
        # Where files are limited in size joblib says so at its import, whether it is used or not.
        warnings.filterwarnings("ignore", r"(?s).*joblib will operate in serial mode")
        # joblib's advice where an interrupt comes between two results.
        warnings.filterwarnings("ignore", ".*still being processed by the workers")
        # What overflows is refused in a sentence of ours; numpy's remarks on the way say no more.
        warnings.filterwarnings("ignore", "(overflow|invalid value) encountered", RuntimeWarning)
        warnings.showwarning = lambda message, *place: note(str(message))
        try:
            group.main(arguments, prog_name="aucert", standalone_mode=False)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else "")
            sys.exit(2)
        except SystemExit as error:
            if error.code == 1 and sys.stdout is not out:
                sys.exit(141)  # click puts another there where the reader has stopped, and says 1
            raise
        except (KeyboardInterrupt, Stopped, click.Abort):
            interrupted()
        except BaseException as error:
            said = _refusal(error)
            if said is None and is_interrupt(error):
                interrupted()
            if said is None:
                raise
            note(said)
            sys.exit(2)


_UNLOADED = re.compile("shared object|cannot allocate", re.IGNORECASE)


def _refusal(error: BaseException) -> str | None:
    """Return the sentence on bad input, or on what the machine lacks; None of a defect of ours."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError):
        words = f" ({str(error).rstrip('.')})" if str(error) else ""
        do = "take fewer rows, pairs or features, or a machine with more"
        return f"there is not enough memory{words}: {do}"
    if isinstance(error, OSError):
        if error.errno is None and _UNLOADED.search(str(error)):
            return "a compiled library cannot be loaded: is there enough memory?"
        return f"{error.filename or 'the output cannot be written'}: {error.strerror or error}"
    if isinstance(error, ImportError):
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        lacking = _UNLOADED.search(str(first)) is not None
        return f"a library cannot be loaded ({first}): is there enough memory?" if lacking else None
    from ...exact.errors import CertificateError, InputError

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, CertificateError):
        return f"no result, for a check of it failed: {error}"
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "no thread can be started: is there enough memory, and are more processes allowed?"
    return None


def interrupted() -> NoReturn:
    note("interrupted")
    sys.exit(130)


def note(message: str) -> None:
    click.echo(f"aucert: {' '.join(message.split())}", err=True)


# Ctrl-C: a solver answers it with its best point and that point's certificate. Where a result goes
# on into something larger (a claim, a table) that would lose the interrupt: there it ends
# everything, as `KeyboardInterrupt`. Only commands handle signals; a call of the library does not.

AGAIN = 2.0  # seconds after which an interrupt that somebody swallowed is raised again
INSISTING = 3  # after this many interrupts, exit without waiting for clean-up


class Stopped(BaseException):
    """An interrupt that solvers do not know: they would answer it with their best point."""


class _Watch:
    """The interrupts received so far in a block of `stopped_at_once`."""

    def __init__(self) -> None:
        self.count = 0
        self.finished = False  # from there on none is heard
        self._alarm: Any = None  # what answered the timer before

    def heard(self, number: int, frame: FrameType | None) -> None:
        """Answer an interrupt, or the timer that repeats it; let what cleans up after it go on."""
        if self.finished:
            return
        if number == signal.SIGINT:
            self.count += 1
            if self.count == 1:
                self._alarm = signal.signal(signal.SIGALRM, self.heard)
            signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        insists = number == signal.SIGINT and self.count >= INSISTING
        if insists or not is_interrupt(sys.exception(), Stopped):
            raise Stopped

    @contextmanager
    def listening(self) -> Iterator[None]:
        before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
        # No message about an interrupt that a finaliser drops: it is raised again.
        sys.unraisablehook = lambda what: isinstance(what.exc_value, Stopped) or hook(what)
        signal.signal(signal.SIGINT, self.heard)
        try:
            yield
        finally:
            if not (self.finished and before is interrupted_early):
                signal.signal(signal.SIGINT, before)
            if self.count:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, self._alarm)
            sys.unraisablehook = hook


def is_interrupt(error: BaseException | None, kinds: Any = (KeyboardInterrupt, Stopped)) -> bool:
    """Return whether an error is an interrupt, or what compiled code has made of one."""
    while error is not None and not isinstance(error, kinds):
        error = error.__cause__ or error.__context__
    return error is not None


def _handler(number: int = signal.SIGINT) -> Any:
    """Return what answers a signal; None outside the main thread, which alone gets signals."""
    in_main = threading.current_thread() is threading.main_thread()
    return signal.getsignal(number) if in_main else None


def _watch() -> _Watch | None:
    """Return the watch that answers interrupts now, if one does."""
    found = getattr(_handler(), "__self__", None)
    return found if isinstance(found, _Watch) else None


@contextmanager
def _answered(number: int, answer: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Within, `answer` answers a signal. Without effect outside the main thread."""
    before = _handler(number)
    if before is None:
        yield
        return
    signal.signal(number, answer)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Within, an interrupt passes through solvers and ends as `KeyboardInterrupt`. Compiled code
    makes it another error, and a finaliser drops it: it is re-raised until it propagates, and
    meanwhile what cleans up is left in peace. A block inside another ends as the outer one will.
    Without effect outside the main thread, and where somebody else handles interrupts. After
    `finish` none is heard until the end of the block, or of a process of our own."""
    before, outer = _handler(), _watch()
    if outer is None and before not in (interrupted_early, signal.default_int_handler):
        yield
        return
    watch, end = (_Watch(), KeyboardInterrupt) if outer is None else (outer, Stopped)
    try:
        with nullcontext() if outer else watch.listening():
            yield
    except BaseException:
        if watch.count:
            raise end from None
        raise
    if watch.count:
        raise end


def finish() -> None:
    """Hear of no interrupt from here to the end of the command: its results go to their places, and
    a status of 130 would say that they are not there. An interrupt that came before ends it now.
    Without effect outside of `stopped_at_once`."""
    watch = _watch()
    if watch is None:
        return
    if watch.count:
        raise Stopped  # somebody has swallowed it
    watch.finished = True  # not `SIG_IGN`, which programs that are started would inherit


@contextmanager
def best_point_kept() -> Iterator[None]:
    """Within a command, its first interrupt is one that solvers answer with their best point. A
    second one ends the command at once. Without effect outside of `stopped_at_once`."""
    watch = _watch()
    if watch is None:
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, watch.heard)
        raise KeyboardInterrupt

    with _answered(signal.SIGINT, first):
        yield


def _terminated(number: int, frame: FrameType | None) -> None:
    """End the process as `sys.exit` does, so that what cleans up is run; nothing disturbs that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def named_folder(name: str | None, option: str = "--out") -> Path | None:
    """Return the folder of `--out` or another option, or None where there is none. An empty name,
    which would be the folder one stands in, and that of a file are refused."""
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
    """Yield a folder to write into, or None; all in it, or nothing, moves to the named one. `check`
    is asked before the work, and the files `instead` are removed where they are not written now.
    An interrupt waits for the moves, and a killed process leaves a hidden folder."""
    from ...exact.errors import InputError

    folder = named_folder(name, option)
    if folder is None:
        yield None
        return
    hidden = folder / f".aucert-{secrets.token_hex(8)}.tmp"
    made = [one for one in (folder, *folder.parents) if not os.path.exists(one)]
    if not made:
        check(folder)
    ours = _handler(signal.SIGTERM) is signal.SIG_DFL
    with _answered(signal.SIGTERM, _terminated) if ours else nullcontext():
        try:
            try:
                hidden.mkdir(parents=True)
            except OSError as error:
                why = error.strerror or error
                raise InputError(f"{option} {name}: cannot be written to ({why})") from None
            yield hidden
            finish()
            held: list[int] = []  # what comes meanwhile

            def hold(number: int, frame: FrameType | None) -> None:
                held.append(number)

            with _answered(signal.SIGINT, hold), _answered(signal.SIGTERM, hold):
                _move(hidden, folder, instead)
            for number in held:
                signal.raise_signal(number)
        except BaseException as error:  # an interrupt too
            shutil.rmtree(hidden, ignore_errors=True)
            with suppress(OSError):  # somebody else has put something there
                for one in made:
                    one.rmdir()
            if isinstance(error, InputError):  # it is about the named folder
                raise type(error)(str(error).replace(f"{hidden.name}{os.sep}", "")) from error
            raise


def _move(hidden: Path, folder: Path, instead: tuple[str, ...]) -> None:
    """Move all files of a hidden folder into the one around it, where links are followed."""
    from ...exact.tools.atomic_files import target_of

    moves = {path: target_of(folder / path.name) for path in sorted(hidden.iterdir())}
    for old in {*instead} - {path.name for path in moves}:
        (folder / old).unlink(missing_ok=True)
    for path, final in moves.items():
        if final.exists():
            shutil.copymode(final, path)
        here = final.parent == folder.resolve()
        os.replace(path, final) if here else shutil.move(path, final)
    hidden.rmdir()


@contextmanager
def result_first(as_json: bool) -> Iterator[list[tuple[Any, str]]]:
    """Yield a list for the result, a document and its text, of which one is printed at the end,
    also before an error of the files."""
    from ...exact.errors import InputError

    found, failed = list[tuple[Any, str]](), None
    try:
        yield found
    except (OSError, InputError) as error:
        failed = error
    for document, text in found:
        say(document, text, as_json)
    if failed is not None:
        raise failed


def say(document: Any, text: str, as_json: bool) -> None:
    """Print a result, one JSON document or its text; an interrupt comes too late now."""
    finish()
    click.echo(json.dumps(document, allow_nan=False, indent=2) if as_json else text)


def read_document(path: Path) -> dict[str, Any] | None:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


@contextmanager
def progress(first: str, quiet: bool, engine: Any = None) -> Iterator[Callable[..., object]]:
    """Yield a function (words, done, total) that shows on standard error what is done now, after
    what is done `first`, if that is a terminal. So are the passes of an engine over its rows."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import progress as rich
    from rich.console import Console

    text, part = rich.TextColumn("{task.description}{task.fields[part]}"), "  part {} of {}".format
    columns = text, rich.BarColumn(), rich.TimeElapsedColumn()
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(first, total=None, part="")

        def show(words: str, done: int = 0, total: int | None = None) -> None:
            shown.tasks[0].total = total  # for `update` None would leave it as it is
            shown.update(task, description=words, completed=done)

        if engine is not None:
            engine.heard = lambda at, n: shown.update(task, part=part(at + 1, n) if at < n else "")
        try:
            yield show
        finally:
            if engine is not None:
                engine.heard = None


@contextmanager
def counted_progress(
    of: str, then: str, quiet: bool, words: Callable[[Any], str] = str
) -> Iterator[Callable[..., object]]:
    """Yield a function (done, total, item) that shows how many `of` are done, the last one in
    `words`, or what is done `then`."""
    with progress(of, quiet) as show:

        def count(done: int, total: int, item: object = "") -> None:
            text = f"{of}: {done} of {total} done  "
            if done < total:
                show(text + words(item), done, total)
            else:
                show(text + then)

        yield count
