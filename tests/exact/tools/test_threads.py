"""Small problems are solved in one thread, and the user's number of threads comes back."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from aucert.exact import ROCSVM, certify, solve
from aucert.exact.spaces.rows import Rows
from aucert.exact.tools import threads
from aucert.exact.tools.threads import one_thread, small_in_one_thread

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def threads_now() -> set[int]:
    pools = ThreadpoolController().select(user_api="blas").info()
    return {pool["num_threads"] for pool in pools}


@pytest.fixture
def two():
    """Two threads, whatever the environment of the tests says."""
    with threadpool_limits(2, user_api="blas"):
        if threads_now() != {2}:
            pytest.skip("the number of threads of the linear algebra is not ours to set here")
        yield


CALLS = {
    "solve": lambda: solve(X, Y, 0.1),
    "solve, a kernel": lambda: solve(X, Y, 0.1, kernel="rbf"),
    "certify": lambda: certify(X, Y, 0.1, w=np.ones(3)),
    "fit": lambda: ROCSVM(lam=0.1).fit(X, Y),
}


@pytest.mark.parametrize("name", CALLS)
def test_small_problems_take_one_thread(two, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    seen, scores = [], Rows.scores

    def watched(self: Rows, w: np.ndarray) -> np.ndarray:
        seen.append(threads_now())
        return scores(self, w)

    monkeypatch.setattr(Rows, "scores", watched)
    CALLS[name]()
    assert seen and all(number == {1} for number in seen)
    assert threads_now() == {2}


def test_large_ones_and_large_kernels_take_all(two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALL", X.size)
    work = small_in_one_thread(lambda X, kernel="linear": threads_now())
    assert work(X) == {1} and work(X=X) == {1}
    assert work(np.vstack([X, X])) == {2}
    assert work(X, kernel="rbf") == {2}  # its matrix has 60 times 60
    assert work([[1.0]]) == {1}


def test_blocks_that_overlap_restore_the_number_at_the_end_of_the_last(two) -> None:
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads_now() == {1}
    second.__exit__(None, None, None)
    assert threads_now() == {2}
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads_now() == {2}
