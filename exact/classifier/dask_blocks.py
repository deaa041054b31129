"""Operations on dask collections by their own methods: fetching rows, mapping blocks.

Nothing of dask is imported here: whoever has a collection has dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..tools.lossless import as_float64


def in_blocks(X: Any, dim: int | None = None, names: Sequence[str] | None = None) -> Any:
    """Return a collection as a dask array (n, d) whose blocks have all columns."""
    blocks = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if len(blocks.shape) != 2 or (dim is not None and blocks.shape[1] != dim):
        wanted = "two dimensions" if dim is None else f"{dim} columns, one for each feature,"
        raise InputError(f"X has the shape {X.shape}: {wanted} are needed")
    if names is not None and hasattr(X, "columns") and list(X.columns) != list(names):
        raise InputError("the columns of X are not those that were fitted")
    return blocks.rechunk({1: -1})


def drawn_rows(X: Any, size: int, seed: int) -> np.ndarray:
    """Return about `size` rows of a collection, drawn evenly and computed: (m, d)."""
    blocks = in_blocks(X)
    if np.isnan(blocks.shape[0]):
        blocks = blocks.copy().compute_chunk_sizes()
    n = int(blocks.shape[0])
    if n == 0:
        raise InputError("X has no rows")
    if size < n:
        drawn = np.random.default_rng(seed).choice(n, size=size, replace=False, shuffle=False)
        blocks = blocks[np.sort(drawn)]
    return as_float64(blocks.compute(), "X", "a matrix of numbers")


def mapped(blocks: Any, function: Callable[[np.ndarray], np.ndarray], width: int) -> Any:
    """Return the dask array (n, width) of a function of the rows of each block, not computed."""
    chunks = (blocks.chunks[0], (width,))
    return blocks.map_blocks(OfNumbers(function), chunks=chunks, dtype=float)


@dataclass(frozen=True)
class OfNumbers:
    """A function of rows of numbers; it is sent to workers."""

    function: Callable[[np.ndarray], np.ndarray]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the function of some rows; dask passes no rows to learn the type of the result."""
        numbers = as_float64(rows, "X", "a matrix of numbers")
        if not np.isfinite(numbers).all():
            raise InputError("X has a value that is not finite: remove or impute it first")
        return self.function(numbers)
