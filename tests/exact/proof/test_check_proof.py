"""The checker: its parts against exact answers, faults that it refuses, and its command."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, solve, write_proof
from aucert.exact.proof import check_proof, write
from cutting import Changing
from loops import each, refuses
from naive import exact, primal_value, products, pulled, weighted_pairs
from proofs import Columns, Stated, changed, scalars

FORMATS = [np.float64, np.longdouble]
SOURCE = Path(check_proof.__file__)
CLASSES = ("marginals", "weights")
Change = Callable[[Columns], Columns]


def by_weights(X: Any, w: Any, lam: float, bins=64, half=3, scale=1.0) -> Columns:
    found = scalars(kind="weights", lam=lam, w=w, w_dual=w, offset=X.mean(axis=0), scale=scale)
    return found | scalars(bins=bins, half=half)


LAM = 0.05
ORDERED = ("query", "survival", "repeated", "crossed", "shared", "long")


def some_rows(kind: str) -> Stated:
    rng = np.random.default_rng(5)
    if kind == "classes":
        y = np.arange(90) % 3 == 0
        X = rng.normal(size=(90, 3)) + 0.7 * y[:, None] + 4.0
        return Stated(X, "classes", {"y": y}, rng.integers(1, 4, 90))
    n = 900 if kind == "long" else 40
    X = np.round(rng.normal(size=(n, 2)), 1) + 3.0
    if kind in ("survival", "long"):
        time = np.ceil(9 * rng.exponential(size=n) * np.exp(-X[:, 0] + 3))
        return Stated(X, "survival", {"time": time, "event": rng.random(n) < 0.6}, np.ones(n, int))
    y, qid = np.round(X[:, 0] + rng.normal(size=n)), rng.integers(0, 4, n)
    if kind in ("query", "repeated"):
        r = np.ones(n, int) if kind == "query" else rng.integers(0, 4, n)
        return Stated(X, "query", {"y": y, "qid": np.array(["d", "a", "c", "b"])[qid]}, r)
    columns = {"key": (y > 2).astype(float), "group": qid}
    if kind == "shared":
        columns["share"] = np.array([1.0, 3.0, 0.3, 7.0])[qid]
    else:
        columns |= {"upper": qid % 2 == 0, "lower": qid % 2 == 1, "group": np.zeros(n, dtype=int)}
    return Stated(X, "ordered", columns, np.ones(n, int))


def honest_proofs() -> dict[str, tuple[Columns, Stated, Any]]:
    """Return a proof of every kind with its rows and solution; by classes, claims are tight."""
    found = {}
    for kind in ("classes", *ORDERED):
        stated = some_rows(kind)
        solution = stated.solve(LAM, tol={"long": 1e-6, "classes": 1e-12}.get(kind, 1e-9))
        found[kind] = stated.written(LAM, solution), stated, solution
    marginals, stated, solution = found.pop("classes")
    weights = {k: x for k, x in marginals.items() if k not in ("u", "v", "cap")}
    weights |= by_weights(stated.X, solution.w, LAM, 2**12, 40)
    for kind, proof in zip(CLASSES, (marginals, weights), strict=True):
        upper, lower, digest = stated.check(check_proof.bounds, proof)
        proof |= scalars(primal=float(upper) + 1e-15, dual=float(lower) - 1e-15, sha256=digest)
        proof["gap"] = np.asarray(float(upper - lower) * 1.001)
        found[kind] = proof, stated, solution
    return found


def awkward(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Small data (X, positive, repetitions, lam) of a kind that has broken certificates."""
    rng = np.random.default_rng(sum(map(ord, name)))
    X, positive = rng.normal(size=(24, 2)), np.arange(24) % 3 == 0
    X[positive] += 0.5
    duplicates = np.repeat(np.arange(8), 3)
    X = {
        "ties": np.round(X),
        "offset": X + np.array([1e8, -1e5]),
        "large": X * 1e6,
        "small": X * 1e-7,
        "duplicates": X[duplicates],
        "separable": X + 8.0 * positive[:, None],
        "constant": np.where([True, False], X, 7.0),
        "zero": 0 * X,
    }.get(name, X)
    sides = {"one positive": np.arange(24) == 5, "duplicates": positive[duplicates]}
    positive = sides.get(name, positive)
    top = {"repetitions": 5, "many repetitions": 2**25}.get(name)
    r = np.ones(24, int) if top is None else rng.integers(0, top, 24)
    lam = {"tiny lam": 1e-9, "large lam": 1e6, "large": 1e10, "small": 1e-16}.get(name, 0.05)
    return X, positive, r, lam


