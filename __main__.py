"""`python -m aucert`, and the program `aucert`."""

import signal

from .validation.early import interrupted_early


def program() -> None:
    """Run the command line as a program of its own: interrupts are answered from here on.

    Once it is through, none is heard: all is written and said then, and Python's own end would
    answer with a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted_early)
    try:
        from .validation.cli import aucert, run  # not before interrupts are answered

        run(aucert)
    except KeyboardInterrupt:  # a second one, while the first was being answered
        interrupted_early()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    program()
