"""A penalty of one's own is held to its contract at a few drawn points."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...spaces.rows import Space
from ...tools.rounding import Bound, gamma
from ..penalties.penalty import Penalty


def check_penalty(penalty: Penalty, space: Space) -> None:
    """Raise `InputError` if a penalty does not fit the space or breaks its contract there.

    At a few drawn points: value >= l2/2 |w|^2, p = g - residual(g) is in C as far as the support
    function tells (sigma(w) >= <p, w>), residual(g) is orthogonal to C there (sigma(r) = <p, r>),
    `distance` and `quick_distance` are |residual| of the pull, `shrink` leads into C, and where
    `zeros` are the residual is zero. Points prove nothing between them; they catch a false
    projection, a sign, a factor.
    """
    wanted = ("l2", "value", "distance", "residual")
    missing = [part for part in wanted if not hasattr(penalty, part)]
    if missing:
        raise InputError(
            f"unknown penalty {penalty!r}: take one of ours, or an object with "
            f"{', '.join(wanted)} (it lacks {missing[0]})"
        )
    said = f"the penalty {type(penalty).__name__}"
    if not (np.isfinite(penalty.l2) and penalty.l2 >= 0):
        raise InputError(f"{said} has l2 = {penalty.l2!r}: it must be finite and >= 0")
    if penalty.l2 == 0 and not hasattr(penalty, "shrink"):
        raise InputError(f"{said} has l2 = 0, so it needs a method shrink(g, error)")
    rng = np.random.default_rng(0)

    def support(w: np.ndarray) -> float:
        told = penalty.value(space, w)
        _check_error(told.error, "value", said)
        return told.value - penalty.l2 / 2 * space.norm2(w)

    for size in np.repeat([1e-3, 1.0, 1e3], 8):
        g, w = size * rng.normal(size=space.dim), rng.normal(size=space.dim)
        left = np.asarray(penalty.residual(g))
        if left.shape != g.shape or not np.isfinite(left).all():
            raise InputError(f"{said}: its residual must be {space.dim} finite numbers")
        inside, room = g - left, 1e-9 * (1 + float(np.abs(g).sum()))
        for v in (w, -w, np.abs(w), left):
            scale = room * (1 + float(np.abs(v).sum()))
            if not support(v) >= max(float(inside @ v), 0.0) - scale:
                raise InputError(f"{said}: g - residual(g) is outside the set of its own value")
        if not abs(support(left) - float(inside @ left)) <= room * (1 + float(np.abs(left).sum())):
            raise InputError(f"{said}: g - residual(g) is not the nearest point of its own set")
        _check_shrink(penalty, g, w, said)
        _check_zeros(penalty, g, said)
    _check_distances(penalty, space, said)


def _check_distances(penalty: Penalty, space: Space, said: str) -> None:
    """Raise `InputError` if a distance is not |residual|, or an error is below zero."""
    c = np.zeros(space.n)
    for size in (1e-3, 1.0, 1e3):
        c[0], c[-1] = size, -size
        g = space.pull(c)
        true = float(np.linalg.norm(penalty.residual(g)))
        room = gamma(4 * g.size + 64) * (float(np.linalg.norm(g)) + 2 * size * space.reach)
        for name in ("distance", "quick_distance"):
            told = getattr(penalty, name)(space, c) if hasattr(penalty, name) else Bound(true, 0.0)
            _check_error(told.error, name, said)
            if not abs(told.value - true) <= told.error + room:
                raise InputError(f"{said}: its {name} is not the norm of its residual")


def _check_error(error: float, name: str, said: str) -> None:
    """Raise `InputError` unless a bound of rounding is one."""
    if not error >= 0:
        raise InputError(f"{said}: the error of its {name} is {error!r}, a bound >= 0 is needed")


def _check_zeros(penalty: Penalty, g: np.ndarray, said: str) -> None:
    """Raise `InputError` if a weight that is said to be zero is not, at the ends of the error."""
    zeros = getattr(penalty, "zeros", None)
    if zeros is None:
        return
    for share in (0.0, 0.1, 0.9):
        error = share * np.abs(g)
        there = np.asarray(zeros(g, error))
        for e in (error, -error, np.sign(g) * error):
            if np.abs(np.asarray(penalty.residual(g + e))[there]).max(initial=0.0) > 0:
                raise InputError(f"{said}: it proves zeros where its residual is not zero")


def _check_shrink(penalty: Penalty, g: np.ndarray, along: np.ndarray, said: str) -> None:
    """Raise `InputError` if `shrink` leaves s (g + e) outside C for an e of a tenth of |g|."""
    shrink = getattr(penalty, "shrink", None)
    if shrink is None or g.size == 0:
        return
    error = 0.1 * float(np.linalg.norm(g))
    scale = shrink(g, error)
    if not 0 <= scale <= 1:
        raise InputError(f"{said}: it shrinks by {scale!r}, which is not between 0 and 1")
    unit = along / float(np.linalg.norm(along))
    for e in (unit, -unit, g / float(np.linalg.norm(g))):
        left = np.asarray(penalty.residual(scale * (g + error * e)))
        if not float(np.abs(left).max()) <= 1e-9 * scale * float(np.abs(g).max()):
            raise InputError(f"{said}: what it shrinks is outside its own set")
