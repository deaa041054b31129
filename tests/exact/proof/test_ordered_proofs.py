"""Proof files of ordered pairs: queries, survival, groups, weights; what is written and refused."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import query_pairs, survival_pairs, uno_pairs
from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.problem import Problem, Ridge
from aucert.exact.problem.risk import Mean
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof, write_proof_of
from aucert.exact.spaces.rows import Rows
from loops import each
from naive import exact, primal_value
from ordered_naive import naive_ordered
from proofs import changed, scalars

LAM = 0.05
KINDS = ("query", "survival", "weighted", "crossed", "shared", "long")
Columns = dict[str, Any]


def data_of(kind: str) -> tuple[str, Columns]:
    """Return which pairs the columns mean, and the columns: ties in all that orders the rows."""
    rng = np.random.default_rng(5)
    n = 900 if kind == "long" else 40
    X = np.round(rng.normal(size=(n, 2)), 1) + 3.0
    if kind in ("survival", "long"):
        time = np.ceil(9 * rng.exponential(size=n) * np.exp(-X[:, 0] + 3))
        return "survival", {"X": X, "time": time, "event": rng.random(n) < 0.6}
    y, qid = np.round(X[:, 0] + rng.normal(size=n)), rng.integers(0, 4, n)
    if kind in ("query", "weighted"):
        weight = {} if kind == "query" else {"weight": rng.integers(0, 4, n)}
        return "query", {"X": X, "y": y, "qid": np.array(["d", "a", "c", "b"])[qid], **weight}
    columns = {"X": X, "key": (y > 2).astype(float), "group": qid}
    if kind == "shared":
        return "ordered", columns | {"share": np.array([1.0, 3.0, 0.3, 7.0])[qid]}
    sides = {"upper": qid % 2 == 0, "lower": qid % 2 == 1}
    return "ordered", columns | sides | {"group": np.zeros(n, dtype=int)}


def pairs_of(pairs: str, data: Columns) -> OrderedPairs:
    n = len(data["X"])
    weight = data.get("weight", np.ones(n))
    if pairs == "query":
        return OrderedPairs(data["qid"], data["y"], weight, weight)
    if pairs == "survival":
        return survival_pairs(data["time"], data["event"])
    sides = [data.get(side, np.ones(n)) * weight for side in ("upper", "lower")]
    return OrderedPairs(data["group"], data["key"], *sides, share=data.get("share"))


def written(folder: Path, kind: str) -> tuple[Columns, Columns, Any]:
    """Solve, write the proof, and return it, the data and the solution."""
    pairs, data = data_of(kind)
    ordered = pairs_of(pairs, data)
    solution = solve(data["X"], None, LAM, pairs=ordered, tol=1e-6 if kind == "long" else 1e-12)
    path = folder / "proof.npz"
    if pairs == "ordered":
        problem = Problem(Rows(data["X"]), Mean(ordered, HINGE), Ridge(LAM))
        write_proof_of(problem, solution, path)
    else:
        names = ("qid", "time", "event")
        order = {name: data[name] for name in names if name in data}
        weight = data.get("weight")
        write_proof(path, data["X"], data.get("y"), LAM, solution, None, weight, **order)
    with np.load(path) as file:
        return dict(file), data, solution


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Columns, Columns, Any]]:
    folder = tmp_path_factory.mktemp("ordered")
    return {kind: written(folder, kind) for kind in KINDS}


def save(folder: Path, proof: Columns, data: Columns) -> None:
    np.savez(folder / "proof.npz", **proof)
    np.savez(folder / "data.npz", **data)


def run(folder: Path, capsys: pytest.CaptureFixture, *options: str) -> tuple[int, str]:
    files = [str(folder / name) for name in ("proof.npz", "data.npz")]
    status = check_proof.main([*files, *options])
    return status, capsys.readouterr().out


def exact_objective(X: np.ndarray, pairs: OrderedPairs, w: np.ndarray) -> Fraction:
    share = None if pairs.share is None else np.asarray(pairs.share)
    upper, lower = pairs.by_row()
    listed = naive_ordered(pairs.group, pairs.key, upper, lower, None, share)
    true = list(zip(listed.i, listed.j, listed.weight, strict=True))
    return primal_value(exact(X), true, "hinge", Fraction(LAM), exact(w))


@each("kind", KINDS)
def test_the_checker_verifies_what_was_written(
    honest: dict, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    proof, data, solution = honest[kind]
    save(tmp_path, proof, data)
    status, text = run(tmp_path, capsys)
    assert (status, text.count("\n")) == (0, 1), text
    assert f"the pairs of {len(data['X'])} rows, {proof['pairs']}, lam = 0.05" in text
    assert str(proof["kind"]) == ("scores" if kind == "long" else "marginals")
    assert int(proof["format"]) == 2 and "positive" not in proof
    reported = solution.certificate
    assert float(proof["gap"]) <= 1.2 * (reported.gap) + 1e-11
    assert run(tmp_path, capsys, "--lam", "0.05") == (0, text)
    assert run(tmp_path, capsys, "--lam", "0.06")[0] == 1


@each("kind", [kind for kind in KINDS if kind != "long"])
def test_the_exact_objective_and_the_optimum_are_within_the_bounds(honest: dict, kind: str) -> None:
    proof, data, solution = honest[kind]
    ordered = pairs_of(str(proof["pairs"]), data)
    true = exact_objective(data["X"], ordered, solution.w)
    best = true - Fraction(solution.certificate.gap)
    scored = proof | scalars(kind="scores", bins=1 << 10, half=7)
    scored["scores"] = np.floor(1024 * data["X"] @ solution.w).astype(np.int64)
    for order in (proof, scored, scored | scalars(half=0, scale=0.7)):
        for real in (np.float64, np.longdouble):
            upper, lower, _ = bounds(order, data, real)
            assert lower <= true <= upper <= true + Fraction(1e-12)
    assert bounds(proof, data)[1] >= best - Fraction(1e-11)


def bounds(proof: Columns, data: Columns, real: type = np.float64) -> Any:
    r = np.asarray(data.get("weight", np.ones(len(data["X"]))))
    order = check_proof.ordering(str(proof["pairs"]), without(data, "X", "weight"), proof, {})
    return check_proof.bounds(proof, data["X"], order, r, real)


def without(data: Columns, *names: str) -> Columns:
    return {name: column for name, column in data.items() if name not in names}


def test_no_scores_and_no_marginals_whatsoever_beat_the_optimum(honest: dict) -> None:
    rng = np.random.default_rng(0)
    for kind in ("query", "survival", "weighted", "crossed", "shared"):
        proof, data, _ = honest[kind]
        top = bounds(proof, data)[0]  # the optimum is below it by next to nothing
        n = len(data["X"])
        for _ in range(6):
            factor = rng.choice([0.0, 0.5, 1.0, 1.0, 1.5, 9.0], (2, n))
            u, v = (factor * (proof["u"], proof["v"])).astype(np.int64)
            cap = np.int64(max(int(proof["cap"]) // int(rng.integers(1, 4)), 1))
            for pair in ((u, v), (rng.permutation(u), v), (v, u), (u, proof["v"])):
                forged = proof | {"u": pair[0], "v": pair[1], "cap": cap}
                assert bounds(forged, data)[1] <= top
            scale = 10.0 ** rng.integers(0, 6)
            forged = proof | {"scores": (scale * rng.normal(size=n)).astype(np.int64)}
            forged |= scalars(kind="scores", bins=1 << int(rng.integers(0, 16)))
            forged |= scalars(half=int(rng.integers(0, 4000)))
            assert bounds(forged, data)[1] <= top


def test_the_largest_flow_on_a_staircase_is_the_least_cut() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        n, cap = int(rng.integers(2, 8)), int(rng.integers(1, 6))
        order = drawn_order(rng, n)
        rows = check_proof.arranged(order, rng.integers(0, 3, n))
        count = check_proof.marginals(rows, np.zeros(n, dtype=np.int64), 1, 0)
        u, v = rng.integers(0, 12, (2, n))
        pairs = pairs_in(order, rows.r)
        givers, takers = {i for i, _ in pairs}, {j for _, j in pairs}
        cuts = []
        for kept in itertools.product([False, True], repeat=len(givers)):
            above = {i for i, k in zip(sorted(givers), kept, strict=True) if k}
            passed = [
                rows.r[j] * min(v[j], cap * sum(rows.r[i] for i in above if (i, j) in pairs))
                for j in takers
            ]
            cuts.append(sum(rows.r[i] * u[i] for i in givers - above) + sum(passed))
        assert check_proof.carried(rows, u, v, cap, count, None) == min(cuts)


def drawn_order(rng: np.random.Generator, n: int) -> Columns:
    return {
        "key": rng.integers(0, int(rng.integers(1, 7)), n) / 2,
        "group": np.array(["b", "a", "c"])[rng.integers(0, int(rng.integers(1, 4)), n)],
        "upper": rng.random(n) < 0.8,
        "lower": rng.random(n) < 0.8,
    }


def pairs_in(order: Columns, r: np.ndarray) -> set[tuple[int, int]]:
    key, group = order["key"], order["group"]
    return {
        (i, j)
        for i, j in itertools.product(range(len(r)), repeat=2)
        if group[i] == group[j] and key[i] > key[j] and order["upper"][i] and order["lower"][j]
        if r[i] * r[j] > 0
    }


PROOFS: dict[str, Any] = {
    "format 1": lambda p: {"format": 1, "pairs": "classes"},
    "other pairs": lambda p: {"pairs": "survival" if str(p["pairs"]) == "query" else "query"},
    "no pairs": lambda p: {"pairs": "some"},
    "pairs a list": lambda p: {"pairs": [str(p["pairs"])]},
    "kind unknown": lambda p: {"kind": "alpha"},
}
SCORES: dict[str, Any] = {
    "scores reversed": lambda p: {"scores": p["scores"][::-1].copy()},
    "a score too far": lambda p: {"scores": changed(p["scores"], 3, 2**60)},
    "the least integer": lambda p: {"scores": changed(p["scores"], 3, -(2**63))},
    "bins doubled": lambda p: {"bins": 2 * p["bins"]},
    "half huge": lambda p: {"half": 2**60},
    "half far": lambda p: {"half": 100 * p["half"]},
    "no scores": lambda p: {"kind": "weights"},
}
MARGINALS: dict[str, Any] = {
    "marginals exchanged": lambda p: {"u": p["v"], "v": p["u"]},
    "one side zero": lambda p: {"v": 0 * p["v"]},
    "negative": lambda p: {"u": changed(p["u"], 0, -1)},
    "cap halved": lambda p: {"cap": p["cap"] // 2},
    "cap huge": lambda p: {"cap": 2**61},
}


@each(
    ("kind", "name"),
    [(kind, name) for kind in ("query", "long", "shared") for name in PROOFS]
    + [("long", name) for name in SCORES]
    + [(kind, name) for kind in ("query", "survival", "shared") for name in MARGINALS],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_a_proof_with_a_fault_is_refused(
    honest: dict, kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    proof, data, _ = honest[kind]
    fault = (PROOFS | SCORES | MARGINALS)[name](proof)
    save(tmp_path, proof | scalars(**fault), data)
    status, text = run(tmp_path, capsys)
    assert status != 0 and text.count("\n") == 1
    assert text.startswith("REFUSED: " if status == 1 else "not readable: ")


DATA: dict[tuple[str, str], Any] = {
    ("query", "a row of another query"): lambda d: {"qid": changed(d["qid"], 0, "zz")},
    ("query", "another grade"): lambda d: {"y": changed(d["y"], 0, 99.0)},
    ("query", "a grade that is none"): lambda d: {"y": changed(d["y"], 0, np.nan)},
    ("query", "weights"): lambda d: {"weight": np.arange(40) % 2 + 1},
    ("survival", "an event turned"): lambda d: {"event": changed(d["event"], 0, ~d["event"][0])},
    ("survival", "an event of two"): lambda d: {"event": 2 * d["event"].astype(int)},
    ("survival", "another time"): lambda d: {"time": changed(d["time"], 0, 1e6)},
    ("crossed", "a row on the other side"): lambda d: {"upper": ~d["upper"]},
    ("crossed", "no sides"): lambda d: {"upper": None},
    ("shared", "no shares"): lambda d: {"share": None},
    ("shared", "a share of its own"): lambda d: {"share": changed(d["share"], 0, 5.0)},
    ("shared", "a share below zero"): lambda d: {"share": -d["share"]},
    ("shared", "a share too large"): lambda d: {"share": 1e200 * d["share"]},
    ("shared", "no key"): lambda d: {"key": None},
    ("long", "rows in another order"): lambda d: {"X": d["X"][::-1]},
}


@each(("kind", "name"), DATA)
def test_other_data_are_refused(
    honest: dict, kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    proof, data, _ = honest[kind]
    held = data | DATA[kind, name](data)
    save(tmp_path, proof, {k: x for k, x in held.items() if x is not None})
    status, text = run(tmp_path, capsys)
    assert status == (2 if name == "no key" else 1) and text.count("\n") == 1


def test_what_a_proof_file_cannot_hold_is_refused_in_a_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    X, y, qid = rng.normal(size=(30, 2)), rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    event, large = rng.random(30) < 0.5, np.full(30, 2.0**30)
    solution = solve(X, y, LAM, qid=qid)
    for pairs, loss, why in (
        (query_pairs(qid, y, gain=True), HINGE, "no gains"),
        (uno_pairs(rng.exponential(size=30), event, 0.8), HINGE, "one weight per row"),
        (OrderedPairs(qid, y, large, large), HINGE, "the weight of row 0"),
        (query_pairs(qid, y), SQUARED_HINGE, "not another loss or a list"),
    ):
        problem = Problem(Rows(X), Mean(pairs, loss), Ridge(LAM))
        with pytest.raises(InputError, match=why):
            write_proof_of(problem, solution, tmp_path / "p.npz")
    with pytest.raises(InputError, match="evidence proves a gap"):
        write_proof(tmp_path / "p.npz", X, y, 2 * LAM, solution, qid=qid)
    with pytest.raises(InputError, match="evidence proves a gap"):
        write_proof(tmp_path / "p.npz", X, -y, LAM, solution, qid=qid)
    assert list(tmp_path.iterdir()) == []
