"""Partial AUC and the smooth losses through solve, certify, ROCSVM and the command line."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from aucert.exact import ROCSVM, AllPairs, InputError, certify, solve
from aucert.exact.formulation.request import Request
from aucert.exact.problem.tail import Tail
from aucert.validation.cli import aucert
from loops import each, first_fast


def rows(shift: float = 2.0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + shift * y[:, None], 2), y


@pytest.mark.slow
@each("kernel", ["linear", "rbf"])
@each("loss", first_fast(["hinge", "logistic"]))
def test_solve_and_certify_agree(kernel: str, loss: str) -> None:
    X, y = rows()
    meant = {"kernel": kernel, "loss": loss, "fpr_max": 0.3, "tpr_min": 0.25}
    found = solve(X, y, 0.1, tol=1e-7, **meant)
    assert found.status == "certified"
    audit = certify(X, y, 0.1, w=found.w, tol=1e-6, **meant)
    assert audit.status == "certified"
    assert audit.primal == pytest.approx(found.certificate.primal, rel=1e-9)
    assert f"partial AUC ({loss}, the worst 15 positive and 12 negative rows)" in audit.statement
    whole = certify(X, y, 0.1, w=found.w, kernel=kernel, loss=loss)
    assert whole.gap is not None and whole.gap > 1e-3
    assert audit.primal is not None and whole.primal is not None
    assert audit.primal > whole.primal


@each("loss", ["logistic", "smooth_hinge", "exponential"])
def test_smooth_losses_are_solved_by_name(loss: str) -> None:
    X, y = rows(0.7)
    found = solve(X, y, 0.05, loss=loss, tol=1e-9)
    assert found.status == "certified"
    audit = certify(X, y, 0.05, w=found.w + 0.1, loss=loss)
    assert audit.gap is not None and audit.gap > 0
    model = ROCSVM(0.05, loss=loss).fit(X, y)
    assert model.coef_[0] == pytest.approx(found.w, abs=1e-4)


def test_the_estimator_takes_a_part_of_the_curve() -> None:
    X, y = rows()
    model = ROCSVM(0.1, fpr_max=0.1, tol=1e-7).fit(X, y)
    found = solve(X, y, 0.1, fpr_max=0.1, tol=1e-7)
    assert model.certificate_.primal == pytest.approx(found.certificate.primal, rel=1e-6)
    assert model.get_params()["fpr_max"] == 0.1
    assert ROCSVM(0.1).fit(X, y).certificate_.primal < model.certificate_.primal


def test_a_whole_curve_is_the_plain_problem() -> None:
    X, y = rows()
    plain, same = solve(X, y, 0.1), solve(X, y, 0.1, fpr_max=1.0, tpr_min=0.0)
    assert np.array_equal(plain.w, same.w) and plain.method == same.method


def test_a_trivial_surrogate_is_said() -> None:
    X, y = rows(0.0)
    with pytest.warns(UserWarning, match="weights zero are optimal") as of_solve:
        solve(X, y, 0.1, fpr_max=0.1, tpr_min=0.7, tol=1e-6)
    with pytest.warns(UserWarning, match="weights zero are optimal") as of_fit:
        ROCSVM(0.1, fpr_max=0.1, tpr_min=0.7, tol=1e-6).fit(X, y)
    said = [*of_solve, *of_fit]
    assert [warning.filename for warning in said] == [__file__] * len(said)  # the user's own line


def test_what_cannot_be_is_refused() -> None:
    X, y = rows()
    with pytest.raises(InputError, match="never grows"):
        solve(X, y, 0.1, loss="square", fpr_max=0.5)
    with pytest.raises(InputError, match="structure"):
        solve(X, y, 0.1, structure=1.0, fpr_max=0.5)
    with pytest.raises(InputError, match="without weights"):
        solve(X, y, 0.1, sample_weight=np.ones(60), fpr_max=0.5)
    with pytest.raises(InputError, match="fpr_max"):
        solve(X, y, 0.1, fpr_max=0.0)
    with pytest.raises(InputError, match="give the weights"):
        certify(X, y, 0.1, scores=X[:, 0], fpr_max=0.5)
    with pytest.raises(InputError, match="no rival"):
        certify(X, y, w=np.ones(3), rival="liblinear-ranksvm", C=1.0, fpr_max=0.5)
    request = Request.of(0.1, pairs=AllPairs(), fpr_max=0.3)
    assert not request.is_linear_hinge
    risk = request.risk(np.arange(10) < 5)
    assert isinstance(risk, Tail)
    assert risk.kq == Fraction(3, 2)


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(aucert, [str(word) for word in words])
    return result.exit_code, result.stdout, str(result.exception)


def test_the_command_line_takes_both(tmp_path) -> None:
    X, y = rows()
    np.savez(tmp_path / "data.npz", X=X, y=y)
    where, out = tmp_path / "data.npz", tmp_path / "out"
    part = ("--fpr-max", 0.3, "--loss", "logistic", "--tol", 1e-7)
    code, text, _ = run("solve", where, "--lam", 0.1, *part, "--out", out, "--json")
    document = json.loads(text)
    assert code == 0 and document["status"] == "certified" and document["loss"] == "logistic"
    assert document["parameters"]["fpr_max"] == 0.3 and document["proof"] is None
    assert "partial AUC" in document["statement"]
    weights = ("--weights", out / "weights.csv")
    code, text, _ = run("certify", where, "--lam", 0.1, *weights, *part, "--json")
    audit = json.loads(text)
    assert code == 0 and audit["primal"] == pytest.approx(document["primal"], rel=1e-9)
    code, _, error = run("certify", where, "--lam", 0.1, *weights, "--fpr-max", 0.3, "--exact")
    assert code != 0 and "--fpr-max" in error
    code, _, error = run("solve", where, "--lam", 0.1, "--fpr-max", 0)
    assert code != 0 and "fpr_max" in error
