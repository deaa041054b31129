"""A kernel and a loss of one's own work wherever a name does; false ones are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    ROCSVM,
    SAUCSVM,
    InputError,
    certify,
    cross_validated_path,
    regularization_path,
    solve,
)
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.request import Request
from aucert.validation.commands import certify as certify_command
from aucert.validation.commands import solve_path as solve_command
from loops import each
from own_parts import Polynomial, RoundedHinge

RNG = np.random.default_rng(3)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 2)) + 0.5 * Y[:, None]
LAM = 0.05


def explicit(X: np.ndarray) -> np.ndarray:
    """Features whose products are (1 + x'z)^2."""
    a, b, root = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


@each("structure", [0.0, 0.7])
@each("loss", ["hinge", "squared_hinge", "square", RoundedHinge()])
def test_a_polynomial_kernel_is_the_linear_machine_in_its_features(
    loss: Any, structure: float
) -> None:
    asked = {"loss": loss, "structure": structure, "tol": 1e-7}
    own = solve(X, Y, LAM, kernel=Polynomial(), **asked)
    rows = solve(explicit(X), Y, LAM, **asked)
    assert own.status == rows.status == Status.CERTIFIED
    assert own.certificate.primal == pytest.approx(rows.certificate.primal, rel=2e-7)
    audit = certify(X, Y, LAM, kernel=Polynomial(), w=own.w, **asked)
    assert audit.gap is not None and audit.gap <= 2e-7 * own.certificate.primal
    with_scores = certify(X, Y, LAM, kernel=Polynomial(), scores=explicit(X) @ rows.w, **asked)
    assert with_scores.dual == pytest.approx(rows.certificate.primal, rel=1e-6)


def test_an_estimator_with_parts_of_ones_own_scores_new_rows() -> None:
    new = RNG.normal(size=(7, 2))
    for model in (ROCSVM(LAM, kernel=Polynomial()), SAUCSVM(LAM, 0.7, kernel=Polynomial())):
        model.set_params(loss=RoundedHinge(), tol=1e-7).fit(X, Y)
        linear = type(model)(**(model.get_params() | {"kernel": "linear"})).fit(explicit(X), Y)
        assert model.status_ == Status.CERTIFIED
        found = model.decision_function(new) - model.intercept_
        wanted = linear.decision_function(explicit(new)) - linear.intercept_
        middle = found.mean() - wanted.mean()  # scores have a common constant free
        assert found == pytest.approx(wanted + middle, abs=2e-3)


def test_ranges_of_held_out_auc_hold_where_k_of_x_and_x_is_not_one() -> None:
    """With k(x, x) = 1 taken for granted, the lengths of new rows were far too short."""
    rough = cross_validated_path(X, Y, [0.5, 0.05], cv=3, kernel=Polynomial(), tol=1e-2)
    sharp = cross_validated_path(explicit(X), Y, [0.5, 0.05], cv=3, tol=1e-10)
    assert (rough.fold_low <= sharp.fold_auc).all() and (sharp.fold_auc <= rough.fold_high).all()
    assert (rough.fold_low < rough.fold_high).any()
    path = regularization_path(X, Y, [0.5, 0.05], kernel=Polynomial())
    same = regularization_path(explicit(X), Y, [0.5, 0.05])
    assert path.aucs == pytest.approx(same.aucs, abs=1e-3)


def test_lengths_of_new_rows_are_upper_bounds_for_a_kernel_of_any_diagonal() -> None:
    from aucert.exact.api.cross_validation import _new_lengths

    new = RNG.normal(size=(9, 2)) * 3
    path = regularization_path(X, Y, [0.5], kernel=Polynomial())
    features = explicit(X)
    true = np.linalg.norm(explicit(new) - features.mean(axis=0), axis=1)
    lengths, _ = _new_lengths(path, new, None, lambda w: path.task.evaluate(w, new))
    assert (lengths >= true).all() and lengths == pytest.approx(true, rel=1e-5)


def test_the_functions_behind_the_command_line_take_them(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.csv"
    table = np.column_stack([X, Y])
    np.savetxt(file, table, delimiter=",", header="a,b,y", comments="")
    options = {
        "target": None,
        "positive": None,
        "loss": RoundedHinge(),
        "kernel": Polynomial(),
        "gamma": None,
        "structure": 0.0,
        "pairs": "all",
        "tol": 1e-7,
        "max_time": None,
        "seed": 0,
        "as_json": True,
        "lam": LAM,
    }
    solve_command.run_solve(
        str(file), **options, **{"method": "auto", "out": str(tmp_path / "out")}
    )
    out = capsys.readouterr().out
    assert '"kernel": "Polynomial"' in out and '"status": "certified"' in out
    more = {"weights": str(tmp_path / "out" / "weights.csv"), "scores": None, "norm2": None}
    rival = {"convention": None, "C": None, "exact": False}
    certify_command.run_certify(str(file), **options, **more, **rival)
    assert '"loss": "rounded hinge"' in capsys.readouterr().out


@dataclass(frozen=True)
class Faulty(Polynomial):
    """A polynomial kernel with a fault planted."""

    fault: str = ""

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        K = super().__call__(X, Z)
        if self.fault == "shape":
            return K[:-1]
        if self.fault == "nan":
            return np.full_like(K, np.nan)
        if self.fault == "negative":
            return -K
        if self.fault == "skew":
            return K + 0.01 * (X[:, :1] - Z[:, 0])
        return K

    def diagonal(self, X: Any) -> np.ndarray:
        own = super().diagonal(X)
        return {"diagonal": own * 1.01, "minus": -own}.get(self.fault, own)

    def noise(self, X: Any) -> float:
        return {"noise": np.nan, "loud": 2.0}.get(self.fault, super().noise(X))


@each(
    ("fault", "message"),
    [
        ("shape", "gives shapes"),
        ("nan", "not finite"),
        ("negative", "diagonal|negative eigenvalue"),
        ("skew", "not symmetric"),
        ("diagonal", "diagonal that is not"),
        ("minus", "k\\(x, x\\) < 0"),
        ("noise", "a bound in"),
        ("loud", "a bound in"),
    ],
)
def test_a_false_kernel_is_refused(fault: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(X, Y, LAM, kernel=Faulty(fault=fault))


def test_what_is_no_kernel_is_refused() -> None:
    for kernel in (None, 3, Polynomial, SimpleNamespace(noise=abs), lambda x, z: x @ z.T):
        with pytest.raises(InputError, match="unknown kernel"):
            solve(X, Y, LAM, kernel=kernel)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="gamma is for"):
        solve(X, Y, LAM, kernel=Polynomial(), gamma=0.1)


def test_a_request_is_checked_when_it_is_made() -> None:
    request = Request.of(LAM, kernel="rbf")
    assert request.at(0.2).lam == 0.2 and request.at(0.2).kernel == "rbf"
    for bad in ({"structure": -1.0}, {"structure_source": "half"}, {"kernel": "poly"}):
        with pytest.raises(InputError):
            Request.of(LAM, **bad)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            replace(request, **bad)
    with pytest.raises(InputError, match="not both"):
        Request.of(LAM, pairs=request.pairs, sample_weight=np.ones(60))
