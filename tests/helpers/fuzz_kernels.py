"""Kinds of the fuzzer: kernels and structures, judged by kernel values to 2^-160."""

from __future__ import annotations

from typing import Any

import numpy as np

import naive
from aucert.exact import solve
from fuzz_rows import (
    Hard,
    copied,
    hard_labels,
    hard_lam,
    hard_loss,
    hard_pairs,
    hard_rows,
    hard_values,
    rewritten,
)
from fuzz_truth import TIGHT, Claim, NaiveTruth, faults, true_gram
from fuzzing import Found


def kernel(rng: np.random.Generator, found: Found) -> None:
    """Gaussian and Laplacian kernels of dense rows."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "offset", "wide"])))
    if rng.uniform() < 0.15:  # so many features that distances are made of products
        y = hard_labels(rng, 7)
        X = hard_values(rng, y, 70, str(rng.choice(["gaussian", "duplicates", "offset"]))) / 8
        hard = Hard(X, X, y, "many features")
    kernel_solved(rng, hard, ["rbf", "laplacian"][rng.integers(2)], found)


def structured(rng: np.random.Generator, found: Found) -> None:
    """The structured norm, of features and of kernels."""
    hard = hard_rows(rng, 10, str(rng.choice(["gaussian", "ties", "duplicates", "wide", "equal"])))
    structure = float(10.0 ** rng.uniform(-3, 4))
    name = ["linear", "rbf", "laplacian"][rng.integers(3)]
    kernel_solved(rng, hard, name, found, structure)


def kernel_solved(
    rng: np.random.Generator, hard: Hard, name: str, found: Found, structure: float = 0.0
) -> None:
    """Solve with a kernel, and judge by kernel values to 2^-160."""
    lam = float(10.0 ** rng.uniform(-5, 1)) if name != "linear" else hard_lam(rng, hard.true)
    loss, pairs = hard_loss(rng), hard_pairs(rng, hard.true, hard.y)
    gamma = None if name == "linear" else float(10.0 ** rng.uniform(-3, 1))
    source = ["full", "sampled"][rng.integers(2)]
    found.name = (
        f"{hard.name}, {name}, gamma {gamma}, {loss}, lam {lam:.2g}, {type(pairs).__name__}, "
        f"structure {structure:.2g} {source}"
    )
    shape: Any = {"kernel": name, "gamma": gamma, "loss": loss, "pairs": pairs}
    shape |= {"structure": structure, "structure_source": source}
    untouched = copied(hard.X)
    solution = solve(hard.X, hard.y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **shape)
    found.judged(rewritten(hard.X, untouched))
    tight = solve(hard.true, hard.y, lam, **shape, **TIGHT)
    featured = gamma is None
    rows = naive.exact(hard.true) if gamma is None else true_gram(hard.true, name, gamma)
    rest = (hard.positive, lam, loss, pairs, structure, source)
    truth = NaiveTruth(rows, not featured, *rest)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


def precomputed(rng: np.random.Generator, found: Found) -> None:
    """A kernel matrix, of whole numbers mostly: what is stored is semidefinite exactly then."""
    n = int(rng.integers(2, 12))
    y = hard_labels(rng, n)
    F = np.round(2 * rng.normal(size=(n, int(rng.integers(1, n + 2)))))
    K = (F @ F.T) * 2.0 ** int(rng.integers(-20, 20))
    if rng.uniform() < 0.3:
        F = rng.normal(size=(n, 3))
        K = np.exp(-((F[:, None] - F[None]) ** 2).sum(axis=2))
    lam, loss = hard_lam(rng, F) + float(np.abs(K).max()) * 1e-6, hard_loss(rng)
    pairs = hard_pairs(rng, F, y)
    found.name = f"precomputed, n {n}, {loss}, lam {lam:.2g}, {type(pairs).__name__}"
    shape: Any = {"kernel": "precomputed", "loss": loss, "pairs": pairs}
    solution = solve(K, y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **shape)
    tight = solve(K, y, lam, **shape, **TIGHT)
    truth = NaiveTruth(naive.exact(K), True, y == 1, lam, loss, pairs)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))
