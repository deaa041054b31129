"""Proof files: what is written, what is refused, and that the checker verifies it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import OrderedPairs, query_pairs, uno_pairs
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.minorant import Weights
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.problem.risk import Mean
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof, write_proof_of
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(11)
Y = np.arange(400) % 4 == 0
X = RNG.normal(size=(400, 3)) + 0.6 * Y[:, None] + 20.0
R = RNG.integers(0, 4, 400)
LAM = 0.01


def fields(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return dict(file)


def verified(path: Path, X: np.ndarray, y: np.ndarray, r: np.ndarray | None = None) -> str:
    return check_proof.check(fields(path), X, y, np.ones(len(y)) if r is None else r)


def binned(problem: Problem, w: np.ndarray, bins: int = 2**14, half: int = 30) -> Solution:
    """A solution as a streaming solver returns it: its witness is what regenerates it."""
    witness = problem.risk.minorant(Weights(w, bins, half, 0.999))
    certificate = Certificate.of(problem, w, witness)
    return Solution(w, witness, certificate, Status.CERTIFIED, 1, 0.0)


@each("r", [None, R], ids=["all once", "repetitions"])
@each("method", ["auto", "cutting-plane"])
def test_claims_are_wider_than_what_holds(method: str, r: np.ndarray | None, tmp_path) -> None:
    solution = solve(X, Y, LAM, sample_weight=r, method=method)
    proof = write_proof(tmp_path / "p.npz", X, Y, LAM, solution, sample_weight=r)
    assert proof.kind == "marginals"
    assert verified(tmp_path / "p.npz", X, Y, r).startswith("verified gap <= ")
    stored, whole = fields(tmp_path / "p.npz"), np.ones(400) if r is None else r
    for real in (np.float64, np.longdouble):
        upper, lower, _ = check_proof.bounds(stored, X, Y, whole, real)
        assert (upper <= proof.primal, lower >= proof.dual, upper - lower <= proof.gap) == (1, 1, 1)
    assert proof.gap <= 1.1 * solution.certificate.gap + 1e-12


@each("half", [0, 1, 30])
def test_a_binned_witness_is_written_as_the_weights_that_regenerate_it(half: int, tmp_path) -> None:
    w = solve(X, Y, LAM).w
    problem = pair_problem(StreamedRows(X), Y, AllPairs(), HINGE, Ridge(LAM))
    solution = binned(problem, w, half=half)
    proof = write_proof_of(problem, solution, tmp_path / "p.npz")
    stored = fields(tmp_path / "p.npz")
    assert proof.kind == "weights" and "u" not in stored
    np.testing.assert_array_equal(stored["w_dual"], w)
    kept = [stored[name].item() for name in ("bins", "half", "scale")]
    assert kept == [2**14, half, 0.999]
    assert verified(tmp_path / "p.npz", X, Y).startswith("verified gap <= ")
    assert proof.gap <= 1.1 * solution.certificate.gap + 1e-12


@pytest.mark.long_digits
def test_badly_scaled_features_leave_a_weaker_proof_not_none(tmp_path: Path) -> None:
    """A time in seconds next to numbers of order one: float64 verifies 1e-6, not the 1e-10 proved.

    The weaker gap is claimed, for it holds on any machine; the data are told from other data.
    """
    hard, y = X[:100].copy(), Y[:100]
    hard[:, 0] = 1.7e9 + 5e7 * hard[:, 0]
    solution = solve(hard, y, 1e-6, tol=1e-6)
    proof = write_proof(tmp_path / "p.npz", hard, y, 1e-6, solution)
    assert proof.gap > 2 * (solution.certificate.gap)
    assert verified(tmp_path / "p.npz", hard, y).startswith("verified gap <= ")
    with pytest.raises(InputError, match="scale features of very different size"):
        write_proof(tmp_path / "q.npz", hard[::-1], y, 1e-6, solution)


def test_rows_of_any_source_and_format_are_proved_as_float64(tmp_path: Path) -> None:
    class Source:
        """Row slices and a shape, nothing else."""

        shape = X.shape

        def __getitem__(self, rows: slice) -> np.ndarray:
            return single[rows]

    single = X.astype(np.float32)
    np.save(tmp_path / "X.npy", single)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    double = single.astype(float)
    solution = solve(double, Y, LAM)
    contents = []
    for rows in (double, single, np.asfortranarray(double), mapped, Source(), double.tolist()):
        write_proof(tmp_path / "p.npz", rows, Y, LAM, solution)
        contents.append(fields(tmp_path / "p.npz")["sha256"].item())
    assert len(set(contents)) == 1
    np.save(tmp_path / "y.npy", Y)
    assert check_proof.main([str(tmp_path / name) for name in ("p.npz", "X.npy", "y.npy")]) == 0


@each("positive", ["no", "yes"])
def test_the_positive_label_is_kept_and_decides(positive: str, tmp_path: Path) -> None:
    names = np.where(Y, "yes", "no")
    solution = solve(X, names, LAM, positive=positive)
    write_proof(tmp_path / "p.npz", X, names, LAM, solution, positive=positive)
    np.savez(tmp_path / "d.npz", X=X, y=names)
    assert check_proof.main([str(tmp_path / "p.npz"), str(tmp_path / "d.npz")]) == 0
    np.savez(tmp_path / "d.npz", X=X, y=np.where(Y, "no", "yes"))
    assert check_proof.main([str(tmp_path / "p.npz"), str(tmp_path / "d.npz")]) == 1


@each(
    ("lie", "why"),
    [
        ({"lam": 2 * LAM}, "evidence proves a gap"),
        ({"y": np.roll(Y, 1)}, "evidence proves a gap"),
        ({"X": X[::-1]}, "evidence proves a gap"),
        ({"sample_weight": np.where(X[:, 0] > 20, 3, 1)}, "evidence proves a gap"),
        ({"X": X[:, :2]}, "linear weights of 2 features"),
        ({"X": X[:-1], "y": Y[:-1]}, "400 rows does not belong to data of 399"),
        ({"X": X[:-1]}, "399 rows, but labels"),
        ({"X": X[:, 0]}, "non-empty matrix"),
        ({"X": sp.csr_matrix(X)}, "dense rows"),
        ({"X": np.where(X == X[3, 1], np.nan, X)}, "X has a value that is not finite"),
        ({"X": np.where(X == X[3, 1], np.inf, X)}, "X has a value that is not finite"),
        ({"X": X + 1j}, "numbers"),
        ({"X": X.astype(str)}, "numbers"),
        ({"lam": 0.0}, "lam"),
        ({"y": np.zeros(400)}, "two classes"),
        ({"sample_weight": np.full(400, 0.5)}, "the weight of row 0 is 0.5"),
        ({"sample_weight": np.full(400, 1e9)}, "the weight of row 0"),
        ({"sample_weight": np.ones(9)}, "weights of shape"),
    ],
)
def test_data_that_were_not_solved_are_refused(lie: dict, why: str, tmp_path) -> None:
    solution = solve(X, Y, LAM)
    arguments = {"X": X, "y": Y, "lam": LAM, "solution": solution} | lie
    with pytest.raises(InputError, match=why):
        write_proof(tmp_path / "p.npz", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_other_problems_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path, rng = tmp_path / "p.npz", np.random.default_rng(9)
    listed = PairList(np.flatnonzero(Y)[:50], np.flatnonzero(~Y)[:50])
    of_list, of_squares = solve(X, Y, LAM, pairs=listed), solve(X, Y, LAM, loss="squared_hinge")
    of_kernel = solve(X, Y, LAM, kernel="rbf", gamma=0.1)
    grade, qid, event = rng.integers(0, 3, 400), rng.integers(0, 90, 400), rng.random(400) < 0.5
    ranked, large = solve(X, grade, LAM, qid=qid), np.full(400, 2.0**30)
    kernel = pair_problem(Gram(X @ X.T), Y, AllPairs(), HINGE, Ridge(LAM))
    by_query = query_pairs(qid, grade)
    uno, gains = (
        uno_pairs(rng.exponential(size=400), event, 0.8),
        query_pairs(qid, grade, gain=True),
    )
    problems: list[tuple[Any, Any, str]] = [
        (linear_problem(X, Y, LAM, pairs=listed), of_list, "not another loss or a list"),
        (linear_problem(X, Y, LAM, "squared_hinge"), of_squares, "not another loss or a list"),
        (kernel, of_kernel, "linear rows"),
        (Mean(gains, HINGE), ranked, "no gains"),
        (Mean(uno, HINGE), ranked, "one weight per row"),
        (Mean(OrderedPairs(qid, grade, large, large), HINGE), ranked, "the weight of row 0"),
        (Mean(by_query, SQUARED_HINGE), ranked, "not another loss or a list"),
    ]
    for problem, solution, why in problems:
        if isinstance(problem, Mean):
            problem = Problem(Rows(X), problem, Ridge(LAM))
        with pytest.raises(InputError, match=why):
            write_proof_of(problem, solution, path)
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (of_list, {}, "pair list"),
        (of_squares, {}, "evidence proves a gap"),
        (of_kernel, {}, "solution has shape"),
        (ranked, {"y": grade, "lam": 2 * LAM, "qid": qid}, "evidence proves a gap"),
        (ranked, {"y": -grade, "qid": qid}, "evidence proves a gap"),
    ]
    for solution, words, why in asked:
        with pytest.raises(InputError, match=why):
            write_proof(path, **({"X": X, "y": Y, "lam": LAM, "solution": solution} | words))
    assert list(tmp_path.iterdir()) == []
