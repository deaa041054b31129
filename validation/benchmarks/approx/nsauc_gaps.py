"""How far NSAUC is from the optimum of its own objective, by lam and by the number of epochs.

F* is the certified optimum on the same Nyström features.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ....approx.nystrom.nystrom import Nystrom
from ....approx.random_pairs.nsauc import PairSGD
from ....exact.api.solve import choose_solver
from ....exact.certificate.solution import Status
from ....exact.problem.auc import auc
from ....exact.problem.problem import Problem, linear_problem
from ...data.datasets import load

VARIANTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("mean", {}),
    ("2nd half", {"average": "half"}),
    ("last", {"average": "none"}),
    ("t0 bottou", {"t0": "bottou"}),
    ("as printed", {"t0": "bottou", "paper_literal": True}),
)


def nystrom_problem(name: str, lam: float, n_landmarks: int = 50) -> Problem:
    """Return the hinge problem on k-means Nyström features of a standardised data set."""
    data = load(name)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    features = Nystrom(n_landmarks=n_landmarks, landmarks="kmeans", random_state=0)
    return linear_problem(features.fit_transform(X), data.is_positive.astype(int), lam)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="NSAUC's distance from its optimum")
    parser.add_argument("--data", default="radial:1000")
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-2, 1e-4, 1e-6])
    parser.add_argument("--epochs", type=int, nargs="+", default=[1, 10, 100, 400])
    options = parser.parse_args(arguments)
    print(f"{options.data}, 50 landmarks: F / F* - 1, and the training AUC of the mean")
    names = "".join(f"{name:>11}" for name, _ in VARIANTS)
    print(f"{'lam':>7} {'epochs':>6} {'lam T':>8}{names} {'AUC':>7} {'AUC of F*':>9}")
    for lam in options.lam:
        problem = nystrom_problem(options.data, lam)
        exact = choose_solver(problem, "auto", 1e-6, 120.0).solve(problem)
        best = auc(problem.space.scores(exact.w), problem.pairs.positive)
        for epochs in options.epochs:
            _row(problem, epochs, exact.certificate.primal, best)


def _row(problem: Problem, epochs: int, optimum: float, best: float) -> None:
    runs = [PairSGD(epochs, **given).solve(problem) for _, given in VARIANTS]  # type: ignore
    gaps = "".join(
        f"{run.certificate.primal / optimum - 1:11.1e}"
        if run.status != Status.STALLED
        else f"{'runs away':>11}"
        for run in runs
    )
    ours = auc(problem.space.scores(runs[0].w), problem.pairs.positive)
    steps = problem.lam * epochs * problem.n
    print(f"{problem.lam:7.0e} {epochs:6d} {steps:8.2g}{gaps} {ours:7.4f} {best:9.4f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
