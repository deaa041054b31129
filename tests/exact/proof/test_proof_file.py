"""Proof files, of rows and of partitions: what is written, what is refused, what is verified."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
from aucert.exact.api.solve import solve
from aucert.exact.problem.risk import Weights
from aucert.exact.proof import check_partitions, check_proof
from cutting import cut
from loops import each, refuses
from naive import dual_value, exact, primal_value, weighted_pairs
from proofs import changed

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


def binned(problem: ac.Problem, w: np.ndarray, bins: int = 2**14, half: int = 30) -> ac.Solution:
    """A solution as a streaming solver returns it: its witness is what regenerates it."""
    witness = problem.risk.minorant(Weights(w, bins, half, 0.999))
    certificate = ac.Certificate.of(problem, w, witness)
    return ac.Solution(w, witness, certificate, ac.Status.CERTIFIED, 1, 0.0)


@each("r", [None, R], ids=["all once", "repetitions"])
@each("method", ["auto", "cutting-plane"])
def test_claims_are_wider_than_what_holds(method: str, r: np.ndarray | None, tmp_path) -> None:
    solution = solve(X, Y, LAM, sample_weight=r, method=method)
    proof = ac.write_proof(tmp_path / "p.npz", X, Y, LAM, solution, sample_weight=r)
    assert proof.kind == "marginals"
    assert verified(tmp_path / "p.npz", X, Y, r).startswith("verified gap <= ")
    stored, whole = fields(tmp_path / "p.npz"), np.ones(400) if r is None else r
    for real in (np.float64, np.longdouble):
        upper, lower, _ = check_proof.bounds(stored, X, Y, whole, real)
        assert proof.dual <= lower <= upper <= proof.primal and upper - lower <= proof.gap
    assert proof.gap <= 1.1 * solution.certificate.gap + 1e-12


@each("half", [0, 1, 30])
def test_a_binned_witness_is_written_as_the_weights_that_regenerate_it(half: int, tmp_path) -> None:
    w = solve(X, Y, LAM).w
    problem = ac.pair_problem(ac.StreamedRows(X), Y, ac.AllPairs(), ac.HINGE, ac.Ridge(LAM))
    solution = binned(problem, w, half=half)
    proof = ac.write_proof_of(problem, solution, tmp_path / "p.npz")
    stored = fields(tmp_path / "p.npz")
    assert proof.kind == "weights" and "u" not in stored
    kept = [stored[name].tolist() for name in ("w_dual", "bins", "half", "scale")]
    assert kept == [w.tolist(), 2**14, half, 0.999]
    assert verified(tmp_path / "p.npz", X, Y).startswith("verified gap <= ")
    assert proof.gap <= 1.1 * solution.certificate.gap + 1e-12


@pytest.mark.long_digits
def test_badly_scaled_features_leave_a_weaker_proof_not_none(tmp_path: Path) -> None:
    """A time in seconds next to numbers of order one: float64 verifies 1e-6, not the 1e-10 proved.
    The weaker gap is claimed, since it holds on any machine; other data are refused."""
    hard, y = X[:100].copy(), Y[:100]
    hard[:, 0] = 1.7e9 + 5e7 * hard[:, 0]
    solution = solve(hard, y, 1e-6, tol=1e-6)
    proof = ac.write_proof(tmp_path / "p.npz", hard, y, 1e-6, solution)
    assert proof.gap > 2 * (solution.certificate.gap)
    assert verified(tmp_path / "p.npz", hard, y).startswith("verified gap <= ")
    with pytest.raises(ac.InputError, match="scale features of very different size"):
        ac.write_proof(tmp_path / "q.npz", hard[::-1], y, 1e-6, solution)


def test_rows_of_any_source_and_format_are_proved_as_float64(tmp_path: Path) -> None:
    single = X.astype(np.float32)
    np.save(tmp_path / "X.npy", single)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    double = single.astype(float)
    parts: dict[str, Any] = {"shape": X.shape, "__getitem__": lambda self, rows: single[rows]}
    source = type("Source", (), parts)()  # row slices and a shape, nothing else
    solution, contents = solve(double, Y, LAM), set()
    for rows in (double, single, np.asfortranarray(double), mapped, source, double.tolist()):
        ac.write_proof(tmp_path / "p.npz", rows, Y, LAM, solution)
        contents.add(fields(tmp_path / "p.npz")["sha256"].item())
    assert len(contents) == 1
    np.save(tmp_path / "y.npy", Y)
    assert check_proof.main([str(tmp_path / name) for name in ("p.npz", "X.npy", "y.npy")]) == 0


WEIGHED = np.where(X[:, 0] > 20, 3, 1)
OTHERS = ({"lam": 2 * LAM}, {"y": np.roll(Y, 1)}, {"X": X[::-1]}, {"sample_weight": WEIGHED})
LIES: list[tuple[dict[str, Any], str]] = [
    *((other, "evidence proves a gap") for other in OTHERS),
    ({"X": X[:, :2]}, "linear weights of 2 features"),
    ({"X": X[:-1], "y": Y[:-1]}, "400 rows does not belong to data of 399"),
    ({"X": X[:, 0]}, "non-empty matrix"),
    ({"X": sp.csr_matrix(X)}, "dense rows"),
    ({"X": np.where(X == X[3, 1], np.nan, X)}, "X has a value that is not finite"),
    ({"X": X + 1j}, "numbers"),
    ({"lam": 0.0}, "lam"),
    ({"sample_weight": np.full(400, 0.5)}, "the weight of row 0 is 0.5"),
]


def test_data_that_were_not_solved_are_refused(tmp_path: Path) -> None:
    true: dict[str, Any] = {"X": X, "y": Y, "lam": LAM, "solution": solve(X, Y, LAM)}
    for lie, why in LIES:
        refuses(why, ac.write_proof, tmp_path / "p.npz", **true | lie)
    assert list(tmp_path.iterdir()) == []


def over(pairs: Any) -> ac.Problem:
    return ac.Problem(ac.Rows(X), ac.Mean(pairs, ac.HINGE), ac.Ridge(LAM))


def test_other_problems_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path, rng = tmp_path / "p.npz", np.random.default_rng(9)
    listed = ac.PairList(np.flatnonzero(Y)[:50], np.flatnonzero(~Y)[:50])
    of_list, of_squares = solve(X, Y, LAM, pairs=listed), solve(X, Y, LAM, loss="squared_hinge")
    other = "not another loss or a list"
    of_kernel = solve(X, Y, LAM, kernel="rbf", gamma=0.1)
    grade, qid, event = rng.integers(0, 3, 400), rng.integers(0, 90, 400), rng.random(400) < 0.5
    ranked, large = solve(X, grade, LAM, qid=qid), np.full(400, 2.0**30)
    kernel = ac.pair_problem(ac.Gram(X @ X.T), Y, ac.AllPairs(), ac.HINGE, ac.Ridge(LAM))
    uno = ac.uno_pairs(rng.exponential(size=400), event, 0.8)
    problems: list[tuple[Any, Any, str]] = [
        (ac.linear_problem(X, Y, LAM, pairs=listed), of_list, other),
        (ac.linear_problem(X, Y, LAM, "squared_hinge"), of_squares, other),
        (kernel, of_kernel, "linear rows"),
        (over(ac.query_pairs(qid, grade, gain=True)), ranked, "no gains"),
        (over(uno), ranked, "one weight per row"),
        (over(ac.OrderedPairs(qid, grade, large, large)), ranked, "the weight of row 0"),
    ]
    for problem, solution, why in problems:
        refuses(why, ac.write_proof_of, problem, solution, path)
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (of_list, {}, "pair list"),
        (of_squares, {}, "evidence proves a gap"),
        (of_kernel, {}, "solution has shape"),
        (ranked, {"y": -grade, "qid": qid}, "evidence proves a gap"),
    ]
    for solution, words, why in asked:
        given = {"X": X, "y": Y, "lam": LAM, "solution": solution} | words
        refuses(why, ac.write_proof, path, **given)
    assert list(tmp_path.iterdir()) == []


P_LAM, N, CUTS = 0.02, 120, [0, 30, 30, 80]  # the first and the third partition are empty


def some_rows(weighted: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.4
    X = rng.normal(size=(N, 3)) + 0.6 * y[:, None] + [0.0, 50.0, -3.0]
    return X, y, rng.integers(0, 4, N).astype(float) if weighted else None


def solved(weighted: bool = True) -> tuple[ac.PartitionedRows, ac.Solution]:
    X, y, weight = some_rows(weighted)
    rows = ac.PartitionedRows(cut(X, y, weight, CUTS))
    return rows, solve(rows, None, P_LAM, method="descent", tol=1e-5)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("proof")
    rows, solution = solved()
    ac.write_partitioned_proof(folder / "p.npz", rows, P_LAM, solution)
    return dict(np.load(folder / "p.npz")), ac.save_partitions(rows, folder)


@pytest.fixture
def judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command says of a proof and of the partitions given."""

    def run(proof: dict[str, Any], parts: list[Path], *words: str) -> str:
        np.savez(tmp_path / "changed.npz", **proof)
        status = check_partitions.main([str(tmp_path / "changed.npz"), *map(str, parts), *words])
        said = capsys.readouterr().out
        assert said.startswith({0: "verified", 1: "REFUSED", 2: "not readable"}[status])
        return said

    return run


