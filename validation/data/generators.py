"""The papers' simulated data: each generator takes n and a seed and returns a `Dataset`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...exact.errors import InputError, brief
from .labelled_data import Dataset, make_dataset
from .population import Model, offset_for_share

# [SAUC, Table 1]: mean, off-diagonal covariance, samples; the first two are class I.
_XOR_VARIANCE = 0.15
_XOR_PARTS = (
    ((0.8, 0.0), 0.1, 100),
    ((-0.8, 0.0), 0.1, 100),
    ((0.0, 0.8), -0.1, 200),
    ((0.0, -0.8), -0.1, 200),
)


def linear(
    n: int = 5000, seed: int = 0, *, share_pos: float = 0.2, noise_sd: float = 1.0
) -> Dataset:
    """Draw from the linear model [ScalingUp, Section 4.1]: y = sign(alpha + x1 + x2 + eps).

    x ~ N2(0, I), eps ~ N(0, noise_sd^2), and alpha gives the wanted share of positives in the
    population; the share in the sample varies. y is 0 or 1.
    """
    return _sign_model("linear", n, seed, share_pos, noise_sd)


def radial(
    n: int = 5000, seed: int = 0, *, share_pos: float = 0.2, noise_sd: float = 1.0
) -> Dataset:
    """Draw from the radial model [ScalingUp, Section 4.1]: y = sign(alpha + |x|^2 + eps).

    Arguments, result and errors as in `linear`.
    """
    return _sign_model("radial", n, seed, share_pos, noise_sd)


def _sign_model(model: Model, n: int, seed: int, share_pos: float, noise_sd: float) -> Dataset:
    alpha = offset_for_share(model, share_pos, noise_sd)
    _check_rows(model, n)
    rng = _random(seed)
    X = rng.standard_normal((n, 2))
    f = X.sum(axis=1) if model == "linear" else np.square(X).sum(axis=1)
    y = (alpha + f + noise_sd * rng.standard_normal(n) > 0.0).astype(np.int64)
    source = (
        f"generated: {model} model [ScalingUp, Section 4.1], {share_pos:g} positive, "
        f"noise {noise_sd:g}, n={n}, seed={seed}"
    )
    return make_dataset(f"{model}:{n}", X, y, source=source)


def xor(n: int = 120, seed: int = 0) -> Dataset:
    """Draw the XOR toy problem [SAUC, Table 1]: four Gaussians, two a class, diagonal.

    Class I (positive, one third of the rows) lies at (+-0.8, 0) with covariance
    [[.15, .1], [.1, .15]]; class II (two thirds) at (0, +-0.8) with [[.15, -.1], [-.1, .15]].
    The class sizes are fixed, not drawn: n = 120 gives the paper's training size, 40 against 80.
    """
    _check_rows("xor", n, least=6)
    n_pos = round(n / 3)
    n_neg = n - n_pos
    counts = (n_pos - n_pos // 2, n_pos // 2, n_neg - n_neg // 2, n_neg // 2)
    X, y, _ = _xor_draw(counts, seed)
    source = f"generated: XOR toy problem [SAUC, Table 1], n={n}, seed={seed}"
    return make_dataset(f"xor:{n}", X, y, source=source)


def xor_train_test(seed: int = 0) -> tuple[Dataset, Dataset]:
    """Draw the 600 rows of [SAUC, Table 1] and split each Gaussian 1/5 to 4/5 [SAUC, Fig. 2]."""
    X, y, part = _xor_draw([count for _, _, count in _XOR_PARTS], seed)
    # The rows of a part are independent draws: its first fifth is a random fifth.
    train = np.concatenate(
        [np.flatnonzero(part == k)[: count // 5] for k, (_, _, count) in enumerate(_XOR_PARTS)]
    )
    test = np.setdiff1d(np.arange(len(y)), train)
    source = f"generated: XOR toy problem [SAUC, Table 1 and Fig. 2], seed={seed}"
    return (
        make_dataset("xor-train", X[train], y[train], source=f"{source}, training fifth"),
        make_dataset("xor-test", X[test], y[test], source=f"{source}, the rest"),
    )


def _xor_draw(counts: Sequence[int], seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and the number of the Gaussian of each row."""
    rng = _random(seed)
    rows = []
    for (mean, covariance, _), count in zip(_XOR_PARTS, counts, strict=True):
        scatter = [[_XOR_VARIANCE, covariance], [covariance, _XOR_VARIANCE]]
        factor = np.linalg.cholesky(np.array(scatter))
        rows.append(np.array(mean) + rng.standard_normal((count, 2)) @ factor.T)
    part = np.repeat(np.arange(len(_XOR_PARTS)), counts)
    return np.concatenate(rows), (part < 2).astype(np.int64), part


def sparse_mean_shift(
    n: int = 1000,
    seed: int = 0,
    *,
    d: int = 1000,
    k_star: int = 20,
    r: float = 0.05,
    mu: float = 0.3,
    normalize: bool = False,
) -> Dataset:
    """Draw the sparse mean shift [SHT, Section IV-A].

    Entries are N(0, 1); for the positives, those in a random set S of k_star features are
    N(mu, 1). S is returned as `support`. Rows stand in random order.
    """
    _check_rows("sparse-mean-shift", n)
    if not 1 <= k_star <= d:
        raise InputError(f"k_star must lie between 1 and d = {d}, not {k_star}")
    if not 0.0 < r < 1.0:
        raise InputError(f"r must lie strictly between 0 and 1, not {brief(r)}")
    rng = _random(seed)
    support = np.sort(rng.choice(d, size=k_star, replace=False))
    y = rng.permutation((np.arange(n) < round(r * n)).astype(np.int64))
    X = rng.standard_normal((n, d))
    X[np.ix_(y == 1, support)] += mu
    if normalize:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    source = (
        f"generated: sparse mean shift [SHT, Section IV-A], n={n}, d={d}, k_star={k_star}, "
        f"r={r:g}, mu={mu:g}, seed={seed}{', normalized' if normalize else ''}"
    )
    return make_dataset(f"sparse-mean-shift:{n}", X, y, source=source, support=support)


def _check_rows(name: str, n: int, least: int = 2) -> None:
    if n < least:
        raise InputError(f"{name}: at least {least} rows are needed, not {n}")


def _random(seed: int) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    return np.random.default_rng(seed)
