"""Times and events of survival, and the weights that undo censoring."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...tools.checks import as_numbers, check_number
from .columns import BITS

# Uno's weights are at most so far apart: the unit then rounds the least by less than 2^-20.
FAR = 2.0**32


def as_survival(time: object, event: object) -> tuple[np.ndarray, np.ndarray]:
    """Return times as floats and events as truth values, both (n,)."""
    times, marks = as_numbers("time", time), as_numbers("event", event)
    if times.ndim != 1 or times.size == 0:
        raise InputError(f"time must have one number a row; its shape is {times.shape}")
    if marks.shape != times.shape:
        raise InputError(f"{times.size} times, but events of shape {marks.shape}")
    if not np.isfinite(times).all():
        row = int(np.flatnonzero(~np.isfinite(times))[0])
        raise InputError(f"the time of row {row} is {times[row]}: times must be finite")
    if (times < 0).any():
        row = int(np.flatnonzero(times < 0)[0])
        raise InputError(
            f"the time of row {row} is {times[row]}: times are >= 0, and what is censored stands "
            "in event, not in the sign"
        )
    seen = marks == 1
    if not (seen | (marks == 0)).all():
        row = int(np.flatnonzero(~(seen | (marks == 0)))[0])
        raise InputError(f"the event of row {row} is {marks[row]}: it must be 0 or 1")
    return times, seen


def uncensored(times: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different times and the Kaplan-Meier estimate G of being uncensored beyond them.

    At equal times events come before censoring: G(t) is the product over times s <= t of
    1 - censored(s) / (at risk at s less events at s).
    """
    kinds, place = np.unique(times, return_inverse=True)
    rows = np.bincount(place)
    events = np.bincount(place, weights=seen).astype(np.int64)
    at_risk = rows[::-1].cumsum()[::-1] - events
    lost = rows - events
    ratio = np.divide(lost, at_risk, out=np.zeros(kinds.size), where=lost > 0)
    return kinds, np.cumprod(1.0 - ratio)


def censoring_weights(
    times: np.ndarray,
    seen: np.ndarray,
    tau: float | None = None,
    train: tuple[object, object] | None = None,
) -> np.ndarray:
    """Return event / G(time)^2, zero from `tau` on: (n,). Arguments as in `uno_pairs`.

    They are rounded to whole multiples of one unit, which ordered pairs hold exactly.
    G is not known beyond the last time of `train`: an event there is refused.
    """
    kinds, survival = uncensored(*((times, seen) if train is None else as_survival(*train)))
    chosen = seen.copy()
    if tau is not None:
        chosen &= times < check_number("tau", tau, -np.inf)
    late = chosen & (times > kinds[-1])
    if late.any():
        row = int(np.argmax(late))
        raise InputError(
            f"the event of row {row} at time {times[row]} is beyond {kinds[-1]}, the last time of "
            f"train, where censoring is not known: choose a tau up to {kinds[-1]}"
        )
    at = np.searchsorted(kinds, times, side="right")
    G = np.concatenate([[1.0], survival])[at]
    if (G[chosen] <= 0).any():
        row = int(np.flatnonzero(chosen & (G <= 0))[0])
        raise InputError(
            f"no row is uncensored beyond time {times[row]} of row {row}: choose a smaller tau"
        )
    weight = np.where(chosen, 1.0 / np.where(chosen, G, 1.0) ** 2, 0.0)
    top = float(weight.max())
    if top > FAR * weight.min(where=chosen, initial=top):
        raise InputError(
            f"the weights 1 / G(time)^2 grow to {top:.2g}, so that a few late rows are all that "
            "counts: choose a smaller tau"
        )
    shift = BITS - int(np.frexp(top)[1])
    return np.ldexp(np.minimum(np.rint(np.ldexp(weight, shift)), 2.0**BITS - 1), -shift)
