"""What proof files are about, honest ones of every kind of pairs, and awkward data for them."""

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from aucert.exact import HINGE, Mean, OrderedPairs, Problem, Ridge, Rows, solve
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


def changed(x: np.ndarray, at: Any, value: object) -> np.ndarray:
    out = np.array(x)
    out[at] = value
    return out
