"""The command repeats the function, in every kind of file; what it prints, writes and draws."""

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

import naive
from aucert import exact
from aucert.approx import draw_pairs
from aucert.exact import certify, concordance, delong, load_model, regularization_path, solve
from aucert.exact.proof import check_proof
from aucert.validation import suite
from aucert.validation.commands import problems
from aucert.validation.reference.problems import reference_problems
from command import Command
from loops import each, refuses
from on_disk import write

N = 40
RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(N, 2)), 3) * [1.0, 40.0]
NOISY = X[:, 0] + X[:, 1] / 40 + RNG.normal(size=N)
Y = (NOISY > 0.5).astype(int)
COLUMNS: dict[str, Any] = {
    "a": X[:, 0],
    "b": X[:, 1],
    "q": np.arange(N) // 10,
    "t": np.round(np.exp(-NOISY), 1),
    "e": (RNG.random(N) < 0.7).astype(int),
    "g": np.clip(np.round(NOISY), -1, 1).astype(int),
    "y": Y,
    "place": np.array(["north", "south"])[RNG.integers(0, 2, N)],
}
QUERY = {"y": COLUMNS["g"], "qid": COLUMNS["q"], "loss": "logistic", "tol": 1e-6}
TIME = {"y": None, "time": COLUMNS["t"], "event": COLUMNS["e"], "loss": "logistic", "tol": 1e-6}
BY_QUERY = "--qid q --target g --loss logistic --tol 1e-6"
TARGET = "--target y --columns a,b"
BY_TIME = "--time t --event e --loss logistic --tol 1e-6"
KEYS = """schema_version version seed parameters data_sha256 n n_pos n_neg n_pairs lam loss pairs
kernel method primal dual gap relative_gap radius auc status message seconds""".split()
LASSO = {"l1": 0.02, "groups": [0, 0], "sign": [0], "loss": "squared_hinge", "tol": 1e-5}

SAME: dict[str, tuple[str, dict[str, Any]]] = {
    "hinge": ("--target y", {}),
    "squared hinge": ("--target y --loss squared_hinge", {"loss": "squared_hinge"}),
    "square": ("--target y --loss square", {"loss": "square"}),
    "drawn": ("--target y --pairs drawn:40 --seed 3", {"pairs": draw_pairs(Y == 1, 40, 3)}),
    "partial": ("--target y --fpr-max 0.5", {"fpr_max": 0.5}),
    "structure": ("--target y --structure 0.5", {"structure": 0.5}),
    "lasso": ("--target y --l1 0.01 --tol 1e-6", {"l1": 0.01, "tol": 1e-6}),
    "kernel": ("--target y --kernel rbf --gamma 0.1", {"kernel": "rbf", "gamma": 0.1}),
    "worst": ("--target y --worst-of place --tol 1e-4", {"worst_of": "place", "tol": 1e-4}),
    "query": (BY_QUERY, QUERY),
    "time": (BY_TIME, TIME),
    "lasso by query": (
        "--qid q --target g --l1 0.02 --groups a,b --sign a --loss squared_hinge --tol 1e-5",
        {"y": COLUMNS["g"], "qid": COLUMNS["q"], **LASSO},
    ),
}


def written(name: str, order: tuple[str, ...] = tuple(COLUMNS), **changed: Any) -> str:
    return str(write(name, {column: np.asarray((COLUMNS | changed)[column]) for column in order}))


