"""One thread for the linear algebra of small matrices.

A library of linear algebra divides even small products among all processors. Its threads then wait
for each other, and where the processors have other work, by far the longest for that.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
T = TypeVar("T")

SMALL = 4_000_000
"""Numbers of the largest matrix for which several threads gain little, even if all are free."""

_LOCK = threading.Lock()
_INSIDE = 0
_LIMIT: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, linear algebra uses one thread, in all threads of the process.

    The former number comes back when the last of several blocks that overlap has ended.
    """
    global _INSIDE, _LIMIT
    with _LOCK:
        if _INSIDE == 0:
            _LIMIT = threadpool_limits(1, user_api="blas")
        _INSIDE += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE -= 1
            if _INSIDE == 0:
                _LIMIT.restore_original_limits()


def small_in_one_thread(work: Callable[P, T]) -> Callable[P, T]:
    """Let `work` run within `one_thread` if its matrix is small.

    The matrix is the first argument of two dimensions; it counts as its kernel matrix if the
    keyword `kernel`, or that attribute of the first argument, names one. What has no shape, such
    as a list of lists, is small.
    """

    @functools.wraps(work)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        if _numbers(args, kwargs) > SMALL:
            return work(*args, **kwargs)
        with one_thread():
            return work(*args, **kwargs)

    return bounded


def _numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Return how many numbers the largest matrix of the call holds."""
    here = (v for v in (*args, kwargs.get("X")) if not hasattr(v, "__dask_graph__"))
    shapes = (getattr(value, "shape", ()) for value in here)
    n, d = next((shape for shape in shapes if len(shape) == 2), (0, 0))
    own = getattr(args[0], "kernel", "linear") if args else "linear"
    kernel = kwargs.get("kernel", own)
    return int(n) * int(d if kernel == "linear" else max(n, d))
