"""Claims about the feature maps of Algorithm 1 [Nonlinear, Sections 3.2 and 5.3]."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from ....approx.nystrom.landmarks import kmeans, uniform
from ....approx.nystrom.nystrom import nystrom_map
from ....exact.spaces.kernels import Gaussian
from ...data import datasets
from ...data.labelled_data import Dataset, make_dataset
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample
from ..papers import NONLINEAR

SIZES = (10, 30, 90)


def _sets(context: Context) -> list[tuple[Dataset, float]]:
    digits = datasets.load("digits")
    scale = np.maximum(digits.X.std(axis=0), 1e-12)
    X = ((digits.X - digits.X.mean(axis=0)) / scale)[:600]
    part = make_dataset("digits, 600 rows", X, digits.y[:600], source=digits.source)
    return [(part, 1 / 64), (wdbc_sample(context), 1 / 30)]


@lru_cache(maxsize=1)
def _errors(seed: int, profile: str) -> tuple[dict[str, dict[str, float]], list[Dataset]]:
    """Return |K - K~| / |K| in the Frobenius norm, means over draws."""
    context = Context("kernel-errors", seed, profile)
    table: dict[str, dict[str, float]] = {}
    used, count = [], 3 if context.quick else 30
    for data, gamma in _sets(context):
        used.append(data)
        kernel = Gaussian(gamma)
        K = kernel(data.X, data.X)
        for size in SIZES:
            found: dict[str, list[float]] = {"k-means": [], "uniform": [], "Fourier": []}
            for at in range(count):
                draw = context.draw_seed(f"{data.name} {size} {at}")
                maps = {
                    "k-means": nystrom_map(kernel, kmeans(data.X, size, draw).rows).transform,
                    "uniform": nystrom_map(kernel, uniform(data.X, size, draw).rows).transform,
                    "Fourier": RBFSampler(
                        gamma=gamma, n_components=size, random_state=draw
                    ).fit_transform,
                }
                for name, change in maps.items():
                    V = np.asarray(change(data.X))
                    found[name].append(float(np.linalg.norm(K - V @ V.T) / np.linalg.norm(K)))
            table[f"{data.name}, {size}"] = {k: float(np.mean(v)) for k, v in found.items()}
    return table, used


def _compared(context: Context, better: str, worse: str) -> Outcome:
    table, used = _errors(context.seed, context.profile)
    ratios = {name: row[worse] / row[better] for name, row in table.items()}
    return Outcome(
        Verdict.HOLDS if min(ratios.values()) > 1 else Verdict.FAILS,
        f"the error of {worse} is {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times "
        f"that of {better}",
        details={f"{name}: {', '.join(row)}": list(row.values()) for name, row in table.items()},
        data=used,
        tolerance="larger in each of six cells; |K - K~| / |K|, Frobenius norm, means over draws",
    )


@NONLINEAR.suite(
    "Section 3.2",
    "k-means landmarks have a lower approximation error of the kernel matrix than uniformly drawn "
    "ones.",
)
def kmeans_landmarks_approximate_better_than_uniform(context: Context) -> Outcome:
    return _compared(context, "k-means", "uniform")


@NONLINEAR.suite(
    "Section 5.3",
    "The k-means Nystrom map, made from the data, approximates the kernel matrix better than as "
    "many random Fourier features, which are oblivious to the data.",
)
def nystrom_approximates_better_than_random_fourier(context: Context) -> Outcome:
    return _compared(context, "k-means", "Fourier")


def _map_error(context: Context, printed: bool) -> Outcome:
    data = wdbc_sample(context, 40, 60)
    kernel = Gaussian(1 / 30)
    points = kmeans(data.X, 15, context.draw_seed("landmarks")).rows
    W, E = kernel(points, points), kernel(data.X, points)
    values, U = np.linalg.eigh(W)
    right = E @ np.linalg.pinv(W) @ E.T
    root = np.diag(values**-0.5)
    columns = U @ root @ E.T if printed else root @ U.T @ E.T
    error = float(np.abs(columns.T @ columns - right).max() / np.abs(right).max())
    return Outcome(
        Verdict.HOLDS if error <= 1e-8 else Verdict.FAILS,
        f"off by {error:.1e} of the largest entry",
        details={"relative error of the Gram matrix": error, "landmarks": 15},
        data=(data,),
        tolerance="1e-8",
    )


@NONLINEAR.theorem(
    "Section 3.2, Algorithm 1",
    "The printed embedding has the Nystrom approximation as its Gram matrix (all eigenvalues kept, "
    "so that the product conforms).",
    formula="phi~(X) = U Sigma^(-1/2) E',  phi~' phi~ = E W^+ E'",
)
def algorithm_1_map_as_printed(context: Context) -> Outcome:
    return _map_error(context, printed=True)


@NONLINEAR.corrected(
    "Section 3.2, Algorithm 1",
    "With U transposed the embedding has the Nystrom approximation as its Gram matrix.",
    formula="phi~(X) = Sigma^(-1/2) U' E'",
)
def algorithm_1_map_transposed(context: Context) -> Outcome:
    return _map_error(context, printed=False)
