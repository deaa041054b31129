"""True approximation errors of the incomplete Nystrom machine, with every bound next to them. The
full problem and the projected one are solved once, with proof; then pairs are drawn often."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral

import numpy as np

from ...approx import draw_pairs
from ...approx.landmarks import uniform
from ...exact import AllPairs, Gram, InputError, PairList, Problem, Ridge, Rows, Solution
from ...exact.api.solve import choose_solver
from ...exact.certificate.certificate import careful_primal
from ...exact.certificate.solution import Solver, Status
from ...exact.formulation.formulation import Formulation, formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import HINGE, Loss
from ...exact.problem.problem import linear_problem, pair_problem, split_labels
from ...exact.solvers.cutting_plane import CuttingPlane
from ...exact.spaces.kernels import Kernel
from ...exact.spaces.rows import Space
from ...exact.tools.arrays import check_count
from ...exact.tools.rounding import above
from ..data.datasets import Dataset
from ..extremes import highest, lowest
from ..plots import Figure, Series
from .kernel import Approximation
from .prime import Projected, theorem4_prime
from .printed import DELTA, Bound, Norms, theorem4
from .printed import REPAIRED as FIVE_HALVES

# The exact answer that bounds and claims are judged by, with its certificate


def hinge_problem(
    data: Dataset, lam: float, pairs: AllPairs | PairList | None = None, space: Space | None = None
) -> Problem:
    """Return [ScalingUp, eq. (3)] on a data set: linear unless another space is given."""
    space = Rows(data.X) if space is None else space
    return pair_problem(space, data.is_positive, pairs or AllPairs(), HINGE, Ridge(lam))


def kernel_problem(truth: Gram, positive: np.ndarray, lam: float, loss: Loss) -> Formulation:
    """Return the problem over a kernel's whole space, judged by the formula at the rows; the solver
    takes the values as stored."""
    task = formulate(truth.K, positive, Request.of(lam, loss, kernel="precomputed"))
    return replace(task, meant=task.meant.over(truth))


def mean_loss(problem: Problem, w: np.ndarray) -> float:
    return problem.sums(problem.space.scores(w)).value


def solved(solver: Solver, problem: Problem) -> Solution:
    """Solvers keep their best point on Ctrl-C, but a claim has to stop."""
    solution = solver.solve(problem)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


def optimum(problem: Problem, tol: float = 1e-9) -> Solution:
    """Return the optimum by cutting planes; its certificate says how near it is."""
    return reached(solved(CuttingPlane(tol=tol), problem), tol)


def reached(solution: Solution, tol: float = 1e-9) -> Solution:
    """Return the solution, or raise `RuntimeError` if it was not solved."""
    if not solution.certificate.reaches(highest(tol, 1e-6)):
        raise RuntimeError(f"not solved: {solution.status.advice}")
    return solution


def certified(problem: Problem, tol: float) -> Solution:
    """Return the optimum up to a certified gap of `tol`, or raise as `within` does."""
    return within(solved(choose_solver(problem, "auto", tol, None), problem), tol)


def within(solution: Solution, tol: float) -> Solution:
    """Return the solution, or raise `RuntimeError` if a certified gap above `tol` is left."""
    gap = solution.certificate.gap
    if gap > tol:
        raise RuntimeError(f"a gap of {gap:.1g} is left: {solution.status.advice}")
    return solution


POSTERIOR, PRIOR, NYSTROM = "4' (II)", "4' (II) a priori", "4' (A)"
EXCESS, EXCESS_PRIOR = "4' (I)", "4' (I) a priori"
PRINTED, REPAIRED, REALISED = "4", "4, n^(5/2)", "4, realised norms"


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of D_B: the true errors and the bounds on them."""

    B: int
    loss_difference: float
    excess: float
    nystrom: float
    bounds: Mapping[str, Bound]

    @property
    def violated(self) -> list[str]:
        return [name for name, bound in self.bounds.items() if bound.violated]


