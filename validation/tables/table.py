"""A printed table or figure as something that can be run again. An `Experiment` says what is run: a
budget, independent parts, and how one part is computed. A `Table` shows its results next to the
print; tables that share an experiment run it once."""

from __future__ import annotations

import math
import string
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import cycle, product, zip_longest
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from ...exact.errors import InputError
from ...exact.formulation.formulation import Formulation, formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import get_loss
from ...exact.pairs.all_pairs import AllPairs
from ...exact.pairs.auc import auc
from ...exact.problem.problem import Problem, Ridge, pair_problem
from ...exact.spaces.blocks import StreamedRows
from ...exact.spaces.rows import Rows
from ..claims.claim import Context
from ..plots import Series, as_svg, draw
from ..store import EVIDENCE, SCHEMA_VERSION, Document, file_sha256, plain, read_evidence

FILE = Path(__file__).with_name("tables.toml")
MODULES = ("scaling_up", "sauc", "sht", "nonlinear", "convergence")
PROFILES = ("quick", "full", "printed")
SLACK = 1e-9  # rounding of means, as a share of the highest value: what is so close is not left
DIGITS = 12  # means that agree in so many decimals are equal


def mean_error(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return the mean and its standard error; None where there are too few values."""
    if values.size < 2:
        return (float(values[0]) if values.size else None), None
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    rounding = spread <= 1e-12 * max(1.0, abs(mean))
    return mean, 0.0 if rounding else spread / float(np.sqrt(values.size))


def as_numbers(name: str, values: list[object]) -> np.ndarray:
    """Return results of parts as an array (k,), or raise `InputError` where one is none."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        raise InputError(f"a result {name!r} is not a number: restore the evidence, or its parts")
    return found


@dataclass(frozen=True)
class NamedTest:
    """A paired test as pages print it and findings read it; its name is "n = 5: a minus b"."""

    name: str
    difference: float
    error: float
    p: float
    count: int
    unit: str = ""
    digits: int = 3

    def __str__(self) -> str:
        digits = max(self.digits, 1 - math.floor(math.log10(self.error or 1.0)))  # two of the error
        difference = f"{self.difference:+.{digits}f}{self.unit and f' {self.unit}'}"
        shown = f"standard error {self.error:.{digits}f}, p = {self.p:.2g}, {self.count} pairs"
        return f"{self.name}: {difference} ({shown})."


def paired_test(a: Any, b: Any, overlap: float = 0.0) -> tuple[float, float, float, int] | None:
    """Return Student's paired t test of a against b, None for fewer than three pairs: the mean
    difference, its standard error, the two-sided p-value, and the pairs."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    count = differences.size
    if count < 3:
        return None
    mean = float(differences.mean())
    error = float(np.sqrt(differences.var(ddof=1) * (1 / count + overlap)))
    if error <= 1e-12 * max(1.0, float(np.abs(a).max())):
        return mean, 0.0, 1.0 if abs(mean) <= 1e-12 else 0.0, count
    return mean, error, float(2 * stats.t.sf(abs(mean / error), count - 1)), count


Values = Callable[[int, int], Sequence[float]]  # of a candidate in a fold, one a variant


def race(candidates: int, folds: int, values: Values, limit: float = 1.0) -> tuple[int, int, float]:
    """Return candidate and variant of the highest mean over the folds, and that mean. A candidate
    is left that could not reach a finished one if all its folds to come gave the limit."""
    found = [(candidate, [values(candidate, 0)]) for candidate in range(candidates)]
    best = (float("-inf"), 0, 0)
    for candidate, mine in sorted(found, key=lambda of: -max(of[1][0])):  # the likely ones first
        while len(mine) < folds:
            left = limit * (folds - len(mine))
            most = max((sum(column) + left) / folds for column in zip(*mine, strict=True))
            if most < best[0] - SLACK * limit:
                break
            mine.append(values(candidate, len(mine)))
        else:
            means = [round(sum(column) / folds, DIGITS) for column in zip(*mine, strict=True)]
            best = max(best, (max(means), -candidate, -means.index(max(means))))
    return -best[1], -best[2], best[0]


Found = TypeVar("Found")
Measured = dict[str, Any]  # what a part has found, by name
Features = Callable[[np.ndarray], np.ndarray]


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """Return what the work finds, and the seconds of the processor that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows (n, d) and which of them are positive (n,)."""

    X: Any
    positive: np.ndarray

    def part(self, rows: Any) -> Sample:
        return Sample(self.X[rows], self.positive[rows])

    def mapped(self, features: Features) -> Sample:
        return Sample(features(self.X), self.positive)

    def problem(self, loss: str, lam: float = 1.0) -> Problem:
        """Return the problem over all pairs; rows that are made when they are read are streamed."""
        space = Rows(self.X) if isinstance(self.X, np.ndarray) else StreamedRows(self.X)
        return pair_problem(space, self.positive, AllPairs(), get_loss(loss), Ridge(lam))

    def kernel_machine(self, loss: str, lam: float, gamma: float | None) -> Formulation:
        """Return the problem over all pairs in the Gaussian kernel, through its factor; the linear
        one without gamma."""
        request = Request.of(lam, loss, kernel="linear" if gamma is None else "rbf", gamma=gamma)
        return formulate(self.X, self.positive.astype(int), request)

    def auc(self, w: np.ndarray) -> float:
        """Return the AUC of the scores X w; one half where they are not finite."""
        with np.errstate(all="ignore"):
            scores = self.X @ w
        return auc(scores, self.positive) if np.isfinite(scores).all() else 0.5


@dataclass(frozen=True)
class Budget:
    """One line of what is spent: the paper's, None if not printed, which may be known from the
    authors' `programs`; and ours in each profile. "printed" is as "full", but where the paper's own
    protocol is affordable."""

    what: str
    paper: Any
    quick: Any
    full: Any
    printed: Any = None
    programs: bool = False

    @property
    def theirs(self) -> Any:
        known = f"{self.paper} (programs)" if self.programs else self.paper
        return "not printed" if known is None else known

    def spent(self, profile: str) -> Any:
        own = getattr(self, profile)
        return self.full if profile == "printed" and own is None else own


@dataclass(frozen=True)
class Run:
    profile: str = "quick"
    seed: int = 0
    data_dir: Path | None = None

    def file(self, name: str) -> Path:
        if self.data_dir is None:
            raise InputError(f"{name}.npz: no folder of real data is named")
        return self.data_dir / f"{name}.npz"

    def absent(self, part: Part) -> list[str]:
        """Return the data of a part that are not here."""
        return [n for n in part.needs if self.data_dir is None or not self.file(n).is_file()]

    def path(self, folder: Path, experiment: str) -> Path:
        """Return the file of an experiment in a folder of finished parts."""
        return folder / f"{self.profile}-seed{self.seed}" / f"{experiment}.jsonl"


@dataclass(frozen=True)
class Part:
    key: str
    parameters: dict[str, Any]
    needs: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, tasks: Mapping[str, Any] | None = None, **parameters: Any) -> Part:
        """Return the part whose key has its parameters in braces; the task `set` names a file."""
        needs = () if tasks is None else (tasks[parameters["set"]].file,)
        return cls(key.format(**parameters), parameters, needs)


def every_part(
    key: str, tasks: Mapping[str, Any] | None = None, **axes: Any
) -> Callable[[Mapping[str, Any]], list[Part]]:
    """Return what makes a part for each choice of the parameters, the last of them fastest. An axis
    is the line of a budget that has its values, or their number, or is the values."""

    def parts(budget: Mapping[str, Any]) -> list[Part]:
        spent: list[Any] = [budget[a] if isinstance(a, str) else a for a in axes.values()]
        grid = product(*(range(s) if isinstance(s, int) else s for s in spent))
        return [Part.of(key, tasks, **dict(zip(axes, each, strict=True))) for each in grid]

    return parts


@dataclass(frozen=True)
class Job:
    experiment: str
    part: Part
    run: Run
    budget: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.part.parameters[name]

    def rng(self, stream: str) -> np.random.Generator:
        """Return the random numbers of a purpose: a function of (seed, experiment, purpose). Parts
        that name the same purpose get the same numbers: that is how methods share a split."""
        return Context(self.experiment, self.run.seed).rng(stream)

    def draw_seed(self, stream: str) -> int:
        return Context(self.experiment, self.run.seed).draw_seed(stream)


@dataclass(frozen=True)
class Experiment:
    name: str
    budget: tuple[Budget, ...]
    parts: Callable[[Mapping[str, Any]], Sequence[Part]]  # of what a profile spends
    compute: Callable[[Job], Measured]
    search: str = ""
    protocol: int = 1
    tolerance: float = 1e-6
    quick_minutes: float | None = None  # CPU minutes of the quick profile, all parts.
    printed_minutes: float | None = None  # Of the printed one, where it is not the full one.

    def lines(self, profile: str) -> list[tuple[Budget, Any]]:
        """Return the lines of the budget of which a profile spends something, each with that."""
        found = [(line, line.spent(profile)) for line in self.budget]
        return [(line, spent) for line, spent in found if spent is not None]

    def spent(self, profile: str) -> dict[str, Any]:
        return {line.what: spent for line, spent in self.lines(profile)}

    def measured(self, part: Part, run: Run) -> Measured:
        """Run a part; return what it has found, as JSON has it."""
        return plain(self.compute(Job(self.name, part, run, self.spent(run.profile))))

    def key(self, part: Part, run: Run) -> Document:
        """Return all that a result depends on, but checksums of data that are not here: results of
        another key are never used again. Version and source are only recorded: every moved import
        would count."""
        needs = () if run.absent(part) else part.needs
        key: Document = {"schema_version": SCHEMA_VERSION, "experiment": self.name}
        key |= {"protocol": self.protocol, "part": part.key, "parameters": part.parameters}
        key |= {"budget": self.spent(run.profile), "seed": run.seed, "profile": run.profile}
        key["data_sha256"] = {name: file_sha256(run.file(name)) for name in needs}
        return plain(key)  # tuples become lists, as they will be in the file

    def fits(self, document: Document | None, part: Part, run: Run) -> bool:
        """Whether a document is of this part, protocol and budget. Of a part whose data are not
        here, the checksums of the data cannot be compared."""
        if document is None:
            return False
        key, kept = self.key(part, run), document["key"]
        key["data_sha256"] = key["data_sha256"] or kept["data_sha256"]
        return kept == key

    def results(self, run: Run) -> Results:
        """Return the results of a run that has none yet."""
        budget = self.spent(run.profile)
        parts = tuple(self.parts(budget))
        if len({part.key for part in parts}) < len(parts):
            raise ValueError(f"{self.name}: two parts have one key")
        return Results(run, budget, parts, {})

    def recorded(self, folder: Path = EVIDENCE) -> Results:
        """Return the results of the full run by its evidence; `InputError` where it lacks a part.
        Data are not compared."""
        run = Run("full")
        found, path = self.results(run), run.path(folder, self.name)
        known = read_evidence(path)
        for part in found.parts:
            if not self.fits(known.get(part.key), part, run):
                make = f"`aucert reproduce --profile {run.profile} --evidence DIR`"
                lacking = f"no part {part.key} of protocol {self.protocol} and its budget is there"
                do = f"restore {path}, or make it with {make}"
                raise InputError(f"evidence of {self.name}: {lacking}: {do}")
            found.documents[part.key] = known[part.key]
        return found


@dataclass
class Results:
    """What is known of the parts of a run, by their keys: the documents of those that are finished,
    the data that others lack, and why they failed. A limit is there if it was reached."""

    run: Run
    budget: Mapping[str, Any]
    parts: tuple[Part, ...]
    documents: dict[str, Document]
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    limit: float | None = None

    def select(self, **wanted: Any) -> Iterator[dict[str, Any]]:
        """Yield parameters and numbers together, of the finished parts with these parameters."""
        for part in self.parts:
            known = part.parameters
            if part.key in self.documents and all(known.get(k) == v for k, v in wanted.items()):
                yield {**known, **self.documents[part.key]["result"]}

    def values(self, name: str, **wanted: Any) -> np.ndarray:
        """Return one number of each finished part that has it, in the order of the parts."""
        found = (record.get(name) for record in self.select(**wanted))
        return as_numbers(name, [value for value in found if value is not None])

    def matched(
        self, by: str, a: tuple[str, Mapping[str, Any]], b: tuple[str, Mapping[str, Any]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return two numbers in pairs, of parts that have one value of the parameter `by`."""
        one, two = (
            {r[by]: r[name] for r in self.select(**wanted) if r.get(name) is not None}
            for name, wanted in (a, b)
        )
        first, second = ([side[v] for v in one if v in two] for side in (one, two))
        return as_numbers(a[0], first), as_numbers(b[0], second)

    @property
    def unfinished(self) -> tuple[str, ...]:
        known = {*self.documents, *self.missing, *self.failed}
        return tuple(part.key for part in self.parts if part.key not in known)


# Pictures of several panels: readable in grey and without colour vision.

POINTS = (("#000000", "x"), ("#e69f00", "o"), ("#56b4e9", "^"), ("#009e73", "s"))  # scattered


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = True
    log_y: bool = False
    points: tuple[Series, ...] = ()
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    ticks: tuple[str, ...] = ()


Curves = dict[str, list[tuple[float, ...]]]  # place, height and, if drawn, standard error


def picture_svg(name: str, title: str, panels: Sequence[Panel]) -> str:
    """Return panels under one legend as SVG; equal pictures give equal text."""
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)

    def put(canvas: Any) -> None:
        canvas.set_layout_engine("constrained")
        handles: dict[str, Any] = {}
        for axes, panel in zip_longest(canvas.subplots(lines, columns, squeeze=False).flat, panels):
            if panel is None:
                axes.set_axis_off()
                continue
            _draw_panel(axes, panel)
            found, names = axes.get_legend_handles_labels()
            handles |= dict(zip(names, found, strict=True))
        where: Any = {"loc": "outside lower center", "ncols": 3, "frameon": False}
        canvas.legend(handles.values(), handles.keys(), **where)
        canvas.suptitle(title, fontsize=11)

    return as_svg(put, name, (3.4 * columns + 0.6, 2.9 * lines + 0.9))


