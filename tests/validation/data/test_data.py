"""Data by name and the papers' files: fingerprints, generators, populations, printed numbers."""

import hashlib
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer, load_digits

from aucert.validation.data import datasets
from aucert.validation.data.datasets import data_sha256, linear, load, load_npz, sparse_mean_shift
from loops import each, refuses

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
    for name in datasets.names():
        data, (n, d, n_pos, n_neg) = load(name), SIZES[name]
        assert data.X.shape == (n, d) and data.n_pos + data.n_neg == n
        assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
        assert np.isfinite(data.X).all() and data.source
        assert set(np.unique(data.y)) == {0, 1}
        assert n_pos is None or (data.n_pos, data.n_neg) == (n_pos, n_neg)
        assert data.sha256 == data_sha256(data.X, data.y) == load(name).sha256
    assert load("radial:50", seed=1).sha256 != load("radial:50", seed=2).sha256
    assert load("iris", seed=1).sha256 == load("iris", seed=2).sha256
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


def test_xor_has_the_printed_means_and_covariances() -> None:
    """Moments of a mixture of N(m, S) and N(-m, S): mean 0, covariance S + m m'."""
    for n, n_pos in ((6, 2), (7, 2), (600, 200), (1000, 333)):
        assert (datasets.xor(n=n).n_pos, datasets.xor(n=n).n_neg) == (n_pos, n - n_pos)
    data = datasets.xor(n=150_000, seed=4)
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
    train, test = datasets.xor_train_test(seed=5)
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


def test_the_population_auc_is_that_of_fine_sums() -> None:
    """Of f alone: its density, and the probit of the label, by the trapezoid rule."""
    for share in (0.05, 0.2, 0.5, 0.9):
        laws = (("linear", stats.norm(0, 2**0.5), -13, 13), ("radial", stats.chi2(2), 0, 90))
        for model, law, start, end in laws:
            t = np.linspace(start, end, 200_001)
            p = ndtr(t + datasets.offset_for_share(model, share))
            mass = law.pdf(t) * np.gradient(t)
            mass[[0, -1]] /= 2
            assert mass @ p == pytest.approx(share, abs=1e-7)
            above = np.cumsum((mass * p)[::-1])[::-1] - mass * p / 2
            found = datasets.population_auc(model, share)
            assert found == pytest.approx(mass * (1 - p) @ above / (share * (1 - share)), abs=1e-6)


