"""What the library raises when its input cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """The input is wrong: the message says what, where, and what to do."""


class TooLargeError(InputError):
    """The problem is past what this form can hold; the message names one that copes."""


class NoRowsError(InputError):
    """There are no rows."""


class NoPairError(InputError):
    """No pair is ordered, or none of weight: a mean over the pairs is not defined."""


class OverflowingError(InputError):
    """Floating point is left: by a loss at these scores, by bins, or by steps that diverge."""


class WriteError(InputError):
    """A file cannot be written: the disk is full, or it must not be."""


class CertificateError(RuntimeError):
    """A gap came out below minus its rounding: some claim is false, nothing may be reported."""


def brief(value: object) -> str:
    """Return what a refused value is in a few words: an array by its shape, a long number cut."""
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
    """Return " (did you mean ...?)" with the names that are nearest, or nothing."""
    near = get_close_matches(str(word), list(names), 3, 0.5)
    return f" (did you mean {' or '.join(near)}?)" if near else ""
