"""Ordered pairs one by one: what every fast form must match."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from aucert.exact.losses.registry import Loss


@dataclass
class Naive:
    """Listed pairs with exact weights that add up to one."""

    i: list[int]
    j: list[int]
    weight: list[Fraction]
    mass: Fraction

    def sums(self, scores: np.ndarray, loss: Loss, width: float) -> tuple:
        """Value, signed marginals, conjugate and total, pair by pair."""
        c = np.array([float(w) for w in self.weight])
        i, j = np.array(self.i), np.array(self.j)
        t = scores[i] - scores[j]
        alpha = loss.clip(loss.alpha(t, width))
        net = np.zeros(scores.size)
        np.add.at(net, i, c * alpha)
        np.add.at(net, j, -c * alpha)
        return float(c @ loss.value(t)), net, float(c @ loss.dual(alpha)), float(c @ alpha)


def listed(rows: list[tuple[int, int, Fraction]]) -> Naive:
    held = [(i, j, Fraction(w)) for i, j, w in rows if w > 0]
    mass = sum((w for _, _, w in held), Fraction(0))
    return Naive([p[0] for p in held], [p[1] for p in held], [p[2] / mass for p in held], mass)


def naive_ordered(group, key, upper, lower, gain=None, share=None) -> Naive:
    """Every pair (i, j) of one group with key_i > key_j."""
    n = len(key)
    group = np.zeros(n, dtype=int) if group is None else group
    upper = np.ones(n, dtype=int) if upper is None else upper
    lower = np.ones(n, dtype=int) if lower is None else lower
    found: dict[object, list[tuple[int, int, Fraction]]] = {}
    for i in range(n):
        for j in range(n):
            if group[i] == group[j] and key[i] > key[j]:
                weight = Fraction(float(upper[i])) * Fraction(float(lower[j]))
                if gain is not None:
                    weight *= int(gain[i]) - int(gain[j])
                found.setdefault(group[i], []).append((i, j, weight))
    if share is None:
        return listed([pair for pairs in found.values() for pair in pairs])
    rows = []
    for pairs in found.values():
        mass = sum((w for _, _, w in pairs), Fraction(0))
        of = Fraction(float(share[pairs[0][0]]))
        rows += [(i, j, of * w / mass) for i, j, w in pairs if mass > 0]
    return listed(rows)


def naive_survival(time, upper, weight=None, event=None) -> Naive:
    """Comparable pairs as they are defined, without keys or ranks; `upper` are the deaths."""
    event, rows = upper if event is None else event, []
    for i in range(len(time)):
        for j in range(len(time)):
            later = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if upper[i] and i != j and later:
                rows.append((i, j, Fraction(1 if weight is None else float(weight[i]))))
    return listed(rows)


def naive_counts(at, places, a, b, margin: int, half: int) -> tuple[np.ndarray, np.ndarray, list]:
    """Soft and hard net sums by place, and totals: soft, hard, ties; row by row."""
    soft, hard, totals = np.zeros(places.size, int), np.zeros(places.size, int), [0, 0, 0]
    for p in range(places.size):
        q = slice(at.below[p], at.end[p])
        m, mass = places[q] - places[p] + margin, a[p] * b[q]
        ramps, active = mass * np.clip(m + half, 0, 2 * half), mass * (m >= 1)
        for sums, parts in ((soft, ramps), (hard, active)):
            sums[p] += parts.sum()
            sums[q] -= parts
        for k, parts in enumerate((ramps, active, mass * (m == 0))):
            totals[k] += int(parts.sum())
    return soft, hard, totals
