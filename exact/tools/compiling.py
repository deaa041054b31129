"""One place that compiles: cached on disk where a cache folder can be written, else without.

A loop may come with a plain form of numpy's passes, which returns the same bits. It answers until
it has cost as much as compiling; the compiled form takes over then.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# CPU seconds that all plain forms together may take before the compiler is loaded.
IMPORT_PRICE = 0.5
COMPILE_PRICE = 0.5  # CPU seconds that one plain form may take before its loop is compiled.
_LOCK = threading.RLock()
_SPENT = [0.0]


class Loop:
    """A function that is compiled once its plain form has cost as much as compiling."""

    def __init__(self, function: Callable[..., Any], plain: Callable[..., Any] | None = None):
        self.function, self.plain = function, plain
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__module__, self.__wrapped__ = function.__module__, function
        self.spent = 0.0
        self._fast: Callable[..., Any] | None = None
        self._known, self._made = False, None

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns, by the compiled or the plain form."""
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
                resolved = _resolved(self.function)
                self._made = _jitted(resolved)
                if resolved is not self.function and self.__name__ in resolved.__code__.co_names:
                    resolved.__globals__[self.__name__] = self._made  # it calls itself
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
        code, name = self.function.__code__, self.function.__qualname__
        return folder is not None and any(
            Path(folder).glob(f"{Path(code.co_filename).stem}.{name}-*.nbi")
        )


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
    used = {
        name: value.compiled
        for name in function.__code__.co_names
        if isinstance(value := function.__globals__.get(name), Loop)
        and value.function is not function
    }
    if not used and function.__name__ not in function.__code__.co_names:
        return function
    copy = FunctionType(function.__code__, {**function.__globals__, **used}, function.__name__)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__doc__, copy.__kwdefaults__ = function.__doc__, function.__kwdefaults__
    copy.__defaults__ = function.__defaults__
    return copy


def _numba() -> Any:
    """Return the compiler; an import that Ctrl-C breaks off leaves nothing that is half made."""
    whole = "numba" in sys.modules
    try:
        import numba
    except BaseException:
        for name in () if whole else tuple(sys.modules):
            if name.partition(".")[0] == "numba":
                sys.modules.pop(name, None)
        raise
    return numba


def _jitted(function: Callable[..., Any]) -> Any:
    numba = _numba()
    try:
        return numba.njit(cache=True, fastmath=False, nogil=True)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return numba.njit(fastmath=False, nogil=True)(function)
