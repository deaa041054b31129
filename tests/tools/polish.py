"""From a nearly optimal point of a hinge problem to the optimum itself, as a fraction.

At the optimum some pairs stand exactly at the margin. Once they are known, w is the solution of
linear equations, and so are the alpha of as many of them as are neither 0 nor 1. A solver's w shows
which pairs they are, a small linear program shows which alpha are free, and both systems are then
solved in fractions. A wrong guess does no harm: `exact_optimum` returns a value only if F and the
dual agree in exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.optimize import linprog

from rational_bounds import ExactProblem, Vector, dot

LARGEST_SLIP = 1e-4
"""How far from the margin, at the solver's w, a pair that belongs there may stand."""

ROUNDING = 1e-15
"""Margins are not told apart below this."""

TRIES = 6
"""Guesses of which pairs are at the margin."""

ORDERS = 20
"""Where a pair too many was guessed, others may come first: so many orders are tried."""

ROUNDS = 4
"""Pairs that turn out not to be at the margin are put on their side, so many times."""

ALMOST = 1e-7
"""An alpha nearer than this to 0 or 1 is taken to be there: the linear program's accuracy."""


def exact_optimum(problem: ExactProblem, w: np.ndarray) -> Fraction | None:
    """Return the least value of F, or None where this does not succeed.

    Parameters
    ----------
    problem : ExactProblem
        With the hinge.
    w : array (d,)
        A nearly optimal point.
    """
    margins = _margins(problem, w)
    slip = np.abs(1 - margins)
    for tied in (slip <= cut for cut in _cuts(slip)):
        pairs = [(int(i), int(j)) for i, j in np.argwhere(tied)]
        sides = _full_marginals(problem, (margins < 1) & ~tied)
        for k in range(min(max(len(pairs), 1), ORDERS)):
            optimum = _optimum_if(problem, pairs[k:] + pairs[:k], *map(list, sides))
            if optimum is not None:
                return optimum
    return None


def _optimum_if(
    problem: ExactProblem, pairs: list[tuple[int, int]], u: Vector, v: Vector
) -> Fraction | None:
    """Return the optimum if these are the pairs at the margin, or the first of them are.

    u and v are the marginals of the pairs below the margin.
    """
    for _ in range(ROUNDS):
        rows = [_minus(problem.plus[i], problem.minus[j]) for i, j in pairs]
        best = _least(problem.lam, problem.pull(u, v), independent(rows))
        if best is None:
            return None
        reached = [dot(row, best) for row in rows]
        for (i, j), margin in zip(pairs, reached, strict=True):
            if margin < 1:
                _add(problem, u, v, i, j, Fraction(1))
        pairs = [pair for pair, margin in zip(pairs, reached, strict=True) if margin == 1]
        if len(pairs) == len(rows):
            return _value_if(problem, best, pairs, rows, u, v)
    return None


def _value_if(
    problem: ExactProblem,
    best: Vector,
    pairs: list[tuple[int, int]],
    rows: list[Vector],
    u: Vector,
    v: Vector,
) -> Fraction | None:
    """Return F at `best` if alpha on the pairs at the margin prove it optimal."""
    caps = [problem.a[i] * problem.b[j] for i, j in pairs]
    columns = [[cap * x for x in row] for cap, row in zip(caps, rows, strict=True)]
    alpha = alpha_of(columns, _minus([problem.lam * x for x in best], problem.pull(u, v)))
    if alpha is None:
        return None
    for (i, j), share in zip(pairs, alpha, strict=True):
        _add(problem, u, v, i, j, share)
    optimum = problem.primal(best)
    return optimum if problem.dual_of_sides(u, v) == optimum else None


def _add(problem: ExactProblem, u: Vector, v: Vector, i: int, j: int, alpha: Fraction) -> None:
    """Add a pair with its alpha to the marginals."""
    u[i] += problem.a[i] * problem.b[j] * alpha
    v[j] += problem.a[i] * problem.b[j] * alpha


def _margins(problem: ExactProblem, w: np.ndarray) -> np.ndarray:
    plus, minus = (np.array(side, dtype=float) @ w for side in (problem.plus, problem.minus))
    return plus[:, None] - minus


