"""Prove the judge's answers again, in fractions: python check.py [answers.jsonl]

A line states a problem and an interval [dual, primal] around its optimum: minimise F(f) = Omega(f)
+ sum over pairs (i above j) of c_ij loss(f_i - f_j), or the largest such sum for several c. F(w) is
summed up, exp and log by series with a remainder. Below stands weak duality: loss(z) >= D(a) - a z,
so that F >= V - sup over f of (g'f - Omega(f)), V = sum of c_ij D(a_ij), g the signed sums of
c_ij a_ij. The slopes a are those at given points, mixed, or known by their sums for each row, whose
largest flow pays for what is infeasible in them (Gale-Ryser).
"""

# ruff: noqa: B905

import json
import math
import sys
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

BITS = 160  # of the fixed point in which series are summed
SLACK = 1 << 10  # units of it: more than sixty terms can lose by rounding
CLOSE = Fraction(1, 1 << 120)  # a kernel value is at most this far from the one that is used
ZERO = Fraction(0)


def numbers(x) -> Any:  # one, or a list of them
    if isinstance(x, list):
        return [numbers(one) for one in x]
    return Fraction(float.fromhex(x) if isinstance(x, str) else x)


def dot(p, q):
    return sum((x * y for x, y in zip(p, q, strict=True) if x and y), ZERO)


def root(value, up):  # of a fraction: above its square root, or not above it
    part = math.isqrt((value.numerator * value.denominator) << (2 * BITS))
    return Fraction(part + up, value.denominator << BITS)


def exp(x):  # numbers below and above exp(x)
    halvings = math.floor(abs(x)).bit_length() + 1
    y, total, term = math.floor(x * 2 ** (BITS - halvings)), 0, 1 << BITS
    for k in range(1, 61):
        total, term = total + term, term * y // (k << BITS)
    low, high = total - SLACK, total + SLACK
    for _ in range(halvings):
        low, high = low * low >> BITS, (high * high >> BITS) + 1
    return Fraction(low, 1 << BITS), Fraction(high, 1 << BITS)


