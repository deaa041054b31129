"""The definitions, word by word: double loops over pairs, in any kind of number.

Nothing here is clever, and nothing is taken from the library's own sums. With `Fraction` the
answers are exact; with `float` they are what a reader would write first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from aucert.exact.pairs.all_pairs import AllPairs, PairList

Number = Any  # float or Fraction
Numbers = Any  # a sequence or an array of them, or of rows of them
Pair = tuple[int, int, Number]


@dataclass(frozen=True)
class NaiveSums:
    """Value, signed marginals and conjugate sum of one alpha a pair."""

    value: Number
    c: list[Number]
    conjugate: Number


def exact(values: Any) -> Any:
    """Return numbers, or nested sequences of them, as fractions: every float is one."""
    if np.ndim(values) == 0:
        return Fraction(*np.longdouble(values).as_integer_ratio())
    return [exact(value) for value in values]


def l1(found: Any, true: Any) -> Fraction:
    return sum((abs(x - y) for x, y in zip(exact(found), true, strict=True)), Fraction(0))


def weighted_pairs(positive: Any, pairs: Any, number: type = Fraction) -> list[Pair]:
    """Return (i, j, c_ij) for each pair, the c_ij adding up to one.

    A `PairList` keeps its own weights, which are normalised already (to rounding).
    """
    if isinstance(pairs, PairList):
        listed = zip(pairs.i.tolist(), pairs.j.tolist(), pairs.c.tolist(), strict=True)
        return [(i, j, number(c)) for i, j, c in listed]
    weight = [1.0] * len(positive) if pairs.weight is None else pairs.weight.tolist()
    plus = [k for k, is_plus in enumerate(positive) if is_plus]
    minus = [k for k, is_plus in enumerate(positive) if not is_plus]
    whole = sum(number(weight[k]) for k in plus) * sum(number(weight[k]) for k in minus)
    return [(i, j, number(weight[i]) * number(weight[j]) / whole) for i in plus for j in minus]


def loss_value(loss: str, t: Number) -> Number:
    z = 1 - t
    if loss == "square":
        return z * z
    z = max(z, 0 * z)
    return z if loss == "hinge" else z * z


def loss_alpha(loss: str, t: Number, width: Number = 0) -> Number:
    """Return minus the slope at the margin t; the hinge's is smoothed over `width`."""
    z = 1 - t
    if loss == "square":
        return 2 * z
    if loss == "squared_hinge":
        return 2 * max(z, 0 * z)
    if width > 0:
        return min(max(z / width + Fraction(1, 2), 0 * z), 1 + 0 * z)
    return 1 + 0 * z if z > 0 else 0 * z


def loss_dual(loss: str, alpha: Number) -> Number:
    return alpha if loss == "hinge" else alpha - alpha * alpha / 4


def alphas(scores: Numbers, pairs: Sequence[Pair], loss: str, width: Number = 0) -> list[Number]:
    return [loss_alpha(loss, scores[i] - scores[j], width) for i, j, _ in pairs]


def marginals(alpha: Numbers, pairs: Sequence[Pair], n: int) -> list[Number]:
    """Return the signed row sums of c_ij alpha_ij: (n,)."""
    out = [0 * pairs[0][2]] * n
    for (i, j, c), a in zip(pairs, alpha, strict=True):
        out[i] += c * a
        out[j] -= c * a
    return out


def sums(scores: Numbers, pairs: Sequence[Pair], loss: str, width: Number = 0) -> NaiveSums:
    """Return what `Pairs.sums` should."""
    alpha = alphas(scores, pairs, loss, width)
    return NaiveSums(
        sum(c * loss_value(loss, scores[i] - scores[j]) for i, j, c in pairs),
        marginals(alpha, pairs, len(scores)),
        sum(c * loss_dual(loss, a) for (_, _, c), a in zip(pairs, alpha, strict=True)),
    )


def moved(X: Any, offset: Any) -> list[list[Fraction]]:
    o = exact(offset)
    return [[x - m for x, m in zip(row, o, strict=True)] for row in exact(X)]


def products(matrix: Numbers, w: Numbers) -> list[Number]:
    return [sum(x * y for x, y in zip(row, w, strict=True)) for row in matrix]


def pulled(X: Numbers, c: Numbers) -> list[Number]:
    return products(list(zip(*X, strict=True)), c)


def norm2(w: Numbers) -> Number:
    return sum(x * x for x in w)


def primal_value(X: Numbers, pairs: Sequence[Pair], loss: str, lam: Number, w: Numbers) -> Number:
    return lam * norm2(w) / 2 + sums(products(X, w), pairs, loss).value


def dual_value(X: Numbers, pairs: Sequence[Pair], loss: str, lam: Number, alpha: Numbers) -> Number:
    """Return sum c dual(alpha) - |sum c alpha (x_i - x_j)|^2 / (2 lam)."""
    gain = sum(c * loss_dual(loss, a) for (_, _, c), a in zip(pairs, alpha, strict=True))
    return gain - norm2(pulled(X, marginals(alpha, pairs, len(X)))) / (2 * lam)


def solved(matrix: Numbers, right: Numbers) -> list[Fraction]:
    """Return the solution of a square system in fractions, which is not singular."""
    rows = [[*map(Fraction, line), Fraction(b)] for line, b in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Whether elimination in fractions meets no negative pivot, nor a zero one with a rest."""
    A = [list(row) for row in matrix]
    n = len(A)
    for k in range(n):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k + 1 :])):
            return False
        for i in range(k + 1, n) if A[k][k] else ():
            factor = A[i][k] / A[k][k]
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
    return True


def scatter(pairs: AllPairs | PairList, positive: np.ndarray) -> list[list[Fraction]]:
    """Return R, the covariance of the differences e_i - e_j of the pairs."""
    n, triples = positive.size, weighted_pairs(positive.tolist(), pairs)
    whole = sum(c for *_, c in triples)
    mean = marginals([1 / whole] * len(triples), triples, n)
    R = [[Fraction(0)] * n for _ in range(n)]
    for i, j, c in triples:
        for p, q, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            R[p][q] += sign * c / whole
    return [[R[p][q] - mean[p] * mean[q] for q in range(n)] for p in range(n)]
