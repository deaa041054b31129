"""Words of the conclusions that the numbers decide: no verdict stands there by itself."""

from __future__ import annotations

from collections.abc import Sequence

NOTHING = "Nothing has been run yet. Nothing can be concluded."

LITTLE = 0.1
"""Points of AUC that count as next to nothing: the printed differences between models are less."""

CLEAR = 0.05
"""A difference with a p-value below it is called clear of the noise."""


def change(loss: float, verbs: tuple[str, str] = ("loses", "gains"), digits: int = 3) -> str:
    """Return `loses 0.012` or `gains 0.012`, by the sign of the loss."""
    return f"{verbs[loss < 0]} {abs(loss):.{digits}f}"


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
