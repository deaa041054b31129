"""The online methods written down naively: dense vectors, one loop, no tricks, no shared code."""

from __future__ import annotations

import math

import numpy as np


def draw(n: int = 40, d: int = 25, density: float = 0.3, seed: int = 0):
    """Mostly zero rows of length one at most, the mask of the positive ones; signal in two."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    X[:, :2] += positive[:, None]
    return X / np.linalg.norm(X, axis=1).max(), positive


def shrink(u: np.ndarray, cut: float | np.ndarray) -> np.ndarray:
    return np.sign(u) * np.maximum(np.abs(u) - cut, 0.0)


def into_l1_ball(v: np.ndarray, radius: float) -> np.ndarray:
    """The nearest point of the l1 ball, its threshold found by sorting."""
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    cuts = (np.cumsum(sizes) - radius) / np.arange(1, sizes.size + 1)
    return shrink(v, cuts[np.flatnonzero(sizes > cuts)[-1]])


def spam(X, positive, order, eta, l1, l2, w0):
    """Last point and the sum of the points."""
    plus, minus, r = X[positive].mean(axis=0), X[~positive].mean(axis=0), positive.mean()
    w, total = w0.copy(), np.zeros_like(w0)
    for i, step in zip(order, eta, strict=True):
        a, b, s = w @ plus, w @ minus, w @ X[i]
        alpha = b - a
        if positive[i]:
            g = (2 * (1 - r) * (s - a) - 2 * (1 + alpha) * (1 - r)) * X[i]
        else:
            g = (2 * r * (s - b) + 2 * (1 + alpha) * r) * X[i]
        w = shrink(w - step * g / (r * (1 - r)), step * l1) / (1 + step * l2)
        total += w
    return w, total


def saddle_slopes(x, is_positive, p, w, a, b, alpha):
    """Slopes of the saddle function of one row in w, a, b, alpha."""
    s, weight = w @ x, -2 * p * (1 - p) * alpha
    if is_positive:
        g = 2 * (1 - p) * (s - a) * x - 2 * (1 + alpha) * (1 - p) * x
        return g, -2 * (1 - p) * (s - a), 0.0, weight - 2 * (1 - p) * s
    g = 2 * p * (s - b) * x + 2 * (1 + alpha) * p * x
    return g, 0.0, -2 * p * (s - b), weight + 2 * p * s


def solam(X, positive, order, step, radius, kappa, exact=None):
    """Weighted mean, last point, and (a, b, alpha)."""
    w, a, b, alpha = np.zeros(X.shape[1]), 0.0, 0.0, 0.0
    points, lengths, wide = [], [], radius * kappa
    for t, i in enumerate(order, start=1):
        p = exact or positive[order[:t]].mean()
        gamma = step / math.sqrt(t)
        points.append(w)
        lengths.append(gamma)
        g, ga, gb, galpha = saddle_slopes(X[i], positive[i], p, w, a, b, alpha)
        w = w - gamma * g
        w = w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))
        a = float(np.clip(a - gamma * ga, -wide, wide))
        b = float(np.clip(b - gamma * gb, -wide, wide))
        alpha = float(np.clip(alpha + gamma * galpha, -2 * wide, 2 * wide))
    return np.average(points, axis=0, weights=lengths), w, (a, b, alpha)


def fsauc(X, positive, order, eta, radius, kappa, n_stages, stage_size, exact=None, w0=0.0):
    """The answer, and how often each of the two balls was left."""
    d, wide, left = X.shape[1], radius * kappa, np.zeros(2, dtype=int)
    centre, alpha0, r = np.zeros(d + 2), 0.0, 2 * math.sqrt(1 + 2 * kappa**2) * radius
    centre[:d] += w0
    D, beta = 2 * math.sqrt(2) * kappa * r, 1 + 8 * kappa**2
    log, at = math.log(12 / 0.1), 0
    for _ in range(n_stages):
        v, alpha, points = centre, alpha0, []
        for _ in range(stage_size):
            i = order[at]
            at += 1
            p = exact or positive[order[:at]].mean()
            g, ga, gb, galpha = saddle_slopes(X[i], positive[i], p, v[:d], v[d], v[d + 1], alpha)
            v, alpha = v - eta * np.append(g, [ga, gb]), alpha + eta * galpha
            left[0] += np.abs(v[:d]).sum() > radius
            v = np.append(into_l1_ball(v[:d], radius), np.clip(v[d:], -wide, wide))
            alpha = np.clip(alpha, -2 * wide, 2 * wide)
            far = np.linalg.norm(v - centre)
            left[1] += far > r
            v = centre + (v - centre) * min(1.0, r / max(far, 1e-300))
            alpha = alpha0 + np.clip(alpha - alpha0, -D, D)
            points.append(v)
        seen = order[:at]
        plus, minus = (X[seen[positive[seen] == sign]].mean(axis=0) for sign in (True, False))
        centre, r = np.mean(points, axis=0), r / 2
        alpha0 = centre[:d] @ (minus - plus)
        p = exact or positive[seen].mean()
        rare, c = min(p, 1 - p), 2 + math.sqrt(2 * log)
        root = rare * stage_size - math.sqrt(2 * stage_size * log)
        D = math.inf
        if root > 0:
            D = 2 * math.sqrt(2) * kappa * r
            D += 4 * math.sqrt(2) * kappa * c * (1 + 2 * kappa) * radius / math.sqrt(root)
        over = rare - math.sqrt(2 * log / stage_size)
        later = 1 + 8 * kappa**2 + 32 * kappa**2 * c**2 * (1 + 2 * kappa) ** 2 / over
        later = later if over > 0 else 1e7
        eta, beta = min(math.sqrt(later / beta) * eta / 2, eta), later
    return centre[:d], left


def logistic_slopes(X, positive, w, c):
    """Slope of log(1 + exp(-y (w'x + c))) of each row in (w, c): (n, d + 1)."""
    y = np.where(positive, 1.0, -1.0)
    pull = -y / (1 + np.exp(y * (X @ w + c)))
    return pull[:, None] * np.column_stack([X, np.ones(y.size)])


def keep(w: np.ndarray, k: int) -> np.ndarray:
    """The k largest entries, of tied ones the first."""
    places = sorted(range(w.size), key=lambda j: (-abs(w[j]), j))[:k]
    return np.where(np.isin(np.arange(w.size), places), w, 0.0)


def thresholded(X, positive, batches, factors, step, k, c):
    """Hard-thresholded logistic steps: the last (w, c)."""
    w = np.zeros(X.shape[1])
    for batch, factor in zip(batches, factors, strict=True):
        g = factor * logistic_slopes(X[batch], positive[batch], w, c).sum(axis=0)
        w, c = keep(w - step * g[:-1], k), c - step * g[-1]
    return w, c