@each(
    ("call", "words"),
    [
        (lambda: load("wdcb"), "did you mean wdbc"),
        (lambda: load(""), "no built-in data set ''"),
        (lambda: load("wdbc:100"), "wdbc has a fixed number of rows: leave out ':100'"),
        (lambda: load("linear:0"), "a number of rows from 1"),
        (lambda: load("linear:999999999999"), "a number of rows from 1"),
        (lambda: load("linear:1"), "at least 2 rows"),
        (lambda: linear(n=2), "both classes are needed"),
        (lambda: linear(n=10, seed=-1), "seed must be 0 or more"),
        (lambda: datasets.xor(n=5), "at least 6 rows"),
        (lambda: sparse_mean_shift(r=0.0), "r must lie"),
        (lambda: sparse_mean_shift(n=10, r=0.01), "0 positive and 10 negative"),
        (lambda: sparse_mean_shift(d=10, k_star=11), "k_star must lie between 1 and d = 10"),
        (lambda: datasets.radial(share_pos=1.5), "share_pos"),
        (lambda: datasets.share_for_auc("linear", 0.89), "the AUC of the linear model is in"),
        (lambda: datasets.population_auc("cubic"), "model"),  # type: ignore[arg-type]
        (lambda: datasets.offset_for_share("linear", 1.0), "share_pos"),
        (lambda: datasets.population_auc("linear", math.nan), "share_pos"),
        (
            lambda: datasets.make_dataset("toy", X, [0] * 4, source="x"),
            "toy: 0 positive and 4 negative",
        ),
        (lambda: data_sha256(X, np.array([None], dtype=object)), "Python objects"),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(call, words: str) -> None:
    refuses(words, call)


# Rows of each class, from the papers where they print them, else from the files' description.
COUNTS = """skin 50859 194198, bank 4640 36548, accelerometer 571 31420, usps 5427 3871,
connect-4 50922 16635, magic04 12332 6688, spambase 2788 1813, ijcnn1 128126 13565,
cod-rna 220768 110384, covtype 236128 22437, colon 40 22, leukemia 47 25"""
NEXT_TO_CLONE = Path(__file__).resolve().parents[4] / "shared" / "data"


@each("words", COUNTS.split(","))
def test_the_class_counts_of_the_papers_tasks(words: str) -> None:
    name, n_pos, n_neg = words.split()
    folder = Path(os.environ.get("AUCERT_DATA", NEXT_TO_CLONE)).expanduser()
    if not (folder / f"{datasets.TASKS[name].file}.npz").is_file():
        pytest.skip(f"needs the real data file {datasets.TASKS[name].file}.npz: set AUCERT_DATA")
    data = datasets.load_real(name, folder=folder)
    assert (data.n_pos, data.n_neg) == (int(n_pos), int(n_neg))
    assert np.isfinite(data.X).all()


def test_every_key_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.npz"
    X = np.array([[1, 20], [3, 40], [5, 60]], dtype=np.int16)
    held: dict[str, Any] = {"X": X, "y": [0, 4, 7], "X_test": X[:1] + 6, "y_test": [4]}
    np.savez(path, **held, scale=0.5, feature_names=["a", "b"])
    data = load_npz(path, positive=4)  # the test rows come last
    assert data.X.tolist() == [[0.5, 10], [1.5, 20], [2.5, 30], [3.5, 13]]
    assert data.y.tolist() == [0, 1, 0, 1] and data.name == "toy"
    assert load_npz(path, positive=7, part="train").X.tolist() == (X / 2).tolist()
    refuses("a single class, 4", load_npz, path, positive=4, part="test")
    assert load_npz(path, positive=(0, 7)).y.tolist() == [1, 0, 1, 0]
    assert load_npz(path, positive=4, drop=("a",)).X.ravel().tolist() == [10, 20, 30, 13]
    refuses(r"no column 'c'; the columns are 'a', 'b'", load_npz, path, positive=4, drop=("c",))
    np.savez(path, X=np.arange(5.0)[:, None], y=[0, 1, 0, 1, 1], n_train=2)
    for part, wanted in (("train", [0, 1]), ("test", [2, 3, 4]), ("all", [0, 1, 2, 3, 4])):
        assert load_npz(path, part=part).X.ravel().tolist() == wanted  # type: ignore[arg-type]
    holes = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    np.savez(path, X=holes, y=["p", "q", "q"], feature_names=["a", "b"])
    refuses(r"toy.npz: missing value in column 'b', row 2", load_npz, path)
    assert load_npz(path, missing="drop-rows").X.tolist() == [[1, 2], [5, 6]]


@each(
    ("arrays", "options", "words"),
    [
        ({"X": np.eye(2)}, {}, "no arrays 'X' and 'y'"),
        ({"X": np.eye(2), "y": [0, 1]}, {"part": "test"}, "no published split"),
        ({"X": np.eye(2), "y": [0, 1], "n_train": 1}, {"part": "x"}, "part must be one of"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, {}, r"'X' has shape \(2, 2\) and 'y'"),
        ({"X": np.eye(3), "y": [0, 1, 2]}, {}, "3 classes"),
        ({"X": np.eye(2), "y": [0, 1]}, {"positive": (5,)}, "no class 5; the classes are 0, 1"),
        ({"X": np.eye(2), "y": [0, 1], "scale": np.ones(2)}, {}, "'scale' must be one"),
    ],
)
def test_a_file_not_as_described_is_refused(tmp_path, arrays, options, words: str) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)
    refuses(words, load_npz, path, **options)


def test_the_folder_is_that_of_the_environment_variable(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert datasets.real_data_folder() is None
    refuses("set AUCERT_DATA", datasets.load_real, "skin")
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert datasets.real_data_folder() == tmp_path
    refuses(r"skin\.npz: no such file", datasets.load_real, "skin")
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path / "gone"))
    refuses("no such folder", datasets.real_data_folder)
    refuses(r"no real data set 'colonn'; .*mean colon", datasets.load_real, "colonn", folder=".")
