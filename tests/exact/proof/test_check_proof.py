"""The checker: its parts against exact answers, faults that it refuses, and its command."""

from __future__ import annotations

import ast
import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import integer_marginals, write_proof
from loops import each, seeds
from naive import dual_value, exact, primal_value, products, weighted_pairs
from proofs import (
    NAMES,
    awkward,
    by_marginals,
    by_weights,
    changed,
    honest_proofs,
    scalars,
    verdict,
)

FORMATS = [np.float64, np.longdouble]
SOURCE = Path(check_proof.__file__)


def numbers(values: np.ndarray) -> list[int]:
    return [int(x) for x in values]


def exact_scores(X: np.ndarray, w: np.ndarray) -> list[Fraction]:
    return products(exact(X), exact(w))


def exact_objective(
    X: np.ndarray, positive: np.ndarray, w: np.ndarray, lam: float, r: np.ndarray
) -> Fraction:
    """lam/2 |w|^2 + the mean hinge over all pairs of copies."""
    pairs = weighted_pairs(positive.tolist(), AllPairs(r))
    return primal_value(exact(X), pairs, "hinge", Fraction(lam), exact(w))


def test_the_checker_imports_numpy_and_the_standard_library_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            names.add((node.module or "").split(".")[0])
    assert names <= {*sys.stdlib_module_names, "numpy"}


def test_an_exact_dot_does_not_overflow() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.integers(-(2**62), 2**62, size=(2, 3000))
    wanted = sum(a * b for a, b in zip(numbers(p), numbers(q), strict=True))
    assert check_proof.exact_dot(p, q) == wanted


@each("size", [3, 2**59])
@each("cap", [1, 5, 2**40])
def test_a_ramp_is_exact_though_its_running_sums_pass_the_range(size: int, cap: int) -> None:
    rng = np.random.default_rng(1)
    values, weight = rng.integers(-size, size, 80), rng.integers(0, 9, 80)
    at = np.append(rng.integers(-size, size, 30), values[:10])
    wanted = [
        sum(
            k * min(max(x - t, 0), cap)
            for x, k in zip(numbers(values), numbers(weight), strict=True)
        )
        for t in numbers(at)
    ]
    assert numbers(check_proof.ramp(values, weight, at, cap)) == wanted


def test_the_largest_flow_is_the_least_cut_over_all_sets_of_rows() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        p, m = rng.integers(1, 6, size=2)
        cap = int(rng.integers(1, 6))
        a, b = rng.integers(0, 4, p), rng.integers(0, 4, m)
        u, v = rng.integers(0, 1 + cap * max(b.sum(), 1), p), rng.integers(0, 12, m)
        cuts = [
            int(a[~chosen] @ u[~chosen]) + int(b @ np.minimum(v, cap * int(a[chosen].sum())))
            for chosen in (np.array(row) for row in itertools.product([False, True], repeat=p))
        ]
        assert check_proof.largest_flow(u, v, a, b, cap) == min(cuts)


def test_the_largest_flow_is_exact_where_int64_is_not() -> None:
    n, cap = 6, 2**59
    u, one = np.full(n, n * cap - 1), np.ones(n, np.int64)
    assert check_proof.largest_flow(u, u, one, one, cap) == n * (n * cap - 1)


