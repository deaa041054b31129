"""What the benchmarks of rows in partitions measure: passes, evaluations, and what they take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ....exact.certificate.partitioned.evaluate import Partitioned
from ....exact.certificate.solution import Solution
from ....exact.formulation.partitioned import partitioned_problem
from ....exact.formulation.request import Request
from ....exact.spaces.partitions.partition import cut
from ....exact.spaces.partitions.partitioned_rows import PartitionedRows
from .process_tree import Tree

BINS = 1 << 10
"""Bins a unit of score, the grid that a gap of 1e-6 needs."""


def watched(work: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """Return what `work` returns, CPU seconds, seconds by the clock, and the peak in GB."""
    with Tree() as tree:
        start = time.perf_counter()
        found = work()
        clock = time.perf_counter() - start
    return found, tree.cpu, clock, tree.peak / 1e9


def evaluation(rows: PartitionedRows, lam: float = 1e-2) -> Callable[[], object]:
    """Return the function that evaluates once, at weights of length 0.8."""
    problem = partitioned_problem(rows, None, Request.of(lam))
    assert problem is not None
    w = np.full(rows.dim, 0.8 / np.sqrt(rows.dim))
    return lambda: Partitioned(problem, BINS).with_bins(w, BINS, 1)


def compile_evaluation(dim: int) -> None:
    """Evaluate once over a few rows, so that what is measured is compiled."""
    X = np.random.default_rng(0).standard_normal((100, dim), dtype=np.float32)
    evaluation(PartitionedRows(cut(X, X[:, 0] > 0, None, [50])))()


def said(solution: Solution) -> str:
    """Return how a solution ended, in few words."""
    held = solution.certificate
    proved = held.gap / held.primal
    return f"{solution.status}, proved {proved:.1e}, {solution.n_iter} evaluations"
