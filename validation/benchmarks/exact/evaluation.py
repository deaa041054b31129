"""What one evaluation over all pairs costs: loss, marginals and pull.

As multiples of one X@w + one argsort + one X'g at the same size in the same run.
"""

from __future__ import annotations

import numpy as np

from ....exact.pairs.all_pairs import AllPairs
from ....exact.problem.problem import Problem, linear_problem
from ..harness import Lines, Table, benchmark
from ..measuring.timing import best_cpu, yardstick


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


@benchmark()
def main(sizes: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6), features: int = 2) -> Lines:
    """Yield the table."""
    yield Table(
        f"loss + marginals + pull over all pairs, d = {features}, CPU time, best of 5;\n"
        "x = one X@w + one argsort + one X'g at the same size in the same run",
        *("n:9d", "pairs:16.3g", "loss:>14", "form:>9", "ms:10.3f", "yardstick ms:13.3f", "x:6.2f"),
    )
    for n in sizes:
        for loss, form in (("hinge", "numpy"), ("hinge", "compiled"), ("squared_hinge", "numpy")):
            spent, unit = measure(n, features, form, loss)
            pairs = int(0.2 * n) * (n - int(0.2 * n))
            yield n, pairs, loss, form, 1e3 * spent, 1e3 * unit, spent / unit


if __name__ == "__main__":
    raise SystemExit(main())
