"""Tables: what experiments compute, resuming, evidence, the limit, pages, and re-runs."""

import csv
import dataclasses
import hashlib
import io
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.exact import ROCSVM, InputError, solve
from aucert.exact.pairs.auc import auc
from aucert.validation import reruns, store
from aucert.validation.data.datasets import linear
from aucert.validation.effects import EVIDENCE, from_evidence, of_page
from aucert.validation.reruns import Recorded, differences
from aucert.validation.store import read_evidence
from aucert.validation.tables import nonlinear, sauc, scaling_up, sht
from aucert.validation.tables import run as runs
from aucert.validation.tables import table as layout
from aucert.validation.tables.pages import NOTHING, TOO_LITTLE, Shown, as_csv, cell, markdown
from aucert.validation.tables.run import estimate, reproduce, tables
from aucert.validation.tables.sauc import ALL, EXACT, PLAIN, RAW, STRUCTURED, SVM, Sides
from aucert.validation.tables.scaling_up import full_fit
from aucert.validation.tables.sht import METHODS, STARS, by_trial
from aucert.validation.tables.table import EXPERIMENTS, Experiment, Job, Part, Results, Run, Sample
from command import Command
from loops import each, refuses, seeds


def tiny(experiment: Experiment, **cut: object) -> Experiment:
    lines = [dataclasses.replace(b, quick=cut.get(b.what, b.quick)) for b in experiment.budget]
    return dataclasses.replace(experiment, budget=tuple(lines))


def run_part(experiment: Experiment, key: str, data_dir: Path | None = None) -> dict[str, Any]:
    run, budget = Run("quick", 0, data_dir), experiment.spent("quick")
    part = next(part for part in experiment.parts(budget) if part.key == key)
    return experiment.compute(Job(experiment.name, part, run, budget))


def job(budget: dict[str, Any], data_dir: Path | None = None, **parameters: object) -> Job:
    return Job("planted", Part("x", parameters), Run(data_dir=data_dir), budget)


def results(experiment: Experiment, make: Any, **cut: object) -> Results:
    run, spent = Run(), experiment.spent("quick") | cut
    parts = tuple(experiment.parts(spent))
    return Results(run, spent, parts, {p.key: {"result": make(k, p)} for k, p in enumerate(parts)})


def paired_tests(name: str, found: Results) -> Any:
    return of_page("", "", tables()[name].render(found)).known


def test_the_winner_is_that_of_all_folds_of_all_candidates() -> None:
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        n, folds, variants = rng.integers(1, 12), rng.integers(1, 6), rng.integers(1, 4)
        table = rng.beta(8, 1 + seed % 3, (n, folds, variants))
        if seed % 2:  # many ties
            table = np.round(table * 4) / 4
        means = table.mean(axis=1).round(12)
        first = np.unravel_index(int(means.argmax()), means.shape)
        found = layout.race(int(n), int(folds), lambda k, fold, t=table: t[k, fold].tolist())
        assert found == (*first, means.max())
    asked: list[tuple[int, int]] = []  # what cannot win is left after one fold

    def values(candidate: int, fold: int) -> list[float]:
        asked.append((candidate, fold))
        return [(98.0, 55.0, 97.5)[candidate]]

    assert layout.race(3, 3, values, limit=100.0)[0] == 0 and len(asked) == 7
    assert [fold for candidate, fold in asked if candidate == 1] == [0]  # 85 at best
    assert (2, 2) in asked  # 98.3 at best after one fold: it could have won


def test_the_optimum_is_below_the_incomplete_fit_on_the_linear_model() -> None:
    cut = {"training rows": [400], "test rows": 2000, "grid of lam": [1e-2]}
    found = run_part(tiny(EXPERIMENTS["scaling-up-table-1"], **cut), "n=400,rep=0")
    assert 0 <= found["full_excess"] <= 1e-6 < found["incomplete_excess"] < 0.1
    assert 85 < found["full_auc"] < 95
    data = linear(400, 0)
    loops = scaling_up.loops(data.X, data.is_positive, 1e-2, 0, 200)
    problem = Sample(data.X, data.is_positive).problem("hinge", 1e-2)
    best, w = full_fit(problem).w, loops["listed"][0]
    assert w @ best > 0.99 * np.linalg.norm(w) * np.linalg.norm(best)
    assert loops["listed"][2] > 10 * loops["drawn"][2] > 0


