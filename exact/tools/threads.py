"""How many threads: one for the linear algebra of small matrices, where several would wait for each
other, all for long passes over rows, in parts that do not depend on the number of threads."""

import functools
import inspect
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ..errors import InputError, brief

P = ParamSpec("P")
T = TypeVar("T")
Part = TypeVar("Part")

SMALL = 4_000_000  # Numbers of the largest matrix for which several threads gain little.
_LOCK = threading.Lock()
_INSIDE = 0
_LIMIT: Any = None


@functools.lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Return the controller of the loaded libraries, cached until there may be other modules."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, linear algebra uses one thread, in all threads of the process."""
    global _INSIDE, _LIMIT
    with _LOCK:
        if _INSIDE == 0:
            _LIMIT = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
        _INSIDE += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE -= 1
            if _INSIDE == 0:
                _LIMIT.restore_original_limits()


def small_in_one_thread(work: Callable[P, T]) -> Callable[P, T]:
    """Let `work` run within `limited` by its first argument of two dimensions, or the matrix of its
    kernel's values. `kernel`, `n_landmarks` and `n_jobs` are keywords, or attributes of `self`."""
    is_method = "self" in inspect.signature(work).parameters

    @functools.wraps(work)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        def option(name: str) -> Any:
            return kwargs.get(name, getattr(args[0], name, None) if is_method else None)

        here = (x for x in [*args, kwargs.get("X")] if not hasattr(x, "__dask_graph__"))
        shapes: Any = (getattr(x, "shape", ()) for x in here)
        n, d = next((shape for shape in shapes if len(shape) == 2), (0, 0))
        kernel, landmarks = option("kernel"), option("n_landmarks")
        if kernel is not None and not (isinstance(kernel, str) and kernel == "linear"):
            d = max(landmarks if isinstance(landmarks, int) else n, d)
        with limited(int(n) * int(d), option("n_jobs")):
            return work(*args, **kwargs)

    return bounded


@contextmanager
def limited(numbers: int, n_jobs: int | None) -> Iterator[None]:
    """Within, passes take `n_jobs` threads, and linear algebra one if so, or if numbers are few."""
    with at_most(n_jobs), nullcontext() if n_jobs is None and numbers > SMALL else one_thread():
        yield


_ASKED: ContextVar[int | None] = ContextVar("n_jobs", default=None)


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Within, passes over rows take `n_jobs` threads; None to choose."""
    token = _ASKED.set(check_jobs(n_jobs))
    try:
        yield
    finally:
        _ASKED.reset(token)


def check_jobs(n_jobs: object) -> int | None:
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs must be None or a whole number but 0, not {brief(n_jobs)}")
    return int(n_jobs) if n_jobs > 0 else max(1, processors() + 1 + int(n_jobs))


def workers(numbers: int) -> int:
    """Return how many threads a pass over so many numbers takes: what was asked, else what pays."""
    asked = _ASKED.get()
    if asked is not None:
        return asked
    # 1e-9 s: a number of the fastest loops here; 4: a thread saves so many of its starts of 5e-5 s
    pays = int(numbers * 1e-9 / (4 * 5e-5))
    return max(1, min(pays, processors(), _bound())) if pays > 1 else 1


def processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _bound() -> int:
    """Return the bound that the user or a library around us has set."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    bound = int(given) if given.isdigit() and int(given) > 0 else processors()
    with _LOCK:
        if _INSIDE:
            with warnings.catch_warnings():  # several libraries: the least number is meant
                warnings.simplefilter("ignore", UserWarning)
                return min(bound, _LIMIT.get_original_num_threads().get("blas") or bound)
        libraries = _controller(len(sys.modules)).select(user_api="blas").info()
    return min([bound, *(library["num_threads"] for library in libraries)])


def in_parts(work: Callable[[Part], T], parts: Sequence[Part], jobs: int) -> list[T]:
    """Return work(part) of each part, in their order, from so many threads at once."""
    jobs = min(jobs, len(parts))
    if jobs > 1 and _can_start():
        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(work, parts))  # after an error the parts not begun are left out
    return [work(part) for part in parts]


@functools.cache
def _can_start() -> bool:
    """Whether memory, or a limit on processes, leaves room for a thread."""
    thread = threading.Thread(target=int)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True
