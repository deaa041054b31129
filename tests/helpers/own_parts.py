"""A loss, two penalties, a kernel and a solver, each written as a user would write it."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from aucert.exact import InputError, Minorant, Problem, Status
from aucert.exact.certificate.solution import Recorder, Solver
from aucert.exact.problem.penalties import FeaturePenalty
from aucert.exact.spaces.rows import Space
from aucert.exact.tools.rounding import Bound, gamma


@dataclass(frozen=True)
class RoundedHinge:
    """The smooth hinge: 0 above 1, z^2 / (2 r) for z = 1 - t <= r, z - r/2 below."""

    r: float = 0.5
    name: str = field(default="rounded hinge", init=False)
    lipschitz: float = field(default=1.0, init=False)
    nonincreasing: bool = field(default=True, init=False)

    @property
    def smoothness(self) -> float:
        return 1 / self.r

    def value(self, t: np.ndarray) -> np.ndarray:
        z = np.maximum(1 - t, 0.0)
        return np.where(z < self.r, z**2 / (2 * self.r), z - self.r / 2)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.clip((1 - t) / self.r, 0.0, 1.0)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - self.r * alpha**2 / 2

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.clip(alpha, 0.0, 1.0)


@dataclass(frozen=True)
class Box(FeaturePenalty):
    """l2/2 |w|^2 + sum of max(low w_k, high w_k): C is the box [low, high]^d, low <= 0 <= high."""

    l2: float
    low: float
    high: float

    def support(self, w: np.ndarray) -> float:
        return float(np.maximum(self.low * w, self.high * w).sum())

    def residual(self, g: np.ndarray) -> np.ndarray:
        return g - np.clip(g, self.low, self.high)


@dataclass(frozen=True, eq=False)
class WeightedL1:
    """l2/2 |w|^2 + sum of t_k |w_k|, from the protocol alone."""

    l2: float
    t: np.ndarray

    def value(self, space: Space, w: np.ndarray) -> Bound:
        value = self.l2 / 2 * float(w @ w) + float(self.t @ np.abs(w))
        return Bound(value, gamma(2 * w.size + 8) * value)

    def residual(self, g: np.ndarray) -> np.ndarray:
        return np.sign(g) * np.maximum(np.abs(g) - self.t, 0.0)

    def distance(self, space: Any, c: np.ndarray) -> Bound:
        g = space.pull(c)
        error = space.pull_error(c) + gamma(g.size + 16) * float(np.linalg.norm(g))
        return Bound(float(np.linalg.norm(self.residual(g))), error)


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (1 + x'z)^degree."""

    degree: int = 2

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return (1.0 + X @ Z.T) ** self.degree

    def diagonal(self, X: Any) -> np.ndarray:
        return (1.0 + (X * X).sum(axis=1)) ** self.degree

    def noise(self, X: Any) -> float:
        return gamma(self.degree * (X.shape[1] + 4))


@dataclass(frozen=True)
class GradientDescent(Solver):
    """Steps of 1/L for a smooth loss with the ridge; `word` is what `run` returns."""

    tol: float = 1e-6
    max_iter: int = 20_000
    word: Status | None = None
    max_time: float | None = None
    name: ClassVar[str] = "gradient descent"

    def check(self, problem: Problem) -> None:
        if not np.isfinite(problem.loss.smoothness):
            raise InputError("a smooth loss only")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        assert recorder.w0 is not None
        w, space = recorder.w0, problem.space
        steep = problem.loss.smoothness * (2 * space.reach) ** 2 + problem.lam
        for _ in range(self.max_iter):
            scores = space.scores(w)
            sums = problem.sums(scores)
            left = problem.lam * w - space.pull(sums.c)
            primal = sums.value + problem.lam / 2 * float(w @ w)
            witness = Minorant.from_scores(problem, scores, scale=1.0)
            recorder.offer(w, primal, witness, primal - float(left @ left) / (2 * problem.lam))
            recorder.step()
            if recorder.near(self.tol / 2):
                break
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            w = w - left / steep
        return self.word