def test_an_honest_proof_is_verified_one_partition_at_a_time(honest: Any, judged: Any) -> None:
    proof, (_, *parts) = honest
    parts.pop(1)  # empty, as the first one
    assert "verified 2 of 5" in judged(proof, [])  # those without rows
    for part in parts:
        assert "verified 3 of 5 partitions: gap <= " in judged(proof, [part])
    said = judged(proof, parts)
    assert "verified 5 of 5" in said and "if the other" not in said


def test_all_refuses_a_proof_of_other_partitions_than_those_given(honest: Any, judged: Any) -> None:
    proof, parts = honest
    given = [parts[k] for k in (4, 1, 3)]
    assert "verified 5 of 5" in judged(proof, given, "--all")
    assert "verified 5 of 5" in judged(proof, parts, "--all")  # and empty ones
    missing = "REFUSED: there is no file for the partitions [3]\n"
    assert judged(proof, given[:2], "--all") == missing
    said = judged(proof, [*given, parts[1]])
    assert said.startswith("REFUSED") and "partition-000001.npz" in said and "once more" in said


def test_a_proof_for_another_penalty_or_label_is_refused(honest, judged, tmp_path) -> None:
    proof, _ = honest
    meant = ("--lam", str(P_LAM), "--positive", "True")
    assert "verified" in judged(proof, [], *meant)
    meant_lam = f"REFUSED: the proof is for lam = {P_LAM}\n"
    assert judged(proof, [], "--lam", "0.5") == meant_lam
    assert judged(proof, [], "--positive", "1") == "REFUSED: the proof is for the label True\n"
    assert judged(proof, [], "--lam", "x").startswith("not readable")
    np.save(tmp_path / "y.npy", np.ones(3))
    said = judged(proof, [tmp_path / "y.npy"])
    assert said.startswith("not readable") and "y.npy is not an npz file" in said


