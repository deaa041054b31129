"""Seconds a pass of SPAM, SOLAM, FSAUC, StoIHT and HSG-HT, beside scikit-learn's SGDClassifier.

Data of rcv1's shape by default: 20,000 sparse rows of length one, 50,000 features, 75 nonzeros a
row, often the same ones; then seconds a step as the features grow to 1e6, and the batches. The
goal is a pass within twice SGDClassifier's with the same kind of penalty, in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from ....approx.hard_thresholding.logistic_thresholding import LogisticData
from ....approx.online.row_stream import from_rows
from ....approx.square_loss.fsauc import MultiStageSaddle, StageWalk
from ....approx.square_loss.solam import SaddleWalk, StochasticSaddle
from ....approx.square_loss.spam import ProximalWalk, StochasticProximal
from ....exact.square_loss.row_average import RowAverage
from ..timing import best_cpu

GOAL = 2.0
PENALTIES = ((0.0, 1e-4), (1e-5, 0.0), (1e-4, 1e-4), (1e-3, 0.0))


def sparse_rows(n: int, d: int, nonzeros: int, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return rows of length one, and the mask of the positive ones, a third of all.

    The features of a row are log-uniform, as the words of a text are, about; the positive rows
    have larger values in the first hundred.
    """
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 1 / 3
    raw = np.sort(np.minimum(d ** rng.random((n, nonzeros)), d - 1).astype(np.int64), axis=1)
    columns = np.maximum.accumulate(raw + np.arange(nonzeros), axis=1) % d
    values = rng.random((n, nonzeros)) + (positive[:, None] & (columns < 100))
    at = np.arange(n + 1) * nonzeros
    matrix = sp.csr_matrix((values.ravel(), columns.ravel(), at), shape=(n, d))
    matrix.sum_duplicates()
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix.data /= np.repeat(norms, np.diff(matrix.indptr))
    return matrix, positive


def walks(loss: RowAverage) -> dict[str, tuple[str, Callable[[np.ndarray], object]]]:
    """Return by name the penalty of SGDClassifier to compare with, and a function of the rows."""
    found: dict[str, tuple[str, Callable[[np.ndarray], object]]] = {}
    zero, n = np.zeros(loss.dim), loss.mass.size
    for l1, l2 in PENALTIES:
        for average in (False, True):
            walk = ProximalWalk(StochasticProximal(l1, l2, average=average), loss, zero.copy())
            kind = "l2" if l1 == 0 else "l1" if l2 == 0 else "elasticnet"
            name = f"SPAM l1={l1:g} l2={l2:g}{' mean' if average else ''}"
            found[name] = (f"{kind}{' mean' if average else ''}", walk.take)
    for radius in (1.0, 1e3):
        found[f"SOLAM R={radius:g}"] = (
            "l2 mean",
            SaddleWalk(StochasticSaddle(radius), loss, zero.copy()).take,
        )
        found[f"FSAUC R={radius:g}"] = (
            "l1 mean",  # both return a mean, of points in an l1 ball or shrunk by an l1 penalty
            StageWalk(MultiStageSaddle(radius), loss, zero.copy(), 20 * n).take,
        )
    return found


def passes(X: sp.csr_matrix, positive: np.ndarray, repeats: int) -> None:
    """Print the table of seconds a pass.

    The rounds go through all methods in turn, and a ratio is the median of those of the rounds: a
    machine whose speed changes meanwhile does so for all of them.
    """
    loss, rng = from_rows(X, positive), np.random.default_rng(0)
    order = rng.integers(positive.size, size=positive.size)
    found = walks(loss)
    work: dict[str, Callable[[], object]] = {}
    for kind in ("l2", "l1", "elasticnet"):
        for average in (False, True):
            model = SGDClassifier(penalty=kind, max_iter=5, tol=None, alpha=1e-5, average=average)
            work[f"{kind}{' mean' if average else ''}"] = partial(model.fit, X, positive)
    for name, (_, take) in found.items():
        take(order)  # compiles, and leaves the start behind
        work[name] = partial(take, order)
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, once in work.items():
            seconds[name].append(best_cpu(once, 1) / (1 if name in found else 5))
    for name in work:
        if name not in found:
            print(f"{'SGDClassifier ' + name:>30} {np.median(seconds[name]):9.4f}")
            continue
        beside = found[name][0]
        ratio = np.median(np.divide(seconds[name], seconds[beside]))
        verdict = "within" if ratio <= GOAL else "above"
        spent = np.median(seconds[name])
        print(f"{name:>30} {spent:9.4f} {ratio:7.2f} x SGD {beside}, {verdict} {GOAL:g}")


def growth(dims: Sequence[int], batches: Sequence[int], repeats: int) -> None:
    """Print the seconds a step against the features, and of hard thresholding the batch."""
    print("microseconds a step: sparse rows of 75 nonzeros, n = 2000")
    for d in dims:
        X, positive = sparse_rows(2000, d, 75)
        loss, rng = from_rows(X, positive), np.random.default_rng(0)
        order = rng.integers(2000, size=2000)
        shown = []
        for name, (_, step) in walks(loss).items():
            if "mean" in name or name.endswith("R=1000"):
                continue
            once = partial(step, order)
            once()
            shown.append(f"{name} {best_cpu(once, repeats) / 2e-3:.1f}")
        for b in batches:
            data = LogisticData(X, positive, 50, "log-odds", None)
            groups = [rng.choice(2000, b, replace=False) for _ in range(max(2000 // b, 20))]
            factors = np.full(len(groups), 1 / b)
            data.take(groups, factors, 1.0)
            seconds = best_cpu(partial(data.take, groups, factors, 1.0), repeats)
            shown.append(f"H_50 b={b} {seconds / len(groups) * 1e6:.1f}")
        print(f"d={d:>8}: " + ", ".join(shown))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Seconds a pass of the online methods")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--nonzeros", type=int, default=75)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dims", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 10, 100])
    options = parser.parse_args(arguments)
    print("CPU seconds a pass of n steps, and its ratio to SGDClassifier in this run")
    passes(*sparse_rows(options.rows, options.features, options.nonzeros), options.repeats)
    if options.dims:
        growth(options.dims, options.batches, options.repeats)


if __name__ == "__main__":
    raise SystemExit(main())
