"""Loops that compile when it pays, the same bits without; threads; platforms with doubles alone."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from aucert.exact import ROCSVM, InputError, Rows, Status, certify, regularization_path, solve
from aucert.exact.api import solve as solving
from aucert.exact.spaces import blocks
from aucert.exact.sums import loops as all_loops
from aucert.exact.sums import plain, swept
from aucert.exact.tools import compiling, threads
from aucert.exact.tools.compiling import Loop
from loops import each, refuses
from problems import SCORED, scored


def arguments(name: str, kind: str, seed: int) -> tuple[Any, ...]:
    scores, positive, _ = scored(kind, seed)
    rng = np.random.default_rng(seed)
    if name == "sweep":
        t, b = np.sort(scores[positive] - 1), np.sort(scores[~positive])
        weights = rng.uniform(0.5, 2, t.size), rng.uniform(0.5, 2, b.size)
        width, out = (0.0, 0.7)[seed % 2], (np.zeros(t.size), np.zeros(b.size))
        return t, b, *weights, width, 1e-15, seed % 3 == 0, *out
    if name not in ("count", "spread"):
        return of_bins(name, scores, positive, rng, seed)
    order: Any = swept.SortedRows.of(scores, positive, 1.0)
    half, (soft, hard) = order.half(0.9), np.zeros((2, scores.size), np.int64)
    if name == "count":
        half = 0 if seed % 3 == 0 else order.half((0.01, 0.9)[seed % 2])
        return order.keys, order.bits, half, order.n_neg, soft, hard
    plain.count(order.keys, order.bits, half, order.n_neg, soft, hard)
    unit, c = 2.0 * half * 7.0, np.zeros(scores.size)
    return order.keys, order.bits, soft, hard, unit, scores, order.middle, c


def of_bins(name: str, scores: Any, positive: Any, rng: Any, seed: int) -> tuple[Any, ...]:
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
    found = vars(all_loops).items()
    return {k: loop for k, loop in found if isinstance(loop, Loop) and loop.plain is not None}


def bits(values: Any) -> list[bytes]:
    if isinstance(values, tuple):
        return [part for value in values for part in bits(value)]
    return [np.asarray(values).tobytes()]


@pytest.mark.slow
@each("name", sorted(loops()))
def test_the_plain_form_returns_the_bits_of_the_compiled_one(name: str) -> None:
    loop = loops()[name]
    forms: Any = (loop.plain, loop.compiled)
    for kind, seed in itertools.product(SCORED, range(12)):
        found, given = [], arguments(name, kind, seed)
        for form in forms:
            own = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in given)
            found.append(bits((form(*own), own)))
        assert found[0] == found[1], (kind, seed)


def test_a_loop_is_compiled_once_it_has_paid_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    now = iter(np.arange(100) * 0.3)
    monkeypatch.setattr(compiling, "COMPILE_PRICE", 0.5)
    monkeypatch.setattr(compiling, "thread_time", lambda: float(next(now)))
    monkeypatch.setattr(compiling, "_jitted", lambda f: lambda x: calls.append("fast") or f(x))
    loop = Loop(lambda x: x + 1, lambda x: calls.append("plain") or x + 1)
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
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_a_first_answer_loads_no_compiler(tmp_path: Path) -> None:
    with started(FRESH, tmp_path) as process:
        assert process.communicate()[0].split()[1] == "False"
    assert process.returncode == 0 and not list(tmp_path.rglob("*"))


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


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def threads_now() -> set[int]:
    pools = ThreadpoolController().select(user_api="blas").info()
    return {pool["num_threads"] for pool in pools}


@pytest.fixture
def two():
    with threadpool_limits(2, user_api="blas"):
        if threads_now() != {2}:
            pytest.skip("the number of threads of the linear algebra is not ours to set here")
        yield


CALLS: dict[str, Any] = {
    "solve": lambda n: solve(X, Y, 0.1, tol=1e-3, n_jobs=n),
    "fit": lambda n: ROCSVM(lam=0.1, tol=1e-3, n_jobs=n).fit(X, Y),
    "certify": lambda n: certify(X, Y, 0.1, w=np.ones(3), refine=False, n_jobs=n),
    "path": lambda n: regularization_path(X, Y, [0.1], tol=1e-3, n_jobs=n),
}


@each("name", CALLS)
def test_small_problems_take_one_thread(two, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    seen, scores = [], Rows.scores

    def watched(self: Rows, w: np.ndarray) -> np.ndarray:
        seen.append(threads_now())
        return scores(self, w)

    monkeypatch.setattr(Rows, "scores", watched)
    CALLS[name](None)
    assert seen and all(number == {1} for number in seen)
    assert threads_now() == {2}


def test_large_ones_and_large_kernels_take_all(two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALL", X.size)
    work = threads.small_in_one_thread(lambda X, kernel="linear": threads_now())
    assert work(X) == {1} and work(X=X) == {1}
    assert work(np.vstack([X, X])) == {2}
    assert work(X, kernel="rbf") == {2}  # its matrix has 60 times 60
    assert work([[1.0]]) == {1}
    columns: Any = dict.fromkeys(("n_jobs", "kernel", "n_landmarks"), X[:, 0])  # no options
    assert work(X.view(type("Frame", (np.ndarray,), columns))) == {1}


def test_parts_come_back_in_order_from_any_number_of_threads(monkeypatch) -> None:
    seen = set()

    def work(part: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(1e-3)
        return part * part

    for jobs in (1, 2, 3, 7, 50):
        assert threads.in_parts(work, range(20), jobs) == [k * k for k in range(20)]
    assert threads.in_parts(work, [], 3) == []
    assert len(seen) > 1
    no_room = Mock(side_effect=RuntimeError("can't start new thread"))
    monkeypatch.setattr(threading.Thread, "start", no_room)
    monkeypatch.setattr(threads, "_can_start", threads._can_start.__wrapped__)  # asked anew
    assert threads.in_parts(abs, range(5), 3) == [0, 1, 2, 3, 4]  # the calling one does all


@each("error", [InputError, KeyboardInterrupt])
def test_an_error_in_a_part_ends_all_and_comes_out(error: type[BaseException]) -> None:
    done = []

    def work(part: int) -> None:
        if part == 3:
            raise error("this part")
        time.sleep(2e-3)
        done.append(part)

    before = threading.active_count()
    refuses("this part", threads.in_parts, work, range(1000), 3, error=error)
    assert len(done) < 50 and threading.active_count() == before


def test_the_number_of_threads_is_the_callers_or_what_pays(monkeypatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpool_limits(6, user_api="blas"):
        allowed = threads_now()
        most = 6 if allowed == {6} else min(allowed)  # the library may have been built for fewer
        assert threads.workers(10) == 1 and threads.workers(1 << 17) == 1
        assert threads.workers(10**9) == most
        assert threads.workers(600_000) == min(3, most)  # 0.2 ms of work for each
        with threads.one_thread():  # a matter of small matrices, not of long passes
            assert threads.workers(10**9) == most
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert threads.workers(10**9) == min(2, most)
    with threadpool_limits(1, user_api="blas"):
        assert threads.workers(10**9) == 1
    for asked, given in ((3, 3), (1, 1), (-1, 6), (-2, 5), (-9, 1), (None, None)):
        with threads.at_most(asked):
            assert given is None or threads.workers(10) == threads.workers(10**9) == given


def test_an_import_that_is_broken_off_inside_a_solve_can_be_made_again(tmp_path, monkeypatch):
    (tmp_path / "halved").mkdir()
    (tmp_path / "halved" / "part.py").write_text("")
    # Like scipy's: a submodule that is there already does not become a name of the new package.
    package = "from . import part as _\nimport os\nif os.environ.pop('STOP', 0):\n"
    package += "    raise KeyboardInterrupt\nfrom .part import *\ndel part\n"
    (tmp_path / "halved" / "__init__.py").write_text(package)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("STOP", "1")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    found = solve(X, y, 0.1, callback=lambda step: importlib.import_module("halved"))
    assert found.status == Status.INTERRUPTED
    importlib.import_module("halved")


@each("name", CALLS)
def test_n_jobs_reaches_the_passes_or_is_refused(name: str, monkeypatch) -> None:
    for wrong in (0, 1.5, "2", True):
        refuses("n_jobs must be None or a whole number but 0", CALLS[name], wrong)
    seen = []
    monkeypatch.setattr(blocks, "workers", lambda n: seen.append(threads.workers(n)) or 1)
    monkeypatch.setattr(solving, "STREAM_FROM_ROWS", 10)
    CALLS[name](3)
    # A path holds rows that are so few: no pass over blocks shares them.
    assert set(seen) == (set() if name == "path" else {3})


TESTS = Path(__file__).resolve().parents[2]
ROOMS = "tools spaces sums losses pairs problem structure certificate proof formulation".split()


@pytest.mark.release
def test_what_states_and_proves_a_problem_passes_its_tests() -> None:
    path = os.pathsep.join([str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")])
    folders = [str(TESTS / "exact" / room) for room in ROOMS]
    here = f"--deselect={__file__}::test_what_states_and_proves_a_problem_passes_its_tests"
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "double_only", "-n", "0", here, *folders]
    how: Any = {"capture_output": True, "text": True, "env": {**os.environ, "PYTHONPATH": path}}
    done = subprocess.run(asked, cwd=TESTS.parent, **how)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
