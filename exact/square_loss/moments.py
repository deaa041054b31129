"""The square loss over all pairs in closed form: a function of class means and covariances.

    mean_ij (1 - w'(x_i - x_j))^2 = w'M w - 2 w'delta + 1,   M = Sigma + delta delta',

with delta the difference of the class means and Sigma the sum of the two class covariances
(divided by n, never n - 1). [SHT, Prop. 1] `row_average.py` has the same function as a sum over
rows, which needs no d x d matrix, `support_loss.py` its minimum on given features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..pairs.all_pairs import AllPairs
from ..spaces.rows import Rows


@dataclass(frozen=True, eq=False)
class Moments:
    """delta (d,) and Sigma (d, d) of the two classes.

    size (d,), where known, is the largest absolute value of each feature before centring: what
    is smaller than its rounding is no information.
    """

    delta: np.ndarray
    sigma: np.ndarray
    size: np.ndarray | None = None

    @property
    def M(self) -> np.ndarray:
        """Sigma + delta delta'; the Hessian of the mean square loss is twice this."""
        return self.sigma + np.outer(self.delta, self.delta)


def moments(
    space: Rows, positive: np.ndarray, pairs: AllPairs, columns: np.ndarray | None = None
) -> Moments:
    """Return delta and Sigma of all pairs, with row weights. [SHT, eq. (4)]

    Parameters
    ----------
    space : Rows
    positive : bool array (n,)
    pairs : AllPairs
    columns : int array (s,), optional
        Only these features, in this order; sparse rows are made dense in them alone.
    """
    a, b = pairs.on(positive).normalised()
    chosen = space.dense() if columns is None else space.X[:, columns]
    X = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
    offset = space.offset if columns is None else space.offset[columns]
    size = np.abs(offset) + np.abs(X).max(axis=0, initial=0.0)
    plus, minus = X[positive], X[~positive]
    mean_plus, mean_minus = a @ plus, b @ minus
    plus, minus = plus - mean_plus, minus - mean_minus
    sigma = (plus.T * a) @ plus + (minus.T * b) @ minus
    return Moments(mean_plus - mean_minus, sigma, size)