@each("weighted", [True, False])
@each("other", [False, True])
def test_the_bounds_are_those_of_all_pairs(weighted: bool, other: bool, tmp_path: Path) -> None:
    """In fractions, pair by pair: F(w) from above and the dual point's bound from below."""
    rows, solution = solved(weighted)
    if other:  # the dual point is made of other weights than the primal
        object.__setattr__(solution, "w", solution.w * 1.001)
        object.__setattr__(solution.certificate, "gap", 1e-2)
    path = tmp_path / "p.npz"
    ac.write_partitioned_proof(path, rows, P_LAM, solution)
    proof = dict(np.load(path))
    upper, lower, count = check_partitions.whole(proof)
    X, y, weight = some_rows(weighted)
    r = np.ones(N) if weight is None else weight
    assert count == r[y].sum() * r[~y].sum()
    K, half, scale = int(proof["bins"]), int(proof["half"]), Fraction(float(proof["scale"]))
    a, b, c = (X - rows.offset).T * proof["w_dual"][:, None]
    m = np.floor(K * (a + b + c)).astype(int)
    pairs, Z = weighted_pairs(y.tolist(), ac.AllPairs(r)), exact(X)
    alpha = [
        scale * min(max(Fraction(int(m[j] - m[i]) + K + half, 2 * half), Fraction(0)), Fraction(1))
        for i, j, _ in pairs
    ]
    primal = primal_value(Z, pairs, "hinge", Fraction(P_LAM), exact(proof["w"]))
    bound = dual_value(Z, pairs, "hinge", Fraction(P_LAM), alpha)
    assert primal <= upper <= primal + Fraction(1, 100 * K)
    assert bound - Fraction(1, 10**11) <= lower <= bound


