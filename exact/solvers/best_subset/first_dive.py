"""The first dive of a search needs no compiler: a problem of few nodes should not wait for it."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from ...tools.compiling import Loop
from .dive_compiled import CANDIDATE, dive

FIRST_NODES, NODE_SECONDS = 100, 0.01
"""Nodes of the first dive, and the seconds that one may take where nothing is compiled yet."""


def nodes_as_written(end: float) -> int:
    """Return the nodes of a first dive that is to be done by `end`, of `time.perf_counter`.

    Without such an end it is always the same number: results do not depend on what was compiled.
    """
    if cast(Loop, dive).is_compiled or end == np.inf:
        return FIRST_NODES
    return int(np.clip((end - time.perf_counter()) / NODE_SECONDS, 1, FIRST_NODES))


def prepare() -> float:
    """Compile the search below a node, unless it is; return the seconds that it took."""
    loop = cast(Loop, dive)
    if loop.is_compiled:
        return 0.0
    start = time.perf_counter()
    one, state = np.eye(2), np.full(2, CANDIDATE, dtype=np.uint8)
    loop.compile(
        (one, np.ones(2), np.full(2, 0.5)), state, one, 1, 0.0, 1e-9, 1, 2, np.inf, 0.0, 0.0
    )
    return time.perf_counter() - start
