"""Small problems are solved in one thread, and the user's number of threads comes back."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from aucert.exact import ROCSVM, InputError, Rows, certify, regularization_path, solve
from aucert.exact.api import solve as solving
from aucert.exact.spaces import blocks
from aucert.exact.tools import threads
from aucert.exact.tools.threads import at_most, in_parts, one_thread, small_in_one_thread, workers
from loops import each, refuses

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def threads_now() -> set[int]:
    pools = ThreadpoolController().select(user_api="blas").info()
    return {pool["num_threads"] for pool in pools}


@pytest.fixture
def two():
    """Two threads in any environment of the tests."""
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
    work = small_in_one_thread(lambda X, kernel="linear": threads_now())
    assert work(X) == {1} and work(X=X) == {1}
    assert work(np.vstack([X, X])) == {2}
    assert work(X, kernel="rbf") == {2}  # its matrix has 60 times 60
    assert work([[1.0]]) == {1}
    columns: dict[str, Any] = dict.fromkeys(
        ("n_jobs", "kernel", "n_landmarks"), X[:, 0]
    )  # no options
    assert work(X.view(type("Frame", (np.ndarray,), columns))) == {1}


def test_parts_come_back_in_order_from_any_number_of_threads(monkeypatch) -> None:
    seen = set()

    def work(part: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(1e-3)
        return part * part

    for jobs in (1, 2, 3, 7, 50):
        assert in_parts(work, range(20), jobs) == [k * k for k in range(20)]
    assert in_parts(work, [], 3) == []
    assert len(seen) > 1

    def no_room(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_room)
    threads._can_start.cache_clear()
    try:  # the calling one does all
        assert in_parts(abs, range(5), 3) == [0, 1, 2, 3, 4]
    finally:
        threads._can_start.cache_clear()


@each("error", [InputError, KeyboardInterrupt])
def test_an_error_in_a_part_ends_all_and_comes_out(error: type[BaseException]) -> None:
    done = []

    def work(part: int) -> None:
        if part == 3:
            raise error("this part")
        time.sleep(2e-3)
        done.append(part)

    before = threading.active_count()
    refuses("this part", in_parts, work, range(1000), 3, error=error)
    assert len(done) < 50 and threading.active_count() == before


def test_the_number_of_threads_is_the_callers_or_what_pays(monkeypatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpool_limits(6, user_api="blas"):
        allowed = threads_now()
        most = 6 if allowed == {6} else min(allowed)  # the library may have been built for fewer
        assert workers(10) == 1 and workers(threads.WORTH) == 1
        assert workers(10**9) == most
        assert workers(600_000) == min(3, most)  # 0.2 ms of work for each
        with one_thread():  # a matter of small matrices, not of long passes
            assert workers(10**9) == most
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert workers(10**9) == min(2, most)
    with threadpool_limits(1, user_api="blas"):
        assert workers(10**9) == 1
    for asked, given in ((3, 3), (1, 1), (-1, 6), (-2, 5), (-9, 1), (None, None)):
        with at_most(asked):
            assert given is None or workers(10) == workers(10**9) == given


@each("name", CALLS)
def test_n_jobs_reaches_the_passes_or_is_refused(name: str, monkeypatch) -> None:
    for wrong in (0, 1.5, "2", True):
        refuses("n_jobs must be None or a whole number but 0", CALLS[name], wrong)
    seen = []
    monkeypatch.setattr(blocks, "workers", lambda n: seen.append(workers(n)) or 1)
    monkeypatch.setattr(solving, "STREAM_FROM_ROWS", 10)
    CALLS[name](3)
    # A path holds rows that are so few: no pass over blocks shares them.
    assert set(seen) == (set() if name == "path" else {3})
