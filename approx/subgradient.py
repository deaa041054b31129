"""Full-batch subgradient descent on the primal, plain or scaled as Adamax does.

[ScalingUp, eq. (8)]: w <- w - eta_t g(w), with the subgradient

    g(w) = lam w - sum_ij c_ij alpha_ij (x_i - x_j) = lam w - pull(c),   alpha = -loss'(margin),

which costs O(min(n, B) d + B) over a list of B pairs and O(n d + n log n) over all pairs. The gap
is evaluated on the way: the slopes at each point are a dual point, and so is their running average
for the hinge. Near the optimum the slopes keep changing, and only their average settles.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exact.certificate.certificate import Minorant
from ..exact.certificate.solution import Recorder, Solver, Status
from ..exact.errors import InputError
from ..exact.losses.registry import HINGE
from ..exact.pairs.all_pairs import PairList
from ..exact.problem.problem import Problem
from ..exact.problem.risk import Alpha
from ..exact.sums.swept import PairSums
from ..exact.tools.arrays import check_choice, check_number

DIVERGED = 1e30  # a run ends where the objective exceeds this; every loss here has F(0) = 1
ROCLAB_STEP_TOL = 1e-4  # where roclab's steps end

# Turns the subgradients of one run, in their order, into the directions to step against.
Scaling = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Descent(Solver):
    """Base of the descent methods: steps of length step / t^decay, and when to stop."""

    step: float = 1e-2
    decay: float = 0.0
    tol: float = 1e-3
    step_tol: float | None = None
    max_iter: int = 1000
    keep: str = "best"
    max_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("step", self.step)
        check_number("decay", self.decay, 0, 1, closed="both")
        if self.step_tol is not None:
            check_number("step_tol", self.step_tol, closed="low")
        check_choice("keep", self.keep, ("best", "last"))

    @abstractmethod
    def scaling(self, dim: int) -> Scaling:
        """Return a fresh scaling for one run in `dim` coordinates."""

    @property
    def shortest(self) -> float:
        """The move at which to stop."""
        return 0.0 if self.step_tol is None else self.step_tol

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the space has no rows."""
        if problem.space.held is None:
            raise InputError("gradient descent needs rows: factor the kernel first")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Start from `w0` or zero; `run` evaluates it itself."""
        if recorder.w0 is None:
            recorder.w0 = np.zeros(problem.space.dim)

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Descend from `recorder.w0`; stalled where steps become short, or F passes `DIVERGED`."""
        assert recorder.w0 is not None
        w = recorder.w0
        watch = _Watch(problem, problem.named_rows(), recorder, self.keep == "last")
        scaled = self.scaling(problem.space.dim)
        near = 0.9 * self.tol  # a little inside: the certificate measures the gap again
        gradient, length, t = watch.evaluate(w), np.inf, 0
        while gradient is not None:
            if recorder.near(near):
                return None
            if length < self.shortest:
                return Status.STALLED
            if t and recorder.out_of_time:
                return Status.TIME_LIMIT
            if t == self.max_iter:
                return Status.ITERATION_LIMIT
            t += 1
            move = -self.step / t**self.decay * scaled(gradient)
            w, length = w + move, float(np.abs(move).max())
            gradient = watch.evaluate(w)
            recorder.step()
        return Status.STALLED


@dataclass(frozen=True)
class GradientDescent(Descent):
    """Plain descent: w <- w - eta_t g(w). [ScalingUp, eq. (8)]

    The parameters are those of `Descent`. ``step=1 / lam, decay=1`` is the classical choice for a
    strongly convex F with kinks: its error falls like log(t) / (lam t) for any data.
    """

    name: ClassVar[str] = "gradient"

    def scaling(self, dim: int) -> Scaling:
        """Return the subgradient as it is."""
        return lambda gradient: gradient