@each("scaled", [False, True], ids=["plain", "standardised"])
@each("kind", SAME)
def test_a_model_is_solved_written_certified_and_scored(command, kind: str, scaled: bool) -> None:
    words, more = SAME[kind]
    if scaled:
        words += " --standardise"
    target = "--target y" if "--target y" in words else ""
    table, turned = written("t.csv"), written("turned.csv", tuple(reversed(COLUMNS)))
    solved = command.json(f"solve {table} --columns a,b --lam 0.05", words, "--out out")
    stated = {"y": Y, **more, **({"worst_of": COLUMNS["place"]} if kind == "worst" else {})}
    wanted = solve((X - X.mean(0)) / X.std(0) if scaled else X, lam=0.05, **stated)
    assert solved["primal"] == pytest.approx(wanted.certificate.primal, rel=1e-9)
    assert solved["relative_gap"] <= more.get("tol", 1e-9) and solved["status"] == "certified"
    assert set(KEYS) <= set(solved)
    for name in (table, turned):
        found = command.json(f"certify {name} --model out/model.npz --max-time 60 {target}")
        assert found["primal"] == pytest.approx(solved["primal"], rel=1e-9)
        assert found["relative_gap"] <= max(2e-6, 2 * more.get("tol", 0))
        assert (found["pairs"], found["penalty"]) == (solved["pairs"], solved["penalty"])
        assert ("standardised" in found["statement"]) == scaled
    model = load_model("out/model.npz")
    lines = command(f"predict out/model.npz {turned}").splitlines()[1:]
    assert "columns not used" in command.notes
    score = getattr(model, "decision_function", None) or model.predict
    with pytest.warns(UserWarning, match="feature names"):
        expected = score(X)
    np.testing.assert_array_equal([float(line.split(",")[0]) for line in lines], expected)
    document = json.loads(command(f"predict out/model.npz {table} --json"))
    assert (document["classes"] is None) == ("qid" in more or "time" in more)
    assert command("predict out/model.npz t.csv --out s.csv").startswith(f"{N} rows scored")


def test_the_proof_that_solve_writes_is_checked_alone(command: Command) -> None:
    written("t.csv")
    for words, columns in (
        ("--target y", {"y": Y}),
        ("--qid q --target g", {"y": COLUMNS["g"], "qid": COLUMNS["q"]}),
        ("--time t --event e", {"time": COLUMNS["t"], "event": COLUMNS["e"]}),
    ):
        asked = ("solve t.csv --columns a,b --lam 0.1 --out out", words)
        assert command.json(*asked)["proof"] == "proof.npz"
        write("data.npz", {"X": X, **columns})
        assert check_proof.main(["out/proof.npz", "data.npz"]) == 0
        assert command.json(*asked, "--loss square")["proof"] is None
        assert not Path("out/proof.npz").exists()


def test_the_same_seed_gives_the_same_document(command: Command) -> None:
    one, two = (command.json("solve linear:200 --lam 0.1 --seed 3") for _ in range(2))
    assert one | {"seconds": 0} == two | {"seconds": 0}


@pytest.mark.slow
def test_every_kind_of_file_has_the_same_answer(command: Command) -> None:
    named: dict[str, Any] = {"q": np.array([f"q {k}" for k in COLUMNS["q"]])}
    written("t.csv")
    written("t.parquet", **named)
    arrays = {"X": X, "feature_names": ["a", "b"]} | {k: COLUMNS[k] for k in "yqteg"}
    write("t.npz", arrays | {"place": COLUMNS["place"]})
    for words in ("--qid q --target g", "--time t --event e", "--target y --worst-of place"):
        asked = f"--columns b,a --lam 0.1 --tol 1e-2 {words}"
        found = [command.json(f"solve t.{kind} {asked}") for kind in ("csv", "parquet", "npz")]
        assert len({round(one["primal"], 12) for one in found}) == 1, words
    lines = "2 qid:1 1:1 2:0.5\n0 qid:1 1:0.25\n1 qid:2 2:1\n0 qid:2 1:1 2:0.5\n"
    asked = f"solve {write('rows.svm', lines)} --lam 1 --qid qid --tol 1e-6"
    assert command.json(asked)["n_pairs"] == 2
    command(asked, "--columns 2 --out w")
    assert len(Path("w/weights.csv").read_text().splitlines()) == 2
    write("plain.svm", "1 1:0.5 2:1\n-1 1:0.2\n1 2:3\n")
    for kernel in ("linear", "rbf", "laplacian"):
        assert command.json(f"solve plain.svm --lam 1 --kernel {kernel}")["status"] == "certified"


