"""Running the claims: resumable, in parallel if wanted, with the same numbers either way.

Every claim draws its random numbers from (seed, its own name) and runs with one thread, so neither
the order nor the number of processes changes a number. `judged` keeps what is finished.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path

import joblib

from .. import __version__
from ..exact.errors import InputError
from ..exact.tools.interrupts import finish
from . import effects, reruns
from .claims import recorded
from .claims.claim import REGISTRY, Claim
from .claims.verdicts import PAPERS, PROFILES
from .judged import library_sha256, run_claim
from .report.document import Report, environment
from .report.row import Row
from .workers import unheard_by_workers

recorded.enter_all()
effects.enter_all()
reruns.enter_reruns()

# Called after each claim with the number done, the number in all, and the row.
Progress = Callable[[int, int, Row], object]


def claims(
    registry: Mapping[str, Claim] | None = None, only: str | Sequence[str] = ()
) -> list[Claim]:
    """Return claims, paper by paper, those of one paper in the order of being entered."""
    entries = (REGISTRY if registry is None else registry).values()
    return _chosen(sorted(entries, key=lambda entry: PAPERS.index(entry.paper)), only)


def run(
    only: str | Sequence[str] = (),
    profile: str = "quick",
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
    registry: Mapping[str, Claim] | None = None,
) -> Report:
    """Run the claims and write the report."""
    chosen = claims(registry, only)
    if profile not in PROFILES:
        raise InputError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    seed, jobs = _whole("seed", seed, 0), _whole("jobs", jobs, 1)
    folder = None if out is None else _made(out)
    start = time.perf_counter()
    rows: dict[str, Row] = {}
    for row in _finished(chosen, seed, profile, jobs, folder):
        rows[row.name] = row
        if progress is not None:
            progress(len(rows), len(chosen), row)
    report = Report(
        rows=tuple(rows[entry.name] for entry in chosen),
        seed=seed,
        profile=profile,
        version=__version__,
        library_sha256=library_sha256(),
        environment=environment(),
        seconds=time.perf_counter() - start,
    )
    if folder is not None:
        finish()
        report.write(folder)
    return report


def _chosen(entries: list[Claim], only: str | Sequence[str]) -> list[Claim]:
    only = [only] if isinstance(only, str) else only
    names = [entry.name for entry in entries]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
            hint = f"did you mean {', '.join(near)}?" if near else "see the list of claims"
            raise InputError(f"no claim is called {name!r}: {hint}")
    return [entry for entry in entries if not only or entry.name in only]


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return int(value)


def _made(out: str | Path) -> Path:
    if not str(out).strip():
        raise InputError("out needs the name of a folder ('.' is the one you stand in)")
    folder = Path(out)
    try:
        (folder / "claims").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error})") from None
    return folder


def _finished(
    chosen: Iterable[Claim], seed: int, profile: str, jobs: int, folder: Path | None
) -> Iterator[Row]:
    """Yield the rows as they are done; with one job nothing is started elsewhere."""
    chosen = list(chosen)
    if jobs == 1 or len(chosen) < 2:
        yield from (run_claim(entry, seed, profile, folder) for entry in chosen)
        return
    parallel = joblib.Parallel(
        n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1
    )
    tasks = (joblib.delayed(run_claim)(entry, seed, profile, folder) for entry in chosen)
    with unheard_by_workers():
        finished = parallel(tasks)
    yield from finished
