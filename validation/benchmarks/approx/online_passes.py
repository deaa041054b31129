"""Seconds a pass of SPAM, SOLAM, FSAUC, StoIHT and HSG-HT, beside scikit-learn's SGDClassifier.

Data of rcv1's shape by default: 20,000 sparse rows of length one, 50,000 features, 75 nonzeros a
row, often the same ones; then seconds a step as the features grow to 1e6, and the batches. The
goal is a pass within twice SGDClassifier's with the same kind of penalty, in the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from ..harness import Lines, Table, benchmark
from ..measuring.timing import best_cpu

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


def passes(X: sp.csr_matrix, positive: np.ndarray, repeats: int) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table of seconds a pass.

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
        spent = np.median(seconds[name])
        if name not in found:
            yield f"SGDClassifier {name}", spent, None, ""
            continue
        beside = found[name][0]
        ratio = np.median(np.divide(seconds[name], seconds[beside]))
        verdict = "within" if ratio <= GOAL else "above"
        yield name, spent, ratio, f"x SGD {beside}, {verdict} {GOAL:g}"


def growth(dims: Sequence[int], batches: Sequence[int], repeats: int) -> Lines:
    """Yield the time of a step against the features, and of hard thresholding the batch."""
    yield "microseconds a step: sparse rows of 75 nonzeros, n = 2000"
    for d in dims:
        X, positive = sparse_rows(2000, d, 75)
        loss, rng = from_rows(X, positive), np.random.default_rng(0)
        order = rng.integers(2000, size=2000)
        found = {}
        for name, (_, step) in walks(loss).items():
            if "mean" in name or name.endswith("R=1000"):
                continue
            once = partial(step, order)
            once()
            found[name] = best_cpu(once, repeats) / 2e-3
        for b in batches:
            data = LogisticData(X, positive, 50, "log-odds", None)
            groups = [rng.choice(2000, b, replace=False) for _ in range(max(2000 // b, 20))]
            once = partial(data.take, groups, np.full(len(groups), 1 / b), 1.0)
            once()
            found[f"H_50 b={b}"] = best_cpu(once, repeats) / len(groups) * 1e6
        yield {"features": d, **found}
        yield f"d={d:>8}: " + ", ".join(f"{name} {value:.1f}" for name, value in found.items())


@benchmark()
def main(
    rows: int = 20_000,
    features: int = 50_000,
    nonzeros: int = 75,
    repeats: int = 5,
    dims: tuple[int, ...] = (10**4, 10**5, 10**6),
    batches: tuple[int, ...] = (1, 10, 100),
) -> Lines:
    """Yield both tables."""
    yield Table(
        "CPU seconds a pass of n steps, and its ratio to SGDClassifier in this run",
        *("method:>30", "s:9.4f", "ratio:7.2f", "beside:"),
    )
    yield from passes(*sparse_rows(rows, features, nonzeros), repeats)
    if dims:
        yield from growth(dims, batches, repeats)


if __name__ == "__main__":
    raise SystemExit(main())
