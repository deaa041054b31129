"""OAM: the stream, by a naive one, and its estimator."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.metrics import roc_auc_score

from aucert.approx import oam
from aucert.approx.oam import OAM, UPDATES, OnlineAUC
from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.estimators.thresholds import threshold_accuracy
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


@each("radius", [None, 0.8])
@each("n_buffer", [1, 7, 1000])
@each("update", UPDATES)
def test_the_compiled_stream_is_the_naive_one_row_by_row(
    update: str, n_buffer: int, radius: float | None
) -> None:
    method = OnlineAUC(0.05, update, n_buffer, radius)
    path = naive(method, X, Y, DRAWS)
    stream, whole = method.start(4), method.start(4)
    for t in range(N):
        method.learn(stream, X[t : t + 1], Y[t : t + 1], DRAWS[t : t + 1])
        np.testing.assert_allclose(stream.w, path[t], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(stream.mean, np.mean(path, axis=0), rtol=1e-9, atol=1e-12)
    assert stream.seen.tolist() == [100, 200]
    method.learn(whole, X, Y, DRAWS)
    np.testing.assert_allclose(whole.w, stream.w, rtol=1e-12)
    np.testing.assert_array_equal(whole.buffer_neg, stream.buffer_neg)
    for rows, draws in ((X[:, :3], DRAWS), (X, DRAWS[:5])):
        with pytest.raises(InputError, match="do not fit"):
            method.learn(whole, rows, Y, draws)
    with pytest.raises(InputError, match="take a smaller C"):
        OnlineAUC(1e308, "gradient").learn(method.start(4), 1e10 * X, Y, DRAWS)


def test_a_buffer_is_a_uniform_sample_of_what_came() -> None:
    rng, count = np.random.default_rng(3), np.zeros(20)
    method, rows = OnlineAUC(0.1, n_buffer=4), np.arange(20.0)[:, None]
    for _ in range(3000):
        stream = method.start(1)
        method.learn(stream, rows, np.ones(20, dtype=bool), rng.random(20))
        count[stream.buffer_pos[:, 0].astype(int)] += 1
    assert count.sum() == 12_000 and chisquare(count).pvalue > 1e-3


FN = 240
FY = (np.arange(FN) % 4 == 0).astype(int)
FX = RNG.normal(size=(FN, 3)) + 0.8 * FY[:, None]


def test_oam_is_the_method_on_shuffled_rows() -> None:
    model = OAM(0.05, n_buffer=10, max_epochs=2, random_state=5).fit(FX, FY)
    method, rng = OnlineAUC(0.05, n_buffer=10), np.random.default_rng(5)
    stream = method.start(3)
    for _ in range(2):
        order = rng.permutation(FN)
        method.learn(stream, FX[order], FY[order] == 1, rng.random(FN))
    np.testing.assert_array_equal(model.coef_[0], stream.w)
    averaged = OAM(0.05, n_buffer=10, max_epochs=2, average=True, random_state=5).fit(FX, FY)
    np.testing.assert_array_equal(averaged.coef_[0], stream.mean)


def test_a_stream_may_begin_with_one_class() -> None:
    model = OAM(random_state=0).partial_fit(FX[FY == 0], FY[FY == 0], classes=[0, 1])
    assert not model.coef_.any() and model.intercept_[0] == 0.0
    model.partial_fit(FX[FY == 1], FY[FY == 1])
    assert model.stream_.seen.tolist() == [60, 180]
    assert roc_auc_score(FY, model.decision_function(FX)) > 0.8


def test_the_threshold_of_a_stream_is_that_of_its_buffers() -> None:
    whole = OAM(n_buffer=FN, random_state=0).partial_fit(FX, FY, classes=[0, 1])
    cut = whole.intercept_[0]
    assert whole.set_threshold(FX, FY).intercept_[0] == pytest.approx(cut, rel=1e-12)
    few = OAM(n_buffer=30, threshold="accuracy", random_state=0)
    few.partial_fit(FX, FY, classes=[0, 1])
    kept = np.vstack([few.stream_.buffer_pos, few.stream_.buffer_neg])
    positive, weight = np.arange(60) < 30, np.repeat([60 / 30, 180 / 30], 30)
    cut = threshold_accuracy(kept @ few.coef_[0], positive, weight)
    assert few.intercept_[0] == -cut != -threshold_accuracy(kept @ few.coef_[0], positive)


def test_pieces_of_a_stream_come_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = OAM(n_buffer=7, random_state=0).fit(FX, FY)
    monkeypatch.setattr(oam, "ROWS", 11)
    pieces = OAM(n_buffer=7, random_state=0).fit(FX, FY)
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-12)


@each("kind", [np.asarray, sp.csr_matrix])
@each("given", [{}, {"C": 1.0}, {"average": True}, {"radius": 0.1}], ids=str)
def test_the_certificate_is_of_the_objective_that_the_page_states(given, kind) -> None:
    rows, y = np.round(X[:60], 1), Y[:60]
    model = OAM(random_state=0, **given).fit(kind(rows), y)
    w, held, lam = model.coef_[0], model.certificate_, 1 / (model.C * 20 * 40)
    margins = (rows[y] @ w)[:, None] - (rows[~y] @ w)
    naive = (w @ w / 2 + model.C * np.maximum(0.0, 1 - margins).sum()) / (model.C * 20 * 40)
    assert held.primal == pytest.approx(naive, rel=1e-12)
    best = solve(rows, y, lam, tol=1e-9)
    assert held.dual <= best.certificate.primal and held.primal >= best.certificate.dual
    assert np.linalg.norm(w - best.w) <= held.radius + best.certificate.radius
    assert f"{lam!r} |w|^2 / 2" in held.statement
