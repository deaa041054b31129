"""Penalties next to the ridge through `solve`, `certify` and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import ElasticNet, InputError, Rows, certify, solve
from aucert.exact.problem.penalties import penalty_from
from aucert.validation.cli import main
from convex_programs import reference
from loops import each
from own_parts import Box, RoundedHinge, WeightedL1

RNG = np.random.default_rng(1)
Y = np.arange(30) % 3 == 0
X = np.round(RNG.normal(size=(30, 4)) + 0.5 * Y[:, None], 1)
X[5], Y[5] = X[8], Y[8]  # equal rows of one class become one
PAIRS = [(i, j, 1 / (Y.sum() * (~Y).sum())) for i in np.flatnonzero(Y) for j in np.flatnonzero(~Y)]
WISHES: list[dict[str, Any]] = [
    {"lam": 0.1, "l1": 0.02},
    {"lam": 0.0, "l1": 0.02},
    {"lam": 0.1, "l1": 0.02, "groups": ["a", "a", "b", "b"]},
    {"lam": 0.1, "sign": "nonnegative"},
    {"lam": 0.1, "l1": 0.02, "sign": [0, 1]},
    {"penalty": Box(0.1, -0.01, 0.03)},
    {"penalty": WeightedL1(0.1, np.array([0.0, 0.01, 0.02, 0.03]))},
]


@each("wish", WISHES, ids=str)
@each("loss", ["squared_hinge", RoundedHinge()], ids=["square", "own"])
def test_solve_and_certify_agree_with_clarabel(wish: dict[str, Any], loss: Any) -> None:
    penalty = wish.get("penalty") or penalty_from(**wish)
    name = loss if isinstance(loss, str) else loss.name
    best, _ = reference(np.asarray(Rows(X).X), PAIRS, name, penalty)
    found = solve(X, Y, loss=loss, tol=1e-7, **wish)
    assert found.status == "certified" and found.method == "proximal"
    certificate = found.certificate
    assert certificate.dual <= best + 1e-8
    assert best - 1e-8 <= certificate.primal
    w = np.array([0.5, 0.2, 0.1, 0.0])
    audit = certify(X, Y, w=w, loss=loss, tol=1e-7, **wish)
    assert audit.gap is not None and audit.primal is not None
    assert audit.dual <= best + 1e-8
    assert audit.primal - best == pytest.approx(audit.gap, abs=1e-6)
    assert (audit.radius is None) == (penalty.l2 == 0)


@each(
    ("wish", "said"),
    [
        ({}, "lam must be"),
        ({"lam": 0.0}, "lam"),
        ({"lam": 0.1, "l1": -1.0}, "l1"),
        ({"lam": 0.1, "l1": 0.1, "kernel": "rbf"}, "linear kernel"),
        ({"lam": 0.1, "l1": 0.1, "structure": 1.0}, "no structure"),
        ({"lam": 0.1, "l1": 0.1, "groups": [0, 1]}, "4 features"),
        ({"lam": 0.1, "sign": [7]}, "4 features"),
        ({"lam": 0.1, "penalty": ElasticNet(0.1, 0.1)}, "either a penalty"),
        ({"lam": 0.1, "l1": 0.1, "method": "descent"}, "ridge"),
        ({"lam": 0.1, "l1": 0.1, "method": "qp"}, "ridge"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(wish: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        solve(X, Y, loss="hinge", **wish)


def test_more_features_than_rows_stay_features() -> None:
    wide = np.random.default_rng(3).normal(size=(12, 40))
    found = solve(wide, np.arange(12) < 4, 0.0, l1=0.05, loss="squared_hinge", tol=1e-6)
    assert found.status == "certified" and found.w.shape == (40,)
    assert 0 < np.count_nonzero(found.w) < 20


def test_scores_alone_are_judged_with_the_ridge_alone() -> None:
    with pytest.raises(InputError, match="ridge"):
        certify(X, Y, 0.1, scores=X[:, 0], l1=0.1)


def test_the_command_line_knows_l1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, weights = tmp_path / "table.csv", tmp_path / "w.npy"
    rows = np.column_stack([X, Y])
    np.savetxt(table, rows, delimiter=",", header="a,b,c,d,y", comments="")
    asked = ["--lam", "0", "--l1", "0.02", "--loss", "squared_hinge", "--tol", "1e-6", "--json"]
    main(["solve", str(table), *asked])
    stated = json.loads(capsys.readouterr().out)
    assert stated["status"] == "certified" and stated["radius"] is None
    assert stated["parameters"]["l1"] == 0.02
    np.save(weights, np.zeros(4))
    main(["certify", str(table), "--weights", str(weights), *asked])
    audit = json.loads(capsys.readouterr().out)
    assert audit["gap"] == pytest.approx(1 - stated["primal"], abs=1e-5)
    with pytest.raises(SystemExit) as left:
        main(["solve", str(table), "--lam", "0.1", "--l1", "-1"])
    assert left.value.code == 2
