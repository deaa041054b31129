"""Calling somebody's fit: once here, or again and again in a process that can be stopped.

The process is a fork of this one for a function, or a new interpreter for `MODULE:FUNCTION`.
Problems and answers pass through a pipe, as JSON; what the fit prints goes into a file.
"""

from __future__ import annotations

import inspect
import io
import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError
from ...exact.tools.interrupts import is_interrupt
from ...exact.tools.lossless import as_float64
from .naming import described, load_function
from .traced import TimeOver, Trace

# kind: "w" (with w), "points" (of a trace), "error", "wrong shape" (with message); seconds; and
# changed: which of X and y the fit wrote into, though they are the caller's.
Answer = dict[str, Any]


def takes_weights(fit: Callable[..., Any]) -> bool:
    """Return whether `fit` has an argument named `sample_weight`."""
    return "sample_weight" in arguments_of(fit)


def arguments_of(fit: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments of `fit`, as far as they can be told."""
    try:
        return tuple(inspect.signature(fit).parameters)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ()


def call(fit: Callable[..., Any], request: dict[str, Any], seed: int) -> Answer:
    """Call `fit` on one problem; never raise, except for an interrupt."""
    X = np.array(request["X"], dtype=float)
    y = np.array(request["y"], dtype=np.int64)
    weight = request.get("sample_weight")
    extra = {} if weight is None else {"sample_weight": np.array(weight, dtype=float)}
    extra |= request.get("arguments", {})
    if "trace" in request:
        extra["callback"] = trace = Trace(request["trace"])
    else:
        trace = None
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for solvers that draw from it
    before = (X.copy(), y.copy())
    start = time.perf_counter()
    try:
        found = fit(X, y, float(request["lam"]), **extra)
        answer = read_weights(found, len(request["X"][0]))
        if trace is not None and answer["kind"] == "w":
            last = (time.perf_counter() - start, answer["w"])
            answer = {"kind": "points", "points": [*trace.all_points(), last]}
    except TimeOver:
        assert trace is not None
        answer = {"kind": "points", "points": trace.all_points(), "stopped": True}
    except BaseException as error:  # `sys.exit` in a fit is its failure, not ours
        if is_interrupt(error):
            raise
        answer = {"kind": "error", "message": described(error)}
    seconds = time.perf_counter() - start
    after = zip("Xy", (X, y), before, strict=True)
    changed = [name for name, now, then in after if not np.array_equal(now, then)]
    return answer | {"seconds": seconds, "changed": changed}


def read_weights(found: Any, d: int) -> Answer:
    """Return what a fit gave back as an answer: `coef_` or `w` of an object, else itself."""
    if found is None:
        return {"kind": "wrong shape", "message": "None returned: does it end with `return w`?"}
    values = getattr(found, "coef_", getattr(found, "w", found))
    if sp.issparse(values):
        values = values.toarray()
    try:
        array = as_float64(values, "what was returned", f"{d} numbers")
    except InputError as error:
        why = "return the weights alone" if isinstance(found, tuple) else str(error)
        return {"kind": "error", "message": f"{type(found).__name__} returned: {why}"}
    if array.shape not in ((d,), (1, d), (d, 1)):
        hint = " (leave out the intercept)" if array.size == d + 1 else ""
        message = f"shape {array.shape} returned, ({d},) wanted{hint}"
        return {"kind": "wrong shape", "message": message}
    return {"kind": "w", "w": array.ravel().tolist()}


class SameProcess:
    """Calls a fit here: it cannot be stopped, and what it prints is dropped."""

    how = "in this process: a fit that never ends cannot be stopped"

    def __init__(self, fit: Callable[..., Any], seed: int):
        self.fit, self.seed = fit, seed
        self.takes_weights, self.takes = takes_weights(fit), arguments_of(fit)

    def ask(self, request: dict[str, Any], limit: float) -> Answer:
        """Return the answer; one that came after `limit` seconds counts as "timeout"."""
        state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
        try:
            with redirect_stdout(io.StringIO()):
                answer = call(self.fit, request, self.seed)
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)  # noqa: NPY002
        if answer["seconds"] <= limit:
            return answer
        message = f"took {answer['seconds']:.3g} s, {limit:g} s allowed"
        return {"kind": "timeout", "message": message, "seconds": answer["seconds"]}

    def close(self) -> None:
        """Do nothing."""


def serve(fit: Callable[..., Any], seed: int, pipe: Connection) -> None:
    """Answer the requests that come through a pipe until there are no more."""
    takes = {"takes_weights": takes_weights(fit), "takes": arguments_of(fit)}
    pipe.send_bytes(json.dumps({"kind": "ready", **takes}).encode())
    with suppress(EOFError):
        while True:
            answer = call(fit, json.loads(pipe.recv_bytes()), seed)
            pipe.send_bytes(json.dumps(answer).encode())


def main(arguments: list[str]) -> None:
    """Serve MODULE:FUNCTION: its name, the seed and a file descriptor are the arguments."""
    pipe = Connection(int(arguments[2]))
    try:
        fit = load_function(arguments[0])
    except InputError as error:
        pipe.send_bytes(json.dumps({"kind": "refused", "message": str(error)}).encode())
        return
    serve(fit, int(arguments[1]), pipe)


if __name__ == "__main__":
    main(sys.argv[1:])
