"""A claim of a paper, or of this project, as something that can be run and judged.

    @claim(
        "incomplete-u-is-unbiased",
        paper="ScalingUp", place="Definition 2", kind="theorem",
        statement="...", formula="E U_B(f) = U(f)",
    )
    def incomplete_u_is_unbiased(context: Context) -> Outcome: ...

Importing the module that holds the function enters the claim in `REGISTRY`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ..data.labelled_data import Dataset
from ..data.real_data import FOLDER_VARIABLE, real_data_folder
from ..plots import Figure
from .recorded import recorded_verdict, source
from .verdicts import KINDS, PAPERS, Kind, Verdict


@dataclass(frozen=True)
class DataUsed:
    """Name, fingerprint and origin of rows that a claim used."""

    name: str
    sha256: str
    source: str = ""

    @classmethod
    def of(cls, dataset: Dataset) -> DataUsed:
        """Return those of a data set."""
        return cls(dataset.name, dataset.sha256, dataset.source)


@dataclass(frozen=True)
class Outcome:
    """What a claim's function returns.

    Attributes
    ----------
    verdict : Verdict
    measured : str or float
        What was found, short: one cell of a table.
    printed : str, optional
        What the paper prints there.
    details : dict
        Name to number, text, or a list of these: everything that has to be repeatable.
    timings : dict
        Name to seconds: whatever differs from run to run.
    data : iterable of Dataset, or of what is known of one
    tolerance : str, optional
        What decided, in words: "relative gap 1e-8", "two-sided level 1e-6".
    figures : tuple of Figure
    turned_by : str
        The smallest effect that would turn the verdict, where it rests on one.
    """

    verdict: Verdict
    measured: str | float
    printed: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    data: Iterable[Dataset | DataUsed] = ()
    tolerance: str | None = None
    figures: tuple[Figure, ...] = ()
    turned_by: str = ""

    @property
    def used(self) -> tuple[DataUsed, ...]:
        """What is shown of the data, each once."""
        found = (d if isinstance(d, DataUsed) else DataUsed.of(d) for d in self.data)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Context:
    """What a claim's function is given: its name, the run's seed and the profile."""

    name: str
    seed: int
    profile: str = "quick"

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


Run = Callable[[Context], Outcome]


@dataclass(frozen=True)
class Claim:
    """One claim: what is stated and where, what we expect, and the function that finds out.

    Attributes
    ----------
    name : str
        Small letters, digits and hyphens.
    paper : str
        One of `PAPERS`.
    place : str
        Where in the paper: "Theorem 4", "Table 1".
    kind : one of `KINDS`
    statement : str
        One sentence.
    formula : str
        The same in symbols, plain text.
    expected_verdict : Verdict
    run : function of a Context
    needs : tuple of str
        What may be missing; then the claim is not testable, as expected. Modules, and "data:FILE"
        for FILE.npz in the folder of the papers' data (the environment variable AUCERT_DATA).
    quote : str
        The paper's words, short.
    readings : tuple of str
        Charitable readings under which a theorem is judged; one that fails does so under each,
        but for what a reading calls repaired: that is not printed.
    regime, tuning : str
        The paper's protocol or assumptions beside ours, and what each side was given.
    turned_by : str
        The smallest effect that would turn the verdict, where the outcome does not say it.
    arithmetic : bool
        Whether it follows from constants or printed numbers alone, so that no fault of the library
        can turn it.
    """

    name: str
    paper: str
    place: str
    kind: Kind
    statement: str
    expected_verdict: Verdict
    run: Run
    formula: str = ""
    needs: tuple[str, ...] = ()
    quote: str = ""
    readings: tuple[str, ...] = ()
    regime: str = ""
    tuning: str = ""
    turned_by: str = ""
    arithmetic: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise InputError(f"claim name {self.name!r}: use small letters, digits and hyphens")
        if self.paper not in PAPERS:
            raise InputError(f"claim {self.name}: paper must be one of {', '.join(PAPERS)}")
        if self.kind not in KINDS:
            raise InputError(f"claim {self.name}: kind must be one of {', '.join(KINDS)}")

    @property
    def missing(self) -> str | None:
        """What the claim needs and is not here, in words; None if it can be run."""
        return next(filter(None, map(_missing, self.needs)), None)


def _missing(need: str) -> str | None:
    if not need.startswith("data:"):
        return None if find_spec(need) is not None else f"{need} is not installed"
    file = f"{need.removeprefix('data:')}.npz"
    folder = real_data_folder()
    if folder is None:
        return f"the paper's data are not here: set {FOLDER_VARIABLE} to the folder of {file}"
    return None if (folder / file).is_file() else f"{file} is not in the folder {FOLDER_VARIABLE}"


REGISTRY: dict[str, Claim] = {}
"""Every claim that has been imported, by name."""


def claim(
    name: str,
    *,
    paper: str,
    place: str,
    kind: Kind,
    statement: str,
    expected: Verdict | None = None,
    formula: str = "",
    needs: tuple[str, ...] = (),
    registry: dict[str, Claim] | None = None,
) -> Callable[[Run], Run]:
    """Enter the decorated function as a claim; the function itself is returned unchanged.

    Arguments as the attributes of `Claim`; `registry` is `REGISTRY` by default. The expected
    verdict is the recorded one unless it is given; what the paper says and assumes, and how it can
    be read, stand in sources.json.

    Raises
    ------
    InputError
        If the name is taken or an argument is not as `Claim` wants it.
    """
    entries = REGISTRY if registry is None else registry

    def enter(run: Run) -> Run:
        if name in entries:
            raise InputError(f"two claims are called {name!r}")
        entries[name] = Claim(
            name=name,
            paper=paper,
            place=place,
            kind=kind,
            statement=statement,
            expected_verdict=recorded_verdict(name) if expected is None else expected,
            run=run,
            formula=formula,
            needs=needs,
            tuning="Nothing is tuned." if kind == "theorem" else "",
            **source(name),
        )
        return run

    return enter
