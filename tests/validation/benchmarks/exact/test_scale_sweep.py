"""The sweep's problems and answers, and the parts that the scale benchmarks are made of."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status, Step
from aucert.exact.problem.problem import linear_problem
from aucert.validation.benchmarks.exact import scale, sweep
from aucert.validation.benchmarks.exact.rivals import Curve, Exact, ahead_from, exact, incomplete
from aucert.validation.benchmarks.problems.samples import radial_features
from aucert.validation.benchmarks.problems.scale_data import (
    PeakMemory,
    imbalanced,
    memory_mapped,
    naive_gradient,
    plane,
    reading,
)
from aucert.validation.benchmarks.problems.sweep_problems import KINDS, draw


def test_problems_are_made_again_from_their_seeds_and_cover_every_kind() -> None:
    drawn = [draw(seed) for seed in range(60)]
    assert {one.kind for one in drawn} == set(KINDS)
    for one in drawn[:5]:
        again = draw(one.seed)
        assert np.array_equal(one.y, again.y) and one.lam == again.lam
        assert abs(one.X - again.X).sum() == 0
    for one in drawn:
        n, d = one.X.shape
        assert 100 <= n <= 20_000 and 1e-7 <= one.lam <= 10 and 0.01 <= one.scale <= 100
        assert one.y.any() and not one.y.all()
        assert (d > n) == (one.kind == "wide") and sp.issparse(one.X) == (one.kind == "sparse")


def test_separable_problems_are_separable() -> None:
    one = next(one for one in map(draw, range(100)) if one.kind == "separable" and len(one.y) < 999)
    found = solve(one.X / one.scale, one.y, 1e-6, tol=1e-3)
    scores = (one.X / one.scale) @ found.w
    assert scores[one.y].min() > scores[~one.y].max()


def test_an_answer_is_checked_by_the_checker_and_by_cutting_planes() -> None:
    one = next(one for one in map(draw, range(60)) if one.weight is None and len(one.y) < 400)
    line = sweep.examine(one, 60.0, second=True)
    assert line["certified"] and line["confirmed"] and line["difference"] <= 1 and not line["false"]


def test_a_false_certificate_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(one for one in map(draw, range(60)) if one.weight is None and len(one.y) < 400)
    true_solve = sweep.solve

    def wrong(X: np.ndarray, *given: object, **options: object) -> object:
        return true_solve(1.5 * X, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(sweep, "solve", wrong)
    assert sweep.examine(one, 60.0, second=True)["false"]


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "lines.jsonl"
    first = list(sweep.sweep(range(3), out, every=0))
    before = out.read_text()
    both = list(sweep.sweep(range(4), out, every=0))
    assert both[:3] == first and len(both) == 4
    assert out.read_text().startswith(before)
    assert [json.loads(line)["seed"] for line in out.read_text().splitlines()] == [0, 1, 2, 3]


def test_an_interrupt_ends_a_sweep_after_the_problem_at_hand(tmp_path: Path) -> None:
    lines = sweep.sweep(range(5), tmp_path / "lines.jsonl", every=0)
    seeds = [next(lines)["seed"]]
    os.kill(os.getpid(), signal.SIGINT)
    seeds += [line["seed"] for line in lines]
    assert seeds == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_sixty_random_problems_have_no_false_certificate(tmp_path: Path) -> None:
    lines = list(sweep.sweep(range(60), tmp_path / "lines.jsonl", max_time=20.0, every=10))
    missed = [sweep.show(line) for line in lines if not line["certified"]]
    assert not [sweep.show(line) for line in lines if line["false"]]
    assert len(missed) <= 1, missed
    assert f"{60 - len(missed)} certified" in sweep.summary(lines)


def test_the_naive_gradient_is_that_of_the_sums() -> None:
    X, y = plane(500)
    problem, w = linear_problem(X, y, 0.1), np.array([0.3, -0.7])
    wanted = 0.1 * w - problem.space.pull(problem.sums(problem.space.scores(w)).c)
    assert np.allclose(naive_gradient(X, y, w, 0.1), wanted, rtol=1e-10, atol=1e-12)


def test_mapped_files_are_made_once_and_read_whole(tmp_path: Path) -> None:
    X, y = memory_mapped(200_000, tmp_path)
    made = (tmp_path / "big_200000_X.npy").stat().st_mtime_ns
    again, _ = memory_mapped(200_000, tmp_path)
    assert isinstance(X, np.memmap) and 0.19 < y.mean() < 0.21
    assert (tmp_path / "big_200000_X.npy").stat().st_mtime_ns == made
    assert np.array_equal(X, again)
    assert np.allclose(reading(X)(), (X @ np.array([1.0, 2.0])) @ X)  # type: ignore[arg-type]


def test_the_other_data_have_the_sizes_and_shares_named() -> None:
    X, y = radial_features(2000, 50)
    assert X.shape == (2000, 50) and 0.19 < y.mean() < 0.24
    X, y = imbalanced(5000)
    assert X.shape == (5000, 50) and 0.04 < y.mean() < 0.07


def test_the_peak_of_memory_is_seen() -> None:
    with PeakMemory() as watched:
        block = np.ones(10_000_000)  # more than an allocator keeps for later
        time.sleep(0.1)  # the watch looks now and then
        del block
    assert watched.peak == 0 or 70e6 < watched.peak < 120e6  # 0 where nobody counts


def test_a_curve_keeps_the_best_and_the_time_of_the_lead() -> None:
    curve = Curve("rival")
    for seconds, excess in ((1.0, 0.5), (2.0, 0.9), (3.0, 0.01), (6.0, 0.0001)):
        curve.add(seconds, excess)
    assert [curve.at(s) for s in (0.5, 1.0, 2.5, 3.0)] == [np.inf, 0.5, 0.5, 0.01]
    mine = Curve("exact", [1.0, 4.0], [0.1, 1e-5])
    found = Exact([(1.0, 0.2), (4.0, 1e-4), (5.0, 1e-9)], mine, 1.0)
    assert ahead_from(found, [curve]) == (4.0, 1e-4)
    assert ahead_from(found, [Curve("slow", [9.0], [1.0])]) == (1.0, 0.2)
    assert ahead_from(found, [Curve("best", [0.0], [0.0])])[0] == np.inf


def test_the_exact_curve_ends_at_its_certificate_and_rivals_start_at_the_draw() -> None:
    data = plane(2000)
    found = exact(data, 1e-2, repeats=1)
    assert found.points[-1][1] <= 1e-9 and found.curve.excess[-1] <= 1e-9
    rival = incomplete(linear_problem(*data, 1e-2), 0.3, 0.02, found.lower)
    assert rival.seconds[0] > 0 and 0 <= rival.excess[-1] < 1


def test_the_table_says_whether_a_goal_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    scale.main(["--shrink", "100", "--repeats", "1", "--parts", "naive"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all("certified" in line for line in lines[1:])
    met, missed = (scale._row("what", 0.1, ratio, 3.0, "evidence")[4] for ratio in (2.0, 4.0))
    assert (met, missed) == ("yes", "NO")


def test_an_interrupted_answer_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*given: object, **options: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)

        def callback(_: Step) -> None:
            raise KeyboardInterrupt

        return solve(*given, **options, callback=callback)  # type: ignore[arg-type]

    monkeypatch.setattr(sweep, "solve", stopped)
    out = tmp_path / "lines.jsonl"
    assert list(sweep.sweep([0, 1], out, every=0)) == []
    assert not out.exists() and Status.INTERRUPTED == "interrupted"
