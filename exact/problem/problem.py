"""The problem: data and no algorithm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, brief
from ..losses.loss import Loss
from ..losses.registry import get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.labels import Labelled, split_labels
from ..spaces.rows import Rows, Space
from ..sums.assembled import PairSums
from ..tools.checks import adapted
from ..tools.lossless import as_float64
from .minorant import Risk
from .penalties import OURS, Penalty, Ridge, check_penalty
from .risk import Mean
from .tail import Worst


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise F(f) = penalty(f) + U(scores of f).

    [ScalingUp, eq. (3)] U is a mean over pairs: sum_ij c_ij loss(f(x_i) - f(x_j)), sum c_ij = 1.

    Parameters
    ----------
    space : Space
        Where f lives.
    risk : Risk
        U: say `Mean(pairs, loss)`, which pairs of which rows, and their loss.
    penalty : Penalty
        `Ridge(lam)`, another of `problem.penalties`, or one that keeps their contract.

    Raises
    ------
    InputError
        If the sizes do not fit together.
    """

    space: Space
    risk: Risk
    penalty: Penalty

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk", adapted(self.risk, Risk, "risk"))
        object.__setattr__(self, "penalty", adapted(self.penalty, Penalty, "penalty", "l2"))
        if self.risk.n != self.space.n:
            raise InputError(f"{self.space.n} rows, but labels of shape ({self.risk.n},)")
        self.penalty.check(self.space)
        if type(self.penalty) not in OURS:
            check_penalty(self.penalty, self.space)

    @property
    def pairs(self) -> Any:
        """The pairs of the risk: AllPairs, a PairList or another set of pairs."""
        return self._mean("pairs").pairs

    @property
    def loss(self) -> Loss:
        """The loss of a pair."""
        return self.risk.loss if isinstance(self.risk, Worst) else self._mean("loss").loss

    def _mean(self, name: str) -> Mean:
        if not isinstance(self.risk, Mean):
            raise InputError(f"this needs a mean over pairs: {self.risk!r} states no {name}")
        return self.risk

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    @property
    def n_pos(self) -> Any:
        """Number of positive rows: an int, or None where the pairs have no two classes."""
        return self.pairs.n_pos if isinstance(self.pairs, Labelled) else None

    @property
    def n_neg(self) -> Any:
        """Number of negative rows: an int, or None where the pairs have no two classes."""
        return self.pairs.n_neg if isinstance(self.pairs, Labelled) else None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.pairs.count()

    @property
    def lam(self) -> float:
        """The ridge's weight; `InputError` for another penalty, whose rest would be left out."""
        if not isinstance(self.penalty, Ridge):
            raise InputError(f"this needs the ridge penalty, not {brief(self.penalty)}")
        return self.penalty.l2

    def over(self, space: Space) -> Problem:
        """Return the same risk and penalty over another space, say the true kernel."""
        return replace(self, space=space)

    def with_pairs(self, pairs: AllPairs | PairList) -> Problem:
        """Return the same problem over other pairs of the same rows."""
        bound = pairs if pairs.labels is not None else pairs.on(self.pairs.positive)
        return replace(self, risk=Mean(bound, self.loss))

    def named_rows(self) -> Problem:
        """Return the same problem over the rows that its pairs name, if these are half at most: F
        is the same in the same coordinates, and so is each alpha."""
        rows = self.space.given
        if not isinstance(self.pairs, PairList) or rows is None:
            return self
        named = np.zeros(self.n, dtype=bool)
        named[self.pairs.i] = named[self.pairs.j] = True
        if 2 * int(named.sum()) > self.n:
            return self
        try:
            space = Rows(rows.raw[named])
        except InputError:  # numbers so small that only the other rows make them rows of a matrix
            return self
        return self.on_rows(space, self.pairs.among(named))

    def on_rows(self, space: Space, pairs: Any) -> Problem:
        """Return the same loss and penalty for other rows and their pairs."""
        return replace(self, space=space, risk=Mean(pairs, self.loss))

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return value, signed marginals and conjugate sum at `scores` (n,); see `Mean.sums`."""
        return self.risk.sums(scores, width)

    def objective(self, w: np.ndarray) -> float:
        """Return F at the coordinates `w` (dim,)."""
        return self.sums(self.space.scores(w)).value + self.penalty.value(self.space, w).value

    def check_weights(self, w: object) -> np.ndarray:
        """Return `w` as a finite float vector of the space's dimension, or raise `InputError`."""
        vector = as_float64(w, "the weights")
        if vector.shape != (self.space.dim,):
            raise InputError(f"{self.space.dim} coordinates, the weights shape {vector.shape}")
        if not np.isfinite(vector).all():
            at = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(f"weight {at} is {vector[at]}: weights must be finite")
        if float(np.abs(vector).max(initial=0.0)) > 1e100:
            raise InputError("a weight is larger than 1e+100: its square overflows")
        return vector


def pair_problem(
    space: Space, positive: np.ndarray, pairs: AllPairs | PairList, loss: Loss, penalty: Penalty
) -> Problem:
    """Return the problem whose risk is the mean of `loss` over `pairs` of given rows.

    Parameters
    ----------
    space : Space
    positive : bool array (n,)
        The positive rows; both classes must occur.
    pairs : AllPairs or PairList
        A description; its labels become `positive`.
    loss : Loss
    penalty : Penalty

    Raises
    ------
    InputError
        If the sizes do not fit together or a class is missing.
    """
    if np.shape(positive) != (space.n,):
        raise InputError(f"{space.n} rows, but labels of shape {np.shape(positive)}")
    if not isinstance(pairs, PairList | AllPairs):
        raise InputError(f"pairs must be AllPairs() or a PairList, not {brief(pairs)}")
    return Problem(space, Mean(pairs.on(positive), loss), penalty)


def linear_problem(
    X: object,
    y: object,
    lam: float,
    loss: str | Loss = "hinge",
    pairs: AllPairs | PairList | None = None,
    positive: object = None,
) -> Problem:
    """Return the linear problem of a data matrix and its labels.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,)
        Two kinds of labels.
    lam : float
        > 0.
    loss : str or Loss
        A name as in `solve`, or a loss of your own.
    pairs : AllPairs or PairList, optional
        All pairs by default.
    positive : label, optional
        The larger one by default.

    Raises
    ------
    InputError
        As `Rows`, `split_labels`, `Ridge` and `Problem`.
    """
    space = Rows(X)
    mask, _, _ = split_labels(y, positive)
    return pair_problem(space, mask, pairs or AllPairs(), get_loss(loss), Ridge(lam))
