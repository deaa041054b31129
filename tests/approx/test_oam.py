from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from aucert.approx.oam import UPDATES, OnlineAUC, Stream
from aucert.exact.errors import InputError
from loops import each

RNG = np.random.default_rng(0)
N = 300
Y = np.arange(N) % 3 == 0
X = RNG.normal(size=(N, 4)) + 0.7 * Y[:, None]
DRAWS = RNG.random(N)


def naive(method: OnlineAUC, rows: np.ndarray, positive: np.ndarray, draws: np.ndarray) -> list:
    """OAM as its description has it: the weights after each row, with lists for buffers."""
    w, buffers, seen, path = np.zeros(rows.shape[1]), ([], []), [0, 0], []
    for x, is_positive, draw in zip(rows, positive, draws, strict=True):
        mine, other = (0, 1) if is_positive else (1, 0)
        sign = 1 if is_positive else -1
        seen[mine] += 1
        if len(buffers[mine]) < method.n_buffer:
            buffers[mine].append(x)
        elif int(draw * seen[mine]) < method.n_buffer:
            buffers[mine][int(draw * seen[mine])] = x
        c = method.C / 2 * max(1, seen[other] / method.n_buffer)
        if method.update == "sequential":
            for b in buffers[other]:
                d = sign * (x - b)
                if d @ d > 0:
                    w = w + min(c, max(0.0, 1 - w @ d) / (d @ d)) * d
        else:
            change = [sign * (x - b) for b in buffers[other] if w @ (sign * (x - b)) <= 1]
            w = w + c * np.sum(change, axis=0) if change else w
        if method.radius is not None and np.linalg.norm(w) > method.radius:
            w = w * method.radius / np.linalg.norm(w)
        path.append(w)
    return path


def learned(method: OnlineAUC, rows: np.ndarray = X, positive: np.ndarray = Y) -> Stream:
    stream = method.start(rows.shape[1])
    method.learn(stream, rows, positive, DRAWS[: len(rows)])
    return stream


@each("radius", [None, 0.8])
@each("n_buffer", [1, 7, 1000])
@each("update", UPDATES)
def test_the_compiled_stream_is_the_naive_one_row_by_row(
    update: str, n_buffer: int, radius: float | None
) -> None:
    method = OnlineAUC(0.05, update, n_buffer, radius)
    path = naive(method, X, Y, DRAWS)
    stream = method.start(4)
    for t in range(N):
        method.learn(stream, X[t : t + 1], Y[t : t + 1], DRAWS[t : t + 1])
        np.testing.assert_allclose(stream.w, path[t], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(stream.mean, np.mean(path, axis=0), rtol=1e-9, atol=1e-12)
    assert stream.seen.tolist() == [100, 200]
    whole = learned(method)
    np.testing.assert_allclose(whole.w, stream.w, rtol=1e-12)
    np.testing.assert_array_equal(whole.buffer_neg, stream.buffer_neg)


def test_both_updates_by_hand() -> None:
    rows, positive = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), np.array([False, True, False])
    # row 1: d = (1, 0), w = min(C/2, 1) d.  Row 2: d = -(0, 2) + (1, 0) = (1, -2), |d|^2 = 5
    gentle = learned(OnlineAUC(0.2, "sequential", 5), rows, positive).w
    np.testing.assert_allclose(gentle, np.array([0.1, 0.0]) + 0.1 * np.array([1.0, -2.0]))
    full = learned(OnlineAUC(1e6, "sequential", 5), rows, positive).w
    np.testing.assert_allclose(full, [1.0, 0.0])  # the second pair has margin one already
    gradient = learned(OnlineAUC(0.2, "gradient", 5), rows, positive).w
    np.testing.assert_allclose(gradient, gentle)
    large = learned(OnlineAUC(6.0, "gradient", 5), rows, positive).w
    np.testing.assert_allclose(large, [3.0, 0.0])


def test_a_row_that_stands_for_many_weighs_as_many() -> None:
    rows, positive = np.vstack([np.zeros((10, 1)), [[1e-3]]]), np.arange(11) == 10
    w = learned(OnlineAUC(0.2, "gradient", 2), rows, positive).w
    assert w[0] == pytest.approx(0.1 * (10 / 2) * 2 * 1e-3, rel=1e-12)


def test_a_buffer_is_a_uniform_sample_of_what_came() -> None:
    rng, count = np.random.default_rng(3), np.zeros(20)
    method, rows = OnlineAUC(0.1, n_buffer=4), np.arange(20.0)[:, None]
    for _ in range(3000):
        stream = method.start(1)
        method.learn(stream, rows, np.ones(20, dtype=bool), rng.random(20))
        count[stream.buffer_pos[:, 0].astype(int)] += 1
    assert count.sum() == 12_000 and chisquare(count).pvalue > 1e-3


def test_rows_of_one_class_change_no_weight() -> None:
    stream = learned(OnlineAUC(1.0), X, np.ones(N, dtype=bool))
    assert not stream.w.any() and stream.seen.tolist() == [N, 0]


def test_weights_that_overflow_are_an_error() -> None:
    with pytest.raises(InputError, match="take a smaller C"):
        learned(OnlineAUC(1e308, "gradient"), 1e10 * X, Y)


def test_rows_that_do_not_fit_the_stream_are_refused() -> None:
    stream = OnlineAUC().start(3)
    with pytest.raises(InputError, match="do not fit a stream of 3 features"):
        OnlineAUC().learn(stream, X, Y, DRAWS)
    with pytest.raises(InputError, match="do not fit"):
        OnlineAUC().learn(stream, X[:, :3], Y, DRAWS[:5])
