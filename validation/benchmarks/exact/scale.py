"""The full pairwise problem at scale: certified optima as multiples of elementary costs.

CPU time, one thread; every solution is what `solve` returns from the data, certificate included.
R = one blocked reading X'(Xw) of the same rows in the same run, no sort (`scale_data.reading`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
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
from ..harness import Lines, Table, benchmark
from ..measuring.timing import on_the_clock, timed
from ..problems.samples import radial_features
from ..problems.scale_data import (
    Labelled,
    PeakMemory,
    imbalanced,
    memory_mapped,
    naive_gradient,
    plane,
    reading,
)

LAMS = (1e-1, 1e-3, 1e-5)


Row = tuple[str, float, float, float, str, str]


def _row(what: str, lam: float, ratio: float, goal: float, rest: str) -> Row:
    """Return one row: what, lam, the ratio against its goal, and the evidence."""
    return what, lam, ratio, goal, "yes" if ratio <= goal else "NO", rest


def _proved(solution: Solution) -> float:
    """Return the certified relative gap, rounding included."""
    found = solution.certificate
    return found.gap / found.primal


def _evidence(solution: Solution) -> str:
    return f"{solution.status}, proved {_proved(solution):.1e}, {solution.n_iter} evaluations"


def solves(name: str, data: Labelled, goals: dict[float, float], repeats: int) -> Iterator[Row]:
    """Yield what the tolerances cost, in R."""
    unit = timed(reading(data[0]), 3 + repeats)[1]
    for lam in LAMS:
        for tol, goal in goals.items():
            solution, seconds = timed(partial(solve, *data, lam, tol=tol, n_jobs=1), repeats)
            rest = f"{_evidence(solution)}, {seconds:.3f} s; R {1e3 * unit:.2f} ms"
            yield _row(f"{name}, gap {tol:g}, in R", lam, seconds / unit, goal, rest)


def memory(name: str, data: Labelled, tol: float, goal: float) -> Iterator[Row]:
    """Yield the peak memory beside the data, in GB."""
    for lam in LAMS:
        with PeakMemory() as watched:
            solution = solve(*data, lam, tol=tol)
        status = str(solution.status)
        yield _row(f"{name}, GB beside the data", lam, watched.peak / 1e9, goal, status)


def mapped(n: int, folder: Path) -> Iterator[Row]:
    """Yield the cost of a memory-mapped problem of float32, its memory, and that of two threads."""
    X, y = memory_mapped(n, folder, np.float32)
    unit, clock = timed(reading(X), 2)[1], on_the_clock(reading(X), 2)[1]
    for lam in LAMS:
        with PeakMemory() as watched:
            solution, seconds = timed(partial(solve, X, y, lam, tol=1e-6, n_jobs=1))
        rest = f"{_evidence(solution)}, {seconds:.1f} s; R {unit:.2f} s"
        yield _row(f"p=2 n={n:.0e} mapped, gap 1e-6, in R", lam, seconds / unit, 11.0, rest)
        yield _row("  GB beside the data", lam, watched.peak / 1e9, 2.0, str(solution.status))
        solution, seconds = on_the_clock(partial(solve, X, y, lam, tol=1e-6, n_jobs=2))
        rest = f"{solution.status}, {seconds:.1f} s; R {clock:.2f} s"
        yield _row("  two threads by the clock, in R", lam, seconds / clock, 6.0, rest)


def threads(n: int, repeats: int) -> Iterator[Row]:
    """Yield the time by the clock of two threads over that of one, and whether bits differ."""
    X, y = plane(n)
    for lam in LAMS:
        one, alone = on_the_clock(partial(solve, X, y, lam, tol=1e-6, n_jobs=1), repeats)
        two, seconds = on_the_clock(partial(solve, X, y, lam, tol=1e-6, n_jobs=2), repeats)
        same = np.array_equal(one.w, two.w) and one.certificate == two.certificate
        rest = f"{'the same bits' if same else 'OTHER BITS'}, {1e3 * seconds:.0f} ms"
        yield _row(f"p=2 n={n:.0e}, two threads / one", lam, seconds / alone, 1 / 1.5, rest)


def against_naive(n: int, repeats: int) -> Iterator[Row]:
    """Yield the whole solve as a part of one gradient through pair differences."""
    X, y = plane(n)
    for lam in LAMS:
        unit = timed(partial(naive_gradient, X, y, np.ones(2), lam), repeats)[1]
        solution, seconds = timed(partial(solve, X, y, lam, tol=1e-9), 3 * repeats)
        rest = f"{_evidence(solution)}, {1e3 * seconds:.1f} ms of {1e3 * unit:.0f} ms"
        yield _row(f"p=2 n={n:.0e}, gap 1e-9 / naive gradient", lam, seconds / unit, 1 / 15, rest)


def polished(name: str, data: Labelled) -> Iterator[Row]:
    """Yield the proved relative gap of a solve to 1e-12."""
    for lam in LAMS:
        solution, seconds = timed(partial(solve, *data, lam, tol=1e-12))
        found = solution.certificate
        rest = f"{solution.status}, gap {found.gap / found.primal:.1e}, {seconds:.2f} s"
        yield _row(f"{name}, polished: proved gap", lam, _proved(solution), 1e-12, rest)


def kernel(n: int, gamma: float = 0.5) -> Iterator[Row]:
    """Yield the Gaussian kernel machine, gap of the true kernel, in builds of its Gram matrix."""
    data, function = radial(n), Gaussian(gamma)
    X, y = data.X, data.is_positive

    def build() -> None:
        for start in range(0, n, 1000):
            function(X[start : start + 1000], X)

    unit = timed(build, 2)[1]
    for lam in LAMS:
        machine = partial(solve, X, y, lam, kernel="rbf", gamma=gamma, tol=1e-9)
        solution, seconds = timed(machine)
        rest = f"{_evidence(solution)}, {seconds:.1f} s of {unit:.1f} s"
        yield _row(f"Gaussian n={n:.0e}, true gap 1e-9 / Gram", lam, seconds / unit, 15.0, rest)


def checks(n: int, repeats: int) -> Iterator[Row]:
    """Yield what checking a certificate costs, in R: sorted, binned, standing alone."""
    X, y = plane(n)
    unit = timed(reading(X), 3 + repeats)[1]
    for lam in LAMS:
        problem = linear_problem(X, y, lam)
        solution = solve(X, y, lam, tol=1e-9)
        yield from _checked(problem, solution, lam, unit, repeats)


def _checked(
    problem: Problem, solution: Solution, lam: float, unit: float, repeats: int
) -> Iterator[Row]:
    space, w, n = problem.space, solution.w, problem.n
    assert isinstance(space, Rows)
    width, binned = 1e-4, solution.witness
    if binned.weights is None:  # few rows for the bins: the solver has sorted
        binned = Witness.from_weights(problem, w, 1 << 15, 1)
    witnesses = {
        "sorted": (Witness.from_scores(problem, space.scores(w), width), np.inf),
        "binned": (binned, 9.0),
    }
    for form, (witness, goal) in witnesses.items():
        found, seconds = timed(partial(Certificate.of, problem, w, witness), 1 + repeats)
        rest = f"relative gap {found.gap / found.primal:.1e}"
        yield _row(f"p=2 n={n:.0e}, re-check {form}, in R", lam, seconds / unit, goal, rest)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        raw, positive = np.asarray(space.raw), problem.pairs.positive
        write_proof(path, raw, positive, lam, solution)
        check = partial(check_proof.check, dict(np.load(path)), raw, positive, np.ones(n))
        seconds = timed(check)[1]
    yield _row(f"p=2 n={n:.0e}, check_proof.py, in R", lam, seconds / unit, np.inf, "no goal")


def _parts(r: int, s: int, folder: Path) -> dict[str, Callable[[], Iterator[Row]]]:
    """Return the parts of the table by name, for `r` repeats and sizes divided by `s`."""

    def large() -> Iterator[Row]:
        data = plane(10**7 // s)
        yield from solves("p=2 n=1e7", data, {1e-6: 20.0, 1e-9: 28.0}, 2)
        yield from memory("p=2 n=1e7", data, 1e-9, 0.5)

    def polish() -> Iterator[Row]:
        yield from polished("p=2 n=1e5", plane(10**5 // s))
        yield from polished("d=300 n=1e4", radial_features(10**4 // s))

    return {
        "naive": lambda: against_naive(10**4 // s, r),
        "million": lambda: solves("p=2 n=1e6", plane(10**6 // s), {1e-6: 25.0, 1e-9: 50.0}, r),
        "ten-million": large,
        "threads": lambda: threads(10**6 // s, r),
        "mapped": lambda: mapped(10**8 // s, folder),
        "d300": lambda: solves(
            "d=300 n=1e5", radial_features(10**5 // s), {1e-6: 15.0, 1e-9: 17.0}, 2
        ),
        "d50": lambda: solves("d=50 n=5e4, 5 %", imbalanced(50_000 // s), {1e-9: np.inf}, r),
        "polish": polish,
        "kernel": lambda: kernel(10**4 // s),
        "checks": lambda: checks(10**6 // s, r),
    }


@benchmark(
    parts="some of the table; all by default",
    shrink="divide every size, for a trial",
    folder="of the mapped files; kept if given",
)
def main(
    parts: tuple[str, ...] = (), repeats: int = 3, shrink: int = 1, folder: Path | None = None
) -> Lines:
    """Yield the table."""
    yield Table("", "what:<44", "lam:6g", "ratio:8.3g", "goal:6.3g", "met:>4", "evidence:")
    with TemporaryDirectory() as temporary:
        for name, part in _parts(repeats, shrink, folder or Path(temporary)).items():
            if not parts or name in parts:
                yield from part()


if __name__ == "__main__":
    raise SystemExit(main())
