"""Peers that minimise the same objective, each with its settings from loose to tight.

A peer is made for a problem, which is where conversions of the data happen: they are not timed. It
then yields runs; a run is a function that returns the weights, timed from the data to there. So a
peer is given, for each tolerance, the setting that suits it best: nobody knows that one beforehand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scipy.optimize
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from ....approx.drawn_pairs.draw_pairs import draw_pairs
from ....exact.problem.problem import Problem
from ....exact.problem.scalings import C_from_lam, lam_from_C

MOST_NUMBERS = 60_000_000
"""Numbers up to which differences of pairs are listed: half a gigabyte."""

SURVIVAL_ROWS = 3000
"""Rows up to which FastSurvivalSVM is run: with equal times it goes through all pairs."""


class NotRun(Exception):
    """Why a row has no numbers."""


@dataclass(frozen=True, eq=False)
class Task:
    """An objective: rows as they are given, labels, and the problem that judges weights."""

    X: Any
    y: np.ndarray
    problem: Problem

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self.problem.loss.name


Run = Callable[[], Any]
"""Returns weights (d,), or a list of (CPU seconds, weights) of all points on the way."""


@dataclass(frozen=True)
class Rival:
    """A peer.

    Attributes
    ----------
    name : str
    losses : tuple of str
        That it minimises.
    runs : callable
        Takes a `Task` and yields runs; raises `NotRun` with the reason.
    """

    name: str
    losses: tuple[str, ...]
    runs: Callable[[Task], Iterator[Run]]


def module(name: str, package: str) -> Any:
    """Return an installed module, or raise `NotRun`."""
    try:
        return import_module(name)
    except ImportError:
        raise NotRun(f"not installed here: pip install {package}") from None


def dlib_runs(task: Task) -> Iterator[Run]:
    """Yield dlib's svm_rank_trainer at tighter epsilon, the data made its vectors before."""
    dlib = module("dlib", "dlib-bin")
    held = dlib.ranking_pair() if isinstance(task.X, np.ndarray) else dlib.sparse_ranking_pair()
    made = _dense_vectors if isinstance(task.X, np.ndarray) else _sparse_vectors
    for vector, positive in zip(made(dlib, task.X), task.y.tolist(), strict=True):
        (held.relevant if positive else held.nonrelevant).append(vector)
    dense = isinstance(task.X, np.ndarray)

    def run(epsilon: float) -> np.ndarray:
        trainer = dlib.svm_rank_trainer() if dense else dlib.svm_rank_trainer_sparse()
        C = C_from_lam(task.problem.lam, task.problem.n_pairs, "dlib")
        trainer.c, trainer.epsilon = C, epsilon
        found = trainer.train(held).weights
        if dense:
            return np.array(found)
        w = np.zeros(task.X.shape[1])
        for pair in found:
            w[pair.first] += pair.second
        return w

    for digits in range(2, 12):
        yield partial(run, 10.0**-digits)


def _dense_vectors(dlib: Any, X: np.ndarray) -> Iterator[Any]:
    for row in X:
        yield dlib.vector(row.tolist())


def _sparse_vectors(dlib: Any, X: Any) -> Iterator[Any]:
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        vector = dlib.sparse_vector()
        some = slice(start, end)
        for at, value in zip(X.indices[some].tolist(), X.data[some].tolist(), strict=True):
            vector.append(dlib.pair(at, value))
        yield vector


def differences(task: Task, m: int) -> tuple[Any, np.ndarray]:
    """Return x_i - x_j of m drawn pairs, every other one turned round, and their signs."""
    pairs = draw_pairs(task.y, m, 0)
    sign = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    D = task.X[pairs.i] - task.X[pairs.j]
    return (
        D * sign[:, None] if isinstance(D, np.ndarray) else D.multiply(sign[:, None]).tocsr()
    ), sign


def _check_size(task: Task, m: int) -> None:
    numbers = m * (
        task.X.shape[1] if isinstance(task.X, np.ndarray) else 2 * task.X.nnz // len(task.y)
    )
    if numbers > MOST_NUMBERS:
        raise NotRun(f"{numbers:.1e} numbers in the differences of {m} pairs: too many")