NAMES = (
    *("plain", "ties", "tiny lam", "large lam", "offset", "large", "small", "one positive"),
    *("duplicates", "repetitions", "many repetitions", "separable", "constant", "zero"),
)


def test_the_checker_imports_numpy_and_the_standard_library_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append("." * node.level + (node.module or ""))
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy"}


def test_an_exact_dot_does_not_overflow() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.integers(-(2**62), 2**62, size=(2, 3000))
    wanted = sum(a * b for a, b in zip(p.tolist(), q.tolist(), strict=True))
    assert check_proof.exact_dot(p, q) == wanted


@each("size", [3, 2**59])
@each("cap", [1, 5, 2**40])
def test_a_ramp_is_exact_though_its_running_sums_pass_the_range(size: int, cap: int) -> None:
    rng = np.random.default_rng(1)
    values, weight = rng.integers(-size, size, 80), rng.integers(0, 9, 80)
    at = np.append(rng.integers(-size, size, 30), values[:10])
    pairs = list(zip(values.tolist(), weight.tolist(), strict=True))
    wanted = [sum(k * min(max(x - t, 0), cap) for x, k in pairs) for t in at.tolist()]
    assert [int(x) for x in check_proof.ramp(values, weight, at, cap)] == wanted


def test_the_largest_flow_is_exact_where_int64_is_not() -> None:
    n, cap = 6, 2**59
    u, one = np.full(n, n * cap - 1), np.ones(n, np.int64)
    assert check_proof.largest_flow(u, u, one, one, cap) == n * (n * cap - 1)


@each("real", FORMATS)
@each("run", [7, 1024])
@each("offset", [0.0, 1e9])
def test_scores_are_as_near_as_they_claim(real: type, offset: float, run: int, monkeypatch) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(3)
    X, w = offset + rng.normal(size=(60, 40)), rng.normal(size=40)
    w[-1] = -w[:-1].sum()  # what is left of the offset cancels
    q, S, slip = check_proof.scores(X, w, np.full(40, offset), real, check_proof.sha256())
    middle, true = Fraction(offset) * sum(exact(w)), products(exact(X), exact(w))
    errors = [abs(Fraction(int(k), 2**q) - s + middle) for k, s in zip(S, true, strict=True)]
    assert 2 * max(errors) <= slip < 1e-11


@each("real", FORMATS)
@each("run", [1, 16, 1024])
def test_a_pull_is_never_below_the_exact_one(real: type, run: int, monkeypatch) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-8, 8, (300, 1))
    r, c = rng.integers(0, 4, 300), rng.integers(-(2**61), 2**61, 300)
    X[150:], c[150:], r[150:] = X[:150], -c[:150], r[:150]  # all of it cancels
    c[0] += 1
    found = check_proof.pull(X, c, r, np.zeros(3), 0, real, check_proof.sha256())
    true = pulled(exact(X), (r.astype(object) * c).tolist())
    assert all(Fraction(float(bound)) >= abs(x) for bound, x in zip(found, true, strict=True))


def test_what_is_missing_from_the_flow_is_paid_for_in_the_pull() -> None:
    of = np.array([[1.0], [-3.0]]), np.array([5, -5]), np.ones(2, np.int64), np.zeros(1)
    free, paid = (check_proof.pull(*of, k, np.float64, check_proof.sha256())[0] for k in (0, 7))
    assert paid >= free + 7 * 3


@pytest.fixture(scope="module")
def honest() -> Any:
    """By kind: the proof, what it is about, and the solution."""
    return honest_proofs()


