"""Which evaluator a smooth loss over partitions has."""

from __future__ import annotations

from ...problem.problem import Problem
from .class_sums import OfClasses
from .lined import Lined


def smooth_over_partitions(problem: Problem) -> Lined | OfClasses:
    """Return the evaluator of a problem with another loss than the hinge over partitions."""
    return OfClasses(problem) if OfClasses.suits(problem.loss) else Lined(problem)