def test_nystrom_and_whole_kernel_agree_on_the_radial_model() -> None:
    cut = {"training rows": [300], "test rows": 2000, "grid of lam": [1e-2], "gamma": [0.5]}
    found = run_part(tiny(EXPERIMENTS["scaling-up-table-2"], landmarks=80, **cut), "n=300,rep=0")
    assert abs(found["full_nystrom_auc"] - found["full_kernel_auc"]) < 0.1
    assert found["full_nystrom_excess"] <= 1e-5


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
}


def test_every_batch_method_is_certified_and_shares_its_split(tmp_path: Path) -> None:
    data, small = linear(600, 0), tiny(EXPERIMENTS["nonlinear-batch"], **FEW)
    np.savez(tmp_path / "magic04.npz", X=data.X, y=np.where(data.is_positive, "g", "h"))
    for method in nonlinear.TITLES:
        found = run_part(small, f"magic04,{method},split=0", tmp_path)
        assert found["gap"] <= nonlinear.TOL and 60 < found["auc"] <= 100
    run, budget = Run("quick", 0, tmp_path), small.spent("quick")
    parts = {part.key: part for part in small.parts(budget)}
    keys = ("nbauc,split=0", "linear,split=0", "linear,split=1")
    jobs = [Job("nonlinear-batch", parts[f"magic04,{key}"], run, budget) for key in keys]
    rows = [nonlinear.split(one)[0].X for one in jobs]
    assert (rows[0] == rows[1]).all() and (rows[0] != rows[2]).any()


SMALL = {"splits into halves": 1, "neighbours k": 5, "folds": 2}
SMALL |= {"grid of C": [1.0, 10.0], "grid of lambda": [1.0], "grid of sigma": [2.0]}


@pytest.fixture
def sides() -> Sides:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    positive = X[:, 0] + rng.normal(size=80) > 0.4
    return Sides(Sample(X[:50], positive[:50]), Sample(X[50:], positive[50:]), "rbf", 4)


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
    found = sauc.fits(sides, 2.0, 0.0, [0.1, 10.0], 1e-8)
    train, test, pairs = sides.train, sides.test, sides.count
    for cost, point in zip((0.1, 10.0), found, strict=True):
        options: dict[str, Any] = {"kernel": "rbf", "gamma": 1 / 8, "anchor_filter": "E"}
        model = ROCSVM(1 / (cost * pairs), pairs="nearest:4", **options)
        scores = model.fit(train.X, train.positive).decision_function(test.X)
        assert point["auc"] == pytest.approx(auc(scores, test.positive), abs=1e-3)
        assert point["pairs"] == pairs and 0 <= point["gap"] <= 1e-8


def test_chosen_parameters_are_those_of_the_best_fold_mean(sides: Sides) -> None:
    grid, means = {"C": (0.01, 100.0), "sigma": (0.3, 3.0), "folds": 2}, {}
    sides = dataclasses.replace(sides, k=ALL)
    found = sauc.chosen(sides, grid, [0.0], 3)
    for sigma in grid["sigma"]:
        points = [
            [p["auc"] for p in sauc.fits(fold, sigma, 0.0, grid["C"], sauc.CHOICE_TOL)]
            for fold in sauc.folds_of(sides, 2, 3)
        ]
        means |= {(sigma, c): v for c, v in zip(grid["C"], np.mean(points, axis=0), strict=True)}
    assert means[found["sigma"], found["cost"]] == pytest.approx(max(means.values()))
    few = dataclasses.replace(sides, train=Sample(np.arange(20.0)[:, None], np.arange(20) < 3))
    assert len(sauc.folds_of(few, 5, 0)) == 3  # no more than the smaller class has rows


