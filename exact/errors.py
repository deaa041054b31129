"""The errors that the library raises, warnings, and words with advice."""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from typing import Self


class InputError(ValueError):
    """The input is wrong: the message says what, where, and what to do."""


class TooLargeError(InputError):
    """The problem is too large for this form; the message names one that can hold it."""


class NoRowsError(InputError):
    """There are no rows."""


class NoPairError(InputError):
    """No pair is ordered, or all have weight zero: the mean over the pairs is not defined."""


class OverflowingError(InputError):
    """A number overflows: a loss at these scores, a bin, or steps that diverge."""


class WriteError(InputError):
    """A file cannot be written: the disk is full or writing is not permitted."""


class CertificateError(RuntimeError):
    """A gap is more negative than rounding allows: a claim is false, so nothing is reported."""


def brief(value: object) -> str:
    """Describe a refused value in a few words: an array by its shape, a long number shortened."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    if isinstance(value, list | tuple | dict | set) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)} entries"
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of more than 4300 digits"
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def meant(word: object, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the nearest names, or nothing."""
    near = get_close_matches(str(word), list(names), 3, 0.5)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


class Advised(StrEnum):
    """Words, each with what it means and what to do, in one sentence: its `advice`."""

    advice: str

    def __new__(cls, word: str, advice: str) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.advice = word, advice
        return made


def warn_the_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the line of the user's call, of what a call that is under way found."""
    package, frame, level = __name__.partition(".")[0], sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
