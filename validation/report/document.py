"""The report of a run: one JSON document and one HTML page that needs nothing next to it."""

from __future__ import annotations

import itertools
import math
import platform
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..bounds.prime import sampling_term
from ..claims import claim
from ..claims.claim import ERROR, Outcome, Statement, Verdict, shown_unit
from ..claims.recorded import record, statements
from ..files.written import write_json, write_text
from ..plots import Series


@dataclass(frozen=True, kw_only=True)
class Row(Outcome, Statement):
    """A claim that has been run: what the table, the report and the JSON show. `taken_over`: read
    from the file that an earlier run of the same code and seed has left."""

    expected_verdict: str
    seconds: float
    seed: int
    profile: str
    version: str
    data: tuple[dict[str, str], ...] = ()
    figures: tuple[dict[str, Any], ...] = ()
    taken_over: bool = field(default=False, compare=False)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; never for a claim that raised."""
        return self.verdict == self.expected_verdict

    @property
    def public(self) -> dict[str, Any]:
        """The keys that other people's scripts may rely on."""
        hidden = ("details", "figures", "formula", "profile")
        return {key: value for key, value in asdict(self).items() if key not in hidden}

    @classmethod
    def from_document(cls, row: dict[str, Any]) -> Row:
        """Return the row that `asdict` and JSON took apart."""
        parts: Any = {k: tuple(x) if isinstance(x, list) else x for k, x in row.items()}
        return cls(**parts)


NOT_RUN = "not run"
WORDS: dict[str, tuple[str, str, str]] = {  # verdict to word, colour and column of the counts
    Verdict.HOLDS: ("We find: yes", "good", "stand"),
    Verdict.BORNE_OUT: ("We find: yes", "good", "stand"),
    Verdict.FAILS: ("We find: no", "bad", "fall"),
    Verdict.CONTRADICTED: ("We find: no", "bad", "fall"),
    Verdict.VACUOUS: ("We find: empty", "warn", "empty or loose"),
    Verdict.LOOSE: ("We find: loose", "warn", "empty or loose"),
    Verdict.UNDECIDED: ("We find: open", "open", "undecided"),
    Verdict.NOT_TESTABLE: ("Not run", "open", NOT_RUN),
    ERROR: ("Error", "bad", NOT_RUN),
}
MOST_PARTS = 8  # effects that a forest shows below their mean, at most
# Curves of Theorem 4 and 4' in one colour wherever they are drawn.
OBJECTS = {"Theorem 4, at least": 1, "Theorem 4'": 2, "Theorem 4', a priori": 3}
PLACES = ("estimate", "printed", "low", "high")
SIGNS = {"for": "+", "against": "−", "either": "±", "neither": ""}  # which way a departure works


