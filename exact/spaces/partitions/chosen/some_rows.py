"""Some of the rows of each partition: an engine that runs every task on those chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..engine import Engine, Staged
from ..work import Reply, Task


class Choice(Protocol):
    """Chooses rows of a partition; travels to wherever it lies."""

    def chosen(self, blocks: Iterator[Any], index: int) -> Iterator[Any]:
        """Yield the rows of partition `index` that are meant."""
        ...


@dataclass(frozen=True, eq=False)
class SomeRowsTask:
    """A task, or one in two steps (`Staged`), on the rows that `choice` chooses."""

    task: Any
    choice: Choice

    def run(self, blocks: Iterator[Any], index: int) -> Any:
        """Return the task's answer for the chosen rows of one partition."""
        return self.task.run(self.choice.chosen(blocks, index), index)

    def merge(self, first: Any, second: Any) -> Any:
        """Return the sum of two answers."""
        return self.task.merge(first, second)

    def message(self, left: Any) -> Any:
        """Return the part that the first step tells."""
        return self.task.message(left)

    def together(self) -> Any:
        """Return what adds up what partitions leave behind, if anything does."""
        return self.task.together()

    def merge_messages(self, first: Any, second: Any) -> Any:
        """Return the sum of two of these parts."""
        return self.task.merge_messages(first, second)


@dataclass(frozen=True, eq=False)
class SomeRowsEngine:
    """An engine that runs every task on the rows that `choice` chooses."""

    engine: Engine
    choice: Choice

    @property
    def count(self) -> int:
        """The number of partitions."""
        return self.engine.count

    @property
    def kept_numbers(self) -> int:
        """How many numbers a partition may leave behind between two steps."""
        return self.engine.kept_numbers

    @property
    def kept_together(self) -> int:
        """How many numbers a stretch of partitions may leave behind, where it keeps one sum."""
        return self.engine.kept_together

    def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
        """Return the sum of the answers."""
        return self.engine.run(SomeRowsTask(task, self.choice), key)

    def staged(
        self, task: Staged, key: np.ndarray
    ) -> tuple[Reply[Any], Callable[[Any], Reply[Any]]]:
        """Return the sum of the messages, and what answers the second step."""
        return self.engine.staged(SomeRowsTask(task, self.choice), key)

    def close(self) -> None:
        """Leave the partitions to whoever has the engine."""
