"""Claims about the feature map of Algorithm 1 [Nonlinear, Section 3.2]."""

from __future__ import annotations

import numpy as np

from ....approx.landmarks import kmeans
from ....exact.spaces.kernels import Gaussian
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample


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


def algorithm_1_map_as_printed(context: Context) -> Outcome:
    return _map_error(context, printed=True)


def algorithm_1_map_transposed(context: Context) -> Outcome:
    return _map_error(context, printed=False)