@each("real", FORMATS)
@each("run", [7, 1024])
@each("offset", [0.0, 1e9])
def test_scores_are_as_near_as_they_claim(
    real: type, offset: float, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(3)
    X, w = offset + rng.normal(size=(60, 40)), rng.normal(size=40)
    w[-1] = -w[:-1].sum()  # what is left of the offset cancels
    q, S, slip = check_proof.scores(X, w, np.full(40, offset), real, check_proof.sha256())
    middle = sum(Fraction(offset) * Fraction(x) for x in w.tolist())
    errors = [
        abs(Fraction(int(k), 2**q) - s + middle) for k, s in zip(S, exact_scores(X, w), strict=True)
    ]
    assert 2 * max(errors) <= slip < 1e-11


@each("real", FORMATS)
def test_the_rounding_of_scores_to_whole_numbers_is_counted(real: type) -> None:
    X, w = np.arange(1.0, 200.0)[:, None] / 256, np.array([1 / 3])
    q, S, slip = check_proof.scores(X, w, np.zeros(1), real, check_proof.sha256())
    errors = [Fraction(int(k), 2**q) - s for k, s in zip(S, exact_scores(X, w), strict=True)]
    assert max(errors) - min(errors) <= slip


@each("real", FORMATS)
@each("run", [1, 16, 1024])
def test_a_pull_is_never_below_the_exact_one(
    real: type, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(4)
    X, r = (
        rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-8, 8, (300, 1)),
        rng.integers(0, 4, 300),
    )
    c = rng.integers(-(2**61), 2**61, 300)
    X[150:], c[150:], r[150:] = X[:150], -c[:150], r[:150]  # all of it cancels
    c[0] += 1
    found = check_proof.pull(X, c, r, np.zeros(3), 0, real, check_proof.sha256())
    rows = exact(X)
    for k, bound in enumerate(found):
        true = sum(int(r[i]) * int(c[i]) * rows[i][k] for i in range(300))
        assert Fraction(float(bound)) >= abs(true)


def test_what_is_missing_from_the_flow_is_paid_for_in_the_pull() -> None:
    X, c = np.array([[1.0], [-3.0]]), np.array([5, -5])
    rest = np.float64, check_proof.sha256()
    free = check_proof.pull(X, c, np.ones(2, np.int64), np.zeros(1), 0, *rest)
    paid = check_proof.pull(X, c, np.ones(2, np.int64), np.zeros(1), 7, *rest)
    assert paid[0] >= free[0] + 7 * 3


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    return honest_proofs(tmp_path_factory.mktemp("proof"))


@pytest.fixture
def folder(tmp_path: Path, honest: dict) -> Path:
    """A folder with the checker alone, an honest proof and its data."""
    shutil.copy(SOURCE, tmp_path / "check_proof.py")
    np.savez(tmp_path / "proof.npz", **honest["marginals"])
    np.savez(tmp_path / "data.npz", **honest["data"])
    for name, array in honest["data"].items():
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "check_proof.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_copied_file_verifies_a_proof_and_says_so_in_one_line(folder: Path) -> None:
    status, text = run(folder, "proof.npz", "data.npz")
    assert (status, text.count("\n")) == (0, 1) and text.startswith("verified gap <= ")
    assert run(folder, "proof.npz", "X.npy", "y.npy", "weight.npy") == (status, text)
    status, text = run(folder, "proof.npz", "X.npy", "y.npy")  # the weights were left out
    assert (status, text.count("\n")) == (1, 1) and text.startswith("REFUSED: ")


def main(*arguments: Path, capsys: pytest.CaptureFixture) -> tuple[int, str]:
    status = check_proof.main([str(name) for name in arguments])
    return status, capsys.readouterr().out


# numpy leaves the file of a broken archive to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_cannot_be_read_has_status_2(folder: Path, capsys: pytest.CaptureFixture) -> None:
    (folder / "text.npz").write_text("not an archive")
    (folder / "cut.npz").write_bytes((folder / "proof.npz").read_bytes()[:-300])
    np.savez(folder / "odd.npz", X=np.ones((2, 2)))
    np.savez(folder / "pickled.npz", X=np.ones((2, 2)), y=np.array([{}, None], dtype=object))
    proof, data = folder / "proof.npz", folder / "data.npz"
    for arguments in (
        (),
        (proof,),
        (proof, folder / "none.npz"),
        (folder / "text.npz", data),
        (folder / "cut.npz", data),
        (proof, folder / "text.npz"),
        (proof, folder / "odd.npz"),
        (proof, folder / "pickled.npz"),
        (proof, folder / "X.npy"),
    ):
        status, text = main(*arguments, capsys=capsys)
        assert status == 2 and text.startswith("not readable: ") and text.count("\n") == 1
        few = len(arguments) < 2 or str(arguments[-1]).endswith(".npy")
        assert (check_proof.USAGE in text) == few and "pickle=" not in text


@each("real", FORMATS)
@each("name", NAMES)
@pytest.mark.long_digits
def test_the_bounds_hold_the_exact_objective_and_the_optimum_between_them(
    name: str, real: type
) -> None:
    X, positive, r, lam = awkward(name)
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-9)
    best = exact_objective(X, positive, solution.w, lam, r)
    gap = Fraction(solution.certificate.gap)
    u, v, cap = integer_marginals(solution.witness.c, positive, r)
    for proof in (
        by_marginals(X, solution.w, lam, u, v, cap),
        by_weights(X, solution.w, lam, 1024, 0),
        by_weights(X, solution.w, lam, 64, 9, 0.7),
        by_weights(X, 0.9 * solution.w + 0.01, lam),
    ):
        true = exact_objective(X, positive, proof["w"], lam, r)
        upper, lower, _ = check_proof.bounds(proof, X, positive, r, real)
        assert lower <= best  # and the optimum is not below best - gap:
        assert upper >= true >= best - gap
        assert upper - true <= 1e-12 * (1 + true)
    first = by_marginals(X, solution.w, lam, u, v, cap)
    upper, lower, _ = check_proof.bounds(first, X, positive, r)
    assert upper - lower <= gap + Fraction(1e-13) * best


