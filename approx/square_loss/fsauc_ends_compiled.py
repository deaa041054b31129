"""The parts of FSAUC's step that do not depend on the lists: a, b, alpha, and the centre's ball.

Loops, where slices would say the same: the compiler takes seconds over what slices may raise.
"""

from __future__ import annotations

import math

from ...exact.tools.compiling import compiled


@compiled
def squared(x, d):  # pragma: no cover
    """Return the squared norm of the first d entries."""
    total = 0.0
    for j in range(d):
        total += x[j] * x[j]
    return total


@compiled
def into_ball(point, centre, ball):  # pragma: no cover
    """Project the point on the ball around the centre; return its distance from the centre."""
    squares = 0.0
    for j in range(point.size):
        squares += (point[j] - centre[j]) ** 2
    away = math.sqrt(squares)
    share = ball / max(away, ball) if ball > 0.0 else 0.0
    for j in range(point.size):
        point[j] = centre[j] + share * (point[j] - centre[j])
    return min(away, ball)


@compiled
def move_ends(score, is_positive, limits, point, duals, counts):  # pragma: no cover
    """Count the row, move a, b and alpha into their boxes, and return the factor of x in w."""
    counts[0] += 1
    counts[1] += 1 if is_positive else 0
    p = limits[5] if limits[5] > 0.0 else counts[1] / counts[0]
    a, b, alpha, d = point[-2], point[-1], duals[0], point.size - 2
    eta, wide = limits[4], limits[0] * limits[1]
    if is_positive:
        q = 2.0 * (1.0 - p)
        slope = q * (score - a - 1.0 - alpha)
        point[d] = a - eta * q * (a - score)
        duals[0] = alpha - eta * q * (score + p * alpha)
    else:
        q = 2.0 * p
        slope = q * (score - b + 1.0 + alpha)
        point[d + 1] = b - eta * q * (b - score)
        duals[0] = alpha + eta * q * (score - (1.0 - p) * alpha)
    point[d] = min(max(point[d], -wide), wide)
    point[d + 1] = min(max(point[d + 1], -wide), wide)
    duals[0] = min(max(duals[0], -2.0 * wide), 2.0 * wide)
    return slope
