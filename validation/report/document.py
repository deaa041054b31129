"""The report of a run: one JSON document and one HTML page that needs nothing next to it."""

from __future__ import annotations

import math
import platform
from collections import Counter, defaultdict, namedtuple
from collections.abc import Mapping, Sequence
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


class Axis:
    """An axis of a picture: `values` and a `margin` around them lie between two places."""

    def __init__(
        self, values: Sequence[float], margin: float, start: float, end: float, log: bool
    ) -> None:
        pad = margin * (max(values) - min(values) or 1.0)
        self.low, self.high = min(values) - pad, max(values) + pad
        self.start, self.end, self.log = (
            start,
            end,
            log,
        )  # of a logarithmic one, values are logarithms

    def at(self, value: float) -> float:
        """Return the place of a value; what lies outside is put at the end."""
        share = min(max((value - self.low) / (self.high - self.low), 0), 1)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, room: int) -> list[tuple[float, str]]:
        """Return places with labels, so few that each has `room`."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        low, high = self.low, self.high
        if self.log:
            every = LogLocator(subs=(1,) if high - low > 2 else (1, 2, 5))
            numbers = every.tick_values(10**low, 10**high)
            found = [(math.log10(x), f"{x:g}" if 1e-3 <= x < 1e4 else f"{x:.0e}") for x in numbers]
        else:
            numbers = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(low, high)
            digits = max(0, -math.floor(math.log10(numbers[1] - numbers[0]) + 1e-9))
            found = [(x, f"{round(x, digits) + 0.0:.{digits}f}") for x in numbers]
        pad, most = 0.03 * (high - low), abs(self.end - self.start) // room
        kept = [(self.at(x), text) for x, text in found if low + pad < x < high - pad]
        step = max(1, math.ceil(len(kept) / most))
        return [(place, text.replace("-", "−")) for place, text in kept[::step]]


def chart(
    curves: Sequence[Series], labels: tuple[str, str], logs: str = "xy", size: Any = (340, 200)
) -> dict[str, Any]:
    """Return what the template draws of curves: places in a box of this size. What a logarithm
    cannot show is left out, as an exact zero, which is one to rounding."""
    of_x, of_y = (math.log10 if axis in logs else float for axis in "xy")
    kept = []
    for one in curves:
        points = zip(one.x, one.y, strict=True)
        kept.append([(of_x(x), of_y(y)) for x, y in points if y > 1e-12])
    every = [point for points in kept for point in points] or [(0.0, 0.0)]
    x = Axis([point[0] for point in every], 0.04, 44, size[0] - 12, "x" in logs)
    y = Axis([point[1] for point in every], 0.04, size[1] - 34, 18, "y" in logs)
    drawn = []
    for k, (one, points) in enumerate(zip(curves, kept, strict=True)):
        style = "ref" if one.reference else f"c{OBJECTS.get(one.name, k)}"
        drawn.append((one.name, style, [(x.at(p), y.at(q)) for p, q in points]))
    return {"curves": drawn, "x": x.ticks(50), "y": y.ticks(16), "labels": labels, "size": size}


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
    axis = Axis(reach, 0.07, 0, 100, power)

    def text(value: float, digits: int) -> str:
        shown = f"{round(value, digits) + 0.0:.{digits}f}"  # never -0
        if power:
            shown = f"×{10**value:,.0f}" if value >= 2 else f"×{10**value:.2g}"
        return shown.replace("-", "−")

    found = []
    for line, numbers in zip(lines, known, strict=True):
        width = numbers.get("high", axis.high) - numbers.get("low", axis.low)
        digits = max(0, 1 - math.floor(math.log10(width / 2 or 1.0)))
        than, margin = (scale * line.row.details.get(key, 0) for key in ("than", "margin"))
        if line.row.details.get("side") == "within":
            said, shade = f"within ±{margin:g}", (axis.at(-margin), axis.at(margin))
        else:
            said = f"above {text(than, 2)}" if power else f"above {than:g}"
            said += f", none within ±{margin:g}" if margin and than >= 0 else ""
            shade = axis.at(than), axis.at(math.inf)
        shown = {k: text(x, digits) for k, x in numbers.items()}
        places = {"low": 0, "high": 100} | {k: axis.at(x) for k, x in numbers.items()}
        found.append({"of": line, "shown": shown, "claim": said, "at": places, "shade": shade})
    marks = [(place, "×" * power + label) for place, label in axis.ticks(20)]
    unit = unit.removeprefix("log10 of ")
    return {"unit": unit, "ticks": marks, "zero": axis.at(0), "lines": found}


# The ten sentences that matter: every picture is drawn from the effects, the details or the figures
# of rows of the run.

# Letter: how much the error matters, if there is one in print. Picture: a forest, or a chart.
Headline = namedtuple("Headline", "name sentence word colour letter number what picture")
Rows = Mapping[str, Row]
SMALL = (270, 96)  # the box of a chart next to a sentence
REPAIRED = ("Paper: false, repaired", "bad")


def headline(
    row: Row, sentence: str, number: str, what: str, picture: dict[str, Any],
    said: tuple[str, str] | None = None, wrong: Row | None = None,
) -> Headline:  # fmt: skip
    """Return a headline. `said`: a word and its colour, if not those of the verdict; `wrong`: the
    row of what is wrong in print, if it is another."""
    word, colour = said or WORDS[row.verdict][:2]
    if said and not row.as_expected:
        word, colour = "Not as recorded", "bad"
    letter = (wrong or row).severity
    return Headline(row.name, sentence, word, colour, letter, number, what, picture)


def firsts(named: Rows) -> dict[str, Any]:
    return forest([Line(name, row.effects[0], row) for name, row in named.items()])


def _between(effect: Mapping[str, Any], digits: int, factor: float = 1.0) -> str:
    """Return the interval of an effect; a negative factor turns it round."""
    low, high = sorted(factor * effect[key] for key in ("low", "high"))
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def _points(found: Mapping[str, float], row: Row, margin: float) -> dict[str, Any]:
    """Return a forest of numbers without intervals, next to what they have to be within."""
    asked, bare = replace(row, details={"side": "within", "margin": margin}), {"unit": ""}
    effects = {n: dict.fromkeys(PLACES, x) | {"printed": None} | bare for n, x in found.items()}
    return forest([Line(name, effect, asked, False) for name, effect in effects.items()])


def _pairs(rows: Rows) -> Headline:
    row, real = rows["incomplete-model-has-comparable-auc"], rows["competitive-auc-on-real-sets"]
    kernel = rows["competitive-auc-of-the-kernel-on-real-sets"]
    powers = rows["incomplete-nystrom-converges-in-the-pairs"].details["exponents"]
    first, same, new = row.effects[0], real.effects[0], real.effects[1]
    sentence = "On these sets as many drawn pairs as rows are enough. They cost next to no AUC."
    what = (
        f"points of AUC lost {_between(first, 3, -1)}, linear model, mean of four sizes; on "
        f"three real sets {-same['estimate']:.2f} {_between(same, 2, -1)}, for new sets "
        f"{_between(new, 2, -1)}. A point is 0.01. The distance of F from its optimum falls like "
        f"B to the power {min(powers):.2f} to {max(powers):.2f}."
    )
    picture = firsts({"linear model": row, "real sets, linear": real, "real sets, radial": kernel})
    return headline(row, sentence, f"{-first['estimate']:.3f}", what, picture)


def _sorted(rows: Rows) -> Headline:
    row = rows["all-pairs-take-less-time-than-drawn-pairs"]
    real = rows["all-pairs-take-less-time-on-real-sets"]
    first, *parts = row.effects
    times = sorted(10 ** part["estimate"] for part in (*parts, *real.effects[1:]))
    sentence = "On these simulated data drawing pairs is not the fastest way. Sorting fits all in "
    sentence += "less time."
    what = (
        f"as long [{10 ** first['low']:.0f}, {10 ** first['high']:.0f}] do drawn pairs take, in "
        "a descent stopped by its own rule (departure c), as the certified fit of all; on real "
        f"sets {10 ** real.effects[0]['estimate']:.0f}, set by set {times[0]:.0f} to "
        f"{times[-1]:.0f}. The paper's full model, which sums pairs one by one, was not run."
    )
    mean, *sizes = lines_of(row, "mean", "n = ")
    lines = [mean, Line("real sets", real.effects[0], real), *sizes]
    bare = [line._replace(effect=line.effect | {"printed": None}) for line in lines]
    return headline(row, sentence, f"{10 ** first['estimate']:.0f}×", what, forest(bare))


def _landmarks(rows: Rows) -> Headline:
    row = rows["nystrom-introduces-only-a-minor-loss"]
    first = row.effects[0]
    sentence = "On simulated radial data a few hundred landmarks do the work of the whole kernel."
    what = f"points of AUC gained by 300 landmarks {_between(first, 3)}. A kernel matrix whose "
    what += "eigenvalues fall slowly takes more: see Convergence."
    picture = forest(lines_of(row, "mean", "n = "))
    return headline(row, sentence, f"{first['estimate']:+.3f}", what, picture)


def _theorem_4(rows: Rows) -> Headline:
    row, case = rows["theorem-4-as-printed"], "n = 1e+10, B = 1e+16, power 0.5"
    left, right = (row.details[f"{case}: {side} side"] for side in ("left", "right"))
    sentence = (
        "Theorem 4 is false as printed. With its exponent put right it exceeds 1, so it is empty. "
        "Theorem 4′ is proved and takes its place; where λB is small it says nothing either."
    )
    what = (
        "true error against the printed bound, at n = 1e10 and B = 1e16. The landmark is where "
        "this happens in one draw of two; delta = 0.05 allows one of twenty. Picture: B = 1000 n."
    )
    lines = [Series(**line) for line in row.figures[0]["series"][:2]]
    picture, said = chart(lines, ("rows, n", "error"), "x", SMALL), ("Paper: false", "bad")
    return headline(row, sentence, f"{left:.2f} > {right:.2f}", what, picture, said)


def _score(rows: Rows) -> Headline:
    row = rows["sauc-eq-20-as-printed"]
    points = {float(key.split()[1].rstrip(":")): x for key, x in row.details.items()}
    at = sorted(x for x in points if x > 0)
    sentence = "SAUC inverts a matrix that has no inverse, and its score lacks a factor. Both have "
    sentence += "an exact repair: it still is AUC-SVM with another kernel."
    what = f"error of the printed score at lambda = {max(at):g}; it is right at lambda = 1 only."
    lines, labels = [Series.of("", at, [points[x] for x in at])], ("lambda", "relative error")
    picture = chart(lines, labels, size=SMALL)
    return headline(row, sentence, f"{points[max(at)]:.0%}", what, picture, REPAIRED)


def _structure(rows: Rows) -> Headline:
    names = ("AUC-SVM, linear", "AUC-SVM, gaussian", "SVM, linear", "SVM, gaussian")
    ends = {name: name.lower().replace(", ", "-") for name in names}
    found = {name: rows[f"sauc-table-3-lead-over-{end}"] for name, end in ends.items()}
    row = found["AUC-SVM, gaussian"]
    first, last = row.effects[0], found["SVM, gaussian"].effects[0]
    sentence = "SAUC gains over AUC-SVM with either kernel; whether few pairs are the reason "
    sentence += "is open. It does not pass plain SVM."
    what = (
        f"points of AUC over AUC-SVM, Gaussian kernel {_between(first, 1, 100)}, printed "
        f"{100 * first['printed']:.1f}; over SVM {100 * last['estimate']:+.1f} "
        f"{_between(last, 1, 100)}."
    )
    number, said = f"{100 * first['estimate']:+.1f}", ("We find: mixed", "warn")
    return headline(row, sentence, number, what, firsts(found), said)


def _condition(rows: Rows) -> Headline:
    row = rows["sht-theorem-1-in-the-experiments"]
    wrong = rows["sht-theorem-1-condition-as-printed"]
    found = {key.partition(" at least, ")[2]: x for key, x in row.details.items()}
    sentence = "SHT's convergence theorem is false as printed. Repaired it holds, and none of the "
    sentence += "paper's experiments meets its condition."
    what = "is the least rho measured, in eight settings; with k = k* it must be below 1.618."
    picture = _points(dict(sorted(found.items(), key=lambda item: item[1])), row, 1.618)
    return headline(row, sentence, f"{min(found.values()):.1f}", what, picture, REPAIRED, wrong)


def _screening(rows: Rows) -> Headline:
    row = rows["published-sht-is-mean-difference-screening"]
    least, mean = row.details["cosine, least and mean"]
    sentence = "SHT-AUC as published picks the features whose class means differ most, and no more."
    what = "least cosine between its weights and those of screening; 1 would be the same weights. "
    what += "The picture has the angle in degrees."
    cosines = {"mean": mean, "largest": least, "unrelated": 0.0}
    angles = {name: float(np.degrees(np.arccos(x))) for name, x in cosines.items()}
    return headline(row, sentence, f"{least:.3f}", what, _points(angles, row, 0))


def _sgd(rows: Rows) -> Headline:
    row = rows["nsauc-reaches-the-optimum-where-lam-t-is-large"]
    wrong = rows["algorithm-3-printed-step-solves-another-problem"]
    excess = wrong.details["relative excess of the hinge objective"]
    epochs = [float(key.split(" ")[0]) for key in row.details]
    sentence = "NSAUC's printed step solves another problem. Repaired it reaches the optimum where "
    sentence += "lam T is large."
    what = "above the optimum is where the step as printed comes to rest."
    sides = {"repaired": [*row.details.values()], "as printed": [excess] * len(epochs)}
    lines = [Series.of(name, epochs, values) for name, values in sides.items()]
    picture = chart(lines, ("epochs", "relative excess"), size=SMALL)
    return headline(row, sentence, f"{excess:.0%}", what, picture, REPAIRED, wrong)


def _kernel_machine(rows: Rows) -> Headline:
    row = rows["nbauc-comparable-to-kernel-machines"]
    first, speed = row.effects[0], rows["nbauc-orders-of-magnitude-faster"].effects[0]
    sentence = "Is NBAUC as good as a kernel machine, and faster? This run cannot say."
    what = (
        f"points of AUC {_between(first, 1)} over one held to 3,000 rows, and "
        f"{10 ** -speed['estimate']:.1f} times slower, on up to 80,000: not the paper's comparison."
    )
    picture = firsts({"mean of 8 sets": row})
    return headline(row, sentence, f"{first['estimate']:+.1f}", what, picture)


TEN = (
    _pairs, _sorted, _landmarks, _theorem_4, _score, _structure, _condition, _screening, _sgd,
    _kernel_machine,
)  # fmt: skip


def headlines(rows: Rows) -> list[Headline]:
    """Return those of the ten whose rows are all in the run, and none of them raised."""
    judged = {name: row for name, row in rows.items() if row.verdict != ERROR}
    found = []
    for made in TEN:
        with suppress(KeyError):  # of a row that is not there
            found.append(made(judged))
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
        hidden = ("details", "figures", "formula", "profile")  # no script may rely on them
        rows = [asdict(row) for row in self.rows]
        claims = [{k: x for k, x in row.items() if k not in hidden} for row in rows]
        return found | {"claims": claims}

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
