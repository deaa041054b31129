"""Files and other people's formats: what is ambiguous is refused, and what is meant is read."""

import inspect
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import aucert.approx
import aucert.exact
from aucert.exact import ROCSVM, certify, solve, uno_concordance
from command import Command
from loops import each, first_fast, refuses

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def write_csv(path: str, rows: np.ndarray, header: str = "") -> None:
    lines = [header] if header else []
    lines += [",".join(map(str, row)) for row in rows.tolist()]
    Path(path).write_text("\n".join(lines) + "\n")


PUBLIC = [getattr(room, name) for room in (aucert.exact, aucert.approx) for name in room.__all__]
ESTIMATORS = [one for one in PUBLIC if inspect.isclass(one) and issubclass(one, BaseEstimator)]


@pytest.mark.filterwarnings("ignore")
@each("kind", first_fast(sorted(ESTIMATORS, key=lambda one: one is not ROCSVM)))
def test_an_estimator_takes_a_table_of_pyarrow(kind: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: X[:, k] for k, name in enumerate("abc")})
    model = kind()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    y = X[:, 0] ** 2 if "Survival" in kind.__name__ else Y
    score = next(n for n in ("decision_function", "transform", "predict") if hasattr(kind, n))
    wanted = getattr(model.fit(X, y), score)(X)
    for given in (table, table.to_batches()[0]):
        assert np.array_equal(getattr(model.fit(given, y), score)(given), wanted)


def test_columns_of_pyarrow_have_names_of_their_own() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: X[:, k] for k, name in enumerate("abc")})
    assert list(ROCSVM().fit(table, Y).feature_names_in_) == ["a", "b", "c"]
    w = solve(table, Y, 1e-2).w
    named = {"c": w[2], "a": w[0], "b": w[1]}
    assert certify(table, Y, 1e-2, w=named).status == "certified"
    refuses("two columns", ROCSVM().fit, pa.table([X[:, 0], X[:, 1]], names=["a", "a"]), Y)


def test_uno_is_refused_where_the_censoring_is_not_known() -> None:
    train = np.array([2.0, 4, 6, 8, 10, 11, 15, 19]), np.array([0, 1, 0, 1, 0, 0, 0, 1])
    time, event = np.array([1.0, 23, 5, 27, 12, 40]), np.array([1, 1, 0, 1, 1, 0])
    risk = np.array([5.0, 13, 11, 9, 4, 2])
    for tau in (None, 30.0):
        refuses("tau up to 19", uno_concordance, time, event, risk, tau=tau, train=train)
    assert 0 < uno_concordance(time, event, risk, tau=19, train=train).value < 1
    event[[1, 3]] = 0  # censored beyond it: no G is asked for
    assert 0 < uno_concordance(time, event, risk, train=train).value < 1


def test_events_are_read_as_labels_are(command: Command) -> None:
    time, primal = 1 + X[:, 0] ** 2, set()
    for yes, no in (("TRUE", "FALSE"), ("true", "false"), ("yes", "no"), ("Yes", "No"), (1, 0)):
        event = np.where(Y, str(yes), str(no))
        write_csv("t.csv", np.c_[X[:, :2].astype(object), time, event], "a,b,time,event")
        asked = ("solve", "t.csv", "--lam", 0.01, "--time", "time", "--event", "event")
        primal.add(command.json(*asked)["primal"])
    assert len(primal) == 1
    bad = (("yes", "inf", "'inf'"), ("2", "1", "must be 0 or 1"), ("?", "1", "missing"))
    for event, time, words in bad:
        Path("t.csv").write_text(f"a,time,event\n1,2,1\n2,3,0\n3,{time},{event}\n")
        assert words in command.refused(*asked)
    Path("t.csv").write_text("a,time,event\n1,2,yes\n2,3,0\n3,4,1\n")  # as features are
    assert command.json(*asked)["n"] == 3


def write_svmlight(path: str, rows: np.ndarray, base: int, qid: bool = False) -> None:
    words = [
        f"{y} {f'qid:{k // 6} ' if qid else ''}"
        + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, start=base) if v)
        for k, (row, y) in enumerate(zip(rows.tolist(), Y.tolist(), strict=False))
    ]
    Path(path).write_text("\n".join(words) + "\n")


SPARSE = np.where(np.arange(60)[:, None] < [10, 0, 0], 0.0, X)  # ten rows lack the first feature


