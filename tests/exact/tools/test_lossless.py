"""What float64 cannot hold is refused, not rounded: a certificate is about the numbers given."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import Nystrom, RankSVM
from aucert.exact import ROCSVM, AllPairs, PairList, StreamedRows, certify, solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem, split_labels
from aucert.exact.tools.lossless import as_float64, check_matrix, loses_digits
from aucert.validation.checking.worker import read_weights
from loops import each

TOP = 2**53
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)
STAMPS = 1_700_000_000_000_000_000 + RNG.integers(0, 1000, (30, 2))


class Frame:
    """A data frame of columns of different types, as pandas shows one."""

    def __init__(self, **columns: Any):
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        self.columns = list(columns)
        self.dtypes = [column.dtype for column in self._columns.values()]
        self.shape = (len(next(iter(self._columns.values()))), len(columns))
        self.ndim, self.iloc = 2, self

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: tuple[slice, int]) -> np.ndarray:
        return self._columns[self.columns[place[1]]]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.column_stack(list(self._columns.values()))


LONG = np.full((2, 2), np.longdouble(1) / 3)
DIGITS = "which float64 would round to 9007199254740992"
LOST: dict[str, tuple[Any, str]] = {
    "int64": (np.array([[0, 1], [2, TOP + 1]]), f"9007199254740993 in row 1, column 1.*{DIGITS}"),
    "int64, the largest": (np.array([[2**63 - 1]]), "9223372036854775807 in row 0"),
    "uint64": (np.array([[2**64 - 1]], dtype=np.uint64), "18446744073709551615 in row 0"),
    "a list with a float": ([[0.5, TOP + 1]], "9007199254740993 in row 0, column 1"),
    "a list of arrays": ([np.array([TOP + 1, 1]), np.array([0.5, 1])], "9007199254740993"),
    "a list of numbers of two kinds": ([[2**63 + 1, -1]], "9223372036854775809"),
    "objects": (np.array([[TOP + 1, 0.5]], dtype=object), "9007199254740993 in row 0, column 0"),
    "a decimal": ([[Decimal(TOP + 1)]], "9007199254740993"),
    "a fraction": ([[Fraction(2 * TOP + 3, 2)]], "in row 0, column 0"),
    "text": ([["1", str(TOP + 1)]], "9007199254740993 in row 0, column 1"),
    "too large for float64": ([[10**400]], "must be a matrix of numbers"),
    "a frame": (Frame(a=[TOP + 1, 2], b=[0.5, 1.5]), "9007199254740993 in row 0, column 0"),
    "a frame of objects": (
        Frame(a=[0.5, 1.5], b=np.array([TOP + 1, 2], dtype=object)),
        "9007199254740993 in row 0, column 1",
    ),
    "the long format": (LONG, "a number of the long format in row 0, column 0"),
    "sparse": (
        sp.coo_matrix((np.array([5, TOP + 1]), ([0, 1], [1, 0]))),
        "9007199254740993 in row 1, column 0",
    ),
    "sparse, the long format": (sp.csr_matrix(LONG), "the long format in row 0, column 0"),
    "masked": (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "masked in row 0, column 1"),
    "a list of masked rows": (
        [[1.0, 2.0], np.ma.array([1.0, 2], mask=[True, False])],
        "masked in row 1",
    ),
    "complex": (np.ones((2, 2), dtype=complex), "it holds complex ones"),
    "complex in a list": ([[1, 1j]], "it holds complex ones"),
    "complex objects": (np.array([[1, np.complex64(1)]], dtype=object), "it holds complex ones"),
    "complex, sparse": (sp.csr_matrix(np.ones((2, 2), dtype=complex)), "it holds complex ones"),
    "times": (np.array([["2020-01-01"]], dtype="M8[ns]"), "not of datetime64"),
    "spans of time": (np.array([[5]], dtype="m8[ns]"), "not of timedelta64"),
    "a record": (np.zeros((2, 2), dtype=[("a", float)]), "must be a matrix of numbers, not of"),
}
LONG_IS_LONG = np.longdouble(1) / 3 != 1 / 3


@each("name", LOST)
def test_what_float64_cannot_hold_is_refused_with_its_place(name: str) -> None:
    if "long format" in name and not LONG_IS_LONG:
        pytest.skip("the long format is float64 here")
    values, words = LOST[name]
    with pytest.raises(InputError, match=words):
        check_matrix(values)


HELD: dict[str, tuple[Any, list[list[float]]]] = {
    "int64": (np.array([[TOP + 2, -TOP]]), [[2.0**53 + 2, -(2.0**53)]]),
    "the lowest int64": (np.array([[-(2**63)]]), [[-(2.0**63)]]),
    "uint64": (np.array([[2**63]], dtype=np.uint64), [[2.0**63]]),
    "a list": ([[TOP + 2, 0.5]], [[2.0**53 + 2, 0.5]]),
    "decimal fractions": ([[Decimal("0.1"), Fraction(1, 3)]], [[0.1, 1 / 3]]),
    "text": ([["0.1", "1e23"]], [[0.1, 1e23]]),
    "the long format": (np.array([[0.5, 1e300]], dtype=np.longdouble), [[0.5, 1e300]]),
    "a frame": (Frame(a=[TOP + 2, 2], b=[0.5, 1.5]), [[2.0**53 + 2, 0.5], [2.0, 1.5]]),
    "nothing masked": (np.ma.array([[1.0, 2.0]], mask=False), [[1.0, 2.0]]),
    "truth values": ([[True, False]], [[1.0, 0.0]]),
    "half precision": (np.array([[0.1]], dtype=np.float16), [[float(np.float16(0.1))]]),
    "the other end first": (np.array([[0.1]], dtype=">f8"), [[0.1]]),
}


@each("name", HELD)
def test_what_float64_holds_is_read(name: str) -> None:
    values, wanted = HELD[name]
    found = check_matrix(values)
    assert found.dtype == np.dtype("=f8")
    assert np.array_equal(found, wanted)


@each("given", [TOP + 1, str(TOP + 1), Decimal(TOP + 1), np.int64(TOP + 1)])
def test_a_number_that_became_another_is_seen(given: Any) -> None:
    assert loses_digits(given, np.float64(2.0**53))
    assert not loses_digits(TOP, np.float64(2.0**53))


def test_float64_is_not_copied_and_a_memory_map_is_read_once(tmp_path: Path) -> None:
    assert as_float64(X, "X") is X
    given = STAMPS * 0 + 1
    given.flags.writeable = False
    check_matrix(given)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r+")
    held = check_matrix(mapped[3:])
    mapped[:] = 0.0
    assert np.array_equal(held, X[3:])


USES = {
    "solve": lambda values: solve(values, Y, 1e-2),
    "solve, rbf": lambda values: solve(values, Y, 1e-2, kernel="rbf"),
    "certify": lambda values: certify(values, Y, w=[0.0, 0.0], lam=1e-2),
    "ROCSVM": lambda values: ROCSVM(1e-2).fit(values, Y),
    "RankSVM": lambda values: RankSVM(lam=1e-2).fit(values, Y),
    "Nystrom": lambda values: Nystrom(n_landmarks=3).fit(values),
    "decision_function": lambda values: ROCSVM(1e-2).fit(X, Y).decision_function(values),
    "StreamedRows": lambda values: StreamedRows(values),
}


MASKED = np.ma.array(X, mask=np.arange(60).reshape(30, 2) == 15)
ROWS = {
    "which float64 would round to": STAMPS,
    "masked in row 7, column 1": MASKED,
    "[Cc]omplex": X.astype(complex),
}


@each("use", USES)
@each("words", ROWS)
def test_rows_that_float64_cannot_hold_are_refused_everywhere(use: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        USES[use](ROWS[words])


BAD = {
    "complex": np.ones(30, dtype=complex),
    "digits": np.full(30, TOP + 1),
    "masked": np.ma.array(np.ones(30), mask=np.arange(30) == 4),
}
VECTORS = {
    "scores": lambda values: certify(X, Y, scores=values, lam=1e-2),
    "sample_weight of solve": lambda values: solve(X, Y, 1e-2, sample_weight=values),
    "sample_weight of fit": lambda values: ROCSVM(1e-2).fit(X, Y, sample_weight=values),
    "weights of all pairs": lambda values: AllPairs(values),
    "weights of a list": lambda values: PairList(np.arange(30), np.arange(30), values),
    "scores of auc": lambda values: auc(values, Y == 1),
    "weights of a model": lambda values: linear_problem(X, Y, 1e-2).check_weights(values[:2]),
    "certified weights": lambda values: certify(X, Y, w=values[3:5], lam=1e-2),
}


@each("kind", BAD)
@each("use", VECTORS)
def test_vectors_that_float64_cannot_hold_are_refused(use: str, kind: str) -> None:
    if kind == "masked" and use == "weights of a model":
        pytest.skip("what is asked for is not masked")
    with pytest.raises(InputError, match=r"complex|which float64 would round|masked"):
        VECTORS[use](BAD[kind])


def test_a_solver_that_returns_complex_weights_is_in_error() -> None:
    assert "it holds complex ones" in read_weights(np.ones(3, dtype=complex), 3)["message"]
    assert read_weights(np.ones(3, dtype=complex), 3)["kind"] == "error"


@each("make", [np.array, list])
def test_labels_beyond_two_to_53_stay_apart(make: Any) -> None:
    labels = make([TOP, TOP + 1, TOP + 1])
    mask, one, zero = split_labels(labels)
    assert (mask.tolist(), one, zero) == ([False, True, True], TOP + 1, TOP)
    for positive in (TOP, float(TOP)):
        mask, one, _ = split_labels(labels, positive)
        assert (mask.tolist(), one) == ([True, False, False], TOP)
    with pytest.raises(InputError, match="y holds 9007199254740993 at place 1"):
        split_labels([TOP, TOP + 1, 0.5])
    masked = np.ma.array(Y, mask=np.arange(30) == 2)
    for call in (split_labels, lambda y: ROCSVM().fit(X, y)):
        with pytest.raises(InputError, match="y is masked at place 2"):
            call(masked)
