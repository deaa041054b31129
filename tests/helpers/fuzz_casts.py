"""Kinds of the fuzzer: numbers that float64 does not hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.exact import AllPairs, solve
from fuzz_rows import (
    hard_labels,
)
from fuzz_truth import TIGHT, Claim, NaiveTruth, faults
from fuzzing import Found


def casts(rng: np.random.Generator, found: Found) -> None:
    """Numbers that float64 does not hold: to be refused, or to be right."""
    n = int(rng.integers(4, 12))
    y = hard_labels(rng, n)
    kinds = ("int64", "uint64", "masked", "complex", "objects", "longdouble")
    kind = kinds[rng.integers(len(kinds))]
    small = rng.integers(0, 4000, size=(n, 2)) + 300 * y[:, None]
    found.name = f"cast of {kind}, n {n}"
    if kind == "masked":
        X: Any = np.ma.masked_array(small.astype(float), mask=rng.uniform(size=small.shape) < 0.3)
        X.mask[0, 0] = True
        rows = None
    elif kind == "complex":
        X, rows = small + 1j * rng.normal(size=small.shape), None
    elif kind == "longdouble":
        X = small.astype(np.longdouble) / 7 + np.longdouble(2) ** 52
        rows = naive.exact(X)
    else:
        whole = [[int(x) + 1_700_000_000_000_000_000 for x in row] for row in small.tolist()]
        X = np.array(whole, dtype=object if kind == "objects" else kind)
        rows = naive.exact(np.zeros((n, 2)))
        rows = [[Fraction(x) for x in row] for row in whole]
    lam = float(10.0 ** rng.uniform(0, 6))
    solution = solve(X, y, lam)
    if rows is None:
        found.judged([f"a certificate of {kind} numbers"])
        return
    tight = solve(small.astype(float), y, lam, **TIGHT)
    truth = NaiveTruth(rows, False, y == 1, lam, "hinge", AllPairs())
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))
