"""What the experiments of the papers compute: protocols, small runs, what results become."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.approx.nystrom import nystrom_map
from aucert.exact import ROCSVM, solve
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.spaces.kernels import get_kernel
from aucert.validation.data.datasets import linear, radial, xor_train_test
from aucert.validation.effects import of_page
from aucert.validation.tables import nonlinear, sauc, scaling_up, sht
from aucert.validation.tables.run import tables
from aucert.validation.tables.sauc import ALL, EXACT, PLAIN, RAW, STRUCTURED, SVM, Grid, Sides
from aucert.validation.tables.scaling_up import Mapped, full_fit, hinge
from aucert.validation.tables.sht import METHODS, STARS, by_trial
from aucert.validation.tables.table import (
    EXPERIMENTS,
    Experiment,
    Job,
    Part,
    Results,
    Run,
    Sample,
    race,
)
from loops import each, seeds
from realdata import real_folder, require_real


def tiny(experiment: Experiment, **cut: object) -> Experiment:
    """The experiment with other budgets."""
    lines = [dataclasses.replace(b, quick=cut.get(b.what, b.quick)) for b in experiment.budget]
    return dataclasses.replace(experiment, budget=tuple(lines))


def run_part(experiment: Experiment, key: str, data_dir: Path | None = None) -> dict[str, Any]:
    run, budget = Run("quick", 0, data_dir), experiment.spent("quick")
    part = next(part for part in experiment.parts(budget) if part.key == key)
    return experiment.compute(Job(experiment.name, part, run, budget))


def job(budget: dict[str, Any], data_dir: Path | None = None, **parameters: object) -> Job:
    return Job("planted", Part("x", parameters), Run(data_dir=data_dir), budget)


def results(experiment: Experiment, make: Any, **cut: object) -> Results:
    """Results of the quick profile, `make` of the place and the part."""
    run, spent = Run(), experiment.spent("quick") | cut
    parts = tuple(experiment.parts(spent))
    return Results(run, spent, parts, {p.key: make(at, p) for at, p in enumerate(parts)})


def paired_tests(name: str, found: Results) -> Any:
    """The paired tests of a page."""
    return of_page("", "", tables()[name].render(found)).tests


# Candidates that cannot win are left, and the winner is that of the whole grid.


def test_the_winner_is_that_of_all_folds_of_all_candidates() -> None:
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        n, folds, variants = rng.integers(1, 12), rng.integers(1, 6), rng.integers(1, 4)
        table = rng.beta(8, 1 + seed % 3, (n, folds, variants))
        if seed % 2:  # many ties
            table = np.round(table * 4) / 4
        means = table.mean(axis=1).round(12)
        first = np.unravel_index(int(means.argmax()), means.shape)
        found = race(int(n), int(folds), lambda k, fold, t=table: t[k, fold].tolist())
        assert found == (*first, means.max())


def test_what_cannot_win_is_left_after_one_fold_and_what_may_draw_level_is_not() -> None:
    asked: list[tuple[int, int]] = []

    def values(candidate: int, fold: int) -> list[float]:
        asked.append((candidate, fold))
        return [(98.0, 55.0, 97.5)[candidate]]

    assert race(3, 3, values, highest=100.0)[0] == 0 and len(asked) == 7
    assert [fold for candidate, fold in asked if candidate == 1] == [0]  # 85 at best
    assert (2, 2) in asked  # 98.3 at best after one fold: it could have won


# ScalingUp


def test_the_optimum_is_below_the_incomplete_fit_on_the_linear_model() -> None:
    cut = {"training rows": [400], "test rows": 2000, "grid of lam": [1e-2]}
    found = run_part(tiny(EXPERIMENTS["scaling-up-table-1"], **cut), "n=400,rep=0")
    assert 0 <= found["full_excess"] <= 1e-6 < found["incomplete_excess"] < 0.1
    assert 85 < found["full_auc"] < 95
    data = linear(400, 0)
    loops = scaling_up.loops(data.X, data.is_positive, 1e-2, 0, 200)
    best, w = full_fit(hinge(data.X, data.is_positive, 1e-2)).w, loops["listed"][0]
    assert w @ best > 0.99 * np.linalg.norm(w) * np.linalg.norm(best)
    assert loops["listed"][2] > 10 * loops["drawn"][2] > 0


def test_rows_in_features_made_when_read_are_those_made_before() -> None:
    X = radial(300, 0).X
    features = nystrom_map(get_kernel("rbf", 0.5, 2), X[:40]).transform
    mapped = Mapped(X, features)
    assert mapped.shape == (300, features(X).shape[1])
    np.testing.assert_array_equal(mapped[40:90], features(X[40:90]))


def test_nystrom_and_whole_kernel_agree_on_the_radial_model() -> None:
    cut = {"training rows": [300], "test rows": 2000, "grid of lam": [1e-2], "gamma": [0.5]}
    found = run_part(tiny(EXPERIMENTS["scaling-up-table-2"], landmarks=80, **cut), "n=300,rep=0")
    assert abs(found["full_nystrom_auc"] - found["full_kernel_auc"]) < 0.1
    assert found["full_nystrom_excess"] <= 1e-5


def test_the_real_sets_run_on_few_rows() -> None:
    require_real("accelerometer_gyro")
    few = {
        "training rows, at most": 300,
        "rows that choose gamma and lam, at most": 300,
        "landmarks": 20,
        "grid of lam": [1e-3],
        "steps of Adamax, at most": 50,
    }
    small = tiny(EXPERIMENTS["scaling-up-table-3"], **few)
    found = run_part(small, "accelerometer,split=0", real_folder())
    assert found["n_train"] == 300 and 60 < found["radial_full_auc"] <= 100


# Nonlinear

FEW = {
    "training rows, at most": 300,
    "test rows, at most": 500,
    "rows of RBF-RankSVM, at most": 100,
    "landmarks and Fourier features": 20,
    "rows that are tuned on, at most": 150,
    "log2 C": [-10, -5],
    "log2 C, RBF-RankSVM": [-5],
    "log2 gamma, RBF-RankSVM": [-3],
    "width, RFAUC": [1],
    "epochs of Fig. 1": [1, 2],
    "log2 C, NOAM": [0],
    "lam, NSAUC": [1e-7],
    "step, NSOLAM": [10],
    "radius, NSOLAM": [10.0],
}


def test_every_batch_method_is_certified_and_shares_its_split() -> None:
    require_real("magic04")
    folder, small = real_folder(), tiny(EXPERIMENTS["nonlinear-batch"], **FEW)
    for method in nonlinear.BATCH_METHODS:
        found = run_part(small, f"magic04,{method},split=0", folder)
        assert found["gap"] <= nonlinear.TOL and 60 < found["auc"] <= 100
    run, budget = Run("quick", 0, folder), small.spent("quick")
    parts = {part.key: part for part in small.parts(budget)}
    keys = ("nbauc,split=0", "linear,split=0", "linear,split=1")
    jobs = [Job("nonlinear-batch", parts[f"magic04,{key}"], run, budget) for key in keys]
    rows = [nonlinear.split(one)[0].X for one in jobs]
    assert (rows[0] == rows[1]).all() and (rows[0] != rows[2]).any()


def test_the_online_methods_run_on_one_split() -> None:
    require_real("skin")
    found = run_part(tiny(EXPERIMENTS["nonlinear-online"], **FEW), "skin,split=0", real_folder())
    assert all(50 < found[f"{method}_auc"] <= 100 for method in nonlinear.ONLINE_METHODS)
    assert len(found["NSAUC_curve"]) == 2 and found["optimum_gap"] <= 1e-4


# SAUC

SMALL = {"splits into halves": 1, "neighbours k": 5, "folds": 2}
SMALL |= {"grid of C": [1.0, 10.0], "grid of lambda": [1.0], "grid of sigma": [2.0]}


@pytest.fixture
def sides() -> Sides:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    positive = X[:, 0] + rng.normal(size=80) > 0.4
    return Sides(Sample(X[:50], positive[:50]), Sample(X[50:], positive[50:]))


@pytest.fixture
def tae(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y = np.repeat([1, 2, 3], 20)
    np.savez(tmp_path / "tae.npz", X=rng.normal(size=(60, 4)) + y[:, None] * 0.6, y=y)
    return tmp_path


def test_halves_hold_each_row_once_and_are_standardised_by_the_first() -> None:
    positive = np.arange(101) < 31
    first, second = sauc.half_split(positive, np.random.default_rng(0))
    assert sorted([*first, *second]) == list(range(101))
    assert positive[first].sum() in (15, 16) and (~positive[first]).sum() == 35
    rng = np.random.default_rng(0)
    train, test = rng.normal(2.0, 3.0, (20, 4)), rng.normal(size=(10, 4))
    train[3, 1] = test[0, 2] = np.nan
    one, two = sauc.prepared(train, test)
    again, other = sauc.prepared(train, 100 * test)
    np.testing.assert_array_equal(one, again)
    np.testing.assert_allclose(one.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(one.std(axis=0), 1)
    middle = np.nanmedian(train[:, 2])
    assert two[0, 2] == pytest.approx((middle - train[:, 2].mean()) / train[:, 2].std())
    assert not np.allclose(two[1:], other[1:])


def test_the_path_over_c_is_that_of_one_fit_each(sides: Sides) -> None:
    found = sauc.pair_machine(sides, "rbf", 2.0, 0.0, [10.0, 0.1], 4, tol=1e-8)
    train, test, pairs = sides.train, sides.test, sides.pairs(4).on(sides.train.positive).count()
    for cost, point in zip((0.1, 10.0), found, strict=True):
        options: dict[str, Any] = {"kernel": "rbf", "gamma": 1 / 8, "anchor_filter": "E"}
        model = ROCSVM(1 / (cost * pairs), pairs="nearest:4", **options)
        scores = model.fit(train.X, train.positive).decision_function(test.X)
        assert point["auc"] == pytest.approx(auc(scores, test.positive), abs=1e-3)
        assert point["pairs"] == pairs and 0 <= point["gap"] <= 1e-8


def test_chosen_parameters_are_those_of_the_best_fold_mean(sides: Sides) -> None:
    grid, means = Grid((0.01, 100.0), (1.0,), (0.3, 3.0), 2), {}
    found = sauc.chosen_pair_machine(sides, "rbf", grid, [0.0], ALL, 3)
    for sigma in grid.sigmas:
        points = [
            [p["auc"] for p in sauc.pair_machine(fold, "rbf", sigma, 0.0, grid.costs, ALL)]
            for fold in sauc.folds_of(sides, 2, 3)
        ]
        means |= {(sigma, c): v for c, v in zip(grid.costs, np.mean(points, axis=0), strict=True)}
    assert means[found["sigma"], found["cost"]] == pytest.approx(max(means.values()))
    few = Sides(Sample(np.arange(20.0)[:, None], np.arange(20) < 3), sides.test)
    assert len(sauc.folds_of(few, 5, 0)) == 3  # no more than the smaller class has rows


def test_a_split_is_run_shared_and_its_exact_machine_proved(tae: Path) -> None:
    found = sauc.compute_real(job(SMALL, tae, set="tae2", kernel="linear", split=0))
    assert set(found) >= {f"auc {m}" for m in (SVM, PLAIN, STRUCTURED, EXACT, RAW)}
    assert found[f"pairs {EXACT}"] == 10 * 20 and found[f"pairs {PLAIN}"] % 5 == 0
    assert found["gap"] <= 1e-6 and found["rows"] == 30
    assert f"auc {RAW}" not in sauc.compute_real(job(SMALL, tae, set="tae1", kernel="rbf", split=0))
    one, two, other = (
        sauc.split_sides(job(SMALL, tae, set="tae1", kernel=kernel, split=at))
        for kernel, at in (("a", 1), ("b", 1), ("a", 2))
    )
    np.testing.assert_array_equal(one.train.X, two.train.X)
    assert not np.array_equal(one.train.X, other.train.X)
    raw = sauc.split_sides(job(SMALL, tae, set="tae1", split=1), "raw, union")
    assert (one.rule, raw.rule) == ("anchor", "union")
    assert raw.train.X.shape == one.train.X.shape and not np.allclose(raw.train.X, one.train.X)


def test_fig_5_at_lambda_zero_is_auc_svm(tae: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sauc.SELECTED, "tae1", "linear")
    budget = {"lambda": [0.0, 1e3], "C": 1.0, "sigma": 256.0, "neighbours k": 5}
    planted = job(budget, tae, set="tae1", split=0)
    split = sauc.split_sides(planted)
    plain = sauc.pair_machine(split, "linear", 1.0, 0.0, [1.0], 5, 1e-6)[0]
    assert sauc.compute_5(planted)["auc 0"] == plain["auc"]


def test_the_gaussians_of_the_toy_problem_and_the_pairs_of_the_lines() -> None:
    for name, rows in sauc.gaussians(*xor_train_test(5)).items():
        *mean, _, _, _, count = sauc.TOY[name]
        assert len(rows) == count
        np.testing.assert_allclose(rows.mean(axis=0), mean, atol=0.2)
    found = sauc.compute_geometry(job(EXPERIMENTS["sauc-geometry"].spent("quick"), draw=0))
    for method in (PLAIN, STRUCTURED):
        assert found[f"wrong {method}"] == round(3600 * (1 - found[f"auc {method}"]))
    assert found["gap"] <= 1e-6


@each("name", ["arrhythmia", "wdbc", "diabetes", "hepatitis"])
def test_the_anchors_give_the_printed_pair_counts_within_a_tenth(name: str) -> None:
    folder = require_real(sauc.TASKS[name].file).parent
    X, positive = sauc.load_task(name, folder)
    counts = []
    for seed in range(10):
        train, _ = sauc.half_split(positive, np.random.default_rng(seed))
        rows = X[train]
        filled = np.where(np.isnan(rows), np.nanmedian(rows, axis=0), rows)
        drawn = nearest_pairs(filled, positive[train], 10, "anchor", "E")
        counts.append(drawn.on(positive[train]).count())
    printed = {"arrhythmia": 1118, "wdbc": 402, "diabetes": 1305, "hepatitis": 160}[name]
    assert np.mean(counts) == pytest.approx(printed, rel=0.1)


def test_the_printed_profile_reads_the_papers_grids_first_and_coarse_ones_beside() -> None:
    spent = EXPERIMENTS["sauc-real"].spent("printed")
    assert (len(spent["grid of sigma"]), len(spent["grid of lambda"])) == (21, 7)
    readings = [p.parameters["reading"] for p in EXPERIMENTS["sauc-real"].parts(spent)]
    counts = {reading: readings.count(reading) for reading in dict.fromkeys(readings)}
    assert counts == dict(zip(sauc.READINGS, (340, 136, 136, 136), strict=True))
    grid, coarse = (sauc.grid_of(spent, reading) for reading in sauc.READINGS[:2])
    assert set(coarse.structures) < set(grid.structures) and set(coarse.sigmas) < set(grid.sigmas)


# SHT

SPEND: dict[str, Any] = {"k": [3, 6], "blocks": [1, 4], "tau of HSG-HT": [1, 20], "epochs": 10}
SPEND |= {"beta": [1e-3], "xi": [1], "R": [1], "eta of FSAUC": [0.1], "passes": 5}
SPEND |= {"inner folds": 2, "folds": 5, "lam of AUC-SVM": [1e-3, 1e-1]}
FIRST, SECOND = np.r_[0:12, 25:45], np.r_[12:25, 45:60]
FOLDS = [(FIRST, SECOND), (SECOND, FIRST)]


@pytest.fixture
def rows() -> Sample:
    rng = np.random.default_rng(0)
    positive = np.arange(60) < 25
    X = rng.normal(size=(60, 12))
    X[positive, :3] += 1.0
    return Sample(X / np.sqrt(12), positive)


def test_every_method_ranks_an_easy_problem_and_diverging_steps_give_zero(rows: Sample) -> None:
    for method in METHODS:
        assert rows.auc(sht.fit(method, rows, sht.grid(method, SPEND)[-1], SPEND)) > 0.7
    for method in ("SPAM-l2", "SOLAM"):
        spend = SPEND | {"passes": 200}
        assert not sht.fit(method, rows, (1e200, 1e150), spend).any()


def test_the_penalty_of_spam_is_on_the_published_scale(rows: Sample) -> None:
    # r (1 - r) F + beta |w|_1 is least at zero from beta = r (1 - r) max |2 delta| on.
    X, positive = rows.X, rows.positive
    delta = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    edge = positive.mean() * (1 - positive.mean()) * 2 * np.abs(delta).max()
    spend = SPEND | {"passes": 200}
    above, below = (sht.fit("SPAM-l1", rows, (b * edge, 0.3), spend) for b in (4.0, 0.05))
    assert np.abs(above).max() < 0.05 * np.abs(below).max()


def test_the_exact_machine_is_the_certified_optimum_at_its_lam(rows: Sample) -> None:
    w, gap = sht.exact_auc_svm(rows, FOLDS, [1e-3, 1e-1])
    assert gap <= 1e-6
    optima = [solve(rows.X, rows.positive.astype(int), lam).w for lam in (1e-3, 1e-1)]
    assert min(np.abs(w - v).max() / np.abs(v).max() for v in optima) < 1e-2


def test_the_published_folds_hold_test_rows_and_the_right_ones_do_not() -> None:
    positive = np.arange(62) < 40
    seen = []
    for seed in range(5):
        train, test, published, right = sht.shuffled(positive, np.random.default_rng(seed), 5)
        assert sorted([*train, *test]) == list(range(62))
        assert positive[train].sum() in sht.SHARE and 0 < positive[test].sum() < test.size
        held = np.concatenate([part for _, part in published])
        assert np.unique(held).size == 50
        seen.append(np.isin(test, held).mean())
        for rest, part in right:
            assert np.isin(part, train).all() and np.isin(rest, train).all()
            assert not np.isin(part, rest).any()
    assert np.mean(seen) > 0.5


def test_markers_are_found_by_accession_number_and_left_out_where_absent() -> None:
    names = ["x", "M22324_at", "U79262_at", "U26266_s_at"]
    assert sht.marker_columns("leukemia", names) == {2: [1], 10: [3, 2]}


@pytest.mark.slow
def test_a_shuffle_runs_in_both_protocols(tmp_path: Path) -> None:
    X = np.abs(np.random.default_rng(3).normal(5, 1, size=(62, 60)))
    X[:40, :4] += 2.0
    np.savez(tmp_path / "colon.npz", X=X, y=np.where(np.arange(62) < 40, 1, -1))
    found = sht.compute_genes(job(SPEND, tmp_path, set="colon", shuffle=0))
    assert all(0 <= found[f"right {method}"] <= 1 for method in METHODS)
    assert np.shape(found["published SHT-AUC"]) == (2, 5)
    assert np.shape(found["published SPAM-l1"]) == (5,)
    assert len(found["genes SHT-AUC"]) <= found["k SHT-AUC"] - 1
    assert found["subset proved"] == 1.0 and len(found[f"genes {sht.GENE_SUBSET}"]) == 5
    assert found["gap"] <= 1e-6 and found["overlap"] > 0


def test_the_published_k_is_that_of_the_best_mean_and_folds_of_a_trial_count_once() -> None:
    record = {"published SHT-AUC": [[0.6, 0.8], [0.7, 0.9]]}
    genes = results(EXPERIMENTS["sht-genes"], lambda at, part: record, k=[5, 20])
    np.testing.assert_allclose(sht.by_test_k(genes, "published", "SHT-AUC", "colon"), 0.8)
    places = [{"k_star": 20, "r": 0.05, "trial": t, "fold": f} for t in (0, 1) for f in (0, 1)]
    parts = tuple(Part(f"{at}", place) for at, place in enumerate(places))
    done = {part.key: {"a": float(part.key)} for part in parts}
    np.testing.assert_array_equal(by_trial(Results(Run(), {}, parts, done), "a", 20), [0.5, 2.5])


def test_every_rival_is_paired_with_the_method_over_all_sparsities() -> None:
    """Trials share their data: no comparison of a table as a whole is of two independent means."""
    rng, methods = np.random.default_rng(5), (*METHODS, *sht.ADDED, sht.BOTH)
    names = [f"{measure} {m}" for measure in ("auc", "true", "f1", "ji", "top") for m in methods]
    found = results(EXPERIMENTS["sht-synthetic"], lambda at, part: {n: rng.random() for n in names})
    for rival in METHODS[1:]:
        test = paired_tests("sht-table-1", found)[
            f"AUC on new rows, all four k*: SHT-AUC minus {rival}"
        ]
        sides = ("SHT-AUC", rival)
        one, two = ([*map(partial(by_trial, found, f"true {m}"), STARS)] for m in sides)
        assert test.estimate == pytest.approx(np.mean(one) - np.mean(two), abs=5e-4)
        assert test.df + 1 == np.size(one) == 16


def test_lists_of_genes_from_common_training_rows_are_tested_with_the_jackknifes_factor() -> None:
    """Of lists that leave out d of n rows the jackknife takes (n - d) / d times the variance."""
    shares = {m: np.random.default_rng(k).random((99, 2, 2)) for k, m in enumerate(sht.SPARSE)}

    def make(at: int, part: Part) -> dict[str, Any]:
        return {"markers": 3} | {f"ratios {m}": shares[m][at].tolist() for m in shares}

    found = results(EXPERIMENTS["sht-genes"], make, k=[5, 30])
    tests = paired_tests("sht-fig-4", found)
    for name, ratio in (("leukemia", 50 / 22), ("colon", 50 / 12)):
        at = [k for k, part in enumerate(found.parts) if part.parameters["set"] == name]
        gaps = shares["SHT-AUC"][at, 1, 0] - shares["StoIHT"][at, 1, 0]
        error = np.sqrt((1 / len(at) + ratio) * np.var(gaps, ddof=1))
        test = tests[f"{name}, k = 30: SHT-AUC minus StoIHT"]
        assert test.se == pytest.approx(error, abs=5e-5)


@pytest.mark.slow
def test_a_simulated_fold_is_run_and_convergence_notes_both_steps(monkeypatch) -> None:
    monkeypatch.setattr(sht, "N", 200)
    monkeypatch.setattr(sht, "D", 40)
    unhurried = partial(sht.best_subset, max_time=None)  # no clock decides about a proof here
    monkeypatch.setattr(sht, "best_subset", lambda *args, max_time: unhurried(*args))
    found = sht.compute_synthetic(job(SPEND, k_star=20, r=0.5, trial=0, fold=1))
    for method in (*METHODS, *sht.ADDED):
        f1 = found[f"f1 {method}"]
        assert found[f"ji {method}"] == pytest.approx(f1 / (2 - f1))
    assert found[f"f1 {sht.ORACLE}"] == 1.0
    assert found["objective swaps"] <= found["objective refit"] <= found["objective published"]
    assert found["subset proved"] == 1.0, found["subset gap"]
    assert found["gap"] <= 1e-6
    assert found[f"true {sht.EXACT}"] > 0.6
    budget = {"epochs": 4, "epochs between looks": 2, "rows of a batch": 50}
    found = sht.compute_epochs(job(budget, k_star=20, r=0.5, trial=0))
    assert len(found[f"train {sht.PUBLISHED}"]) == 2
    # at r = 1/2 the published step is five times the common one: more descent
    assert found[f"last {sht.PUBLISHED}"] < found[f"last {sht.COMMON}"] < 1
