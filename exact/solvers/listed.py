"""The hinge over few ordered pairs: they are listed, and solved as a list.

Where a coordinate has few pairs, smoothing stalls: a handful of pairs at their margin decide all.
A row can be the upper one of some pairs and the lower one of others, so that the list is over two
copies of the rows. Both problems have the same coordinates, objective and optimum, and each alpha
of the list is one of the ordered pairs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import dual_value
from ..certificate.solution import Recorder
from ..losses.registry import Hinge
from ..pairs.all_pairs import PairList
from ..problem.evidence import Alpha
from ..problem.minorant import Minorant
from ..problem.problem import Problem, pair_problem
from ..spaces.rows import Rows
from .active_pairs import ActivePairs

LARGEST_COPY = 20_000_000  # Numbers in the rows up to which they are copied for the list.


def solve_listed(problem: Problem, recorder: Recorder, tol: float) -> None:
    """Offer the solution over the listed pairs, where the loss is the hinge and they are few."""
    listed, space = getattr(problem.pairs, "listed", None), problem.space
    if listed is None or not isinstance(problem.loss, Hinge) or not isinstance(space, Rows):
        return
    if 2 * space.n * space.dim > LARGEST_COPY:
        return
    found = listed()
    if found is None:
        return
    i, j, c = found
    twice = _as_matrix(space.rows(np.tile(np.arange(space.n), 2)))
    labels = np.repeat([True, False], space.n)
    pairs = PairList(i, j + space.n, c)
    few = pair_problem(Rows(twice), labels, pairs, problem.loss, problem.penalty)
    solver = ActivePairs(tol, max_time=recorder.time_left)
    answer = solver.solve(few.named_rows(), recorder.best_w)
    recorder.offer(answer.w, problem.objective(answer.w))
    if isinstance(answer.witness.evidence, Alpha):
        witness = Minorant.from_alpha(problem, answer.witness.evidence.alpha)
        recorder.offer(witness=witness, dual=dual_value(problem, witness)[0])
    recorder.step()


def _as_matrix(rows: np.ndarray | sp.csr_matrix) -> np.ndarray | sp.csr_matrix:
    """Return rows as a matrix that `Rows` takes: an array, or CSR."""
    return rows if isinstance(rows, np.ndarray) else rows.tocsr()