def linear_svc_runs(task: Task) -> Iterator[Run]:
    """Yield scikit-learn's LinearSVC on differences of more and more drawn pairs."""

    def run(m: int) -> np.ndarray:
        D, sign = differences(task, m)
        C = C_from_lam(task.problem.lam, m, "scikit-learn")
        dual = task.loss == "hinge" or D.shape[0] < D.shape[1]
        model = LinearSVC(C=C, loss=task.loss, fit_intercept=False, dual=dual, tol=1e-4,
                          max_iter=1000, random_state=0)  # fmt: skip
        return np.ravel(model.fit(D, sign).coef_)

    for factor in (1, 10):
        _check_size(task, factor * len(task.y))
        yield partial(run, factor * len(task.y))


def sgd_runs(task: Task) -> Iterator[Run]:
    """Yield scikit-learn's averaged SGDClassifier on differences of more and more drawn pairs."""

    def run(m: int) -> np.ndarray:
        D, sign = differences(task, m)
        model = SGDClassifier(loss=task.loss, alpha=task.problem.lam, fit_intercept=False,
                              average=True, max_iter=1, tol=None, random_state=0)  # fmt: skip
        return np.ravel(model.fit(D, sign).coef_)

    for factor in (1, 5, 20):
        _check_size(task, factor * len(task.y))
        yield partial(run, factor * len(task.y))


def lbfgs_runs(task: Task) -> Iterator[Run]:
    """Yield scipy's L-BFGS on the sums over all pairs, every iterate with its time."""
    problem = task.problem
    lam, space = problem.lam, problem.space

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        sums = problem.sums(space.scores(w))
        return sums.value + lam / 2 * float(w @ w), lam * w - space.pull(sums.c)

    def run() -> list[tuple[float, np.ndarray]]:
        points: list[tuple[float, np.ndarray]] = []
        start = time.process_time()
        scipy.optimize.minimize(
            value_and_gradient,
            np.zeros(space.dim),
            jac=True,
            method="L-BFGS-B",
            callback=lambda w: points.append((time.process_time() - start, np.copy(w))),
            options={"maxiter": 500, "ftol": 0.0, "gtol": 1e-12},
        )
        return points

    yield run


def survival_runs(task: Task) -> Iterator[Run]:
    """Yield FastSurvivalSVM with the labels as times: the only way in for pairs of two classes."""
    svm = module("sksurv.svm", "scikit-survival")
    if len(task.y) > SURVIVAL_ROWS or not isinstance(task.X, np.ndarray):
        raise NotRun(f"not run beyond {SURVIVAL_ROWS} dense rows: minutes")
    # It minimises over all orders of equal times, one of them drawn: another objective.
    times = np.array(
        [(True, 2.0 if one else 1.0) for one in task.y], dtype=[("e", "?"), ("t", "f8")]
    )
    alpha = C_from_lam(task.problem.lam, task.problem.n_pairs, "scikit-survival")
    assert np.isclose(lam_from_C(alpha, task.problem.n_pairs, "scikit-survival"), task.problem.lam)

    def run() -> np.ndarray:
        model = svm.FastSurvivalSVM(
            alpha=alpha, rank_ratio=1.0, random_state=0, tol=1e-9, max_iter=100
        )
        return np.ravel(model.fit(task.X, times).coef_)

    yield run


def ranksvm_runs(task: Task) -> Iterator[Run]:
    """Say why liblinear-ranksvm has no numbers."""
    raise NotRun("not installed here: its authors' archive is on no package index")
    yield  # makes this a generator, as the others are


RIVALS = (
    Rival("dlib svm_rank_trainer", ("hinge",), dlib_runs),
    Rival("liblinear-ranksvm", ("squared_hinge",), ranksvm_runs),
    Rival("L-BFGS on the sums (scipy)", ("squared_hinge",), lbfgs_runs),
    Rival("LinearSVC on drawn pairs", ("hinge", "squared_hinge"), linear_svc_runs),
    Rival("SGDClassifier on drawn pairs", ("hinge",), sgd_runs),
    Rival("FastSurvivalSVM", ("squared_hinge",), survival_runs),
)
