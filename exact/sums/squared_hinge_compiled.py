"""The squared hinge over all pairs in one merge, and products with its Laplacian, compiled.

Both walk the two sorted classes once. Sums are compensated, so that their rounding does not grow
with n. Functions that call each other stay in this one file.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled, compiled_later
from ..tools.plain import squared as plain
from .assembled import SideSums
from .orders import both_orders


@compiled
def _add(total, carry, x):  # pragma: no cover - compiled
    """Return the sum, and its carry with what the sum rounded off."""
    new = total + x
    # Knuth's two-sum: what is added to the carry is the rounding of `new`, exactly.
    back = new - total
    return new, carry + ((total - (new - back)) + (x - back))


@compiled_later(plain.merge)
def _merge(t, b, a_t, a_b, above, below, mass_t, mass_b, u, v):  # pragma: no cover - compiled
    """Fill, for sorted t and b: active ranges, their masses and the marginals; return the value.

    Row i of t is active with b[above[i]:], row j of b with t[:below[j]]. The sums of z and z^2
    over a row's partners follow from those of the row before, at the distance d: sum (z + d)^2 =
    sum z^2 + 2 d sum z + d^2 mass. Every term is >= 0, so small sums keep their digits.
    """
    p, q = t.size, b.size
    k = q
    mass = mass_c = first = first_c = second = second_c = value = value_c = 0.0
    for i in range(p - 1, -1, -1):
        ti = t[i]
        if k < q:
            d = t[i + 1] - ti
            f, m = first + first_c, mass + mass_c
            second, second_c = _add(second, second_c, d * (2.0 * f + d * m))
            first, first_c = _add(first, first_c, d * m)
        while k > 0 and b[k - 1] > ti:
            k -= 1
            z = b[k] - ti
            mass, mass_c = _add(mass, mass_c, a_b[k])
            first, first_c = _add(first, first_c, a_b[k] * z)
            second, second_c = _add(second, second_c, a_b[k] * z * z)
        above[i] = k
        mass_t[i] = mass + mass_c
        u[i] = 2.0 * a_t[i] * (first + first_c)
        value, value_c = _add(value, value_c, a_t[i] * (second + second_c))
    k = 0
    mass = mass_c = first = first_c = 0.0
    for j in range(q):
        bj = b[j]
        if k > 0:
            first, first_c = _add(first, first_c, (bj - b[j - 1]) * (mass + mass_c))
        while k < p and t[k] < bj:
            mass, mass_c = _add(mass, mass_c, a_t[k])
            first, first_c = _add(first, first_c, a_t[k] * (bj - t[k]))
            k += 1
        below[j] = k
        mass_b[j] = mass + mass_c
        v[j] = 2.0 * a_b[j] * (first + first_c)
    return value + value_c


@compiled_later(plain.laplacian)
def _laplacian(
    values, t_rows, b_rows, a_t, a_b, above, below, mass_t, mass_b, out
):  # pragma: no cover - compiled
    """Fill out[i] = sum_j c_ij (v_i - v_j) over the active pairs."""
    # From the top down, so that each row has the partners of the one above it and some more.
    k = b_rows.size
    total = carry = 0.0
    for i in range(t_rows.size - 1, -1, -1):
        while k > above[i]:
            k -= 1
            total, carry = _add(total, carry, a_b[k] * values[b_rows[k]])
        row = t_rows[i]
        out[row] = a_t[i] * (mass_t[i] * values[row] - (total + carry))
    k = 0
    total = carry = 0.0
    for j in range(b_rows.size):
        while k < below[j]:
            total, carry = _add(total, carry, a_t[k] * values[t_rows[k]])
            k += 1
        row = b_rows[j]
        out[row] = a_b[j] * (mass_b[j] * values[row] - (total + carry))


class Merged:
    """The sums at one point of one ordering: value, marginals, and products with L."""

    def __init__(self, t: np.ndarray, b: np.ndarray, a_t: np.ndarray, a_b: np.ndarray):
        self.t_order, self.b_order = both_orders(t, b)
        self.a_t, self.a_b = a_t[self.t_order], a_b[self.b_order]
        p, q = t.size, b.size
        self.above, self.below = np.empty(p, dtype=np.int64), np.empty(q, dtype=np.int64)
        self.mass_t, self.mass_b = np.empty(p), np.empty(q)
        self.u, self.v = np.empty(p), np.empty(q)
        self.value = _merge(
            t[self.t_order],
            b[self.b_order],
            self.a_t,
            self.a_b,
            self.above,
            self.below,
            self.mass_t,
            self.mass_b,
            self.u,
            self.v,
        )

    def laplacian(self, values: np.ndarray, t_rows: np.ndarray, b_rows: np.ndarray) -> np.ndarray:
        """Return L values (n,); `t_rows` and `b_rows` say which rows the sorted classes are."""
        out = np.empty(values.size)
        a, b = self.a_t, self.a_b
        values = np.ascontiguousarray(values)
        _laplacian(
            values, t_rows, b_rows, a, b, self.above, self.below, self.mass_t, self.mass_b, out
        )
        return out


def squared_hinge_sides_compiled(
    t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray
) -> SideSums:
    """Return what `sorted.squared_hinge_sides` returns, up to rounding."""
    merged = Merged(t, b, weight_t, weight_b)
    u, v = np.empty_like(t), np.empty_like(b)
    u[merged.t_order], v[merged.b_order] = merged.u, merged.v
    return SideSums(float(merged.value), u, v)
