"""Warnings in the line of the user's call."""

from __future__ import annotations

import sys
import warnings


def warn_the_user(text: str) -> None:
    """Warn of what a call that is under way found, in the line of the user's call."""
    package, frame, level = __name__.partition(".")[0], sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
