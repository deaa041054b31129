"""The tables of SHT: protocols, and what is made of their results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import solve
from aucert.validation.effects import of_page
from aucert.validation.tables import sht
from aucert.validation.tables.sht import (
    COLON,
    EXACT,
    LEUKEMIA,
    METHODS,
    STARS,
    Rows,
    by_trial,
    exact_auc_svm,
    fit,
    grid,
    marker_columns,
)
from aucert.validation.tables.table import Job, Page, Part, Results, Run
from loops import each

SPEND: dict[str, Any] = {
    "k": [3, 6],
    "blocks": [1, 4],
    "tau of HSG-HT": [1, 20],
    "beta": [1e-3],
    "xi": [1],
    "R": [1],
    "eta of FSAUC": [0.1],
    "epochs": 10,
    "passes": 5,
    "inner folds": 2,
    "folds": 5,
    "lam of AUC-SVM": [1e-3, 1e-1],
}


@pytest.fixture
def rows() -> Rows:
    rng = np.random.default_rng(0)
    positive = np.arange(60) < 25
    X = rng.normal(size=(60, 12))
    X[positive, :3] += 1.0
    return Rows(X / np.sqrt(12), positive)


FOLDS = [
    (np.r_[0:12, 25:45], np.r_[12:25, 45:60]),
    (np.r_[12:25, 45:60], np.r_[0:12, 25:45]),
]


@each("method", METHODS)
def test_every_method_ranks_an_easy_problem(rows: Rows, method: str) -> None:
    w = fit(method, rows, grid(method, SPEND)[-1], SPEND)
    assert rows.auc(w) > 0.7


def test_the_penalty_of_spam_is_on_the_published_scale(rows: Rows) -> None:
    # r (1 - r) F + beta |w|_1 is least at zero from beta = r (1 - r) max |2 delta| on.
    X, positive = rows.X, rows.positive
    delta = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    edge = positive.mean() * (1 - positive.mean()) * 2 * np.abs(delta).max()
    spend = SPEND | {"passes": 200}
    above, below = (fit("SPAM-l1", rows, (b * edge, 0.3), spend) for b in (4.0, 0.05))
    assert np.abs(above).max() < 0.05 * np.abs(below).max()


def test_the_exact_machine_is_the_certified_optimum_at_its_lam(rows: Rows) -> None:
    w, gap = exact_auc_svm(rows, FOLDS, [1e-3, 1e-1])
    assert gap <= 1e-6
    lams = {lam: solve(rows.X, rows.positive.astype(int), lam).w for lam in (1e-3, 1e-1)}
    assert min(np.abs(w - v).max() / np.abs(v).max() for v in lams.values()) < 1e-2


def test_the_published_folds_hold_test_rows_and_the_right_ones_do_not() -> None:
    positive = np.arange(62) < 40
    seen = []
    for seed in range(5):
        train, test, published, right = sht.shuffled(positive, np.random.default_rng(seed), 5)
        assert sorted([*train, *test]) == list(range(62))
        assert positive[train].sum() in sht.SHARE
        assert 0 < positive[test].sum() < test.size
        held = np.concatenate([part for _, part in published])
        assert np.unique(held).size == 50
        seen.append(np.isin(test, held).mean())
        for rest, part in right:
            assert np.isin(part, train).all()
            assert np.isin(rest, train).all()
            assert not np.isin(part, rest).any()
    assert np.mean(seen) > 0.5


def test_markers_are_found_by_accession_number_and_left_out_where_absent() -> None:
    found = marker_columns("leukemia", ["x", "M22324_at", "U79262_at", "U26266_s_at"])
    assert found == {2: [1], 10: [3, 2]}
    assert set(marker_columns("colon", [])) == set(range(1, 30))
    assert len(LEUKEMIA) == 31 and 11 not in LEUKEMIA
    every = [column for columns in COLON.values() for column in columns]
    assert len(set(every)) == len(every) and max(every) < 2000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    X = np.abs(rng.normal(5, 1, size=(62, 60)))
    y = np.where(np.arange(62) < 40, 1, -1)
    X[:40, :4] += 2.0
    np.savez(tmp_path / "colon.npz", X=X, y=y)
    return tmp_path


def test_a_shuffle_runs_in_both_protocols(folder: Path) -> None:
    part = Part("x", {"set": "colon", "shuffle": 0}, ("colon",))
    found = sht.compute_genes(Job("sht-genes", part, Run(data_dir=folder), SPEND))
    for method in METHODS:
        assert 0 <= found[f"right {method}"] <= 1
    assert np.shape(found["published SHT-AUC"]) == (2, 5)
    assert np.shape(found["published SPAM-l1"]) == (5,)
    assert len(found["genes SHT-AUC"]) <= found["k SHT-AUC"] - 1
    assert found["subset proved"] == 1.0 and len(found[f"genes {sht.GENE_SUBSET}"]) == 5
    assert found["gap"] <= 1e-6
    assert found["overlap"] > 0


def _genes(values: dict[str, Any]) -> Results:
    run = Run()
    spent = sht.GENE_FITS.spent("quick") | {"k": [5, 20]}
    parts = tuple(sht.gene_parts(run, spent))
    blank = {"overlap": 0.9, "gap": 1e-9, "subset proved": 1.0, "markers": 3}
    return Results(run, spent, parts, {part.key: blank | values for part in parts})


def test_the_published_k_is_that_of_the_best_mean_on_the_test_rows() -> None:
    results = _genes({"published SHT-AUC": [[0.6, 0.8], [0.7, 0.9]]})
    values = sht.by_test_k(results, "published", "SHT-AUC", "colon")
    np.testing.assert_allclose(values, 0.8)


def test_folds_of_a_trial_count_once() -> None:
    run = Run()
    parts = tuple(
        Part(f"{t}{f}", {"k_star": 20, "r": 0.05, "trial": t, "fold": f})
        for t in (0, 1)
        for f in (0, 1)
    )
    done = {part.key: {"a": float(at)} for at, part in enumerate(parts)}
    np.testing.assert_array_equal(by_trial(Results(run, {}, parts, done), "a", 20), [0.5, 2.5])


def _simulated(rng: np.random.Generator) -> Results:
    run = Run()
    spent = sht.SYNTHETIC.spent("quick")
    parts = tuple(sht.synthetic_parts(run, spent))
    methods = (*METHODS, *sht.ADDED, sht.BOTH)
    names = [f"{measure} {m}" for measure in ("auc", "true", "f1", "ji", "top") for m in methods]
    names += [f"objective {kind}" for kind in ("published", "refit", "swaps")]
    return Results(run, spent, parts, {p.key: {n: rng.random() for n in names} for p in parts})


def test_every_rival_is_paired_with_the_method_over_all_sparsities() -> None:
    """Trials share their data: no comparison of a table as a whole is of two independent means."""
    results = _simulated(np.random.default_rng(5))
    measures = {"AUC on new rows": "true", "F1": "f1", "JI": "ji", "F1 of the k* largest": "top"}
    pages = [table.render(results) for table in (sht.TABLE_1, sht.TABLE_2)]
    tests = of_page("", "", Page((), tuple(test for page in pages for test in page.tests))).tests
    for what, measure in measures.items():
        for rival in METHODS[1:]:
            sides = [
                np.concatenate([by_trial(results, f"{measure} {m}", k) for k in STARS])
                for m in ("SHT-AUC", rival)
            ]
            found = tests[f"{what}, all four k*: SHT-AUC minus {rival}"]
            gaps = sides[0] - sides[1]
            assert found.df + 1 == gaps.size == 16
            assert found.estimate == pytest.approx(gaps.mean(), abs=5e-4)
            assert found.se == pytest.approx(gaps.std(ddof=1) / 4, abs=5e-4)
    fig_2 = " ".join(map(str, sht.FIG_2.render(results).tests))
    assert "r = 0.5: SHT-AUC minus SOLAM" in fig_2 and "r = 0.5: SHT-AUC minus SPAM-l2" in fig_2


def test_lists_of_genes_from_common_training_rows_are_tested_with_the_jackknifes_factor() -> None:
    """Of lists that leave out d of n rows the jackknife takes (n - d) / d times the variance."""
    run, rng = Run(), np.random.default_rng(6)
    spent = sht.GENE_FITS.spent("quick") | {"k": [5, 30]}
    parts = tuple(sht.gene_parts(run, spent))
    shares = {m: rng.random((len(parts), 2, 2)).tolist() for m in sht.SPARSE}
    done = {
        part.key: {"markers": 3} | {f"ratios {m}": shares[m][at] for m in shares}
        for at, part in enumerate(parts)
    }
    tests = of_page("", "", sht.FIG_4.render(Results(run, spent, parts, done))).tests
    for name, ratio in (("leukemia", 50 / 22), ("colon", 50 / 12)):
        rows = [at for at, part in enumerate(parts) if part.parameters["set"] == name]
        gaps = [shares["SHT-AUC"][at][1][0] - shares["StoIHT"][at][1][0] for at in rows]
        error = np.sqrt((1 / len(rows) + ratio) * np.var(gaps, ddof=1))
        found = tests[f"{name}, k = 30: SHT-AUC minus StoIHT"]
        assert found.se == pytest.approx(error, abs=5e-5)


def test_a_simulated_fold_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sht, "N", 200)
    monkeypatch.setattr(sht, "D", 40)
    part = Part("x", {"k_star": 20, "r": 0.5, "trial": 0, "fold": 1})
    found = sht.compute_synthetic(Job("sht-synthetic", part, Run(), SPEND))
    for method in (*METHODS, *sht.ADDED):
        assert found[f"ji {method}"] == pytest.approx(
            found[f"f1 {method}"] / (2 - found[f"f1 {method}"])
        )
    assert found[f"f1 {sht.ORACLE}"] == 1.0
    assert found["objective swaps"] <= found["objective refit"] <= found["objective published"]
    assert found["subset proved"] == 1.0 and found["gap"] <= 1e-6
    assert found[f"true {EXACT}"] > 0.6


def test_convergence_notes_both_steps() -> None:
    part = Part("x", {"k_star": 20, "r": 0.5, "trial": 0})
    budget = {"epochs": 4, "epochs between looks": 2, "rows of a batch": 50}
    found = sht.compute_epochs(Job("c", part, Run(), budget))
    assert len(found[f"train {sht.PUBLISHED}"]) == 2
    # at r = 1/2 the published step is five times the common one: more descent
    assert found[f"last {sht.PUBLISHED}"] < found[f"last {sht.COMMON}"] < 1
