"""Each method beside its counterpart elsewhere, on one objective and by one measure.

The measure is F(w) / F* - 1 over all pairs, F* the certified optimum: nobody's own word is taken.
The counterparts are scikit-learn's LinearSVC and SGDClassifier on pair differences, dlib's
svm_rank_trainer (where it is installed), and roclab's recipe: as many drawn pairs as rows, Adamax
with one scale for all coordinates, until no coordinate moves by 1e-4.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from ....approx.drawn_pairs.descent import Adamax
from ....approx.drawn_pairs.draw_pairs import draw_pairs
from ....approx.newton.truncated_newton import TruncatedNewton
from ....approx.nystrom.nystrom import Nystrom
from ....approx.random_pairs.nsauc import PairSGD
from ....exact.api.solve import choose_solver
from ....exact.losses.registry import HINGE, SQUARED_HINGE
from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.pairs.auc import auc
from ....exact.problem.problem import Problem, Ridge, pair_problem
from ....exact.problem.scalings import C_from_lam
from ....exact.spaces.gram_factor import factor_gram
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...data.datasets import load
from ...extremes import max
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed
from ..problems.samples import standardised

MOST_PAIRS = 400_000
"""Pairs up to which all differences are listed for LinearSVC."""

Fit = Callable[[Problem], np.ndarray]


class NotRun(Exception):
    """Why a row has no numbers."""


def differences(problem: Problem, pairs: PairList | None) -> tuple[np.ndarray, np.ndarray]:
    """Return x_i - x_j of all or of the given pairs, every other one turned round, and labels."""
    space = problem.space
    assert isinstance(space, Rows)
    X = space.dense()
    if pairs is None:
        if problem.n_pairs > MOST_PAIRS:
            raise NotRun(f"{problem.n_pairs} differences: too many to list")
        plus, minus = (
            np.flatnonzero(problem.pairs.positive),
            np.flatnonzero(~problem.pairs.positive),
        )
        i, j = np.repeat(plus, minus.size), np.tile(minus, plus.size)
    else:
        i, j = pairs.i, pairs.j
    sign = np.where(np.arange(i.size) % 2 == 0, 1.0, -1.0)
    return (X[i] - X[j]) * sign[:, None], sign


def linear_svc(problem: Problem, pairs: PairList | None = None, tol: float = 1e-6) -> np.ndarray:
    """Return the weights of scikit-learn's LinearSVC on the differences: the same objective."""
    D, sign = differences(problem, pairs)
    C = C_from_lam(problem.lam, len(sign), "scikit-learn")
    loss = problem.loss.name
    model = LinearSVC(C=C, loss=loss, fit_intercept=False, dual=loss == "hinge", tol=tol,
                      max_iter=20_000, random_state=0)  # fmt: skip
    return np.ravel(model.fit(D, sign).coef_)


def sgd(problem: Problem, epochs: int) -> np.ndarray:
    """Return the averaged weights of scikit-learn's SGDClassifier on as many drawn pairs."""
    pairs = draw_pairs(problem.pairs.positive, epochs * problem.n, 0)
    D, sign = differences(problem, pairs)
    model = SGDClassifier(loss="hinge", alpha=problem.lam, fit_intercept=False, average=True,
                          max_iter=1, tol=None, random_state=0)  # fmt: skip
    return np.ravel(model.fit(D, sign).coef_)


def dlib_rank(problem: Problem, epsilon: float) -> np.ndarray:
    """Return the weights of dlib's svm_rank_trainer."""
    try:
        dlib = import_module("dlib")
    except ImportError:
        raise NotRun("not installed: pip install dlib-bin") from None
    assert isinstance(problem.space, Rows)
    X, pair = problem.space.dense(), dlib.ranking_pair()
    for row, positive in zip(X.tolist(), problem.pairs.positive, strict=True):
        (pair.relevant if positive else pair.nonrelevant).append(dlib.vector(row))
    trainer = dlib.svm_rank_trainer()
    trainer.c, trainer.epsilon = C_from_lam(problem.lam, problem.n_pairs, "dlib"), epsilon
    return np.array(trainer.train(pair).weights)


def on_drawn(problem: Problem, solver: Adamax) -> np.ndarray:
    """Return the weights of a descent on as many drawn pairs as there are rows."""
    pairs = draw_pairs(problem.pairs.positive, problem.n, 0)
    return solver.solve(problem.with_pairs(pairs)).w


