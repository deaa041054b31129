"""The problem: data and no algorithm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..spaces.rows import Rows, Space
from ..sums.sorted import PairSums
from ..tools.checks import check_number
from ..tools.lossless import as_float64, check_labels, in_memory
from .all_pairs import AllPairs, PairList
from .losses import Loss, check_loss, get_loss

LARGEST_WEIGHT = 1e100

LARGEST_SCORE = 1e150

_BLOCK = 1 << 16

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
    """Minimise F(f) = lam/2 |f|^2 + sum_ij c_ij loss(f(x_i) - f(x_j)), with sum c_ij = 1.

    [ScalingUp, eq. (3)]

    Parameters
    ----------
    space : Space
        Where f lives.
    positive : bool array (n,)
        The positive rows; both classes must occur.
    pairs : AllPairs or PairList
    loss : Loss
        `Hinge`, `SquaredHinge` or `Square`: no other, as certificates rest on their dual parts.
    penalty : Ridge

    Raises
    ------
    InputError
        If the sizes do not fit together, a class is missing, or the loss is another one.
    """

    space: Space
    positive: np.ndarray
    pairs: AllPairs | PairList
    loss: Loss
    penalty: Ridge

    def __post_init__(self) -> None:
        positive = in_memory(np.asarray(self.positive))
        if positive.dtype != bool:
            raise InputError("positive must be a boolean array, True on the positive rows")
        if positive.shape != (self.space.n,):
            raise InputError(f"{self.space.n} rows, but labels of shape {positive.shape}")
        if not positive.any() or positive.all():
            present = "positive" if positive.all() else "negative"
            raise InputError(f"all {positive.size} rows are {present}: pairs need both classes")
        if isinstance(self.pairs, PairList | AllPairs):
            self.pairs.check(positive)
        else:
            raise InputError(f"pairs must be AllPairs() or a PairList, not {self.pairs!r}")
        check_loss(self.loss)
        object.__setattr__(self, "positive", positive)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return int(self.positive.sum())

    @property
    def n_neg(self) -> int:
        """Number of negative rows."""
        return self.n - self.n_pos

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.pairs.count(self.positive)

    @property
    def lam(self) -> float:
        """The penalty's weight."""
        return float(self.penalty.lam)

    def over(self, space: Space) -> Problem:
        """Return the same pairs, loss and penalty over another space, say the true kernel."""
        return replace(self, space=space)

    def named_rows(self) -> Problem:
        """Return the same problem over the rows that its pairs name, if these are half at most.

        F, its gradient and its optimum are the same in the same coordinates; so is each alpha.
        """
        if not isinstance(self.pairs, PairList) or type(self.space) is not Rows:
            return self
        named = self.pairs.named(self.n)
        if 2 * int(named.sum()) > self.n:
            return self
        try:
            space = Rows(self.space.raw[named])
        except InputError:  # numbers so small that only the other rows make them rows of a matrix
            return self
        pairs = self.pairs.among(named)
        return replace(self, space=space, positive=self.positive[named], pairs=pairs)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return value, signed marginals and conjugate sum at `scores` (n,).

        Raises
        ------
        InputError
            With a squared loss, if a score is so large that its square overflows.
        """
        if self.loss.name != "hinge" and not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise InputError(
                f"a score is larger than {LARGEST_SCORE:g}: its square overflows, "
                "take smaller weights or scale the features"
            )
        return self.pairs.sums(scores, self.positive, self.loss, width)

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


def split_labels(y: object, positive: object = None) -> tuple[np.ndarray, object, object]:
    """Return the mask of the positive rows, the positive label and the other one.

    Parameters
    ----------
    y : array (n,)
        Labels of exactly two kinds.
    positive : label, optional
        Which is positive; the larger one by default, as in scikit-learn.

    Raises
    ------
    InputError
        If there are not exactly two labels, one is missing, or `positive` is not among them.
    """
    labels = check_labels(y)
    if labels.ndim != 1:
        raise InputError(f"y must have one label a row; its shape is {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise InputError(f"the label of row {row} is {labels[row]}: remove the row or set a label")
    try:
        kinds = _kinds(labels)
    except TypeError:
        raise InputError("the labels are of mixed types: use numbers or strings") from None
    if kinds.size != 2:
        shown = ", ".join(repr(kind) for kind in kinds[:6].tolist())
        raise InputError(
            f"y must have exactly two classes, it has {kinds.size}: {shown}"
            + (", ..." if kinds.size > 6 else "")
        )
    if positive is None:
        chosen = kinds[1]
    else:
        wanted = _plain(positive)  # as numpy compares, 2.0**53 is the label 2**53 + 1
        match = [kind for kind in kinds if _plain(kind) == wanted or str(kind) == str(positive)]
        if not match:
            known = kinds.tolist()
            raise InputError(f"the positive label {positive!r} does not occur in y: {known}")
        chosen = match[0]
    other = kinds[0] if chosen == kinds[1] else kinds[1]
    return labels == chosen, _plain(chosen), _plain(other)


def _kinds(labels: np.ndarray) -> np.ndarray:
    """Return the different labels, ascending: a block at a time, as sorting many takes long."""
    kinds = np.unique(labels[:_BLOCK])
    for start in range(_BLOCK, labels.size, _BLOCK):
        block = labels[start : start + _BLOCK]
        if kinds.size == 2 and bool(((block == kinds[0]) | (block == kinds[1])).all()):
            continue
        kinds = np.unique(np.concatenate([kinds, np.unique(block)]))
        if kinds.size > 6:
            break
    return kinds


def _plain(label: object) -> object:
    """Return a label as Python's own kind of object."""
    return label.item() if isinstance(label, np.generic) else label


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
    return Problem(space, mask, pairs or AllPairs(), get_loss(loss), Ridge(lam))
