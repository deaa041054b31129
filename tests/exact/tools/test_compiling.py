"""Loops that compile when it pays: the plain forms return the bits of the compiled ones."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.sums import loops as all_loops
from aucert.exact.sums import plain
from aucert.exact.sums.swept import SortedRows
from aucert.exact.tools import compiling
from aucert.exact.tools.compiling import Loop
from loops import each
from problems import SCORED, scored


def arguments(name: str, kind: str, seed: int) -> tuple[Any, ...]:
    """Return arguments of a loop that has a plain form."""
    scores, positive, _ = scored(kind, seed)
    rng = np.random.default_rng(seed)
    if name == "sweep":
        t, b = np.sort(scores[positive] - 1), np.sort(scores[~positive])
        weights = rng.uniform(0.5, 2, t.size), rng.uniform(0.5, 2, b.size)
        width, out = (0.0, 0.7)[seed % 2], (np.zeros(t.size), np.zeros(b.size))
        return t, b, *weights, width, 1e-15, seed % 3 == 0, *out
    if name not in ("count", "spread"):
        return of_bins(name, scores, positive, rng, seed)
    order = SortedRows.of(scores, positive, 1.0)
    assert order is not None
    half, (soft, hard) = order.half(0.9), np.zeros((2, scores.size), np.int64)
    if name == "count":
        half = 0 if seed % 3 == 0 else order.half((0.01, 0.9)[seed % 2])
        return order.keys, order.bits, half, order.n_neg, soft, hard
    plain.count(order.keys, order.bits, half, order.n_neg, soft, hard)
    unit, c = 2.0 * half * 7.0, np.zeros(scores.size)
    return order.keys, order.bits, soft, hard, unit, scores, order.middle, c


def of_bins(
    name: str, scores: np.ndarray, positive: np.ndarray, rng: np.random.Generator, seed: int
) -> tuple[Any, ...]:
    """Return arguments of a loop over bins: rows of three columns, some of them beyond the grid."""
    X, offset = rng.normal(size=(3, scores.size)), rng.normal(size=3)
    X[0], w, powers = scores, rng.normal(size=3), 1 + seed % 2
    first, weight = np.floor(-8.0 * abs(w[0])), rng.uniform(0.5, 2, scores.size * (seed % 3 > 0))
    limits = np.array([[first, first + 40, first], [first + 3, first + 30, first - 2]])
    held, sums = np.zeros((2, 50, 2 + seed % 3)), np.zeros((2, 50, powers, 4))
    grid = 8.0, limits, seed % 4 == 0
    given = X, offset, w, positive, weight, *grid, held, sums, np.array([np.inf, -np.inf] * 2)
    if name == "gather":
        return given
    table = rng.normal(size=(2, 50, powers)) * (rng.random((2, 50, 1)) < 0.8)
    if name == "look_up":
        return scores, positive, weight, *grid, table, np.zeros(scores.size)
    if name == "pull":
        return *given[:8], table, np.zeros((1, 4, 256))
    plain.gather(*given[:8], held, sums, given[-1])
    return held[1, :, :2], held[0, :, :2]


def loops() -> dict[str, Loop]:
    """The loops that have a plain form, by name."""
    found = vars(all_loops).items()
    return {k: loop for k, loop in found if isinstance(loop, Loop) and loop.plain is not None}


def bits(values: Any) -> list[bytes]:
    """The numbers of a nest of results, bit by bit."""
    if isinstance(values, tuple):
        return [part for value in values for part in bits(value)]
    return [np.asarray(values).tobytes()]


@pytest.mark.slow
@each("name", sorted(loops()))
def test_the_plain_form_returns_the_bits_of_the_compiled_one(name: str) -> None:
    loop = loops()[name]
    for kind, seed in itertools.product(SCORED, range(12)):
        found, given = [], arguments(name, kind, seed)
        for form in (loop.plain, loop.compiled):
            assert form is not None
            own = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in given)
            found.append(bits((form(*own), own)))
        assert found[0] == found[1], (kind, seed)


def test_a_loop_is_compiled_once_it_has_paid_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def function(x: float) -> float:
        return x + 1

    def slow(x: float) -> float:
        calls.append("plain")
        return x + 1

    now = iter(np.arange(100) * 0.3)
    monkeypatch.setattr(compiling, "COMPILE_PRICE", 0.5)
    monkeypatch.setattr(compiling, "thread_time", lambda: float(next(now)))
    monkeypatch.setattr(compiling, "_jitted", lambda f: lambda x: calls.append("fast") or f(x))
    loop = Loop(function, slow)
    assert [loop(k) for k in range(4)] == [1, 2, 3, 4]
    assert calls == ["plain", "plain", "fast", "fast"]


FRESH = """
import sys
import numpy as np
from aucert.exact import solve
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 3))
y = X[:, 0] + rng.normal(size=2000) > 0
print(solve(X, y, lam=1e-2, tol=1e-6).certificate.primal.hex(), "numba" in sys.modules)
"""
BROKEN_OFF = """
import sys
from aucert.exact.tools import compiling

class Finder:
    def find_spec(self, name, *_):
        if name == target:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
compiling.compile_at_once()
for target in ("numba.core.config", "numba.core.registry", "numba.typed", None):
    try:
        print(compiling.compiled(lambda: target is None)())
    except KeyboardInterrupt:
        print("numba" in sys.modules)
"""
FORKED = """
import multiprocessing
import numpy as np
from aucert.exact import solve
from aucert.exact.tools import compiling

def primal(seed):
    compiling.IMPORT_PRICE = compiling.COMPILE_PRICE = 0.0  # compile at once
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] + rng.normal(size=2000) > 0
    return solve(X, y, lam=1e-2, tol=1e-6).certificate.primal.hex()

if __name__ == "__main__":
    primal(0)
    with multiprocessing.get_context("{kind}").Pool(2) as pool:
        print(*pool.map(primal, range(2)), primal(0))
"""


def started(code: str, cache: Path) -> subprocess.Popen[str]:
    """Start a fresh process with a compiler cache of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_a_first_answer_loads_no_compiler(tmp_path: Path) -> None:
    with started(FRESH, tmp_path) as process:
        assert process.communicate()[0].split()[1] == "False"
    assert process.returncode == 0
    assert not list(tmp_path.rglob("*"))


def test_an_import_that_is_broken_off_leaves_no_half_of_the_compiler(tmp_path: Path) -> None:
    with started(BROKEN_OFF + FRESH, tmp_path) as process:
        found = process.communicate()[0].split()
    assert [*found[:4], found[-1]] == ["False"] * 3 + ["True"] * 2


@pytest.mark.slow
def test_processes_and_forks_share_a_cache_and_find_the_same(tmp_path: Path) -> None:
    script = tmp_path / "forked.py"
    script.write_text(FORKED.replace("{kind}", "fork" if sys.platform == "linux" else "spawn"))
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    running = [started(code, tmp_path / "cache") for _ in range(2)]
    running.append(started(FRESH, tmp_path / "cache"))
    found = [process.communicate()[0].split() for process in running]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len({*found[0], *found[1], found[2][0]}) == 1
