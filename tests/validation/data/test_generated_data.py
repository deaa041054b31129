"""Data sets by name, their fingerprints, the papers' generators, and the population AUC."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, owens_t
from sklearn.datasets import load_breast_cancer, load_digits

from aucert.exact.errors import InputError
from aucert.validation.data.datasets import (
    data_sha256,
    linear,
    load,
    make_dataset,
    names,
    offset_for_share,
    population_auc,
    radial,
    share_for_auc,
    sparse_mean_shift,
    xor,
    xor_train_test,
)
from loops import each

SIZES = {
    "wdbc": (569, 30, 212, 357),
    "digits": (1797, 64, 901, 896),
    "digits-even": (1797, 64, 891, 906),
    "wine": (178, 13, 71, 107),
    "iris": (150, 4, 50, 100),
    "linear": (5000, 2, None, None),
    "radial": (5000, 2, None, None),
    "xor": (120, 2, 40, 80),
    "sparse-mean-shift": (1000, 1000, 50, 950),
}


def test_every_name_loads_a_clean_data_set_of_known_size() -> None:
    for name in names():
        data, (n, d, n_pos, n_neg) = load(name), SIZES[name]
        assert data.X.shape == (n, d) and data.n_pos + data.n_neg == n
        assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
        assert np.isfinite(data.X).all() and data.source
        assert set(np.unique(data.y)) == {0, 1} and data.positive == 1
        assert n_pos is None or (data.n_pos, data.n_neg) == (n_pos, n_neg)
        assert data.sha256 == data_sha256(data.X, data.y) == load(name).sha256
    assert load("radial:50", seed=1).sha256 != load("radial:50", seed=2).sha256
    assert load("iris", seed=1).sha256 == load("iris", seed=2).sha256


def test_the_classes_of_the_built_in_sets_are_what_their_names_say() -> None:
    raw: dict = load_breast_cancer()  # type: ignore[assignment]
    malignant = list(raw["target_names"]).index("malignant")  # which scikit-learn codes as 0
    assert np.array_equal(load("wdbc").y == 1, raw["target"] == malignant)
    assert np.array_equal(load("wdbc").X, raw["data"])
    digit = load_digits()["target"]  # type: ignore[index]
    assert np.array_equal(load("digits").y == 1, digit <= 4)
    assert np.array_equal(load("digits-even").y == 1, digit % 2 == 0)


X = np.arange(12.0).reshape(4, 3)
Y = np.array([0, 1, 1, 0])


def test_a_fingerprint_is_of_values_order_types_and_shapes_and_of_nothing_else() -> None:
    wanted = hashlib.sha256(b"<f8 4x3;" + X.tobytes() + b"<i8 4;" + Y.tobytes()).hexdigest()
    for same in (X, np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2, axis=0)[::2]):
        assert data_sha256(same, Y) == wanted
    for rows in (X + np.eye(4, 3) * 1e-15, X[::-1], X.reshape(3, 4), X.astype(np.float32)):
        assert data_sha256(rows, Y) != wanted
    for y in ([1, 0, 1, 0], Y.astype(np.int8), Y.reshape(4, 1), np.array(["a", "b", "b", "a"])):
        assert data_sha256(X, y) != wanted
    plain = sp.csr_array(X)
    wide = sp.csr_array((plain.data, plain.indices.astype(np.int64), plain.indptr), shape=X.shape)
    sparse = {data_sha256(m, Y) for m in (plain, plain.tocsc(), plain.tocoo(), wide)}
    assert len(sparse) == 1 and wanted not in sparse
    stored = (np.array([1.0, 0.0, 1.0, 2.0]), np.array([2, 0, 2, 1]), np.array([0, 4]))
    messy = sp.csr_array(stored, shape=(1, 3))  # unsorted, a duplicate, a stored zero
    assert data_sha256(messy, [1]) == data_sha256(sp.csr_array([[0.0, 2.0, 2.0]]), [1])
    assert messy.nnz == 4, "the argument is left alone"


def test_a_dataset_counts_its_classes_by_the_positive_label() -> None:
    data = make_dataset("toy", X, np.array(["M", "B", "B", "B"]), positive="M", source="by hand")
    assert (data.n_pos, data.n_neg) == (1, 3)
    assert data.is_positive.tolist() == [True, False, False, False]
    assert data.sha256 == data_sha256(data.X, data.y)


@each("generate", [linear, radial])
def test_features_are_normal_and_positives_have_their_share(generate) -> None:
    n = 200_000
    for share in (0.2, 0.5):
        data = generate(n=n, seed=1, share_pos=share)
        assert abs(data.n_pos / n - share) < 4 * math.sqrt(share * (1 - share) / n)
    x = generate(n=20_000, seed=2).X
    assert x.shape == (20_000, 2) and stats.kstest(x.ravel(), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x.T)[0, 1]) < 4 / math.sqrt(20_000)


@each("generate", [linear, radial])
def test_labels_follow_the_probit_of_the_true_score(generate) -> None:
    data = generate(n=100_000, seed=3)
    f = data.X.sum(axis=1) if generate is linear else np.square(data.X).sum(axis=1)
    p = ndtr(f + offset_for_share(generate.__name__, 0.2))
    for low in np.arange(0.0, 1.0, 0.2):
        inside = (p >= low) & (p < low + 0.2)
        error = math.sqrt(np.sum(p[inside] * (1 - p[inside])))
        assert abs(data.y[inside].sum() - p[inside].sum()) < 4 * error


def test_xor_has_the_printed_means_and_covariances() -> None:
    """Moments of a mixture of N(m, S) and N(-m, S): mean 0, covariance S + m m'."""
    for n, n_pos in ((6, 2), (7, 2), (600, 200), (1000, 333)):
        assert (xor(n=n).n_pos, xor(n=n).n_neg) == (n_pos, n - n_pos)
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
    assert len(np.unique(np.concatenate([train.X, test.X]), axis=0)) == 600
    assert abs(int(np.sum((train.y == 1) & (train.X[:, 0] < 0))) - 20) <= 4