@dataclass(frozen=True)
class Adamax(Descent):
    """Descent with averaged subgradients, scaled by a decaying maximum norm.

    The method of Kingma and Ba (2015, Section 7.1), which [ScalingUp, Section 2.2] adopts:

        m <- beta1 m + (1 - beta1) g,   u <- max(beta2 u, |g|),
        w <- w - eta_t / (1 - beta1^t) m / u,

    coordinate by coordinate. If u is zero, so is m, and the coordinate stays.

    Parameters
    ----------
    step, decay, tol, step_tol, max_iter, keep, max_time
        As in `Descent`; a coordinate moves by about `step` while its gradient keeps its sign.
    beta1, beta2 : float
        In [0, 1), the memory of m and of u.
    variant : {"textbook", "scalar-norm"}
        "scalar-norm" is what the R package roclab runs: one number u, the largest over all
        coordinates, scales them all, and steps below 1e-4 end the run (`step_tol` overrides it).
        Exactly: ``Adamax(variant="scalar-norm", tol=0, keep="last", max_iter=50_000)``.
    """

    step: float = 2e-3
    beta1: float = 0.9
    beta2: float = 0.999
    variant: str = "textbook"

    name: ClassVar[str] = "adamax"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("beta1", self.beta1, 0, 1, closed="low")
        check_number("beta2", self.beta2, 0, 1, closed="low")
        check_choice("variant", self.variant, ("textbook", "scalar-norm"))

    @property
    def shortest(self) -> float:
        """The move at which to stop."""
        if self.step_tol is None and self.variant == "scalar-norm":
            return ROCLAB_STEP_TOL
        return super().shortest

    def scaling(self, dim: int) -> Scaling:
        """Return the update with its moments at zero."""
        m, u, t = np.zeros(dim), np.zeros(dim), 0

        def scaled(gradient: np.ndarray) -> np.ndarray:
            nonlocal m, u, t
            t += 1
            size = np.abs(gradient)
            if self.variant == "scalar-norm":
                size = np.full(dim, size.max())
            m = self.beta1 * m + (1 - self.beta1) * gradient
            u = np.maximum(self.beta2 * u, size)
            unbiased = m / (1 - self.beta1**t)
            return np.divide(unbiased, u, out=np.zeros(dim), where=u > 0)

        return scaled


class _Watch:
    """Evaluates the points of one run, and keeps the best primal and dual ones.

    It reads only the rows of `problem`, which the pairs name; witnesses are of the whole problem.
    """

    def __init__(self, whole: Problem, problem: Problem, recorder: Recorder, last: bool):
        self.whole, self.problem, self.recorder, self.last = whole, problem, recorder, last
        self.looks = 0
        self.total, self.pull, self.mass, self.count = 0.0, 0.0, 0.0, 0

    def evaluate(self, w: np.ndarray) -> np.ndarray | None:
        """Return the subgradient at `w`, or None if F is above `DIVERGED`."""
        problem, recorder = self.problem, self.recorder
        scores = problem.space.scores(w)
        if not np.isfinite(scores).all():
            return None
        sums = problem.sums(scores)
        primal = sums.value + problem.lam / 2 * problem.space.norm2(w)
        if not primal < DIVERGED:
            return None
        if self.last:
            recorder.best_primal = np.inf
        recorder.offer(w, primal)
        pull = problem.space.pull(sums.c)
        mass = float(sums.c[problem.pairs.positive].sum())
        dual, scale = _scaled_dual(problem, pull, mass, sums.conjugate)
        recorder.offer(witness=lambda: self._slopes(scores, scale), dual=dual)
        if problem.loss == HINGE:
            self._average(scores, sums, pull)
        return problem.lam * w - pull

    def _slopes(self, scores: np.ndarray, scale: float) -> Minorant:
        """Return the dual point of the slopes at these very scores: at a kink others may differ."""
        whole, pairs = self.whole, self.problem.pairs
        if not isinstance(pairs, PairList):
            return Minorant.from_scores(whole, scores)
        return whole.risk.minorant(Alpha(scale * whole.loss.alpha(pairs.margins(scores))))

    def _average(self, scores: np.ndarray, sums: PairSums, pull: np.ndarray) -> None:
        """Offer the average of the slopes since the last power of two."""
        problem, pairs = self.problem, self.problem.pairs
        self.looks += 1
        if self.looks & (self.looks - 1) == 0:
            self.total, self.pull, self.mass, self.count = 0.0, 0.0, 0.0, 0
        listed = isinstance(pairs, PairList)
        self.total += problem.loss.alpha(pairs.margins(scores)) if listed else sums.c
        self.pull += pull
        self.mass += sums.conjugate
        self.count += 1
        mass, average = self.mass / self.count, self.pull / self.count
        dual, scale = _scaled_dual(problem, average, mass, mass)
        if dual <= self.recorder.best_dual:
            return
        point = scale / self.count * self.total

        def witness() -> Minorant:
            if listed:
                return self.whole.risk.minorant(Alpha(point))
            u, v = point[problem.pairs.positive], -point[~problem.pairs.positive]
            return Minorant.from_marginals(problem, np.maximum(u, 0.0), np.maximum(v, 0.0))

        self.recorder.offer(witness=witness, dual=dual)


def _scaled_dual(
    problem: Problem, pull: np.ndarray, mass: float, conjugate: float
) -> tuple[float, float]:
    """Return the dual value of s alpha for the best s in [0, 1], and that s.

    s mass - s^2 (mass - conjugate) - s^2 |pull|^2 / (2 lam): alpha shrunk stays feasible.
    """
    curvature = problem.space.norm2(pull) / problem.lam + 2 * (mass - conjugate)
    scale = 1.0 if curvature <= 0 else min(max(mass / curvature, 0.0), 1.0)
    return scale * mass - scale**2 / 2 * curvature, scale