def test_the_base_of_a_file_is_that_of_the_model(command: Command) -> None:
    for base in (0, 1):
        for name, rows in {"train": SPARSE, "new": SPARSE[:10], "short": SPARSE[:10, :2]}.items():
            write_svmlight(f"{name}.svm", rows, base)
        for more in ((), ("--standardise",), ("--zero-based", "no" if base else "yes")):
            command("solve", "train.svm", "--lam", 0.01, "--out", "m", *more)
            scores = command("predict", "m/model.npz", "train.svm").splitlines()
            assert command("predict", "m/model.npz", "new.svm").splitlines() == scores[:11]
            assert len(command("predict", "m/model.npz", "short.svm").splitlines()) == 11
            asked = ("certify", "train.svm", "--model", "m/model.npz", "--lam", 0.01)
            assert command.json(*asked)["status"] == "certified"
    write_svmlight("train.svm", SPARSE, 0)  # the model counts from 1 now
    assert "index 0" in command.refused("predict", "m/model.npz", "train.svm")
    stated = ("--zero-based", "yes")
    assert command("predict", "m/model.npz", "train.svm", *stated).splitlines() == scores
    write_svmlight("train.svm", SPARSE, 0, qid=True)
    write_svmlight("new.svm", SPARSE[:10], 0)
    command("solve", "train.svm", "--lam", 0.01, "--qid", "qid", "--out", "m")
    write_svmlight("train.svm", SPARSE, 0)
    scores = command("predict", "m/model.npz", "train.svm").splitlines()
    assert command("predict", "m/model.npz", "new.svm").splitlines() == scores[:11]


def same(one: str, other: str) -> bool:
    """Whether two answers of `predict` agree but for the rounding of their scores."""
    read = [np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1) for text in (one, other)]
    return np.allclose(*read, rtol=1e-9, atol=1e-12)


def test_a_narrow_file_that_may_count_either_way_is_refused(command: Command) -> None:
    write_csv("train.csv", np.c_[SPARSE, Y], "a,b,c,y")
    command("solve", "train.csv", "--lam", 0.01, "--out", "m")
    write_csv("new.csv", SPARSE[:10], "a,b,c")
    scores = command("predict", "m/model.npz", "new.csv")
    write_svmlight("new.svm", SPARSE[:10], 0)  # indices 1 and 2
    assert "--zero-based" in command.refused("predict", "m/model.npz", "new.svm")
    assert same(command("predict", "m/model.npz", "new.svm", "--zero-based", "yes"), scores)
    write_svmlight("new.svm", SPARSE[:10], 1)  # indices 2 and 3: a fourth feature else
    assert same(command("predict", "m/model.npz", "new.svm"), scores)
    assert "svmlight" in command.refused("predict", "m/model.npz", "new.csv", "--zero-based", "yes")


def test_weights_wider_than_a_file_that_may_count_either_way_are_refused(command: Command) -> None:
    rows = np.c_[np.zeros(60), X[:, :2]]
    write_svmlight("data.svm", rows, 0)
    w = np.array([0.0, *solve(X[:, :2], Y, 0.01).w])
    np.save("w.npy", w)
    asked = ("certify", "data.svm", "--weights", "w.npy", "--lam", 0.01)
    assert "--zero-based" in command.refused(*asked)
    assert command.json(*asked, "--zero-based", "yes")["status"] == "certified"
    audit = command.json(*asked, "--zero-based", "no")
    assert audit["relative_gap"] > 0.1 and "intercept" in audit["statement"]
    np.save("w.npy", w[1:])
    assert command.json(*asked)["status"] == "certified"


def liblinear(labels: str, w: np.ndarray) -> str:
    head = f"solver_type L2R_L2LOSS_SVC\nnr_class 2\n{labels}nr_feature 3\nbias -1\nw\n"
    return head + "".join(f"{v:.17g} \n" for v in w)


