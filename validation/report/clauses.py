"""Texts cut short where a clause ends, and never within brackets."""

from __future__ import annotations

BRIEF = 110  # Characters of a text that the landing page shows, about.


def _ends(text: str, mark: str) -> list[int]:
    """Return where the mark stands outside of brackets; that of "Fig. 5" ends no sentence."""
    found, depth = [], 0
    for at, letter in enumerate(text):
        depth = max(0, depth + (letter in "([{") - (letter in ")]}"))
        numbered = mark == ". " and text[at + 2 : at + 3].isdigit()
        if depth == 0 and text.startswith(mark, at) and not numbered:
            found.append(at)
    return found


def shortened(text: str, most: int = BRIEF) -> str:
    """Return the beginning of a text, up to a whole part of it.

    Parts end with a semicolon, else with a sentence. At least one is kept, however long: half a
    part, such as a difference without its interval, says something else.
    """
    if len(text) <= most:
        return text
    for mark, left_out in (("; ", "; ..."), (". ", ". ...")):
        if ends := _ends(text, mark):
            return text[: max([end for end in ends if end <= most], default=ends[0])] + left_out
    return text


def first_clause(text: str, most: int = BRIEF) -> str:
    """Return the first sentence without its full stop; of a long one, what ends in a comma."""
    text = text[: min(_ends(text, ". "), default=len(text))].rstrip(".")
    for mark in ("; ", ", "):
        if len(text) > most and (ends := [end for end in _ends(text, mark) if end <= most]):
            text = text[: ends[-1]]
    return text
