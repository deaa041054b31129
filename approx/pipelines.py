"""RFAUC, NOAM and NSOLAM: a map of the features and a linear learner, as pipelines.

[Nonlinear, Section 5.2] compares its own methods with them. Each function returns an ordinary
scikit-learn `Pipeline` that begins with a `StandardScaler`, as in the paper.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from ..exact.tools.arrays import check_choice, check_count, check_number
from .newton.truncated_newton import RankSVM
from .nystrom import Nystrom
from .oam import OAM
from .solam import SOLAM

Seed = int | np.random.RandomState | None


def rfauc(
    lam: float = 1e-3,
    gamma: float | None = None,
    n_features: int = 100,
    seed: Seed = None,
    with_mean: bool = True,
) -> Pipeline:
    """Return RFAUC: random Fourier features, then the linear RankSVM. [Nonlinear, Section 5.2]

    z(x) = sqrt(2 / D) cos(V'x + b) with the columns of V drawn from N(0, 2 gamma I): the mean of
    z(x)'z(x') over the draws is exp(-gamma |x - x'|^2) (Rahimi and Recht, 2008). Unlike Nyström
    features they do not depend on the data, and z'z is not below the kernel. So the
    certificate is only that of the last step, in the space of z, not in the kernel's whole space.

    Parameters
    ----------
    lam : float
        > 0, of `RankSVM`.
    gamma : float, optional
        > 0; by default 1 / (number of features), which is scikit-learn's "scale" on standardised
        columns. The paper searches 1, 10, 100 in units that it does not name.
    n_features : int
        D, the number of random features; 1600 in the paper.
    seed : int, RandomState or None
    with_mean : bool
        As in `noam`.
    """
    check_count("n_features", n_features)
    if not isinstance(seed, np.random.RandomState):
        check_count("seed", 0 if seed is None else seed, 0)
    width = "scale" if gamma is None else check_number("gamma", gamma)
    sampler = RBFSampler(gamma=width, n_components=n_features, random_state=seed)
    scaler = StandardScaler(with_mean=with_mean)
    return Pipeline([("scale", scaler), ("fourier", sampler), ("ranksvm", RankSVM(lam))])


def noam(
    C: float = 0.01,
    gamma: float | None = None,
    n_landmarks: int = 100,
    update: str = "sequential",
    n_buffer: int = 100,
    seed: int | None = None,
    with_mean: bool = True,
) -> Pipeline:
    """Return NOAM: k-means Nyström features, then OAM. [Nonlinear, Section 5.2]

    For a stream, fit the first two steps on some rows, transform later rows with them, and give the
    result to `OAM.partial_fit`.

    Parameters
    ----------
    C, update, n_buffer
        Of `OAM`; the paper has "sequential" and 100 rows of each class.
    gamma, n_landmarks
        Of `Nystrom`; 1600 landmarks in the paper. `aucert.approx.bandwidth` has rules for gamma.
    seed : int or None
        Draws the landmarks, the order and the buffers.
    with_mean : bool
        Whether to centre the columns; False for sparse input.

    Raises
    ------
    InputError
        If the seed is not a whole number. Other parameters are checked when the pipeline is fitted.
    """
    check_count("seed", 0 if seed is None else seed, 0)
    learner = OAM(C, update=update, n_buffer=n_buffer, random_state=seed)
    return Pipeline([*_features(gamma, n_landmarks, seed, with_mean), ("oam", learner)])


def nsolam(
    radius: float = 1.0,
    gamma: float | None = None,
    n_landmarks: int = 100,
    step: float | str = "auto",
    max_passes: int = 15,
    seed: int | None = None,
    with_mean: bool = True,
) -> Pipeline:
    """Return NSOLAM: k-means Nyström features, then SOLAM. [Nonlinear, Section 5.2]

    It minimises the square loss over all pairs, not the squared hinge as the paper says (E57 in
    `docs/errata.md`).

    Parameters
    ----------
    radius, step, max_passes
        Of `SOLAM`; the paper searches the radius from 0.1 to 1e5, the step from 1 to 100, and makes
        15 passes.
    gamma, n_landmarks, seed, with_mean
        As in `noam`.
    """
    check_count("seed", 0 if seed is None else seed, 0)
    learner = SOLAM(radius, step=step, max_passes=max_passes, random_state=seed)
    return Pipeline([*_features(gamma, n_landmarks, seed, with_mean), ("solam", learner)])


def _features(
    gamma: float | None, n_landmarks: int, seed: int | None, with_mean: bool
) -> list[tuple[str, BaseEstimator]]:
    chosen = Nystrom(gamma=gamma, n_landmarks=n_landmarks, landmarks="kmeans", random_state=seed)
    return [("scale", StandardScaler(with_mean=with_mean)), ("nystrom", chosen)]


MAX_PASSES = 50_000  # with more columns than rows scikit-learn needs many


def linear_svm(C: float = 1.0, seed: int | None = None, with_mean: bool = True) -> Pipeline:
    """Return the ordinary linear SVM after standardising. [SAUC, Table 3; Nonlinear, Section 5.2]

    scikit-learn's LinearSVC: |w|^2 / 2 + C times the sum over the ROWS of the squared hinge, most
    of which belongs to the larger class.

    Parameters
    ----------
    C : float
        > 0.
    seed : int or None
        Draws the order of the rows, if the solver visits them one by one.
    with_mean : bool
        As in `noam`.
    """
    number = check_number("C", C)
    model = LinearSVC(C=number, dual="auto", max_iter=MAX_PASSES, random_state=seed)
    return Pipeline([("scale", StandardScaler(with_mean=with_mean)), ("svm", model)])


def kernel_svm(
    C: float = 1.0, gamma: float | None = None, kernel: str = "rbf", with_mean: bool = True
) -> Pipeline:
    """Return the ordinary SVM with a kernel after standardising. [SAUC, Table 3]

    scikit-learn's SVC: |f|^2 / 2 + C times the sum over the rows of the hinge; its time grows at
    least with the square of the rows. ``kernel="linear"`` is exactly the paper's linear SVM.

    Parameters
    ----------
    C : float
        > 0; the paper searches 1e-3 to 1e3.
    gamma : float, optional
        > 0, of exp(-gamma |x - z|^2); 1 / (number of features) by default.
    kernel : {"rbf", "linear"}
    with_mean : bool
        As in `noam`.
    """
    check_choice("kernel", kernel, ("rbf", "linear"))
    width = "auto" if gamma is None else check_number("gamma", gamma)
    model = SVC(C=check_number("C", C), kernel=kernel, gamma=width)
    return Pipeline([("scale", StandardScaler(with_mean=with_mean)), ("svm", model)])
