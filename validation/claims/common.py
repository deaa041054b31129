"""What the claims of several papers share: rows of breast cancer, tests by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..data import datasets
from ..data.labelled_data import Dataset, make_dataset
from .claim import Context

LEVEL = 1e-6  # Probability of a false alarm of each test by chance: any seed should do.


def wdbc_sample(context: Context, n_pos: int | None = None, n_neg: int | None = None) -> Dataset:
    """Return breast cancer rows with columns of mean 0 and variance 1 over all 569.

    All rows by default, else that many of each class, drawn without replacement.
    """
    whole = datasets.load("wdbc")
    X = (whole.X - whole.X.mean(axis=0)) / whole.X.std(axis=0)
    what = f"{whole.source}; columns scaled to mean 0, variance 1"
    if n_pos is None or n_neg is None:
        return make_dataset("wdbc, scaled", X, whole.y, source=what)
    rng = context.rng("rows")
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(whole.is_positive), n_pos, replace=False),
            rng.choice(np.flatnonzero(~whole.is_positive), n_neg, replace=False),
        ]
    )
    name = f"wdbc, scaled, {n_pos} + {n_neg} rows"
    return make_dataset(name, X[rows], whole.y[rows], source=f"{what}; rows drawn by the seed")


def two_sided(level: float = LEVEL) -> float:
    """Return the normal quantile z with P(|Z| > z) = level."""
    return float(stats.norm.isf(level / 2))


def upper_limit(hits: int, count: int, level: float = LEVEL) -> float:
    """Return the upper confidence limit of a probability (Clopper and Pearson)."""
    return float(stats.beta.isf(level, hits + 1, count - hits)) if hits < count else 1.0


def lower_limit(hits: int, count: int) -> float:
    """Return the lower confidence limit of a probability (Clopper and Pearson) at `LEVEL`."""
    return float(stats.beta.ppf(LEVEL, hits, count - hits + 1)) if hits else 0.0


def exponent(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """Return p with counts like sizes^p, from the first to the last."""
    return float(np.log(counts[-1] / counts[0]) / np.log(sizes[-1] / sizes[0]))


@dataclass(frozen=True)
class Slope:
    """A least-squares slope of log y against log x, and half the width of its interval."""

    value: float
    half_width: float

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray, sd_log_y: np.ndarray) -> Slope:
        """Fit with weights 1 / sd^2; the half width is that of the normal interval at `LEVEL`."""
        weight = 1.0 / sd_log_y**2
        log_x, log_y = np.log(x), np.log(y)
        centre = float(weight @ log_x / weight.sum())
        spread = float(weight @ (log_x - centre) ** 2)
        slope = float(weight @ ((log_x - centre) * log_y)) / spread
        return cls(slope, two_sided() / float(np.sqrt(spread)))

    @property
    def interval(self) -> list[float]:
        """Lower and upper end."""
        return [self.value - self.half_width, self.value + self.half_width]

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.half_width:.3f}"
