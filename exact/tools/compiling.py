"""One place that compiles, cached on disk where a folder can be written. A plain form of a loop, in
numpy's passes, returns the same bits and answers until it has cost as much as compiling."""

import sys
import threading
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from time import thread_time
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
IMPORT_PRICE = 0.5  # CPU seconds that all plain forms may take before the compiler is loaded.
COMPILE_PRICE = 0.5  # CPU seconds that one plain form may take before its loop is compiled.
_LOCK = threading.RLock()
_SPENT = [0.0]


class Loop:
    """A function that is compiled once its plain form has cost as much as compiling."""

    def __init__(self, function: Callable[..., Any], plain: Callable[..., Any] | None = None):
        update_wrapper(self, function)
        self.function, self.plain, self.spent = function, plain, 0.0
        self._fast: Callable[..., Any] | None = None
        self._known, self._made = False, None

    def __call__(self, *args: Any) -> Any:
        if self._fast is not None:
            return self._fast(*args)
        if self.plain is None or self.pays():
            self._fast = self.compiled
            return self._fast(*args)
        start = thread_time()
        try:
            return self.plain(*args)
        finally:
            took = thread_time() - start
            self.spent += took
            _SPENT[0] += took

    @property
    def compiled(self) -> Callable[..., Any]:
        """The compiled form; it is compiled for its arguments at its own first call."""
        with _LOCK:
            if self._made is None:
                self._made = _jitted(_resolved(self.function))
            return self._made

    def pays(self) -> bool:
        """Whether the plain form has cost as much as the compiled one will."""
        if "numba" not in sys.modules and _SPENT[0] < IMPORT_PRICE:
            return False
        if self.spent >= COMPILE_PRICE:
            return True
        if self._known:
            return False
        # Whether the cache on disk seems to hold the compiled form, which is quick to load.
        self._known, dispatcher = True, self.compiled
        folder = getattr(getattr(dispatcher, "_cache", None), "cache_path", None)
        stem = Path(self.function.__code__.co_filename).stem
        name = f"{stem}.{self.function.__qualname__}-*.nbi"
        return folder is not None and any(Path(folder).glob(name))


def compiled(function: Function) -> Function:
    """Return `function` compiled at its first call; without fast-math, as every rounding counts."""
    return cast(Function, Loop(function))


def compiled_later(plain: Callable[..., Any]) -> Callable[[Function], Function]:
    """Return a decorator as `compiled`, with the plain form to use until compiling pays."""
    return lambda function: cast(Function, Loop(function, plain))


def sealed(values: np.ndarray) -> np.ndarray:
    """Return a read-only view: one compiled form then serves read-only arrays and all others."""
    view = values.view()
    view.flags.writeable = False
    return view


def compile_at_once() -> None:
    """Compile every loop at its first call from now on; benchmarks need this."""
    global IMPORT_PRICE, COMPILE_PRICE
    IMPORT_PRICE = COMPILE_PRICE = 0.0


def _resolved(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function over the compiled forms of the loops that it calls."""
    assert isinstance(function, FunctionType)
    code, known = function.__code__, function.__globals__
    used = {name: known[name].compiled for name in code.co_names if type(known.get(name)) is Loop}
    if not used:
        return function
    copy = FunctionType(code, {**known, **used}, function.__name__)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


def drop_half_imported() -> None:
    """Drop the modules that an import broken off by Ctrl-C leaves without their package: the next
    import would take them for whole."""
    for name in sorted(sys.modules):  # a package comes before what it holds
        package = name.rpartition(".")[0]
        if package and package not in sys.modules:
            sys.modules.pop(name, None)


def _jitted(function: Callable[..., Any]) -> Any:
    try:
        import numba
    except BaseException:
        drop_half_imported()
        raise
    try:
        return numba.njit(cache=True, fastmath=False, nogil=True)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return numba.njit(fastmath=False, nogil=True)(function)
