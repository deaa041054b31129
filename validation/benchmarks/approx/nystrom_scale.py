"""d = 300 Nyström features, n = 1e5: the certified optimum beside drawn pairs with Adamax.

The size of [ScalingUp, Table 2]. Both get the same features, and the objective over all pairs of
either is compared with the lower bound that the certificate proves: what drawing pairs and stopping
early cost is seen in one run. `plain` is the ROC-SVM, `structured` SAUC-SVM.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ....approx import IncompleteSAUCSVM, Nystrom
from ....exact import solve
from ....exact.pairs.auc import auc
from ...data.datasets import load
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed
from ..problems.samples import radial_features


def features(
    name: str, rows: int, landmarks: int, gamma: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the features, labels and CPU seconds of one data set.

    Parameters
    ----------
    name : {"radial", "ten-columns"}
        That of [ScalingUp, Section 4.1], whose two columns give fewer features than landmarks; or
        one of ten columns, which gives as many.
    rows, landmarks : int
    gamma : float
        Of the Gaussian for "radial"; 0.1 for the other.
    """
    if name == "ten-columns":
        (Z, positive), seconds = timed(lambda: radial_features(rows, landmarks))
        return Z, positive, seconds
    data, drawing = timed(lambda: load(f"radial:{rows}"))
    model = Nystrom(gamma=gamma, n_landmarks=landmarks, random_state=0)
    made, seconds = timed(lambda: model.fit_transform(data.X))
    return made, data.is_positive, drawing + seconds


def compare(
    Z: np.ndarray, y: np.ndarray, lam: float, structure: float, drawn: Sequence[int], limit: float
) -> Iterator[tuple[object, ...]]:
    """Yield the certified optimum, and descents on drawn pairs judged by its lower bound.

    Parameters
    ----------
    Z : array (n, d)
    y : bool array (n,)
    lam, structure : float
    drawn : list of int
        How many times n pairs to draw.
    limit : float
        Seconds for each descent.
    """
    kind = "structured" if structure else "plain"
    found, seconds = timed(lambda: solve(Z, y, lam, structure=structure, tol=1e-9))
    best = found.certificate
    excess = max(best.gap / best.dual, 0.0)
    yield kind, "optimum, certified", seconds, excess, auc(Z @ found.w, y)
    for times in drawn:
        model = IncompleteSAUCSVM(
            lam, structure, n_pairs=times * len(y), random_state=0, max_time=limit
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, seconds = timed(partial(model.fit, Z, y))
        excess = max(model.certificate_.primal / best.dual - 1, 0.0)
        name = f"{times} n pairs, Adamax, {model.n_iter_} steps"
        yield kind, name, seconds, excess, auc(Z @ model.coef_[0], y)


@benchmark(drawn="times n pairs", max_time="seconds for each descent")
def main(
    data: tuple[str, ...] = ("radial", "ten-columns"),
    rows: int = 100_000,
    landmarks: int = 300,
    gamma: float = 0.5,
    lam: float = 1e-3,
    structure: tuple[float, ...] = (0.0, 10.0),
    drawn: tuple[int, ...] = (1, 10),
    max_time: float = 60.0,
) -> Lines:
    """Yield the tables."""
    few = np.random.default_rng(0).normal(size=(6000, 2))
    solve(few, few[:, 0] > 0.8, 1e-2)  # compiles
    for name in data:
        Z, y, seconds = features(name, rows, landmarks, gamma)
        yield Table(
            f"{name}: {len(y)} rows, {Z.shape[1]} features of {landmarks} landmarks in "
            f"{seconds:.1f} s; CPU seconds, lam = {lam:g}, hinge over all pairs",
            *("penalty:<10", "fit:<32", "CPU s:8.2f", "F/F* - 1:9.1e", "AUC:8.5f"),
        )
        for weight in structure:
            yield from compare(Z, y, lam, weight, drawn, max_time)


if __name__ == "__main__":
    raise SystemExit(main())
