"""A claim of a paper, or of this project, as something that can be run and judged."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ..data import datasets
from ..data.datasets import FOLDER_VARIABLE, Dataset, real_data_folder
from ..plots import Figure

PAPERS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")
FILED = (*PAPERS, "aucert")  # what we state of our own work is filed under none of the papers
SEVERITIES = {
    "A": "changes a conclusion",
    "B": "wrong and repaired; the conclusion stands",
    "C": "a slip of the pen or of arithmetic",
}
# Of the papers: theorems, equations, bounds and costs, by mathematics as printed; and what their
# experiments show, by the full reproduction.
PAPER_KINDS = ("theorem", "finding")
# Ours: what a paper should have stated; how its approximations converge; about our own solvers.
KINDS = (*PAPER_KINDS, "corrected", "convergence", "suite")
PROFILES = ("quick", "full")
ERROR = "error"  # in the place of a verdict where the claim raised


class Verdict(StrEnum):
    HOLDS = "holds"  # proved, or true in everything that was run
    FAILS = "fails"  # an explicit instance within the assumptions contradicts it
    VACUOUS = "vacuous"  # not contradicted, but it says nothing: it is always true
    LOOSE = "loose"  # true, but at least ten times the quantity that it bounds
    # What the full reproduction shows, beyond chance: what the paper says, or the opposite.
    BORNE_OUT = "borne-out"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"  # neither, or its deviations leave it open
    NOT_TESTABLE = "not-testable"  # cannot be run here; the measured column says why


FINDINGS = (Verdict.BORNE_OUT, Verdict.CONTRADICTED, Verdict.UNDECIDED, Verdict.NOT_TESTABLE)
STATEMENTS = (Verdict.HOLDS, Verdict.FAILS, Verdict.VACUOUS, Verdict.LOOSE, Verdict.NOT_TESTABLE)


def vocabulary(kind: str) -> tuple[Verdict, ...]:
    return FINDINGS if kind == "finding" else STATEMENTS


def shown_unit(unit: str) -> tuple[float, str]:
    """Return how many of what a reader sees are one of an effect's unit: AUC is in points."""
    return (100, "points of AUC") if unit == "AUC" else (1, unit)


@dataclass(frozen=True)
class Outcome:
    """What a claim's function returns; the verdict of a `Row` of one that raised is "error"."""

    verdict: str
    measured: str | float
    _: KW_ONLY
    printed: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    tolerance: str | None = None
    figures: tuple[Figure, ...] = ()
    turned_by: str = ""
    effects: tuple[dict[str, Any], ...] = ()
    protocol: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True)
class Context:
    """What a claim's function is given: its name, the run's seed and the profile."""

    name: str
    seed: int
    profile: str = "quick"
    used: list[dict[str, str]] = field(default_factory=list, compare=False)

    @property
    def quick(self) -> bool:
        """Whether the whole suite has to end within a minute or two."""
        return self.profile == "quick"

    def _sequence(self, stream: str) -> np.random.SeedSequence:
        # A stable hash: `hash` of a string differs from process to process.
        digest = hashlib.sha256(f"{self.name}/{stream}".encode()).digest()
        return np.random.SeedSequence([self.seed, *np.frombuffer(digest[:16], "<u4").tolist()])

    def rng(self, stream: str = "") -> np.random.Generator:
        """Return the random numbers of one purpose: a function of (seed, claim, purpose) only."""
        return np.random.default_rng(self._sequence(stream))

    def draw_seed(self, stream: str = "") -> int:
        """Return a whole number below 2^32 for what takes a seed, derived likewise."""
        return int(self._sequence(stream).generate_state(1)[0])

    def use(self, data: Dataset) -> Dataset:
        """Note that the claim uses these rows; return them."""
        used = {"name": data.name, "sha256": data.sha256, "source": data.source}
        if used not in self.used:
            self.used.append(used)
        return data

    def load(self, name: str, stream: str = "data") -> Dataset:
        """Return rows of a generator, drawn by the seed and noted as used."""
        return self.use(datasets.load(name, self.draw_seed(stream)))


Run = Callable[[Context], Outcome]


@dataclass(frozen=True)
class Statement:
    name: str
    paper: str
    place: str
    kind: str
    statement: str
    _: KW_ONLY
    formula: str = ""
    quote: str = ""
    readings: tuple[str, ...] = ()
    regime: str = ""
    tuning: str = ""
    turned_by: str = ""
    arithmetic: bool = False
    printed: str | None = None
    severity: str = ""
    corrected: str = ""


@dataclass(frozen=True)
class Claim(Statement):
    expected_verdict: Verdict
    run: Run
    needs: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise InputError(f"claim name {self.name!r}: use small letters, digits and hyphens")
        for what, known in (("paper", FILED), ("kind", KINDS)):
            if getattr(self, what) not in known:
                raise InputError(f"claim {self.name}: {what} must be one of {', '.join(known)}")
        if self.severity not in ("", *SEVERITIES) or bool(self.severity) != bool(self.corrected):
            raise InputError(f"claim {self.name}: severity is A, B or C, with what is right")

    @property
    def missing(self) -> str | None:
        """What the claim needs and is not here, in words; None if it can be run."""
        return next(filter(None, map(missing, self.needs)), None)


def missing(need: str) -> str | None:
    """Return why a package, or a file of real data if it begins with "data:", is not here."""
    if not need.startswith("data:"):
        return None if find_spec(need) is not None else f"{need} is not installed"
    file = f"{need.removeprefix('data:')}.npz"
    folder = real_data_folder()
    if folder is None:
        return f"the paper's data are not here: set {FOLDER_VARIABLE} to the folder of {file}"
    return None if (folder / file).is_file() else f"{file} is not in the folder {FOLDER_VARIABLE}"


REGISTRY: dict[str, Claim] = {}  # Every claim that has been entered, by name.
