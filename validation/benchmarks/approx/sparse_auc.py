"""What a proved best subset costs, and how far SHT-AUC is from it, with and without swaps.

The goal of the search: within 3 times 1e5 dense solves of k equations, measured beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....approx.hard_thresholding.sht_auc import StochasticHardThresholding, sparse_problem
from ....exact.solvers.best_subset.best_subset import best_subset

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
    start = time.process_time()
    np.linalg.solve(matrices, right)
    together = time.process_time() - start
    start = time.process_time()
    for at in range(SOLVES // 10):
        np.linalg.solve(matrices[at], right[at])
    return together, 10 * (time.process_time() - start)


def search_table(max_time: float, seeds: int) -> None:
    """Print what the proof costs."""
    print("branch and bound; CPU seconds, and 1e5 k x k solves in one call and one by one; goal 3x")
    print(
        f"{'n':>5} {'d':>4} {'k':>3} {'seed':>4} {'nodes':>8} {'proved':>6} {'F':>9} {'gap':>8} "
        f"{'search s':>8} {'solves s':>8} {'ratio':>6} {'one by one':>10}"
    )
    best_subset(*Case(60, 8, 2, 0.5, 0.0).draw(0), 2, method="branch-and-bound")  # compiles
    for case in CASES:
        together, each = solves_seconds(case.k)
        for seed in range(seeds):
            X, y = case.draw(seed)
            start = time.process_time()
            found = best_subset(X, y, case.k, max_time=max_time)
            spent = time.process_time() - start
            print(
                f"{case.n:5} {case.d:4} {case.k:3} {seed:4} {found.n_nodes:8} "
                f"{found.proved!s:>6} {found.upper:9.6f} {found.gap:8.1e} {spent:8.3f} "
                f"{together:8.3f} {spent / together:6.2f} {spent / each:10.2f}"
            )


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


def gap_table(count: int, max_time: float) -> None:
    """Print the proved gaps of SHT-AUC as it is, refitted, and with swaps."""
    ways, gaps, proved = ("none", "refit", "swaps"), [], 0
    for seed in range(count):
        case = random_case(seed)
        X, y = case.draw(seed)
        best, loss = best_subset(X, y, case.k, max_time=max_time), sparse_problem(X, y)
        proved += best.proved
        answers = (StochasticHardThresholding(case.k, refine=how).solve(loss).w for how in ways)
        gaps.append([best.gap_of(w) for w in answers])
    table = np.array(gaps)
    print(f"\n{count} random problems with d <= 40, {proved} optima proved; F(0) = 1")
    print(f"{'refine':>7} {'optimal':>8} {'mean gap':>9} {'median':>9} {'largest':>9}")
    for how, column in zip(ways, table.T, strict=True):
        print(
            f"{how:>7} {int((column <= 1e-9).sum()):8} {column.mean():9.1e} "
            f"{np.median(column):9.1e} {column.max():9.1e}"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Certified sparse AUC")
    parser.add_argument("--max-time", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--problems", type=int, default=100)
    options = parser.parse_args(arguments)
    search_table(options.max_time, options.seeds)
    gap_table(options.problems, options.max_time)


if __name__ == "__main__":
    raise SystemExit(main())
