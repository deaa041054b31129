"""Proof files over partitions: honest ones, exact sums, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, save_partitions, write_partitioned_proof
from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Solution
from aucert.exact.errors import InputError
from aucert.exact.proof import check_partitions
from aucert.exact.spaces.partitions import PartitionedRows
from cutting import cut
from loops import each
from naive import dual_value, exact, primal_value, weighted_pairs

LAM, N, CUTS = 0.02, 120, [0, 30, 30, 80]  # the first and the third partition are empty


def some_rows(weighted: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.4
    X = rng.normal(size=(N, 3)) + 0.6 * y[:, None] + [0.0, 50.0, -3.0]
    return X, y, rng.integers(0, 4, N).astype(float) if weighted else None


def solved(weighted: bool = True) -> tuple[PartitionedRows, Solution]:
    X, y, weight = some_rows(weighted)
    rows = PartitionedRows(cut(X, y, weight, CUTS))
    return rows, solve(rows, None, LAM, method="descent", tol=1e-5)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Path]]:
    folder = tmp_path_factory.mktemp("proof")
    rows, solution = solved()
    write_partitioned_proof(folder / "p.npz", rows, LAM, solution)
    return dict(np.load(folder / "p.npz")), save_partitions(rows, folder)


def verdict(proof: dict[str, Any], parts: list[Path], tmp_path, capsys, *words: str) -> str:
    np.savez(tmp_path / "changed.npz", **proof)
    status = check_partitions.main([str(tmp_path / "changed.npz"), *map(str, parts), *words])
    said = capsys.readouterr().out
    assert said.startswith({0: "verified", 1: "REFUSED", 2: "not readable"}[status])
    return said


def test_an_honest_proof_is_verified_one_partition_at_a_time(
    honest: tuple[dict[str, Any], list[Path]], tmp_path: Path, capsys: Any
) -> None:
    proof, parts = honest
    assert "verified 2 of 5" in verdict(proof, [], tmp_path, capsys)  # those without rows
    for part in (parts[1], parts[3], parts[4]):
        assert "verified 3 of 5 partitions: gap <= " in verdict(proof, [part], tmp_path, capsys)
    said = verdict(proof, [parts[1], parts[3], parts[4]], tmp_path, capsys)
    assert "verified 5 of 5" in said and "if the other" not in said


def test_all_refuses_a_proof_of_other_partitions_than_those_given(
    honest: tuple[dict[str, Any], list[Path]], tmp_path: Path, capsys: Any
) -> None:
    proof, parts = honest
    given = [parts[k] for k in (4, 1, 3)]
    assert "verified 5 of 5" in verdict(proof, given, tmp_path, capsys, "--all")
    assert "verified 5 of 5" in verdict(proof, parts, tmp_path, capsys, "--all")  # and empty ones
    said = verdict(proof, given[:2], tmp_path, capsys, "--all")
    assert said == "REFUSED: there is no file for the partitions [3]\n"
    said = verdict(proof, [*given, parts[1]], tmp_path, capsys)
    assert said.startswith("REFUSED") and "partition-000001.npz" in said and "once more" in said


def test_a_proof_for_another_penalty_or_label_is_refused(
    honest: tuple[dict[str, Any], list[Path]], tmp_path: Path, capsys: Any
) -> None:
    proof, _ = honest
    meant = ("--lam", str(LAM), "--positive", "True")
    assert "verified" in verdict(proof, [], tmp_path, capsys, *meant)
    said = verdict(proof, [], tmp_path, capsys, "--lam", "0.5")
    assert said == f"REFUSED: the proof is for lam = {LAM}\n"
    said = verdict(proof, [], tmp_path, capsys, "--positive", "1")
    assert said == "REFUSED: the proof is for the label True\n"
    assert verdict(proof, [], tmp_path, capsys, "--lam", "x").startswith("not readable")
    np.save(tmp_path / "y.npy", np.ones(3))
    said = verdict(proof, [tmp_path / "y.npy"], tmp_path, capsys)
    assert said.startswith("not readable") and "y.npy is no npz file" in said


@each("weighted", [True, False])
@each("other", [False, True])
def test_the_bounds_are_those_of_all_pairs(weighted: bool, other: bool, tmp_path: Path) -> None:
    """In fractions, pair by pair: F(w) from above and the dual point's bound from below."""
    rows, solution = solved(weighted)
    if other:  # the dual point is made of other weights than the primal
        object.__setattr__(solution, "w", solution.w * 1.001)
        object.__setattr__(solution.certificate, "gap", 1e-2)
    path = tmp_path / "p.npz"
    write_partitioned_proof(path, rows, LAM, solution)
    proof = dict(np.load(path))
    upper, lower, count = check_partitions.whole(proof)
    X, y, weight = some_rows(weighted)
    r = np.ones(N) if weight is None else weight
    assert count == r[y].sum() * r[~y].sum()
    K, half, scale = int(proof["bins"]), int(proof["half"]), Fraction(float(proof["scale"]))
    stated = np.zeros(N)
    for k in range(3):
        stated += (X[:, k] - rows.offset[k]) * proof["w_dual"][k]
    m = np.floor(K * stated).astype(int)
    pairs, Z = weighted_pairs(y.tolist(), AllPairs(r)), exact(X)
    alpha = [
        scale * min(max(Fraction(int(m[j] - m[i]) + K + half, 2 * half), Fraction(0)), Fraction(1))
        for i, j, _ in pairs
    ]
    primal = primal_value(Z, pairs, "hinge", Fraction(LAM), exact(proof["w"]))
    bound = dual_value(Z, pairs, "hinge", Fraction(LAM), alpha)
    assert primal <= upper <= primal + Fraction(1, 100 * K)
    assert bound - Fraction(1, 10**11) <= lower <= bound


