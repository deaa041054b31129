"""Numbers that look random and are the same wherever they are computed: splitmix64."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

_ODD = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # constants of splitmix64


def hashed_numbers(place: int, start: int, count: int, seed: int, kinds: int) -> np.ndarray:
    """Return numbers below `kinds` for rows `start` and on of partition number `place`:
    (count,)."""
    mixed = _hashes(place, start, count, seed)
    return ((mixed >> np.uint64(33)) * np.uint64(kinds) >> np.uint64(31)).astype(np.int64)


def _hashes(place: int, start: int, count: int, seed: int) -> np.ndarray:
    offset = scrambled(np.array([scrambled(np.array([seed], np.uint64))[0] ^ np.uint64(place)]))
    return scrambled(offset + np.arange(start, start + count, dtype=np.uint64))


def scrambled(x: np.ndarray) -> np.ndarray:
    """Return a bijection of 64-bit numbers that looks random: splitmix64."""
    with np.errstate(over="ignore"):
        x = (x + np.uint64(1)) * np.uint64(_ODD)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(_MIX[0])
        x = (x ^ (x >> np.uint64(27))) * np.uint64(_MIX[1])
    return x ^ (x >> np.uint64(31))


def hashed_names(names: np.ndarray, seed: int) -> np.ndarray:
    """Return a 64-bit hash of each name: uint64 (k,)."""
    start = scrambled(np.array([seed], np.uint64))
    if names.dtype.kind in "US":
        digests = [blake2b(str(x).encode(), digest_size=8).digest() for x in names.tolist()]
        own = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    else:
        own = (names.astype(float) + 0.0).view(np.uint64)  # 0.0: minus zero is zero
    return scrambled(scrambled(own) ^ start)
