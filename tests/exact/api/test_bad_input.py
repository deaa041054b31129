"""Bad input is refused by one clear sentence that names the thing and the place."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
from aucert.exact.api.path import strengthened
from aucert.exact.problem.problem import split_labels
from cutting import cut, cut_groups
from loops import each
from own_parts import Polynomial

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0], [-1.0, 0.0]])
Y = np.array([1, 0, 1, 0])
N = 60
MANY = np.random.default_rng(1).normal(size=(N, 3))
LABEL = (np.arange(N) % 3 == 0).astype(int)
HALF = np.arange(N) < 30
QID, GRADE = np.repeat(np.arange(10), 6), np.tile([0.0, 1.0, 2.0], 20)
TIME, EVENT = np.ceil(9 * np.random.default_rng(2).random(N)), np.arange(N) % 4 > 0
PARTS = ac.PartitionedRows(cut(MANY, LABEL == 1, None, [20]))
GROUPED = ac.GroupedRows(cut_groups(MANY, QID, GRADE, None, [30]))
LONE = ac.GroupedRows(cut_groups(MANY, QID, np.where(QID == 0, GRADE, 1.0), None, [30]))
Refusal = tuple[str, Callable[..., object], dict[str, Any]]


def with_entry(value: float) -> np.ndarray:
    return np.where(np.arange(8).reshape(4, 2) == 5, value, X)


def on_list(i: list[Any], j: list[Any], weight: Any = None) -> object:
    return ac.solve(X, Y, 1.0, pairs=ac.PairList(np.array(i), np.array(j), weight))


small = partial(ac.solve, X=X, y=Y, lam=1.0)
many = partial(ac.solve, X=MANY, y=LABEL, lam=0.1)
graded = partial(ac.solve, X=MANY, y=GRADE, lam=0.1, qid=QID)
timed = partial(ac.solve, X=MANY, y=None, lam=0.1, time=TIME, event=EVENT)
judged = partial(ac.certify, X=MANY, y=LABEL, lam=0.1)
best = partial(ac.best_subset, X=X, y=Y, k=1)
on_path = partial(ac.regularization_path, X=MANY, y=LABEL, lams=(0.1,))
in_folds = partial(ac.cross_validated_path, X=MANY, y=LABEL, lams=(0.1,), cv=3)
in_parts = partial(in_folds, X=PARTS, y=None)


def fitted(model: Any, X: Any = MANY, y: Any = LABEL, *more: Any, **asked: Any) -> object:
    return model.fit(X, y, *more, **asked)


W = [1.0, 0.0, 0.0]
RIVAL = {"w": W, "lam": None, "rival": "dlib", "C": 1.0}
SIGNED = np.where(EVENT, TIME, -TIME)
NO_RATES, NONE, ALL = (True, "0.1", np.True_, None), np.arange(0), np.arange(N)
NO_KERNELS = (None, 3, Polynomial, SimpleNamespace(noise=abs))


def refusals() -> Iterator[Refusal]:
    def of(call: Callable[..., object], *cases: tuple[str, dict[str, Any]]) -> Iterator[Refusal]:
        yield from ((message, call, words) for message, words in cases)

    holed = with_entry(np.nan)
    matrices = {
        "row 2, column 1": (holed, with_entry(np.inf), sp.csr_matrix(holed)),
        "X must be a matrix": ([["a"]] * 4, [[1.0, 2.0], [1.0]], X[:, 0], X[:, :, None], X + 1j),
        "X is empty": (np.zeros((0, 2)), np.zeros((4, 0))),
        "X": (None, X * 1e200, np.zeros((4, 2), dtype=[("a", float), ("b", float)])),
        "squares": ([[-1.7e308], [1.7e308], [1e308], [-5e307]],),
        "3 rows, but labels of shape": (X[:3],),
    }
    yield from ((m, small, {"X": one}) for m, some in matrices.items() for one in some)
    labels = {
        "two classes, it has 1": [1, 1, 1, 1],
        "0, 1, 2": [0, 1, 2, 0],
        "label of row 2": [0, 1, np.nan, 0],
        "two classes, it has 0$": [],
        "two classes, it has more than 6: 0, 1, 2, 3, 4, 5, ...": list(range(10)),
        "one label per row": np.zeros((4, 1)),
        "label of row 2 is missing": np.array(["a", "b", None, "a"], dtype=object),
        "mixed types": np.array([0, "a", None, 0], dtype=object),
        "y must have one label per row": None,
        "list of lists": [[0, 1], [2], [0], [0]],
    }
    yield from ((message, small, {"y": one}) for message, one in labels.items())
    one_by_one = "lam=0 lam=-1.0 lam=1e999 lam='1' lam=None lam=True lam=1j tol=0.0 tol=-1e-9"
    one_by_one += " tol=None tol='small' max_time=0 max_time='1s' method='magic' method=None"
    one_by_one += " loss='cubic' loss=None callback='show' pairs='all' positive=7 l1=-1.0"
    of_subset = "callback=3 k=0 ridge=-1.0 tol=0.0 max_time=0.0 method='fast'"
    for call, words in ((small, one_by_one), (best, of_subset)):
        for word in words.split():
            name, _, value = word.partition("=")
            yield rf"\b{name}\b", call, {name: literal_eval(value)}
    yield from of(
        small,
        *((f"{name} .* finite", {name: np.nan}) for name in ("lam", "tol", "max_time")),
        ("descent", {"method": "quasi-newton"}),
        ("cutting planes solve the hinge", {"method": "cutting-plane", "loss": "square"}),
        ("not both", {"pairs": ac.AllPairs(), "sample_weight": np.ones(4)}),
        ("weight of row 2 is -1", {"sample_weight": [1, 1, -1, 1]}),
        ("weight of row 2 is nan", {"sample_weight": [1, 1, np.nan, 1]}),
        ("weight of row 1 is inf", {"sample_weight": [1, np.inf, 1, 1]}),
        ("weight has 3 rows", {"sample_weight": [1, 1, 1]}),
        ("one number per row", {"sample_weight": np.ones((4, 1))}),
        ("weight", {"sample_weight": ["a"] * 4}),
        ("each class needs a row", {"sample_weight": [0, 1, 0, 1]}),
        *(("unknown kernel", {"kernel": k}) for k in NO_KERNELS),
        ("gamma is for", {"kernel": Polynomial(), "gamma": 0.1}),
        ("lam must be", {"lam": None, "l1": 0.0}),
        ("linear kernel", {"l1": 0.1, "kernel": "rbf"}),
        ("square", {"kernel": "precomputed"}),
        ("rows", {"X": np.eye(3), "kernel": "precomputed"}),
        ("kernel must be", {"kernel": "poly"}),
        ("no structure", {"l1": 0.1, "structure": 1.0}),
        ("2 features", {"l1": 0.1, "groups": [0, 1, 1]}),
        ("2 features", {"sign": [7]}),
        ("either a penalty", {"penalty": ac.ElasticNet(0.1, 0.1)}),
        ("ridge", {"l1": 0.1, "method": "qp"}),
        ("list of lists", {"l1": 0.1, "groups": [[0, 1], [2]]}),
    )  # fmt: skip
    lists: list[tuple[str, tuple[Any, ...]]] = [
        (r"rows outside 0 \.\. 3", ([0, 2], [1, 4])),
        (r"pair 1 = \(1, 3\)", ([0, 1], [1, 3])),
        *(("one length > 0", pair) for pair in (([], []), ([0, 2], [1]), ([[0]], [[1]]))),
        ("whole numbers", ([0.5], [1.0])),
        ("2 pairs, but weights of shape", ([0, 2], [1, 3], [1.0])),
        ("finite, >= 0", ([0, 2], [1, 3], [1.0, np.nan])),
        ("not all zero", ([0, 2], [1, 3], [0.0, 0.0])),
        ("weights", ([0, 2], [1, 3], ["a", "b"])),
    ]
    for message, (i, j, *weight) in lists:
        yield message, on_list, {"i": i, "j": j, "weight": weight[0] if weight else None}
    far = np.full((4, 2), 1e200) * np.array([1, -1, 1, -1])[:, None]
    yield from of(
        ac.StreamedRows,
        *(("row 2, column 1", {"source": with_entry(bad)}) for bad in (np.nan, np.inf)),
        ("overflow", {"source": far}),
        ("non-empty matrix", {"source": np.ones(3)}),
        ("matrix of numbers", {"source": np.array([["a", "b"], ["c", "d"]])}),
    )
    yield from of(  # `test_cases_gram_and_proof` has matrices that are nearly semidefinite
        ac.Gram,
        ("K must be square", {"K": np.ones((2, 3))}),
        ("row 0, column 1", {"K": np.array([[1.0, np.nan], [np.nan, 1.0]])}),
        ("K is empty", {"K": np.zeros((0, 0))}),
    )
    yield from of(
        many,  # partial AUC and groups
        ("never grows", {"loss": "square", "fpr_max": 0.5}),
        ("structure", {"structure": 1.0, "fpr_max": 0.5}),
        ("without weights", {"sample_weight": np.ones(N), "fpr_max": 0.5}),
        ("fpr_max", {"fpr_max": 0.0}),
        *((name, {name: rate}) for name in ("fpr_max", "tpr_min") for rate in NO_RATES),
        ("but worst_of of shape", {"worst_of": HALF[:-1]}),
        ("label per row", {"worst_of": HALF[:, None]}),
        ("no two rows of group True", {"worst_of": np.arange(N) == 0}),
        ("worst_of cannot be combined with", {"worst_of": HALF, "fpr_max": 0.5}),
        ("makes the pairs", {"worst_of": HALF, "pairs": ac.PairList(np.array([0]), np.array([2]))}),
        ("means or partial AUC", {"worst_of": HALF, "method": "descent"}),
    )
    yield from of(
        graded,
        ("3 kinds of rows", {"structure": 1.0}),
        ("partial AUC is over all pairs", {"fpr_max": 0.5}),
        ("leave positive out", {"positive": 1}),
        ("leave pairs out", {"pairs": ac.PairList(np.array([0]), np.array([1]))}),
        ("leave y None", {"qid": None, "pairs": ac.query_pairs(QID, GRADE)}),
        ("two classes", {"method": "closed-form"}),
        ("sample_weight", {"sample_weight": np.ones(3)}),
        ("event needs time", {"event": np.ones(N)}),
        ("groups of shape", {"qid": np.arange(3)}),
        ("pair", {"qid": np.arange(N)}),
        ("group of row 0", {"qid": np.full(N, np.nan)}),
        ("list of lists", {"qid": [[0, 1], [2]]}),
    )
    yield from of(
        timed,
        ("time of row 0", {"time": np.full(N, np.nan)}),
        ("sign", {"time": SIGNED, "event": None}),
        ("3 times, but events", {"time": np.ones(3)}),
        ("pair", {"time": np.ones(N), "event": np.ones(N)}),
        ("0 or 1", {"event": np.full(N, 2)}),
        ("pair", {"event": np.zeros(N)}),
        ("leave y and qid None", {"qid": np.ones(N)}),
        ("3 rows", {"X": np.ones((3, 2))}),
        ("no share", {"time": None, "event": None, "worst_of": HALF,
                      "pairs": ac.query_pairs(QID, GRADE, share="equal")}),
    )  # fmt: skip
    yield from of(
        judged,
        ("either weights", {}),
        ("either weights", {"w": W, "scores": np.zeros(N)}),
        ("3 coordinates", {"w": [1.0, 2.0]}),
        ("weight 1 is nan", {"w": [1.0, np.nan, 0.0]}),
        ("must be numbers", {"w": ["a", "b", "c"]}),
        ("60 rows", {"scores": np.zeros(7)}),
        ("score of row 0", {"scores": np.full(N, np.inf)}),
        ("needs scores", {"w": W, "norm2": 1.0}),
        ("norm2", {"scores": np.zeros(N), "norm2": -1.0}),
        ("impossible", {"scores": MANY @ np.ones(3), "norm2": 0.5}),
        (r"give w=model\.coef_", {"w": ac.ROCSVM()}),
        ("give lam, or rival with C", {"w": W, "lam": None}),
        ("give lam, or rival with C", RIVAL | {"C": None}),
        ("not both", RIVAL | {"lam": 0.1}),
        ("dlib has the loss", RIVAL | {"loss": "square"}),
        ("ridge", {"scores": MANY[:, 0], "l1": 0.1}),
        ("give the weights", {"scores": MANY[:, 0], "fpr_max": 0.5}),
        ("no rival", RIVAL | {"fpr_max": 0.5}),
        ("needs weights and lam", {"scores": MANY[:, 0], "worst_of": HALF}),
    )  # fmt: skip
    yield from of(
        on_path,
        ("lams is empty", {"lams": []}),
        ("lam must be > 0", {"lams": [1.0, -1.0]}),
        ("lams must be numbers", {"lams": ["x"]}),
        ("n_lams must be", {"lams": None, "n_lams": 0}),
        ("both", {"sample_weight": np.ones(N), "pairs": ac.PairList(np.array([0]), np.array([1]))}),
        ("l1_ratio > 0", {"groups": [0, 0, 1]}),
        ("nonnegative", {"sign": "positive"}),
        ("solved by descent", {"X": PARTS, "y": None, "method": "qp"}),
        ("with the ridge", {"X": PARTS, "y": None, "l1_ratio": 0.5}),
        ("at least one lam", {"X": PARTS, "y": None, "lams": []}),
    )
    yield from of(
        in_folds,
        ("whole number", {"cv": True}),
        ("cv must be a number of folds", {"cv": 2.5}),
        *(("fold 0", more | {"cv": [fold, (ALL[:30], ALL[30:])]})
          for fold in ((ALL, NONE), (NONE, ALL)) for more in ({}, {"y": GRADE, "qid": QID})),
        ("at least two folds", {"cv": [(np.flatnonzero(HALF), np.flatnonzero(~HALF))]}),
        ("rows of one class", {"cv": [(np.flatnonzero(LABEL), np.flatnonzero(1 - LABEL))] * 2}),
        ("rows of one class", {"sample_weight": 1.0 - LABEL}),
        ("60 rows, but 59 labels", {"y": LABEL[:-1]}),
        ("two", {"y": GRADE, "qid": QID, "positive": 2}),
        ("of shape", {"y": GRADE[:-1], "qid": QID}),
        ("10 queries: use at most 10", {"y": GRADE, "qid": QID, "cv": 11}),
        ("splits", {"y": GRADE, "qid": QID, "cv": [(np.arange(33), np.arange(33, N))] * 2}),
        ("rows of different grades", {"y": GRADE, "qid": np.arange(N)}),
        ("qid makes the pairs", {"qid": QID, "pairs": lambda *rows: None}),
        ("kinds of rows", {"y": GRADE, "qid": QID, "structure": 1.0}),
        ("event needs time", {"y": None, "event": EVENT}),
        ("leave y and qid", {"y": GRADE, "time": TIME, "event": EVENT}),
        ("cv must be", {"y": None, "time": TIME, "event": EVENT, "cv": "five"}),
        ("event", {"y": None, "time": TIME[:-1], "event": EVENT}),
        ("no row has an event", {"y": None, "time": np.ones(N), "event": TIME > 0, "cv": 4}),
        ("no two folds", {"y": None, "time": TIME, "event": np.arange(N) < 1}),
    )  # fmt: skip
    yield from of(
        in_parts,
        ("take a number of folds", {"cv": [(np.arange(5), np.arange(5, 9))]}),
        ("cv", {"cv": 1}),
        ("take a sample of the rows", {"kernel": "rbf"}),
        ("use fewer folds", {"cv": 21}),
        ("use at most 10 folds", {"X": GROUPED, "cv": 11}),
        ("leave qid, time, event out", {"X": GROUPED, "qid": QID}),
        ("use fewer folds", {"X": LONE}),
    )
    yield from of(
        fitted,
        ("n_jobs must be", {"model": ac.ROCSVMCV(n_jobs=1.5)}),  # type: ignore[arg-type]
        ("qid makes the pairs", {"model": ac.ROCSVM(0.1, pairs="nearest:2"), "qid": QID}),
        ("qid makes the pairs", {"model": ac.ROCSVMCV([0.1], pairs="nearest:2"), "qid": QID}),
        ("Only binary classification", {"model": ac.ROCSVM(), "y": np.arange(N) % 3}),
        ("one class only", {"model": ac.ROCSVM(), "y": np.ones(N)}),
        (r"one class only.*positive weight", {"model": ac.ROCSVM(), "sample_weight": LABEL}),
        ("zero in every row", {"model": ac.ROCSVM(), "sample_weight": np.zeros(N)}),
        ("qid", {"model": ac.ROCSVM(0.1), "qid": np.arange(N - 1)}),
    )
    two_fields = np.zeros(N, dtype=[("a", float), ("b", float)])
    yield from of(
        lambda model=ac.SurvivalSVM(), y=TIME, event=None: fitted(model, MANY, y, event),  # noqa: B008
        ("rows", {"y": TIME[1:]}),
        ("sign", {"y": SIGNED}),
        ("truth values", {"y": two_fields}),
        ("l1_ratio > 0", {"model": ac.SurvivalSVMCV(groups=[0, 0, 1]), "event": EVENT}),
        ("l1_ratio", {"model": ac.SurvivalSVMCV(l1_ratio=2.0), "event": EVENT}),
        ("requires y", {"model": ac.SurvivalSVMCV(), "y": None}),
    )
    yield "give qid", ac.ordered_problem, {"X": MANY, "y": TIME, "lam": 1.0}
    yield from of(
        best,
        ("w0", {"w0": np.ones(3)}),
        ("nonzeros", {"w0": np.ones(2)}),
        ("classes", {"y": np.zeros(4)}),
        ("3 labels for 4 rows", {"y": Y[:3]}),
        ("finite", {"X": holed}),
    )
    yield "form must be", ac.AllPairs, {"form": "fortran"}
    yield "penalties of this library", strengthened, {"penalty": object(), "strength": 1.0}
    for mask in ([1, 0, 1, 0], [True, False], [True] * 4, [False] * 4):
        of_mask = {"positive": np.array(mask), "pairs": ac.AllPairs(), "loss": ac.HINGE}
        words = {"space": ac.Rows(X), "penalty": ac.Ridge(1.0)} | of_mask
        yield "positive|labels|negative", ac.pair_problem, words


@each("door", [ac.solve, ac.certify, ac.regularization_path, ac.cross_validated_path])
@each("name", ["foo", "as_they_are", "asked"])
def test_an_unknown_word_is_refused_in_the_name_of_what_was_called(door: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{door.__name__}\(\) got an unexpected .* '{name}'"):
        door(X, Y, 0.1, **{name: 1})


@each(("message", "call", "words"), refusals(), ids=lambda case: f"{case[0]}: {[*case[2]]}")
def test_it_is_refused_in_one_sentence(message: str, call: Any, words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        call(**words)
    assert "\n" not in str(refused.value)


@each("kind", [list, lambda y: np.array(y, object), np.array, lambda y: np.equal(y, "b"), None])
def test_labels_of_every_type_are_taken(kind: Any) -> None:
    labels = kind(["b", "a", "b", "a"]) if kind else np.array([2.0, -1.0, 2.0, -1.0])
    mask, chosen, other = split_labels(labels)
    assert mask.tolist() == [True, False, True, False]
    assert chosen == np.asarray(labels)[0] and other == np.asarray(labels)[1]


@each("loss", ["squared_hinge", "square"])
@each("pairs", [None, ac.PairList(np.array([0, 0]), np.array([1, 2]))])
def test_scores_whose_squares_overflow_are_refused(loss: str, pairs: ac.PairList | None) -> None:
    X, y = np.array([[1e100, 0.0], [0.0, 1.0], [1.0, 1.0]]), [1, 0, 0]
    with pytest.raises(ac.InputError, match="a score is larger"):
        ac.certify(X, y, 1.0, w=np.array([1e100, 0.0]), loss=loss, pairs=pairs)
    with pytest.raises(ac.InputError, match="a score is larger"):
        ac.certify(np.eye(3), y, 1.0, scores=np.array([1e300, 0.0, 1.0]), loss=loss, pairs=pairs)
