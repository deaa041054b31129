"""SAUC-SVM at scale: the structure with Nyström features and with drawn pairs, beside the optimum.

On the sets of the SAUC paper each way of fitting is trained on one half and judged on the other:
seconds, AUC there, how far its objective over all pairs is above the certified optimum in its own
features, and above that in the kernel's whole space. Then the same on the paper's toy problem with
many rows, where the kernel itself is out of reach. Without the real sets the toy is run alone:

    AUCERT_DATA=FOLDER OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \\
        python -m aucert.validation.benchmarks.approx.sauc_scale
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ....approx import IncompleteSAUCSVM, Nystrom
from ....exact import solve
from ....exact.formulation.formulation import formulate
from ....exact.problem.auc import auc
from ....exact.spaces.gram_factor import DENSE_LIMIT
from ...data.datasets import load
from ...data.labelled_data import Dataset
from ...data.real_data import real_data_folder
from ...extremes import max
from .every_method import read, standardised

SETS = ("automobile", "arrhythmia", "bupa", "diabetes", *(f"glass{k}" for k in range(1, 7)),
        "hepatitis", "ionosphere", "spectf", "tae1", "tae2", "tae3", "wdbc")  # fmt: skip
"""Those of [SAUC, Table 3], without Import, which is automobile split in a way that is not said."""

WAYS = ("linear", "linear, drawn", "kernel", "Nystrom", "Nystrom, drawn")


@dataclass(frozen=True)
class Fit:
    """One way on one set, or the mean of some.

    Attributes
    ----------
    seconds, auc : float
    primal : float
        The objective over all pairs.
    gap, kernel_gap : float
        How far that is above the certified optimum, as a share of it: in the features of the fit,
        and in the kernel's whole space (NaN where that is not known).
    """

    seconds: float
    auc: float
    primal: float
    gap: float
    kernel_gap: float = np.nan


@dataclass(frozen=True)
class Setting:
    """What all ways have in common."""

    lam: float
    structure: float
    landmarks: int
    drawn: int
    tol: float = 1e-9


def halves(data: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and labels of two random halves, the classes split alike, standardised."""
    rng, (X, y) = np.random.default_rng(seed), standardised(data)
    first = np.zeros(len(y), dtype=bool)
    for side in (y, ~y):
        first[rng.permutation(np.flatnonzero(side))[: (int(side.sum()) + 1) // 2]] = True
    return X[first], y[first], X[~first], y[~first]


def exact_fit(
    setting: Setting, X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray, kernel: str
) -> tuple[Fit, float]:
    """Return the certified optimum over all pairs, and the lower bound that it proves."""
    structure = setting.structure
    start = time.process_time()
    found = solve(X, y, setting.lam, kernel=kernel, structure=structure, tol=setting.tol)
    seconds = time.process_time() - start
    task = formulate(X, y, setting.lam, kernel=kernel, structure=structure)
    scored, certificate = float(auc(task.scorer(found.w)(T), t)), found.certificate
    gap = certificate.gap / certificate.dual
    kernel_gap = np.nan if kernel == "linear" else gap
    return Fit(seconds, scored, certificate.primal, gap, kernel_gap), certificate.dual


def drawn_fit(
    setting: Setting, X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray, dual: float
) -> Fit:
    """Return the descent on drawn pairs, judged over all of them by the proved lower bound."""
    drawn = "n" if setting.drawn == 0 else setting.drawn
    model = IncompleteSAUCSVM(setting.lam, setting.structure, n_pairs=drawn, random_state=0)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says it better
        model.fit(X, y)
    seconds = time.process_time() - start
    primal = model.certificate_.primal
    return Fit(seconds, float(auc(model.decision_function(T), t)), primal, primal / dual - 1)


def ways(setting: Setting, data: Dataset, seed: int, kernel: bool) -> Iterator[tuple[str, Fit]]:
    """Yield the name and the figures of each way of fitting one half.

    Parameters
    ----------
    setting : Setting
    data : Dataset
    seed : int
        Of the halves and the landmarks.
    kernel : bool
        Whether the kernel machine itself is in reach.
    """
    X, y, T, t = halves(data, seed)
    fit, dual = exact_fit(setting, X, y, T, t, "linear")
    yield "linear", fit
    yield "linear, drawn", drawn_fit(setting, X, y, T, t, dual)
    bound = np.nan
    if kernel:
        fit, bound = exact_fit(setting, X, y, T, t, "rbf")
        yield "kernel", fit
    start = time.process_time()
    features = Nystrom(n_landmarks=setting.landmarks, landmarks="kmeans", random_state=seed)
    Z = features.fit_transform(X)
    shared, Z_test = time.process_time() - start, features.transform(T)
    fit, dual = exact_fit(setting, Z, y, Z_test, t, "linear")
    drawn = drawn_fit(setting, Z, y, Z_test, t, dual)
    for name, one in (("Nystrom", fit), ("Nystrom, drawn", drawn)):
        # A function of the features has its true norm there, so its objective is the true one.
        lost = one.primal / bound - 1
        yield name, replace(one, seconds=one.seconds + shared, kernel_gap=lost)


def mean_fits(setting: Setting, data: Dataset, splits: int) -> dict[str, Fit]:
    """Return the mean figures of each way over some random halves."""
    kernel = len(data.y) <= 2 * DENSE_LIMIT
    found: dict[str, list[Fit]] = {}
    for seed in range(splits):
        for name, fit in ways(setting, data, seed, kernel):
            found.setdefault(name, []).append(fit)
    columns = ("seconds", "auc", "primal", "gap", "kernel_gap")
    return {
        name: Fit(*(float(np.mean([getattr(fit, c) for fit in fits])) for c in columns))
        for name, fits in found.items()
    }


def show(name: str, structure: float, fits: dict[str, Fit]) -> None:
    """Print one line for each way."""
    for way, fit in fits.items():
        kernel = "-" if np.isnan(fit.kernel_gap) else f"{fit.kernel_gap:.1e}"
        print(
            f"{name:12} {structure:9g} {way:15} {fit.seconds:8.3f} {fit.auc:7.4f} "
            f"{max(fit.gap, 0.0):8.1e} {kernel:>8}",
            flush=True,
        )


def average(results: Sequence[dict[str, Fit]]) -> dict[str, Fit]:
    """Return the mean over the sets, the gaps as the worst."""
    return {
        way: Fit(
            float(np.mean([r[way].seconds for r in results])),
            float(np.mean([r[way].auc for r in results])),
            float(np.mean([r[way].primal for r in results])),
            max(r[way].gap for r in results),
            max(r[way].kernel_gap for r in results),
        )
        for way in results[0]
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="SAUC-SVM with Nyström features and drawn pairs")
    parser.add_argument("--lam", type=float, default=1e-2)
    parser.add_argument("--structure", type=float, nargs="+", default=[0.0, 10.0])
    parser.add_argument("--landmarks", type=int, default=50)
    parser.add_argument("--drawn", type=int, default=0, help="pairs; by default as many as rows")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of sets")
    parser.add_argument("--toy-rows", type=int, default=200_000, help="half of them are trained on")
    options = parser.parse_args(arguments)
    folder = real_data_folder()
    print(
        f"lam = {options.lam:g}, hinge, Gaussian kernel with gamma 1 / columns; halves of the rows"
    )
    print(
        "AUC of the other half; F over all pairs above the optimum in the features; in the kernel"
    )
    print(
        f"{'set':12} {'structure':>9} {'way':15} {'CPU s':>8} {'AUC':>7} {'gap':>8} {'kernel':>8}"
    )
    names = SETS if options.only is None else options.only
    if folder is None:
        print("the real sets are left out: set AUCERT_DATA to their folder")
        names = ()
    for structure in options.structure:
        setting = Setting(options.lam, structure, options.landmarks, options.drawn)
        results = []
        for name in names:
            assert folder is not None
            results.append(mean_fits(setting, read(name, folder), options.splits))
            show(name, structure, results[-1])
        if len(results) > 1:
            show("mean, worst", structure, average(results))
        if options.toy_rows:
            show("xor", structure, mean_fits(setting, load(f"xor:{options.toy_rows}"), 1))


if __name__ == "__main__":
    raise SystemExit(main())
