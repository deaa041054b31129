"""Fingerprints of blocks of numbers: whether they are the same each time that they are read.

A certificate over rows on disk takes several passes: the marginals come from one, their pull from
another, and a bound made of passes over different rows bounds nothing. So each block that is read
is compared with what it was when it was read first.

The fingerprint of a stretch of 64-bit words x with halves x', x'' is

    sum_i ((x'_i + k'_i) mod 2^32) ((x''_i + k''_i) mod 2^32) mod 2^64,

twice, for words k drawn at random and told to nobody. Two given stretches that differ have the same
sum with chance 2^-32 at most (the hash NH of Black, Halevi, Krawczyk, Krovetz and Rogaway, "UMAC:
fast and secure message authentication", 1999), the same two with 2^-64. So a change that is made
without knowing k is missed no likelier than that, be it an accident or made for the purpose. A
cryptographic hash, which needs no secret and which others can check, costs many times as much;
proof files have one.
"""

from __future__ import annotations

import os

import numpy as np

from ...errors import InputError

STRETCH = 1024  # Numbers to a fingerprint: the stretch and both keys fit into the fastest cache.


class Fingerprints:
    """What each block of rows was like when it was read first."""

    def __init__(self, name: str):
        self.name = name
        self._keys = np.frombuffer(os.urandom(16 * STRETCH), dtype=np.uint64).reshape(2, STRETCH)
        self._seen: dict[tuple[int, int], np.ndarray] = {}

    def checked(self, rows: slice, block: np.ndarray) -> np.ndarray:
        """Return a copy of a block, once it is known to be what it was when it was read first."""
        from . import fingerprints_compiled as loops

        copy = np.array(block)  # the original may change while it is computed with
        words = _words(copy)
        found = np.empty((-(-words.size // STRETCH), 2), dtype=np.uint64)
        loops.fingerprint(words, self._keys, found)
        known = self._seen.setdefault((rows.start, rows.stop), found)
        if not np.array_equal(known, found):
            raise InputError(
                f"{self.name} changed while it was read (between rows {rows.start} and "
                f"{rows.stop - 1}, from 0): nothing is proved, start again when it is complete"
            )
        return copy


def _words(block: np.ndarray) -> np.ndarray:
    """Return the bytes of a block as 64-bit words, the last one filled up with zeros."""
    if block.nbytes % 8:
        return np.append(block.reshape(-1), block.dtype.type(0)).view(np.uint64)
    return block.reshape(-1).view(np.uint64)