def test_only_the_positives_are_shifted_and_only_in_the_support() -> None:
    data = sparse_mean_shift(n=4000, seed=6, d=50, k_star=10, r=0.5, mu=0.3)
    shift = np.zeros(50)
    shift[data.support] = 0.3
    for label, mean in ((1, shift), (0, 0 * shift)):
        assert np.abs(data.X[data.y == label].mean(axis=0) - mean).max() < 5 / math.sqrt(2000)
    assert data.support is not None and np.abs(data.X.std(axis=0) - 1).max() < 0.08
    plain = sparse_mean_shift(n=80, seed=1, d=12, k_star=3, r=0.25)
    scaled = sparse_mean_shift(n=80, seed=1, d=12, k_star=3, r=0.25, normalize=True)
    z = stats.zscore(plain.X, axis=0)
    np.testing.assert_allclose(scaled.X, z / np.linalg.norm(z, axis=1)[:, None], rtol=1e-12)
    assert np.array_equal(scaled.y, plain.y)


# The population AUC against closed forms.

SHARES = (0.05, 0.2, 0.5, 0.9)


def radial_above(t: np.ndarray | float, alpha: float) -> np.ndarray:
    """P(f > t, y = 1) of the radial model in closed form, by parts."""
    z = t + alpha
    tail = math.exp(alpha / 2 + 1 / 8) * ndtr(-(z + 1 / 2))
    return np.exp(-np.asarray(t) / 2) * ndtr(z) + tail


def linear_above(t: np.ndarray, alpha: float) -> np.ndarray:
    """P(f > t, y = 1) of the linear model: a bivariate normal tail by Owen's T function."""
    total_sd = math.sqrt(3.0)
    h, k, rho = -t / math.sqrt(2.0), alpha / total_sd, math.sqrt(2.0) / total_sd
    root = math.sqrt(1.0 - rho**2)
    owen = owens_t(h, (k / h - rho) / root) + owens_t(k, (h / k - rho) / root)
    return 0.5 * (ndtr(h) + ndtr(k)) - owen - np.where(h * k > 0, 0.0, 0.5)