def test_weights_are_matched_by_name_wherever_the_intercept_stands(command: Command) -> None:
    solved = f"solve {written('t.csv')} {TARGET} --lam 0.1 --out out"
    asked = f"certify t.csv {TARGET} --lam 0.1 --weights"
    command(solved)
    title, first, second = Path("out/weights.csv").read_text().splitlines()
    assert title == "feature,weight" and (first[0], second[0]) == ("a", "b")
    across = f"const,b,a\n7,{second[2:]},{first[2:]}\n"
    for text in (f"intercept,7\n{second}\n{first}\n", across, f"{first[2:]}\n{second[2:]}\n7\n"):
        found = command.json(asked, write("w.csv", text))
        assert found["relative_gap"] <= 1e-8
        assert ("intercept" in found["statement"]) == ("," not in text)
    assert "'z'" in command.refused(asked, write("w.csv", "a,1\nz,1\n"))
    command(solved, "--standardise")
    assert "--standardise" in command.refused(asked, "out/weights.csv")
    assert command.json(asked, "out/weights.csv --standardise")["relative_gap"] <= 1e-8
    # Far from the optimum they are certified to a tolerance that holds them.
    far = write("w.npy", np.array([300.0, -200.0]))
    found = command.json(asked, far)
    assert found["relative_gap"] > 0.99 and found["status"] == "above_tolerance"
    assert "certified" not in command(asked, far)
    assert command.json(asked, far, "--tol 1")["status"] == "certified"


def test_scores_and_orders_have_their_intervals_by_rows_or_by_queries(command: Command) -> None:
    asked = f"certify {written('t.csv')} {TARGET} --lam 1 --scores s.csv"
    for scores, interval in ((X[:, 0], True), (2.0 * Y, False)):  # no function of the class
        np.savetxt("s.csv", scores)
        found, wanted = command.json(asked), delong(scores, Y == 1)
        assert found["auc"] == pytest.approx(wanted.value, abs=1e-12)
        assert found["concordance"] is None
        if interval:
            assert found["auc_interval"] == pytest.approx(list(wanted.interval()))
        else:
            assert found["auc_interval"] is found["gap"] is found["primal"] is None
    rows = np.arange(120)
    x, grade, query = np.sin(rows * rows), rows % 7 % 3, rows // 10
    table = write("q.csv", {"x": x, "q": query, "g": grade})
    many = command.json(f"solve {table} --lam 0.1 --qid q")
    w = solve(x[:, None], grade, 0.1, qid=query).w
    wanted = concordance(exact.query_pairs(query, grade), x * w, units="groups")
    assert many["concordance_interval"] == pytest.approx(list(wanted.interval()))
    few = command.json("solve t.csv --columns a,b --lam 0.1", BY_QUERY)
    assert few["concordance_interval"] is few["auc"] is few["n_pos"] is None
    assert 0.5 < few["concordance"] <= 1
    assert few["n_pairs"] == exact.query_pairs(COLUMNS["q"], COLUMNS["g"]).count()
    by_time = command.json("solve t.csv --columns a,b --lam 0.1", BY_TIME)
    assert by_time["concordance_interval"] is not None


# The loss of a rival's problem.
RIVALS: dict[str, str] = dict.fromkeys(("dlib", "roclab", "SVM-rank", "torch", "libauc"), "hinge")
RIVALS |= {"scikit-survival-hinge": "hinge", "scikit-survival": "squared_hinge"}
RIVALS |= {"liblinear-ranksvm": "squared_hinge", "scikit-learn": "squared_hinge"}


@each("rival", RIVALS)
def test_a_rivals_problem_is_that_of_python(command: Command, rival: str) -> None:
    write("w.npy", np.array([0.5, 0.02, 7.0]))  # with an intercept
    asked = f"certify {written('t.csv')} {TARGET} --weights w.npy --from {rival} --C 0.05"
    found, wanted = command.json(asked), certify(X, Y, w=[0.5, 0.02], rival=rival, C=0.05)
    keys = "lam loss primal gap rival_primal rival_gap n_sure_right n_sure_wrong".split()
    assert {key: found[key] for key in keys} == {key: getattr(wanted, key) for key in keys}
    assert found["loss"] == RIVALS[rival] and found["statement"].startswith(wanted.statement)


def test_the_exact_interval_is_that_of_fractions(command: Command) -> None:
    w = np.array([0.5, 0.02])
    asked = f"certify {written('t.csv')} {TARGET} --weights {write('w.npy', w)}"
    document, plain = (command.json(asked, "--lam 0.1", *more) for more in (["--exact"], []))
    found = {key: Fraction(value) for key, value in document["exact"].items()}
    listed = naive.weighted_pairs((Y == 1).tolist(), exact.AllPairs())
    truth = naive.primal_value(naive.exact(X), listed, "hinge", Fraction(0.1), naive.exact(w))
    assert truth <= found["primal"] <= truth * (1 + Fraction(1, 10**23))
    assert 0 < found["dual"] <= truth - found["gap"] * (1 - Fraction(1, 10**20))
    assert document.keys() - plain.keys() == {"exact"}
    rival = command.json(asked, "--from liblinear-ranksvm --C 0.05 --exact")
    assert float(rival["exact"]["primal"]) == pytest.approx(rival["primal"], abs=1e-12)


