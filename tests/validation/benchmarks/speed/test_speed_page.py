"""The page on speed: everybody is judged by the proved bound, and what is missing is said."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.problem.problem import linear_problem
from aucert.validation.benchmarks.harness import Table
from aucert.validation.benchmarks.speed import models, race, rivals, shares, words
from aucert.validation.benchmarks.speed.cases import Case, Effort, cases
from aucert.validation.benchmarks.speed.page import PARTS, main
from aucert.validation.benchmarks.speed.rivals import NotRun, Rival, Task
from aucert.validation.benchmarks.speed.sheets import Sheet, filled

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 3))
Y = X @ [1.0, 0.5, 0.0] + RNG.normal(size=200) > 0.8
EFFORT = Effort(repeats=1, longest=0.5)


def task(loss: str, lam: float = 0.1) -> Task:
    return Task(X, Y, linear_problem(X, Y, lam, loss))


def naive(w: np.ndarray, loss: str, lam: float = 0.1) -> float:
    """The objective by a double loop over the pairs."""
    margins = [(X[i] - X[j]) @ w for i in np.flatnonzero(Y) for j in np.flatnonzero(~Y)]
    losses = [max(0.0, 1 - m) ** (2 if loss == "squared_hinge" else 1) for m in margins]
    return lam / 2 * float(w @ w) + float(np.mean(losses))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_rival_is_judged_by_all_pairs_and_the_proved_bound(loss: str) -> None:
    w = RNG.normal(size=3)
    lower = solve(X, Y, 0.1, loss=loss, tol=1e-11).certificate.dual
    known = Rival("one", (loss,), lambda task: iter([lambda: w]))
    _, *seconds, excess, note = race.judged(known, task(loss), lower, EFFORT)
    assert excess == pytest.approx(naive(w, loss) / lower - 1, rel=1e-9)
    assert excess > 1e-3 and seconds == [None, None, None] and note == ""


def test_seconds_to_a_tolerance_are_those_of_the_first_point_within_it() -> None:
    best = solve(X, Y, 0.1, tol=1e-11)
    lower = best.certificate.dual
    points = [(0.5, 3 * best.w), (1.0, 1.02 * best.w), (2.0, best.w), (3.0, best.w)]
    known = Rival("steps", ("hinge",), lambda task: iter([lambda: points]))
    _, *seconds, excess, _ = race.judged(known, task("hinge"), lower, EFFORT)
    assert seconds == [1.0, 2.0, 2.0] and excess == pytest.approx(0, abs=1e-10)


def test_ours_is_timed_to_the_proof() -> None:
    who, *seconds, proved, method = race.ours(X, Y, 0.1, "hinge", EFFORT)
    assert who == race.OURS and all(s > 0 for s in seconds)
    assert 0 <= proved <= 1e-9 and method == "newton"


def test_lbfgs_on_the_sums_has_the_optimum_of_the_squared_hinge() -> None:
    (run,) = rivals.lbfgs_runs(task("squared_hinge"))
    times, points = zip(*run(), strict=True)
    assert list(times) == sorted(times)
    best = solve(X, Y, 0.1, loss="squared_hinge", tol=1e-12)
    np.testing.assert_allclose(points[-1], best.w, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_drawn_differences_are_those_of_pairs_and_scikit_learn_comes_near(loss, form) -> None:
    asked = Task(form(X), Y, linear_problem(X, Y, 0.1, loss))
    D, sign = rivals.differences(asked, 50)
    D = D if isinstance(D, np.ndarray) else D.toarray()
    every = np.array([X[i] - X[j] for i in np.flatnonzero(Y) for j in np.flatnonzero(~Y)])
    for row, turned in zip(D, sign, strict=True):
        assert np.abs(every - row * turned).max(axis=1).min() < 1e-12
    best = solve(X, Y, 0.1, loss=loss).certificate.primal
    runs = [rivals.linear_svc_runs(asked)]
    runs += [rivals.sgd_runs(asked)] if loss == "hinge" else []
    for made in runs:
        *_, last = made
        assert best <= naive(last(), loss) * (1 + 1e-9) <= 1.2 * best


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_dlib_has_our_optimum_or_is_not_installed(form) -> None:
    try:
        tight = next(
            itertools.islice(rivals.dlib_runs(Task(form(X), Y, task("hinge").problem)), 6, 7)
        )
        assert naive(tight(), "hinge") <= solve(X, Y, 0.1).certificate.primal * (1 + 1e-4)
    except NotRun as reason:
        assert str(reason) == "not installed here: pip install dlib-bin"


def test_what_is_not_installed_or_too_large_is_a_row_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rivals, "MOST_NUMBERS", 10)
    case = Case("small", 200, lambda n: (X[:n], Y[:n]), 0.1, ("hinge",))
    absent = Rival("absent", ("hinge",), lambda task: iter([rivals.module("no_such_peer", "peer")]))
    monkeypatch.setattr(race, "RIVALS", (absent, *race.RIVALS))
    rows = list(race.raced(case, X, Y, "hinge", EFFORT))
    said = {row[3]: row[-1] for row in rows}
    assert said["absent"] == "not installed here: pip install peer"
    assert "too many" in said["LinearSVC on drawn pairs"]
    (row,) = [
        row for row in race.raced(case, X, Y, "squared_hinge", EFFORT) if "liblinear" in row[3]
    ]
    assert row[4:8] == (None, None, None, None) and "not installed here" in row[-1]


def test_logistic_regression_is_compared_on_the_same_held_out_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case("small", 150, lambda n: (X[:n], Y[:n]), 0.1, ("hinge",))
    monkeypatch.setattr(models, "cases", lambda: (case,))
    monkeypatch.setattr("aucert.validation.benchmarks.speed.cases.HELD_OUT", 50)
    sheet = models.sheet()
    list(filled(sheet, models.rows(EFFORT)))
    assert sheet.column("model")[:2] == ["aucert, hinge", models.LOGISTIC]
    mine, theirs = sheet.column("AUC")[:2]
    assert sheet.column("ours less")[1] == pytest.approx(mine - theirs)
    assert sheet.column("low")[1] <= mine - theirs <= sheet.column("high")[1]
    assert "Logistic regression is as good in AUC on 1 of 1 sets" in words.logistic(sheet)


def test_the_page_says_where_ours_is_behind() -> None:
    sheet = race.sheet()
    more = [
        ("a", "hinge", 0.1, race.OURS, 1.0, 1.0, None, 1e-7, ""),
        ("a", "hinge", 0.1, "fast", 0.5, 0.95, 2.0, 1e-9, ""),
        ("a", "hinge", 0.1, "absent", None, None, None, None, "not installed here"),
    ]
    sheet.rows.extend(more)
    said = words.standing(sheet)
    assert "in 1 of 3 goals" in said
    assert "- a, hinge, to 1e-3: 2 times the fast." in said and "to 1e-9: inf times" in said
    assert words.standing(race.sheet()) == "" and words.logistic(models.sheet()) == ""


def test_a_stage_within_another_counts_for_the_outer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Work:
        def outer(self) -> None:
            self.inner()

        def inner(self) -> None:
            sum(range(20_000))

    stages = {"proof": ((Work, "outer"),), "sums": ((Work, "inner"),)}
    monkeypatch.setattr(shares, "STAGES", stages)
    spent: dict[str, float] = {}
    heard: list[str] = []
    own = Work.inner
    with shares.watching(spent, heard.append):
        Work().outer()
    assert list(spent) == ["proof"] and heard == ["proof", "sums"] and Work.inner is own
    with shares.watching(spent, heard.append):
        Work().inner()
    assert spent["sums"] > 0


def test_shares_of_a_solve_add_up_to_one() -> None:
    rows = list(shares._shared("small", X, Y, 0.1, "hinge", EFFORT))
    assert len(rows) == 2
    for _, _, _, seconds, evaluations, *parts in rows:
        assert seconds > 0 and evaluations > 2
        assert sum(parts) == pytest.approx(1) and all(part >= -1e-9 for part in parts)
        assert len(parts) == len(shares.STAGES) + 1


def test_a_sheet_reads_back_what_it_wrote(tmp_path: Path) -> None:
    table = Table("heading", "who:<5", "n:3d", "s:8.2g", "note:")
    sheet = Sheet("some", table)
    list(filled(sheet, [("a", 1, np.float64(1 / 3), "x, y"), ("b", 2, np.inf, "")]))
    sheet.write(tmp_path)
    again = Sheet("some", table).read(tmp_path)
    assert again.rows == [("a", 1, 1 / 3, "x, y"), ("b", 2, None, None)]
    assert again.text.splitlines()[0] == "heading" and again.text.splitlines()[-1].startswith("b")
    assert Sheet("other", table).read(tmp_path).rows == []
    (tmp_path / "some.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="its columns are not"):
        Sheet("some", table).read(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "peer"], "unknown part 'peer'"),
        (["--shrink", "0"], "shrink and repeats"),
        (["--out", "no/such/folder"], "there is no such folder"),
    ],
)
def test_bad_options_are_one_sentence(arguments, said, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.slow
def test_one_part_renews_its_table_and_keeps_the_others(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "results" / "speed"
    folder.mkdir(parents=True)
    kept = PARTS["peers"][0]()
    kept.rows.append(("a", "hinge", 0.1, race.OURS, 1.0, 1.5, 2.0, 1e-10, "newton"))
    kept.write(folder)
    arguments = ["--only", "threads", "--shrink", "20000", "--repeats", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    text = (tmp_path / "speed.md").read_text()
    assert kept.text in text and "one / these" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} >= {"peers.svg", "threads.svg", "threads.csv"}
    for name in ("peers", "threads"):
        assert f"](results/speed/{name}.svg)" in text
    assert "roofline.svg" not in text


def test_the_page_shows_the_tables_whole_and_the_pictures_that_are_there() -> None:
    sheets = {name: make() for name, (make, _) in PARTS.items()}
    sheets["threads"].rows.append((1000, 2, 0.5, 1.5))
    text = words.page(sheets, ["threads"], "results/speed")
    assert f"```text\n{sheets['threads'].text}\n```" in text and text.count("Not measured yet") == 6
    assert text.count(".svg)") == 1 and "](results/speed/threads.svg)" in text
    assert words.COMMAND in text and f"numpy {np.__version__}" in text and "\n\n\n" not in text


def test_the_sets_are_those_of_the_table() -> None:
    found = cases()
    rows, labels, new, told = found[-1].split(Effort(shrink=200))
    assert rows.shape[0] == labels.size == 500
    assert new.shape[0] == told.size == 300 and new.shape[1] == rows.shape[1]


@pytest.mark.slow
def test_the_quick_page_is_whole(tmp_path: Path, capsys) -> None:
    assert main(["--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "speed.md").read_text()
    shown = capsys.readouterr().out
    for name, (make, _) in PARTS.items():
        sheet = make().read(tmp_path / "results" / "speed")
        assert sheet.rows and sheet.text in text and str(sheet.table) in shown, name
    assert text.count(".svg)") == 4 and "Logistic regression" in text
