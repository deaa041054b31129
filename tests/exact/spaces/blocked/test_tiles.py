"""A kernel matrix in tiles: its products, its memory, and a certificate that does not trust it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.errors import TooLargeError
from aucert.exact.formulation import formulation as formulation_module
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.spaces import factor, gram
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.tools.threads import at_most
from loops import each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 8))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * RNG.normal(size=90) > 0.3


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave kernels of few rows as they are, in blocks and tiles of few rows."""
    monkeypatch.setattr(formulation_module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(factor, "PLAIN_FROM", 2)
    monkeypatch.setattr(factor, "PLAIN_RANK", 3.0)
    monkeypatch.setattr(gram, "SIDE", 16)
    monkeypatch.setattr(gram, "BLOCK_BYTES", 8 * 90 * 13)


@each("n", [1, 16, 17, 90])
@each("tol", [1e-9, 1e-3])
def test_products_are_those_of_the_matrix(n: int, tol: float, streamed: None) -> None:
    held = Gram.of_kernel(Gaussian(0.1), X[:n], held=False).tiles(tol)
    c = np.random.default_rng(1).normal(size=n)
    exact = Gaussian(0.1)(X[:n], X[:n]) @ c
    assert held.whole
    assert held.product(c) == pytest.approx(exact, abs=1e-13 if tol < 1e-6 else 1e-5)


@each("used", [90, 20])
def test_the_number_of_threads_changes_no_bit(used: int, streamed: None) -> None:
    w = np.where(np.arange(90) < used, np.random.default_rng(2).normal(size=90), 0.0)

    def products(threads: int) -> list[np.ndarray]:
        with at_most(threads):
            space = Gram.of_kernel(Gaussian(0.1), X, held=False)
            scores, error = space.careful_scores(w)
            return [space.tiles(1e-9).product(w), scores, error, space.plain().scores(w)]

    for other in (2, 5):
        for alone, together in zip(products(1), products(other), strict=True):
            assert np.array_equal(alone, together)


def test_a_stopped_build_is_not_taken_for_the_matrix(streamed: None) -> None:
    held = Gram.of_kernel(Gaussian(0.1), X, held=False).tiles(1e-9, lambda: True)
    assert not held.whole and not held.product(np.ones(90)).any()


def test_short_memory_is_refused_in_one_sentence(monkeypatch, streamed: None) -> None:
    monkeypatch.setattr(gram, "free_memory", lambda: 4 * 0.5 * 90 * 106 / gram.SPARE + 8.0)
    assert gram.format_for(90, 1e-9) is np.float32  # double precision does not fit
    monkeypatch.setattr(gram, "free_memory", lambda: 10_000.0)
    with pytest.raises(TooLargeError, match=r"kernel matrix of 90 rows .* take landmarks"):
        solve(X, Y, 1e-2, kernel="rbf", gamma=0.1)
    assert gram.free_memory() > 0


@pytest.mark.slow
@each("method", ["auto", "cutting-plane"])
@each("lam", [1e-1, 1e-3])
def test_without_features_the_optimum_is_the_same(method: str, lam: float, streamed: None) -> None:
    plain = solve(X, Y, lam, kernel="rbf", gamma=0.1, tol=1e-8, method=method)
    factored = solve(X, Y, lam, kernel="rbf", gamma=0.1, method="descent")
    assert plain.certificate.reaches(1e-8) and factored.certificate.reaches(1e-9)
    slack = plain.certificate.gap + factored.certificate.gap + 2 * plain.certificate.rounding
    assert abs(plain.certificate.primal - factored.certificate.primal) <= slack + 1e-15


def test_the_certificate_catches_a_wrong_product(monkeypatch, streamed: None) -> None:
    """The solver believes in its product; what it reports is about the kernel all the same."""
    right = gram.Tiles.product
    monkeypatch.setattr(gram.Tiles, "product", lambda self, c: 1.3 * right(self, c))
    found = solve(X, Y, 1e-2, kernel="rbf", gamma=0.1, tol=1e-8, max_time=20)
    assert not found.certificate.reaches(1e-8)
    true = solve(X, Y, 1e-2, kernel="rbf", gamma=0.1, method="descent").certificate
    held = found.certificate
    assert held.dual <= true.primal and held.primal >= true.dual


def test_cutting_planes_stop_where_the_matrix_is_not_ready(streamed: None) -> None:
    found = solve(X, Y, 1e-2, kernel="rbf", gamma=0.1, method="cutting-plane", max_time=1e-6)
    assert found.certificate.gap >= 0 and found.certificate.primal <= 1.0 + 1e-12


@pytest.mark.long_digits
def test_both_products_take_one_pass_and_plain_sums_state_their_rounding(streamed: None) -> None:
    rng = np.random.default_rng(4)
    space, whole = Gram.of_kernel(Gaussian(0.1), X, held=False), Gram.of_kernel(Gaussian(0.1), X)
    calls, kernel = [], Gaussian(0.1)

    class Counted(Gaussian):
        def __call__(self, X: Any, Z: Any) -> np.ndarray:
            calls.append(X.shape[0] * Z.shape[0])
            return kernel(X, Z)

    space.kernel = Counted(0.1)
    plain = space.plain()
    w, v = rng.normal(size=(2, 90))
    plain.together(w, v)
    assert sum(calls) < 0.65 * 90 * 90  # each value of one half is made once
    for vector in (w, v):
        exact, error = whole.careful_scores(vector)
        scores, bound = plain.careful_scores(vector)
        assert np.all(np.abs(scores - exact) <= bound + error)
        assert plain.norm2_error(vector) > space.norm2_error(vector) > 0
        assert plain.norm2(vector) == pytest.approx(whole.norm2(vector), rel=1e-12)
    assert np.abs(plain.scores(w) * (1 + 1e-9) - whole.scores(w)).max() > bound.max()


def test_a_kernel_of_low_rank_takes_few_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factor, "PLAIN_FROM", 2)
    flat, full = Gram(X[:, :3] @ X[:, :3].T), Gram.of_kernel(Gaussian(1.0), X)
    assert not factor.takes_many_features(flat) and factor.takes_many_features(full)
    streamed_flat = Gram.of_kernel(Gaussian(1e-9), X, held=False)
    assert not factor.takes_many_features(streamed_flat)
    assert CuttingPlane(tol=1e-4).name == "cutting-plane"
