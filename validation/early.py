"""Ctrl-C while the command line is loaded, which takes a while: nothing heavy is imported here."""

import os
from contextlib import suppress


def interrupted_early(*_: object) -> None:
    """End the process as an interrupted command ends: nothing has begun, nothing is cleaned up."""
    # `KeyboardInterrupt` out of a string that is executed, as dataclasses are, would end Python by
    # the signal, not with our status.
    with suppress(OSError):  # standard error is closed
        os.write(2, b"aucert: interrupted\n")
    os._exit(130)