@dataclass(eq=False)
class Experiment:
    """One data set, kernel, lam and set of landmarks, with both exact solutions. See `prepare`."""

    approximation: Approximation
    lam: float
    tol: float
    full: Problem
    projected: Problem
    f: Solution
    f_P: Solution
    factor: Rows

    def __post_init__(self) -> None:
        self.posterior = Projected.of(self.f_P)
        # p*_P - p*, up to the two gaps; U(f^); and upper bounds of the norms of f^ and f^_P.
        self.nystrom = self.f_P.certificate.primal - self.f.certificate.primal
        self.loss = mean_loss(self.full, self.f.w)
        full, projected = _norm(self.full, self.f), _norm(self.projected, self.f_P)
        self.norms = Norms(full=full, projected=projected)

    def draw(
        self, B: int, seed: int | np.random.Generator, delta: float = DELTA, realised: bool = False
    ) -> Draw:
        """Return the errors and bounds of one draw. [ScalingUp, eq. (12), eq. (14), eq. (15)] f~_B
        minimises (12), which is (14); f^_B minimises (15), with the kernel itself."""
        pairs = draw_pairs(self.full.pairs.positive, B, seed, merge=True)
        drawn = self.projected.with_pairs(pairs)
        found = certified(drawn, self.tol)
        best, value = self.f.certificate, careful_primal(self.projected, found.w)
        if value.high < best.dual:
            apart = best.dual - value.high
            raise RuntimeError(f"a drawn solution is {apart:.1g} below the certified optimum")
        # F(f~_B) - p*, never more than the truth: what is below zero is the gap of f^.
        excess = highest(-above(best.primal - value.low), 0.0)
        error = abs(self.loss - mean_loss(drawn, found.w))
        norms = replace(self.norms, drawn_projected=_norm(self.projected, found))
        setting = self.approximation, self.lam, B
        prime = partial(theorem4_prime, *setting, delta=delta, eps=self.tol, gap_full=self.tol)
        known = partial(prime, projected=self.posterior, norms=norms)
        printed = partial(theorem4, *setting, pairs=pairs, delta=delta, left_side=error)
        bounds = {
            NYSTROM: known(part="A", left_side=self.nystrom - self.tol),
            EXCESS: known(part="I", left_side=excess),
            EXCESS_PRIOR: prime(part="I", left_side=excess),
            POSTERIOR: known(part="II", left_side=error),
            PRIOR: prime(part="II", left_side=error),
            PRINTED: printed(),
            REPAIRED: printed(power=FIVE_HALVES),
        }
        if realised:
            own = self.full.over(self.factor).with_pairs(pairs)
            norms = replace(norms, drawn=_norm(own, certified(own, self.tol)))
            bounds[REALISED] = printed(C="realised", norms=norms)
        return Draw(B, error, excess, self.nystrom, bounds)


def prepare(
    X: object, y: object, kernel: Kernel, lam: float, landmarks: int | np.ndarray,
    seed: int = 0, tol: float = 1e-9, solved: Experiment | None = None,
) -> Experiment:  # fmt: skip
    mask, _, _ = split_labels(y)
    points = uniform(X, int(landmarks), seed).rows if isinstance(landmarks, Integral) else landmarks
    approximation = Approximation.of_landmarks(kernel, X, points, mask)
    if approximation.truth.K is None:
        raise InputError("the experiment solves the full kernel problem: take fewer rows")
    projected = linear_problem(approximation.features, mask, lam)
    f_P = certified(projected, tol)
    if solved is not None:
        return replace(solved, approximation=approximation, projected=projected, f_P=f_P)
    task = kernel_problem(approximation.truth, mask, lam, HINGE)
    rows = task.work.space.held
    assert rows is not None
    f = within(task.judge(certified(task.work, tol), tol), tol)
    return Experiment(approximation, lam, tol, task.meant, projected, f, f_P, rows)


def approximation_errors(
    X: object, y: object, kernel: Kernel, lam: float, landmarks: int | np.ndarray,
    B: int | Sequence[int], seed: int = 0, n_draws: int = 20, delta: float = DELTA,
    realised: bool = False, tol: float = 1e-9,
) -> list[Draw]:  # fmt: skip
    """Return true errors and bounds of repeated draws of B pairs. [ScalingUp, Theorem 4]"""
    check_count("n_draws", n_draws)
    experiment = prepare(X, y, kernel, lam, landmarks, seed, tol)
    rng = np.random.default_rng([seed, 1])
    sizes: list[int] = np.atleast_1d(B).tolist()
    return [experiment.draw(b, rng, delta, realised) for b in sizes for _ in range(n_draws)]


def _norm(problem: Problem, solution: Solution) -> float:
    """Return an upper bound of the exact minimiser's norm."""
    norm2 = above(problem.space.norm2(solution.w) + problem.space.norm2_error(solution.w))
    return above(above(np.sqrt(norm2)) + solution.certificate.radius)


def bound_figure(
    draws: Sequence[Draw], title: str, name: str = "bounds-and-errors", part_1: bool = False
) -> Figure:
    """Return medians against B: the true error and the bounds on it, or those of (I) alone."""
    prime, prior = (EXCESS, EXCESS_PRIOR) if part_1 else (POSTERIOR, PRIOR)
    what, of = ("excess", "F(f~_B) - p*") if part_1 else ("error", "error and its bounds")
    curves: dict[str, Callable[[Draw], float]] = {
        f"true {what}": lambda draw: draw.bounds[prime].left_side or 0.0,
        "Theorem 4'": lambda draw: draw.bounds[prime].total,
        "Theorem 4', a priori": lambda draw: draw.bounds[prior].total,
    }
    caption = "Medians over the draws. Above 1 a bound says nothing."
    if not part_1:
        curves["Theorem 4, at least"] = lambda draw: draw.bounds[PRINTED].at_least
        caption += " Theorem 4 as printed, with C = C_B = C~_B = 1/lam and the realised N_max."
    sizes = sorted({draw.B for draw in draws})
    groups = [[draw for draw in draws if draw.B == B] for B in sizes]
    series = [
        Series.of(label, sizes, [np.median([value(draw) for draw in some]) for some in groups])
        for label, value in curves.items()
    ]
    top = "largest possible value" if part_1 else "largest possible error"
    series.append(Series.of(top, sizes, [1.0] * len(sizes), True))
    few, most = lowest(map(len, groups)), highest(map(len, groups))
    many = f"{few}" if few == most else f"{few} to {most}"
    shown = "one draw each" if most == 1 else f"median of {many} draws"
    return Figure(name, title, "drawn pairs, B", f"{of}, {shown}", tuple(series), caption)
