"""Claims about the printed costs of one product with H and of one random step [Section 4].

Operations are counted while the library's own code runs: its arrays are given to it as arrays
that count what is done with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ....approx import nsauc
from ....approx.newton.newton_equation import direction
from ....approx.newton.points import NewtonPoint
from ....approx.nsauc import Schedule, Walk
from ....exact.losses.registry import SQUARED_HINGE
from ....exact.pairs.all_pairs import AllPairs
from ....exact.problem.problem import Ridge, pair_problem
from ...data.labelled_data import Dataset, make_dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import exponent
from .counting import Cells, Counted, CountedRows, Tally

# Sizes at which products are counted: rows at 4 columns, columns at 512 rows.
ROWS, COLUMNS = (1 << 8, 1 << 11, 1 << 14), (4, 32, 256)

STEPS, SKIP = 64, 16
MARGIN = 0.02  # What an exponent may be off by; a sort added to each product would add 0.04.


def _gaussian(context: Context, n: int, d: int) -> Dataset:
    rng = context.rng(f"{n} {d}")
    y = rng.permutation(n) < n // 4
    source = "independent normal coordinates, a quarter of the rows positive"
    return make_dataset(f"normal rows, {n} x {d}", rng.normal(size=(n, d)), y, source=source)


@dataclass(frozen=True)
class _Products:
    """Operations a product, what is printed, and how far a step is from solving H s = -g."""

    operations: float
    printed: int
    error: float


def _products(context: Context, data: Dataset) -> _Products:
    """Count the operations of the products with H that one Newton step takes."""
    n, d = data.X.shape
    pairs, lam = AllPairs(form="numpy"), 1e-2
    problem = pair_problem(CountedRows(data.X), data.is_positive, pairs, SQUARED_HINGE, Ridge(lam))
    point = NewtonPoint.at(problem, context.rng(f"point {n} {d}").normal(size=d) / d**0.5)
    gradient = np.array(point.gradient)
    for name, value in vars(point.curved).items():  # sorted already; from here on all is counted
        if isinstance(value, np.ndarray):
            setattr(point.curved, name, value.view(Counted))
    Counted.operations = 0.0
    step, products = direction(point, 1e-10, 50)
    operations = Counted.operations / products
    error = 0.0
    if n <= ROWS[0]:
        X, scores = np.asarray(data.X), np.asarray(data.X @ point.w)
        plus, minus = data.is_positive, ~data.is_positive
        D = (X[plus][:, None] - X[minus][None]).reshape(-1, d)
        active = D[(scores[plus][:, None] - scores[minus][None]).ravel() < 1]
        left = lam * step + 2 * active.T @ (active @ step) / len(D) + gradient
        error = float(np.linalg.norm(left) / np.linalg.norm(gradient))
    return _Products(operations, n * d + 2 * n + d, error)


def hessian_product_cost_without_the_pairs(context: Context) -> Outcome:
    sets = {n: _gaussian(context, n, COLUMNS[0]) for n in ROWS}
    wide = {d: _gaussian(context, 512, d) for d in COLUMNS}
    by_rows = [_products(context, data) for data in sets.values()]
    by_columns = [_products(context, data) for data in wide.values()]
    in_n = exponent(ROWS, [found.operations for found in by_rows])
    in_d = exponent(COLUMNS, [found.operations for found in by_columns])
    error = max(found.error for found in by_rows)
    right = error <= 1e-8
    linear = in_n <= 1 + MARGIN and in_d <= 1 + MARGIN
    return Outcome(
        Verdict.HOLDS if right and linear else Verdict.FAILS,
        f"operations grow like n^{in_n:.3f} and d^{in_d:.3f}; the pairs grow like n^2",
        printed="O(n d + 2 n + d)",
        details={
            "n": list(ROWS),
            "operations a product, d = 4": [found.operations for found in by_rows],
            "over n d + 2 n + d, d = 4": [x.operations / x.printed for x in by_rows],
            "d": list(COLUMNS),
            "operations a product, n = 512": [found.operations for found in by_columns],
            "over n d + 2 n + d, n = 512": [x.operations / x.printed for x in by_columns],
            "residual of H s = -g, H from the listed pairs": error,
        },
        data=(*sets.values(), *wide.values()),
        tolerance=f"exponents {1 + MARGIN:g}, operations counted while conjugate gradients run; "
        "the step solves the equation of the listed pairs to 1e-8",
    )


def _interpreted(name: str) -> Any:
    """Return a compiled function of `nsauc` as Python runs it, callees too."""
    scope = {key: getattr(value, "__wrapped__", value) for key, value in vars(nsauc).items()}
    return FunctionType(scope[name].__code__, scope)


def _touched(context: Context, n: int, d: int, a: int | None = None, skip: int = SKIP) -> float:
    """Return the numbers read or written a step; rows have `a` nonzeros, dense without it."""
    rng = context.rng(f"{n} {d} {a}")
    rows = np.stack([rng.choice(d, a or d, replace=False) for _ in range(n)])
    X = sp.csr_matrix((rng.normal(size=rows.size), rows.ravel(), np.arange(n + 1) * (a or d)))
    X.resize(n, d)
    half = n // 2
    i, j = rng.integers(half, size=STEPS), half + rng.integers(n - half, size=STEPS)
    # Steps so short that every margin stays below one: each step makes its update.
    schedule = Schedule(1.0, 1e6, skip, skip)
    compiled = Walk.of(np.zeros(d))
    compiled.advance(X if a else X.toarray(), (i, j), schedule)
    tally = Tally()
    w, mean = np.zeros(d), np.zeros(d)
    state = (i, j, Cells(w, tally), Cells(mean, tally), 0, 0, 1.0, 1e6, skip, skip, 0, False)
    if a:
        arrays = (Cells(X.data, tally), X.indices, X.indptr)
        _interpreted("_sparse_steps")(*arrays, *state, False)
    else:
        _interpreted("_dense_steps")(Cells(X.toarray(), tally), *state, False)
    assert np.allclose(w, compiled.w, rtol=1e-9, atol=0), "what was counted is not what runs"
    return tally.touched / STEPS


NEVER = STEPS + 1  # A schedule that is never due: the update alone.


@dataclass(frozen=True)
class _Growth:
    """Exponents of the numbers touched a step, and the largest d a over those of the update."""

    rows: float
    nonzeros: float
    columns: float
    scheduled: float
    dense: float
    spare: float


def _growth(context: Context) -> _Growth:
    rows, nonzeros, columns = (100, 10_000), (8, 512), (1 << 9, 1 << 13)

    def count(n: int, d: int, a: int | None, skip: int = NEVER) -> float:
        return _touched(context, n, d, a, skip)

    by_columns = [count(100, d, 8) for d in columns]
    with_schedule = [count(100, d, 8, SKIP) for d in columns]
    due = [both - plain for both, plain in zip(with_schedule, by_columns, strict=True)]
    return _Growth(
        rows=exponent(rows, [count(n, 512, 8) for n in rows]),
        nonzeros=exponent(nonzeros, [count(100, 1024, a) for a in nonzeros]),
        columns=exponent(columns, by_columns),
        scheduled=exponent(columns, due),
        dense=exponent((16, 512), [count(100, d, None, SKIP) for d in (16, 512)]),
        spare=columns[-1] * 16 / by_columns[-1],
    )


def _stochastic(growth: _Growth, verdict: Verdict, printed: str | None) -> Outcome:
    return Outcome(
        verdict,
        f"an update grows like a^{growth.nonzeros:.2f} d^{growth.columns:.2f} n^{growth.rows:.2f}, "
        f"penalty and average like d^{growth.scheduled:.2f}",
        printed=printed,
        details={
            "exponent of an update in the nonzeros a of a row, d = 1024": growth.nonzeros,
            "exponent in the columns d, a = 8": growth.columns,
            "exponent in the rows n": growth.rows,
            "exponent of one penalty and average in d": growth.scheduled,
            "exponent of a step in d, dense rows": growth.dense,
            "d a over the numbers touched, d = 8192": growth.spare,
        },
        tolerance=f"exponents to {MARGIN:g}; numbers read and written are counted in the source of "
        "the compiled steps, at random rows",
    )


def _within(*pairs: tuple[float, float]) -> bool:
    return all(found <= allowed + MARGIN for found, allowed in pairs)


def sgd_step_cost_as_printed(context: Context) -> Outcome:
    growth = _growth(context)
    bounded = _within((growth.nonzeros, 1), (growth.columns, 1), (growth.rows, 0))
    loose = growth.columns <= MARGIN and growth.spare >= 10
    verdict = Verdict.LOOSE if bounded and loose else Verdict.HOLDS
    return _stochastic(growth, verdict if bounded else Verdict.FAILS, "O(d a)")


def sgd_step_costs_its_nonzeros(context: Context) -> Outcome:
    growth = _growth(context)
    update = _within((growth.nonzeros, 1), (growth.columns, 0), (growth.rows, 0))
    rest = _within((growth.scheduled, 1), (growth.dense, 1))
    return _stochastic(growth, Verdict.HOLDS if update and rest else Verdict.FAILS, None)