SVM_LIGHT = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
3 # highest feature index
60 # number of training documents
2 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 """


def test_the_first_label_of_liblinear_is_scored_high(command: Command) -> None:
    write_csv("data.csv", np.c_[X, Y], "a,b,c,y")
    w = solve(X, Y, 0.01, loss="squared_hinge").w
    asked = ("certify", "data.csv", "--weights", "m", "--lam", 0.01, "--loss", "squared_hinge")
    for labels, sign in (("label 1 0\n", 1), ("label 0 1\n", -1), ("label -1 1\n", -1)):
        Path("m").write_text(liblinear(labels, sign * w))
        assert command.json(*asked)["status"] == "certified", labels
        assert command.json(*asked, "--positive", "1")["status"] == "certified"
        if "-1" not in labels:  # the model is the same, and the other class meant
            assert command.json(*asked, "--positive", "0")["status"] == "certified"
    for labels in ("label 1 2\n", "label 3 4\n", "", "label 1\n", "label a b\n"):
        Path("m").write_text(liblinear(labels, w))
        command.refused(*asked)
    write_csv("data.csv", np.c_[X.astype(object), np.where(Y, "ill", "well")], "a,b,c,y")
    Path("m").write_text(liblinear("label 1 0\n", w))
    assert "label" in command.refused(*asked, "--positive", "ill")


def test_other_formats_score_the_larger_label_high(command: Command) -> None:
    write_csv("data.csv", np.c_[X, Y], "a,b,c,y")
    w = solve(X, Y, 0.01).w
    line = " ".join(f"{k}:{v!r}" for k, v in enumerate(w.tolist(), 1))
    Path("svm").write_text(f"{SVM_LIGHT}{line}\n")
    model = {"gradient_booster": {"name": "gblinear", "model": {"weights": [*w, 0.0]}}}
    Path("m.json").write_text(json.dumps({"learner": model}))
    for name in ("svm", "m.json"):
        for positive in ("1", "0"):
            asked = ("certify", "data.csv", "--weights", name, "--lam", 0.01)
            assert command.json(*asked, "--positive", positive)["status"] == "certified"


def test_a_predicted_time_is_the_opposite_of_a_risk(command: Command) -> None:
    time = 1 + X[:, 0] ** 2
    write_csv("t.csv", np.c_[X, time, Y], "a,b,c,time,event")
    w = solve(X, None, 0.01, time=time, event=Y).w
    for objective, sign in (("survival:cox", 1), ("survival:aft", -1)):
        booster = {"name": "gblinear", "model": {"weights": [*(sign * w), 0.0]}}
        learner = {"gradient_booster": booster, "objective": {"name": objective}}
        Path("m.json").write_text(json.dumps({"learner": learner}))
        asked = ("certify", "t.csv", "--weights", "m.json", "--time", "time", "--event", "event")
        assert command.json(*asked, "--lam", 0.01)["status"] == "certified"


def test_a_header_of_places_is_a_header(command: Command) -> None:
    write_csv("train.csv", np.c_[X, Y], "a,b,c,y")
    command("solve", "train.csv", "--lam", 0.01, "--out", "m")
    write_csv("new.csv", X, "0,1,2")
    assert command.refused("predict", "m/model.npz", "new.csv")  # a, b and c are not there
    write_csv("train.csv", np.c_[X, Y], "0,1,2,3")
    command("solve", "train.csv", "--lam", 0.01, "--out", "m")
    assert command.json("predict", "m/model.npz", "new.csv")["n"] == 60
    for header in ("", "0,1,2,3"):
        write_csv("t.csv", np.c_[X.astype(object), Y], header)
        assert command.json("solve", "t.csv", "--lam", 0.01)["n"] == 60
        assert command.json("path", "t.csv", "--lam", 0.01)["n"] == 60
    assert command.json("solve", "t.csv", "--lam", 0.01, "--header", "yes")["n"] == 60
    asked = ("path", "t.csv", "--lam", 0.01, "--header", "no", "--positive", 1)
    assert command.json(*asked)["n"] == 61
    assert "header" in command.refused("solve", "wdbc", "--lam", 0.01, "--header", "yes")
    qid, grade = np.arange(60) // 6, RNG.integers(0, 4, 60)
    rough = ("--lam", 0.01, "--tol", 1e-2)
    write_csv("q.csv", np.c_[X, qid, grade], "0,1,2,3,4")
    found = command.json("solve", "q.csv", *rough, "--qid", 3, "--target", 4)
    assert found["n"] == 60
    assert found["primal"] == solve(X, grade, 1e-2, qid=qid, tol=1e-2).certificate.primal
    assert "'5'" in command.refused("solve", "q.csv", *rough, "--qid", 4, "--target", 5)
    words = np.char.add("q", qid.astype(str)).astype(object)
    write_csv("w.csv", np.c_[X[:, :2].astype(object), words, grade], "0,1,2,3")
    assert command.json("solve", "w.csv", *rough, "--qid", 2)["n"] == 60
    write_csv("g.csv", np.c_[X, qid % 2, Y], "0,1,2,3,4")
    assert command.json("solve", "g.csv", *rough, "--worst-of", 3)["n"] == 60
    write_csv("t.csv", np.c_[Y, 1 - Y], "0,1")
    assert "--header" in command.refused("solve", "t.csv", "--lam", 0.01)
    assert command.json("solve", "t.csv", "--lam", 0.01, "--header", "yes")["n"] == 60
    assert command.json("solve", "t.csv", "--lam", 0.01, "--header", "no")["n"] == 61


def test_weights_below_a_header_of_places(command: Command) -> None:
    write_csv("train.csv", np.c_[X, Y], "a,b,c,y")
    w = solve(X, Y, 0.01).w
    asked = ("certify", "train.csv", "--lam", 0.01, "--weights", "w.csv")
    column = "\n".join(map(repr, w.tolist())) + "\n"
    for text in ("0\n" + column, "0\n" + column + "7\n", "0,1,2\n" + column.replace("\n", ",")):
        Path("w.csv").write_text(text)
        assert command.json(*asked)["status"] == "certified", text
    Path("w.csv").write_text("0\n" + column)
    assert command.json(*asked)["status"] == "certified" and "0.0" in command.notes
    Path("w.csv").write_text("0.0\n" + column)
    assert command.json(*asked)["relative_gap"] > 0.1  # (0, w1, w2), and w3 as an intercept
    np.savez("train.npz", X=X, y=Y)
    Path("w.csv").write_text("0\n" + column)
    stated = ("certify", "train.npz", *asked[2:])
    assert command.json(*stated, "--header", "no")["relative_gap"] > 0.1
    assert command.json(*stated, "--header", "yes")["status"] == "certified"
    Path("w.csv").write_text("0\n1\n2\n")  # three weights of three features
    assert command.json(*asked)["relative_gap"] > 0.1
    scores = "\n".join(map(repr, (X @ w).tolist())) + "\n"
    Path("s.csv").write_text("0\n" + scores)
    audit = command.json("certify", "train.csv", "--lam", 0.01, "--scores", "s.csv")
    assert audit["n"] == 60 and audit["auc"] > 0.9