@pytest.mark.long_digits
def test_pairs_exactly_at_the_margin_are_told_apart_alike_on_both_sides() -> None:
    X = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [1.0], [-1.0], [4.0]])
    positive, r = np.array([0, 1, 0, 1, 1, 0, 0, 1]) == 1, np.arange(1, 9)
    for size in (1.0, -1.0, 0.5, 3.0):
        w = np.array([size])
        for offset in (0.0, 0.3):
            proof = by_weights(X, w, 0.1) | {"offset": np.array([offset])}
            upper, _, _ = check_proof.bounds(proof, X, positive, r)
            true = exact_objective(X, positive, w, 0.1, r)
            assert true <= upper <= true + Fraction(1e-15)


@each("half", [0, 1, 7, 500])
@each("name", ["plain", "ties", "repetitions", "offset"])
@pytest.mark.long_digits
def test_the_lower_bound_is_the_exact_dual_value_of_the_binned_alpha(name: str, half: int) -> None:
    X, positive, r, lam = awkward(name)
    w, bins, scale = np.array([0.375, -1.25]), 16, 0.75
    proof = by_weights(X, w, lam, bins, half, scale)
    scores = exact_scores(X - proof["offset"], w)
    a = [scores[i] * bins // 1 for i in np.flatnonzero(positive)]
    b = [scores[j] * bins // 1 for j in np.flatnonzero(~positive)]

    def share(m: Fraction | int) -> Fraction:
        if half == 0:
            return Fraction(int(m >= 1))
        return min(max(Fraction(m) / (2 * half) + Fraction(1, 2), Fraction(0)), Fraction(1))

    alpha = [Fraction(scale) * share(y - x + bins) for x in a for y in b]
    pairs = weighted_pairs(positive.tolist(), AllPairs(r))
    true = max(dual_value(exact(X), pairs, "hinge", Fraction(lam), alpha), Fraction(0))
    _, lower, _ = check_proof.bounds(proof, X, positive, r)
    assert lower <= true <= lower + Fraction(1e-14)


@each("seed", seeds(60))
def test_no_dual_point_whatsoever_beats_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, positive, r, lam = awkward(NAMES[seed % len(NAMES)])
    solution = solve(X, positive, lam, sample_weight=r, tol=1e-9)
    best = exact_objective(X, positive, solution.w, lam, r)
    u, v, cap = integer_marginals(solution.witness.c, positive, r)
    for _ in range(4):
        left = (u * rng.choice([0.0, 0.5, 1.0, 1.0, 1.5], u.size)).astype(np.int64)
        right = (v * rng.choice([0.0, 0.5, 1.0, 1.0, 1.5], v.size)).astype(np.int64)
        for pair in ((left, right), (u, right), (rng.permutation(u), v), (left[::-1], v)):
            proof = by_marginals(X, solution.w, lam, *pair, max(cap // int(rng.integers(1, 4)), 1))
            assert check_proof.bounds(proof, X, positive, r)[1] <= best
        other = rng.normal(size=2) * 10.0 ** rng.integers(-3, 4)
        proof = by_weights(
            X, solution.w, lam, 2 ** int(rng.integers(0, 12)), int(rng.integers(0, 99))
        )
        proof["w_dual"], proof["offset"] = other, rng.normal(size=2)
        assert check_proof.bounds(proof, X, positive, r)[1] <= best


@each("kind", ["marginals", "weights"])
def test_an_honest_proof_is_verified(honest: dict, kind: str) -> None:
    text = verdict(honest[kind], honest["data"])
    r, y = honest["data"]["weight"], honest["data"]["y"]
    assert text.startswith("verified gap <= ")
    assert f"over {r[y].sum()} * {r[~y].sum()} pairs, positive True, lam = 0.02" in text


def test_the_gap_that_is_printed_is_rounded_up(honest: dict) -> None:
    data = honest["data"]
    loose = scalars(primal=9.0, dual=0.0, gap=9.0)
    for size in np.linspace(0.5, 1.5, 12):
        proof = honest["weights"] | loose | {"w": size * honest["weights"]["w"]}
        upper, lower, _ = check_proof.bounds(proof, data["X"], data["y"], data["weight"])
        _, _, _, gap, _, part, *_ = verdict(proof, data).split()
        assert Fraction(float(gap)) > upper - lower
        assert Fraction(float(part.strip("()"))) > (upper - lower) / upper


BOTH: dict[str, Callable[[dict], dict]] = {
    "w scaled": lambda p: {"w": 1.01 * p["w"]},
    "w reversed": lambda p: {"w": -p["w"]},
    "gap zero": lambda p: {"gap": 0.0},
    # The claims of the honest proof have a room of 1e-15, which may be more than its gap.
    "primal lowered": lambda p: {"primal": p["primal"] - 2.0 * p["gap"] - 2e-15},
    "dual raised": lambda p: {"dual": p["dual"] + 2.0 * p["gap"] + 2e-15},
    "scale just above one": lambda p: {"scale": np.nextafter(1.0, 2.0)},
    "scale half": lambda p: {"scale": 0.5},
    "offset absurd": lambda p: {"offset": p["offset"] + 1e140},
    "sha256 of other data": lambda p: {"sha256": "0" * 64},
    "later format": lambda p: {"format": 3},
    "the other kind": lambda p: {"kind": "weights" if p["kind"] == "marginals" else "marginals"},
}
MARGINALS: dict[str, Callable[[dict], dict]] = {
    "marginals reversed": lambda p: {"u": p["u"][::-1].copy()},
    "all marginals doubled": lambda p: {"u": 2 * p["u"], "v": 2 * p["v"]},
    "one side zero": lambda p: {"v": 0 * p["v"]},
    "a negative marginal, the sum kept": lambda p: {
        "u": changed(p["u"], [3, 4], [-5, p["u"][4] + p["u"][3] + 5])
    },
    "the least integer": lambda p: {"v": changed(p["v"], 0, -(2**63))},
    "integers that wrapped": lambda p: {"u": p["u"] + np.int64(2**62) + np.int64(2**62 - 1)},
    "sum right, one row past its cap": lambda p: {"u": gathered(p["u"], 1)},
    "sum right, three rows past their caps": lambda p: {"u": gathered(p["u"], 3)},
    "u and v swapped": lambda p: {"u": p["v"], "v": p["u"]},
    "cap doubled": lambda p: {"cap": 2 * p["cap"]},
    "cap halved": lambda p: {"cap": p["cap"] // 2},
}
WEIGHTS: dict[str, Callable[[dict], dict]] = {
    "w_dual scaled": lambda p: {"w_dual": 3.0 * p["w_dual"]},
    "bins coarse": lambda p: {"bins": 1},
    "half at the end of the range": lambda p: {"half": 2**63 - 1},
}


def gathered(u: np.ndarray, rows: int) -> np.ndarray:
    """The same sum of marginals (all of weight alike), with the first rows holding nearly all."""
    out = np.zeros_like(u)
    out[:rows] = u.sum() // rows
    out[0] += u.sum() - out.sum()
    return out


FAULTS = [("marginals", name, f) for name, f in (BOTH | MARGINALS).items()]
FAULTS += [("weights", name, f) for name, f in (BOTH | WEIGHTS).items()]


@each(("kind", "name", "fault"), FAULTS, ids=[f"{k}: {n}" for k, n, _ in FAULTS])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_a_proof_with_a_fault_is_refused(
    honest: dict, kind: str, name: str, fault: Callable[[dict], dict]
) -> None:
    with np.errstate(over="ignore"):
        bad = honest[kind] | scalars(**fault(honest[kind]))
    with pytest.raises((ValueError, OverflowError, TypeError)):
        verdict(bad, honest["data"])


OTHER_FORMATS = {"f": (np.float32, complex), "i": (float, np.int32), "U": (bytes,)}


@each("kind", ["marginals", "weights"])
def test_a_field_of_another_kind_or_shape_is_refused(honest: dict, kind: str) -> None:
    for name, x in honest[kind].items():
        if name in ("positive", "pairs"):
            continue
        others = [None, x[None], *(x.astype(of) for of in OTHER_FORMATS[x.dtype.kind])]
        others += [x[:-1]] if x.ndim else []
        others += [np.full_like(x, np.nan)] if x.dtype.kind == "f" else []
        for other in others:
            bad = {k: v for k, v in (honest[kind] | {name: other}).items() if v is not None}
            with pytest.raises((ValueError, KeyError)):
                verdict(bad, honest["data"])


def flipped(d: dict) -> dict:
    return {"y": changed(d["y"], 1, ~d["y"][1])}


def integers(X: np.ndarray, one: int) -> np.ndarray:
    return changed(np.rint(X).astype(np.int64), (4, 1), one)


DATA: dict[str, Callable[[dict], dict]] = {
    "labels swapped": lambda d: {"y": ~d["y"]},
    "a label flipped": flipped,
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


@each("kind", ["marginals", "weights"])
@each("forged", [False, True], ids=["", "digest forged"])
@each("name", DATA)
@pytest.mark.long_digits
def test_other_data_are_refused_even_under_their_own_digest(
    honest: dict, name: str, forged: bool, kind: str
) -> None:
    data, proof = honest["data"] | DATA[name](honest["data"]), dict(honest[kind])
    if forged and name != "a last bit":  # which proves as much
        try:
            digest = check_proof.bounds(proof, data["X"], data["y"], data["weight"])[2]
        except (ValueError, TypeError):
            return  # refused before the digest is looked at
        proof["sha256"] = np.asarray(digest)
    with pytest.raises((ValueError, TypeError)):
        verdict(proof, data)


@each(
    ("kind", "bad", "why"),
    [
        ("marginals", {"u": -1}, "a marginal is negative"),
        ("marginals", {"v": -1}, "a marginal is negative"),
        ("marginals", {"cap": 2**58}, "out of range"),
        ("marginals", {"cap": 0}, "out of range"),
        ("weights", {"half": 2**60}, "out of range"),
        ("weights", {"half": -1}, "out of range"),
        ("weights", {"scale": 1.5}, "out of range"),
        ("weights", {"scale": -0.5}, "out of range"),
        ("weights", {"scale": np.nan}, "not finite"),
        ("weights", {"bins": 3}, "power of two"),
        ("weights", {"bins": 2**60}, "power of two"),
        ("weights", {"w": np.nan}, "not finite"),
        ("weights", {"w": -np.inf}, "not finite"),
        ("weights", {"w_dual": np.nan}, "not finite"),
        ("weights", {"w": 1e149}, "scores are too large"),
        ("weights", {"lam": 0.0}, "lam must be > 0"),
        ("weights", {"lam": np.nan}, "not finite"),
    ],
)
def test_a_value_out_of_its_range_is_refused_as_such(
    honest: dict, kind: str, bad: dict, why: str
) -> None:
    """Apart from the claims, these would make the arithmetic itself wrong."""
    proof = dict(honest[kind])
    for name, value in bad.items():
        old = proof[name]
        proof[name] = changed(old, 0, value) if old.shape else np.asarray(value, dtype=old.dtype)
    data = honest["data"]
    with pytest.raises(ValueError, match=why):
        check_proof.bounds(proof, data["X"], data["y"], data["weight"])


@each(
    ("name", "at", "value", "why"),
    [
        ("X", (4, 1), np.nan, "X has a value that is not finite"),
        ("X", (4, 1), np.inf, "X has a value that is not finite"),
        ("X", (4, 1), 1e200, "X has a value that is not finite, or too large"),
        ("weight", 3, -1.0, "whole and >= 0"),
        ("weight", 3, 0.5, "whole and >= 0"),
        ("weight", 3, np.nan, "whole and >= 0"),
        ("weight", 3, 2.0**26, "whole and >= 0"),
    ],
)
def test_data_out_of_their_range_are_refused_as_such(
    honest: dict, name: str, at: object, value: float, why: str
) -> None:
    data = honest["data"]
    data = data | {name: changed(data[name].astype(float), at, value)}
    with pytest.raises(ValueError, match=why):
        check_proof.bounds(honest["weights"], data["X"], data["y"], data["weight"])


RUN = check_proof.RUN


class Changing:
    """Rows of which the reading number `after`, from 0, and all later ones are other ones."""

    ndim = 2

    def __init__(self, X: np.ndarray, other: np.ndarray, after: int):
        self.X, self.other, self.after, self.count = X, other, after, 0
        self.shape = X.shape

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.count += 1
        return (self.X if self.count <= self.after else self.other)[rows]


def swapped(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same rows, a positive one exchanged with a negative one."""
    i, j = np.flatnonzero(y)[0], np.flatnonzero(~y)[-1]
    return changed(X, [i, j], X[[j, i]])


@each(
    ("kind", "other", "passes"),
    [("marginals", False, 2), ("weights", False, 2), ("weights", True, 3)],
)
def test_rows_that_change_between_any_two_passes_are_refused(
    honest: dict, kind: str, other: bool, passes: int
) -> None:
    data, proof = honest["data"], dict(honest[kind]) | scalars(primal=9.0, dual=0.0, gap=9.0)
    if other:
        proof["w_dual"] = 0.9 * proof["w"]
    steps = -(-len(data["X"]) // RUN)
    still = Changing(data["X"], data["X"], 0)
    rest = data["y"], data["weight"]
    assert check_proof.check(proof, still, *rest).startswith("verified")
    assert still.count == passes * steps
    for after in range(1, passes * steps):
        rows = Changing(data["X"], swapped(data["X"], data["y"]), after)
        with pytest.raises(ValueError, match="X changed while it was read"):
            check_proof.check(proof, rows, *rest)


def test_no_proof_is_written_of_rows_that_change(honest: dict, tmp_path: Path) -> None:
    X, y = honest["data"]["X"], honest["data"]["y"]
    solution = solve(X, y, 1e-2)
    other = swapped(X, y)
    for after in (1, 2):  # the mean, the scores and the pull are a reading each
        with pytest.raises(InputError, match=r"X changed while it was read|proves a gap"):
            write_proof(tmp_path / "p.npz", Changing(X, other, after), y, 1e-2, solution)
    assert not (tmp_path / "p.npz").exists()


@pytest.fixture
def command(honest: dict, tmp_path: Path, capsys: pytest.CaptureFixture):
    """A function that saves a proof, with changes, and its data, and runs the checker on them."""

    def run(*options: str, proof: dict | None = None, data: dict | None = None) -> tuple[int, str]:
        np.savez(tmp_path / "proof.npz", **(honest["marginals"] | (proof or {})))
        np.savez(tmp_path / "data.npz", **(honest["data"] | (data or {})))
        files = [str(tmp_path / "proof.npz"), str(tmp_path / "data.npz")]
        status = check_proof.main([*files, *options])
        return status, capsys.readouterr().out

    return run


def test_the_penalty_and_the_label_can_be_pinned(command) -> None:
    plain = command()
    assert plain[0] == 0
    assert command("--lam", "0.02") == command("--positive", "True") == plain
    assert command("--lam", "2e-2", "--positive", "True") == plain
    assert command("--lam", "0.021") == (1, "REFUSED: the proof is for lam = 0.02\n")
    assert command("--lam", "nan") == (1, "REFUSED: the proof is for lam = 0.02\n")
    assert command("--positive", "False") == (1, "REFUSED: it has positive label True\n")
    status, text = command("--lam", "0.02", "--positive", "1")
    assert status == 1 and text.startswith("REFUSED: ")


@each(
    "options", [("--lam",), ("--lam", "much"), ("--lam", "--positive", "True"), ("--penalty", "1")]
)
def test_options_that_make_no_sense_have_status_2(command, options: tuple[str, ...]) -> None:
    status, text = command(*options)
    assert status == 2 and text.startswith("not readable: ") and text.count("\n") == 1


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
def test_the_positive_label_is_one_plain_label(honest: dict, command, name: str) -> None:
    label, y = LABELS[name]
    status, text = command(proof={"positive": label}, data={"y": y})
    assert status == 1 and text.startswith("REFUSED: ") and text.count("\n") == 1


def test_labels_that_a_float_would_merge_stay_apart(honest: dict, command) -> None:
    y = np.where(honest["data"]["y"], 2**53 + 1, 2**53)
    assert command(proof={"positive": np.array(2**53 + 1)}, data={"y": y})[0] == 0
    assert command(proof={"positive": np.array(2**53)}, data={"y": y})[0] == 1
    assert command(proof={"positive": np.array(2.0**53)}, data={"y": y})[0] == 1
