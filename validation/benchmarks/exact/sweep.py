"""Random problems solved to a certified gap of 1e-9, and every certificate checked anew.

Sizes, penalties, scales, ties, duplicates, separable, wide, sparse and weighted data as in
`sweep_problems`. A certificate is false if the stand-alone checker (whole weights) or cutting
planes (some seeds) prove something that contradicts it. Each answer is a line of --out; a second
run goes on after the last, and Ctrl-C ends after the problem at hand.
"""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from ....exact.api.solve import choose_solver, solve
from ....exact.certificate.solution import Solution, Status
from ....exact.errors import InputError
from ....exact.pairs.all_pairs import AllPairs
from ....exact.problem.problem import linear_problem
from ....exact.proof import check_proof
from ....exact.proof.proof_file import write_proof
from ...extremes import max
from ..harness import Lines, benchmark
from ..problems.sweep_problems import Drawn, draw

TOL = 1e-9


def examine(drawn: Drawn, max_time: float, second: bool) -> dict[str, Any]:
    """Solve one problem and check its certificate; return the line for the table.

    Parameters
    ----------
    drawn : Drawn
    max_time : float
        Seconds for each solver.
    second : bool
        Whether cutting planes solve it too.
    """
    start = time.process_time()
    X, y, lam = drawn.X, drawn.y, drawn.lam
    solution = solve(X, y, lam, sample_weight=drawn.weight, tol=TOL, max_time=max_time)
    found = solution.certificate
    line: dict[str, Any] = {
        "seed": drawn.seed,
        "shape": drawn.shape,
        "lam": lam,
        "scale": drawn.scale,
        "status": str(solution.status),
        "certified": found.reaches(TOL),
        "primal": found.primal,
        "gap": found.gap,
        "rounding": found.rounding,
        "n_iter": solution.n_iter,
        "seconds": time.process_time() - start,
        "false": "",
    }
    _check_by_proof(drawn, solution, line)
    if second:
        _check_by_cutting_planes(drawn, solution, line, max_time)
    return line


def _check_by_proof(drawn: Drawn, solution: Solution, line: dict[str, Any]) -> None:
    """Enter the relative gap that the stand-alone checker verifies, and contradictions."""
    if not drawn.whole:
        return
    X, found = drawn.X.toarray() if sp.issparse(drawn.X) else drawn.X, solution.certificate
    repeats = np.ones(len(drawn.y)) if drawn.weight is None else drawn.weight
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        try:
            write_proof(path, X, drawn.y, drawn.lam, solution, sample_weight=drawn.weight)
        except InputError as problem:
            line["unproved"] = str(problem)
            return
        proof = dict(np.load(path))
    check_proof.check(proof, X, drawn.y, repeats)
    upper, lower = (float(x) for x in check_proof.bounds(proof, X, drawn.y, repeats)[:2])
    line["verified"] = upper - lower
    line["confirmed"] = upper - lower <= TOL * upper
    if lower > found.primal or upper < found.dual:
        line["false"] += f"the checker proves {lower} to {upper}; "


def _check_by_cutting_planes(
    drawn: Drawn, solution: Solution, line: dict[str, Any], max_time: float
) -> None:
    """Enter the distance of the two optima as a share of what the two certificates allow."""
    problem = linear_problem(drawn.X, drawn.y, drawn.lam, pairs=AllPairs(drawn.weight))
    other = choose_solver(problem, "cutting-plane", TOL, max_time).solve(problem).certificate
    mine = solution.certificate
    allowed = mine.gap + other.gap
    line["cutting_gap"] = other.gap
    line["difference"] = abs(mine.primal - other.primal) / allowed
    if line["difference"] > 1:
        line["false"] += f"cutting planes: {other.primal} with gap {other.gap}; "


class _Interrupts:
    """Ctrl-C asks to stop after the problem at hand; once more stops at once."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> _Interrupts:
        self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self.before)

    def _note(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def sweep(
    seeds: Sequence[int], out: Path, max_time: float = 60.0, every: int = 5
) -> Iterator[dict[str, Any]]:
    """Yield the lines of all seeds, those already in `out` first, and append the others to it."""
    known = [json.loads(text) for text in out.read_text().splitlines()] if out.exists() else []
    wanted, done = set(seeds), {line["seed"] for line in known}
    yield from (line for line in known if line["seed"] in wanted)
    with _Interrupts() as interrupts:
        for seed in sorted(wanted - done):
            line = examine(draw(seed), max_time, second=every > 0 and seed % every == 0)
            if interrupts.asked and line["status"] == Status.INTERRUPTED:
                return
            with out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            yield line
            if interrupts.asked:
                return


def summary(lines: Sequence[dict[str, Any]]) -> str:
    """Return the counts, one fact a line."""
    n, statuses = len(lines), Counter(line["status"] for line in lines)
    certified = sum(line["certified"] for line in lines)
    checked = [line for line in lines if "verified" in line]
    differences = [line["difference"] for line in lines if "difference" in line]
    seconds = np.array([line["seconds"] for line in lines])
    return "\n".join(
        [
            f"{n} problems, {certified} certified at {TOL:g} ({certified / n:.2%}); "
            + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())),
            f"{sum(bool(line['false']) for line in lines)} false certificates",
            f"stand-alone checker: {len(checked)} proof files, "
            f"{sum(line['confirmed'] for line in checked)} verified at {TOL:g}; "
            f"{sum('unproved' in line for line in lines)} refused",
            f"cutting planes: {len(differences)} problems, optima apart by at most "
            f"{max(differences, default=0.0):.2g} of the sum of the certified gaps",
            f"CPU seconds: median {np.median(seconds):.2f}, largest {seconds.max():.1f}",
        ]
    )


def show(line: dict[str, Any]) -> str:
    """Return a line that missed, in words."""
    relative = line["gap"] / max(line["primal"], 1e-300)
    return (
        f"seed {line['seed']}: {line['shape']}, lam {line['lam']:.1e}, scale {line['scale']:.2g}: "
        f"{line['status']}, F {line['primal']:.3e}, relative gap {relative:.1e}, "
        f"rounding {line['rounding']:.1e}, {line['seconds']:.1f} s {line['false']}"
    )


@benchmark(
    first="the first seed", max_time="seconds a solver", every="cutting planes for one seed in so"
)
def main(
    problems: int = 1000,
    first: int = 0,
    max_time: float = 60.0,
    every: int = 5,
    out: Path = Path("sweep.jsonl"),
) -> Lines:
    """Yield what missed as it comes, and the counts at the end."""
    lines = []
    for line in sweep(range(first, first + problems), out, max_time, every):
        lines.append(line)
        yield line
        if line["false"] or not line["certified"] or "unproved" in line:
            yield f"{show(line)} {line.get('unproved', '')}"
        if len(lines) % 100 == 0:
            yield f"{len(lines)} done"
    if lines:
        yield summary(lines)


if __name__ == "__main__":
    raise SystemExit(main())