def _draw_panel(axes: Any, panel: Panel) -> None:
    draw(axes, panel)
    for line in list(axes.get_lines()):
        if half := panel.errors.get(line.get_label()):
            bars: Any = {"fmt": "none", "elinewidth": 0.8, "capsize": 2}
            axes.errorbar(*line.get_data(), half, ecolor=line.get_color(), **bars)
    for series, (color, marker) in zip(panel.points, cycle(POINTS), strict=False):
        style: Any = {"s": 12, "color": color, "marker": marker, "linewidths": 0.7}
        axes.scatter(series.x, series.y, label=series.name, **style)
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks)
    axes.set_title(panel.title, fontsize=10)
    axes.get_legend().remove()


@dataclass(frozen=True)
class Entry:
    row: str
    column: str
    printed: str | None
    ours: float | str | None
    error: float | None = None
    count: int = 0
    digits: int = 2
    note: str = ""


@dataclass
class Page:
    """What is shown of a table, filled in its order. Where values are wanted, a name stands for
    those of the parts with these parameters."""

    entries: list[Entry] = field(default_factory=list)
    tests: list[NamedTest] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    results: Results = field(default_factory=lambda: Results(Run(), {}, (), {}))
    said: Mapping[str, Any] = field(default_factory=dict)  # its texts in tables.toml
    known: dict[str, Any] = field(default_factory=dict)  # and the numbers that they ask for

    @property
    def conclusion(self) -> str:
        return self.filled(self.said.get("conclusion", ""))

    @property
    def differences(self) -> list[str]:
        return [text for text in map(self.filled, self.said.get("notes", ())) if text]

    def filled(self, text: str) -> str:
        """Return the text with its numbers; nothing where one of them is not known."""
        names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        return text.format(**self.known) if names <= self.known.keys() else ""

    def enter(self, *fields: Any) -> None:
        self.entries.append(Entry(*fields))

    def values(self, what: str | np.ndarray, **wanted: Any) -> np.ndarray:
        return self.results.values(what, **wanted) if isinstance(what, str) else what

    def mean(
        self, row: str, column: str, what: Any, printed: Any = None, digits: int = 2, **wanted: Any
    ) -> tuple[float, ...]:
        """Enter the mean over repetitions next to the print; return it with its error, if any."""
        values = self.values(what, **wanted)
        ours, error = mean_error(values)
        self.enter(row, column, printed, ours, error, values.size, digits)
        return () if ours is None else (ours, error or 0.0)

    def means(
        self, row: str, columns: Iterable[Any], shown: Mapping[str, str] = {}, **wanted: Any
    ) -> None:
        """Enter the means of (column, number, digits) that are in print or have been run."""
        for column, name, digits in columns:
            values = self.values(name, **wanted)
            if values.size or column in shown:
                self.mean(row, column, values, shown.get(column), digits)

    def largest(self, row: str, column: str, what: str, **wanted: Any) -> None:
        """Enter the largest of proved upper bounds, where there is one."""
        values = self.values(what, **wanted)
        if values.size:
            self.enter(row, column, None, f"<= {values.max():.1e}", None, values.size)

    def paired(
        self,
        sides: str | Iterable[str | np.ndarray],
        names: Sequence[str],
        unit: str = "in AUC",
        digits: int = 4,
        before: str = "",
        overlap: float = 0.0,
        **wanted: Any,
    ) -> None:
        """Enter the paired t-test of first minus second, where there are three pairs or more. Sides
        in one text are numbers that differ by the names alone, which stand for its braces."""
        each = map(sides.format, names) if isinstance(sides, str) else sides
        a, b = (self.values(side, **wanted) for side in each)
        test = paired_test(a, b, overlap) if len(a) == len(b) else None
        if test is not None:
            name = f"{before}{': ' * bool(before)}{' minus '.join(names)}"
            self.tests.append(NamedTest(name, *test, unit, digits))

    def draw(
        self,
        title: str,
        labels: tuple[str, str],
        curves: Curves,
        references: Iterable[str] = (),
        ticks: tuple[str, ...] = (),
        log_x: bool = False,
    ) -> None:
        """Add a panel of the curves that have points, if any; references are grey lines. Places
        without a height are left out."""
        drawn = {name: [p for p in points if len(p) > 1] for name, points in curves.items()}
        kept = {name: tuple(zip(*points, strict=True)) for name, points in drawn.items() if points}
        series = tuple(Series(name, c[0], c[1], name in references) for name, c in kept.items())
        errors = {name: columns[2] for name, columns in kept.items() if len(columns) > 2}
        if kept:
            self.panels.append(Panel(title, *labels, series, log_x, errors=errors, ticks=ticks))


