"""What a page concludes turns round with the numbers: each verdict is planted both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aucert.validation.tables import nonlinear, sauc, scaling_up, sht
from aucert.validation.tables.nonlinear import figure1
from aucert.validation.tables.sauc import real, toy
from aucert.validation.tables.sauc.printed import EXACT, PLAIN, STRUCTURED, SVM, TOY
from aucert.validation.tables.sht import convergence, genes, methods, synthetic
from aucert.validation.tables.table import Part, Results, Run, Table
from aucert.validation.tables.wording import NOTHING, TOO_LITTLE, change, listed

TABLES = {
    table.name: table
    for table in (*scaling_up.TABLES, *sauc.TABLES, *sht.TABLES, *nonlinear.TABLES)
}
Record = Callable[[dict[str, Any]], dict[str, Any]]


def concluded(name: str, record: Record, **budget: Any) -> str:
    """Return the conclusion of a page whose parts all gave what `record` makes of them."""
    table: Table = TABLES[name]
    run = Run()
    spent = {**table.experiment.spent("quick"), **budget}
    parts = tuple(table.experiment.parts(run, spent))
    done = {part.key: record(part.parameters) for part in parts}
    text = table.render(Results(run, spent, parts, done)).conclusion
    assert 2 <= text.count(". ") + 1 <= 3, "two sentences, or one more for a case of its own"
    return text


def test_words_by_the_numbers() -> None:
    assert change(0.5) == "loses 0.500" and change(-0.5, ("costs", "saves"), 1) == "saves 0.5"
    assert [listed(words) for words in ([], ["a"], ["a", "b", "c"])] == ["none", "a", "a, b and c"]


@pytest.mark.parametrize(
    ("loss", "longer", "word"),
    [
        (0.001, 5.0, "cost 0.001 points of AUC on average, next to nothing as the paper says, but"),
        (0.001, 0.5, "next to nothing as the paper says, and take 0.5 to 0.5 times"),
        (0.02, 5.0, "cost 0.020 points of AUC on average, which is not nothing, and take"),
        (-0.005, 5.0, "gain 0.005 points"),
    ],
)
def test_the_incomplete_models_loss(loss: float, longer: float, word: str) -> None:
    text = concluded(
        "scaling-up-table-1",
        lambda part: {
            "full_auc": 90.0,
            "incomplete_auc": 90.0 - loss,
            "full_seconds": 1.0,
            "incomplete_seconds": longer,
            "full_excess": 3e-7,
            "true_auc": 91.0,
        },
    )
    assert word in text and "proved to a relative gap of 3e-07" in text


@pytest.mark.parametrize(
    ("loss", "more", "words"),
    [
        (0.05, 0.01, ("next to nothing, as", "descent lose 0.010")),
        (0.05, -0.01, ("next to nothing, as", "descent gain 0.010")),
        (3.0, 0.01, ("lose more than the paper says", "lose 0.010")),
    ],
)
def test_the_loss_of_nystrom_features(loss: float, more: float, words: tuple[str, ...]) -> None:
    numbers = {
        "true_auc": 91.0,
        "full_nystrom_auc": 91.0 - loss,
        "nystrom_auc": 91.0 - loss - more,
        "nystrom_seconds": 2.0,
        "full_nystrom_seconds": 1.0,
    }
    text = concluded("scaling-up-table-2", lambda part: {**numbers, "n": part["n"]})
    assert all(word in text for word in words)


@pytest.mark.parametrize(("loss", "word"), [(0.2, "cost 0.20"), (-0.2, "gain 0.20")])
def test_drawn_pairs_cost_or_gain(loss: float, word: str) -> None:
    numbers = {"n_train": 10}
    for kernel in ("linear", "radial"):
        numbers |= {f"{kernel}_full_auc": 90, f"{kernel}_incomplete_auc": 90 - loss}
        numbers |= {f"{kernel}_full_seconds": 1, f"{kernel}_incomplete_seconds": 2}
    assert word in concluded("scaling-up-table-3", lambda part: numbers)


@pytest.mark.parametrize("ahead", [5.0, -5.0])
def test_kernel_against_linear_on_real_sets(ahead: float) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for kernel, more in (("linear", 0.0), ("radial", ahead)):
            auc = 80 + more + 0.1 * part["rep"] * (more != 0)
            found |= {f"{kernel}_full_auc": auc, f"{kernel}_incomplete_auc": auc}
            found |= {f"{kernel}_full_seconds": 1.0, f"{kernel}_incomplete_seconds": 6.0 + more}
        return found

    text = concluded("scaling-up-table-3", record)
    clear, slow = ("3", "on 3 (in print") if ahead > 0 else ("0", "on 0 (in print")
    assert f"clearly so on {clear} of 3" in text and slow in text
    assert f"{ahead + 0.1:+.1f} (Skin" in text


@pytest.mark.parametrize(("shift", "word"), [(0.0, "has the attributes"), (9.0, "has not")])
def test_moments_of_the_toy_problem_are_held_against_print(shift: float, word: str) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"draws": 50}
        for name, moments in TOY.items():
            found[name] = list(moments)
            found[f"error {name}"] = [0.1] * 6
        found["class I, first"][2] += 0.1 * shift
        return found

    assert word in concluded("sauc-table-1", record)


def _toy(few: float, structured: float, pairs: int = 145, text: int = 498) -> Record:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        k, rng = part["k"], np.random.default_rng([part["draw"], part["k"]])
        found: dict[str, Any] = {"pairs by the text": text}
        for method in toy.METHODS:
            found |= {f"seconds {method}": 0.1, f"pairs {method}": pairs, f"steps {method}": 5}
            found[f"auc {method}"] = 0.94 + 1e-4 * rng.normal()
        if k == 5:
            found[f"auc {PLAIN}"] += few - 0.94
            found[f"auc {STRUCTURED}"] = structured + 1e-4 * rng.normal()
        else:  # no clear side
            found[f"auc {PLAIN}"] = 0.94 + 1e-4 * (part["draw"] % 2)
        return found

    return record


@pytest.mark.parametrize(
    ("few", "structured", "words"),
    [
        (0.92, 0.93, ("1.0 of them back, as the paper says", "it is clearly worse than")),
        (0.92, 0.9201, ("0.0 of them back, which is within the noise", "it is clearly worse than")),
        (0.92, 0.91, ("brings none of them back", "it is clearly worse than")),
        (0.95, 0.96, ("sampling costs AUC-SVM nothing (+1.0", "it is clearly better than")),
        (0.92, 0.94, ("2.0 of them back", "it is neither clearly better nor worse")),
    ],
)
def test_what_the_structure_brings_back(
    few: float, structured: float, words: tuple[str, ...]
) -> None:
    noise = np.random.default_rng(0).normal(size=6)

    def record(part: dict[str, Any]) -> dict[str, Any]:
        found = _toy(few, structured)(part)
        if structured in (0.9201, 0.94) and part["k"] == 5:
            found[f"auc {STRUCTURED}"] += 3e-3 * (noise - noise.mean())[part["draw"]]
        return found

    text = concluded("sauc-fig-3", record)
    assert all(word in text for word in words), text


def test_the_rule_for_the_pairs_is_told_by_the_counts() -> None:
    assert "at 1 of 6 values of k" in concluded("sauc-table-2", _toy(0.9, 0.9))
    text = concluded("sauc-table-2", _toy(0.9, 0.9, pairs=7, text=145))
    assert "at 0 of 6 values" in text and "by the rule in the text at 1" in text


@pytest.mark.parametrize(("angle", "word"), [(5.0, "turns it towards"), (60.0, "turns it away")])
def test_the_structures_line_is_measured(angle: float, word: str) -> None:
    axis = np.linalg.eigh(np.array([[0.3, 0.45], [0.45, 1.2]]))[1]

    def normal(degrees: float) -> list[float]:
        turn = np.radians(degrees)
        return (np.cos(turn) * axis[:, 0] + np.sin(turn) * axis[:, 1]).tolist()

    def record(part: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"train": np.eye(4, 2).tolist(), "test": np.eye(4, 2).tolist()}
        for method, off in ((PLAIN, 30.0), (STRUCTURED, angle)):
            found |= {f"w {method}": normal(off), f"held {method}": 2, f"cut {method}": 0.0}
            found |= {f"auc {method}": 0.9, f"wrong {method}": 1}
        return found

    text = concluded("sauc-fig-1", record)
    assert word in text and f"on average from 30.0 to {angle:.1f} degrees" in text
    assert ("which is not what the paper shows" in text) == (angle > 30)
    assert "2.0 of 144 pairs hold" in text


@pytest.mark.parametrize(("gain", "word"), [(0.01, "` is borne out"), (-0.01, "` is not borne")])
def test_consistently_better_is_a_question(gain: float, word: str) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        return {f"auc {SVM}": 0.8, f"auc {PLAIN}": 0.8, f"auc {STRUCTURED}": 0.8 + gain}

    assert word in concluded("sauc-fig-4", record)


@pytest.mark.parametrize("best", [0.0, 1e5])
def test_one_best_lambda_is_told_from_several(best: float) -> None:
    def record(part: dict[str, Any], alike: bool = True) -> dict[str, Any]:
        top = best if alike or part["set"] == "glass1" else 1.0
        lambdas = [0.0, *(10.0**power for power in range(-5, 6))]
        return {f"auc {lam:g}": 0.9 if lam == top else 0.8 for lam in lambdas}

    assert "is the same on every task" in concluded("sauc-fig-5", record)
    assert "differs by task" in concluded("sauc-fig-5", lambda part: record(part, False))


@pytest.mark.parametrize(
    ("exact", "word"),
    [
        ({"linear": 0.9, "rbf": 0.9}, "costs more than the structure brings back."),
        ({"linear": 0.9, "rbf": 0.7}, "with one kernel, less with the other."),
        ({"linear": 0.7, "rbf": 0.7}, "costs less than the structure brings."),
    ],
)
def test_sampling_against_structure(exact: dict[str, float], word: str) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        values = {SVM: 0.8, PLAIN: 0.78, STRUCTURED: 0.8, EXACT: exact[part["kernel"]]}
        return {f"auc {method}": value for method, value in values.items()} | {"gap": 1e-7}

    assert concluded("sauc-table-3", record).endswith(word)


@pytest.mark.parametrize(("ratio", "word"), [(1.2, "is comparable, as"), (3.0, "is more than")])
def test_the_structures_time(ratio: float, word: str) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        seconds = {SVM: 1.0, PLAIN: 1.0, STRUCTURED: ratio, EXACT: 1.0}
        found = {f"seconds {method}": value for method, value in seconds.items()}
        return found | {"raw pairs": 100, f"pairs {PLAIN}": 100, "rows": 50}

    assert real.EXPERIMENT is TABLES["sauc-table-4"].experiment
    assert word in concluded("sauc-table-4", record)


def _simulated(
    sht_auc: float, other: float, top: dict[str, float] | None = None, noise: float = 0.1
) -> Record:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        rng = np.random.default_rng(list(part["part"].encode()))
        found: dict[str, Any] = {}
        for method in (*synthetic.METHODS, *synthetic.ADDED, "SPAM-l1/l2"):
            value = sht_auc if method == "SHT-AUC" else other
            found |= {f"auc {method}": value + noise * rng.normal(), f"true {method}": value}
            f1 = (top or {}).get(method, 0.3)
            found |= {f"{what} {method}": f1 for what in ("f1", "ji", "top")}
        return found | {f"objective {name}": 0.5 for name in ("published", "refit", "swaps")}

    return lambda part: record({**part, "part": repr(sorted(part.items()))})


def test_whether_sht_reaches_its_print_and_leads() -> None:
    text = concluded("sht-table-1", _simulated(0.72, 0.72))
    assert "where the paper has 0.703" in text and "does as well" in text
    assert "0.003 over FSAUC, is within twice the noise" in text
    text = concluded("sht-table-1", _simulated(0.3, 0.2, noise=0.001))
    assert "above print at k* = none" in text and "class means does not:" in text
    assert "is beyond twice the noise" in text


def test_whether_dense_methods_find_as_many_features() -> None:
    text = concluded("sht-table-2", _simulated(0.7, 0.7, {"StoIHT": 0.2}))
    assert "find not clearly fewer true features than" in text and "over them is that of" in text
    assert "StoIHT (0.200)" in text and "SHT-AUC has a clear lead" in text
    text = concluded("sht-table-2", _simulated(0.7, 0.7, {"SHT-AUC": 0.5, "StoIHT": 0.6}))
    assert "find clearly fewer true features than" in text and "is not only that of" in text
    assert "StoIHT (0.600)" in text and "SHT-AUC has no clear lead" in text


def test_more_positive_rows_help_both_or_not() -> None:
    def rising(part: dict[str, Any]) -> dict[str, Any]:
        return _simulated(0.6 + part["r"] / 5, 0.6 + part["r"] / 5)(part)

    assert "more positive rows help both" in concluded("sht-fig-2", rising)
    assert "do not help both" in concluded("sht-fig-2", _simulated(0.7, 0.7))


@pytest.mark.parametrize(
    ("rare", "common", "words"),
    [
        (200, 20, ("message holds. It comes from",)),
        (200, 100, ("message holds. It does not come from",)),
        (10, 20, ("message does not hold. It is not saved by",)),
    ],
)
def test_convergence_by_the_share_of_positives(
    rare: int, common: int, words: tuple[str, ...]
) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        few = part["r"] == convergence.SHARES[0]
        found: dict[str, Any] = {}
        for name, epochs in ((convergence.PUBLISHED, rare), (convergence.COMMON, common)):
            found[f"epochs {name}"] = epochs if few else 50
            found |= {f"{side} {name}": [0.6, 0.8, 0.7] for side in ("train", "test")}
        return found

    text = concluded("sht-fig-1", record)
    assert all(word in text for word in words), text


def _genes(gap: float, chosen: Callable[[int], list[int]]) -> Record:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        rng = np.random.default_rng(part["shuffle"])
        found: dict[str, Any] = {"overlap": 0.8, "gap": 1e-9, "markers": 3, "marker columns": {}}
        for method in (*sht.gene_tables.METHODS, *sht.gene_tables.ADDED):
            value = 0.9 if method == "SHT-AUC" else 0.9 - gap
            value += 1e-3 * rng.normal()
            sparse = method in genes.SPARSE
            found[f"right {method}"] = value
            found[f"published {method}"] = [[value] * 5] * 2 if sparse else [value] * 5
            found[f"unslipped {method}"] = found[f"published {method}"]
            found[f"ratios {method}"] = [[0.1, 0.2]] * 2
        found |= {
            f"genes {method}": chosen(part["shuffle"]) for method in ("SHT-AUC", genes.SUBSET)
        }
        return found | {"subset proved": 1.0}

    return record


def test_test_rows_that_rank_and_those_that_do_not() -> None:
    few = {"k": [5, 20]}
    same = concluded("sht-table-3", _genes(0.0, lambda at: [1, 2]), **few)
    assert "above another method in 0 and below in 0 of 10 comparisons" in same
    assert "(printed .8777)" in same and "makes +0.000" in same
    apart = concluded("sht-table-3", _genes(0.2, lambda at: [1, 2]), **few)
    assert "above another method in 10 and below in 0 of 10 comparisons" in apart


def test_where_the_shares_of_markers_are_compared() -> None:
    few = {"k": [5, 30]}

    def record(part: dict[str, Any], ahead: str) -> dict[str, Any]:
        found = _genes(0.0, lambda at: [1, 2])(part)
        return found | {f"ratios {ahead}": [[0.0, 0.0], [0.5, 0.5]]}

    text = concluded("sht-fig-4", lambda part: record(part, "SHT-AUC"), **few)
    assert "at k = 30" in text and "SHT-AUC is ahead on colon and leukemia." in text
    text = concluded("sht-fig-4", lambda part: record(part, "StoIHT"), **few)
    assert "SHT-AUC is ahead on none." in text


def test_the_best_k_is_told_from_the_noise() -> None:
    few = {"k": [5, 20]}
    same = concluded("sht-fig-3", _genes(0.0, lambda at: [1, 2]), **few)
    assert "not clearly above those at 1 of the 1 other k" in same

    def record(part: dict[str, Any]) -> dict[str, Any]:
        low, high = 0.5 + 1e-3 * (part["shuffle"] % 3), 0.9
        return _genes(0.0, lambda at: [1, 2])(part) | {"published SHT-AUC": [[low] * 5, [high] * 5]}

    apart = concluded("sht-fig-3", record, **few)
    assert "k = 20 on colon, 0.900, not clearly above those at 0 of the 1" in apart


def test_gene_lists_that_are_stable_and_those_that_are_not() -> None:
    few = {"k": [5, 20]}
    stable = concluded("sht-tables-4-5", _genes(0.0, lambda at: [1, 2, 3, 4, 5]), **few)
    assert "are 10 genes" in stable and "have 5.0 of" in stable and "may be read" in stable
    fickle = concluded(
        "sht-tables-4-5", _genes(0.0, lambda at: [7, *range(9 * at + 8, 9 * at + 12)]), **few
    )
    assert "are 2 genes" in fickle and "have 1.0 of" in fickle and "should not be read" in fickle
    assert methods.EXACT != genes.SUBSET


@pytest.mark.parametrize(
    ("auc", "word"), [(70.0, "points below the print"), (120.0, "points above the print")]
)
def test_batch_methods_against_print(auc: float, word: str) -> None:
    text = concluded("nonlinear-table-2", lambda part: {"auc": auc, "seconds": 1.0, "gap": 1e-12})
    assert word in text and ("the solver is not the reason" in text) == (auc == 70)


@pytest.mark.parametrize("rbf", [0.2, 50.0])
def test_seconds_of_the_true_kernel(rbf: float) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        seconds = rbf if part["method"] == "rbf" else 1.0
        return {"auc": 90.0, "seconds": seconds, "gap": 1e-12}

    text = concluded("nonlinear-table-3", record)
    assert f"{rbf:.1f} on usps (printed 17.8)" in text
    assert "a relative gap of at most 1e-12" in text


@pytest.mark.parametrize(
    ("ahead", "gain", "words"),
    [
        (1.0, 2.0, ("on 5 of 5 sets and level on none, as in print", "goes on after")),
        (-1.0, 0.0, ("on none, unlike in print", "is stuck after one epoch")),
        (0.01, -3.0, ("on 0 of 5 sets and level on ijcnn1", "is stuck after one epoch")),
    ],
)
def test_curves_of_the_online_methods(ahead: float, gain: float, words: tuple[str, ...]) -> None:
    def record(part: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"optimum_auc": 95.0, "NBAUC_auc": 95.0}
        found["epochs"] = list(range(1, 11))
        for method in figure1.CURVES:
            found[f"{method}_curve"] = np.linspace(90, 90 + gain, 10).tolist()
        found["NSAUC_curve"] = [90.0 + ahead] * 10
        found["NSVMSGD2_curve"] = [90.0] * 10
        return found

    text = concluded("nonlinear-figure-1", record)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_a_table_without_results_concludes_nothing(table: Table) -> None:
    run = Run()
    spent = table.experiment.spent("quick")
    parts = tuple(table.experiment.parts(run, spent))
    text = table.render(Results(run, spent, parts, {})).conclusion
    assert text == NOTHING


def test_a_few_parts_are_too_few_and_no_part_is_nothing() -> None:
    table = TABLES["sauc-fig-4"]
    run, spent = Run(), table.experiment.spent("quick")
    parts = tuple(table.experiment.parts(run, spent))
    done = {parts[0].key: {f"auc {m}": 0.8 for m in (SVM, PLAIN, STRUCTURED)}}
    assert table.render(Results(run, spent, parts, done)).conclusion == TOO_LITTLE
    text = concluded_of_some("sht-table-1", _simulated(0.7, 0.7), 3)
    assert text == TOO_LITTLE
    text = concluded_of_some(
        "sht-tables-4-5", _genes(0.0, lambda at: [1, 2, 3, 4, 5]), 1, k=[5, 20]
    )
    assert text == TOO_LITTLE


def concluded_of_some(name: str, record: Record, count: int, **budget: Any) -> str:
    """Return the conclusion where only the first parts were run."""
    table, run = TABLES[name], Run()
    spent = {**table.experiment.spent("quick"), **budget}
    parts = tuple(table.experiment.parts(run, spent))
    done = {part.key: record(part.parameters) for part in parts[:count]}
    return table.render(Results(run, spent, parts, done)).conclusion


def test_parts_of_one_split_are_compared_with_each_other() -> None:
    parts = tuple(Part(f"{m},{s}", {"m": m, "split": s}) for m in "ab" for s in range(4))
    done = {f"a,{s}": {"x": float(s)} for s in (0, 2, 3)} | {"b,3": {"x": 30.0}, "b,1": {"x": 10.0}}
    results = Results(Run(), {}, parts, done | {"b,0": {"x": None}})
    first, second = results.matched("split", ("x", {"m": "a"}), ("x", {"m": "b"}))
    assert (first.tolist(), second.tolist()) == ([3.0], [30.0])
