"""The tables of SAUC: protocols, and what is made of their results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aucert.exact import ROCSVM
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.validation.data.generators import xor_train_test
from aucert.validation.tables import sauc
from aucert.validation.tables.sauc import (
    ALL,
    EXACT,
    PLAIN,
    RAW,
    STRUCTURED,
    SVM,
    TASKS,
    TOY,
    Grid,
    Sides,
    chosen_pair_machine,
    folds_of,
    half_split,
    load_task,
    pair_machine,
    prepared,
)
from aucert.validation.tables.table import Job, Part, Results, Run
from loops import each
from realdata import require_real

SMALL = {
    "splits into halves": 1,
    "neighbours k": 5,
    "folds": 2,
    "grid of C": [1.0, 10.0],
    "grid of lambda": [1.0],
    "grid of sigma": [2.0],
}


@pytest.fixture
def sides() -> Sides:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    positive = X[:, 0] + rng.normal(size=80) > 0.4
    return Sides(X[:50], positive[:50], X[50:], positive[50:])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y = np.repeat([1, 2, 3], 20)
    np.savez(tmp_path / "tae.npz", X=rng.normal(size=(60, 4)) + y[:, None] * 0.6, y=y)
    return tmp_path


def test_a_half_split_halves_each_class_and_uses_every_row_once() -> None:
    positive = np.arange(101) < 31
    train, test = half_split(positive, np.random.default_rng(0))
    assert sorted([*train, *test]) == list(range(101))
    assert positive[train].sum() in (15, 16)
    assert (~positive[train]).sum() == 35


def test_standardising_looks_at_the_training_rows_only() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(2.0, 3.0, (20, 4)), rng.normal(size=(10, 4))
    train[3, 1] = test[0, 2] = np.nan
    first, second = prepared(train, test)
    again, other = prepared(train, 100 * test)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(first.std(axis=0), 1)
    middle = np.nanmedian(train[:, 2])
    filled = np.where(np.isnan(train), np.nanmedian(train, axis=0), train)
    expected = (middle - filled[:, 2].mean()) / filled[:, 2].std()
    assert second[0, 2] == pytest.approx(expected)
    assert not np.allclose(second[1:], other[1:])


def test_the_path_over_c_is_that_of_one_fit_each(sides: Sides) -> None:
    found = pair_machine(sides, "rbf", 2.0, 0.0, [10.0, 0.1], 4, tol=1e-8)
    pairs = sides.pairs(4).on(sides.positive).count()
    for cost, point in zip((0.1, 10.0), found, strict=True):
        model = ROCSVM(
            1 / (cost * pairs), kernel="rbf", gamma=1 / 8, pairs="nearest:4", anchor_filter="E"
        ).fit(sides.X, sides.positive)
        assert point["auc"] == pytest.approx(
            auc(model.decision_function(sides.test), sides.test_positive), abs=1e-3
        )
        assert point["pairs"] == pairs
        assert 0 <= point["gap"] <= 1e-8


def test_chosen_parameters_are_those_of_the_best_fold_mean(sides: Sides) -> None:
    grid = Grid((0.01, 100.0), (1.0,), (0.3, 3.0), 2)
    found = chosen_pair_machine(sides, "rbf", grid, [0.0], ALL, 3)
    means = {}
    for sigma in grid.sigmas:
        points = [
            [p["auc"] for p in pair_machine(fold, "rbf", sigma, 0.0, grid.costs, ALL)]
            for fold in folds_of(sides, 2, 3)
        ]
        for cost, value in zip(grid.costs, np.mean(points, axis=0), strict=True):
            means[sigma, cost] = value
    assert means[found["sigma"], found["cost"]] == pytest.approx(max(means.values()))


def test_raw_units_are_run_with_the_linear_kernel_and_other_columns_change_them(
    folder: Path,
) -> None:
    run = Run(data_dir=folder)
    for kernel in ("linear", "rbf"):
        part = Part("x", {"set": "tae1", "kernel": kernel, "split": 0}, ("tae",))
        found = sauc.compute_real(Job("sauc-real", part, run, SMALL))
        assert (f"auc {RAW}" in found) == (kernel == "linear")
        job = Job("e", part, run, SMALL)
        sides, raw = sauc.split_sides(job), sauc.split_sides(job, "raw, union")
        assert (sides.rule, raw.rule) == ("anchor", "union")
        assert raw.X.shape == sides.X.shape and not np.allclose(raw.X, sides.X)


def test_folds_are_no_more_than_the_smaller_class_has_rows() -> None:
    positive = np.arange(20) < 3
    sides = Sides(np.arange(20.0)[:, None], positive, np.zeros((2, 1)), np.array([True, False]))
    assert len(folds_of(sides, 5, 0)) == 3


def test_a_split_is_run_and_its_exact_machine_proved(folder: Path) -> None:
    run = Run(data_dir=folder)
    part = Part("x", {"set": "tae2", "kernel": "linear", "split": 0}, ("tae",))
    found = sauc.compute_real(Job("sauc-real", part, run, SMALL))
    assert set(found) >= {f"auc {m}" for m in (SVM, PLAIN, STRUCTURED, EXACT)}
    assert found[f"pairs {EXACT}"] == 10 * 20
    assert found[f"pairs {PLAIN}"] % 5 == 0
    assert found["gap"] <= 1e-6
    assert found["rows"] == 30


def test_kernels_share_the_split_of_a_task(folder: Path) -> None:
    run = Run(data_dir=folder)
    parts = [
        Part("x", {"set": "tae1", "kernel": kernel, "split": at}, ("tae",))
        for kernel, at in (("a", 1), ("b", 1), ("a", 2))
    ]
    first, second, other = (sauc.split_sides(Job("e", part, run, SMALL)) for part in parts)
    np.testing.assert_array_equal(first.X, second.X)
    assert not np.array_equal(first.X, other.X)


def test_fig_5_at_lambda_zero_is_auc_svm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sauc.SELECTED, "tae1", "linear")
    budget = {"lambda": [0.0, 1e3], "C": 1.0, "sigma": 256.0, "neighbours k": 5}
    job = Job("e", Part("x", {"set": "tae1", "split": 0}, ("tae",)), Run(data_dir=folder), budget)
    sides = sauc.split_sides(job)
    plain = pair_machine(sides, "linear", 1.0, 0.0, [1.0], 5, 1e-6)[0]
    assert sauc.compute_5(job)["auc 0"] == plain["auc"]


def test_the_gaussians_of_the_toy_problem_stand_in_the_order_of_the_table() -> None:
    for name, rows in sauc.gaussians(*xor_train_test(5)).items():
        *mean, _, _, _, count = TOY[name]
        assert len(rows) == count
        np.testing.assert_allclose(rows.mean(axis=0), mean, atol=0.2)


def test_wrong_pairs_of_the_lines_are_counted_as_their_auc() -> None:
    budget = sauc.GEOMETRY.spent("quick")
    found = sauc.compute_geometry(Job("g", Part("x", {"draw": 0}), Run(), budget))
    for method in (PLAIN, STRUCTURED):
        assert found[f"wrong {method}"] == round(3600 * (1 - found[f"auc {method}"]))
    assert found["gap"] <= 1e-6


def _planted(gain: float) -> Results:
    run = Run()
    spent = sauc.REAL.spent("quick")
    parts = tuple(sauc.real_parts(run, spent))
    done = {}
    for at, part in enumerate(parts):
        base = 0.7 + 0.01 * (at % 5)
        values = {SVM: base, PLAIN: base, STRUCTURED: base + gain, EXACT: base + 0.1}
        done[part.key] = {f"auc {m}": v for m, v in values.items()} | {"gap": 1e-7}
        done[part.key] |= {f"seconds {m}": 0.1 for m in values}
        done[part.key] |= {"rows": 50, "raw pairs": 100, f"pairs {PLAIN}": 100}
    return Results(run, spent, parts, done)


@each("gain", [0.02, -0.02])
def test_the_sign_of_the_structures_gain_reaches_page_and_tests(gain: float) -> None:
    page = sauc.render_auc(_planted(gain))
    ours = [
        s
        for s in map(str, page.tests)
        if s.startswith("linear") and f"{STRUCTURED} minus {PLAIN}" in s
    ]
    assert f"{gain:+.4f}" in ours[0]


@each("name", ["arrhythmia", "wdbc", "diabetes", "hepatitis"])
def test_the_anchors_give_the_printed_pair_counts_within_a_tenth(name: str) -> None:
    folder = require_real(TASKS[name].file).parent
    X, positive = load_task(name, folder)
    counts = []
    for seed in range(10):
        train, _ = half_split(positive, np.random.default_rng(seed))
        rows = X[train]
        filled = np.where(np.isnan(rows), np.nanmedian(rows, axis=0), rows)
        drawn = nearest_pairs(filled, positive[train], 10, "anchor", "E")
        counts.append(drawn.on(positive[train]).count())
    printed = {"arrhythmia": 1118, "wdbc": 402, "diabetes": 1305, "hepatitis": 160}[name]
    assert np.mean(counts) == pytest.approx(printed, rel=0.1)


def test_the_printed_profile_reads_the_papers_grids_first_and_coarse_ones_beside() -> None:
    run, spent = Run("printed"), sauc.REAL.spent("printed")
    assert (len(spent["grid of sigma"]), len(spent["grid of lambda"])) == (21, 7)
    parts = sauc.real_parts(run, spent)
    readings = [part.parameters["reading"] for part in parts]
    counts = {reading: readings.count(reading) for reading in dict.fromkeys(readings)}
    assert counts == dict(zip(sauc.READINGS, (340, 136, 136, 136), strict=True))
    grid, coarse = (Grid.of(spent, reading) for reading in sauc.READINGS[:2])
    assert set(coarse.structures) < set(grid.structures) and set(coarse.sigmas) < set(grid.sigmas)
