"""How far NSAUC is from the optimum of its own objective, by lam and by the number of epochs.

F* is the certified optimum on the same Nyström features.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....approx.nystrom.nystrom import Nystrom
from ....approx.random_pairs.nsauc import PairSGD
from ....exact.api.solve import choose_solver
from ....exact.certificate.solution import Status
from ....exact.pairs.auc import auc
from ....exact.problem.problem import Problem, linear_problem
from ...data.datasets import load
from ..harness import Lines, Table, benchmark
from ..problems.samples import standardised

VARIANTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("mean", {}),
    ("2nd half", {"average": "half"}),
    ("last", {"average": "none"}),
    ("t0 bottou", {"t0": "bottou"}),
    ("as printed", {"t0": "bottou", "paper_literal": True}),
)


def nystrom_problem(name: str, lam: float, n_landmarks: int = 50) -> Problem:
    """Return the hinge problem on k-means Nyström features of a standardised data set."""
    X, positive = standardised(load(name))
    features = Nystrom(n_landmarks=n_landmarks, landmarks="kmeans", random_state=0)
    return linear_problem(features.fit_transform(X), positive.astype(int), lam)


@benchmark()
def main(
    data: str = "radial:1000",
    lam: tuple[float, ...] = (1e-2, 1e-4, 1e-6),
    epochs: tuple[int, ...] = (1, 10, 100, 400),
) -> Lines:
    """Yield the table."""
    yield Table(
        f"{data}, 50 landmarks: F / F* - 1, and the training AUC of the mean",
        *("lam:7.0e", "epochs:6d", "lam T:8.2g", *(f"{name}:11.1e" for name, _ in VARIANTS)),
        *("AUC:7.4f", "AUC of F*:9.4f"),
    )
    for one in lam:
        problem = nystrom_problem(data, one)
        exact = choose_solver(problem, "auto", 1e-6, 120.0).solve(problem)
        best = auc(problem.space.scores(exact.w), problem.pairs.positive)
        for count in epochs:
            yield one, count, *_row(problem, count, exact.certificate.primal), best


def _row(problem: Problem, epochs: int, optimum: float) -> Iterator[float | str]:
    """Yield lam T, the excess of each variant, and the AUC of the first."""
    runs = [PairSGD(epochs, **given).solve(problem) for _, given in VARIANTS]  # type: ignore
    yield problem.lam * epochs * problem.n
    for run in runs:
        away = run.status == Status.STALLED
        yield "runs away" if away else run.certificate.primal / optimum - 1
    yield auc(problem.space.scores(runs[0].w), problem.pairs.positive)


if __name__ == "__main__":
    raise SystemExit(main())
