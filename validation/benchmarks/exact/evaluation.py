"""What one evaluation over all pairs costs: loss, marginals and pull.

As multiples of one X@w + one argsort + one X'g at the same size in the same run. Run it with

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m aucert.validation.benchmarks.exact.evaluation
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from ....exact.problem.all_pairs import AllPairs
from ....exact.problem.problem import Problem, linear_problem
from .timing import best_cpu, yardstick


def measure(n: int, d: int, form: str, loss: str, seed: int = 0) -> tuple[float, float]:
    """Return the CPU seconds of one evaluation and of the yardstick.

    Parameters
    ----------
    n, d : int
        Rows and features; one row in five is positive.
    form : {"numpy", "compiled"}
    loss : str
    seed : int
    """
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    y[:2] = True, False
    X = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    problem = linear_problem(X, y.astype(int), 1e-3, loss, AllPairs(form=form))
    w = rng.normal(size=d)
    evaluate(problem, w)  # compiles
    return best_cpu(lambda: evaluate(problem, w)), best_cpu(yardstick(X, w))


def evaluate(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return the gradient; its by-products are the loss and the marginals."""
    sums = problem.sums(problem.space.scores(w))
    return problem.lam * w - problem.space.pull(sums.c)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="cost of one evaluation over all pairs")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**k for k in range(3, 7)])
    parser.add_argument("--features", type=int, default=2)
    options = parser.parse_args(arguments)
    print(f"loss + marginals + pull over all pairs, d = {options.features}, CPU time, best of 5;")
    print("x = one X@w + one argsort + one X'g at the same size in the same run")
    print(
        f"{'n':>9} {'pairs':>16} {'loss':>14} {'form':>9} {'ms':>10} {'yardstick ms':>13} {'x':>6}"
    )
    for n in options.sizes:
        for loss, form in (("hinge", "numpy"), ("hinge", "compiled"), ("squared_hinge", "numpy")):
            spent, unit = measure(n, options.features, form, loss)
            pairs = int(0.2 * n) * (n - int(0.2 * n))
            print(
                f"{n:9d} {pairs:16.3g} {loss:>14} {form:>9} {1e3 * spent:10.3f} "
                f"{1e3 * unit:13.3f} {spent / unit:6.2f}"
            )


if __name__ == "__main__":
    main()
