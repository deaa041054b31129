"""JSON whose numbers are all finite, as the standard has it and Python's reader does not."""

from __future__ import annotations

import json
import math
from typing import Any


def finite_json(text: str | bytes) -> Any:
    """Return what a JSON document says.

    Raises
    ------
    ValueError
        If it is no JSON, or has NaN, Infinity or a number beyond the range of a float.
    """
    # int refuses both words
    return json.loads(text, parse_constant=int, parse_float=_finite, parse_int=_whole)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is beyond the range of a float")
    return number


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)