@pytest.fixture
def checked(honest: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command says of the proof of a kind, with changes to it and to its data."""

    def run(kind: str, *options: str, proof: Any = (), data: Any = ()) -> tuple[int, str]:
        files = [str(tmp_path / "proof.npz"), str(tmp_path / "data.npz")]
        np.savez(files[0], **dict(honest[kind][0], **dict(proof)))
        held = dict(data_of(honest[kind][1]), **dict(data))
        np.savez(files[1], **{k: x for k, x in held.items() if x is not None})
        status, text = check_proof.main([*files, *options]), capsys.readouterr().out
        assert text.count("\n") == 1
        assert text.startswith(("verified gap <= ", "REFUSED: ", "not readable: ")[status])
        return status, text

    return run


def data_of(stated: Any) -> Columns:
    return {"X": stated.X, "weight": stated.r, **stated.columns}


@each("kind", [*CLASSES, *ORDERED])
def test_what_was_written_is_verified(honest: Any, checked: Any, kind: str) -> None:
    proof, stated, solution = honest[kind]
    status, text = checked(kind)
    r, y = stated.r, stated.columns.get("y")
    of = f"the pairs of {len(r)} rows, {stated.kind}"
    if kind in CLASSES:
        of = f"over {r[y].sum()} * {r[~y].sum()} pairs, positive True"
    assert status == 0 and f"{of}, lam = 0.05" in text
    assert float(proof["gap"]) <= 1.2 * solution.certificate.gap + 1e-11 or kind == "weights"
    assert kind in CLASSES or str(proof["kind"]) == ("scores" if kind == "long" else "marginals")
    assert checked(kind, "--lam", "5e-2") == (0, text)
    for wrong in ("0.051", "nan"):
        assert checked(kind, "--lam", wrong) == (1, "REFUSED: the proof is for lam = 0.05\n")
    if kind in CLASSES:
        assert checked(kind, "--lam", "0.05", "--positive", "True") == (0, text)
        assert checked(kind, "--positive", "False") == (1, "REFUSED: it has positive label True\n")
        assert checked(kind, "--lam", "0.05", "--positive", "1")[0] == 1


@each("kind", [kind for kind in ORDERED if kind != "long"])
def test_the_exact_objective_and_the_optimum_are_within_the_bounds(honest: Any, kind: str) -> None:
    proof, stated, solution = honest[kind]
    true = primal_value(exact(stated.X), stated.pairs(), "hinge", Fraction(LAM), exact(solution.w))
    best = true - Fraction(solution.certificate.gap)
    scored = proof | scalars(kind="scores", bins=1 << 10, half=7)
    scored["scores"] = np.floor(1024 * stated.X @ solution.w).astype(np.int64)
    for order in (proof, scored, scored | scalars(half=0, scale=0.7)):
        for real in FORMATS:
            upper, lower, _ = stated.check(check_proof.bounds, order, real)
            assert lower <= true <= upper <= true + Fraction(1e-12)
    assert stated.check(check_proof.bounds, proof)[1] >= best - Fraction(1e-11)


@each("real", FORMATS)
@each("name", NAMES)
@pytest.mark.long_digits
def test_objective_and_optimum_are_between_the_bounds(name: str, real: type) -> None:
    X, positive, r, lam = awkward(name)
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-9)
    rows, pairs = exact(X), weighted_pairs(positive.tolist(), AllPairs(r))
    best = primal_value(rows, pairs, "hinge", Fraction(lam), exact(solution.w))
    gap, w = Fraction(solution.certificate.gap), solution.w
    u, v, cap = write.integer_marginals(solution.witness.c, positive, r)
    first = scalars(kind="marginals", lam=lam, w=w, offset=X.mean(axis=0), scale=1.0)
    first |= scalars(u=u, v=v, cap=cap)
    others = by_weights(X, w, lam, 1024, 0), by_weights(X, w, lam, 64, 9, 0.7)
    for proof in (first, *others, by_weights(X, 0.9 * w + 0.01, lam)):
        true = primal_value(rows, pairs, "hinge", Fraction(lam), exact(proof["w"]))
        upper, lower, _ = check_proof.bounds(proof, X, positive, r, real)
        assert lower <= best  # and the optimum is not below best - gap:
        assert upper >= true >= best - gap
        assert upper - true <= 1e-12 * (1 + true)
    upper, lower, _ = check_proof.bounds(first, X, positive, r)
    assert upper - lower <= gap + Fraction(1e-13) * best


def test_the_gap_that_is_printed_is_rounded_up(honest: Any) -> None:
    proof, stated, _ = honest["weights"]
    for size in np.linspace(0.5, 1.5, 12):
        loose = proof | scalars(primal=9.0, dual=0.0, gap=9.0) | {"w": size * proof["w"]}
        upper, lower, _ = stated.check(check_proof.bounds, loose)
        _, _, _, gap, _, part, *_ = stated.check(check_proof.check, loose).split()
        assert Fraction(float(gap)) > upper - lower
        assert Fraction(float(part.strip("()"))) > (upper - lower) / upper


# `proof_fields` and `ordered_proof` of the fuzzer change any field, and judge what passes.
# The claims of the honest proofs of two classes have a room of 1e-15, maybe more than the gap.
BOTH: dict[str, Change] = {
    "w scaled": lambda p: {"w": 1.01 * p["w"]},
    "gap zero": lambda p: {"gap": 0.0},
    "primal lowered": lambda p: {"primal": p["primal"] - 2.0 * p["gap"] - 2e-15},
    "dual raised": lambda p: {"dual": p["dual"] + 2.0 * p["gap"] + 2e-15},
    "offset absurd": lambda p: {"offset": p["offset"] + 1e140},
    "sha256 of other data": lambda p: {"sha256": "0" * 64},
    "later format": lambda p: {"format": 3},
    "the other kind": lambda p: {"kind": "weights" if p["kind"] == "marginals" else "marginals"},
    "kind unknown": lambda p: {"kind": "alpha"},
    "other pairs": lambda p: {"pairs": "survival" if str(p.get("pairs")) == "query" else "query"},
    "no pairs": lambda p: {"pairs": "some"},
    "pairs a list": lambda p: {"pairs": [str(p.get("pairs", "classes"))]},
}
MARGINALS: dict[str, Change] = {
    "a negative marginal, the sum kept": lambda p: {
        "u": changed(p["u"], [3, 4], [-5, p["u"][4] + p["u"][3] + 5])
    },
    "the least integer": lambda p: {"v": changed(p["v"], 0, -(2**63))},
    "integers that wrapped": lambda p: {"u": p["u"] + np.int64(2**62) + np.int64(2**62 - 1)},
}
WEIGHTS: dict[str, Change] = {"w_dual scaled": lambda p: {"w_dual": 3.0 * p["w_dual"]}}
SCORES: dict[str, Change] = {
    "format 1": lambda p: {"format": 1, "pairs": "classes"},
    "scores reversed": lambda p: {"scores": p["scores"][::-1].copy()},
    "a score too far": lambda p: {"scores": changed(p["scores"], 3, 2**60)},
    "the least integer as a score": lambda p: {"scores": changed(p["scores"], 3, -(2**63))},
    "half huge": lambda p: {"half": 2**60},
}
FAULTS = BOTH | MARGINALS | WEIGHTS | SCORES
OF_KIND = {
    **{kind: [*BOTH, *MARGINALS] for kind in ("marginals", "query", "survival", "shared")},
    "weights": [*BOTH, *WEIGHTS],
    "long": [*BOTH, *SCORES],
}


@each(("kind", "name"), [(kind, name) for kind, names in OF_KIND.items() for name in names])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_a_proof_with_a_fault_is_refused(honest: Any, checked: Any, kind: str, name: str) -> None:
    with np.errstate(over="ignore"):
        fault = scalars(**FAULTS[name](honest[kind][0]))
    assert checked(kind, proof=fault)[0] > 0


OTHER_FORMATS = {"f": (np.float32, complex), "i": (float, np.int32), "U": (bytes,)}


@each("kind", CLASSES)
def test_a_field_of_another_kind_or_shape_is_refused(honest: Any, kind: str) -> None:
    proof, stated, _ = honest[kind]
    for name, x in ((k, x) for k, x in proof.items() if k not in ("positive", "pairs")):
        others = [None, x[None], *(x.astype(of) for of in OTHER_FORMATS[x.dtype.kind])]
        others += [x[:-1]] if x.ndim else []
        others += [np.full_like(x, np.nan)] if x.dtype.kind == "f" else []
        for other in others:
            bad = {k: v for k, v in (proof | {name: other}).items() if v is not None}
            with pytest.raises((ValueError, KeyError)):
                stated.check(check_proof.check, bad)


def integers(X: np.ndarray, one: int) -> np.ndarray:
    return changed(np.rint(X).astype(np.int64), (4, 1), one)


DATA: dict[str, Change] = {
    "labels swapped": lambda d: {"y": ~d["y"]},
    "a label flipped": lambda d: {"y": changed(d["y"], 1, ~d["y"][1])},
    "a value moved": lambda d: {"X": changed(d["X"], (4, 1), 9.0)},
    "a last bit": lambda d: {"X": changed(d["X"], (4, 1), np.nextafter(d["X"][4, 1], np.inf))},
    "X transposed": lambda d: {"X": d["X"].T},
    "whole numbers that float64 does not hold": lambda d: {"X": integers(d["X"], 2**53 + 1)},
    "X in the long format": lambda d: {"X": d["X"] + np.longdouble(1) / 3},
    "a row doubled": lambda d: {k: np.concatenate([x, x[:1]]) for k, x in d.items()},
    "a row lost": lambda d: {k: x[1:] for k, x in d.items()},
    "weights ignored": lambda d: {"weight": np.ones(90)},
    "a weight changed": lambda d: {"weight": changed(d["weight"], 0, 9)},
}


@each("kind", CLASSES)
@each("forged", [False, True], ids=["", "digest forged"])
@each("name", DATA)
@pytest.mark.long_digits
def test_other_data_are_refused_even_under_their_own_digest(honest, checked, name, forged, kind):
    proof, data = dict(honest[kind][0]), data_of(honest[kind][1])
    data |= DATA[name](data)
    if forged and name != "a last bit":  # which proves as much
        try:
            digest = check_proof.bounds(proof, data["X"], data["y"], data["weight"])[2]
        except (ValueError, TypeError):
            return  # refused before the digest is looked at
        proof["sha256"] = np.asarray(digest)
    assert checked(kind, proof=proof, data=data)[0] > 0


OTHER: dict[tuple[str, str], Change] = {
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


@each(("kind", "name"), OTHER)
def test_other_columns_are_refused(honest: Any, checked: Any, kind: str, name: str) -> None:
    status, _ = checked(kind, data=OTHER[kind, name](data_of(honest[kind][1])))
    assert status == (2 if name == "no key" else 1)


OUT_OF_RANGE: list[tuple[str, str, str, tuple[Any, ...]]] = [
    *(("marginals", "negative", name, (-1,)) for name in ("u", "v")),
    ("marginals", "out of range", "cap", (2**58, 2**61, 0)),
    ("weights", "out of range", "half", (2**60, 2**63 - 1, -1)),
    ("weights", "out of range", "scale", (np.nextafter(1.0, 2.0), -0.5)),
    *(("weights", "not finite", name, (np.nan,)) for name in ("scale", "w", "w_dual", "lam")),
    ("weights", "not finite", "w", (-np.inf,)),
    ("weights", "power of two", "bins", (3, 2**60)),
    ("weights", "scores are too large", "w", (1e149,)),
    ("weights", "lam must be > 0", "lam", (0.0,)),
]


def test_a_value_out_of_range_is_refused(honest: Any) -> None:
    """Apart from the claims, these would make the arithmetic itself wrong."""
    for kind, why, name, values in OUT_OF_RANGE:
        proof, stated, _ = honest[kind]
        for value in values:
            old = proof[name]
            bad = changed(old, 0, value) if old.shape else np.asarray(value, dtype=old.dtype)
            refuses(why, stated.check, check_proof.bounds, proof | {name: bad}, error=ValueError)


@each("value", [-1.0, 0.5, np.nan, 2.0**26, np.inf, 1e200])
def test_data_out_of_their_range_are_refused_as_such(honest: Any, value: float) -> None:
    (proof, stated, _), as_such = honest["weights"], {"error": ValueError}
    y, r = stated.columns["y"], changed(stated.r.astype(float), 3, value)
    refuses("whole and >= 0", check_proof.bounds, proof, stated.X, y, r, **as_such)
    if not abs(value) < 1e9:
        X = changed(stated.X, (4, 1), value)
        refuses("not finite", check_proof.bounds, proof, X, y, stated.r, **as_such)


def swapped(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same rows, a positive one exchanged with a negative one."""
    i, j = np.flatnonzero(y)[0], np.flatnonzero(~y)[-1]
    return changed(X, [i, j], X[[j, i]])


@each(
    ("kind", "other", "passes"),
    [("marginals", False, 2), ("weights", False, 2), ("weights", True, 3)],
)
def test_rows_that_change_are_refused(honest: Any, kind: str, other: bool, passes: int) -> None:
    proof, stated, _ = honest[kind]
    proof = proof | scalars(primal=9.0, dual=0.0, gap=9.0)
    proof |= {"w_dual": 0.9 * proof["w"]} if other else {}
    steps, y = -(-len(stated.X) // check_proof.RUN), stated.columns["y"]
    still = Changing(stated.X, stated.X, 0)
    assert check_proof.check(proof, still, y, stated.r).startswith("verified")
    assert still.count == passes * steps
    for after in range(1, passes * steps):
        rows, said = Changing(stated.X, swapped(stated.X, y), after), "X changed while it was read"
        refuses(said, check_proof.check, proof, rows, y, stated.r, error=ValueError)


def test_no_proof_is_written_of_rows_that_change(honest: Any, tmp_path: Path) -> None:
    X, y = honest["weights"][1].X, honest["weights"][1].columns["y"]
    solution, said = solve(X, y, 1e-2), r"X changed while it was read|proves a gap"
    for after in (1, 2):  # the mean, the scores and the pull are a reading each
        rows = Changing(X, swapped(X, y), after)
        refuses(said, write_proof, tmp_path / "p.npz", rows, y, 1e-2, solution)
    assert not (tmp_path / "p.npz").exists()


def test_what_cannot_be_read_has_status_2(honest: Any, checked: Any, tmp_path, capsys) -> None:
    """What is not a proof, or not a table of rows: `test_cases_gram_and_proof`."""
    for options in ("--lam", "--lam much", "--lam --positive True", "--penalty 1"):
        assert checked("marginals", *options.split())[0] == 2
    proof = tmp_path / "proof.npz"
    np.save(tmp_path / "X.npy", honest["marginals"][1].X)
    for arguments in ((), (proof,), (proof, tmp_path / "X.npy")):
        status, text = check_proof.main([*map(str, arguments)]), capsys.readouterr().out
        assert status == 2 and text.startswith("not readable: ") and text.count("\n") == 1
        assert check_proof.USAGE in text


Y = np.arange(90) % 3 == 0
LABELS: dict[str, tuple[Any, np.ndarray]] = {
    "a record": (np.array((True, 1), dtype=[("a", bool), ("b", int)]), Y),
    "a record of one": (np.array((True,), dtype=[("a", bool)]), Y),
    "raw bytes": (np.array(b"\x01", dtype="V1"), Y),
    "a list": (np.array([True]), Y),
    "a column for each row": (Y.copy(), Y),
    "complex": (np.array(1 + 0j), Y),
    "a time": (np.array(1, dtype="m8[s]"), Y),
    "not in y": (np.array(7), Y.astype(int)),
    "text for a number": (np.array("1"), Y.astype(int)),
    "a number for text": (np.array(1), Y.astype(int).astype(str)),
    "not a number": (np.array(np.nan), np.where(Y, np.nan, 0.0)),
    "a whole number that y does not hold": (np.array(2**53 + 1), np.where(Y, 2.0**53, 0.0)),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@each("name", LABELS)
def test_the_positive_label_is_one_plain_label(checked: Any, name: str) -> None:
    label, y = LABELS[name]
    assert checked("marginals", proof={"positive": label}, data={"y": y})[0] == 1


def test_labels_that_a_float_would_merge_stay_apart(checked: Any) -> None:
    y = np.where(Y, 2**53 + 1, 2**53)
    for label, status in ((2**53 + 1, 0), (2**53, 1), (2.0**53, 1)):
        assert checked("marginals", proof={"positive": np.array(label)}, data={"y": y})[0] == status