def test_a_split_is_run_shared_and_its_exact_machine_proved(tae: Path) -> None:
    found = sauc.compute_real(job(SMALL, tae, set="tae2", kernel="linear", split=0))
    assert set(found) >= {f"auc {m}" for m in (SVM, PLAIN, STRUCTURED, EXACT, RAW)}
    assert found[f"pairs {EXACT}"] == 10 * 20 and found[f"pairs {PLAIN}"] % 5 == 0
    assert found["gap"] <= 1e-6 and found["rows"] == 30
    assert f"auc {RAW}" not in sauc.compute_real(job(SMALL, tae, set="tae1", kernel="rbf", split=0))
    one, two, other = (
        sauc.split_sides(job(SMALL, tae, set="tae1", kernel=kernel, split=at), kernel, 5)
        for kernel, at in (("a", 1), ("b", 1), ("a", 2))
    )
    np.testing.assert_array_equal(one.train.X, two.train.X)
    assert not np.array_equal(one.train.X, other.train.X)
    raw = sauc.split_sides(job(SMALL, tae, set="tae1", split=1), "rbf", 5, "raw, union")
    assert (one.rule, raw.rule) == ("anchor", "union")
    assert raw.train.X.shape == one.train.X.shape and not np.allclose(raw.train.X, one.train.X)


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


@pytest.mark.slow  # it compiles FSAUC
def test_every_method_ranks_an_easy_problem_and_diverging_steps_give_zero(rows: Sample) -> None:
    for method in METHODS:
        assert rows.auc(sht.fit(method, rows, sht.grid(method, SPEND)[-1], SPEND)) > 0.7
    for method in ("SPAM-l2", "SOLAM"):
        spend = SPEND | {"passes": 200}
        assert not sht.fit(method, rows, (1e200, 1e150), spend).any()


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


def test_the_published_k_is_that_of_the_best_mean_and_folds_of_a_trial_count_once() -> None:
    record = {"published SHT-AUC": [[0.6, 0.8], [0.7, 0.9]]}
    genes = results(EXPERIMENTS["sht-genes"], lambda at, part: record, k=[5, 20])
    np.testing.assert_allclose(sht.by_test_k(genes, "published", "SHT-AUC", "colon"), 0.8)
    places = [{"k_star": 20, "r": 0.05, "trial": t, "fold": f} for t in (0, 1) for f in (0, 1)]
    parts = tuple(Part(f"{at}", place) for at, place in enumerate(places))
    done = {part.key: {"result": {"a": float(part.key)}} for part in parts}
    np.testing.assert_array_equal(by_trial(Results(Run(), {}, parts, done), "a", 20), [0.5, 2.5])


def test_every_rival_is_paired_with_the_method_over_all_sparsities() -> None:
    """Trials share their data: no comparison of a table as a whole is of two independent means."""
    rng, methods = np.random.default_rng(5), (*METHODS, *sht.ADDED, sht.BOTH)
    names = [f"{measure} {m}" for measure in ("auc", "true", "f1", "ji", "top") for m in methods]
    found = results(EXPERIMENTS["sht-synthetic"], lambda at, part: {n: rng.random() for n in names})
    tests = paired_tests("sht-table-1", found)
    for rival in METHODS[1:]:
        test = tests[f"AUC on new rows, all four k*: SHT-AUC minus {rival}"]
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


TABLES = tables()


def planted(log: Any = None, fail="", stop="", needs=(), protocol=1) -> dict[str, layout.Table]:
    """Return two tables of one experiment; the log gets a line for each part that is computed."""

    def parts(budget: Any) -> list[Part]:
        return [Part(f"rep={k}", {"rep": k}, needs) for k in range(budget["repetitions"])]

    def compute(job: Job) -> dict[str, Any]:
        if log is not None:
            with open(log, "a") as file:
                file.write(f"{job.part.key}\n")
        if job.part.key == fail:
            raise ZeroDivisionError("planted")
        if job.part.key == stop:
            raise KeyboardInterrupt
        return {"value": job.rng(f"draw {job['rep']}").normal(), "bad": np.nan, "rep": job["rep"]}

    def render(results: Results) -> layout.Page:
        values = results.values("value")
        entry = layout.Entry("all", "value", "0.00 (0.1)", *layout.mean_error(values), values.size)
        said = {"conclusion": f"There are {values.size} values. That is all."}
        return layout.Page([entry], said=said)

    budget = (layout.Budget("repetitions", 50, 4, 6),)
    experiment = Experiment("planted", budget, parts, compute, protocol=protocol)
    return {
        name: layout.Table(name, "ScalingUp", "nowhere", f"Planted {name}", experiment, render)
        for name in ("one", "two")
    }


