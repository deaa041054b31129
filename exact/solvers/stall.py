"""When a run has stalled: the rules of all solvers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Rule(NamedTuple):
    """So many rounds in a row without progress end a run. Progress is a value that falls below its
    share of what it was at the last progress, so that steady slow progress counts."""

    patience: int
    shares: tuple[float, ...] = (0.9,)


class STALL:
    """The rules, by what they are for; values are the gap unless said otherwise."""

    rows = Rule(30, (0.9, 0.25, 0.99))  # gap, |gradient|^2, F; 12 stopped healthy runs
    tails = Rule(12, (0.9, 0.25, 0.99))  # partial AUC has mixtures to go on with
    kernels = Rule(100, (0.9, 0.25, 0.99))  # more patience replaces cuts, which cost more
    window = Rule(6)  # changes of multipliers
    finish = Rule(3, (0.5,))  # windows: each should gain much
    cuts = Rule(60)  # the gap falls in bursts
    proximal = Rule(3000, (0.99,))  # a step costs little, and acceleration oscillates
    pivots = Rule(3, (1.0,))  # rows to move; afterwards one at a time


class Idle:
    """Counts the rounds since the last progress."""

    def __init__(self, rule: Rule):
        self.rule, self.rounds = rule, 0
        self.least = [np.inf for _ in rule.shares]

    def after(self, *values: float) -> bool:
        """Return whether the run has stalled after a round with these values."""
        self.rounds += 1
        both = list(zip(values, self.least, strict=True))
        if any(x < share * least for share, (x, least) in zip(self.rule.shares, both, strict=True)):
            self.rounds, self.least = 0, [min(pair) for pair in both]
        return self.rounds >= self.rule.patience
