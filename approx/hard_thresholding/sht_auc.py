"""Stochastic hard thresholding for sparse AUC: SHT-AUC. [SHT, Algorithm 1]

Minimise the mean square loss over all pairs with at most k nonzero weights, by

    w <- H_k(w - step * gradient of one random block at w).

Best subset selection is NP-hard, so that the result is no global optimum. The solution says how
near it is to a fixed point, and never carries a certificate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...exact.errors import InputError
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, split_labels
from ...exact.spaces.rows import Rows
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.checks import check_choice, check_count, check_number
from ..online.row_method import check_step
from ..online.row_stream import start_at
from .hard_threshold import hard_threshold
from .refinement import REFINEMENTS, refine_weights
from .sparse_solution import Epoch, SparseRecorder, SparseSolution, Stop


def sparse_problem(
    X: object,
    y: object,
    weight: np.ndarray | None = None,
    lam: float = 0.0,
    positive: object = None,
) -> RowAverage:
    """Return the square loss over all pairs of a data matrix and its labels. [SHT, eq. (4)]

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,)
        Two kinds of labels.
    weight : array (n,), optional
        Row weights, >= 0; a weight means repetition.
    lam : float
        >= 0, of a penalty lam/2 |w|^2; the paper has none.
    positive : label, optional
        The larger one by default.

    Raises
    ------
    InputError
        As `Rows`, `split_labels`, `AllPairs` and `RowAverage.of`.
    """
    mask, _, _ = split_labels(y, positive)
    return RowAverage.of(Rows(X), mask, AllPairs(weight), lam)


@dataclass(frozen=True)
class StochasticHardThresholding:
    """SHT-AUC. [SHT, Algorithm 1]

    Differs from the paper: 1. H_k keeps k features, not k - 1, see `hard_threshold`. 2. Where n
    is not a multiple of the number m of blocks, the mean of the paper's block losses is not F;
    here each block's sum over rows is multiplied by m, which is the same for equal blocks and
    unbiased for others. 3. The step is found from the data. 4. Of the points after each epoch the
    best one is returned unless ``keep="last"``.

    Class means and class shares are those of all rows in every block: with those of the block,
    the expected step does not vanish at the optimum, and a block without positives has none.

    Parameters
    ----------
    k : int
        Features to keep, >= 1; as many as there are, or more, means no thresholding.
    n_blocks : int, optional
        m; 1 by default, which is deterministic. Give this or `block_size`.
    block_size : int, optional
        Rows a block, at most: m = ceil(n / block_size), the blocks as equal as can be.
    step : "auto" or float
        "auto" is 1 / max L_i, with L_i the largest curvature of block i: no longer than the
        1 / rho+ of the paper's theory. It may well be several times longer in practice.
    max_epochs : int
        Epochs of m iterations each; a block is drawn with replacement in each iteration.
    tol : float
        Stationarity at which to stop, checked after each epoch; 0 for never.
    keep : {"best", "last"}
    mode : {"right", "authors"}
        "authors" is the published experiments' configuration: k - 1 features kept (eq. (6) to the
        letter), blocks cut in the order of the rows with the remainder in the last one, each with
        the mean of its own rows, and `step` (1 if "auto") times r (1 - r) along the gradient;
        the last point is returned. The experiments also bring the rows to length one:
        that is left to the data, and without it the step may be far too long.
    seed : int or None
        Draws the blocks and their order.
    max_time : float, optional
        Seconds for the iterations; bounding the curvature before them, and refining the answer
        after them, are not counted.
    refine : {"none", "refit", "swaps"}
        "none" leaves the answer as it is, as in the paper. "refit" takes the optimum on its
        features. "swaps" also exchanges one feature for another as long as that lowers the
        objective, see `refine_weights`. Refining has no history, and proves nothing.
    """

    k: int
    n_blocks: int | None = None
    block_size: int | None = None
    step: float | str = "auto"
    max_epochs: int = 200
    tol: float = 1e-6
    keep: str = "best"
    mode: str = "right"
    seed: int | None = 0
    max_time: float | None = None
    refine: str = "none"

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if self.n_blocks is not None and self.block_size is not None:
            raise InputError("give n_blocks or block_size, not both")
        for name in ("n_blocks", "block_size"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_step(self.step)
        check_count("max_epochs", self.max_epochs)
        check_number("tol", self.tol, closed="low")
        check_choice("keep", self.keep, ("best", "last"))
        check_choice("mode", self.mode, ("right", "authors"))
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        check_choice("refine", self.refine, REFINEMENTS)

    @property
    def literal(self) -> bool:
        """Whether this is the published experiments' configuration."""
        return self.mode == "authors"

    def solve(
        self,
        problem: RowAverage | Problem,
        w0: np.ndarray | None = None,
        callback: Callable[[Epoch], object] | None = None,
    ) -> SparseSolution:
        """Return the solution, started from `w0` (zero by default).

        Parameters
        ----------
        problem : RowAverage or Problem
            From `sparse_problem`; or a problem over rows with the square loss and all pairs, whose
            penalty then counts.
        w0 : array (d,), optional
            At most k nonzeros.
        callback : function of an `Epoch`, optional
            Called after each epoch.

        Raises
        ------
        InputError
            If the problem is another one, w0 does not fit, or there are more blocks than rows.
        """
        loss = RowAverage.of_problem(problem) if isinstance(problem, Problem) else problem
        w = self._start(w0, loss)
        blocks_rng, bound_rng = np.random.default_rng(self.seed).spawn(2)
        blocks = self.blocks(loss, blocks_rng)
        step = self._step(loss, blocks, bound_rng)
        recorder = SparseRecorder(
            loss,
            loss.curvature(bound_rng),
            self.k,
            self.tol,
            "last" if self.literal else self.keep,
            self.literal,
            self.max_time,
            callback,
        )
        walk = _Walk(self, blocks, step, blocks_rng, w)
        status = recorder.watch(walk.run)
        kept = self.k - 1 if self.literal else self.k
        if self.refine != "none" and kept > 0:
            recorder.improve(lambda w: refine_weights(loss, w, kept, self.refine))
        return recorder.finish(status, step, loss.delta, walk.n_iter)

    def blocks(self, loss: RowAverage, rng: np.random.Generator) -> list[RowAverage]:
        """Return the blocks, each as a loss of its own; their mean is F unless mode="authors"."""
        n = loss.mass.size
        m = self.n_blocks or 1
        if m > n:
            raise InputError(f"{m} blocks cannot be made of {n} rows")
        if self.literal:
            size = min(self.block_size or n // m, n)
            cuts = np.append(np.arange(n // size) * size, n)
            pieces = [slice(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
            return [loss.part(rows, n / (rows.stop - rows.start)) for rows in pieces]
        if self.block_size is not None:
            m = math.ceil(n / self.block_size)
        if m == 1:
            return [loss]
        return [loss.part(rows, m) for rows in np.array_split(rng.permutation(n), m)]

    def _start(self, w0: np.ndarray | None, loss: RowAverage) -> np.ndarray:
        w = start_at(w0, loss.dim)
        with np.errstate(over="ignore", invalid="ignore"):
            if w0 is not None and not np.isfinite(loss.value(w)):
                raise InputError("w0 is so large that the objective overflows")
        if np.count_nonzero(w) > self.k:
            raise InputError(f"w0 has {np.count_nonzero(w)} nonzeros, more than k = {self.k}")
        return w

    def _step(self, loss: RowAverage, blocks: list[RowAverage], rng: np.random.Generator) -> float:
        if self.literal:
            factor = 1.0 if isinstance(self.step, str) else float(self.step)
            return factor * loss.share * (1 - loss.share)
        if not isinstance(self.step, str):
            return float(self.step)
        steepest = max(block.curvature(rng) for block in blocks)
        return 1 / steepest if steepest > 0 else 1.0  # without curvature there is no gradient


@dataclass
class _Walk:
    """The iterations of one run."""

    solver: StochasticHardThresholding
    blocks: list[RowAverage]
    step: float
    rng: np.random.Generator
    w: np.ndarray
    n_iter: int = 0

    def run(self, recorder: SparseRecorder) -> Stop:
        m, stop = len(self.blocks), recorder.look(self.w, 0)
        for _ in range(self.solver.max_epochs):
            if stop is not None:
                return stop
            for at in self.rng.integers(m, size=m):
                if not self.move(self.blocks[at]):
                    return Stop.DIVERGED
                if recorder.out_of_time:
                    return recorder.look(self.w, self.n_iter) or Stop.TIME_LIMIT
            stop = recorder.look(self.w, self.n_iter)
        return stop or Stop.EPOCH_LIMIT

    def move(self, block: RowAverage) -> bool:
        """Make one iteration; False, and none is made, where the numbers overflow."""
        moved = self.w - self.step * block.gradient(self.w)
        if not np.isfinite(moved).all():
            return False
        self.w = hard_threshold(moved, self.solver.k, self.solver.literal)
        self.n_iter += 1
        return True