def exact(problem: Problem) -> np.ndarray:
    """Return the certified optimum."""
    return choose_solver(problem, "auto", 1e-9, 60.0).solve(problem).w


def rivals(loss: str, landmarks: bool) -> Iterator[tuple[str, Fit]]:
    """Yield the names and fits of a linear objective, each of ours before its counterparts."""
    if loss == "hinge":
        yield "ROCSVM (exact)", exact
        yield "  scikit-learn LinearSVC, all differences", linear_svc
        yield "  dlib svm_rank_trainer, 1e-3 (default)", lambda p: dlib_rank(p, 1e-3)
        yield "  dlib svm_rank_trainer, 1e-6", lambda p: dlib_rank(p, 1e-6)
    else:
        yield (
            f"{'NBAUC' if landmarks else 'RankSVM'} (truncated Newton)",
            lambda p: TruncatedNewton().solve(p).w,
        )
        yield "  scikit-learn LinearSVC, all differences", linear_svc
    yield (
        "IncompleteROCSVM, n pairs, Adamax",
        lambda p: on_drawn(p, Adamax(step=0.05, max_iter=5000)),
    )
    roclab = Adamax(step=0.002, variant="scalar-norm", tol=0.0, keep="last", max_iter=50_000)
    yield "  roclab's recipe, n pairs", lambda p: on_drawn(p, roclab)
    yield (
        "  scikit-learn LinearSVC, the same pairs",
        lambda p: linear_svc(p, draw_pairs(p.pairs.positive, p.n, 0)),
    )
    if loss == "hinge":
        yield "NSAUC, 20 epochs", lambda p: PairSGD(20).solve(p).w
        yield "  scikit-learn SGDClassifier, 20 n pairs", lambda p: sgd(p, 20)


def problems(rows: int, lam: float) -> Iterator[tuple[str, Problem]]:
    """Yield the objectives: both losses on wdbc, drawn rows, Nyström features and a kernel."""
    X, positive = standardised(load("wdbc"))
    drawn = load(f"linear:{rows}")
    radial = load(f"radial:{rows // 10}")
    features = Nystrom(gamma=0.5, n_landmarks=40, landmarks="kmeans", random_state=0)
    few = np.random.default_rng(0).permutation(len(X))[:250]
    sets = (
        ("wdbc", X, positive),
        (f"linear, n = {rows}", drawn.X, drawn.is_positive),
        ("radial, 40 landmarks", features.fit_transform(radial.X), radial.is_positive),
        ("wdbc 250, Gaussian", factor_gram(Gaussian(1 / 30)(X[few], X[few])).features,
         positive[few]),
    )  # fmt: skip
    for name, matrix, y in sets:
        for loss in (HINGE, SQUARED_HINGE):
            yield name, pair_problem(Rows(matrix), y, AllPairs(), loss, Ridge(lam))


def judged(problem: Problem, fit: Fit, lower: float) -> tuple[object, ...]:
    """Return CPU seconds, F / F* - 1 and AUC of a fit, or why it was not run.

    Parameters
    ----------
    problem : Problem
    fit : function
    lower : float
        The certified bound F*.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gap says more than their warnings
            w, seconds = timed(lambda: fit(problem))
    except NotRun as reason:
        return None, None, None, str(reason)
    excess = max(problem.objective(w) / lower - 1, 0.0)  # never below rounding
    return seconds, excess, auc(problem.space.scores(w), problem.pairs.positive), ""


@benchmark(rows="of the drawn data")
def main(rows: int = 10_000, lam: float = 1e-2) -> Lines:
    """Yield a table for each objective."""
    yield f"lam = {lam:g}; CPU seconds; F / F* - 1 over all pairs, F* the certified bound"
    for name, problem in problems(rows, lam):
        loss = problem.loss.name
        best = choose_solver(problem, "auto", 1e-12, 60.0).solve(problem).certificate
        yield Table(f"{name}: {loss}", "fit:<44", "s:8.3f", "F/F* - 1:9.1e", "AUC:8.5f", "note:")
        for who, fit in rivals(loss, "landmarks" in name):
            yield f"  {who}", *judged(problem, fit, best.dual)


if __name__ == "__main__":
    raise SystemExit(main())
