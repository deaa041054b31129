"""`aucert certify --from RIVAL --C C`: the rival's own problem, its loss included."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from aucert.exact import certify
from aucert.validation import cli
from loops import each

Y = (np.arange(60) % 3 == 0).astype(int)
X = np.random.default_rng(0).normal(size=(60, 2)) + 0.8 * Y[:, None]


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    np.save(tmp_path / "w.npy", np.array([0.5, 0.2, 7.0]))  # with an intercept
    return tmp_path / "data.npz", tmp_path / "w.npy"


def run(capsys, *arguments) -> tuple[int, str, str]:
    status = 0
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


@each(
    ("rival", "loss"),
    [
        ("liblinear-ranksvm", "squared_hinge"),
        ("dlib", "hinge"),
        ("roclab", "hinge"),
        ("SVM-rank", "hinge"),
        ("scikit-learn", "squared_hinge"),
        ("torch", "hinge"),
        ("scikit-survival", "squared_hinge"),
        ("scikit-survival-hinge", "hinge"),
        ("libauc", "hinge"),
    ],
)
def test_a_rivals_problem_is_that_of_python(capsys, files, rival, loss):
    data, w = files
    arguments = ["certify", data, "--weights", w, "--from", rival, "--C", 0.05, "--json"]
    status, out, err = run(capsys, *arguments)
    document = json.loads(out)
    expected = certify(X, Y, w=[0.5, 0.2], rival=rival, C=0.05)
    assert (status, err) == (0, "")
    for key in ("lam", "loss", "primal", "gap", "rival_primal", "rival_gap", "n_right", "n_wrong"):
        assert document[key] == getattr(expected, key), key
    assert document["loss"] == document["parameters"]["loss"] == loss
    assert document["statement"].startswith(expected.statement)
    certain = document["n_right"] + document["n_wrong"]
    assert (f"order {certain} of the pairs" if certain else "order of any pair") in out


def test_the_loss_of_a_rival_that_has_two_can_be_named(capsys, files):
    data, w = files
    common = ["certify", data, "--weights", w, "--C", 0.05, "--json"]
    document = json.loads(run(capsys, *common, "--from", "sklearn", "--loss", "hinge")[1])
    assert document["loss"] == "hinge"
    status, out, err = run(capsys, *common, "--from", "liblinear-ranksvm", "--loss", "hinge")
    assert (status, out) == (2, "") and "squared_hinge, not hinge" in err


def test_without_a_rival_the_loss_is_the_hinge_as_ever(capsys, files):
    data, w = files
    document = json.loads(run(capsys, "certify", data, "--weights", w, "--lam", 1, "--json")[1])
    assert document["loss"] == "hinge" and document["rival_primal"] is None


def test_the_weights_of_linear_svc_on_pair_differences_are_nearly_optimal(capsys, tmp_path, files):
    differences = (X[Y == 1][:, None] - X[Y == 0][None]).reshape(-1, 2)
    sign = np.where(np.arange(len(differences)) % 2 == 0, 1, -1)
    model = LinearSVC(C=0.01, fit_intercept=False, tol=1e-8, max_iter=100_000)
    w = model.fit(differences * sign[:, None], sign).coef_[0]
    np.save(tmp_path / "svc.npy", w)
    arguments = ["--weights", tmp_path / "svc.npy", "--from", "scikit-learn", "--C", 0.01]
    status, out, _ = run(capsys, "certify", files[0], *arguments)
    assert status == 0 and "in the units of scikit-learn at C = 0.01" in out
    (gap,) = [line.split()[1] for line in out.splitlines() if line.startswith("relative_gap")]
    assert float(gap) < 1e-6


@each(
    ("options", "words"),
    [
        (["--C", "1"], "--from RIVAL with --C"),
        (["--from", "dlib"], "--from RIVAL with --C"),
        (["--from", "libfm", "--C", "1"], "libfm"),
        (["--from", "dlib", "--C", "-1"], "C must be > 0"),
        (["--from", "dlib", "--C", "1", "--lam", "1"], "not both"),
    ],
)
def test_a_scaling_that_is_not_clear_gets_one_sentence(capsys, files, options, words):
    data, w = files
    status, out, err = run(capsys, "certify", data, "--weights", w, *options)
    assert (status, out) == (2, "") and words in err and err.count("\n") == 1
