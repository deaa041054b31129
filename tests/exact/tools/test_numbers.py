"""Numbers as parameters, as bounds, as what float64 holds; files written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import Nystrom, RankSVM
from aucert.exact import ROCSVM, AllPairs, PairList, StreamedRows, certify, solve
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem, split_labels
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.tools import rounding
from aucert.exact.tools.arrays import (
    as_float64,
    check_choice,
    check_count,
    check_matrix,
    check_number,
)
from aucert.exact.tools.atomic_files import write_atomically
from aucert.validation.checking.worker import read_weights
from loops import each, refuses
from naive import exact, products, pulled


def test_numbers_of_every_kind_are_taken_and_nothing_else() -> None:
    for value in (1, 0.5, np.float32(0.5), np.int64(2)):
        assert check_number("step", value) == float(value)
    assert check_count("max_iter", np.int32(3)) == 3
    assert check_choice("keep", "best", ("best", "last")) == "best"
    chosen: Any = partial(check_choice, choices=("best", "last"))
    refused: list[tuple[str, Any, tuple[Any, ...]]] = [
        ("step", check_number, (True, "1", None, 1j, [1.0], np.nan, np.inf, 0.0, -1, 10**400)),
        ("max_iter", check_count, (0, 2.0, "3", True, None, 10**30)),
        ("keep", chosen, ("first", None, 1, ["best"])),
    ]
    for name, check, values in refused:
        for bad in values:
            refuses(f"{name} must be", check, name, bad)
    for closed in ("neither", "low", "high", "both"):
        ends = (0, closed in ("low", "both")), (1, closed in ("high", "both"))
        for value, allowed in (*ends, (0.5, True)):
            if allowed:
                assert check_number("beta", value, 0, 1, closed=closed) == value
            else:
                refuses("beta must be", check_number, "beta", value, 0, 1, closed=closed)
    for check in (lambda x: check_number("lam", x), lambda x: Gaussian(x).gamma):
        assert check(10**30) == 1e30


def test_a_printed_bound_stays_a_bound_and_is_off_by_less_than_a_unit() -> None:
    rng = np.random.default_rng(0)
    for digits in (1, 2, 3, 10, 15, 17, 40):
        for value in [*(rng.normal(size=99) * 10.0 ** rng.uniform(-20, 20, size=99)), 1.0, -0.25]:
            low, high = (
                Fraction(rounding.at_least(value, digits)),
                Fraction(rounding.at_most(value, digits)),
            )
            exact = Fraction(float(value))
            assert low <= exact <= high
            assert high - low <= abs(exact) * Fraction(10) ** (1 - digits)


def test_every_float_is_a_whole_number_of_one_unit() -> None:
    few, far = [1.5, -3.0, 0.0, 1e-3], [1e300, -1e-300, 5e-324, 2.0**1000, 0.0]
    for values in (few, far, [0.0, -0.0], [-0.1], [3.0, -12.0, 2.0**53], [*np.linspace(1, 2, 50)]):
        m, e = rounding.whole_numbers_of(np.array(values))
        assert all(type(x) is int for x in m.tolist())
        assert [x * rounding.power_of_two(e) for x in m.tolist()] == [Fraction(x) for x in values]


def test_products_with_a_matrix_lose_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4)) * 10.0 ** rng.integers(-100, 100, size=(6, 4))
    X[rng.uniform(size=X.shape) < 0.4] = 0.0
    w = rng.normal(size=4) * 10.0 ** rng.integers(-60, 60, size=4)
    c = np.array([1, -2, 3, 10**30, 0, 7], dtype=object)
    truth, expected = products(exact(X), exact(w)), pulled(exact(X), c)
    for rows in (rounding.ExactColumns(X), rounding.ExactColumns(sp.csr_matrix(X))):
        scores, e = rows.scores(w)
        assert e <= 0 and [x * rounding.power_of_two(e) for x in scores.tolist()] == truth
        assert [m * rounding.power_of_two(e) for m, e in rows.pull(c)] == expected
        assert rounding.sum_of_squares(rows.pull(c)) == sum(x**2 for x in expected)
        assert rows.ranges() == [(Fraction(min(x)), Fraction(max(x))) for x in X.T]


def test_a_fraction_lies_between_its_neighbours_and_a_root_is_not_below() -> None:
    for value in (Fraction(1, 3), Fraction(-7, 11), Fraction(5, 4), Fraction(0)):
        low, high = rounding.float_below(value), rounding.float_above(value)
        assert Fraction(low) <= value <= Fraction(high) and high <= np.nextafter(low, np.inf)
        assert (low == high) == (Fraction(float(value)) == value)
        below, above = (
            Fraction(rounding.decimal(value, way)) for way in (ROUND_FLOOR, ROUND_CEILING)
        )
        assert below <= value <= above <= below + Fraction(1, 10**24)
    for value in (Fraction(2), Fraction(1, 10**300), Fraction(9, 4), Fraction(0)):
        assert value <= rounding.root_above(value) ** 2 <= value * (1 + Fraction(1, 2**70))


pd = pytest.importorskip("pandas")  # with dask
TOP = 2**53
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)
STAMPS = 1_700_000_000_000_000_000 + RNG.integers(0, 1000, (30, 2))
LONG, ODD = np.full((2, 2), np.longdouble(1) / 3), np.array([5, TOP + 1])
DIGITS = "which float64 would round to 9007199254740992"
LOST: dict[str, tuple[Any, str]] = {
    "int64": (np.array([[0, 1], [2, TOP + 1]]), f"9007199254740993 in row 1, column 1.*{DIGITS}"),
    "int64, the largest": (np.array([[2**63 - 1]]), "9223372036854775807 in row 0"),
    "uint64": (np.array([[2**64 - 1]], dtype=np.uint64), "18446744073709551615 in row 0"),
    "a list with a float": ([[0.5, TOP + 1]], "9007199254740993 in row 0, column 1"),
    "a list of arrays": ([np.array([TOP + 1, 1]), np.array([0.5, 1])], "9007199254740993"),
    "objects": (np.array([[TOP + 1, 0.5]], dtype=object), "9007199254740993 in row 0, column 0"),
    "a decimal": ([[Decimal(TOP + 1)]], "9007199254740993"),
    "a fraction": ([[Fraction(2 * TOP + 3, 2)]], "in row 0, column 0"),
    "text": ([["1", str(TOP + 1)]], "9007199254740993 in row 0, column 1"),
    "too large for float64": ([[10**400]], "must be a matrix of numbers"),
    "a frame": (pd.DataFrame({"a": ODD, "b": [0.5, 1.5]}), "9007199254740993 in row 1, column 0"),
    "a frame of objects": (
        *(pd.DataFrame({"a": [0.5, 1.5], "b": ODD.astype(object)}),),
        "9007199254740993 in row 1, column 1",
    ),
    "the long format": (LONG, "a number of the long format in row 0, column 0"),
    "sparse": (sp.coo_matrix((ODD, ([0, 1], [1, 0]))), "9007199254740993 in row 1, column 0"),
    "masked": (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "masked in row 0, column 1"),
    "complex": (np.ones((2, 2), dtype=complex), "it holds complex ones"),
    "complex in a list": ([[1, 1j]], "it holds complex ones"),
    "times": (np.array([["2020-01-01"]], dtype="M8[ns]"), "not of datetime64"),
    "a record": (np.zeros((2, 2), dtype=[("a", float)]), "must be a matrix of numbers, not of"),
}
LONG_IS_LONG = np.longdouble(1) / 3 != 1 / 3


@each("name", LOST)
def test_what_float64_cannot_hold_is_refused_with_its_place(name: str) -> None:
    if "long format" in name and not LONG_IS_LONG:
        pytest.skip("the long format is float64 here")
    values, words = LOST[name]
    refuses(words, check_matrix, values)


HELD: dict[str, tuple[Any, list[list[float]]]] = {
    "int64": (np.array([[TOP + 2, -TOP]]), [[2.0**53 + 2, -(2.0**53)]]),
    "the lowest int64": (np.array([[-(2**63)]]), [[-(2.0**63)]]),
    "uint64": (np.array([[2**63]], dtype=np.uint64), [[2.0**63]]),
    "a list": ([[TOP + 2, 0.5]], [[2.0**53 + 2, 0.5]]),
    "decimal fractions": ([[Decimal("0.1"), Fraction(1, 3)]], [[0.1, 1 / 3]]),
    "text": ([["0.1", "1e23"]], [[0.1, 1e23]]),
    "the long format": (np.array([[0.5, 1e300]], dtype=np.longdouble), [[0.5, 1e300]]),
    "a frame": (pd.DataFrame({"a": [TOP + 2], "b": [0.5]}), [[2.0**53 + 2, 0.5]]),
    "the other end first": (np.array([[0.1]], dtype=">f8"), [[0.1]]),
}


@each("name", HELD)
def test_what_float64_holds_is_read(name: str) -> None:
    values, wanted = HELD[name]
    found = check_matrix(values)
    assert found.dtype == np.dtype("=f8") and np.array_equal(found, wanted)


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
    "ROCSVM": lambda values: ROCSVM(1e-2).fit(values, Y),
    "RankSVM": lambda values: RankSVM(lam=1e-2).fit(values, Y),
    "Nystrom": lambda values: Nystrom(n_landmarks=3).fit(values),
    "decision_function": lambda values: ROCSVM(1e-2).fit(X, Y).decision_function(values),
    "StreamedRows": StreamedRows,
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
    refuses(words, USES[use], ROWS[words], error=ValueError)


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
    refuses(r"complex|which float64 would round|masked", VECTORS[use], BAD[kind])


def test_a_solver_that_returns_complex_weights_is_in_error() -> None:
    found = read_weights(np.ones(3, dtype=complex), 3)
    assert found["kind"] == "error" and "it holds complex ones" in found["message"]


@each("make", [np.array, list])
def test_labels_beyond_two_to_53_stay_apart(make: Any) -> None:
    labels = make([TOP, TOP + 1, TOP + 1])
    mask, one, zero = split_labels(labels)
    assert (mask.tolist(), one, zero) == ([False, True, True], TOP + 1, TOP)
    for positive in (TOP, float(TOP)):
        mask, one, _ = split_labels(labels, positive)
        assert (mask.tolist(), one) == ([True, False, False], TOP)
    refuses("y holds 9007199254740993 at place 1", split_labels, [TOP, TOP + 1, 0.5])
    masked = np.ma.array(Y, mask=np.arange(30) == 2)
    for call in (split_labels, lambda y: ROCSVM().fit(X, y)):
        refuses("y is masked at place 2", call, masked)


posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and devices of POSIX")


@each("error", [None, RuntimeError("stop"), KeyboardInterrupt("stop"), OSError(28, "No space")])
def test_a_file_is_the_new_one_or_the_old_one(tmp_path, error: BaseException | None) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, lambda file: file.write(b"old"))

    def write(file: BinaryIO) -> None:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        if error is not None:
            raise error

    if error is None:
        write_atomically(path, write)
    elif isinstance(error, OSError):  # a full disk is one sentence
        refuses(r"a\.bin: cannot be written \(No space", write_atomically, path, write)
    else:
        refuses("stop", write_atomically, path, write, error=type(error))
    assert path.read_bytes() == (b"new" if error is None else b"old")
    assert os.listdir(tmp_path) == ["a.bin"]


@posix
def test_permissions_links_and_devices_stay(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "new", lambda file: file.write(b"x"))
    assert mode(tmp_path / "new") == mode(tmp_path / "plain")
    (tmp_path / "new").chmod(0o640)
    (tmp_path / "link").symlink_to("new")
    write_atomically(tmp_path / "link", lambda file: file.write(b"y"))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new").read_bytes() == b"y"
    assert mode(tmp_path / "new") == 0o640
    before = os.stat("/dev/null").st_rdev
    write_atomically("/dev/null", lambda file: file.write(b"x"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_rdev == before


def test_a_folder_or_a_missing_folder_is_refused(tmp_path: Path) -> None:
    refuses("this is a folder", write_atomically, tmp_path, lambda file: None)
    refuses(r"no folder .*gone", write_atomically, tmp_path / "gone" / "a", lambda file: None)


@posix
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        refuses(r"cannot be written \(Permission denied\)", write_atomically, tmp_path / "a", print)
    finally:
        tmp_path.chmod(0o700)