def test_the_positive_label_is_said_and_can_be_the_smaller_one_or_one_of_many(command) -> None:
    Path("d.csv").write_text("x,kind\n-2,three\n-1,three\n1,eight\n2,eight\n")
    assert "three" in command("solve d.csv --lam 1")
    assert command.json("solve d.csv --lam 1 --positive eight --out out")["positive"] == "eight"
    model = load_model("out/model.npz")
    assert model.classes_.tolist() == ["three", "eight"]
    again = exact.recertify(model, [[-2.0], [-1], [1], [2]], ["three", "three", "eight", "eight"])
    assert (again.relative_gap or 0.0) <= 1e-8
    np.save("w.npy", [1.0])
    assert "--positive" in command("certify d.csv --lam 1 --weights w.npy")
    assert "--positive" not in command("certify d.csv --lam 1 --weights w.npy --positive eight")
    Path("three.csv").write_text("a,y\n1,r\n2,g\n3,b\n4,r\n")
    command("solve three.csv --lam 1 --positive r --out three")
    assert load_model("three/model.npz").classes_.tolist() == ["not r", "r"]


def test_predict_writes_a_file_or_nothing_and_reads_sparse_rows(command: Command) -> None:
    command(f"solve {written('t.csv', ('a', 'b', 'y'))} --lam 0.1 --standardise --out out")
    command("predict out/model.npz t.csv --out s.csv")
    before = Path("s.csv").read_bytes()
    written("t.csv", ("a", "b", "y"), a=np.array(["x"] * N))
    for words in ("predict out/model.npz t.csv --out s.csv", "certify t.csv --model out/model.npz"):
        refused = command.refused(words)
        assert "'x'" in refused and "--drop" not in refused  # the model needs the column
    assert Path("s.csv").read_bytes() == before
    lines = [f"{y} 1:{a!r} 2:{b!r}" for (a, b), y in zip(X.tolist(), Y, strict=True)]
    Path("s.svmlight").write_text("\n".join(lines) + "\n")
    sparse = json.loads(command("predict out/model.npz s.svmlight --json"))["scores"]
    dense = [float(line.split(b",")[0]) for line in before.splitlines()[1:]]
    assert sparse == pytest.approx(dense)
    command("solve s.svmlight --lam 0.1 --kernel rbf --standardise --out rbf")
    assert command.json("certify s.svmlight --model rbf/model.npz")["relative_gap"] <= 1e-8
    np.savetxt("plain.csv", np.c_[X, X], delimiter=",")
    assert "--drop" in command.refused("predict out/model.npz plain.csv")
    np.savetxt("narrow.csv", X[:, :1], delimiter=",")
    assert "--drop" not in command.refused("predict out/model.npz narrow.csv")
    command("predict out/model.npz plain.csv --drop 3,4")


def test_a_model_knows_what_it_cannot_do(command: Command) -> None:
    words = "--columns a,b --lam 0.1"
    command(f"solve {written('t.csv')} {words} --target y --kernel rbf --out out")
    written("other.csv", a=X[::-1, 0])
    assert "rows" in command.refused("certify other.csv --model out/model.npz --target y")
    for more in (BY_TIME, "--target y --worst-of place --tol 1e-2"):
        command(f"solve t.csv {words} {more} --out out")
        model = load_model("out/model.npz")
        refuses(r"solve|fitted", model.fit, X, Y)
        if more is BY_TIME:
            refuses("recertify", exact.recertify, model, X, Y)
    two = make_pipeline(StandardScaler(), RobustScaler(), exact.ROCSVM(lam=0.1)).fit(X, Y)
    exact.save_model(two, "two.npz")
    assert "pipeline" in command.refused("certify xor --model two.npz")


