"""The passes over a window's pairs that `multipliers` makes, compiled, for many pairs."""

from __future__ import annotations

from ...tools.compiling import compiled


@compiled
def slopes(s, i, j, c, alpha, sigma, z, b, u):  # pragma: no cover - compiled
    """Fill shortfalls z, slopes b and marginals u (zeros before); return the smoothing's bias."""
    bias = 0.0
    for k in range(i.size):
        p, q = i[k], j[k]
        short = 1.0 - (s[p] - s[q])
        slope = min(max(alpha[k] + short / sigma, 0.0), 1.0)
        z[k] = short
        b[k] = slope
        mass = c[k] * slope
        u[p] += mass
        u[q] -= mass
        bias += c[k] * (max(short, 0.0) - slope * short)
    return bias


@compiled
def mass_along(c, alpha, z, change, sigma, length):  # pragma: no cover - compiled
    """Return sum_k c_k b_k e_k, b the slopes after a step of this length, e their rates."""
    total = 0.0
    for k in range(c.size):
        slope = min(max(alpha[k] + (z[k] - length * change[k]) / sigma, 0.0), 1.0)
        total += c[k] * slope * change[k]
    return total
