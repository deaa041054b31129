"""The plain forms of `squared_hinge_compiled`: the order of its additions is known beforehand.

The loop goes from row to row of one class. At each it moves its sums on, and lets rows of the
other class enter them. Both are additions at known places of one sequence, so that a running sum
makes all of them.
"""

from __future__ import annotations

import numpy as np

from .scans import compensated, running, two_sums


def merge(
    t: np.ndarray,
    b: np.ndarray,
    a_t: np.ndarray,
    a_b: np.ndarray,
    above: np.ndarray,
    below: np.ndarray,
    mass_t: np.ndarray,
    mass_b: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
) -> float:
    """Fill, for sorted t and b: active ranges, their masses and the marginals; return the value."""
    above[:] = np.searchsorted(b, t, side="right")
    below[:] = np.searchsorted(t, b, side="left")
    entered = b.size - above[::-1]
    mass, first, second = _walked(-t[::-1], -b[::-1], a_b[::-1], entered)
    mass_t[::-1], u[::-1] = mass, 2.0 * a_t[::-1] * first
    mass, first, _ = _walked(b, t, a_t, below)
    mass_b[:], v[:] = mass, 2.0 * a_b * first
    return compensated(a_t[::-1] * second)


def _walked(
    own: np.ndarray, others: np.ndarray, weight: np.ndarray, entered: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights' sums and those of z and z^2 after each step, z = own - others."""
    steps = np.arange(own.size)
    before = np.concatenate([[0], entered[:-1]])
    count = int(entered[-1])
    at = np.searchsorted(entered, np.arange(count), side="right")  # the step of each entry
    moved, came, after = steps + before, at + 1 + np.arange(count), steps + 1 + entered
    masses = _states(weight[:count])
    d, z = np.diff(own, prepend=own[0]), own[at] - others[:count]
    items = np.zeros(own.size + count)
    items[moved], items[came] = d * masses[before], weight[:count] * z
    firsts = _states(items)
    squares = np.zeros_like(items)
    squares[moved] = d * (2.0 * firsts[moved] + d * masses[before])
    squares[came] = weight[:count] * z * z
    return masses[entered], firsts[after], _states(squares)[after]


def _states(items: np.ndarray) -> np.ndarray:
    """Return the compensated sums before each item, and after the last: (n + 1,)."""
    total, slips = two_sums(items)
    return total + running(slips)


def laplacian(
    values: np.ndarray,
    t_rows: np.ndarray,
    b_rows: np.ndarray,
    a_t: np.ndarray,
    a_b: np.ndarray,
    above: np.ndarray,
    below: np.ndarray,
    mass_t: np.ndarray,
    mass_b: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill out[i] = sum_j c_ij (v_i - v_j) over the active pairs."""
    plus, minus = values[t_rows], values[b_rows]
    taken = _states((a_b * minus)[::-1])[b_rows.size - above]
    out[t_rows] = a_t * (mass_t * plus - taken)
    out[b_rows] = a_b * (mass_b * minus - _states(a_t * plus)[below])
