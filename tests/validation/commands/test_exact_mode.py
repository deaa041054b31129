"""`aucert certify --exact`: the interval in fractions beside that in floats."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import naive
from aucert.exact import AllPairs
from aucert.validation import cli
from loops import each

Y = (np.arange(40) % 3 == 0).astype(int)
X = np.random.default_rng(0).normal(size=(40, 2)) + 0.8 * Y[:, None]
W = np.array([0.5, 0.2, 7.0])  # with an intercept


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    np.save(tmp_path / "w.npy", W)
    return tmp_path / "data.npz", tmp_path / "w.npy"


def run(capsys, *arguments) -> tuple[int, str, str]:
    status = 0
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def test_the_exact_interval_is_printed_in_decimal_digits(capsys, files):
    data, w = files
    common = ["certify", data, "--weights", w, "--lam", 0.1]
    status, out, err = run(capsys, *common, "--exact", "--json")
    document, plain = json.loads(out), json.loads(run(capsys, *common, "--json")[1])
    found = {key: Fraction(value) for key, value in document["exact"].items()}
    listed = naive.weighted_pairs((Y == 1).tolist(), AllPairs())
    truth = naive.primal_value(naive.exact(X), listed, "hinge", Fraction(0.1), naive.exact(W[:2]))
    assert (status, err) == (0, "")
    assert truth <= found["primal"] <= truth * (1 + Fraction(1, 10**23))
    assert 0 < found["dual"] <= truth - found["gap"] * (1 - Fraction(1, 10**20))
    slip = document["rounding"] + 1e-9 * document["primal"]
    assert abs(found["gap"] - Fraction(document["gap"])) <= slip
    added = {"exact"}
    assert document.keys() - plain.keys() == added and "exact" not in plain
    text = run(capsys, *common, "--exact")[1]
    assert f"exact primal  {document['exact']['primal']}" in text
    assert f"exact dual    {document['exact']['dual']}" in text


def test_a_rivals_loss_is_the_one_of_the_exact_interval(capsys, files):
    data, w = files
    arguments = ["--weights", w, "--from", "liblinear-ranksvm", "--C", 0.05, "--exact", "--json"]
    document = json.loads(run(capsys, "certify", data, *arguments)[1])
    assert document["loss"] == "squared_hinge"
    assert abs(float(document["exact"]["primal"]) - document["primal"]) < 1e-12


@each(
    ("more", "words"),
    [
        (["--kernel", "rbf", "--gamma", 1], "linear weights: the rbf kernel"),
        (["--structure", 2], "leave --structure out"),
    ],
)
def test_what_is_not_known_exactly_is_refused_in_one_sentence(capsys, files, more, words):
    data, w = files
    arguments = ["certify", data, "--lam", 0.1, "--weights", w, "--exact", "--json", *more]
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "") and words in err and err.count("\n") == 1


def test_scores_have_no_exact_interval(capsys, files, tmp_path):
    np.save(tmp_path / "s.npy", X[:, 0])
    arguments = ["certify", files[0], "--lam", 0.1, "--scores", tmp_path / "s.npy", "--exact"]
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "") and "--exact goes with --weights" in err