def test_claims_are_listed_all_or_by_name(command: Command) -> None:
    every = [entry.name for entry in suite.claims()]
    assert [line.split("\t")[0] for line in command("validate --list").splitlines()] == every
    asked = f"validate --list --only {every[3]} --only {every[1]}"
    assert [one["name"] for one in command.json(asked)["claims"]] == [every[1], every[3]]


def test_a_proof_that_is_refused_leaves_the_solution_and_says_why(command, monkeypatch) -> None:
    def refuse(*args: object, **more: object) -> None:
        raise exact.InputError("no proof of these numbers")

    monkeypatch.setattr(problems, "write_proof", refuse)
    command("solve linear:60 --lam 0.1 --out out")
    assert json.loads(Path("out/solution.json").read_text())["proof"] is None
    assert Path("out/weights.csv").exists() and not Path("out/proof.npz").exists()
    assert "no proof of these numbers" in command.notes


PATH_RNG = np.random.default_rng(0)
PATH_Y = PATH_RNG.random(1200) < 0.3
PATH_X = np.round(PATH_RNG.normal(size=(1200, 2)) + 0.8 * PATH_Y[:, None], 2)
LAMS = [0.3, 0.003]
ASKED = f"--lam 0.3 --lam 0.003 {TARGET}"


@pytest.fixture
def table(command: Command) -> Command:
    """The command in a folder with the rows, a query and a time that hardly tell anything."""
    a, b = PATH_X.T
    held = {"a": a, "b": b, "y": PATH_Y.astype(int), "q": np.arange(1200) // 50}
    write("rows.csv", held | {"t": np.round(np.exp(-a), 3)})
    return command


def test_the_path_of_a_file_is_that_of_the_library(table: Command) -> None:
    stated = table.json(f"path rows.csv {ASKED} --cv 3 --seed 4")
    path = regularization_path(PATH_X, PATH_Y, LAMS)
    folds = exact.cross_validated_path(PATH_X, PATH_Y, LAMS, cv=3, seed=4)
    for point, found in zip(stated["path"], path.points, strict=True):
        assert point["primal"] == pytest.approx(found.certificate.primal, rel=1e-12)
        assert point["auc"] == pytest.approx(found.auc)
    np.testing.assert_allclose(stated["cv"]["fold_auc"], folds.fold_auc, atol=1e-12)
    assert stated["cv"]["best"] == folds.lam_of("best")
    assert stated["n_pairs"] == PATH_Y.sum() * (~PATH_Y).sum() and stated["positive"] == 1
    assert stated["complete"] and "lam" not in stated
    lines = table(f"path rows.csv {ASKED} --cv 3 --out out").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["lam", "0.3", "0.003"]
    held: dict[str, Any] = json.loads(Path("out/path.json").read_text())
    assert [point["lam"] for point in held["path"]] == LAMS
    with open("out/path-weights.csv", newline="") as file:
        title, *rows = list(csv.reader(file))
    weights = regularization_path(PATH_X, PATH_Y, LAMS).weights
    assert title == ["lam", "a", "b"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:], weights)
    table("plot out --out path.svg")
    # A kernel's coefficients are not the weights of columns: those of the earlier run go.
    table("path rows.csv --lam 0.3 --target y --columns a,b --tol 1e-2 --kernel rbf --out out")
    assert [file.name for file in Path("out").iterdir()] == ["path.json"]


@pytest.mark.slow
def test_ordered_pairs_have_a_path_and_folds(table: Command) -> None:
    for order in ("--qid q --target y", "--time t --event y"):
        stated = table.json(f"path rows.csv {order} --columns a,b --lam 0.1 --cv 2 --tol 1e-4")
        assert stated["n_pos"] is None and stated["path"][0]["status"] == "certified"
        assert 0.4 < stated["cv"]["mean_auc"][0] <= 1
    assert "The time ran out" in table(f"path rows.csv {ASKED} --max-time 1e-9")


MINE = """
import os
from aucert.exact import solve
print('imported')
def means(X, y, lam):
    return X[y == 1].mean(0) - X[y == 0].mean(0)
def right(X, y, lam):
    print('python')
    os.write(1, b'C')
    return solve(X, y, lam).w
def wrong(X, y, lam):
    return -right(X, y, lam)
"""
BENCH = "bench mine:means --max-time 20"