def test_evidence_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    registry = planted()
    refuses(r"no part rep=0 of protocol 1 .*: restore ", from_evidence, registry["one"], tmp_path)
    reproduce(out=tmp_path / "out", registry=registry, evidence=tmp_path, profile="full")
    found = from_evidence(registry["one"], tmp_path)
    assert "6 parts" in found.source and found.known["all | value"].df == 5
    refuses("of protocol 2", from_evidence, planted(protocol=2)["one"], tmp_path)


def entry(shown: list[Any]) -> layout.Entry:
    return shown[0].page.entries[0]


def runs_of(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


def the_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


def test_what_is_finished_is_used_by_tables_profiles_and_seeds_apart(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    shown = reproduce(out=out, registry=planted(log))
    first = entry(shown)
    assert len(runs_of(log)) == 4 and [item.table.name for item in shown] == ["one", "two"]
    assert {p.name for p in out.glob("*.md")} == {"one.md", "two.md", "index.md"}
    assert entry(reproduce(out=out, registry=planted(log), seed=1)).ours != first.ours
    assert entry(reproduce(out=out, registry=planted(log), profile="full")).count == 6
    assert len(runs_of(log)) == 4 + 4 + 6
    assert entry(reproduce(out=out, registry=planted(log))) == first and len(runs_of(log)) == 14


def test_what_an_interrupt_left_is_shown_used_and_evidence(tmp_path: Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        reproduce(out=tmp_path, registry=planted(log, stop="rep=2"), evidence=kept)
    assert "2 of 4 parts are not done" in (tmp_path / "one.md").read_text()
    assert set(read_evidence(the_file(kept))) == {"rep=0", "rep=1"}
    for out in (tmp_path / "b", tmp_path):
        shown = reproduce(out=out, registry=planted(log), evidence=kept)
        assert entry(shown).count == 4 and shown[0].missing == []
    assert runs_of(log) == ["rep=0", "rep=1", "rep=2", "rep=2", "rep=3"]
    assert len(read_evidence(the_file(kept))) == 4


def test_damaged_and_failed_parts_are_run_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path, registry=planted(log, fail="rep=1"))
    assert entry(shown).count == 3
    assert shown[0].missing == ["A part failed: rep=1: ZeroDivisionError: planted"]
    first = entry(reproduce(out=tmp_path, registry=planted(log)))
    assert first.count == 4 and runs_of(log)[4:] == ["rep=1"]
    path = the_file(tmp_path / "parts")
    path.write_text(path.read_text()[:-20])
    assert entry(reproduce(out=tmp_path, registry=planted(log))) == first
    assert runs_of(log)[5:] == ["rep=1"]
    reproduce(out=tmp_path, registry=planted(log))
    assert len(runs_of(log)) == 6
    for many, wrong in ((10, "NaN"), (14, "1e999"), (18, "-Infinity")):
        path.write_text(re.sub(r'"value": ?[^,}\s]*', f'"value": {wrong}', path.read_text()))
        (page, *_) = reproduce(out=tmp_path, registry=planted(log))
        assert page.missing == [] and len(runs_of(log)) == many


def test_a_raised_protocol_discards_finished_parts_and_a_changed_source_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    reproduce(out=tmp_path, registry=planted(log), evidence=kept)
    monkeypatch.setattr(runs, "__version__", "another")
    monkeypatch.setattr(runs, "code_sha256", lambda experiment: "another")
    reproduce(out=tmp_path, registry=planted(log))
    reproduce(out=tmp_path / "fresh", registry=planted(log), evidence=kept)
    assert len(runs_of(log)) == 4
    for evidence in (None, kept):
        reproduce(out=tmp_path, registry=planted(log, protocol=2), evidence=evidence)
        assert len(runs_of(log)) == 8
    document = json.loads(the_file(tmp_path / "parts").read_text().split("\n")[-2])
    assert document["environment"]["version"] == document["environment"]["code"] == "another"
    assert json.loads(the_file(kept).read_text().splitlines()[0])["protocol"] == 2


def test_data_that_are_missing_are_named_and_other_data_run_afresh(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    log, kept, data = tmp_path / "log", tmp_path / "kept", tmp_path / "data"
    data.mkdir()
    registry = planted(log, needs=("colon",))
    nowhere = reproduce(out=tmp_path / "a", registry=registry)
    empty = reproduce(out=tmp_path / "a", registry=registry, data_dir=data)
    assert nowhere[0].missing == [f"colon: {store.NO_FOLDER}."]
    assert empty[0].missing == ["colon: not in the data folder: colon.npz."]
    assert "missing" in (tmp_path / "a" / "one.md").read_text() and entry(empty).ours is None
    for many, content in ((4, b"first"), (8, b"second, longer")):
        (data / "colon.npz").write_bytes(content)
        reproduce(out=tmp_path / "a", registry=registry, data_dir=data)
        reproduce(out=tmp_path / "b", registry=registry, evidence=kept, data_dir=data)
        assert len(runs_of(log)) == 2 * many
    # Evidence serves without the data.
    (shown, _) = reproduce(out=tmp_path / "c", registry=registry, evidence=kept)
    assert shown.missing == [] and len(shown.data_sha256["colon"]) == 64
    assert len(runs_of(log)) == 16


def test_pages_made_of_evidence_alone_are_those_of_the_run(tmp_path: Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    for out in ("a", "b"):
        reproduce(out=tmp_path / out, registry=planted(log), evidence=kept, seed=3)
    assert len(runs_of(log)) == 4 and not (tmp_path / "b" / "parts").exists()
    for name in ("one.csv", "one.md", "two.md", "index.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (found,) = estimate(out=tmp_path / "c", registry=planted(), evidence=kept, seed=3)
    assert found["parts"] == found["done"] == 4
    path = the_file(kept)
    assert path.relative_to(kept).as_posix() == "quick-seed3/planted.jsonl"
    head = json.loads(path.read_text().splitlines()[0])
    assert head["command"] == "aucert reproduce --profile quick --seed 3 --evidence DIR"
    assert head["experiment"] == "planted" and head["budget"] == {"repetitions": 4}
    assert head["parts"] == 4 and head["made_with"][0]["numpy"]


def signed(text: str, wrong: str) -> str:
    """The evidence with other values, and a checksum that fits."""
    first, _, rest = text.partition("\n")
    rest = re.sub(r'"value":[^,]*', f'"value":{wrong}', rest)
    head = json.loads(first) | {"sha256": hashlib.sha256(rest.encode()).hexdigest()}
    return json.dumps(head) + "\n" + rest


def test_damaged_evidence_is_refused_and_the_pages_stay(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    reproduce(out=tmp_path, registry=planted(), evidence=kept)
    path = the_file(kept)
    text = path.read_text()
    pages = {page: page.read_bytes() for page in tmp_path.iterdir() if page.is_file()}
    assert len(pages) == 5
    for damaged, said in (
        (text.replace('"rep":1', '"rep":7', 1), "checksum does not fit"),
        (text[:-30], "checksum does not fit"),
        ("no JSON\n", "not a file of evidence"),
        ("[]\n", "not a file of evidence"),
        (signed(text, "NaN"), "not a file"),
        (signed(text, '"x"'), "not a number"),
        (signed(text, "1e999"), "not a file"),
        (signed(text, "1" * 400), "not a file"),
    ):
        path.write_text(damaged)
        refuses(said, reproduce, out=tmp_path, registry=planted(), evidence=kept)
        if "number" not in said:
            assert {page: page.read_bytes() for page in pages} == pages


def test_faults_of_experiments() -> None:
    twice = Experiment("twice", (), lambda budget: [Part("a", {})] * 2, lambda job: {})
    refuses("two parts have one key", twice.results, Run(), error=ValueError)


def test_what_has_no_data_is_listed_and_said(command: Command, monkeypatch) -> None:
    listed = command.json("reproduce --list")["tables"]
    assert [table["name"] for table in listed] == list(TABLES)
    assert {"quick", "full", "printed"} == set(listed[0]["minutes"])
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    (table,) = command.json("reproduce nonlinear-table-1 --out one")["tables"]
    assert any("--data-dir" in line for line in table["missing"])
    assert all(entry["ours"] is None for entry in table["entries"])
    asked = "reproduce sauc-fig-1 sht-fig-1 --estimate --profile full --jobs 2 --out out"
    lines = command(asked).splitlines()
    assert [line.split("\t")[0] for line in lines[:-1]] == ["sauc-fig-1", "sht-fig-1"]
    document = command.json(asked)
    minutes = sum(entry["cpu_minutes"] for entry in document["experiments"])
    assert document["cpu_minutes"] == minutes > 0
    assert document["hours"] == pytest.approx(minutes / 120) and document["max_time"] == 12 * 3600
    assert not Path("out").exists()
    document = command.json("reproduce sauc-fig-1 --max-time 1e-9 --out out")
    assert document["complete"] is False and len(document["tables"][0]["unfinished"]) == 40


def test_cells_and_csv_hold_print_ours_and_error() -> None:
    assert cell(layout.Entry("r", "c", "98.04", 97.513, 0.121)) == "98.04 / 97.51 ± 0.12"
    text = as_csv((layout.Entry("a, b", "c", "1.0 (2)", 1 / 3, None, 4),))
    (line,) = csv.DictReader(io.StringIO(text))
    assert line["row"] == "a, b" and float(line["ours"]) == 1 / 3
    assert line["error"] == "" and line["count"] == "4"


def test_the_paired_test_is_students_and_widened_for_overlapping_splits() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 12))
    ours, theirs = layout.paired_test(a, b), stats.ttest_rel(a, b)
    assert ours is not None and ours[2] == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours[0] == pytest.approx(np.mean(a - b))
    split = layout.paired_test(a, b, overlap=0.25)
    assert split is not None and split[2] > ours[2]
    assert split[1] / ours[1] == pytest.approx(np.sqrt((1 / 12 + 0.25) / (1 / 12)))
    assert layout.paired_test([1.0, 2.0], [0.0, 0.0]) is None
    same = layout.paired_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert same is not None and same[2] == 1.0


def shown(name: str, count: int = 0, profile: Any = "quick", **record: Any) -> Shown:
    """The page where only the first parts were run, and gave these numbers."""
    table = TABLES[name]
    spent = table.experiment.spent(profile)
    parts = tuple(table.experiment.parts(spent))
    assert parts and len({part.key for part in parts}) == len(parts)
    key = {"data_sha256": {"b": "22", "a": "11"}}
    made = {"seconds": 90.0, "cpu_seconds": 20.0, "environment": {}, "key": key, "result": record}
    done = dict.fromkeys([part.key for part in parts[:count]], made)
    missing = {} if count else {part.key: "planted" for part in parts}
    return Shown(table, Results(Run(profile), spent, parts, done, missing))


def test_every_table_has_a_page_without_any_result_and_a_few_parts_decide_nothing() -> None:
    for name, table in TABLES.items():
        for profile in ("quick", "full"):
            page = shown(name, profile=profile)
            text = markdown(page)
            assert text.startswith(f"# {table.title}") and "## Budget" in text
            assert not re.search(r"\bnan\b", text.lower()) and page.conclusion == NOTHING
    page = shown("sauc-fig-4", 1, **{f"auc {m}": 0.8 for m in (SVM, PLAIN, STRUCTURED)})
    assert {said.verdict for said in page.said} == {"undecided"}
    page = shown("sauc-table-2", 1, profile="printed")
    assert page.conclusion == TOO_LITTLE
    assert "in 20 s of one processor" in markdown(page)  # and not by the clock
    assert (page.as_json()["seconds"], page.as_json()["cpu_seconds"]) == (90.0, 20.0)
    assert "- a.npz: `11`\n- b.npz: `22`" in markdown(page)
    assert page.as_json()["data_sha256"] == {"a": "11", "b": "22"}


PAPERS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")
ONE = {"auc": 0.5, "seconds": 1.0, "s, SVM": 2.0, "curve": [1.0, 2.0], "n": 3, "name": "a"}
TWO = {"auc A": 0.7, "cost A": 1.0, "gap A": 1e-9, "auc B": 0.7, "cost B": 1.0}
TIED = {"cost A": 10.0, "auc A": 0.705}  # other constants were chosen
BOTH = {"lam": 1e-5, "full_auc": 90.5, "excess": 2e-4}


@each(
    ("recorded", "change", "count"),
    [
        (ONE, {"seconds": 9.0, "s, SVM": 8.0}, 0),
        (ONE, {"auc": 0.5 + 1e-9}, 0),
        *((ONE, change, 1) for change in ({"auc": 0.51}, {"curve": [1.0, 2.1]}, {"curve": [1.0]})),
        *((ONE, change, 1) for change in ({"n": 4}, {"name": None}, {"auc": None})),
        (TWO, TIED, 0),
        *((TWO, TIED | change, 1) for change in ({"auc A": 0.76}, {"auc B": 0.705})),
        (TWO, {"auc A": 0.705}, 1),
        (TWO, TIED | {"auc A": None}, 1),
        (BOTH, {"lam": 0.1, "full_auc": 90.6, "excess": 3e-4}, 0),
        (BOTH, {"lam": 0.1, "full_auc": 60.5, "excess": 3e-4}, 1),
        (BOTH, {"excess": 4e-4}, 1),
    ],
)
def test_numbers_lists_and_names_are_compared(recorded, change: dict[str, Any], count: int) -> None:
    """A method of other constants may differ a little, and no other method may."""
    now = {name: value for name, value in (recorded | change).items() if value is not None}
    assert len(list(differences(recorded, now))) == count
    assert len(list(differences(now, recorded))) == count


@pytest.mark.release
def test_the_evidence_of_the_project_repeats() -> None:
    found = reruns.check("SAUC")
    assert found["verdict"] == "holds" and found["parts"], found


def test_a_computation_that_drifts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = reruns.recorded_parts

    def drifted(*given: Any) -> object:
        found = right(*given)["sauc-geometry"]
        part, made = found.parts[0]
        doubled = {k: 2 * v if isinstance(v, float) else v for k, v in made["result"].items()}
        return {"sauc-geometry": Recorded(found.experiment, [(part, made | {"result": doubled})])}

    monkeypatch.setattr(reruns, "recorded_parts", drifted)
    assert reruns.check("SAUC")["verdict"] == "fails"


def recorded(seconds: dict[str, float], result: float = 1.0) -> Recorded:
    """Return an experiment of which each part took so long, and gives the number 1."""
    made = Experiment("e", (), lambda budget: (), lambda job: {"x": 1.0})
    of = {key: {"result": {"x": result}, "cpu_seconds": took} for key, took in seconds.items()}
    return Recorded(made, [(Part(key, {}), document) for key, document in of.items()])


def test_a_check_of_other_evidence_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    shutil.copytree(EVIDENCE, folder)
    assert reruns.last_check("SHT", folder).verdict == "holds"
    path = folder / "full-seed0" / "sht-genes.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    assert reruns.last_check("SHT", folder).verdict == "fails"
    assert reruns.last_check("SAUC", folder).verdict == "holds"
    path.unlink()
    with pytest.raises(InputError):
        reruns.last_check("SHT", folder)


def test_the_command_says_what_differs_and_keeps_it(command: Command, monkeypatch) -> None:
    for value, differ in ((1.0, 0), (2.0, 1)):
        parts = {"part": recorded({"a": 1.0}, value)}
        monkeypatch.setattr(reruns, "recorded_parts", lambda *given, parts=parts: parts)
        status, out, _ = command.run("reproduce --check --out kept")
        kept = json.loads(Path("kept/checked.json").read_text())
        assert [len(kept[paper]["differences"]) for paper in PAPERS] == [differ] * 4
        assert status == differ and ("SHT: fails" in out) == bool(differ)
    for more in ("sht-table-1", "--jobs 2"):
        command.refused(f"reproduce --check {more}")
