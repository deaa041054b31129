"""What is to be run, in which order, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .stored import missing_data, part_key, part_path, read_part
from .table import Experiment, Part, Run, Table

FULL_LIMIT = 12 * 3600.0  # Seconds that the full profile may take unless told otherwise.

Plan = dict[str, tuple[Experiment, tuple[Part, ...]]]  # Experiments by name, with their parts.

Kept = Callable[[Experiment, Part], Any]  # Finds the document of a finished part, or None.


def planned(entries: Iterable[Table], run: Run) -> Plan:
    """Return the experiments of the tables, each once, with their parts."""
    plan: Plan = {}
    for experiment in (table.experiment for table in entries):
        parts = tuple(experiment.parts(run, experiment.spent(run.profile)))
        if len({part.key for part in parts}) < len(parts):
            raise ValueError(f"{experiment.name}: two parts have one key")
        plan.setdefault(experiment.name, (experiment, parts))
    return plan


def in_order(plan: Plan, run: Run) -> list[tuple[Experiment, Part]]:
    """Return all parts in the order to run them: cheap experiments end first, all begin soon.

    A part comes when its experiment, run alone, would have reached its end. So where time runs
    out, the dearest experiments lack their last repetitions and nothing else.
    """
    found: list[tuple[float, Experiment, Part]] = []
    for experiment, parts in plan.values():
        minutes = experiment.minutes.get(run.profile, 0.0) / max(len(parts), 1)
        found += [(minutes * at, experiment, part) for at, part in enumerate(parts, start=1)]
    found.sort(key=lambda item: item[0])
    return [(experiment, part) for _, experiment, part in found]


@dataclass(frozen=True)
class Estimate:
    """What an experiment still takes.

    Attributes
    ----------
    tables : tuple of str
        That are made of it.
    parts, done, missing : int
        In all; found in the folder; without data.
    minutes : float or None
        CPU minutes of the others by the mean of those measured; None if none was measured.
    """

    tables: tuple[str, ...]
    parts: int
    done: int
    missing: int
    minutes: float | None

    @property
    def left(self) -> int:
        """Parts to run."""
        return self.parts - self.done - self.missing

    def as_json(self) -> dict[str, Any]:
        """Return it as plain numbers and texts."""
        return {
            "tables": list(self.tables),
            "parts": self.parts,
            "done": self.done,
            "missing": self.missing,
            "cpu_minutes": self.minutes,
        }


def estimates(
    entries: Sequence[Table], run: Run, folder: Path, kept: Kept = lambda experiment, part: None
) -> list[Estimate]:
    """Return what each experiment of the tables still takes, given what the folder holds."""
    found = []
    for name, (experiment, parts) in planned(entries, run).items():
        left = [p for p in parts if _unfinished(experiment, p, run, folder, kept)]
        lacking = [part for part in left if missing_data(part, run) is not None]
        minutes = experiment.minutes.get(run.profile)
        to_run = len(left) - len(lacking)
        found.append(
            Estimate(
                tuple(table.name for table in entries if table.experiment.name == name),
                len(parts),
                len(parts) - len(left),
                len(lacking),
                None if minutes is None else minutes * to_run / max(len(parts), 1),
            )
        )
    return found


def _unfinished(experiment: Experiment, part: Part, run: Run, folder: Path, kept: Kept) -> bool:
    if kept(experiment, part) is not None:
        return False
    key = part_key(experiment, part, run)
    return (
        missing_data(part, run) is not None
        or read_part(part_path(folder, experiment, part, run), key) is None
    )


def duration(seconds: float) -> str:
    """Return a time in words: "12 h", "1.5 min", "20 s"."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"
