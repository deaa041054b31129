"""The benchmark scripts run, on small sizes, and measure what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.problem.problem import linear_problem
from aucert.validation.benchmarks.approx import peers, truncated_newton

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] + RNG.normal(size=80) > 0.5


def test_truncated_newton_prints_a_row_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    truncated_newton.main(["--rows", "20000", "--features", "20", "--lam", "0.01"])
    lines = capsys.readouterr().out.splitlines()[3:]
    assert len(lines) == 2 and all("goal" not in line for line in lines)
    assert [line.split()[3] for line in lines] == ["20000", "2000"]
    assert all(float(line.split()[8]) <= 1e-10 for line in lines)


def test_a_cost_tells_the_gradient_and_the_gap_there() -> None:
    cost = truncated_newton.measure(X, Y, 1e-2, 1.0)
    assert cost.gradient <= 1e-10 and cost.gap <= 1e-12 and cost.steps >= 2
    assert cost.to_point > 0 and cost.certificate > 0
    assert cost.implied <= 1e-20 / 2e-2 / 0.1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_on_all_differences_has_the_same_objective(loss: str) -> None:
    problem = linear_problem(X, Y, 1e-2, loss)
    best = peers.exact(problem)
    np.testing.assert_allclose(peers.linear_svc(problem, tol=1e-9), best, atol=1e-3)
    assert problem.objective(peers.linear_svc(problem)) < problem.objective(best) * (1 + 1e-5)
    pairs = PairList(
        *np.array([(i, j) for i in np.flatnonzero(Y)[:9] for j in np.flatnonzero(~Y)]).T
    )
    few = problem.with_pairs(pairs)
    w = peers.linear_svc(problem, pairs, tol=1e-9)
    assert few.objective(w) < few.objective(peers.exact(few)) * (1 + 1e-5)


def test_averaged_sgd_comes_near_the_same_optimum() -> None:
    problem = linear_problem(X, Y, 1e-1)
    assert problem.objective(peers.sgd(problem, 400)) < 1.02 * problem.objective(
        peers.exact(problem)
    )


def test_dlib_reaches_the_optimum_or_says_that_it_is_not_installed() -> None:
    problem = linear_problem(X, Y, 1e-2)
    try:
        w = peers.dlib_rank(problem, 1e-8)
    except peers.NotRun as reason:
        assert "not installed" in str(reason)
        return
    assert problem.objective(w) < problem.objective(peers.exact(problem)) * (1 + 1e-4)


def test_too_many_differences_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "MOST_PAIRS", 10)
    with pytest.raises(peers.NotRun, match="too many to list"):
        peers.linear_svc(linear_problem(X, Y, 1e-2))


@pytest.mark.slow
def test_the_table_measures_everybody_alike(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem = linear_problem(X, Y, 1e-2)
    monkeypatch.setattr(peers, "problems", lambda rows, lam: iter([("small", problem)]))
    assert peers.main(["--lam", "0.01", "--json", str(tmp_path / "rows.json")]) == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert len(rows) == 9 and {row["table"] for row in rows} == {"small: hinge"}
    run = [row["F/F* - 1"] for row in rows if row["F/F* - 1"] is not None]
    assert len(run) >= 7 and min(run) >= 0
    assert "ROCSVM" in rows[0]["fit"] and run[0] < 1e-8
    assert "small: hinge" in capsys.readouterr().out


def test_the_objectives_of_the_table_are_certified_ones() -> None:
    found = list(peers.problems(500, 1e-2))
    assert len(found) == 8 and sum(p.loss is HINGE for _, p in found) == 4
