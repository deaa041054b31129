"""Kinds of the fuzzer: small problems on the routes of large ones.

Thresholds are lowered, so that a handful of rows is read in blocks, by three threads, on narrow
grids, and so that few kernel values are never held. What is claimed is judged as ever.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from aucert.exact import AllPairs, StreamedRows, solve
from aucert.exact.sums.binned import Histogram
from fuzz_core import smooth, tail
from fuzz_kernels import kernel, structured
from fuzz_kinds import estimator, in_blocks, linear, weights
from fuzz_rows import hard_lam, hard_rows, hard_weight
from fuzz_truth import TIGHT, Claim, LinearTruth, faults
from fuzzing import Found, Kind

EXACT = "aucert.exact."
THREADS = 3


def lowered(rng: np.random.Generator) -> dict[str, Any]:
    """Return thresholds by name: each way is taken in some problems, alone or with others."""
    found: dict[str, Any] = {}
    if rng.integers(2):
        found |= {"api.solve.HELD_ROWS": 1, "api.solve.HELD_NUMBERS": 1}
        found["api.solve.MOSTLY_DIFFERENT"] = float(rng.integers(2))
    if rng.integers(2):
        found["spaces.rows.LARGE"] = 1
        found |= {"problem.risk.LONG_ROWS": 0, "problem.risk.NEGLIGIBLE": 1.0}
    if rng.integers(2):
        found["spaces.blocks.FEW_COLUMNS"] = int(rng.integers(1, 8))
    if rng.integers(2):
        found["spaces.blocks.STRETCH_NUMBERS"] = int(rng.integers(1, 60))
        found["spaces.blocks.workers"] = lambda numbers: THREADS
    if rng.integers(2):
        found |= {"tools.compiling.IMPORT_PRICE": np.inf, "tools.compiling.COMPILE_PRICE": np.inf}
    if rng.integers(2):
        found |= {f"spaces.factor.{k}": v for k, v in
                  (("PLAIN_FROM", 2), ("PLAIN_RANK", 0.7), ("NEARLY_ALL", -1.0))}  # fmt: skip
    if rng.integers(2):
        found |= {
            "formulation.formulation.DENSE_LIMIT": 1,
            "spaces.gram.COLUMN_BLOCK": int(rng.integers(1, 5)),
            "spaces.gram.BLOCK_BYTES": 8 * int(rng.integers(1, 40)),
            "spaces.gram.SIDE": int(rng.integers(1, 5)),
        }
    if rng.integers(2):
        found["sums.convolved.FEW_PAIRS"] = 0
        found["sums.convolved.LARGEST_GRID"] = 1 << int(rng.integers(4, 16))
    return found


@contextmanager
def forced(rng: np.random.Generator) -> Iterator[None]:
    """Within, small problems take the routes of large ones."""
    block, grid = int(rng.integers(1, 40)), 1 << int(rng.integers(10, 23))

    def made(self: StreamedRows, source: Any, rows: int | None = None) -> None:
        init(self, source, rows or block)

    init = StreamedRows.__init__
    with ExitStack() as stack:
        for name, value in lowered(rng).items():
            module, _, attribute = name.rpartition(".")
            at = importlib.import_module(EXACT + module)
            stack.enter_context(mock.patch.object(at, attribute, value))
        stack.enter_context(mock.patch.object(StreamedRows, "__init__", made))
        stack.enter_context(mock.patch.object(Histogram.__init__, "__defaults__", (0, grid)))
        yield


def on_other_routes(kind: Kind) -> Kind:
    """Return the kind that makes the problems of another, by lowered thresholds."""

    def routed(rng: np.random.Generator, found: Found) -> None:
        with forced(rng):
            kind(rng, found)

    routed.__name__ = kind.__name__
    return routed


def squared_in_blocks(rng: np.random.Generator, found: Found) -> None:
    """The squared hinge over rows that are read a few at a time, with row weights or without."""
    hard = hard_rows(rng, 60, form="plain")
    lam, weight = hard_lam(rng, hard.true), hard_weight(rng, hard.y) if rng.integers(2) else None
    pairs, tol = AllPairs(weight), float(10.0 ** rng.integers(-9, 0))
    found.name = f"squared in blocks, {hard.name}, lam {lam:.2g}, weights {weight is not None}"
    rows = StreamedRows(hard.true, int(rng.integers(1, 40)))
    loss: Any = {"loss": "squared_hinge", "pairs": pairs}
    solution = solve(rows, hard.y, lam, tol=tol, **loss)
    truth = LinearTruth(hard.true, hard.positive, lam, "squared_hinge", pairs)
    tight = solve(hard.true, hard.y, lam, **loss, **TIGHT)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w))


PLAIN: list[Callable[..., object]] = [
    *(linear, squared_in_blocks, smooth, kernel, in_blocks, estimator),
    *(linear, squared_in_blocks, tail, kernel, weights, structured),
]

ROUTES: list[Kind] = [on_other_routes(kind) for kind in PLAIN]
"""Twelve in turn."""
