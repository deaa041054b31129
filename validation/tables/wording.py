"""Words that the numbers of a page decide."""

from __future__ import annotations

from collections.abc import Sequence

from .statistics import Paired

NOTHING = "Nothing has been run yet. Nothing can be concluded."
TOO_LITTLE = "Too little has been run to conclude anything. The table shows what there is."

CLEAR = 0.05  # A difference with a p-value below it is called clear of the noise.


def change(loss: float, verbs: tuple[str, str] = ("loses", "gains"), digits: int = 3) -> str:
    """Return `loses 0.012` or `gains 0.012`, by the sign of the loss."""
    return f"{verbs[loss < 0]} {abs(loss):.{digits}f}"


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`; `none` of nothing."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])) or "none"


def is_clear(test: Paired | None, side: int = 0) -> bool:
    """Return whether a difference is clear of the noise, and on a side (1, -1) if one is named."""
    return test is not None and test.p < CLEAR and (side == 0 or test.difference * side > 0)
