"""What a proved best subset costs, and how far SHT-AUC is from it, with and without swaps.

The goal of the search: within 3 times 1e5 dense solves of k equations, measured beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ....approx.hard_thresholding.sht_auc import StochasticHardThresholding, sparse_problem
from ....exact.solvers.best_subset.best_subset import best_subset
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed

SOLVES = 100_000


@dataclass(frozen=True)
class Case:
    """A drawn problem: k of d features have another mean, `common` is what all share."""

    n: int
    d: int
    k: int
    share: float
    common: float
    shift: float = 0.3

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows, every feature with standard deviation one, and the labels."""
        rng = np.random.default_rng(seed)
        y = (np.arange(self.n) < self.share * self.n).astype(int)
        own, one = rng.normal(size=(self.n, self.d)), rng.normal(size=(self.n, 1))
        X = np.sqrt(1 - self.common) * own + np.sqrt(self.common) * one
        X[np.ix_(y == 1, rng.choice(self.d, self.k, replace=False))] += self.shift
        return X / X.std(axis=0), y


CASES = (
    Case(1000, 50, 8, 0.1, 0.0),
    Case(1000, 40, 10, 0.05, 0.3),
    Case(1000, 100, 5, 0.1, 0.0),
    Case(1000, 100, 5, 0.5, 0.3),
)


def solves_seconds(k: int) -> tuple[float, float]:
    """Return the CPU seconds of 1e5 dense k x k solves: in one call, and one call each."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(SOLVES, k, k + 2))
    matrices, right = half @ half.transpose(0, 2, 1), rng.normal(size=(SOLVES, k, 1))
    together = timed(lambda: np.linalg.solve(matrices, right))[1]
    part = range(SOLVES // 10)
    return together, 10 * timed(lambda: [np.linalg.solve(matrices[i], right[i]) for i in part])[1]


def search_table(max_time: float, seeds: int) -> Lines:
    """Yield what the proof costs."""
    yield Table(
        "branch and bound; CPU seconds, and 1e5 k x k solves in one call and one by one; goal 3x",
        *("n:5d", "d:4d", "k:3d", "seed:4d", "nodes:8d", "proved:>6", "F:9.6f", "gap:8.1e"),
        *("search s:8.3f", "solves s:8.3f", "ratio:6.2f", "one by one:10.2f"),
    )
    best_subset(*Case(60, 8, 2, 0.5, 0.0).draw(0), 2, method="branch-and-bound")  # compiles
    for case in CASES:
        together, each = solves_seconds(case.k)
        for seed in range(seeds):
            X, y = case.draw(seed)
            found, spent = timed(partial(best_subset, X, y, case.k, max_time=max_time))
            proof = found.n_nodes, str(found.proved), found.upper, found.gap
            costs = spent, together, spent / together, spent / each
            yield case.n, case.d, case.k, seed, *proof, *costs


def random_case(seed: int) -> Case:
    """Return a problem with 10 to 40 features, 2 to 8 of them to find."""
    rng = np.random.default_rng(seed)
    return Case(
        int(rng.integers(200, 1001)),
        int(rng.integers(10, 41)),
        int(rng.integers(2, 9)),
        float(rng.choice([0.1, 0.3, 0.5])),
        float(rng.choice([0.0, 0.3, 0.6])),
        float(rng.uniform(0.2, 0.5)),
    )


def gap_table(count: int, max_time: float) -> Lines:
    """Yield the proved gaps of SHT-AUC as it is, refitted, and with swaps."""
    ways, gaps, proved = ("none", "refit", "swaps"), [], 0
    for seed in range(count):
        case = random_case(seed)
        X, y = case.draw(seed)
        best, loss = best_subset(X, y, case.k, max_time=max_time), sparse_problem(X, y)
        proved += best.proved
        answers = (StochasticHardThresholding(case.k, refine=how).solve(loss).w for how in ways)
        gaps.append([best.gap_of(w) for w in answers])
    yield Table(
        f"\n{count} random problems with d <= 40, {proved} optima proved; F(0) = 1",
        *("refine:>7", "optimal:8d", "mean gap:9.1e", "median:9.1e", "largest:9.1e"),
    )
    for how, column in zip(ways, np.array(gaps).T, strict=True):
        yield how, int((column <= 1e-9).sum()), column.mean(), np.median(column), column.max()


@benchmark()
def main(max_time: float = 60.0, seeds: int = 3, problems: int = 100) -> Lines:
    """Yield the tables."""
    yield from search_table(max_time, seeds)
    yield from gap_table(problems, max_time)


if __name__ == "__main__":
    raise SystemExit(main())
