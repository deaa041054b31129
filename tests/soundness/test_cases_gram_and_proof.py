"""Gram matrices rounded to float32, and the proof of a CSV: what users met with, as short tests."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from aucert.exact import ROCSVM, Gram, certify, cross_validated_path, load_model, save_model, solve
from aucert.exact.proof import check_partitions, check_proof
from aucert.validation.cli import main
from loops import refuses

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)).astype(np.float32)
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)


def in_float32(kind: str) -> np.ndarray:
    if kind != "rbf":
        return (X @ X.T if kind == "linear" else (1 + X @ X.T) ** 2).astype(np.float32)
    return np.exp(-np.float32(0.05) * ((X[:, None] - X[None]) ** 2).sum(-1)).astype(np.float32)


@pytest.mark.parametrize("kind", ["linear", "rbf", "polynomial"])
def test_a_float32_matrix_is_taken_with_the_least_shift_and_that_is_said(kind: str) -> None:
    K = in_float32(kind)
    least = float(np.linalg.eigvalsh(K.astype(float))[0])
    assert least < -1e-9
    with pytest.warns(UserWarning, match="rounding") as seen:
        model = ROCSVM(lam=1e-2, kernel="precomputed").fit(K, Y)
    assert len(seen) == 1 and seen[0].filename == __file__
    assert model.status_ == "certified"
    with pytest.warns(UserWarning, match="rounding"):
        gram = Gram(K.astype(float))  # as numbers that passed through float64 are
    added = np.diag(gram.K - K)
    assert np.ptp(added) < 1e-12 * added[0] + 1e-15 * np.abs(K).max()
    assert -least <= added[0] <= -1.1 * least
    assert f"K + {added[0]:.3g} I" in model.certificate_.statement
    # The numbers are those of the matrix meant.
    w = np.zeros(120)
    w[model.support_] = model.dual_coef_
    scores, up = gram.K @ w, Y == 1
    hinge = np.maximum(0, 1 - (scores[up][:, None] - scores[~up]))
    assert model.certificate_.primal == pytest.approx(5e-3 * w @ scores + hinge.mean(), rel=1e-9)


def test_an_audit_and_a_saved_model_say_it_too(tmp_path) -> None:
    K = in_float32("rbf")
    with pytest.warns(UserWarning, match="rounding"):
        model = ROCSVM(lam=1e-2, kernel="precomputed").fit(K, Y)
    save_model(model, tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    assert " I, as the rounding" in read.certificate_.statement
    with pytest.warns(UserWarning, match="rounding") as seen:
        audit = certify(K, Y, 1e-2, kernel="precomputed", w=np.zeros(120))
    assert len(seen) == 1 and " I, as the rounding" in audit.statement
    K = in_float32("rbf")
    cv = StratifiedKFold(3)
    with pytest.warns(UserWarning, match="rounding") as seen:
        path = cross_validated_path(K, Y, [0.1, 0.01], cv=cv, kernel="precomputed")
    assert len(seen) == 1
    smooth = cross_validated_path(X.astype(float), Y, [0.1, 0.01], cv=cv, kernel="rbf", gamma=0.05)
    np.testing.assert_allclose(path.fold_auc, smooth.fold_auc, atol=0.01)


def test_a_constant_that_pairs_cancel_is_no_fault_of_a_matrix() -> None:
    Z = X.astype(float) + 2  # away from the origin, so that the mean is large
    K = Z @ Z.T
    less = K - K.mean()
    assert np.linalg.eigvalsh(less)[0] < -10
    with pytest.warns(UserWarning, match="constant"):
        found = solve(less, Y, 0.1, kernel="precomputed")
    wanted = solve(K, Y, 0.1, kernel="precomputed")
    assert found.status == wanted.status == "certified"
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(K @ found.w - K @ wanted.w, 0, atol=0.05)


def test_a_matrix_whose_rounding_hides_no_such_eigenvalue_is_refused() -> None:
    K = in_float32("rbf").astype(float)
    off = K - 0.01 * np.eye(120)
    refuses("negative eigenvalue", Gram, off)
    refuses("negative eigenvalue", Gram, off.astype(np.float32))
    refuses("symmetric", Gram, K + 1e-3 * np.triu(K))
    refuses("negative eigenvalue", Gram, [[0, 3], [3, 0.0]])
    K = in_float32("rbf") + np.float32(0.1) * np.eye(120, dtype=np.float32)
    K[3, 5] = np.nextafter(K[3, 5], np.float32(9))
    gram = Gram(K)
    assert gram.K[3, 5] == gram.K[5, 3] and not gram.meaning


def solved(tmp_path: Path, labels: list[str], *options: str) -> Path:
    """Solve a table whose last column is one of the labels, and return the folder written."""
    rows = [f"{a:.6f},{b:.6f},{labels[k % len(labels)]}" for k, (a, b) in enumerate(X[:60, :2])]
    (tmp_path / "mine.csv").write_text("\n".join(["age,size,bought", *rows]) + "\n")
    out = tmp_path / "out"
    main(["solve", str(tmp_path / "mine.csv"), "--lam", "0.1", "--out", str(out), *options])
    return out


def checked(capsys: pytest.CaptureFixture[str], *words: object, by=check_proof) -> tuple[int, str]:
    capsys.readouterr()
    return by.main([str(word) for word in words]), capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "options", "positive"),
    [
        (["no", "yes"], (), "yes"),
        (["no", "yes"], ("--positive", "no"), "no"),
        (["a", "b", "c"], ("--positive", "b"), "b"),
        (["0", "1"], (), "1"),
        (["1.5", "2", "3"], ("--positive", "2"), "2"),
        (["18446744073709551617", "0.5"], (), "18446744073709551617"),
    ],
)
def test_the_proof_of_a_csv_is_checked_with_the_rows_beside_it(
    tmp_path: Path, capsys, labels: list[str], options: tuple[str, ...], positive: str
) -> None:
    out = solved(tmp_path, labels, *options)
    status, said = checked(capsys, out / "proof.npz", out / "data.npz", "--lam", 0.1)
    assert status == 0 and said.startswith("verified gap <= "), said
    # Labels may print as numpy's own numbers do, 2.0 for 2.
    with np.load(out / "proof.npz") as proof, np.load(out / "data.npz") as data:
        assert str(proof["positive"]).removesuffix(".0") == positive
        assert sorted(map(str, np.unique(data["y"]))) == sorted(labels) or data["y"].dtype == float
        assert data["X"].shape == (60, 2)
    pinned = checked(capsys, out / "proof.npz", out / "data.npz", "--positive", "another")
    assert pinned[0] == 1 and "label" in pinned[1]


def test_data_are_left_out_where_they_are_not_wanted(tmp_path: Path, capsys) -> None:
    out = solved(tmp_path, ["no", "yes"])
    held = json.loads((out / "solution.json").read_text())
    assert {"proof.npz", "data.npz"} <= set(held["files"])
    solved(tmp_path, ["no", "yes"], "--no-data")  # the earlier rows do not stay
    assert (out / "proof.npz").exists() and not (out / "data.npz").exists()
    solved(tmp_path, ["no", "yes"], "--loss", "square")
    assert not (out / "proof.npz").exists() and not (out / "data.npz").exists()


def test_what_a_checker_cannot_read_is_said_in_our_words(tmp_path: Path, capsys) -> None:
    out = solved(tmp_path, ["no", "yes"])
    proof, data = out / "proof.npz", out / "data.npz"
    pickled = np.array([{}, None], dtype=object)
    np.save(tmp_path / "pickled.npy", pickled)
    np.savez(tmp_path / "pickled.npz", X=np.ones((2, 2)), y=pickled)
    np.savez(tmp_path / "no_labels.npz", X=np.ones((2, 2)))
    np.savez(tmp_path / "names.npz", **np.load(data), feature_names=pickled)  # not read at all
    bad = [tmp_path / name for name in ("mine.csv", "pickled.npz", "none.npz")]
    tried = [(proof, one) for one in bad] + [(one, data) for one in bad]
    alone = tmp_path / "pickled.npy"
    tried += [(proof, alone, data), (alone, data), (out, data), (proof, tmp_path / "no_labels.npz")]
    for words in tried:
        status, said = checked(capsys, *words)
        assert status == 2 and said.startswith("not readable: ") and said.count("\n") == 1, said
        assert "pickle=" not in said and "unsafely" not in said and "archive" not in said, said
    assert checked(capsys, proof, tmp_path / "names.npz")[0] == 0
    for words in ((bad[0],), (bad[1],), (bad[2],), (alone,)):
        status, said = checked(capsys, *words, by=check_partitions)
        assert status == 2 and said.count("\n") == 1 and "pickle=" not in said, said
