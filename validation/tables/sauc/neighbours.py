"""[SAUC, Figs. 4 and 5]: four real tasks by the number of neighbours, and by lambda."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..table import Budget, Experiment, Job, Part, Run
from .data import TASKS
from .machines import ALL, FINAL_TOL, SEARCH, Grid, all_machines, pair_machine
from .printed import PLAIN, STRUCTURED, SVM
from .real import SEARCHED, SIGMA, split_sides

SELECTED = {"glass1": "linear", "glass4": "linear", "glass5": "rbf", "hepatitis": "rbf"}
METHODS = (SVM, PLAIN, STRUCTURED)

KS = [5, 10, 15, 20, 25, 30, ALL]
BUDGET_4 = (
    Budget("splits into halves", 10, 4, 10),
    Budget("neighbours k (0: all)", KS, [5, 10, 20, ALL], KS),
    *SEARCHED,
    SIGMA,
)
LAMBDAS = [0.0, *(10.0**power for power in range(-5, 6))]
BUDGET_5 = (
    Budget("splits into halves", 10, 10, 40),
    Budget("neighbours k", 10, 10, 10),
    Budget("C", 1.0, 1.0, 1.0),
    Budget("sigma", 256.0, 256.0, 256.0),
    Budget("lambda", LAMBDAS, LAMBDAS, LAMBDAS),
)


def _part(name: str, split: int, **more: Any) -> Part:
    text = "".join(f",{key}={value:g}" for key, value in more.items())
    return Part(
        f"{name},split={split}{text}", {"set": name, "split": split, **more}, (TASKS[name].file,)
    )


def parts_4(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task, split and k."""
    return [
        _part(name, split, k=k)
        for split in range(budget["splits into halves"])
        for name in SELECTED
        for k in budget["neighbours k (0: all)"]
    ]


def compute_4(job: Job) -> dict[str, Any]:
    """Run the three machines at one k."""
    name, split = job["set"], job["split"]
    sides, _ = split_sides(job, name, split)
    seed = job.draw_seed(f"folds {name} {split}")
    grid = Grid.of(job.budget)
    found = all_machines(sides, SELECTED[name], grid, job["k"], seed, exact=False)
    share = found[PLAIN]["pairs"] / (sides.positive.sum() * (~sides.positive).sum())
    gap = max(numbers.get("gap", 0.0) for numbers in found.values())
    return {f"auc {m}": v["auc"] for m, v in found.items()} | {"share": share, "gap": gap}


def parts_5(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each task and split; all lambda are in it."""
    return [
        _part(name, split) for split in range(budget["splits into halves"]) for name in SELECTED
    ]


def compute_5(job: Job) -> dict[str, Any]:
    """Run SAUC-SVM at every lambda, C and sigma fixed."""
    name, budget = job["set"], job.budget
    sides, _ = split_sides(job, name, job["split"])
    fixed = (SELECTED[name], budget["sigma"])
    found: dict[str, Any] = {}
    for lam in budget["lambda"]:
        point = pair_machine(sides, *fixed, lam, [budget["C"]], budget["neighbours k"], FINAL_TOL)
        found[f"auc {lam:g}"] = point[0]["auc"]
        found["gap"] = max(point[0]["gap"], found.get("gap", 0.0))
    return found


NEIGHBOURS = Experiment("sauc-neighbours", BUDGET_4, parts_4, compute_4, SEARCH)
LAMBDA = Experiment("sauc-lambda", BUDGET_5, parts_5, compute_5)
