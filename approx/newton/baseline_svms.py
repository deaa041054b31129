"""The support vector machines that the papers compare with: scikit-learn's, and kernel RankSVM.

[SAUC, Table 3] has the ordinary SVM, with a linear and a Gaussian kernel: it minimises errors, not
misordered pairs, and is judged by its AUC all the same. [Nonlinear, Table 2] has kernel RankSVM on
a random fifth of the rows, because on all of them it took days. Here the first is a pipeline around
scikit-learn, and the second an estimator with the certificates of `NBAUC`.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from ...exact.certificate.solution import Callback
from ...exact.classifier.inputs import TrainingRows, draw_seed
from ...exact.errors import InputError
from ...exact.tools.checks import check_count, check_number
from ...exact.tools.interrupts import ends_on_interrupt
from .nbauc import KernelRankSVM

MAX_PASSES = 50_000
"""The most passes of LinearSVC over the rows."""


@dataclass(eq=False, repr=False)
class SubsampledRankSVM(KernelRankSVM):
    """Kernel RankSVM on a random part of the rows, the others left out.

    [Nonlinear, Section 5.2, Table 2]: minimise over f, with the pairs of the chosen rows only,

        lam/2 |f|^2 + mean over all positive-negative pairs of max(0, 1 - f(x_i) + f(x_j))^2.

    As f is a sum of kernel functions of the chosen rows, this is `NBAUC` with all of them for
    landmarks, and `certify_kernel` tells what leaving out the others costs. Standardise the
    features first: the kernel sees distances.

    Differs from the paper: 1. Both classes keep their shares, so that neither can be missed. 2. At
    most `max_rows` are taken, because the method needs the eigenvalues of their kernel matrix.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    share : float
        In (0, 1], the part of the rows to take; a fifth in the paper.
    max_rows : int
        Rows to take at most, >= 2.
    kernel, gamma, rcond, tol, max_iter, threshold, max_time
        As in `NBAUC`; the threshold is chosen on the rows taken.
    random_state : int, RandomState or None
        Draws the rows.

    Attributes
    ----------
    subsample_ : int array (m,)
        The rows taken, sorted.
    certificate_ : Certificate
        How far the model is from the optimum over the rows taken, at most.
    All others as in `NBAUC`.
    """

    _: KW_ONLY
    share: float = 0.2
    max_rows: int = 2000

    @ends_on_interrupt
    def fit(self, X: object, y: object, callback: Callback | None = None) -> Self:
        """Draw the rows and solve their problem.

        Parameters
        ----------
        X, y, callback
            As in `RankSVM.fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `RankSVM.fit`.

        Warns
        -----
        ConvergenceWarning
            If the gap is not within `tol`; the gap in `certificate_` is valid.
        """
        self._fit(X, y, None, callback)
        return self._warn()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("share", self.share, 0.0, 1.0, closed="high")
        check_count("max_rows", self.max_rows, 2)

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        size = min(self.max_rows, math.ceil(self.share * data.positive.size))
        self.subsample_ = random_part(data.positive, size, draw_seed(self.random_state))
        some, side = data.rows[self.subsample_], data.positive[self.subsample_]
        features = self._fit_map(some, side, n_landmarks=side.size, random_state=0)
        self._set_function(self._solve(TrainingRows(features, side, None), callback), some, side)
        words = (
            f"the mean squared hinge over all pairs of the {side.size} rows taken, of "
            f"{data.positive.size}, + {float(self.lam)!r} |f|^2 / 2"
        )
        found = replace(self.solution_.certificate, objective=words)
        self._keep_solution(replace(self.solution_, certificate=found))


def random_part(positive: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Return `size` rows drawn without replacement, sorted, the classes in their proportion.

    Parameters
    ----------
    positive : bool array (n,)
        With rows of both classes; at least one of each is taken.
    size : int
        In [2, n]; a smaller one is taken as 2.
    seed : int
    """
    rng = np.random.default_rng(seed)
    n, n_pos = positive.size, int(positive.sum())
    size = min(max(size, 2), n)
    wanted = round(size * n_pos / n)
    wanted = min(max(wanted, 1, size - (n - n_pos)), n_pos, size - 1)
    chosen = [
        rng.choice(np.flatnonzero(side), number, replace=False)
        for side, number in ((positive, wanted), (~positive, size - wanted))
    ]
    return np.sort(np.concatenate(chosen))


def linear_svm(C: float = 1.0, seed: int | None = None, with_mean: bool = True) -> Pipeline:
    """Return the ordinary linear SVM after standardising. [SAUC, Table 3; Nonlinear, Section 5.2]

    scikit-learn's LinearSVC: |w|^2 / 2 + C times the sum over the ROWS of the squared hinge. Where
    the classes differ much in size, most of the sum belongs to the larger one; the AUC does not
    depend on their sizes.

    Parameters
    ----------
    C : float
        > 0.
    seed : int or None
        Draws the order in which the solver visits the rows, where it visits them one by one.
    with_mean : bool
        Whether to centre the columns; False for sparse input.

    Raises
    ------
    InputError
        If C is not > 0.
    """
    number = check_number("C", C)  # with more columns than rows scikit-learn needs many passes
    model = LinearSVC(C=number, dual="auto", max_iter=MAX_PASSES, random_state=seed)
    return Pipeline([("scale", StandardScaler(with_mean=with_mean)), ("svm", model)])


def kernel_svm(
    C: float = 1.0, gamma: float | None = None, kernel: str = "rbf", with_mean: bool = True
) -> Pipeline:
    """Return the ordinary SVM with a kernel after standardising. [SAUC, Table 3]

    scikit-learn's SVC: |f|^2 / 2 + C times the sum over the rows of the hinge; its time grows at
    least with the square of the rows. ``kernel="linear"`` is the paper's linear SVM to the letter.

    Parameters
    ----------
    C : float
        > 0; the paper searches 1e-3 to 1e3.
    gamma : float, optional
        > 0, of exp(-gamma |x - z|^2); 1 / (number of features) by default.
    kernel : {"rbf", "linear"}
    with_mean : bool
        Whether to centre the columns; False for sparse input.

    Raises
    ------
    InputError
        If a parameter is not as described.
    """
    if kernel not in ("rbf", "linear"):
        raise InputError(f"kernel must be one of rbf, linear, not {kernel!r}")
    width = "auto" if gamma is None else check_number("gamma", gamma)
    model = SVC(C=check_number("C", C), kernel=kernel, gamma=width)
    return Pipeline([("scale", StandardScaler(with_mean=with_mean)), ("svm", model)])
