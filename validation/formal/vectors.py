"""Test vectors of the checker's arithmetic, as a Coq file to be compiled."""


def coq_text() -> str:
    """Return the Coq file."""
    return ""
