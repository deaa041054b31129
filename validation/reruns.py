"""A drawn sample of the evidence, run again: what was recorded must come out once more. `aucert
reproduce --check` runs it; `checked.json` keeps what came out last, and `aucert validate` reports
that."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..exact.errors import InputError
from .claims.claim import PAPERS, Context, Outcome, Verdict
from .claims.recorded import enter
from .data.datasets import real_data_folder
from .store import EVIDENCE, Document
from .tables.table import Experiment, Part, Run, experiments, tables

SECONDS = 4.0  # processor time of a part above which it is not run again; but see `LONGEST`
# In the full profile an experiment all of whose parts took more than `SECONDS` has its shortest one
# run again, unless that took more than this: four experiments, about a minute together.
LONGEST = 60.0
DRAWN = 2  # parts of an experiment that are run again in the quick profile; ten times in the full
CLOCK = ("seconds", "s, ")  # beginnings and ends of the names of times, which are not compared
STEPS = "steps "  # beginning of the name of a solver's steps
MANY_STEPS = 2.0  # factor up to which the steps of another version are not called a difference
# The constants that cross-validation chooses, for the method that follows in the name or for all.
# Where two of them tie to within a few pairs, the last digits of certified answers decide.
CHOSEN = ("sigma", "structure", "cost", "lam")
TIED_AUC = 0.05  # how much an AUC may differ then: some sets have 75 rows, of which half are judged
OF_DATA = ("n_train", "n_test", "rows")  # no choice of constants changes these, or checksums
OTHERWISE = 0.25  # share of the parts up to which other choices are ties, one in any case
TOLERANCE = (
    "the relative difference that each experiment allows; steps to a factor of two; "
    f"AUC to {TIED_AUC:g} where cross-validation chose otherwise; seconds are not compared"
)


@dataclass
class Recorded:
    """An experiment, the parts of its evidence that can be run again, each with its document, and
    the data that the others need, each with whether it is here, but is not that of the evidence."""

    experiment: Experiment
    parts: list[tuple[Part, Document]]
    lacking: dict[str, bool] = field(default_factory=dict)

    def drawn(self, rng: np.random.Generator, quick: bool) -> list[tuple[Part, Document]]:
        """Return the parts to run again: some of the short ones, or in a full run the shortest."""
        short = [of for of in self.parts if of[1]["cpu_seconds"] <= SECONDS]
        if short:
            many = min(len(short), DRAWN if quick else 10 * DRAWN)
            return [short[at] for at in sorted(rng.choice(len(short), many, replace=False))]
        shortest = sorted(self.parts, key=lambda of: of[1]["cpu_seconds"])[:1]
        return [of for of in shortest if not quick and of[1]["cpu_seconds"] <= LONGEST]


def recorded_parts(paper: str, run: Run, folder: Path = EVIDENCE) -> dict[str, Recorded]:
    """Return experiment to what its evidence holds."""
    found = {}
    for name, experiment in experiments_of(paper).items():
        of, known = Recorded(experiment, []), experiment.recorded(folder)
        for part in known.parts:
            document, lacking = known.documents[part.key], dict.fromkeys(run.absent(part), False)
            recorded = document["key"]["data_sha256"]
            now = experiment.key(part, run)["data_sha256"]  # none where one is absent
            lacking |= {data: True for data in now if recorded.get(data) != now[data]}
            of.lacking |= lacking
            if not lacking:
                of.parts.append((part, document))
        found[name] = of
    return found


def experiments_of(paper: str) -> dict[str, Experiment]:
    return experiments(table for table in tables().values() if table.paper == paper)


def differences(recorded: Any, found: Any, tol: float = 1e-6, where: str = "") -> Iterator[str]:
    """Yield the places where two results differ; times are not compared. See `MANY_STEPS` for the
    steps of a solver, and `TIED_AUC` for a method whose constants were chosen otherwise."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        other = chosen_otherwise(recorded, found)
        for name in recorded | found:
            one, now, at = recorded.get(name), found.get(name), f"{where}/{name}"
            what, _, method = str(name).partition(" ")
            both, of_data = name in recorded and name in found, what in OF_DATA or "sha256" in name
            if method in other and both and not of_data:
                if "auc" in what:  # gaps and excesses of other constants are not known beforehand
                    yield from differences(one, now, max(tol, TIED_AUC), at)
            elif str(name).startswith(STEPS) and isinstance(one, int) and isinstance(now, int):
                if max(one, now) > MANY_STEPS * min(one, now):
                    yield f"{at}: {one!r} recorded, {now!r} now"
            elif "seconds" not in str(name) and not str(name).startswith(CLOCK):
                yield from differences(one, now, tol, at)
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for at, pair in enumerate(zip(recorded, found, strict=True)):
            yield from differences(*pair, tol, f"{where}/{at}")
    elif isinstance(recorded, float) and isinstance(found, int | float):
        if not math.isclose(recorded, found, rel_tol=tol, abs_tol=tol):
            yield f"{where}: {recorded!r} recorded, {found!r} now"
    elif recorded != found:
        yield f"{where}: {recorded!r} recorded, {found!r} now"


