"""The full pairwise problem at scale: certified optima as multiples of elementary costs.

CPU time, one thread; every solution is what `solve` returns from the data, certificate included.
x = one X@w + one argsort + one X'g at the same size in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ....exact.api.solve import solve
from ....exact.certificate.certificate import Certificate
from ....exact.certificate.solution import Solution
from ....exact.certificate.witness import Witness
from ....exact.problem.problem import Problem, linear_problem
from ....exact.proof import check_proof
from ....exact.proof.proof_file import write_proof
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...data.generators import radial
from ..timing import yardstick
from .scale_data import (
    Labelled,
    PeakMemory,
    best_of,
    imbalanced,
    memory_mapped,
    naive_gradient,
    plane,
    radial_features,
    reading,
)

LAMS = (1e-1, 1e-3, 1e-5)


def _line(what: str, lam: float | None, ratio: float, goal: float, rest: str) -> None:
    """Print one row: what, lam, the ratio against its goal, and the evidence."""
    shown = "" if lam is None else f"{lam:g}"
    verdict = "yes" if ratio <= goal else "NO"
    print(f"{what:<44} {shown:>6} {ratio:8.3g} {goal:6.3g} {verdict:>4}  {rest}", flush=True)


def _evidence(solution: Solution) -> str:
    """Return status, proved relative gap (rounding included) and evaluations."""
    found = solution.certificate
    proved = (found.gap + found.rounding) / found.primal
    return f"{solution.status}, proved {proved:.1e}, {solution.n_iter} evaluations"


def timed(function: Callable[[], Solution], repeats: int) -> tuple[float, Solution]:
    """Return the best CPU seconds of `repeats` calls, and the last solution."""
    kept: list[Solution] = []
    seconds = best_of(lambda: kept.append(function()), repeats)
    return seconds, kept[-1]


def solves(name: str, data: Labelled, goals: dict[float, float], repeats: int) -> None:
    """Print what the tolerances cost, in yardsticks."""
    X, y = data
    unit = best_of(yardstick(X, np.ones(X.shape[1])), 3 + repeats)
    for lam in LAMS:
        for tol, goal in goals.items():

            def run(lam: float = lam, tol: float = tol) -> Solution:
                return solve(X, y, lam, tol=tol)

            seconds, solution = timed(run, repeats)
            rest = f"{_evidence(solution)}, {seconds:.2f} s"
            _line(f"{name}, gap {tol:g}", lam, seconds / unit, goal, rest)


def memory(name: str, data: Labelled, tol: float, goal: float) -> None:
    """Print the peak memory beside the data, in GB."""
    for lam in LAMS:
        with PeakMemory() as watched:
            solution = solve(data[0], data[1], lam, tol=tol)
        _line(f"{name}, GB beside the data", lam, watched.peak / 1e9, goal, str(solution.status))


def mapped(n: int, folder: Path) -> None:
    """Print the cost per evaluation of a memory-mapped problem, and its memory."""
    X, y = memory_mapped(n, folder)
    unit = best_of(reading(X), 2)
    for lam in LAMS:
        with PeakMemory() as watched:
            seconds, solution = timed(lambda lam=lam: solve(X, y, lam, tol=1e-6), 1)
        per = seconds / unit / (solution.n_iter + 1)  # the certificate evaluates once more
        rest = f"{_evidence(solution)}, {seconds:.1f} s; reading once {unit:.2f} s"
        _line(f"p=2 n={n:.0e} mapped, gap 1e-6: an evaluation", lam, per, 6.0, rest)
        _line("  GB beside the data", lam, watched.peak / 1e9, 2.0, str(solution.status))


def against_naive(n: int, repeats: int) -> None:
    """Print the whole solve as a part of one gradient through pair differences."""
    X, y = plane(n)
    for lam in LAMS:
        unit = best_of(lambda lam=lam: naive_gradient(X, y, np.ones(2), lam), repeats)
        run = lambda lam=lam: solve(X, y, lam, tol=1e-9)  # noqa: E731
        seconds, solution = timed(run, 3 * repeats)
        rest = f"{_evidence(solution)}, {1e3 * seconds:.1f} ms of {1e3 * unit:.0f} ms"
        _line(f"p=2 n={n:.0e}, gap 1e-9 / naive gradient", lam, seconds / unit, 1 / 15, rest)


def polished(name: str, data: Labelled) -> None:
    """Print the proved relative gap of a solve to 1e-12."""
    for lam in LAMS:
        seconds, solution = timed(lambda lam=lam: solve(*data, lam, tol=1e-12), 1)
        found = solution.certificate
        proved = (found.gap + found.rounding) / found.primal
        rest = f"{solution.status}, gap {found.gap / found.primal:.1e}, {seconds:.2f} s"
        _line(f"{name}, polished: proved gap", lam, proved, 1e-12, rest)


def kernel(n: int, gamma: float = 0.5) -> None:
    """Print the Gaussian kernel machine, gap of the true kernel, in builds of its Gram matrix."""
    data, function = radial(n), Gaussian(gamma)
    X, y = data.X, data.is_positive

    def build() -> None:
        for start in range(0, n, 1000):
            function(X[start : start + 1000], X)

    def run(lam: float) -> Solution:
        return solve(X, y, lam, kernel="rbf", gamma=gamma, tol=1e-9)

    unit = best_of(build, 2)
    for lam in LAMS:
        seconds, solution = timed(lambda lam=lam: run(lam), 1)
        rest = f"{_evidence(solution)}, {seconds:.1f} s of {unit:.1f} s"
        _line(f"Gaussian n={n:.0e}, true gap 1e-9 / Gram", lam, seconds / unit, 15.0, rest)


def checks(n: int, repeats: int) -> None:
    """Print what checking a certificate costs, in yardsticks: sorted, binned, standing alone."""
    X, y = plane(n)
    unit = best_of(yardstick(X, np.ones(2)), 3 + repeats)
    for lam in LAMS:
        problem = linear_problem(X, y, lam)
        solution = solve(X, y, lam, tol=1e-9)
        _checked(problem, solution, lam, unit, repeats)


def _checked(problem: Problem, solution: Solution, lam: float, unit: float, repeats: int) -> None:
    space, w, n = problem.space, solution.w, problem.n
    assert isinstance(space, Rows)
    width, binned = 1e-4, solution.witness
    if binned.weights is None:  # few rows for the bins: the solver has sorted
        binned = Witness.from_weights(problem, w, 1 << 15, 1)
    witnesses = {
        "sorted": (Witness.from_scores(problem, space.scores(w), width), 2.5),
        "binned": (binned, 0.5),
    }
    for form, (witness, goal) in witnesses.items():
        check = lambda witness=witness: Certificate.of(problem, w, witness)  # noqa: E731
        seconds = best_of(check, 1 + repeats)
        found = check()
        rest = f"relative gap {found.gap / found.primal:.1e}"
        _line(f"p=2 n={n:.0e}, re-check {form}", lam, seconds / unit, goal, rest)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        raw, ones = np.asarray(space.raw), np.ones(n)
        write_proof(path, raw, problem.pairs.positive, lam, solution)
        proof = dict(np.load(path))
        seconds = best_of(lambda: check_proof.check(proof, raw, problem.pairs.positive, ones), 1)
    _line(f"p=2 n={n:.0e}, check_proof.py", lam, seconds / unit, np.inf, "no goal")


def _parts(options: argparse.Namespace) -> dict[str, Callable[[], None]]:
    r, s = options.repeats, options.shrink

    def large() -> None:
        data = plane(10**7 // s)
        solves("p=2 n=1e7", data, {1e-6: 1.5, 1e-9: 3.0}, 2)
        memory("p=2 n=1e7", data, 1e-9, 0.5)

    def wide() -> None:
        solves("d=300 n=1e5", radial_features(10**5 // s), {1e-6: 60.0, 1e-9: 70.0}, 2)

    def polish() -> None:
        polished("p=2 n=1e5", plane(10**5 // s))
        polished("d=300 n=1e4", radial_features(10**4 // s))

    return {
        "naive": lambda: against_naive(10**4 // s, r),
        "million": lambda: solves("p=2 n=1e6", plane(10**6 // s), {1e-6: 3.0, 1e-9: 6.0}, r),
        "ten-million": large,
        "mapped": lambda: mapped(10**8 // s, options.folder),
        "d300": wide,
        "d50": lambda: solves("d=50 n=5e4, 5 %", imbalanced(50_000 // s), {1e-9: 40.0}, r),
        "polish": polish,
        "kernel": lambda: kernel(10**4 // s),
        "checks": lambda: checks(10**6 // s, r),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="certified optima at scale")
    parser.add_argument("--parts", nargs="+", help="some of the table; all by default")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shrink", type=int, default=1, help="divide every size, for a trial")
    parser.add_argument("--folder", type=Path, help="of the mapped files; kept if given")
    options = parser.parse_args(arguments)
    print(f"{'':<44} {'lam':>6} {'ratio':>8} {'goal':>6} {'met':>4}")
    with TemporaryDirectory() as folder:
        options.folder = options.folder or Path(folder)
        for name, part in _parts(options).items():
            if not options.parts or name in options.parts:
                part()


if __name__ == "__main__":
    raise SystemExit(main())
