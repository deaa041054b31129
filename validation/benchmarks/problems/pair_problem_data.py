"""Data of the pair problems' benchmark, and the stochastic rival for partial AUC."""

from __future__ import annotations

import numpy as np

GRADES = np.array([0.55, 0.3, 0.1, 0.03, 0.02])
"""Shares of the grades 0 .. 4, as in sets of learning to rank."""


def labelled(n: int, p: int, seed: int = 0, shift: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, p) of which one in five is positive, `shift` apart, and labels 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    y[:2] = 0, 1
    X = rng.normal(size=(n, p))
    X += shift * y[:, None] / np.sqrt(np.arange(1, p + 1))
    return X, y


def survival(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows (n, p), untied times and events: proportional hazards, half of them censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    death = rng.exponential(size=n) * np.exp(-X @ np.linspace(1.0, 0.1, p) / np.sqrt(p))
    censored = rng.exponential(size=n)
    return X, np.minimum(death, censored), death <= censored


def graded(
    n: int, p: int, rows: int, seed: int = 0, dense: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows (n, p), grades 0 .. 4 and the query of each row, about `rows` rows a query."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if not dense:
        X *= rng.random(size=(n, p)) < 0.2
    merit = X[:, : max(2, p // 10)].sum(axis=1) / np.sqrt(p // 10 + 1) + rng.normal(size=n)
    cuts = np.quantile(merit, np.cumsum(GRADES)[:-1])
    queries = np.sort(rng.integers(0, max(1, n // rows), n))
    return X, np.searchsorted(cuts, merit), queries


def sopa(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    fpr: float,
    step: float,
    passes: int = 10,
    batch: int = 64,
    seed: int = 0,
) -> np.ndarray:
    """Return the weights of SOPA for one-way partial AUC with the hinge and the ridge.

    [Zhu, Li, Wang, Zhang and Yang, ICML 2022, Algorithm 1] Each positive row has a threshold tau_i
    of the losses of its pairs; a batch of rows of each class moves

        tau_i  by  - step (1 - mean_j 1[loss_ij > tau_i] / fpr),
        w      by  - step (mean_ij 1[loss_ij > tau_i] / fpr * slope_ij + lam w),

    and the step falls to a tenth after half of the passes and again after three quarters. An
    implementation of our own, after LibAUC's `SOPA` and `pAUC_CVaR_Loss`.

    Parameters
    ----------
    X : array (n, p)
    y : array (n,)
        0 and 1.
    lam : float
    fpr : float
    step : float
    passes : int
        Over the positive rows.
    batch : int
        Rows of either class.
    seed : int
    """
    rng = np.random.default_rng(seed)
    up, low = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    w, tau = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    for k in range(passes):
        rate = step * (0.1 if k >= passes // 2 else 1.0) * (0.1 if k >= 3 * passes // 4 else 1.0)
        rng.shuffle(up)
        for start in range(0, up.size - batch + 1, batch):
            i, j = up[start : start + batch], rng.choice(low, batch)
            loss = np.maximum(0.0, 1.0 - (X[i] @ w)[:, None] + (X[j] @ w)[None, :])
            over = (loss > tau[i][:, None]) / fpr
            tau[i] -= rate * (1.0 - over.mean(axis=1))
            alpha = over * (loss > 0) / batch**2
            w -= rate * (lam * w - alpha.sum(axis=1) @ X[i] + alpha.sum(axis=0) @ X[j])
    return w