def gauss_legendre(low: float, high: float, panels: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(10)
    ends = np.linspace(low, high, panels + 1)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


def test_the_population_auc_agrees_with_closed_inner_integrals() -> None:
    for share in SHARES:
        # alpha = 0 is the singular case of the formula with T
        alpha = math.sqrt(3.0) * ndtri(share) or 1e-12
        t, weight = gauss_legendre(-12.5, 12.5, 400)
        density = np.exp(-t * t / 4) / (2 * math.sqrt(math.pi)) * ndtr(-(t + alpha))
        wanted = np.sum(weight * density * linear_above(t, alpha))
        found = population_auc("linear", share) * share * (1 - share)
        assert found == pytest.approx(wanted, abs=1e-9)
        alpha = offset_for_share("radial", share)
        assert radial_above(0.0, alpha) == pytest.approx(share, abs=1e-11)
        alpha = brentq(lambda a, s=share: radial_above(0.0, a) - s, -40, 20, xtol=1e-13)
        t, weight = gauss_legendre(0.0, 90.0, 900)
        density = 0.5 * np.exp(-t / 2) * ndtr(-(t + alpha))
        wanted = np.sum(weight * density * radial_above(t, alpha))
        found = population_auc("radial", share) * share * (1 - share)
        assert found == pytest.approx(wanted, abs=1e-9)


def test_the_printed_values_belong_to_other_shares_of_positives() -> None:
    """[ScalingUp, Section 4.1]: "approximately 80 %" negative allows 76.3 %, and not 56.3 %."""
    for model, value, wanted in (("linear", 0.90377, 0.237), ("radial", 0.90985, 0.437)):
        share = share_for_auc(model, value)
        assert population_auc(model, share) == pytest.approx(value, abs=1e-8)
        assert share == pytest.approx(wanted, abs=5e-4)


@each(
    ("call", "words"),
    [
        (lambda: load("wdcb"), "did you mean wdbc"),
        (lambda: load("zzz"), "there is wdbc, digits, digits-even"),
        (lambda: load(""), "no built-in data set ''"),
        (lambda: load("wdbc:100"), "wdbc has a fixed number of rows: leave out ':100'"),
        (lambda: load("linear:"), "a number of rows from 1"),
        (lambda: load("linear:0"), "a number of rows from 1"),
        (lambda: load("linear:-5"), "a number of rows from 1"),
        (lambda: load("linear:1e5"), "a number of rows from 1"),
        (lambda: load("linear:999999999999"), "a number of rows from 1"),
        (lambda: load("linear:1"), "at least 2 rows"),
        (lambda: linear(n=0), "at least 2 rows"),
        (lambda: linear(n=2), "both classes are needed"),
        (lambda: linear(n=10, seed=-1), "seed must be 0 or more"),
        (lambda: xor(n=5), "at least 6 rows"),
        (lambda: sparse_mean_shift(r=0.0), "r must lie"),
        (lambda: sparse_mean_shift(n=10, r=0.01), "0 positive and 10 negative"),
        (lambda: sparse_mean_shift(d=10, k_star=11), "k_star must lie between 1 and d = 10"),
        (lambda: radial(share_pos=1.5), "share_pos"),
        (lambda: share_for_auc("linear", 0.89), "the AUC of the linear model is in"),
        (lambda: share_for_auc("linear", 0.9999), "the AUC of the linear model is in"),
        (lambda: population_auc("cubic"), "model"),  # type: ignore[arg-type]
        (lambda: population_auc("linear", 0.0), "share_pos"),
        (lambda: offset_for_share("linear", 1.0), "share_pos"),
        (lambda: population_auc("linear", math.nan), "share_pos"),
        (lambda: make_dataset("toy", X, [0] * 4, source="x"), "toy: 0 positive and 4 negative"),
        (lambda: make_dataset("toy", X, [1] * 4, source="x"), "toy: 4 positive and 0 negative"),
        (lambda: data_sha256(X, np.array([None], dtype=object)), "Python objects"),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
