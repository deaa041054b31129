"""Faults: an honest proof passes, and each of these changes makes it fail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.proof import check_proof
from loops import each
from proofs import changed, honest_proofs, scalars, verdict


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    return honest_proofs(tmp_path_factory.mktemp("proof"))


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
    "lam halved": lambda p: {"lam": p["lam"] * 0.5},
    "lam doubled": lambda p: {"lam": p["lam"] * 2.0},
    "lam negative": lambda p: {"lam": -p["lam"]},
    "lam zero": lambda p: {"lam": 0.0},
    "lam nan": lambda p: {"lam": np.nan},
    "lam infinite": lambda p: {"lam": np.inf},
    "lam whole": lambda p: {"lam": 1},
    "lam a list": lambda p: {"lam": [0.02]},
    "w scaled": lambda p: {"w": 1.01 * p["w"]},
    "w reversed": lambda p: {"w": -p["w"]},
    "w zero": lambda p: {"w": 0.0 * p["w"]},
    "w nan": lambda p: {"w": changed(p["w"], 0, np.nan)},
    "w infinite": lambda p: {"w": changed(p["w"], 0, np.inf)},
    "w huge": lambda p: {"w": changed(p["w"], 0, 1e149)},
    "w too short": lambda p: {"w": p["w"][:-1]},
    "w a column": lambda p: {"w": p["w"][:, None]},
    "w float32": lambda p: {"w": p["w"].astype(np.float32)},
    "w complex": lambda p: {"w": p["w"].astype(complex)},
    "gap tampered": lambda p: {"gap": p["gap"] * 0.9},
    "gap zero": lambda p: {"gap": 0.0},
    "gap negative": lambda p: {"gap": -1.0},
    "gap nan": lambda p: {"gap": np.nan},
    "gap text": lambda p: {"gap": "0"},
    # The claims of the honest proof have a room of 1e-15, which may be more than its gap.
    "primal lowered": lambda p: {"primal": p["primal"] - 2.0 * p["gap"] - 2e-15},
    "primal nan": lambda p: {"primal": np.nan},
    "dual raised": lambda p: {"dual": p["dual"] + 2.0 * p["gap"] + 2e-15},
    "dual nan": lambda p: {"dual": np.nan},
    "scale two": lambda p: {"scale": 2.0},
    "scale just above one": lambda p: {"scale": np.nextafter(1.0, 2.0)},
    "scale half": lambda p: {"scale": 0.5},
    "scale negative": lambda p: {"scale": -1.0},
    "scale nan": lambda p: {"scale": np.nan},
    "offset nan": lambda p: {"offset": changed(p["offset"], 0, np.nan)},
    "offset absurd": lambda p: {"offset": p["offset"] + 1e140},
    "offset too long": lambda p: {"offset": np.zeros(9)},
    "sha256 of other data": lambda p: {"sha256": "0" * 64},
    "later format": lambda p: {"format": 3},
    "format a list": lambda p: {"format": [1]},
    "format true": lambda p: {"format": True},
    "sha256 a list": lambda p: {"sha256": [str(p["sha256"])]},
    "kind a list": lambda p: {"kind": [str(p["kind"])]},
    "kind bytes": lambda p: {"kind": np.asarray(str(p["kind"]).encode())},
    "lam a record": lambda p: {"lam": np.array((p["lam"],), dtype=[("lam", float)])},
    "the other kind": lambda p: {"kind": "weights" if p["kind"] == "marginals" else "marginals"},
}
MARGINALS: dict[str, Callable[[dict], dict]] = {
    "a marginal flipped": lambda p: {"u": changed(p["u"], 0, p["u"].max() - p["u"][0])},
    "marginals reversed": lambda p: {"u": p["u"][::-1].copy()},
    "marginals of the other class reversed": lambda p: {"v": p["v"][::-1].copy()},
    "all marginals doubled": lambda p: {"u": 2 * p["u"], "v": 2 * p["v"]},
    "one side doubled": lambda p: {"u": 2 * p["u"]},
    "one side zero": lambda p: {"v": 0 * p["v"]},
    "a negative marginal": lambda p: {"u": changed(p["u"], 3, -1)},
    "a negative marginal, the sum kept": lambda p: {
        "u": changed(p["u"], [3, 4], [-5, p["u"][4] + p["u"][3] + 5])
    },
    "the least integer": lambda p: {"v": changed(p["v"], 0, -(2**63))},
    "the largest integer": lambda p: {"v": changed(p["v"], 0, 2**63 - 1)},
    "integers that wrapped": lambda p: {"u": p["u"] + np.int64(2**62) + np.int64(2**62 - 1)},
    "sum right, one row past its cap": lambda p: {"u": gathered(p["u"], 1)},
    "sum right, three rows past their caps": lambda p: {"u": gathered(p["u"], 3)},
    "u float": lambda p: {"u": p["u"].astype(float)},
    "u int32": lambda p: {"u": p["u"].astype(np.int32)},
    "u unsigned": lambda p: {"u": p["u"].astype(np.uint64)},
    "u too short": lambda p: {"u": p["u"][:-1]},
    "u and v swapped": lambda p: {"u": p["v"], "v": p["u"]},
    "u empty": lambda p: {"u": p["u"][:0]},
    "cap doubled": lambda p: {"cap": 2 * p["cap"]},
    "cap halved": lambda p: {"cap": p["cap"] // 2},
    "cap zero": lambda p: {"cap": 0},
    "cap negative": lambda p: {"cap": -p["cap"]},
    "cap past the range": lambda p: {"cap": 2**62},
    "cap float": lambda p: {"cap": float(p["cap"])},
}
WEIGHTS: dict[str, Callable[[dict], dict]] = {
    "w_dual scaled": lambda p: {"w_dual": 3.0 * p["w_dual"]},
    "w_dual zero": lambda p: {"w_dual": 0.0 * p["w_dual"]},
    "w_dual nan": lambda p: {"w_dual": changed(p["w_dual"], 0, np.nan)},
    "w_dual huge": lambda p: {"w_dual": changed(p["w_dual"], 0, 1e149)},
    "w_dual too short": lambda p: {"w_dual": p["w_dual"][1:]},
    "bins no power of two": lambda p: {"bins": 4097},
    "bins zero": lambda p: {"bins": 0},
    "bins negative": lambda p: {"bins": -4096},
    "bins coarse": lambda p: {"bins": 1},
    "bins past the range": lambda p: {"bins": 2**62},
    "bins float": lambda p: {"bins": 4096.0},
    "half negative": lambda p: {"half": -40},
    "half wide": lambda p: {"half": 2**14},
    "half past the range": lambda p: {"half": 2**61},
    "half at the end of the range": lambda p: {"half": 2**63 - 1},
    "half the least integer": lambda p: {"half": -(2**63)},
    "half float": lambda p: {"half": 40.0},
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


@each("kind", ["marginals", "weights"])
def test_a_proof_that_lacks_any_field_is_refused(honest: dict, kind: str) -> None:
    for name in set(honest[kind]) - {"positive"}:
        bad = {k: x for k, x in honest[kind].items() if k != name}
        with pytest.raises((ValueError, KeyError)):
            verdict(bad, honest["data"])


def flipped(d: dict) -> dict:
    return {"y": changed(d["y"], 1, ~d["y"][1])}


def integers(X: np.ndarray, one: int) -> np.ndarray:
    return changed(np.rint(X).astype(np.int64), (4, 1), one)


DATA: dict[str, Callable[[dict], dict]] = {
    "labels swapped": lambda d: {"y": ~d["y"]},
    "a label flipped": flipped,
    "labels of one class": lambda d: {"y": np.ones_like(d["y"])},
    "labels a matrix": lambda d: {"y": d["y"][:, None]},
    "labels too few": lambda d: {"y": d["y"][:-1]},
    "a value moved": lambda d: {"X": changed(d["X"], (4, 1), 9.0)},
    "X scaled": lambda d: {"X": 1.001 * d["X"]},
    "a nan in X": lambda d: {"X": changed(d["X"], (4, 1), np.nan)},
    "infinity in X": lambda d: {"X": changed(d["X"], (4, 1), -np.inf)},
    "X huge": lambda d: {"X": changed(d["X"], (4, 1), 1e200)},
    "X transposed": lambda d: {"X": d["X"].T},
    "X a vector": lambda d: {"X": d["X"][:, 0]},
    "X a cube": lambda d: {"X": d["X"][:, :, None]},
    "X complex": lambda d: {"X": d["X"] + 1j},
    "X text": lambda d: {"X": d["X"].astype(str)},
    "whole numbers that float64 does not hold": lambda d: {"X": integers(d["X"], 2**53 + 1)},
    "X in the long format": lambda d: {"X": d["X"] + np.longdouble(1) / 3},
    "X times": lambda d: {"X": integers(d["X"], 5).astype("m8[ns]")},
    "weights complex": lambda d: {"weight": d["weight"] + 0j},
    "columns swapped": lambda d: {"X": d["X"][:, ::-1]},
    "rows shuffled": lambda d: {"X": d["X"][np.random.default_rng(0).permutation(90)]},
    "a row doubled": lambda d: {k: np.concatenate([x, x[:1]]) for k, x in d.items()},
    "a row lost": lambda d: {k: x[1:] for k, x in d.items()},
    "weights ignored": lambda d: {"weight": np.ones(90)},
    "a weight changed": lambda d: {"weight": changed(d["weight"], 0, 9)},
    "a weight negative": lambda d: {"weight": changed(d["weight"], 0, -1)},
    "a weight broken": lambda d: {"weight": d["weight"] + 0.5},
    "a weight nan": lambda d: {"weight": changed(d["weight"].astype(float), 0, np.nan)},
    "a weight huge": lambda d: {"weight": changed(d["weight"].astype(float), 0, 1e18)},
    "weights too few": lambda d: {"weight": d["weight"][1:]},
}


@each("kind", ["marginals", "weights"])
@each("forged", [False, True], ids=["", "digest forged"])
@each("name", DATA)
@pytest.mark.long_digits
def test_other_data_are_refused_even_under_their_own_digest(
    honest: dict, name: str, forged: bool, kind: str
) -> None:
    data, proof = honest["data"] | DATA[name](honest["data"]), dict(honest[kind])
    if forged:
        try:
            digest = check_proof.bounds(proof, data["X"], data["y"], data["weight"])[2]
        except (ValueError, TypeError):
            return  # refused before the digest is looked at
        proof["sha256"] = np.asarray(digest)
    with pytest.raises((ValueError, TypeError)):
        verdict(proof, data)


def test_a_changed_last_bit_of_the_data_is_refused(honest: dict) -> None:
    X = honest["data"]["X"]
    moved = changed(X, (4, 1), np.nextafter(X[4, 1], np.inf))
    with pytest.raises(ValueError, match="not one for these data"):
        verdict(honest["marginals"], honest["data"] | {"X": moved})


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
    """Whatever the claims: these would make the arithmetic itself wrong."""
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