def ticks(low: float, high: float, log: bool, most: int = 5) -> list[tuple[float, str]]:
    """Return places on an axis, `most` at most, with labels; of a logarithmic one logarithms."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    if log:
        every = LogLocator(subs=(1,) if high - low > 2 else (1, 2, 5))
        places = every.tick_values(10**low, 10**high)
        found = [(math.log10(x), f"{x:g}" if 1e-3 <= x < 1e4 else f"{x:.0e}") for x in places]
    else:
        places = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(low, high)
        digits = max(0, -math.floor(math.log10(places[1] - places[0]) + 1e-9))
        found = [(x, f"{round(x, digits) + 0.0:.{digits}f}") for x in places]
    pad = 0.03 * (high - low)
    kept = [(float(x), text.replace("-", "−")) for x, text in found if low + pad < x < high - pad]
    return kept[:: -(-len(kept) // most)] if kept else []


def chart(
    curves: Sequence[Series], labels: tuple[str, str], logs: str = "xy", size: Any = (340, 200)
) -> dict[str, Any]:
    """Return what the template draws of curves: places in a box of this size. What a logarithm
    cannot show is left out, as an exact zero, which is one to rounding."""
    start, end = np.array([44, size[1] - 34]), np.array([size[0] - 12, 18])  # of the two axes
    of_x, of_y = (math.log10 if axis in logs else float for axis in "xy")
    points = (zip(one.x, one.y, strict=True) for one in curves)
    kept = [[(of_x(x), of_y(y)) for x, y in some if y > 1e-12] for some in points]
    every = np.array([*itertools.chain(*kept)] or [(0.0, 0.0)])
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.04 * np.where(high > low, high - low, 1.0)
    low, high = low - pad, high + pad

    def at(points: Any) -> Any:
        shares = (np.reshape(points, (-1, 2)) - low) / (high - low)
        return np.round(start + shares * (end - start), 1).tolist()

    most, marks = abs(end - start) // (50, 16), []
    for k, axis in enumerate("xy"):
        some = ticks(low[k], high[k], axis in logs, int(most[k]))
        marks.append([(at([x, x])[0][k], text) for x, text in some])
    drawn = []
    for k, (one, some) in enumerate(zip(curves, kept, strict=True)):
        kind = "ref" if one.reference else f"c{OBJECTS.get(one.name, k)}"
        drawn.append((one.name, kind, at(some)))
    return {"curves": drawn, "x": marks[0], "y": marks[1], "labels": labels, "size": size}


class Line(NamedTuple):
    """A line of a forest: an effect, and the row that makes the claim; all of it or a part."""

    name: str  # the statement of the row, if empty
    effect: dict[str, Any]
    row: Row
    whole: bool = True


def lines_of(row: Row, name: str = "", of_part: str = "") -> list[Line]:
    """Return the lines of a forest of a finding: its mean, and what this is the mean of."""
    first, *parts = row.effects
    few = parts if len(parts) <= MOST_PARTS else []
    return [Line(name, first, row), *(Line(of_part + p["name"], p, row, False) for p in few)]


def forest(lines: Sequence[Line]) -> dict[str, Any]:
    """Return what the template draws: a line each, its places on the axis in percent, its numbers.
    What the sentence claims is shaded; an interval that leaves the axis is cut at its end."""
    scale, unit = shown_unit(lines[0].effect["unit"])
    power, reach, known = unit.startswith("log10 of "), [0.0], []
    for line in lines:
        known.append({k: scale * x for k in PLACES if (x := line.effect[k]) is not None})
        reach += [x for k, x in known[-1].items() if line.whole or k in PLACES[:2]]
    pad = 0.07 * (max(reach) - min(reach) or 1.0)
    low, high = min(reach) - pad, max(reach) + pad

    def at(value: float) -> float:
        return round(100 * min(max((value - low) / (high - low), 0), 1), 1)

    def text(value: float, digits: int) -> str:
        shown = f"{round(value, digits) + 0.0:.{digits}f}"  # never -0
        if power:
            shown = f"×{10**value:,.0f}" if value >= 2 else f"×{10**value:.2g}"
        return shown.replace("-", "−")

    found = []
    for line, numbers in zip(lines, known, strict=True):
        width = numbers.get("high", high) - numbers.get("low", low)
        digits = max(0, 1 - math.floor(math.log10(width / 2 or 1.0)))
        than, margin = (scale * line.row.details.get(key, 0) for key in ("than", "margin"))
        if line.row.details.get("side") == "within":
            said, shade = f"within ±{margin:g}", (at(-margin), at(margin))
        else:
            said = f"above {text(than, 2)}" if power else f"above {than:g}"
            said += f", none within ±{margin:g}" if margin and than >= 0 else ""
            shade = at(than), at(math.inf)
        shown = {k: text(x, digits) for k, x in numbers.items()}
        places = {"low": 0, "high": 100} | {k: at(x) for k, x in numbers.items()}
        found.append({"of": line, "shown": shown, "claim": said, "at": places, "shade": shade})
    marks = [(at(x), "×" * power + label) for x, label in ticks(low, high, power)]
    return {"unit": unit.removeprefix("log10 of "), "ticks": marks, "zero": at(0), "lines": found}


# The ten sentences that matter: every picture is drawn from the effects, the details or the figures
# of rows of the run; a headline whose row is not in the run, or raised, is left out.

# Letter: how much the error matters, if there is one in print. Picture: a forest, or a chart.
Headline = namedtuple("Headline", "name sentence word colour letter number what picture")
Rows = Mapping[str, Row]
Drawn = tuple[str, str, dict[str, Any]]  # number, what it is, and a picture
SMALL = (270, 96)  # the box of a chart next to a sentence
TEN: dict[str, tuple[Any, ...]] = {}  # by the claim that decides, in their order
REPAIRED = ("Paper: false, repaired", "bad")


def headline(
    name: str, sentence: str, *word: str, wrong: str = ""
) -> Callable[[Callable[[Row, Rows], Drawn]], Any]:
    """Enter a headline; `word` and its colour if not those of the verdict, `wrong` in print."""

    def entered(made: Callable[[Row, Rows], Drawn]) -> Callable[[Row, Rows], Drawn]:
        TEN[name] = sentence, word, wrong or name, made
        return made

    return entered


def firsts(named: Rows) -> dict[str, Any]:
    return forest([Line(name, row.effects[0], row) for name, row in named.items()])


def _between(effect: Mapping[str, Any], digits: int, factor: float = 1.0) -> str:
    """Return the interval of an effect; a negative factor turns it round."""
    low, high = sorted(factor * effect[key] for key in ("low", "high"))
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


@headline(
    "incomplete-model-has-comparable-auc",
    "On these sets as many drawn pairs as rows are enough. They cost next to no AUC.",
)
def _pairs(row: Row, rows: Rows) -> Drawn:
    first, real = row.effects[0], rows["competitive-auc-on-real-sets"]
    lost = f"{-real.effects[0]['estimate']:.2f} {_between(real.effects[0], 2, -1)}"
    powers = rows["incomplete-nystrom-converges-in-the-pairs"].details["exponents"]
    what = f"points of AUC lost {_between(first, 3, -1)}, linear model, mean of four sizes; on "
    what += f"three real sets {lost}, for new sets {_between(real.effects[1], 2, -1)}. A point is "
    what += "0.01. The distance of F from its optimum falls like B to the power "
    what += f"{min(powers):.2f} to {max(powers):.2f}."
    kernel = rows["competitive-auc-of-the-kernel-on-real-sets"]
    named = {"linear model": row, "real sets, linear": real, "real sets, radial": kernel}
    return f"{-first['estimate']:.3f}", what, firsts(named)


@headline(
    "all-pairs-take-less-time-than-drawn-pairs",
    "On these simulated data drawing pairs is not the fastest way. Sorting fits all in less time.",
)
def _sorted(row: Row, rows: Rows) -> Drawn:
    first, *parts = row.effects
    real = rows["all-pairs-take-less-time-on-real-sets"]
    times = sorted(10 ** part["estimate"] for part in (*parts, *real.effects[1:]))
    what = f"as long [{10 ** first['low']:.0f}, {10 ** first['high']:.0f}] do drawn pairs take, in "
    what += "a descent stopped by its own rule (departure c), as the certified fit of all; on real "
    what += f"sets {10 ** real.effects[0]['estimate']:.0f}, set by set {times[0]:.0f} to "
    what += f"{times[-1]:.0f}. The paper's full model, which sums pairs one by one, was not run."
    mean, *sizes = lines_of(row, "mean", "n = ")
    lines = [mean, Line("real sets", real.effects[0], real), *sizes]
    bare = [line._replace(effect=line.effect | {"printed": None}) for line in lines]
    return f"{10 ** first['estimate']:.0f}×", what, forest(bare)


@headline(
    "nystrom-introduces-only-a-minor-loss",
    "On simulated radial data a few hundred landmarks do the work of the whole kernel.",
)
def _landmarks(row: Row, rows: Rows) -> Drawn:
    first = row.effects[0]
    what = f"points of AUC gained by 300 landmarks {_between(first, 3)}. A kernel matrix whose "
    what += "eigenvalues fall slowly takes more: see Convergence."
    return f"{first['estimate']:+.3f}", what, forest(lines_of(row, "mean", "n = "))


@headline(
    "theorem-4-as-printed",
    "Theorem 4 is false as printed. With its exponent put right it exceeds 1, so it is empty. "
    "Theorem 4′ is proved and takes its place; where λB is small it says nothing either.",
    "Paper: false",
    "bad",
)
def _theorem_4(row: Row, rows: Rows) -> Drawn:
    case = "n = 1e+10, B = 1e+16, power 0.5"
    left, right = (row.details[f"{case}: {side} side"] for side in ("left", "right"))
    lines = [Series(**line) for line in row.figures[0]["series"][:2]]
    what = "true error against the printed bound, at n = 1e10 and B = 1e16. The landmark is where "
    what += "this happens in one draw of two; delta = 0.05 allows one of twenty. Picture: "
    what += "B = 1000 n."
    return f"{left:.2f} > {right:.2f}", what, chart(lines, ("rows, n", "error"), "x", SMALL)


@headline(
    "sauc-eq-20-as-printed",
    "SAUC inverts a matrix that has no inverse, and its score lacks a factor. Both have an "
    "exact repair: it still is AUC-SVM with another kernel.",
    *REPAIRED,
)
def _score(row: Row, rows: Rows) -> Drawn:
    points = {float(key.split()[1].rstrip(":")): x for key, x in row.details.items()}
    at = sorted(x for x in points if x > 0)
    lines = [Series.of("", at, [points[x] for x in at])]
    what = f"error of the printed score at lambda = {max(at):g}; it is right at lambda = 1 only."
    return f"{points[max(at)]:.0%}", what, chart(lines, ("lambda", "relative error"), "xy", SMALL)


@headline(
    "sauc-table-3-lead-over-auc-svm-gaussian",
    "SAUC gains over AUC-SVM with either kernel; whether few pairs are the reason "
    "is open. It does not pass plain SVM.",
    "We find: mixed",
    "warn",
)
def _structure(row: Row, rows: Rows) -> Drawn:
    names = ("AUC-SVM, linear", "AUC-SVM, gaussian", "SVM, linear", "SVM, gaussian")
    ends = {name: name.lower().replace(", ", "-") for name in names}
    found = {name: rows[f"sauc-table-3-lead-over-{end}"] for name, end in ends.items()}
    first, last = row.effects[0], found[names[-1]].effects[0]
    what = f"points of AUC over AUC-SVM, Gaussian kernel {_between(first, 1, 100)}, printed "
    what += f"{100 * first['printed']:.1f}; over SVM {100 * last['estimate']:+.1f} "
    what += f"{_between(last, 1, 100)}."
    return f"{100 * first['estimate']:+.1f}", what, firsts(found)


@headline(
    "sht-theorem-1-in-the-experiments",
    "SHT's convergence theorem is false as printed. Repaired it holds, and none of the paper's "
    "experiments meets its condition.",
    *REPAIRED,
    wrong="sht-theorem-1-condition-as-printed",
)
def _condition(row: Row, rows: Rows) -> Drawn:
    found = {key.partition(" at least, ")[2]: x for key, x in row.details.items()}
    what = "is the least rho measured, in eight settings; with k = k* it must be below 1.618."
    ordered = dict(sorted(found.items(), key=lambda item: item[1]))
    return f"{min(found.values()):.1f}", what, _points(ordered, row, 1.618)


def _points(found: Mapping[str, float], row: Row, margin: float) -> dict[str, Any]:
    """Return a forest of numbers without intervals, next to what they have to be within."""
    asked, bare = replace(row, details={"side": "within", "margin": margin}), {"unit": ""}
    effects = {n: dict.fromkeys(PLACES, x) | {"printed": None} | bare for n, x in found.items()}
    return forest([Line(name, effect, asked, False) for name, effect in effects.items()])


@headline(
    "published-sht-is-mean-difference-screening",
    "SHT-AUC as published picks the features whose class means differ most, and no more.",
)
def _screening(row: Row, rows: Rows) -> Drawn:
    least, mean = row.details["cosine, least and mean"]
    what = "least cosine between its weights and those of screening; 1 would be the same weights. "
    what += "The picture has the angle in degrees."
    cosines = {"mean": mean, "largest": least, "unrelated": 0.0}
    angles = {name: float(np.degrees(np.arccos(x))) for name, x in cosines.items()}
    return f"{least:.3f}", what, _points(angles, row, 0)


@headline(
    "nsauc-reaches-the-optimum-where-lam-t-is-large",
    "NSAUC's printed step solves another problem. Repaired it reaches the optimum where lam T is "
    "large.",
    *REPAIRED,
    wrong="algorithm-3-printed-step-solves-another-problem",
)
def _sgd(row: Row, rows: Rows) -> Drawn:
    other = rows["algorithm-3-printed-step-solves-another-problem"].details
    excess = other["relative excess of the hinge objective"]
    epochs = [float(key.split(" ")[0]) for key in row.details]
    sides = (("repaired", row.details.values()), ("as printed", [excess] * len(epochs)))
    lines = [Series.of(name, epochs, [*values]) for name, values in sides]
    what = "above the optimum is where the step as printed comes to rest."
    return f"{excess:.0%}", what, chart(lines, ("epochs", "relative excess"), "xy", SMALL)


@headline(
    "nbauc-comparable-to-kernel-machines",
    "Is NBAUC as good as a kernel machine, and faster? This run cannot say.",
)
def _kernel_machine(row: Row, rows: Rows) -> Drawn:
    first, speed = row.effects[0], rows["nbauc-orders-of-magnitude-faster"].effects[0]
    what = f"points of AUC {_between(first, 1)} over one held to 3,000 rows, and "
    what += f"{10 ** -speed['estimate']:.1f} times slower, on up to 80,000: not the paper's "
    what += "comparison."
    return f"{first['estimate']:+.1f}", what, firsts({"mean of 8 sets": row})


def headlines(rows: Rows) -> list[Headline]:
    found = []
    for name, (sentence, word, wrong, made) in TEN.items():
        if name not in rows or rows[name].verdict == ERROR:
            continue
        with suppress(KeyError):  # another row that it needs is not in the run
            drawn = made(rows[name], rows)
            own = word if rows[name].as_expected else ("Not as recorded", "bad")
            said, colour = own if word else WORDS[rows[name].verdict][:2]
            found.append(Headline(name, sentence, said, colour, rows[wrong].severity, *drawn))
    return found


def hats(text: str) -> str:
    return text.replace("f^", "f\u0302").replace("~", "\u0303")


def forests(rows: Sequence[Row]) -> list[tuple[str, dict[str, Any]]]:
    """Return tables with the forests of their findings, one for each unit."""
    groups = defaultdict[tuple[str, str], list[Line]](list)
    for row in rows:
        if row.kind == "finding" and row.effects:
            groups[row.details["table"], row.effects[0]["unit"]] += lines_of(row)
    return [(table, forest(lines)) for (table, _), lines in groups.items()]


SCHEMA_VERSION = 2
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "cvxpy", "osqp", "clarabel", "ecos")


def environment() -> dict[str, str]:
    """Return the versions that numbers may depend on: Python, the system, the libraries."""
    found = {"python": platform.python_version()}
    found |= {"system": platform.system(), "machine": platform.machine()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


@dataclass(frozen=True)
class Report:
    rows: tuple[Row, ...]
    seed: int
    profile: str
    version: str
    library_sha256: str
    environment: dict[str, str]
    seconds: float
    folder: Path | None = None  # where it was written

    @property
    def unexpected(self) -> list[Row]:
        return [row for row in self.rows if not row.as_expected]

    @property
    def taken_over(self) -> int:
        return sum(row.taken_over for row in self.rows)

    @property
    def exit_code(self) -> int:
        return int(bool(self.unexpected))

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "version": self.version}
        found |= {"library_sha256": self.library_sha256, "seed": self.seed}
        only = [row.name for row in self.rows]
        found["parameters"] = {"profile": self.profile, "only": only}
        found |= {"environment": self.environment, "seconds": self.seconds}
        found["recorded"] = {name: record()[name] for name in ("date", "version", "profile")}
        return found | {"claims": [row.public for row in self.rows]}

    def counts(self) -> list[tuple[str, dict[str, int]]]:
        """Return kind by kind, and for all, how many claims stand where; each adds up to all."""
        places = [(row.kind, WORDS[row.verdict][2]) for row in self.rows]
        columns = dict.fromkeys(column for _, _, column in WORDS.values())
        if NOT_RUN not in {column for _, column in places}:
            del columns[NOT_RUN]
        found: list[tuple[str, dict[str, int]]] = []
        for kind in (*claim.KINDS, "all"):
            of = Counter(column for each, column in places if kind in (each, "all"))
            if of:
                found.append((kind, {name: of[name] for name in columns} | {"all": of.total()}))
        return found

    def html(self) -> str:
        """Return the page: escaped text, pictures inside, no script and no link to anywhere."""
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

        style: Any = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
        loader = PackageLoader("aucert.validation.report")
        jinja = Environment(loader=loader, undefined=StrictUndefined, **style)

        def picture(of: Mapping[str, Any]) -> dict[str, Any]:
            """Return the chart of a figure, or of a panel, whose caption has the label of y."""
            label = hats(of["y_label"]) if "caption" in of else ""
            logs = "x" * of.get("log_x", True) + "y"
            return chart([Series(**line) for line in of["series"]], (of["x_label"], label), logs)

        jinja.filters.update(shown=shown, seconds=shown_seconds, hats=hats, chart=picture)
        rows = {row.name: row for row in self.rows}
        figures = {figure["name"]: figure for row in self.rows for figure in row.figures}
        return jinja.get_template("report.html").render(
            report=self,
            rows=rows,
            ten=headlines(rows),
            rates=[row for row in self.rows if "rates" in row.details],
            forests=forests(self.rows),
            figures=[figures[name] for name in FIGURES if name in figures],
            # What (I) of Theorem 4' has for B = n drawn pairs, where k(x, x) = 1: R^2 = 2.
            part_1={lam: [sampling_term(lam, n, 2**0.5) for n in SIZES] for lam in LAMS},
            wrong={n: form for n, form in statements().items() if n in rows and "severity" in form},
            severities=claim.SEVERITIES,
            words=WORDS,
            signs=SIGNS,
            recorded=record(),
            sizes=SIZES,
            safe=Markup,
        )

    def write(self, folder: Path) -> None:
        """Write claims.json and report.html, each complete or not at all."""
        text = self.html()
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "claims.json", self.as_json())
        write_text(folder / "report.html", text)


# Pictures of the section on Theorem 4, by the names that their claims give them.
FIGURES = ("theorem-4-against-n", "bound-against-error-3", "theorem-4-prime-part-1")
# Rows of the tables of ScalingUp, which draws as many pairs; lam of its order.
SIZES = (5_000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000)
LAMS = (0.1, 0.01, 0.001, 0.0001, 0.00001)


def shown(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def shown_seconds(value: float) -> str:
    """Return seconds with two digits after the point below ten, one above."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
