"""The benchmarks of SAUC and Nyström at scale run on small sizes and measure what they say."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact import solve
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.validation.benchmarks.approx import nystrom_scale, sauc_scale
from aucert.validation.benchmarks.approx.sauc_scale import WAYS, Setting, halves, mean_fits, ways
from aucert.validation.data.datasets import load

SETTING = Setting(lam=0.05, structure=5.0, landmarks=8, drawn=0)
DATA = load("xor:120")


def test_every_way_is_judged_by_the_certified_optimum() -> None:
    fits = dict(ways(SETTING, DATA, 0, kernel=True))
    assert tuple(fits) == WAYS
    X, y, _, _ = halves(DATA, 0)
    best = solve(X, y, 0.05, structure=5.0).certificate
    assert fits["linear"].primal == pytest.approx(best.primal, rel=1e-8)
    assert fits["linear, drawn"].gap == pytest.approx(
        fits["linear, drawn"].primal / best.dual - 1, abs=1e-8
    )
    kernel = solve(X, y, 0.05, kernel="rbf", structure=5.0).certificate
    for way in ("Nystrom", "Nystrom, drawn"):
        lost = fits[way].primal / kernel.dual - 1
        assert fits[way].kernel_gap == pytest.approx(lost, abs=1e-8) and lost > 1e-4
    assert fits["Nystrom"].gap < 1e-8 < fits["Nystrom, drawn"].gap
    assert fits["Nystrom, drawn"].kernel_gap > fits["Nystrom"].kernel_gap
    assert np.isnan(fits["linear"].kernel_gap)


def test_the_auc_is_that_of_the_other_half() -> None:
    X, y, T, t = halves(DATA, 3)
    assert len(X) == len(T) == 60 and y.sum() == t.sum()
    both = np.vstack([X, T])
    assert len(np.unique(both, axis=0)) == 120
    task = formulate(X, y, Request.of(0.05, structure=5.0))
    scores = task.scorer(solve(X, y, 0.05, structure=5.0).w)(T)
    wins = (scores[t][:, None] > scores[~t][None]).mean()
    fit = dict(ways(SETTING, DATA, 3, kernel=False))["linear"]
    assert fit.auc == pytest.approx(float(wins), abs=1e-9)


def test_means_are_over_the_halves() -> None:
    found = mean_fits(SETTING, DATA, 2)["linear"]
    each = [dict(ways(SETTING, DATA, seed, kernel=False))["linear"] for seed in range(2)]
    assert found.auc == pytest.approx(np.mean([fit.auc for fit in each]))


def test_without_the_data_only_the_toy_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    sauc_scale.main(["--toy-rows", "200", "--landmarks", "5", "--structure", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert "set AUCERT_DATA to their folder" in lines[3]
    assert [line.split()[0] for line in lines[4:]] == ["xor"] * 5


def test_adamax_stands_above_the_certified_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    given = "--rows 2000 --landmarks 10 --drawn 1 --max-time 2 --lam 0.05 --structure 0 5"
    nystrom_scale.main(given.split())
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("pl", "st"))]
    assert len(lines) == 8
    excess = [float(line.split()[-2]) for line in lines]
    assert max(excess[0::2]) < 1e-8 < min(excess[1::2])
