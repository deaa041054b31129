"""A drawn sample of the evidence, run again: what was recorded must come out once more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..claims.claim import Context, Outcome, claim
from ..claims.verdicts import PAPERS, Verdict
from ..data.real_data import real_data_folder
from ..tables.planning import planned
from ..tables.running.evidence import EvidenceFolder
from ..tables.running.registry import tables
from ..tables.stored import missing_data, plain
from ..tables.table import Experiment, Job, Part, Run
from .numbers import EVIDENCE

SECONDS = 3.0
"""Parts that took more processor time are not run again."""

DRAWN = 2
"""Parts of an experiment that are run again in the quick profile; ten times as many in the full."""

CLOCK = ("seconds", "s, ")
"""Beginnings and ends of the names of times, which are not compared."""

STEPS, MANY_STEPS = "steps ", 2.0
"""Beginning of the name of a solver's steps, and the factor up to which those of another version
are not called a difference."""

CHOSEN = ("sigma", "structure", "cost", "lam")
"""The constants that cross-validation chooses, for the method that follows in the name or for all.
Where two of them tie to within a few pairs, the last digits of certified answers decide."""

TIED_AUC = 0.05
"""How much an AUC may differ, of itself or of one, where the constants were chosen otherwise: some
sets have 75 rows, of which half are judged."""

OTHERWISE = 0.25
"""Share of the parts up to which other choices are ties, one in any case: more is a change."""

Rerun = tuple[Experiment, Part, Mapping[str, Any]]


def recorded_parts(paper: str, run: Run, folder: Path = EVIDENCE) -> dict[str, list[Rerun]]:
    """Return experiment to the parts of its evidence that can be run again within seconds."""
    kept = EvidenceFolder(folder, run)
    entries = [table for table in tables().values() if table.paper == paper]
    found: dict[str, list[Rerun]] = {}
    for name, (experiment, parts) in planned(entries, run).items():
        for part in parts:
            document = kept.find(experiment, part)
            if document is None or document["cpu_seconds"] > SECONDS:
                continue
            if missing_data(part, run) is None:
                found.setdefault(name, []).append((experiment, part, document["result"]))
    return found


def differences(
    recorded: Any, found: Any, tolerance: float = 1e-6, where: str = ""
) -> Iterator[str]:
    """Yield the places where two results differ; times are not compared.

    See `MANY_STEPS` for the steps of a solver, and `TIED_AUC` for a method whose constants were
    chosen otherwise.
    """
    if isinstance(recorded, Mapping) and isinstance(found, Mapping):
        other = chosen_otherwise(recorded, found)
        for name in dict.fromkeys([*recorded, *found]):
            one, now, at = recorded.get(name), found.get(name), f"{where}/{name}"
            what, _, method = str(name).partition(" ")
            if method in other and name in recorded and name in found:
                # What the other constants make of gaps and excesses is not known beforehand.
                if "auc" in what:
                    yield from differences(one, now, max(tolerance, TIED_AUC), at)
            elif str(name).startswith(STEPS) and isinstance(one, int) and isinstance(now, int):
                if max(one, now) > MANY_STEPS * min(one, now):
                    yield f"{at}: {one!r} recorded, {now!r} now"
            elif not is_time(str(name)):
                yield from differences(one, now, tolerance, at)
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for at, pair in enumerate(zip(recorded, found, strict=True)):
            yield from differences(*pair, tolerance, f"{where}/{at}")
    elif isinstance(recorded, float) and isinstance(found, int | float):
        if not math.isclose(recorded, found, rel_tol=tolerance, abs_tol=tolerance):
            yield f"{where}: {recorded!r} recorded, {found!r} now"
    elif recorded != found:
        yield f"{where}: {recorded!r} recorded, {found!r} now"


def chosen_otherwise(recorded: Any, found: Any) -> set[str]:
    """Return the methods for which cross-validation chose other constants than were recorded."""
    if not (isinstance(recorded, Mapping) and isinstance(found, Mapping)):
        return set()
    both = [str(name).partition(" ") for name in recorded if recorded[name] != found.get(name)]
    return {method for what, _, method in both if what in CHOSEN}


def is_time(name: str) -> bool:
    """Whether a number of that name is a time."""
    return "seconds" in name or name.startswith(CLOCK)


def run_again(context: Context, paper: str) -> Outcome:
    """Run a drawn sample of a paper's evidence again and compare."""
    run = Run("full", 0, real_data_folder())
    rng, wrong, ran, tied = context.rng("parts"), [], [], 0
    for name, parts in recorded_parts(paper, run).items():
        many = min(len(parts), DRAWN if context.quick else 10 * DRAWN)
        for at in sorted(rng.choice(len(parts), many, replace=False).tolist()):
            experiment, part, recorded = parts[at]
            job = Job(experiment.name, part, run, experiment.spent(run.profile))
            now = plain(experiment.compute(job))
            apart = differences(recorded, now, experiment.tolerance)
            wrong += [f"{name} {part.key}{where}" for where in apart]
            ran.append(f"{name} {part.key}")
            tied += bool(chosen_otherwise(recorded, now))
    if tied > max(1, OTHERWISE * len(ran)):
        wrong.append(f"cross-validation chose otherwise in {tied} of {len(ran)} parts")
    if not ran:
        return Outcome(Verdict.NOT_TESTABLE, "no part of the evidence can be run again here")
    return Outcome(
        Verdict.FAILS if wrong else Verdict.HOLDS,
        f"{len(ran)} parts run again, {len(wrong)} numbers differ"
        + (f", cross-validation chose otherwise in {tied} of them" if tied else ""),
        details={"parts": ran, "differences": wrong[:10]},
        tolerance="the relative difference that each experiment allows; steps to a factor of two; "
        f"AUC to {TIED_AUC:g} where cross-validation chose otherwise; seconds are not compared",
    )


def enter_reruns() -> None:
    """Enter a claim for each paper."""
    for paper in PAPERS:
        claim(
            f"evidence-of-{paper.lower()}-repeats",
            paper=paper,
            place="full reproduction",
            kind="suite",
            statement="Parts of the evidence, drawn by the seed, give the recorded numbers again.",
        )(lambda context, paper=paper: run_again(context, paper))
