"""d = 300 Nyström features, n = 1e5: the certified optimum beside drawn pairs with Adamax.

The size of [ScalingUp, Table 2]. Both get the same features, and the objective over all pairs of
either is compared with the lower bound that the certificate proves: what drawing pairs and stopping
early cost is seen in one run. `plain` is the ROC-SVM, `structured` SAUC-SVM.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ....approx import IncompleteSAUCSVM, Nystrom
from ....exact import solve
from ....exact.problem.auc import auc
from ...data.datasets import load
from .truncated_newton import radial_features


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
    start = time.process_time()
    if name == "ten-columns":
        Z, positive = radial_features(rows, landmarks)
        return Z, positive, time.process_time() - start
    data = load(f"radial:{rows}")
    made = Nystrom(gamma=gamma, n_landmarks=landmarks, random_state=0).fit_transform(data.X)
    return made, data.is_positive, time.process_time() - start


def row(name: str, structure: float, seconds: float, excess: float, scored: float) -> None:
    """Print one line."""
    kind = "structured" if structure else "plain"
    line = f"{kind:10} {name:32} {seconds:8.2f} {max(excess, 0.0):9.1e} {scored:8.5f}"
    print(line, flush=True)


def compare(
    Z: np.ndarray, y: np.ndarray, lam: float, structure: float, drawn: Sequence[int], limit: float
) -> None:
    """Print the certified optimum, and descents on drawn pairs judged by its lower bound.

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
    start = time.process_time()
    found = solve(Z, y, lam, structure=structure, tol=1e-9)
    seconds, best = time.process_time() - start, found.certificate
    row("optimum, certified", structure, seconds, best.gap / best.dual, auc(Z @ found.w, y))
    for times in drawn:
        model = IncompleteSAUCSVM(lam, structure, n_pairs=times * len(y), random_state=0)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(max_time=limit).fit(Z, y)
        seconds = time.process_time() - start
        excess = model.certificate_.primal / best.dual - 1
        name = f"{times} n pairs, Adamax, {model.n_iter_} steps"
        row(name, structure, seconds, excess, auc(Z @ model.coef_[0], y))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Nyström features: certified optimum and Adamax")
    parser.add_argument("--data", nargs="+", default=["radial", "ten-columns"])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--landmarks", type=int, default=300)
    parser.add_argument("--gamma", type=float, default=0.5)
    parser.add_argument("--lam", type=float, default=1e-3)
    parser.add_argument("--structure", type=float, nargs="+", default=[0.0, 10.0])
    parser.add_argument("--drawn", type=int, nargs="+", default=[1, 10], help="times n pairs")
    parser.add_argument("--max-time", type=float, default=60.0, help="seconds for each descent")
    options = parser.parse_args(arguments)
    few = np.random.default_rng(0).normal(size=(6000, 2))
    solve(few, few[:, 0] > 0.8, 1e-2)  # compiles
    for name in options.data:
        Z, y, seconds = features(name, options.rows, options.landmarks, options.gamma)
        print(
            f"{name}: {len(y)} rows, {Z.shape[1]} features of {options.landmarks} landmarks", end=""
        )
        print(f" in {seconds:.1f} s; CPU seconds, lam = {options.lam:g}, hinge over all pairs")
        print(f"{'':10} {'':32} {'CPU s':>8} {'F/F* - 1':>9} {'AUC':>8}")
        for structure in options.structure:
            compare(Z, y, options.lam, structure, options.drawn, options.max_time)


if __name__ == "__main__":
    raise SystemExit(main())
