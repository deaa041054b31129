"""Record the judge's answers: python record.py [--fast] appends those that the file lacks.

The proof of a lower bound is the marginals that the library found, or points whose slopes are
mixed; the points are looked for here, with scipy alone. `check.py` proves each line before it is
written. What is recorded stays: a line is never changed.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import check
import numpy as np
import scipy.optimize

import problems as of_this_folder

problems: Any = of_this_folder  # the helpers of tests have a module of that name, too
ANSWERS = Path(__file__).with_name("answers.jsonl")
TRIED = 60  # points around the optimum whose slopes are mixed
SIZES = (1e-7, 1e-6, 1e-5, 1e-4)  # how far off they are, relatively


def recorded() -> list[dict[str, Any]]:
    if not ANSWERS.exists():
        return []
    return [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]


def line_of(problem: Any) -> dict[str, Any]:
    """Solve a problem and return its line, proved if that is in reach."""
    claimed = problem.ask(problem.stated, problem.tol)
    tol = claimed.pop("tol", problem.tol)
    c, w = claimed.pop("c", None), claimed.pop("w")
    near = claimed.pop("near", w)  # where the points of the proof are looked for
    dual, primal = claimed.pop("dual"), claimed.pop("primal")
    line: dict[str, Any] = {"name": problem.name, "tol": tol, "problem": problem.stated}
    proof: Any = "recorded only"
    if "X" in problem.stated:
        below, above, proof = best_proof(problem.stated, w, near, c, dual)
        if not dual <= above or not below <= primal:
            raise ValueError(f"{problem.name}: [{dual!r}, {primal!r}] is false")
        # What is recorded is what is proved here; it is wider than what was claimed by rounding.
        loss = max(dual - below, above - primal)
        if loss > (problem.tol / 10) * primal:
            raise ValueError(f"{problem.name}: the claim is tighter than its proof by {loss:.1e}")
        dual, primal = min(dual, rounded(below, -1)), max(primal, rounded(above, 1))
    if tol is not None and not problems.reached(dual, primal, tol):
        raise ValueError(f"{problem.name}: [{dual!r}, {primal!r}] does not reach {tol}")
    line |= {"dual": dual.hex(), "primal": primal.hex(), "w": hexed(w), "proof": proof}
    for name in ("radius", "scores", "exact"):
        if claimed.get(name) is not None:
            value = claimed[name]
            line[name] = value if isinstance(value, str) else hexed(np.atleast_1d(value))
    return line


def rounded(value: Fraction, way: int) -> float:
    """Return the nearest float that is not above (way -1) or not below the value."""
    near = float(value)
    if (Fraction(near) - value) * way >= 0:
        return near
    return math.nextafter(near, way * math.inf)


def hexed(values: Any) -> list[str]:
    return [float(x).hex() for x in np.asarray(values)]


def best_proof(
    stated: dict[str, Any], w: np.ndarray, near: np.ndarray, c: np.ndarray | None, wanted: float
) -> tuple[Fraction, Fraction, Any]:
    """Return the proved bounds and the proof; the search ends where the lower one is as wanted."""
    problem, point = check.Statement(stated), check.numbers(hexed(w))
    above, best, found = problem.above(point), Fraction(-1), None
    for proof in proofs(problem, stated, near, c):
        below = problem.below(point, proof)
        if below > best:
            best, found = below, proof
        if best >= wanted:
            break
    return best, above, found


def proofs(
    problem: Any, stated: dict[str, Any], w: np.ndarray, c: np.ndarray | None
) -> Iterator[dict[str, Any]]:
    """Yield proofs: marginals, the slopes at w, and slopes around the optimum, mixed."""
    if c is not None:
        yield {"marginals": hexed(c)}
    yield {"points": [hexed(w)], "mix": hexed([1.0])}
    if "k" in stated or stated.get("kernel"):
        return
    X, rng = np.array(stated["X"]), np.random.default_rng(0)
    at, used = target(problem, stated, X, w)
    for size in SIZES:
        steps = rng.standard_normal((TRIED, w.size)) * size * max(float(np.abs(w).max()), 1e-3)
        points = w + steps * (w != 0 if "l1" in stated or "sign" in stated else 1)
        pulls = np.array([pull(problem, X, one) for one in points])
        weight = 1e3 * (1 + float(np.abs(pulls).max()))  # of the condition that the shares sum to 1
        A = np.vstack([pulls.T[used], np.full(TRIED, weight)])
        mix, _ = scipy.optimize.nnls(A, np.append(at[used], weight))
        kept = mix > 0
        yield {"points": [hexed(one) for one in points[kept]], "mix": hexed(mix[kept])}


def pull(problem: Any, X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the signed sum of the slopes at a point."""
    s, g = X @ w, np.zeros(w.size)
    for i, j, weight in problem.worst(s.tolist())[1]:
        g += float(weight * problem.slope(float(s[i] - s[j]))) * (X[i] - X[j])
    return g


def target(
    problem: Any, stated: dict[str, Any], X: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the mixed slopes should sum to at the optimum, and for which features."""
    g, used = stated["lam"] * w, np.ones(w.size, bool)
    if stated.get("structure"):
        g = g + stated["lam"] * stated["structure"] * (X.T @ np.float64(problem.scatter(X @ w)))
    l1 = stated.get("l1", 0.0)
    if "groups" in stated:
        groups = np.array(stated["groups"])
        for one in set(stated["groups"]):
            size = np.linalg.norm(w[groups == one])
            g[groups == one] += l1 * np.sqrt((groups == one).sum()) * w[groups == one] / (size or 1)
        return g, w != 0
    if l1 or "sign" in stated:
        g, used = g + l1 * np.sign(w), w != 0
    return g, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="leave out the run of all claims")
    fast = parser.parse_args().fast
    known = {line["name"] for line in recorded()}
    with ANSWERS.open("a", encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
        for problem in problems.problems():
            if problem.name not in known:
                line = line_of(problem)
                claimed = check.check(line)
                print(f"{problem.name}: {claimed}", flush=True)
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        for name, ask in problems.commands(Path(folder)):
            if name not in known and not (fast and name in problems.SLOW):
                line = {"name": name, **ask(), "proof": "recorded only"}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                print(name, flush=True)


if __name__ == "__main__":
    main()
