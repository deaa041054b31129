"""What the library raises when its input cannot be used."""

from __future__ import annotations


class InputError(ValueError):
    """The input is wrong: the message says what, where, and what to do."""


class TooLargeError(InputError):
    """The problem is past what this form can hold; the message names one that copes."""


class NoRowsError(InputError):
    """There are no rows."""


class NoPairError(InputError):
    """No pair is ordered, or none of weight: a mean over the pairs is not defined."""


class OverflowingError(InputError):
    """A loss leaves the range of floating point at these scores, or no grid holds them."""


class WriteError(InputError):
    """A file cannot be written: the disk is full, or it must not be."""


class CertificateError(RuntimeError):
    """A gap came out below minus its rounding: some claim is false, nothing may be reported."""
