"""Two small tables of one experiment, of which a test decides what fails or stops."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aucert.validation.tables import table


def planted(log: Any = None, fail="", stop="", needs=(), protocol=1) -> dict[str, table.Table]:
    """Return two tables of one experiment; the log gets a line for each part that is computed."""

    def parts(budget: Mapping[str, Any]) -> list[table.Part]:
        return [table.Part(f"rep={k}", {"rep": k}, needs) for k in range(budget["repetitions"])]

    def compute(job: table.Job) -> dict[str, Any]:
        if log is not None:
            with open(log, "a") as file:
                file.write(f"{job.part.key}\n")
        if job.part.key == fail:
            raise ZeroDivisionError("planted")
        if job.part.key == stop:
            raise KeyboardInterrupt
        return {"value": job.rng(f"draw {job['rep']}").normal(), "bad": np.nan, "rep": job["rep"]}

    def render(results: table.Results) -> table.Page:
        values = results.values("value")
        entry = table.Entry("all", "value", "0.00 (0.1)", *table.mean_error(values), values.size)
        said = {"conclusion": f"There are {values.size} values. That is all."}
        return table.Page([entry], said=said)

    budget = (table.Budget("repetitions", 50, 4, 6),)
    experiment = table.Experiment("planted", budget, parts, compute, protocol=protocol)
    return {
        name: table.Table(name, "ScalingUp", "nowhere", f"Planted {name}", experiment, render)
        for name in ("one", "two")
    }
