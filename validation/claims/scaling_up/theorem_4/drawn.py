"""Draws on which the second half of the proof of Theorem 4 is judged [ScalingUp, appendix A.2]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .....approx.drawn_pairs import draw_pairs
from .....exact.losses.registry import HINGE
from .....exact.pairs.all_pairs import PairList
from .....exact.problem.problem import Ridge, pair_problem
from .....exact.spaces.factor import factor_gram
from .....exact.spaces.gram import Gram
from .....exact.spaces.kernels import Gaussian, Kernel, Laplacian
from .....exact.spaces.rows import Rows, Space
from ....bounds.experiment import Experiment, certified, prepare
from ....bounds.kernel import Approximation
from ....bounds.steps import DrawnPair, least_norm
from ....data import datasets
from ....data.labelled_data import Dataset
from ...claim import Context
from ...common import wdbc_sample

TOL = 1e-9  # Certified gap of every optimum here.


@dataclass(frozen=True, eq=False)
class Case:
    """One draw of pairs: f^_B and f~_B, beside the full problem.

    `pair` has theta~ of least norm, as in the paper, `dual` the one of the dual point; with
    `all_rows` every row is a landmark, and K~ = K.
    """

    data: Dataset
    experiment: Experiment
    pair: DrawnPair
    dual: DrawnPair
    all_rows: bool

    @property
    def U(self) -> float:
        """U(f^)."""
        full = self.experiment.full
        return full.sums(full.space.scores(self.experiment.f.w)).value

    @property
    def radius(self) -> float:
        """Largest distance of a certified optimum from the exact one."""
        return float(np.sqrt(2 * TOL / self.experiment.lam))

    @property
    def loss_slack(self) -> float:
        """What this changes in a difference of losses, each Lipschitz with constant 2 K_max."""
        return 4 * self.experiment.approximation.K_max * self.radius


def drawn_pairs(
    approximation: Approximation, factor: Rows, truth: Space, pairs: PairList, B: int, lam: float
) -> tuple[DrawnPair, DrawnPair]:
    """Solve the drawn problem with K and K~; expand in the rows, theta~ as in `Case`."""
    positive = approximation.positive
    exact, near = (
        certified(pair_problem(space, positive, pairs, HINGE, Ridge(lam)), TOL)
        for space in (factor, Rows(approximation.features))
    )
    drawn = pair_problem(truth, positive, pairs, HINGE, Ridge(lam))
    tilde = least_norm(approximation.features, near.w)
    pair = DrawnPair(approximation, drawn, B, exact.witness.c / lam, tilde)
    return pair, replace(pair, theta_tilde=near.witness.c / lam)


@lru_cache(maxsize=1)
def drawn_cases(seed: int, profile: str) -> tuple[Case, ...]:
    """Return the draws: three data sets, lam = 1 and 0.1, d = n/10, n/3, n, B = n and 10 n."""
    context = Context("theorem-4-nystrom-steps", seed, profile)
    n, count = (60, 2) if context.quick else (120, 10)
    sets: list[tuple[Dataset, Kernel]] = [
        (wdbc_sample(context, 2 * n // 5, n - 2 * n // 5), Gaussian(0.02)),
        (datasets.load(f"linear:{n}", context.draw_seed("linear")), Gaussian(5.0)),
        (datasets.load(f"radial:{n}", context.draw_seed("radial")), Laplacian(1.0)),
    ]
    cases = []
    for data, kernel in sets:
        for lam, d in ((lam, d) for lam in (1.0, 0.1) for d in (n // 10, n // 3, n)):
            stream = f"{data.name}/{lam:g}/{d}"
            run = prepare(data.X, data.y, kernel, lam, d, context.draw_seed(stream), TOL)
            rng = context.rng(stream)
            for B in (n, 10 * n) * count:
                pairs = draw_pairs(data.is_positive, B, rng, merge=True)
                truth = run.full.space
                found = drawn_pairs(run.approximation, run.factor, truth, pairs, B, lam)
                cases.append(Case(data, run, *found, all_rows=d == n))
    return tuple(cases)


def three_rows(lam: float = 0.05) -> DrawnPair:
    """Return the smallest case where (20) fails.

    One number a row, 9 and 0 positive, 1 negative, Gaussian kernel with gamma = 0.02; the only
    drawn pair is (0, 1), and these two rows are the landmarks. They span f^_B, so that f~_B = f^_B,
    and on the pair K~ is K: the right side is zero. theta~ of least norm spreads f~_B over all
    three rows, though, which costs the objective with K the penalty of the third.
    """
    X, positive = np.array([[9.0], [0.0], [1.0]]), np.array([True, True, False])
    kernel = Gaussian(0.02)
    K = kernel(X, X)
    approximation = Approximation.of_landmarks(kernel, X, X[1:], positive)
    pairs = PairList(np.array([1]), np.array([2]))
    factor = Rows(factor_gram(K).features)
    return drawn_pairs(approximation, factor, Gram(K), pairs, 1, lam)[0]
