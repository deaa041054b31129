"""The loop of `swept`, compiled, and products with the Laplacian of the active pairs.

Functions that call each other stay in this one file: the on-disk cache does not notice a changed
callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled, compiled_later
from . import plain


@compiled
def _add(total, carry, x):  # pragma: no cover - compiled
    """Return the sum, and its carry with what the sum rounded off."""
    new = total + x
    # Knuth's two-sum: what is added to the carry is the rounding of `new`, exactly.
    back = new - total
    return new, carry + ((total - (new - back)) + (x - back))


@compiled
def _tables(weight, values, upwards, squared, tables):  # pragma: no cover - compiled
    """Fill the sums of weight, weight value, weight value^2 before each row, or from it on."""
    n = weight.size
    mass = mass_c = first = first_c = second = second_c = 0.0
    for k in range(n + 1):
        place = k if upwards else n - k
        tables[0, place], tables[1, place] = mass + mass_c, first + first_c
        tables[2, place] = second + second_c
        if k < n:
            row = k if upwards else n - 1 - k
            x = weight[row] * values[row]
            mass, mass_c = _add(mass, mass_c, weight[row])
            first, first_c = _add(first, first_c, x)
            if squared:
                second, second_c = _add(second, second_c, x * values[row])


@compiled_later(plain.sweep)
def sweep(t, b, a_t, a_b, width, slip, squared, u, v):  # pragma: no cover - compiled
    """Fill the marginals of sorted t and b; return the value, and what pairs z > -slip weigh."""
    p, q = t.size, b.size
    of_b, of_t = np.empty((3, q + 1)), np.empty((3, p + 1))
    _tables(a_b, b, False, squared, of_b)
    _tables(a_t, t, True, squared, of_t)
    mass_b, first_b, mass_t, first_t = of_b[0], of_b[1], of_t[0], of_t[1]
    half = width / 2
    value = carry = near = 0.0
    at = reach = start = stop = 0
    for i in range(p):
        ti = t[i]
        while at < q and b[at] <= ti:
            at += 1
        mass, first = mass_b[at], first_b[at]
        if squared:
            z2 = (of_b[2, at] - 2.0 * ti * first) + ti * ti * mass
            value, carry = _add(value, carry, a_t[i] * z2)
            u[i] = 2.0 * a_t[i] * (first - ti * mass)
            continue
        value, carry = _add(value, carry, a_t[i] * (first - ti * mass))
        while reach < q and b[reach] < ti - slip:
            reach += 1
        near += a_t[i] * mass_b[reach]
        if width > 0:
            low, high = ti - half, ti + half
            while start < q and b[start] <= low:
                start += 1
            while stop < q and b[stop] < high:
                stop += 1
            ramp = (first_b[start] - first_b[stop]) - low * (mass_b[start] - mass_b[stop])
            mass = mass_b[stop] + ramp / width
        u[i] = a_t[i] * mass
    at = start = stop = 0
    for j in range(q):
        bj = b[j]
        while at < p and t[at] < bj:
            at += 1
        if squared:
            v[j] = 2.0 * a_b[j] * (bj * mass_t[at] - first_t[at])
            continue
        mass = mass_t[at]
        if width > 0:
            # The same floats t - half, t + half and b as above: both sides see the same pairs.
            while start < p and t[start] + half <= bj:
                start += 1
            while stop < p and t[stop] - half < bj:
                stop += 1
            ramp = (bj + half) * (mass_t[stop] - mass_t[start]) - (first_t[stop] - first_t[start])
            mass = mass_t[start] + ramp / width
        v[j] = a_b[j] * mass
    return value + carry, near


@compiled
def laplacian(values, t_rows, b_rows, a_t, a_b, above, below, out):  # pragma: no cover - compiled
    """Fill out[i] = sum_j c_ij (v_i - v_j) over the active pairs, for sorted classes.

    Row i of t is active with b[above[i]:], row j of b with t[:below[j]].
    """
    # From the top down, so that each row has the partners of the one above it and some more.
    k = b_rows.size
    total = carry = mass = mass_c = 0.0
    for i in range(t_rows.size - 1, -1, -1):
        while k > above[i]:
            k -= 1
            mass, mass_c = _add(mass, mass_c, a_b[k])
            total, carry = _add(total, carry, a_b[k] * values[b_rows[k]])
        row = t_rows[i]
        out[row] = a_t[i] * ((mass + mass_c) * values[row] - (total + carry))
    k = 0
    total = carry = mass = mass_c = 0.0
    for j in range(b_rows.size):
        while k < below[j]:
            mass, mass_c = _add(mass, mass_c, a_t[k])
            total, carry = _add(total, carry, a_t[k] * values[t_rows[k]])
            k += 1
        row = b_rows[j]
        out[row] = a_b[j] * ((mass + mass_c) * values[row] - (total + carry))
