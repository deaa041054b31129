"""One place that compiles: cached on disk where a cache folder can be written, else without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function` compiled at its first call, so that importing stays light.

    No fast-math: the certificates rely on every rounding being the one that is written.
    Compiled functions may call only compiled functions of their own file.
    """
    import numba

    try:
        return cast(Function, numba.njit(cache=True, fastmath=False, nogil=True)(function))
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return cast(Function, numba.njit(fastmath=False, nogil=True)(function))
