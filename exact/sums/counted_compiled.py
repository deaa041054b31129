"""The compiled loops of `counted`: keys, their sort, and one scan of all pairs.

A key is one whole number of 63 bits: place on the grid, class, row. Functions that call each other
stay in this one file: the on-disk cache does not notice a changed callee elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..tools.compiling import compiled, compiled_later
from . import plain

# The last pass of a sort may make so many moves per key before a general sort takes over.
SHIFTS = 16


@compiled_later(plain.pack)
def pack(scores, positive, scale, base, margin, bits, keys):  # pragma: no cover - compiled
    """Fill keys[r] with (floor(scale s_r) - base, plus the margin if negative), class and row r."""
    for r in range(scores.size):
        place = np.int64(np.floor(scores[r] * scale) - base)
        side = np.int64(positive[r])
        place += margin * (1 - side)
        keys[r] = (((place << 1) | side) << bits) | r


@compiled
def _scatter(keys, out, shift, digit):  # pragma: no cover - compiled
    """Fill out with the keys in the order of `digit` bits above `shift`; equal ones keep theirs."""
    mask = (1 << digit) - 1
    start = np.zeros((1 << digit) + 1, np.int64)
    for k in range(keys.size):
        start[((keys[k] >> shift) & mask) + 1] += 1
    for d in range(1 << digit):
        start[d + 1] += start[d]
    for k in range(keys.size):
        d = (keys[k] >> shift) & mask
        out[start[d]] = keys[k]
        start[d] += 1


@compiled
def _mended(keys, most):  # pragma: no cover - compiled
    """Sort nearly sorted keys in place; False, with some left unsorted, after `most` moves."""
    moves = 0
    for k in range(1, keys.size):
        key = keys[k]
        at = k
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key
        moves += k - at
        if moves > most:
            return False
    return True


@compiled_later(plain.sort_keys)
def sort_keys(keys, spare):  # pragma: no cover - compiled
    """Sort whole numbers >= 0 in place, by their leading bits first; False if left unsorted.

    `spare` is an array of the same size. Leading bits separate most keys if the scores are spread.
    If the scores crowd in few places, the caller sorts by other means.
    """
    top = 0
    largest = keys[0]
    for k in range(keys.size):
        largest = max(largest, keys[k])
    while largest >> top:
        top += 1
    if keys.size <= 1 << 13:
        digit = min(13, max(top, 1))
        _scatter(keys, spare, max(top - digit, 0), digit)
        for k in range(keys.size):  # assigning the whole array takes a second to compile
            keys[k] = spare[k]
    else:
        digit = 11 if keys.size <= 1 << 22 else 12
        _scatter(keys, spare, max(top - 2 * digit, 0), digit)
        _scatter(spare, keys, max(top - digit, 0), digit)
    return _mended(keys, SHIFTS * keys.size)


@compiled_later(plain.count)
def count(keys, bits, half, n_neg, soft, hard):  # pragma: no cover - compiled
    """Fill the sums of clip(m + half, 0, 2 half), and the numbers of m >= 1, of each key in order.

    m = B - T on the grid; for half = 0 `soft` is left alone. Returns the number of pairs with
    m = 0.
    """
    n = keys.size
    place = bits + 1
    high = 0  # the first key beyond the window (x - half, x + half)
    low = 0  # the first key inside
    inside_pos = inside_neg = sum_pos = sum_neg = 0  # rows in the window, and their places
    left_pos = left_neg = 0  # rows before it
    before_pos = before_neg = 0  # rows before this key
    same_neg = 0  # negatives at this very place, which come before the positives
    last = -1
    ties = 0
    for k in range(n):
        x = keys[k] >> place
        side = (keys[k] >> bits) & 1
        same_neg *= x == last
        last = x
        hard[k] = n_neg - before_neg if side == 1 else before_pos
        ties += side * same_neg
        before_pos += side
        before_neg += 1 - side
        same_neg += 1 - side
        if half == 0:
            continue
        while high < n and (keys[high] >> place) < x + half:
            entering = keys[high] >> place
            is_pos = (keys[high] >> bits) & 1
            inside_pos += is_pos
            inside_neg += 1 - is_pos
            sum_pos += is_pos * entering
            sum_neg += (1 - is_pos) * entering
            high += 1
        while (keys[low] >> place) <= x - half:
            leaving = keys[low] >> place
            is_pos = (keys[low] >> bits) & 1
            inside_pos -= is_pos
            inside_neg -= 1 - is_pos
            sum_pos -= is_pos * leaving
            sum_neg -= (1 - is_pos) * leaving
            left_pos += is_pos
            left_neg += 1 - is_pos
            low += 1
        full = n_neg - left_neg - inside_neg if side == 1 else left_pos
        part = sum_neg - inside_neg * x if side == 1 else inside_pos * x - sum_pos
        soft[k] = (2 * full + (inside_neg if side == 1 else inside_pos)) * half + part
    return ties


@compiled_later(plain.spread)
def spread(keys, bits, soft, hard, unit, scores, middle, c):  # pragma: no cover - compiled
    """Fill c with soft / unit in the order of rows, signed; negatives get the minus.

    Returns the sum of z over the pairs with m >= 1 less their number, the sum of the absolute
    terms that it was made of, that number, and the sum of c over the positive rows.
    """
    mask = (1 << bits) - 1
    value = carry = size = total = total_carry = 0.0
    active = 0
    for k in range(keys.size):
        side = (keys[k] >> bits) & 1
        row = keys[k] & mask
        sign = 2.0 * side - 1.0
        mass = float(soft[k]) / unit
        c[row] = sign * mass
        mass *= float(side)
        new = total + mass
        part = new - total
        total_carry += (total - (new - part)) + (mass - part)
        total = new
        active += side * hard[k]
        term = -sign * (float(hard[k]) * (scores[row] - middle))
        size += abs(term)
        new = value + term
        part = new - value
        carry += (value - (new - part)) + (term - part)
        value = new
    return value + carry, size, active, total + total_carry


@compiled_later(plain.windows)
def windows(keys, bits, half, rows_pos, rows_neg, first, ends):  # pragma: no cover - compiled
    """Fill the rows of each class in order and, for every positive, its pairs with |m| < half.

    They are the negatives from number `first` on, as many as `ends` grows by; returns their sum.
    """
    mask = (1 << bits) - 1
    p = q = 0
    places = np.empty(rows_neg.size, np.int64)
    for k in range(keys.size):
        if (keys[k] >> bits) & 1 == 0:
            rows_neg[q] = keys[k] & mask
            places[q] = keys[k] >> (bits + 1)
            q += 1
    low = high = 0
    held = 0
    for k in range(keys.size):
        if (keys[k] >> bits) & 1 == 1:
            x = keys[k] >> (bits + 1)
            while high < q and places[high] < x + half:
                high += 1
            while low < high and places[low] <= x - half:
                low += 1
            rows_pos[p] = keys[k] & mask
            first[p] = low
            held += high - low
            ends[p] = held
            p += 1
    return held


@compiled_later(plain.pick)
def pick(picks, rows_pos, rows_neg, first, ends, i, j):  # pragma: no cover - compiled
    """Fill the rows of the pairs with the ascending numbers `picks`."""
    p = 0
    start = 0
    for k in range(picks.size):
        while ends[p] <= picks[k]:
            start = ends[p]
            p += 1
        i[k] = rows_pos[p]
        j[k] = rows_neg[first[p] + picks[k] - start]