def chosen_otherwise(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> set[str]:
    """Return the methods for which cross-validation chose other constants than were recorded."""
    both = [str(name).partition(" ") for name in recorded if recorded[name] != found.get(name)]
    return {method for what, _, method in both if what in CHOSEN}


# Paper to what its last check found, and of which evidence.
CHECKED = Path(__file__).with_name("checked.json")


def check(
    paper: str, profile: str = "quick", seed: int = 0, folder: Path = EVIDENCE, data: Any = None
) -> dict[str, Any]:
    """Run a drawn sample of a paper's evidence again; return what `checked.json` keeps of it."""
    run = Run("full", 0, real_data_folder() if data is None else Path(data))
    rng, wrong, ran, tied, long = Context(name_of(paper), seed).rng("parts"), [], [], 0, []
    evidence = recorded_parts(paper, run, folder)
    for name, recorded in evidence.items():
        again = recorded.drawn(rng, profile == "quick")
        if recorded.parts and not again:
            long.append(name)
        for part, document in again:
            before, now = document["result"], recorded.experiment.measured(part, run)
            places = differences(before, now, recorded.experiment.tolerance)
            wrong += [f"{name} {part.key}{where}" for where in places]
            ran.append(f"{name} {part.key}")
            tied += bool(chosen_otherwise(before, now))
    left_out = f"; none of {', '.join(long)}: their parts take longer" if long else ""
    lacking = dict(sorted(item for of in evidence.values() for item in of.lacking.items()))
    if lacking:
        names = ", ".join(name for name, of in evidence.items() if of.lacking)
        left_out += f"; of {names} no part that needs {', '.join(lacking)}: these data are not "
        left_out += "here, or not those of the evidence"
    changed = ", ".join(f"{data}.npz" for data, other in lacking.items() if other)
    if changed and not ran:
        why = f"the evidence was made of other data: {changed}"
        raise InputError(f"nothing can be run again: {why}")
    if tied > max(1, OTHERWISE * len(ran)):
        wrong.append(f"cross-validation chose otherwise in {tied} of {len(ran)} parts")
    verdict = Verdict.FAILS if wrong else Verdict.HOLDS if ran else Verdict.NOT_TESTABLE
    shown = "no part of the evidence can be run again here"
    if ran:
        shown = f"{len(ran)} parts run again, {len(wrong)} numbers differ"
        shown += f", cross-validation chose otherwise in {tied} of them" if tied else ""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "verdict": str(verdict),
        "measured": shown + left_out,
        "parts": ran,
        "differences": wrong[:10],
        "evidence": fingerprint(paper, folder),
    }


def name_of(paper: str) -> str:
    return f"evidence-of-{paper.lower()}-repeats"


def fingerprint(paper: str, folder: Path = EVIDENCE) -> str:
    """Return the SHA-256 of a paper's evidence, file by file."""
    found = b""
    for name in sorted(experiments_of(paper)):
        path = Run("full").path(folder, name)
        if not path.is_file():
            raise InputError(f"{path} is not there: restore the evidence of {name}")
        found += hashlib.sha256(path.read_bytes()).digest()
    return hashlib.sha256(found).hexdigest()


def last_check(paper: str, folder: Path = EVIDENCE) -> Outcome:
    """Return what the last check of this evidence found; a check of other evidence fails."""
    known = json.loads(CHECKED.read_text(encoding="utf-8"))[paper]
    when = f"run again on {known['date']} with version {known['version']}"
    if known["evidence"] != fingerprint(paper, folder):
        again = "`aucert reproduce --check` runs it again"
        return Outcome(Verdict.FAILS, f"the evidence is not the one {when}: {again}")
    details = {"date": known["date"], "parts": known["parts"]}
    measured = f"{when}: {known['measured']}"
    return Outcome(Verdict(known["verdict"]), measured, details=details, tolerance=TOLERANCE)


def enter_reruns() -> None:
    enter({name_of(paper): lambda context, paper=paper: last_check(paper) for paper in PAPERS})