@dataclass(frozen=True)
class Table:
    name: str
    paper: str
    place: str
    title: str
    experiment: Experiment
    render: Callable[[Results], Page]
    unavailable: Mapping[str, str] = field(default_factory=dict)


SAID: dict[str, dict[str, Any]] = {
    name: {"paper": paper, **each.get(said.get("like", ""), {}), **said}
    for paper, each in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
    for name, said in each.items()
}
EXPERIMENTS: dict[str, Experiment] = {}  # all that have been entered
TABLES: dict[str, Table] = {}
Entered = TypeVar("Entered", bound=Callable[..., Any])


def experiment(
    name: str, parts: Callable[[Mapping[str, Any]], Sequence[Part]], *budget: Budget, **more: Any
) -> Callable[[Entered], Entered]:
    def entered(compute: Entered) -> Entered:
        EXPERIMENTS[name] = Experiment(name, budget, parts, compute, **more)
        return compute

    return entered


def table(name: str, experiment: str) -> Callable[[Entered], Entered]:
    """Enter the table of tables.toml whose page the function fills from an experiment."""
    said, shared = SAID[name], EXPERIMENTS[experiment]

    def entered(fill: Entered) -> Entered:
        def render(results: Results) -> Page:
            page = Page(results=results, said=said)
            fill(page)
            return page

        where, absent = (said["paper"], said["place"], said["title"]), said.get("unavailable", {})
        TABLES[name] = Table(name, *where, shared, render, absent)
        return fill

    return entered


def tables() -> dict[str, Table]:
    """Return name to table, in the order of tables.toml, which is that of the papers."""
    for module in MODULES:  # they enter tables
        import_module(f".{module}", __package__)
    return {name: TABLES[name] for name in SAID}


def experiments(entries: Iterable[Table]) -> dict[str, Experiment]:
    """Return the experiments of tables by name, each once."""
    return {table.experiment.name: table.experiment for table in entries}


def shown_value(value: Any) -> str:
    """Return what a line of a budget says, in words."""
    if isinstance(value, list | tuple):
        return ", ".join(shown_value(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown_value(item)}" for name, item in value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
