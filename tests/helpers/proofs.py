"""Honest proofs and awkward data for the tests of proof files and of their checker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aucert.exact.api.solve import solve
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof


def awkward(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Small data (X, positive, repetitions, lam) of a kind that has broken certificates."""
    rng = np.random.default_rng(sum(map(ord, name)))
    n = 24
    X, positive, r, lam = rng.normal(size=(n, 2)), np.arange(n) % 3 == 0, np.ones(n, int), 0.05
    X[positive] += 0.5
    if name == "ties":
        X = np.round(X)
    elif name == "tiny lam":
        lam = 1e-9
    elif name == "large lam":
        lam = 1e6
    elif name == "offset":
        X = X + np.array([1e8, -1e5])
    elif name == "large":
        X, lam = X * 1e6, 1e10
    elif name == "small":
        X, lam = X * 1e-7, 1e-16
    elif name == "one positive":
        positive = np.arange(n) == 5
    elif name == "duplicates":
        X, positive = np.repeat(X[:8], 3, axis=0), np.repeat(positive[:8], 3)
    elif name == "repetitions":
        r = rng.integers(0, 5, n)
    elif name == "many repetitions":
        r = rng.integers(0, 2**25, n)
    elif name == "separable":
        X[positive] += 8.0
    elif name == "constant":
        X[:, 1] = 7.0
    elif name == "zero":
        X = np.zeros((n, 2))
    return X, positive, r, lam


NAMES = (
    "plain, ties, tiny lam, large lam, offset, large, small, one positive, duplicates, "
    "repetitions, many repetitions, separable, constant, zero"
).split(", ")


def scalars(**fields: object) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in fields.items()}


def by_weights(
    X: np.ndarray, w: np.ndarray, lam: float, bins: int = 64, half: int = 3, scale: float = 1.0
) -> dict[str, np.ndarray]:
    """The fields of a proof whose dual point is made from the scores of w."""
    found = scalars(kind="weights", lam=lam, w=w, w_dual=w, offset=X.mean(axis=0), scale=scale)
    return found | scalars(bins=bins, half=half)


def by_marginals(
    X: np.ndarray, w: np.ndarray, lam: float, u: np.ndarray, v: np.ndarray, cap: int
) -> dict[str, np.ndarray]:
    """The fields of a proof whose dual point is given by its marginals."""
    found = scalars(kind="marginals", lam=lam, w=w, offset=X.mean(axis=0), scale=1.0)
    return found | scalars(u=u, v=v, cap=cap)


def honest_proofs(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Return the data, and a proof of either kind whose claims are as tight as can be verified."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3 == 0
    X = rng.normal(size=(90, 3)) + 0.7 * y[:, None] + 4.0
    r = rng.integers(1, 4, 90)
    solution = solve(X, y, 0.02, sample_weight=r, tol=1e-12)
    path = folder / "proof.npz"
    write_proof(path, X, y, 0.02, solution, sample_weight=r)
    with np.load(path) as file:
        marginals = dict(file)
    weights = {k: x for k, x in marginals.items() if k not in ("u", "v", "cap")}
    weights |= by_weights(X, solution.w, 0.02, 2**12, 40)
    for proof in (marginals, weights):
        upper, lower, digest = check_proof.bounds(proof, X, y, r)
        proof |= scalars(primal=float(upper) + 1e-15, dual=float(lower) - 1e-15, sha256=digest)
        proof["gap"] = np.asarray(float(upper - lower) * 1.001)
    return {"data": {"X": X, "y": y, "weight": r}, "marginals": marginals, "weights": weights}


def verdict(proof: dict[str, np.ndarray], data: dict[str, np.ndarray]) -> str:
    return check_proof.check(proof, data["X"], np.asarray(data["y"]), data["weight"])


def changed(x: np.ndarray, at: Any, value: object) -> np.ndarray:
    """Return a copy with other values at one place."""
    out = np.array(x)
    out[at] = value
    return out
