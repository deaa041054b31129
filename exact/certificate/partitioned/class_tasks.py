"""Sums of each class that suffice for a loss: nothing is sent but a few numbers a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...spaces.partitions import Block, Merging
from ...sums.binned import Extent


@dataclass(eq=False)
class ClassSums:
    """Sums over the rows of each class, the negatives first."""

    numbers: np.ndarray
    vectors: np.ndarray
    norms: np.ndarray
    seen: Extent
    rows: int = 0
    parts: int = 1
    most: int = 0
    blocks: int = 0

    def merge(self, other: ClassSums) -> ClassSums:
        """Add the sums of other rows."""
        self.numbers += other.numbers
        self.vectors += other.vectors
        self.norms += other.norms
        self.seen.merge(other.seen)
        self.rows += other.rows
        self.parts += other.parts
        self.most = max(self.most, other.most)
        self.blocks += other.blocks
        return self

    @property
    def chain(self) -> int:
        """How many roundings a number passes at most, but for those of its own factors."""
        return self.most + self.blocks + self.parts + 16


@dataclass(frozen=True, eq=False)
class _ClassTask(Merging, ABC):
    """Sums of factors that are functions of the score."""

    offset: np.ndarray
    w: np.ndarray

    @abstractmethod
    def factors(
        self, scores: np.ndarray, mass: np.ndarray, positive: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what is summed of each row (k, m), and what its vector is multiplied by."""

    def run(self, blocks: Iterator[Block], index: int) -> ClassSums:
        """Return the sums of one partition."""
        # Of no rows: this tells how many sums there are.
        numbers, vectors = self.factors(np.zeros(0), np.zeros(0), True)
        shape = 2, vectors.shape[0]
        found = ClassSums(
            np.zeros((2, numbers.shape[0])),
            np.zeros((*shape, self.w.size)),
            np.zeros(shape),
            Extent(),
        )
        for columns, positive, weight in blocks:
            centred = columns - self.offset[:, None]
            scores = self.w @ centred
            found.seen.add(scores, positive)
            norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
            for side in (0, 1):
                own = positive == bool(side)
                mass = np.ones(int(own.sum())) if weight is None else weight[own]
                numbers, vectors = self.factors(scores[own], mass, bool(side))
                found.numbers[side] += numbers.sum(axis=1)
                found.vectors[side] += vectors @ centred[:, own].T
                found.norms[side] += np.abs(vectors) @ norms[own]
            found.rows += positive.size
            found.most = max(found.most, positive.size)
            found.blocks += 1
        return found


@dataclass(frozen=True, eq=False)
class MomentsTask(_ClassTask):
    """Sums of mass, mass |s|, mass s and mass s^2; and of the rows times mass and mass s."""

    def factors(
        self, scores: np.ndarray, mass: np.ndarray, positive: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what is summed of each row, and what its vector is multiplied by."""
        first = mass * scores
        numbers = np.stack([mass, np.abs(first), first, first * scores])
        return numbers, np.stack([mass, first])


@dataclass(frozen=True, eq=False)
class ExponentialTask(_ClassTask):
    """Sums of mass, f and f |x|, f = mass exp(x): x = level - s of positives, s - level of
    others."""

    levels: tuple[float, float]

    def factors(
        self, scores: np.ndarray, mass: np.ndarray, positive: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what is summed of each row, and what its vector is multiplied by."""
        x = self.levels[1] - scores if positive else scores - self.levels[0]
        # Above zero only where the range was guessed too small: then all is done again.
        factor = mass * np.exp(np.minimum(np.where(mass > 0, x, 0.0), 1.0))
        return np.stack([mass, factor, factor * np.abs(x)]), factor[None]
