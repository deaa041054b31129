"""The generators draw from the laws the papers print."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from aucert.exact.errors import InputError
from aucert.validation.data.generators import linear, radial, sparse_mean_shift, xor, xor_train_test
from aucert.validation.data.population import offset_for_share, population_auc
from loops import each

ALL = (linear, radial, xor, sparse_mean_shift)


@each("generate", ALL)
def test_the_same_seed_gives_the_same_numbers(generate) -> None:
    one, two = generate(n=60, seed=7), generate(n=60, seed=7)
    assert one.sha256 == two.sha256
    assert np.array_equal(one.X, two.X)


@each("generate", [linear, radial])
@each("share", [0.2, 0.5])
def test_the_share_of_positives_is_the_wanted_one(generate, share: float) -> None:
    n = 200_000
    data = generate(n=n, seed=1, share_pos=share)
    assert abs(data.n_pos / n - share) < 4 * math.sqrt(share * (1 - share) / n)


@each("generate", [linear, radial])
def test_the_features_are_standard_normal(generate) -> None:
    x = generate(n=20_000, seed=2).X
    assert x.shape == (20_000, 2)
    assert stats.kstest(x.ravel(), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x.T)[0, 1]) < 4 / math.sqrt(20_000)


@each(("generate", "noise_sd"), [(linear, 1.0), (radial, 1.0), (linear, 3.0)])
def test_labels_follow_the_probit_of_the_true_score(generate, noise_sd: float) -> None:
    data = generate(n=100_000, seed=3, noise_sd=noise_sd)
    f = data.X.sum(axis=1) if generate is linear else np.square(data.X).sum(axis=1)
    p = ndtr((f + offset_for_share(generate.__name__, 0.2, noise_sd)) / noise_sd)
    for low in np.arange(0.0, 1.0, 0.2):
        inside = (p >= low) & (p < low + 0.2)
        error = math.sqrt(np.sum(p[inside] * (1 - p[inside])))
        assert abs(data.y[inside].sum() - p[inside].sum()) < 4 * error
    assert 0.5 < population_auc(generate.__name__, 0.2, noise_sd) < 1


@each(("n", "n_pos"), [(6, 2), (7, 2), (600, 200), (1000, 333)])
def test_one_third_of_xor_is_positive(n: int, n_pos: int) -> None:
    assert (xor(n=n).n_pos, xor(n=n).n_neg) == (n_pos, n - n_pos)


def test_xor_has_the_printed_means_and_covariances() -> None:
    """Moments of a mixture of N(m, S) and N(-m, S): mean 0, covariance S + m m'."""
    data = xor(n=150_000, seed=4)
    for label, along, covariance in ((1, 0, 0.1), (0, 1, -0.1)):
        rows = data.X[data.y == label]
        wanted = np.array([[0.15, covariance], [covariance, 0.15]])
        wanted[along, along] += 0.64
        spread = 5 / math.sqrt(len(rows))  # every product below has a variance under 1
        assert np.abs(rows.mean(axis=0)).max() < spread
        assert np.abs(rows.T @ rows / len(rows) - wanted).max() < spread
        # N(0, .79) along the axis would have the fourth moment 1.87
        fourth = np.mean(rows[:, along] ** 4)
        assert abs(fourth - (0.8**4 + 6 * 0.64 * 0.15 + 3 * 0.15**2)) < 2 * spread


def test_the_xor_split_is_a_fifth_of_each_gaussian() -> None:
    train, test = xor_train_test(seed=5)
    assert [(d.n_pos, d.n_neg) for d in (train, test)] == [(40, 80), (160, 320)]
    both = np.concatenate([train.X, test.X])
    assert len(np.unique(both, axis=0)) == 600
    left = int(np.sum((train.y == 1) & (train.X[:, 0] < 0)))
    assert abs(left - 20) <= 4


def test_only_the_positives_are_shifted_and_only_in_the_support() -> None:
    data = sparse_mean_shift(n=4000, seed=6, d=50, k_star=10, r=0.5, mu=0.3)
    assert data.support is not None
    error = 1 / math.sqrt(2000)
    mean_pos, mean_neg = data.X[data.y == 1].mean(axis=0), data.X[data.y == 0].mean(axis=0)
    shift = np.zeros(50)
    shift[data.support] = 0.3
    assert np.abs(mean_pos - shift).max() < 5 * error
    assert np.abs(mean_neg).max() < 5 * error
    assert np.abs(data.X.std(axis=0) - 1).max() < 0.08


def test_normalized_rows_have_length_one_after_z_scores() -> None:
    plain = sparse_mean_shift(n=80, seed=1, d=12, k_star=3, r=0.25)
    scaled = sparse_mean_shift(n=80, seed=1, d=12, k_star=3, r=0.25, normalize=True)
    z = stats.zscore(plain.X, axis=0)
    np.testing.assert_allclose(scaled.X, z / np.linalg.norm(z, axis=1)[:, None], rtol=1e-12)
    assert np.array_equal(scaled.y, plain.y)


@each(
    ("call", "words"),
    [
        (lambda: linear(n=0), "at least 2 rows"),
        (lambda: linear(n=2), "both classes are needed"),
        (lambda: linear(n=10, seed=-1), "seed must be 0 or more"),
        (lambda: xor(n=5), "at least 6 rows"),
        (lambda: sparse_mean_shift(r=0.0), "r must lie"),
        (lambda: sparse_mean_shift(n=10, r=0.01), "0 positive and 10 negative"),
        (lambda: sparse_mean_shift(d=10, k_star=11), "k_star must lie between 1 and d = 10"),
        (lambda: radial(share_pos=1.5), "share_pos"),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