def artanh(t):  # of |t| <= 1/3, in units, less than SLACK wrong
    power, square = math.floor(t * 2**BITS), math.floor(t * t * 2**BITS)
    powers = accumulate(range(60), lambda value, _: value * square >> BITS, initial=power)
    return sum(value // (2 * k + 1) for k, value in enumerate(powers))


def log_above(x):  # a number above log(x), x > 0
    twos = x.numerator.bit_length() - x.denominator.bit_length()
    two = Fraction(2) ** twos  # x / two is from 1/2 to 2
    value = 2 * artanh((x - two) / (x + two)) + 2 * twos * artanh(Fraction(1, 3))
    return Fraction(value + 2 * SLACK * (1 + abs(twos)), 1 << BITS)


def xlogx(a):  # a number above it
    return a * log_above(a) if a else ZERO


def short(z):
    return max(1 - z, ZERO)


SQUARED = (lambda z: 2 * short(z), lambda a: a - a**2 / 4)
LOSSES: dict = {  # a number above loss(z); about -loss'(z); a number below min of loss(z) + a z
    "hinge": (short, lambda z: Fraction(z < 1), lambda a: a),
    "squared_hinge": (lambda z: short(z) ** 2, *SQUARED),
    "square": (lambda z: (1 - z) ** 2, lambda z: 2 * (1 - z), SQUARED[1]),
    "smooth_hinge": (
        lambda z: (short(z) ** 2 - short(z + 1) ** 2) / 2,
        lambda z: min(short(z), Fraction(1)),
        lambda a: a - a**2 / 2,
    ),
    "exponential": (lambda z: exp(-z)[1], lambda z: Fraction(math.exp(-z)), lambda a: a - xlogx(a)),
    "logistic": (
        lambda z: log_above(1 + exp(-z)[1]),
        lambda z: Fraction(1 / (1 + math.exp(z))),
        lambda a: -xlogx(a) - xlogx(1 - a),
    ),
}


def of_sum_one(pairs):
    total = sum(c for _, _, c in pairs)
    return [(i, j, c / total) for i, j, c in pairs if c]


class Statement:  # a problem as its line states it
    def __init__(self, line):
        self.line, self.lam = line, numbers(line["lam"])
        self.loss, self.slope, self.dual = LOSSES[line["loss"]]
        self.l1, self.structure = numbers(line.get("l1", 0)), numbers(line.get("structure", 0))
        X, self.near, self.linear = numbers(line["X"]), ZERO, "kernel" not in line
        if "gamma" in line:
            gamma, power, self.near = numbers(line["gamma"]), 1 + (line["kernel"] == "rbf"), CLOSE
            far = [[sum(abs(p - q) ** power for p, q in zip(x, z)) for z in X] for x in X]
            X = [[exp(-gamma * value)[0] for value in row] for row in far]
        # A common row cancels in all pairs, so rows are taken from the first one.
        self.X = [[p - q for p, q in zip(x, X[0])] for x in X] if self.linear else X
        self.sides, weight = [[], []], numbers(line.get("weight") or [1 for _ in X])
        for i, label in enumerate(line.get("y", [])):
            self.sides[label] += [i] if weight[i] else []
        self.share, (low, up) = [ZERO for _ in X], self.sides  # a row's share of its class
        for i in low + up:
            self.share[i] = weight[i] / sum(weight[j] for j in (up if i in up else low))
        plain = [[(i, j, self.share[i] * self.share[j]) for i in up for j in low]]
        listed = [[(i, j, Fraction(c)) for i, j, c in kept] for kept in line.get("pairs", plain)]
        self.choices = [of_sum_one(kept) for kept in listed]

    def worst(self, s, slip=ZERO):
        """Return the largest sum at scores within `slip` of s, from above, and its pairs."""
        choices, parts = self.choices, []
        if "rates" in self.line:  # the positives and negatives that count, of either class a part
            fpr_max, tpr_min = (Fraction(x) for x in self.line["rates"])
            for rows, share, sign in zip(self.sides, (fpr_max, 1 - tpr_min), (-1, 1)):
                most = max(share * len(rows), Fraction(1))
                rows = sorted(rows, key=lambda i: sign * s[i])
                parts.append([(i, min(max(most - k, 0), 1)) for k, i in enumerate(rows)])
            choices = [of_sum_one([(i, j, a * b) for i, a in parts[1] for j, b in parts[0]])]
        found = []
        for pairs in choices:  # a convex function is largest at an end
            margins = [(s[i] - s[j], c) for i, j, c in pairs]
            found.append(sum(c * max(self.loss(z + e) for e in {-slip, slip}) for z, c in margins))
        return max(zip(found, choices), key=lambda one: one[0])

    def scores(self, w):
        return [dot(row, w) for row in self.X]

    def scatter(self, s):  # R s; s'R s is the sum of the classes' variances
        means = [sum(self.share[i] * s[i] for i in rows) for rows in self.sides]
        return [r * (x - means[y]) for r, x, y in zip(self.share, s, self.line["y"])]

    def parts(self, w):  # of each group of features, l1^2 size and |w|^2
        for one in set(self.line["groups"]):
            own = [x * x for x, group in zip(w, self.line["groups"]) if group == one]
            yield self.l1**2 * len(own), sum(own)

    def above(self, w):
        """Return F(w), or a little more."""
        most, columns = self.line.get("k", len(w)), self.line.get("sign", [])
        if len([x for x in w if x]) > most or any(w[k] < 0 for k in columns):
            raise ValueError("the weights break a constraint")
        s, size = self.scores(w), sum(abs(x) for x in w)
        norm2 = dot(w, w) if self.linear else dot(w, s) + self.near * size**2
        if self.structure:
            slip = 16 * self.near * size * (1 + max(map(abs, s)))
            norm2 += self.structure * (dot(s, self.scatter(s)) + slip)
        extra = self.l1 * size
        if "groups" in self.line:
            extra = sum(root(r2 * own, True) for r2, own in self.parts(w))
        return self.worst(s, 2 * self.near * size)[0] + self.lam / 2 * norm2 + extra

    def below(self, w, proof):
        """Return a lower bound of the optimum."""
        if "k" in self.line:
            return self.best_subset(self.line["k"])
        V, c, missing = ZERO, [ZERO for _ in self.X], ZERO
        if "marginals" in proof and "mix" not in proof:
            V, c, missing = self.carried(numbers(proof["marginals"]))
        mix = [abs(x) for x in numbers(proof.get("mix", []))]
        for share, point in zip(mix, proof.get("points", [])):
            s, share = self.scores(numbers(point)), share / sum(mix)
            for i, j, weight in self.worst(s)[1]:
                a = self.slope(s[i] - s[j])
                V += share * weight * self.dual(a)
                c[i], c[j] = c[i] + share * weight * a, c[j] - share * weight * a
        if self.structure:  # s'R s >= 2 h'R s - h'R h for any h
            h = self.scores(w)
            R, t = self.scatter(h), self.lam * self.structure
            V, c = V - t / 2 * dot(h, R), [x - t * y for x, y in zip(c, R, strict=True)]
        if not self.linear:
            norm2 = dot(c, self.scores(c)) + self.near * sum(abs(x) for x in c) ** 2
            reach2 = max(row[i] for i, row in enumerate(self.X)) + self.near
        else:
            g, reach2 = [dot(column, c) for column in zip(*self.X)], max(dot(x, x) for x in self.X)
            for k in self.line.get("sign", []):
                g[k] = max(g[k], ZERO)
            if not self.lam:  # smaller slopes, of which D is at least as much smaller
                most = max(abs(x) for x in g) + root(reach2, True) * missing
                return V * min(Fraction(1), self.l1 / most)
            norm2 = sum(max(abs(x) - self.l1, ZERO) ** 2 for x in g)
            if "groups" in self.line:
                left = [(own, r2 / own) for r2, own in self.parts(g) if own > r2]
                norm2 = sum(own * (1 - root(share, False)) ** 2 for own, share in left)
        if missing:
            norm2 = (root(norm2, True) + root(reach2, True) * missing) ** 2
        return max(V - norm2 / (2 * self.lam), ZERO)

    def carried(self, c):
        """Return the largest flow of the hinge's marginals, these, and what is missing in it."""
        if self.line["loss"] != "hinge" or {"pairs", "rates"} & {*self.line}:
            raise ValueError("marginals are for the hinge over all pairs")
        (low, up), share, cap = self.sides, self.share, ZERO
        signs = [max if y else min for y in self.line["y"]]
        kept = [sign(x, ZERO) if r else ZERO for sign, x, r in zip(signs, c, share)]
        columns = sorted(low, key=lambda j: -kept[j] / share[j])
        filled = [*accumulate((-kept[j] for j in columns), initial=ZERO)]
        caps = [*accumulate((share[j] for j in columns), initial=ZERO)]
        least = left = total = sum(kept[i] for i in up)
        for i in sorted(up, key=lambda i: -kept[i] / share[i]):
            left, cap = left - kept[i], cap + share[i]
            k = bisect_right(columns, cap, key=lambda j: -kept[j] / share[j])
            least = min(least, left + filled[k] + (1 - caps[k]) * cap)
        return least, kept, total + filled[-1] - 2 * least

    def best_subset(self, k):
        """Return the least square loss with k features: every subset is tried."""
        columns = [*zip(*self.X)]
        apart = [[x[i] - x[j] for i, j, _ in self.choices[0]] for x in columns]
        shares = [c for _, _, c in self.choices[0]]
        mean = [dot(x, shares) for x in apart]
        A = [[2 * dot([p * q for p, q in zip(x, z)], shares) for z in apart] for x in apart]
        least = Fraction(1)
        for S in combinations(range(len(columns)), k):
            rows = [[A[p][q] + self.lam * (p == q) for q in S] + [2 * mean[p]] for p in S]
            for at in range(k):  # elimination; the matrix is positive definite
                rows[at] = [x / rows[at][at] for x in rows[at]]
                for r in [*range(at), *range(at + 1, k)]:
                    rows[r] = [x - rows[r][at] * z for x, z in zip(rows[r], rows[at])]
            least = min(least, 1 - dot([mean[p] for p in S], [row[-1] for row in rows]))
        return least


def check(line):
    """Return "proved" or "recorded only"; `ValueError` where the interval is not proved."""
    if isinstance(line["proof"], str):
        return line["proof"]
    problem, w = Statement(line["problem"]), numbers(line["w"])
    below, above = problem.below(w, line["proof"]), problem.above(w)
    exact = Fraction(line.get("exact", above))
    if not numbers(line["dual"]) <= below <= above == exact <= numbers(line["primal"]):
        raise ValueError(f"{line['name']}: only [{float(below)!r}, {float(above)!r}] is proved")
    return "proved"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("answers.jsonl")
    verdicts = [check(json.loads(text)) for text in path.read_text().splitlines()]
    print(f"{verdicts.count('proved')} of {len(verdicts)} answers proved, the others recorded only")