@pytest.fixture
def solvers(capfd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command next to a module of solvers, in a folder with one table under two forms."""
    monkeypatch.chdir(tmp_path)
    write("mine.py", MINE)
    write("t.csv", "a,b,y\n1,2,0\n3,1,1\n2,2,1\n0,1,0\n1,1,1\n")
    write("u.csv", "y,name,b,a\nno,x,2,1\nyes,x,1,3\nyes,x,2,2\nno,x,1,0\nyes,x,1,1\n")
    return Command(capfd)


@pytest.mark.slow
def test_bench_writes_a_table_a_picture_and_a_document(solvers: Command) -> None:
    out = solvers(f"{BENCH} --data t.csv --lam 0.1 --lam 1 --out b")
    assert out.count("  mine:means  ") == out.count("  aucert  ") == 2
    assert out.count("  mine:means: one point; with an argument") == 2
    held = json.loads(Path("b/bench.json").read_text())
    assert [problem["lam"] for problem in held["bench"]] == [0.1, 1.0]
    ours = [c for problem in held["bench"] for c in problem["curves"] if c["name"] == "aucert"]
    assert all(min(c["relative_gap"]) < 1e-8 for c in ours)
    assert Path("b/bench.txt").read_text() == out and b"<svg" in Path("b/bench.svg").read_bytes()
    solvers("plot b --out again.svg")
    assert Path("again.svg").read_bytes() == Path("b/bench.svg").read_bytes()
    # A file is read as `solve` reads it, and the loss is one of its own.
    files = "u.csv --target y --positive yes --drop name", "t.csv --columns b,a"
    for loss in ("logistic", "smooth_hinge", "exponential"):
        asked = [f"{BENCH} --data {words} --lam 0.1 --loss {loss}" for words in files]
        (first,), (second,) = (solvers.json(words)["bench"] for words in asked)
        assert first["dual"] == second["dual"] and first["d"] == 2 and first["loss"] == loss
        gaps = {curve["name"]: curve["relative_gap"] for curve in first["curves"]}
        assert min(gaps["aucert"]) < 1e-8 and gaps["mine:means"][0] > 0.01


@pytest.mark.slow
def test_a_right_solver_is_status_0_and_a_table_which_the_folder_gets_too(solvers: Command) -> None:
    out = solvers("check-solver mine:right --only ties --only two-rows --out a/b")
    assert solvers.notes == "" and "3 of 3 problems solved within 0.001." in out
    names = ["two-rows:0.1", "two-rows:10", "ties"]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == names
    files = {path.name: path.read_text() for path in Path("a/b").iterdir()}
    assert sorted(files) == ["check-solver.json", "check-solver.txt"]
    assert files["check-solver.txt"] == out
    document = json.loads(files["check-solver.json"])
    assert document["passed"] and document["counts"] == {"pass": 3}
    row = document["problems"][0]
    assert row["lower"] <= row["objective"] <= row["lower"] + row["gap"]
    assert row["verdict"] == "pass" and row["excess"] <= 1e-9


def test_a_wrong_solver_is_status_1_and_json_is_one_document_whatever_it_prints(solvers) -> None:
    words = "check-solver mine:wrong --only ties --only two-rows --json"
    status, out, err = solvers.run(words)
    document = json.loads(out)
    assert (status, err, document["passed"], document["solver"]) == (1, "", False, "mine:wrong")
    assert "the sign is wrong" in str(document["diagnosis"])
    lines = solvers("check-solver --list").splitlines()
    assert [line.split()[0] for line in lines] == [p.name for p in reference_problems()]


@pytest.mark.slow
def test_what_solve_and_certify_wrote_is_drawn(solvers: Command) -> None:
    solvers("solve t.csv --lam 0.1 --out s")
    assert "certainly has" in solvers("certify t.csv --model s/model.npz")
    Path("c.json").write_text(solvers("certify t.csv --model s/model.npz --json"))
    for result, picture in (("s", "s.svg"), ("c.json", "c.png"), ("s/solution.json", "s.pdf")):
        solvers(f"plot {result} --out {picture}")
        assert Path(picture).stat().st_size > 1000
    assert b"<svg" in Path("s.svg").read_bytes() and Path("s.pdf").read_bytes()[:4] == b"%PDF"
