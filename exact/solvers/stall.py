"""When a run has stalled: the rules of all solvers, in one object."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rule:
    """So many rounds in a row without progress end a run. Progress is a value that falls below its
    share of what it was at the last progress, so that steady slow progress counts."""

    patience: int
    shares: tuple[float, ...] = (0.9,)


@dataclass(frozen=True)
class StallRules:
    """The rules, by what they are for; values are the gap unless said otherwise."""

    rows: Rule = Rule(30, (0.9, 0.25, 0.99))  # gap, |gradient|^2, F; 12 stopped healthy runs
    tails: Rule = Rule(12, (0.9, 0.25, 0.99))  # partial AUC has mixtures to go on with
    kernels: Rule = Rule(100, (0.9, 0.25, 0.99))  # more patience replaces cuts, which cost more
    window: Rule = Rule(6)  # changes of multipliers
    finish: Rule = Rule(3, (0.5,))  # windows: each should gain much
    cuts: Rule = Rule(60)  # the gap falls in bursts
    proximal: Rule = Rule(3000, (0.99,))  # a step costs little, and acceleration oscillates
    pivots: Rule = Rule(3, (1.0,))  # rows to move; afterwards one at a time


STALL = StallRules()


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
