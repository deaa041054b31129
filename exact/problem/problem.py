"""The problem: data and no algorithm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..losses.registry import get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.labels import split_labels
from ..spaces.rows import Rows, Space
from ..sums.assembled import PairSums
from ..tools.checks import check_number
from ..tools.lossless import as_float64
from .risk import Mean

LARGEST_WEIGHT = 1e100

LARGEST_SCORE = 1e150

SMALLEST_LAM = 1e-100
"""Below this, quotients by lam leave the range of floating point,"""

LARGEST_LAM = 1e100
"""and above this lam |f|^2 shows what |f|^2 loses by underflow."""


@dataclass(frozen=True)
class Ridge:
    """The penalty lam / 2 |f|^2.

    Parameters
    ----------
    lam : float
        > 0, in units of the loss over |f|^2.
    """

    lam: float

    def __post_init__(self) -> None:
        if check_number("lam", self.lam) < SMALLEST_LAM:
            raise InputError(f"lam = {self.lam!r} is below {SMALLEST_LAM:g}: rescale the features")
        if self.lam > LARGEST_LAM:
            raise InputError(f"lam = {self.lam!r} is above {LARGEST_LAM:g}: rescale the features")


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise F(f) = penalty(f) + U(scores of f).

    [ScalingUp, eq. (3)] U is a mean over pairs: sum_ij c_ij loss(f(x_i) - f(x_j)), sum c_ij = 1.

    Parameters
    ----------
    space : Space
        Where f lives.
    risk : Mean
        U: which pairs of which rows, and their loss.
    penalty : Ridge

    Raises
    ------
    InputError
        If the sizes do not fit together.
    """

    space: Space
    risk: Mean
    penalty: Ridge

    def __post_init__(self) -> None:
        if not isinstance(self.risk, Mean):
            raise InputError(f"risk must be Mean(pairs, loss), not {self.risk!r}")
        if self.pairs.n != self.space.n:
            raise InputError(f"{self.space.n} rows, but labels of shape ({self.pairs.n},)")

    @property
    def pairs(self) -> AllPairs | PairList:
        """The pairs of the risk."""
        return self.risk.pairs

    @property
    def loss(self) -> Loss:
        """The loss of a pair."""
        return self.risk.loss

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return self.pairs.n_pos

    @property
    def n_neg(self) -> int:
        """Number of negative rows."""
        return self.pairs.n_neg

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.pairs.count()

    @property
    def lam(self) -> float:
        """The penalty's weight."""
        return float(self.penalty.lam)

    def over(self, space: Space) -> Problem:
        """Return the same risk and penalty over another space, say the true kernel."""
        return replace(self, space=space)

    def with_loss(self, loss: Loss) -> Problem:
        """Return the same problem with another loss."""
        return replace(self, risk=replace(self.risk, loss=loss))

    def with_pairs(self, pairs: AllPairs | PairList) -> Problem:
        """Return the same problem over other pairs of the same rows."""
        bound = pairs if pairs.labels is not None else pairs.on(self.pairs.positive)
        return replace(self, risk=replace(self.risk, pairs=bound))

    def named_rows(self) -> Problem:
        """Return the same problem over the rows that its pairs name, if these are half at most.

        F, its gradient and its optimum are the same in the same coordinates; so is each alpha.
        """
        if not isinstance(self.pairs, PairList) or type(self.space) is not Rows:
            return self
        named = self.pairs.named()
        if 2 * int(named.sum()) > self.n:
            return self
        try:
            space = Rows(self.space.raw[named])
        except InputError:  # numbers so small that only the other rows make them rows of a matrix
            return self
        return self.on_rows(space, self.pairs.among(named))

    def on_rows(self, space: Space, pairs: AllPairs | PairList) -> Problem:
        """Return the same loss and penalty for other rows and their pairs."""
        return replace(self, space=space, risk=replace(self.risk, pairs=pairs))

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return value, signed marginals and conjugate sum at `scores` (n,).

        Raises
        ------
        InputError
            With a squared loss, if a score is so large that its square overflows.
        """
        squared = not np.isfinite(self.loss.lipschitz)
        if squared and not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise InputError(
                f"a score is larger than {LARGEST_SCORE:g}: its square overflows, "
                "take smaller weights or scale the features"
            )
        return self.risk.sums(scores, width)

    def objective(self, w: np.ndarray) -> float:
        """Return F at the coordinates `w` (dim,)."""
        return self.sums(self.space.scores(w)).value + self.lam / 2 * self.space.norm2(w)

    def check_weights(self, w: object) -> np.ndarray:
        """Return `w` as a finite float vector of the space's dimension, or raise `InputError`."""
        vector = as_float64(w, "the weights")
        if vector.shape != (self.space.dim,):
            raise InputError(
                f"the space has {self.space.dim} coordinates, the weights shape {vector.shape}"
            )
        if not np.isfinite(vector).all():
            at = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise InputError(f"weight {at} is {vector[at]}: weights must be finite")
        if float(np.abs(vector).max(initial=0.0)) > LARGEST_WEIGHT:
            raise InputError(f"a weight is larger than {LARGEST_WEIGHT:g}: its square overflows")
        return vector


def pair_problem(
    space: Space,
    positive: np.ndarray,
    pairs: AllPairs | PairList,
    loss: Loss,
    penalty: Ridge,
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
    penalty : Ridge

    Raises
    ------
    InputError
        If the sizes do not fit together or a class is missing.
    """
    if np.shape(positive) != (space.n,):
        raise InputError(f"{space.n} rows, but labels of shape {np.shape(positive)}")
    if not isinstance(pairs, PairList | AllPairs):
        raise InputError(f"pairs must be AllPairs() or a PairList, not {pairs!r}")
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
    loss : {"hinge", "squared_hinge", "square"}
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
