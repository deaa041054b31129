"""What proof files are about, honest ones of every kind of pairs, and awkward data for them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from aucert.exact import OrderedPairs, Ridge, Rows, solve
from aucert.exact.losses.registry import HINGE
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof, write_proof_of
from ordered_naive import naive_ordered, naive_survival

Columns = dict[str, Any]


@dataclass(frozen=True)
class Stated:
    """What a proof file is about: rows, what orders them, and how often each counts."""

    X: np.ndarray
    kind: str
    columns: Columns
    r: np.ndarray

    def check(self, call: Any, proof: Columns, *more: Any) -> Any:
        """Return what a function of the checker makes of these rows and a proof."""
        columns, order = self.columns, self.columns.get("y")
        if self.kind != "classes":
            order = check_proof.ordering(self.kind, columns, proof, {})
        return call(proof, self.X, order, self.r, *more)

    def solve(self, lam: float, **more: Any) -> Any:
        return solve(self.X, lam=lam, **self.asked(), **more)

    def asked(self) -> Columns:
        if self.kind == "ordered":
            return {"y": None, "pairs": self.ordered_pairs()}
        return {"y": None, "sample_weight": self.r, **self.columns}

    def sides(self) -> list[np.ndarray]:
        one = np.ones(self.r.size)
        return [np.asarray(self.columns.get(side, one)) * self.r for side in ("upper", "lower")]

    def ordered_pairs(self) -> OrderedPairs:
        columns, share = self.columns, self.columns.get("share")
        return OrderedPairs(columns["group"], columns["key"], *self.sides(), share=share)

    def pairs(self) -> list[tuple[int, int, Fraction]]:
        """Return the pairs one by one, with their weights, which add up to one."""
        columns, r = self.columns, self.r
        if self.kind == "survival":
            plain = naive_survival(columns["time"], columns["event"])
            both = zip(plain.i, plain.j, strict=True)
            held = [(i, j, Fraction(int(r[i] * r[j]))) for i, j in both if r[i] * r[j] > 0]
            whole = sum(c for *_, c in held)
            return [(i, j, c / whole) for i, j, c in held]
        if self.kind == "ordered":
            keys, share = (columns["group"], columns["key"]), columns.get("share")
            true = naive_ordered(*keys, *self.sides(), share=share)
        else:
            true = naive_ordered(columns.get("qid"), columns["y"], r, r)
        return list(zip(true.i, true.j, true.weight, strict=True))

    def written(self, lam: float, solution: Any) -> Columns:
        """Return the fields of the proof file of a solution."""
        if self.kind == "ordered":
            problem = Problem(Rows(self.X), Mean(self.ordered_pairs(), HINGE), Ridge(lam))
            return written(lambda path: write_proof_of(problem, solution, path))
        return written(write_proof, self.X, lam=lam, solution=solution, **self.asked())


def written(write: Any, *of: Any, **more: Any) -> Columns:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        write(path, *of, **more)
        with np.load(path) as file:
            return dict(file)


def scalars(**fields: object) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in fields.items()}


def by_weights(
    X: np.ndarray, w: np.ndarray, lam: float, bins: int = 64, half: int = 3, scale: float = 1.0
) -> dict[str, np.ndarray]:
    """The fields of a proof whose dual point is made from the scores of w."""
    found = scalars(kind="weights", lam=lam, w=w, w_dual=w, offset=X.mean(axis=0), scale=scale)
    return found | scalars(bins=bins, half=half)


def by_marginals(
    X: np.ndarray, w: np.ndarray, lam: float, u: np.ndarray, v: np.ndarray, cap: int
) -> dict[str, np.ndarray]:
    """The fields of a proof whose dual point is given by its marginals."""
    found = scalars(kind="marginals", lam=lam, w=w, offset=X.mean(axis=0), scale=1.0)
    return found | scalars(u=u, v=v, cap=cap)


LAM = 0.05
ORDERED = ("query", "survival", "repeated", "crossed", "shared", "long")


def some_rows(kind: str) -> Stated:
    """Return rows with ties in all that orders them."""
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
    for proof in (marginals, weights):
        upper, lower, digest = stated.check(check_proof.bounds, proof)
        proof |= scalars(primal=float(upper) + 1e-15, dual=float(lower) - 1e-15, sha256=digest)
        proof["gap"] = np.asarray(float(upper - lower) * 1.001)
    return found | {k: (p, stated, solution) for k, p in zip(
        ("marginals", "weights"), (marginals, weights), strict=True)}  # fmt: skip


def awkward(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Small data (X, positive, repetitions, lam) of a kind that has broken certificates."""
    rng = np.random.default_rng(sum(map(ord, name)))
    X, positive = rng.normal(size=(24, 2)), np.arange(24) % 3 == 0
    X[positive] += 0.5
    X = {
        "ties": lambda: np.round(X),
        "offset": lambda: X + np.array([1e8, -1e5]),
        "large": lambda: X * 1e6,
        "small": lambda: X * 1e-7,
        "duplicates": lambda: np.repeat(X[:8], 3, axis=0),
        "separable": lambda: X + 8.0 * positive[:, None],
        "constant": lambda: np.column_stack([X[:, 0], np.full(24, 7.0)]),
        "zero": lambda: 0 * X,
    }.get(name, lambda: X)()
    if name in ("one positive", "duplicates"):
        one = name == "one positive"
        positive = np.arange(24) == 5 if one else np.repeat(positive[:8], 3)
    top = {"repetitions": 5, "many repetitions": 2**25}.get(name)
    r = np.ones(24, int) if top is None else rng.integers(0, top, 24)
    lam = {"tiny lam": 1e-9, "large lam": 1e6, "large": 1e10, "small": 1e-16}.get(name, 0.05)
    return X, positive, r, lam


NAMES = (
    *("plain", "ties", "tiny lam", "large lam", "offset", "large", "small", "one positive"),
    *("duplicates", "repetitions", "many repetitions", "separable", "constant", "zero"),
)


def changed(x: np.ndarray, at: Any, value: object) -> np.ndarray:
    """Return a copy with other values at one place."""
    out = np.array(x)
    out[at] = value
    return out