def _cuts(slip: np.ndarray) -> list[float]:
    """Return where the ranked |1 - margin| leap, the widest leap first."""
    ranked = np.sort(slip, axis=None)
    ranked = np.concatenate([[ROUNDING], np.maximum(ranked[ranked < LARGEST_SLIP], ROUNDING)])
    leaps = np.append(ranked[1:], LARGEST_SLIP) / ranked
    return [float(ranked[k]) for k in np.argsort(-leaps)[:TRIES]]


def _full_marginals(problem: ExactProblem, active: np.ndarray) -> tuple[Vector, Vector]:
    """Return the marginals of alpha = 1 on the active pairs (n_pos, n_neg)."""

    def weighed(pairs: np.ndarray, own: Vector, other: Vector) -> Vector:
        unit = lcm(*(x.denominator for x in other))
        shares = np.array([int(x * unit) for x in other], dtype=object)
        return [x * Fraction(int(m), unit) for x, m in zip(own, pairs @ shares, strict=True)]

    pairs = active.astype(object)
    return weighed(pairs, problem.a, problem.b), weighed(pairs.T, problem.b, problem.a)


def _least(lam: Fraction, pulled: Vector, rows: list[Vector]) -> Vector | None:
    """Return the least point of lam/2 |w|^2 - pulled'w on row'w = 1, for independent rows."""
    gram = [[dot(row, other) for other in rows] for row in rows]
    forces = solved(gram, [lam - dot(row, pulled) for row in rows])
    if forces is None:
        return None
    for force, row in zip(forces, rows, strict=True):
        pulled = [x + force * y for x, y in zip(pulled, row, strict=True)]
    return [x / lam for x in pulled]


def alpha_of(columns: list[Vector], wanted: Vector) -> Vector | None:
    """Return alpha in [0, 1] with sum alpha_k column_k = wanted, or None if none was found.

    The program's corner has few alpha strictly inside: those are found again in fractions.
    """
    if not columns:
        return [] if not any(wanted) else None
    matrix = np.array(columns, dtype=float).T
    target = np.array(wanted, dtype=float)
    unit = np.maximum(np.abs(matrix).max(axis=1), 1e-300)
    found = linprog(
        np.zeros(len(columns)), A_eq=matrix / unit[:, None], b_eq=target / unit, bounds=(0, 1)
    )
    if found.x is None:
        return None
    alpha = [Fraction(round(float(x))) for x in found.x]
    free = [k for k, x in enumerate(found.x) if ALMOST < x < 1 - ALMOST]
    for k, column in enumerate(columns):
        if k not in free and alpha[k]:
            wanted = _minus(wanted, column)
    # A line for each number that is wanted, also where no alpha is free.
    lines = [[columns[k][at] for k in free] for at in range(len(wanted))]
    exact = solved(lines, wanted)
    if exact is None or any(not 0 <= x <= 1 for x in exact):
        return None
    for k, x in zip(free, exact, strict=True):
        alpha[k] = x
    return alpha


def independent(rows: list[Vector]) -> list[Vector]:
    """Return rows that span the same space and are linearly independent."""
    chosen: list[Vector] = []
    reduced: list[tuple[int, Vector]] = []
    for row in rows:
        rest = row
        for pivot, other in reduced:
            if rest[pivot]:
                factor = rest[pivot] / other[pivot]
                rest = [x - factor * y for x, y in zip(rest, other, strict=True)]
        pivot = next((k for k, x in enumerate(rest) if x), None)
        if pivot is not None:
            reduced.append((pivot, rest))
            chosen.append(row)
    return chosen


def solved(matrix: list[Vector], right: Vector) -> Vector | None:
    """Return the one solution of matrix x = right, by elimination; None if none or many.

    Parameters
    ----------
    matrix : list of m rows of k
        m >= k.
    right : m numbers
    """
    lines = [[*row, x] for row, x in zip(matrix, right, strict=True)]
    width = len(lines[0]) - 1 if lines else 0
    for k in range(width):
        pivot = next((i for i in range(k, len(lines)) if lines[i][k]), None)
        if pivot is None:
            return None
        lines[k], lines[pivot] = lines[pivot], lines[k]
        lines[k] = [x / lines[k][k] for x in lines[k]]
        for i, line in enumerate(lines):
            if i != k and line[k]:
                lines[i] = [x - line[k] * y for x, y in zip(line, lines[k], strict=True)]
    if any(line[-1] for line in lines[width:]):
        return None
    return [line[-1] for line in lines[:width]]


def _minus(p: Vector, q: Vector) -> Vector:
    return [x - y for x, y in zip(p, q, strict=True)]