FOURTH = np.array(["", "", "", "0", ""])[:, None]
FAULTS: dict[str, Any] = {
    "w and w_dual smaller": lambda p: {"w": p["w"] * 0.9, "w_dual": p["w"] * 0.9},
    "offset moved": lambda p: {"offset": p["offset"] + 1.0},
    "bins huge": lambda p: {"bins": np.int64(1) << 62},
    "scale above one": lambda p: {"scale": 1.5},
    "units less": lambda p: {"units": p["units"] - 1},
    "places less": lambda p: {"places": p["places"] - 1},
    "primal less": lambda p: {"primal": p["primal"] * 0.99},
    "dual more": lambda p: {"dual": p["dual"] * 1.01},
    "gap less": lambda p: {"gap": p["gap"] * 0.5},
    "another label": lambda p: {"positive": False},
    "a hash of other rows": lambda p: {"sha256": np.char.replace(p["sha256"], "a", "b")},
    "a hash too few": lambda p: {"sha256": p["sha256"][:-1]},
    "a smaller size": lambda p: {"size": p["size"] * 0.5},
    "a count more": lambda p: {"cells": p["cells"] + [[0], [0], [1], [0]]},
    "thetas less": lambda p: {"cells": p["cells"] * [[1], [1], [1], [0]]},
    "thetas more": lambda p: {"cells": p["cells"] + [[0], [0], [0], [1 << 60]]},
    "a pull of one partition": lambda p: {"pulls": np.char.add(p["pulls"], FOURTH)},
    "pulls no numbers": lambda p: {"pulls": np.full(p["pulls"].shape, "x")},
}


@each("fault", FAULTS, ids=lambda name: name.replace(" ", "-"))
def test_a_fault_is_refused(honest: Any, judged: Any, fault: str) -> None:
    proof, parts = honest
    said = judged(proof | FAULTS[fault](proof), [parts[k] for k in (1, 3, 4)])
    assert said.startswith("REFUSED"), said


def one(field: str, change: Any) -> Any:
    """A change of one number of row 7."""
    return lambda part: part | {field: changed(part[field], 7, change(part[field][7]))}


OTHER_ROWS: dict[str, Any] = {
    "number": one("X", lambda x: np.nextafter(x, np.inf)),
    "label": one("y", lambda y: ~y),
    "weight": one("weight", lambda r: r + 1),
    "order": lambda part: {name: values[::-1] for name, values in part.items()},
    "row": lambda part: {name: values[:-1] for name, values in part.items()},
}


@each("what", OTHER_ROWS)
def test_other_rows_are_refused(honest: Any, judged: Any, what: str, tmp_path: Path) -> None:
    proof, parts = honest
    np.savez(tmp_path / "other.npz", **OTHER_ROWS[what](dict(np.load(parts[3]))))
    assert "are not a partition of the proof" in judged(proof, [tmp_path / "other.npz"])


def test_what_no_proof_can_be_written_of_is_said(tmp_path: Path) -> None:
    (rows, solution), (X, y, _), path = solved(), some_rows(), tmp_path / "p.npz"
    halves = ac.PartitionedRows(cut(X, y, np.full(N, 0.5), [9]))
    of_halves = solve(halves, None, P_LAM, method="descent", tol=1e-4)
    cases: list[tuple[str, Any, float, Any]] = [
        ("prove a gap of", rows, 50 * P_LAM, solution),
        ("takes whole numbers", halves, P_LAM, of_halves),
        ("with method='descent'", rows, P_LAM, solve(X, y, P_LAM)),
        ("use write_proof", X, P_LAM, solution),
    ]
    for said, *given in cases:
        refuses(said, ac.write_partitioned_proof, path, *given)
    assert not path.exists()
