"""[SAUC, Tables 3 and 4]: three machines on eighteen real tasks, both kernels, run.

`BUDGET` has the grids of [SAUC, Section 4], as printed and as run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..table import Budget, Experiment, Job, Part, Run
from .data import TASKS, half_split, load_task, prepared, unscaled
from .machines import SEARCH, Grid, Sides, all_machines, chosen_pair_machine, pairs_of
from .printed import RAW, RAW_STRUCTURED

KERNELS = ("linear", "rbf")
NAMES = {"linear": "linear", "rbf": "Gaussian"}
NEIGHBOURS = 10

POWERS = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]
SIGMAS = "2^-10, 2^-9, ..., 2^10"

SEARCHED = (
    Budget("folds", 5, 2, 5),
    Budget("grid of C", POWERS, [0.01, 1.0, 100.0], POWERS),
    Budget("grid of lambda", POWERS, [1.0, 1e3], [1e-3, 0.1, 10.0, 1e3]),
)
SIGMA = Budget("grid of sigma", SIGMAS, [2.0, 8.0], [0.5, 2.0, 4.0, 8.0, 32.0])
BUDGET = (
    Budget("splits into halves", 10, 3, 10),
    Budget("neighbours k", 10, 10, 10),
    *SEARCHED,
    SIGMA,
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task, kernel and split: the splits first, tasks within."""
    return [
        Part(
            f"{name},{kernel},split={split}",
            {"set": name, "kernel": kernel, "split": split},
            (TASKS[name].file,),
        )
        for split in range(budget["splits into halves"])
        for name in TASKS
        for kernel in KERNELS
    ]


def split_sides(job: Job, name: str, split: int) -> tuple[Sides, Sides]:
    """Return one split of a task, standardised, and in raw units."""
    X, positive = load_task(name, job.file(TASKS[name].file).parent)
    train, test = half_split(positive, job.rng(f"split {name} {split}"))
    labels = (positive[train], positive[test])
    (left, right), (raw, raw_test) = (make(X[train], X[test]) for make in (prepared, unscaled))
    return Sides(left, labels[0], right, labels[1]), Sides(raw, labels[0], raw_test, labels[1])


def compute(job: Job) -> dict[str, Any]:
    """Run the machines on one split with one kernel."""
    name, kernel, k = job["set"], job["kernel"], job.budget["neighbours k"]
    sides, raw = split_sides(job, name, job["split"])
    seed = job.draw_seed(f"folds {name} {job['split']}")
    grid = Grid.of(job.budget)
    found = all_machines(sides, kernel, grid, k, seed, exact=True)
    if kernel == "linear":
        found[RAW] = chosen_pair_machine(raw, kernel, grid, [0.0], k, seed)
        found[RAW_STRUCTURED] = chosen_pair_machine(raw, kernel, grid, grid.structures, k, seed)
    flat: dict[str, Any] = {
        f"{what} {method}": value
        for method, numbers in found.items()
        for what, value in numbers.items()
    }
    flat["rows"] = int(sides.positive.size)
    flat["raw pairs"] = pairs_of(raw.X, raw.positive, k).on(raw.positive).count()
    flat["gap"] = max(numbers.get("gap", 0.0) for numbers in found.values())
    return flat


EXPERIMENT = Experiment("sauc-real", BUDGET, parts, compute, SEARCH)
