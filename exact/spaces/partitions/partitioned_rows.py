"""Linear functions of rows that lie in partitions: only sums over all of them come here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...errors import CertificateError, InputError, NoRowsError
from ...tools.rounding import gamma
from ..rows import LARGEST_REACH, SMALLEST_REACH, FeatureWeights
from .engine import Engine, LocalEngine, Staged
from .facts import Facts, FactsTask
from .partition import Partition, Source, held_rows
from .thinning import Drawn, NamedTask, ThinningTask, assembled
from .work import Reply, Task, new_key

# Rows are fewer than this: counts of them, and small multiples of these, are exact in float64.
MOST_ROWS = 1 << 50

# The offset is the mean, rounded to the range of its column over two to this power.
OFFSET_BITS = 10


class PartitionedRows(FeatureWeights):
    """Linear functions f(x) = w'(x - offset) of rows in partitions, which stay where they are.

    Every pass is fingerprinted: each partition must answer once, and hold what it held when it was
    read first.

    Parameters
    ----------
    source : sequence of tuples, or Engine
        For each partition (X, positive) or (X, positive, weight): numbers (m, d), a bool array
        (m,), true for rows of the positive class, and weights (m,). Anything that has the methods
        of `Partition` may stand in place of a tuple. All are read by this process.
    columns : list of str, optional
        Names of the features.

    Attributes
    ----------
    n, dim : int
    offset : array (dim,)
    reach : float
        At least |x_i - offset| of every row.
    facts : Facts
    sample : Drawn or None
        The smallest sample that was drawn; and `last_range`, weights with the range of each
        class's scores: both only save a pass that would look for the range of scores.

    Raises
    ------
    InputError
        If the rows are not finite numbers, there are none, or a part is not a partition.
    """

    arrays: tuple[str, ...] = ("X", "positive")  # of a partition that is given as a tuple
    held: Callable[..., Partition] = staticmethod(held_rows)

    def __init__(self, source: Source | Engine, columns: list[str] | None = None):
        engine = source if hasattr(source, "staged") else LocalEngine(self._partitions(source))  # type: ignore[arg-type]
        self.engine: Any = engine
        self.columns = columns
        self._key = new_key()
        self._digests: dict[int, bytes] | None = None
        self.facts: Facts = self.first_pass()
        self.n, self.dim = self.facts.n, self.facts.low.size
        if self.n == 0:
            raise NoRowsError("all partitions are empty: there are no rows")
        if self.n >= MOST_ROWS:
            raise InputError(f"{self.n} rows are more than can be counted exactly: take a part")
        self.offset = _rounded_mean(self.facts)
        self.reach = self._reach()
        self.sample: Drawn | None = None
        self._drawn: dict[tuple[float, float], Drawn] = {}
        self.last_range: tuple[np.ndarray, np.ndarray] | None = None

    def _partitions(self, source: Source) -> list[Partition]:
        """Return the parts of `source`, tuples of arrays among them, as partitions."""
        parts, names = [], ", ".join(self.arrays)
        for k, part in enumerate(source):
            if not hasattr(part, "blocks"):
                if not isinstance(part, tuple) or len(part) - len(self.arrays) not in (0, 1):
                    raise InputError(f"partition {k} must be ({names}) or ({names}, weight)")
                part = self.held(f"partition {k}", *part)
            parts.append(part)
        return parts

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.dim

    @property
    def parts(self) -> int:
        """The number of partitions."""
        return self.engine.count

    def first_pass(self) -> Facts:
        """Return the facts: what the first pass over the rows finds."""
        return self.run(FactsTask())

    def run(self, task: Task) -> Any:
        """Return the sum of a task's answers over all partitions.

        Raises
        ------
        InputError
            If a partition is not what it was when it was read first.
        """
        return self._checked(self.engine.run(task, self._key)).answer

    def staged(self, task: Staged) -> tuple[Any, Callable[[Any], Any]]:
        """Return the sum of the messages of a task's first step, and what answers the second."""
        told, second = self.engine.staged(task, self._key)
        return self._checked(told).answer, lambda then: self._checked(second(then)).answer

    def _checked(self, reply: Reply[Any]) -> Reply[Any]:
        found = reply.digests
        if found.keys() != set(range(self.parts)):
            missing = min(set(range(self.parts)) ^ found.keys())
            raise CertificateError(f"partition {missing} has not answered: please report this")
        if self._digests is None:
            self._digests = found
        changed = [k for k in found if found[k] != self._digests[k]]
        if changed:
            raise InputError(
                f"partition {min(changed)} (from 0) changed while it was worked with: nothing is "
                "proved, start again when the data are complete"
            )
        return reply

    def drawn(self, share_neg: float, share_pos: float) -> Drawn:
        """Return evenly spread rows of each class, raw: the same ones however they are cut."""
        shares = share_neg, share_pos
        if shares in self._drawn:
            return self._drawn[shares]
        found = assembled(self.run(ThinningTask(self.before(), (share_neg, share_pos))))
        self._drawn = {shares: found}  # the next problem over these rows begins with the same
        if self.sample is None or found.rows.size < self.sample.rows.size:
            self.sample = found
        return found

    def named(self, negative: np.ndarray, positive: np.ndarray) -> Drawn:
        """Return the rows of these numbers within their class, ascending, as they are: a pass."""
        return assembled(self.run(NamedTask(self.before(), (negative, positive))))

    def before(self) -> dict[int, tuple[int, int]]:
        """Return how many negative and positive rows the partitions before each one have."""
        before, seen = {}, [0, 0]
        for k in range(self.parts):
            n, plus = self.facts.sizes[k]
            before[k] = (seen[0], seen[1])
            seen = [seen[0] + n - plus, seen[1] + plus]
        return before

    def score_slip(self, w: np.ndarray) -> float:
        """Return gamma_{d+3} max |x_i - offset| |w|, a bound of the rounding in every score."""
        return gamma(self.dim + 3) * self.reach * float(np.linalg.norm(w)) * (1 + gamma(self.dim))

    def scores(self, w: np.ndarray) -> NoReturn:
        """Refuse: the scores are as long as the data, and never come here."""
        raise InputError("the scores of rows in partitions are never held: evaluate the problem")

    careful_scores = pull = dual_norm2 = dual_norm2_error = scores

    def _reach(self) -> float:
        """Return the distance from the offset to the farthest corner of the box of all rows."""
        ends = np.maximum(self.facts.high - self.offset, self.offset - self.facts.low)
        with np.errstate(over="ignore"):
            reach = float(np.sqrt(np.sum(ends * ends))) * (1 + gamma(self.dim + 8))
        if not reach <= LARGEST_REACH:
            raise InputError("X has values so large that their squares overflow: rescale it")
        if 0 < reach < SMALLEST_REACH:
            raise InputError("X has values so small that their squares underflow: rescale it")
        return reach


def _rounded_mean(facts: Facts) -> np.ndarray:
    """Return the mean with few digits: the same number however the rows are cut and added up."""
    spread = facts.high - facts.low
    step = np.ldexp(1.0, np.frexp(spread)[1] - OFFSET_BITS)
    mean = np.clip(facts.total / facts.n, facts.low, facts.high)
    near = np.rint(np.where(spread > 0, mean / step, 0.0)) * step
    return np.where(spread > 0, near, facts.low)
