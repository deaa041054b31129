"""What a stretch of partitions leaves behind between the two steps of a task.

Each partition leaves its own answer, unless the task has whole numbers that add up exactly: then
the stretch keeps one sum, whose answer stands in the place of its first partition.
"""

from __future__ import annotations

import copy
from typing import Any

from .engine import Staged
from .work import Folded, Node, Reply

Nodes = dict[Node, Reply[Any]]


class Messages:
    """A task whose answers are the messages of another one's first step."""

    def __init__(self, task: Staged):
        self.run, self.merge = task.run, task.merge_messages


class Left:
    """What the partitions of a stretch leave behind, as they come; nobody changes it afterwards."""

    def __init__(self, task: Staged, count: int):
        self.task, self.count = task, count
        self._sum = task.together()
        self._replies: dict[int, Reply[Any]] = {}
        self._told = Folded(Messages(task), count)

    def add(self, reply: Reply[Any], place: int) -> None:
        """Add the answer of a partition."""
        if self._sum is None:
            self._replies[place] = reply
            return
        self._sum.take(reply.answer)
        self._replies[place] = Reply(reply.digests, None)
        self._told.add(Reply(reply.digests, self.task.message(reply.answer)), place)

    def messages(self) -> Nodes:
        """Return the sums of the messages."""
        if self._sum is not None:
            return copy.deepcopy(self._told.nodes)
        told = Folded(Messages(self.task), self.count)
        for place, reply in self._replies.items():
            message = Reply(reply.digests, self.task.message(reply.answer))
            told.add(copy.deepcopy(message), place)
        return told.nodes

    def answers(self, second: Any) -> Nodes:
        """Return the sums of the answers of the second step."""
        folded, before = Folded(second, self.count), None
        for place, reply in self._replies.items():
            if self._sum is None:
                answer = second.answer(reply.answer)
            elif before is None:
                before = answer = second.answer(self._sum)
            else:
                answer = before.nothing()
            folded.add(Reply(reply.digests, answer), place)
        return folded.nodes
