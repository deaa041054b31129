"""[SAUC, Tables 1 and 2, Fig. 2 (the second of two), Fig. 3]: the XOR problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....exact.pairs.nearest_pairs import nearest_pairs
from ...data.generators import xor_train_test
from ..table import Budget, Experiment, Job, Part, Run
from .machines import ALL, SEARCH, Grid, Sides, all_machines
from .printed import PLAIN, STRUCTURED, SVM, TOY
from .real import SEARCHED, SIGMAS

METHODS = (SVM, PLAIN, STRUCTURED)
KS = [5, 10, 15, 20, 25, 30, ALL]

BUDGET = (
    Budget("draws", 1, 6, 20),
    Budget("neighbours k (0: all)", KS, KS, KS),
    *SEARCHED,
    Budget("grid of sigma", SIGMAS, [0.5, 1.0], [0.25, 0.5, 1.0, 2.0]),
)
DATA_BUDGET = (Budget("draws", 1, 1000, 10_000),)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each draw and k."""
    return [
        Part(f"draw={draw},k={k}", {"draw": draw, "k": k})
        for draw in range(budget["draws"])
        for k in budget["neighbours k (0: all)"]
    ]


def compute(job: Job) -> dict[str, Any]:
    """Choose, fit and test the three machines on one draw at one k."""
    train, test = xor_train_test(job.draw_seed(f"draw {job['draw']}"))
    sides = Sides(train.X, train.is_positive, test.X, test.is_positive)
    seed = job.draw_seed(f"folds {job['draw']}")
    found = all_machines(sides, "rbf", Grid.of(job.budget), job["k"], seed, exact=False)
    flat = {f"{what} {m}": v for m, numbers in found.items() for what, v in numbers.items()}
    k = job["k"]
    whole = 3200 if k == ALL else nearest_pairs(train.X, train.is_positive, k, "union").i.size
    gap = max(numbers.get("gap", 0.0) for numbers in found.values())
    return flat | {"pairs by the text": whole, "gap": gap}


EXPERIMENT = Experiment("sauc-toy", BUDGET, parts, compute, SEARCH)


def data_parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return the one part."""
    return [Part("moments", {"draws": budget["draws"]})]


def compute_data(job: Job) -> dict[str, Any]:
    """Return the moments of each Gaussian over many draws, and the rows of the first."""
    sums: dict[str, list[np.ndarray]] = {name: [] for name in TOY}
    seed = job.draw_seed("first")
    for draw in range(job["draws"]):
        for name, rows in gaussians(*xor_train_test((seed + draw) % 2**32)).items():
            spread = np.cov(rows.T)
            moments = (*rows.mean(axis=0), spread[0, 0], spread[1, 1], spread[0, 1], len(rows))
            sums[name].append(np.array(moments))
    found: dict[str, Any] = {}
    for name, values in sums.items():
        table = np.array(values)
        found[name] = table.mean(axis=0).tolist()
        found[f"error {name}"] = (table.std(axis=0, ddof=1) / np.sqrt(len(table))).tolist()
    for side, data in zip(("train", "test"), xor_train_test(seed), strict=True):
        found[side] = data.X.tolist()
        found[f"{side} labels"] = data.y.tolist()
    return found


def gaussians(train: Any, test: Any) -> dict[str, np.ndarray]:
    """Return the rows of each Gaussian: they stand in the order of the table in both parts."""
    found = {}
    at = {"train": 0, "test": 0}
    for name, moments in TOY.items():
        rows, count = [], int(moments[-1])
        for part, data, size in (("train", train, count // 5), ("test", test, count - count // 5)):
            rows.append(data.X[at[part] : at[part] + size])
            at[part] += size
        found[name] = np.concatenate(rows)
    return found


DATA = Experiment("sauc-toy-data", DATA_BUDGET, data_parts, compute_data)
