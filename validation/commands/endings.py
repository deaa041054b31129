"""How a command ends: exit statuses, one line for bad input, and interrupts.

Exit status 0; 1 exactly when a verdict differs from the expected one; 2 for bad input, with one
line that says what to do; 130 when interrupted: then the work at hand is lost, and nothing of it
is written; 141 when whatever read the output, such as `head`, has stopped reading.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import click

from ..early import interrupted_early


def run(group: click.Command, arguments: Sequence[str] | None = None) -> None:
    """Run a command; never a traceback for bad input.

    After a command that has put its results in place, interrupts stay unheard.
    """
    # Where files are limited in size joblib says so at its import, whether it is used or not.
    out = sys.stdout
    warnings.filterwarnings("ignore", r"(?s).*joblib will operate in serial mode")
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
        _interrupted()
    except (ValueError, RuntimeError) as error:
        _fail(_refusal(error))
    except BaseException as error:
        from ...exact.tools.interrupts import is_interrupt

        if isinstance(error, SystemExit) or not is_interrupt(error):
            raise
        _interrupted()


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
    from ...exact.errors import CertificateError, InputError  # here: `--help` needs no numpy
    from ...exact.tools.interrupts import is_interrupt

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, CertificateError):
        return f"no result, for a check of it failed: {error}"
    if is_interrupt(error):
        _interrupted()
    if "start new thread" in str(error):
        return "no thread can be started: is there enough memory, and are more processes allowed?"
    raise error


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Within, an interrupt ends the command, whatever it is at."""
    early = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if early else None
    program = early and before is interrupted_early  # not called from somebody's session
    early = early and before in (signal.default_int_handler, interrupted_early)
    if early:
        signal.signal(signal.SIGINT, interrupted_early)
    from ...exact.tools import interrupts  # here: `--help` needs no numpy

    if early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts.stopped_at_once(to_the_exit=program):
            yield
    except KeyboardInterrupt:
        raise click.Abort from None  # of the other, click itself says something: an empty line


def _interrupted() -> NoReturn:
    from ...exact.tools.interrupts import left_behind

    click.echo("aucert: interrupted", err=True)
    if left_behind():
        sys.stdout.flush()
        os._exit(130)  # the orderly end would wait for it
    sys.exit(130)


def _fail(message: str) -> NoReturn:
    click.echo(f"aucert: {' '.join(message.split())}", err=True)
    sys.exit(2)
