"""Inputs of the arithmetic of exact/proof/check_proof.py, and what that file makes of them.

What it does in floating point (`scores`, `pull`) is given; its whole numbers and fractions are its
own. `validation/formal/vectors.json` holds the cases for the Coq side.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from aucert.exact.proof import check_proof

Case = dict[str, Any]


def inputs(seed: int) -> Case:
    """Return the inputs of one case: ties, rows that do not count, marginals that lack mass."""
    rng = np.random.default_rng([7, seed])
    n, q = int(rng.integers(3, 8)), int(rng.integers(2, 7))
    positive = rng.permutation(np.arange(n) < rng.integers(1, n))
    weight = rng.integers(1 - seed % 2, 4, n)
    weight[[positive.argmax(), (~positive).argmax()]] = 2
    case: Case = {
        "q": q,
        "scores": rng.integers(-(2**q), 2**q, n).tolist(),
        "slip": f"{int(rng.integers(1, 9))}/1024",
        "lam": f"{int(rng.integers(1, 9))}/8",
        "w": [f"{int(k)}/4" for k in rng.integers(-8, 9, 2)],
        "positive": positive.tolist(),
        "weight": weight.tolist(),
        "scale": f"{int(rng.integers(1, 5))}/4",
        "pull": [f"{int(k)}/16" for k in rng.integers(0, 40, 2)],
    }
    if seed % 2:
        return {**case, "bins": int(rng.integers(0, q + 1)), "half": int(rng.integers(0, 5))}
    cap = int(rng.integers(1, 5))
    most = cap * int(weight.sum())
    u, v = (rng.integers(0, most, k).tolist() for k in (positive.sum(), (~positive).sum()))
    return {**case, "cap": cap, "u": u, "v": v}


def evaluated(case: Case) -> Case:
    """Return what `check_proof.bounds` computes: u and v, what is missing, and both bounds."""
    positive, weight = np.array(case["positive"]), np.array(case["weight"])
    numbers = {name: float(Fraction(case[name])) for name in ("lam", "scale")}
    w = np.array([float(Fraction(x)) for x in case["w"]])
    proof: dict[str, Any] = {
        **{name: np.array(value) for name, value in numbers.items()},
        **{"w": w, "w_dual": w, "offset": np.zeros(w.size), "kind": np.array("weights")},
    }
    if "bins" in case:
        proof |= {"bins": np.array(2 ** case["bins"]), "half": np.array(case["half"])}
    else:
        proof |= {name: np.array(case[name]) for name in ("cap", "u", "v")}
        proof["kind"] = np.array("marginals")
    seen: Case = {}

    def scores(*_: object) -> tuple[int, np.ndarray, Fraction]:
        return case["q"], np.array(case["scores"]), Fraction(case["slip"])

    def pull(X: object, c: np.ndarray, r: object, offset: object, missing: int, *_: object) -> Any:
        seen["u"], seen["v"] = c[positive].tolist(), (-c[~positive]).tolist()
        seen["missing"] = int(missing)
        return np.array([float(Fraction(x)) for x in case["pull"]])

    X = np.zeros((positive.size, w.size))
    with mock.patch.multiple(check_proof, scores=scores, pull=pull):
        upper, lower, _ = check_proof.bounds(proof, X, positive, weight)
    return {**seen, "upper": str(upper), "lower": str(lower)}