FAULTS: dict[str, Any] = {
    "lam doubled": lambda p: {"lam": p["lam"] * 2},
    "w and w_dual smaller": lambda p: {"w": p["w"] * 0.9, "w_dual": p["w"] * 0.9},
    "offset moved": lambda p: {"offset": p["offset"] + 1.0},
    "bins halved": lambda p: {"bins": p["bins"] // 2},
    "bins huge": lambda p: {"bins": np.int64(1) << 62},
    "half more": lambda p: {"half": p["half"] + 1},
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
    "classes swapped": lambda p: {"cells": np.vstack([1 - p["cells"][:1], p["cells"][1:]])},
    "ends moved": lambda p: {"cells_ends": p["cells_ends"][::-1].copy()},
    "a pull of one partition": lambda p: {
        "pulls": np.vstack([p["pulls"][:3], np.char.add(p["pulls"][3:4], "0"), p["pulls"][4:]])
    },
    "pulls no numbers": lambda p: {"pulls": np.full(p["pulls"].shape, "x")},
}


@each("fault", FAULTS, ids=lambda name: name.replace(" ", "-"))
def test_a_fault_is_refused(
    honest: tuple[dict[str, Any], list[Path]], fault: str, tmp_path: Path, capsys: Any
) -> None:
    proof, parts = honest
    said = verdict(proof | FAULTS[fault](proof), [parts[k] for k in (1, 3, 4)], tmp_path, capsys)
    assert said.startswith("REFUSED"), said


@each("what", ["number", "label", "weight", "order", "row"])
def test_other_rows_are_refused(
    honest: tuple[dict[str, Any], list[Path]], what: str, tmp_path: Path, capsys: Any
) -> None:
    proof, parts = honest
    part = {name: np.array(values) for name, values in np.load(parts[3]).items()}
    match what:
        case "number":
            part["X"][7, 1] = np.nextafter(part["X"][7, 1], np.inf)
        case "label":
            part["y"][7] = ~part["y"][7]
        case "weight":
            part["weight"][7] += 1
        case "order":
            part = {name: values[::-1] for name, values in part.items()}
        case "row":
            part = {name: values[:-1] for name, values in part.items()}
    np.savez(tmp_path / "other.npz", **part)
    assert "are no partition of the proof" in verdict(
        proof, [tmp_path / "other.npz"], tmp_path, capsys
    )


def test_what_no_proof_can_be_written_of_is_said(tmp_path: Path) -> None:
    rows, solution = solved()
    X, y, _ = some_rows()
    with pytest.raises(InputError, match="prove a gap of"):
        write_partitioned_proof(tmp_path / "p.npz", rows, 50 * LAM, solution)
    halves = PartitionedRows(cut(X, y, np.full(N, 0.5), [9]))
    of_halves = solve(halves, None, LAM, method="descent", tol=1e-4)
    with pytest.raises(InputError, match="takes whole numbers"):
        write_partitioned_proof(tmp_path / "p.npz", halves, LAM, of_halves)
    with pytest.raises(InputError, match="with method='descent'"):
        write_partitioned_proof(tmp_path / "p.npz", rows, LAM, solve(X, y, LAM))
    with pytest.raises(InputError, match="use write_proof"):
        write_partitioned_proof(tmp_path / "p.npz", X, LAM, solution)  # type: ignore[arg-type]
    assert not (tmp_path / "p.npz").exists()
