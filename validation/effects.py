"""What the papers say of their experiments, as effects: an estimate, its interval, what it says.
`findings.toml` states one estimand a sentence beforehand. The numbers are those of the page that
the evidence of the full reproduction makes, so that a finding cannot contradict its page. The guide
`report` has the rule by which they are judged."""

from __future__ import annotations

import math
import operator
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
from scipy import stats

from ..exact.errors import InputError
from .claims.claim import REGISTRY, Claim, Outcome, Verdict, shown_unit
from .claims.recorded import enter, recorded_verdict
from .store import EVIDENCE, plain
from .tables.table import Budget, Page, Results, Table, shown_value, tables

STATED = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))
DEPARTURES, STATED_BY_US = STATED.pop("departures"), STATED.pop("ours")
LEVEL = 0.95  # of every interval
RATIO = "log10 of a ratio of seconds"
FIXED = 1000  # repetitions that stand for a number without error
MOST = 10_000  # splits beyond which none are asked for
NOT_RUN = "What has been run does not suffice to judge it."
QUICK = "a quick run, whose budget stands below, is far from the paper's protocol"


@dataclass(frozen=True)
class Effect:
    """An estimate with its standard error, Student's degrees of freedom, and what was printed. An
    infinite error says that there is none. A difference within `margin` of zero is called none."""

    name: str
    estimate: float
    se: float
    df: float
    unit: str = ""
    printed: float | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.estimate) and self.se >= 0 and self.df >= 0):
            raise ValueError(f"{self}: this is not an estimate with its standard error")

    def interval(self, m: int = 1) -> tuple[float, float]:
        """Return the ends of Student's interval, of one of m that hold together (Bonferroni)."""
        if self.df < 1 or self.se == math.inf:
            return -math.inf, math.inf
        half = float(stats.t.isf((1 - LEVEL) / (2 * m), self.df)) * self.se
        return self.estimate - half, self.estimate + half

    def document(self, m: int = 1) -> dict[str, Any]:
        """Return it with the ends of its interval for JSON, which has no infinity."""
        low, high = self.interval(m=m)
        return plain({**asdict(self), "low": low, "high": high})


def minus(name: str, a: Effect, b: Effect, ratio: bool = False) -> Effect:
    """Return a - b, or log10(a / b), as if independent: common splits make that cautious. The
    degrees of freedom are Welch's; the error of a logarithm is by the delta method."""
    value = (lambda x, y: math.log10(x / y)) if ratio else operator.sub
    estimate, printed = value(a.estimate, b.estimate), None
    if a.printed is not None and b.printed is not None:
        printed = None if ratio and min(a.printed, b.printed) <= 0 else value(a.printed, b.printed)
    errors = [x.se / (x.estimate * math.log(10) if ratio else 1.0) for x in (a, b)]
    return Effect(name, estimate, *_pooled(errors, [a.df, b.df]), printed=printed)


def _pooled(errors: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """Return the error of a sum of independent terms, and its degrees of freedom, as Welch does."""
    if not math.isfinite(sum(errors)) or min(dfs) < 1:
        return math.inf, 0
    if len(errors) == 1:
        return errors[0], dfs[0]
    squares = [error**2 for error in errors]
    spread = sum(square**2 / df for square, df in zip(squares, dfs, strict=True))
    return math.sqrt(sum(squares)), sum(squares) ** 2 / spread if spread else min(dfs)


def over(effects: Sequence[Effect], name: str) -> Effect:
    """Return the mean of effects, one a data set, with the error that their spread gives."""
    values = np.array([effect.estimate for effect in effects])
    error = float(stats.sem(values)) if values.size > 1 else math.inf
    found = {"estimate": float(values.mean()), "se": error, "df": values.size - 1}
    return replace(effects[0], name=name, printed=_mean([e.printed for e in effects]), **found)


def mean(name: str, groups: Sequence[Sequence[Effect]]) -> Effect:
    """Return the mean of all effects: groups share no rows, those of one group may share all.
    Errors of a group are added up as if fully correlated, which no correlation exceeds."""
    every = [effect for group in groups for effect in group]
    errors = [sum(effect.se for effect in group) / len(every) for group in groups]
    se, df = _pooled(errors, [min(effect.df for effect in group) for group in groups])
    estimate, printed = (_mean([getattr(e, of) for e in every]) for of in ("estimate", "printed"))
    return replace(every[0], name=name, estimate=estimate, se=se, df=df, printed=printed)


def _mean(values: Sequence[float | None]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


@dataclass(frozen=True)
class Numbers:
    """What a page shows, in full: its cells, by "row | column", and its paired tests, by name."""

    table: str
    source: str
    known: Mapping[str, Effect] = field(default_factory=dict)

    def read(self, text: str) -> Effect:
        """Return what the name of a cell or a test, or "= number", stands for."""
        if text.startswith("= "):
            number = float(text[2:])
            return Effect(text, number, 0.0, FIXED - 1, printed=number)
        if text not in self.known:
            kind = "cell" if " | " in text else "paired test"
            raise KeyError(f"{self.table} has no {kind} {text!r}")
        return self.known[text]


def of_page(table: str, source: str, page: Page) -> Numbers:
    known = {}
    for cell in page.entries:
        if isinstance(cell.ours, int | float):
            se = math.inf if cell.error is None else cell.error
            number = re.match(r"\s*(-?[\d,]*\.?\d+)\s*(\(|±|$)", str(cell.printed))
            printed = float(number[1].replace(",", "")) if number else None
            found = float(cell.ours), se, max(cell.count - 1, 0)
            known[f"{cell.row} | {cell.column}"] = Effect(cell.column, *found, printed=printed)
    for shown in page.tests:
        name = shown.name
        if name in known:  # two quantities of one pair of methods
            name = f"{name}: {shown.unit}"
        if name in known:
            raise ValueError(f"two tests of a page are called {name!r}")
        known[name] = Effect(name, shown.difference, shown.error, shown.count - 1)
    return Numbers(table, source, known)


@cache
def numbers_of(table: str) -> Numbers:
    return from_evidence(tables()[table], EVIDENCE)


def from_evidence(table: Table, folder: Path) -> Numbers:
    """Return the numbers of a table made of evidence; `InputError` where it lacks a part."""
    results, protocol = table.experiment.recorded(folder), table.experiment.protocol
    source = f"evidence of the full run, protocol {protocol}, {len(results.parts)} parts"
    return of_page(table.name, source, table.render(results))


@dataclass(frozen=True)
class Finding:
    """What a paper says that its experiments show; the keys are explained in findings.toml."""

    name: str
    table: str
    quote: str
    statement: str
    a: str
    b: str = ""
    ratio: bool = False
    each: Mapping[str, Any] = field(default_factory=dict)
    sign: float = 1.0
    shift: float = 0.0
    side: str = "above"
    than: float = 0.0
    margin: float = 0.0
    unit: str = "AUC"
    printed: float | None = None
    independent: str = "set"
    spread: str = ""
    least: str = ""
    how: str = "all"
    overlap: float = 0.0
    published: Sequence[str] = ()
    counts: str = "splits"
    also: Sequence[str] = ()
    not_run: str = ""
    turned: str = ""
    departures: Sequence[str] = ()
    place: str = ""

    @property
    def protocol(self) -> tuple[dict[str, str], ...]:
        """The letters of the departures from the printed protocol, with what they stand for."""
        known = DEPARTURES[tables()[self.table].paper]
        letters = dict(zip(known, ascii_lowercase, strict=False))
        return tuple({"letter": letters[key], **known[key]} for key in self.departures)

    def _rows(self, numbers: Numbers, a: str) -> Iterator[tuple[dict[str, str], Effect]]:
        """Yield what the names in braces stand for, and the effect."""
        for values in _expanded(self.b if a.startswith("= ") else a, self.each, numbers):
            first, label = a.format(**values), ", ".join(values.values())
            if not self.b:
                found = numbers.read(first)
            else:
                second = self.b.format(**values)
                if "*" in self.each.values() and second not in (*numbers.known, self.b):
                    continue  # a row that has the first number alone
                # Random splits of the same rows; a paired test has that in its error.
                shared = 0.0 if {*values.values()} & {*self.published} else self.overlap
                sides = (
                    replace(one, se=one.se * math.sqrt(1 + shared * (one.df + 1)))
                    for one in map(numbers.read, (first, second))
                )
                found = minus(label or self.name, *sides, ratio=self.ratio)
            printed = None if found.printed is None else self.sign * found.printed + self.shift
            estimate = self.sign * found.estimate + self.shift
            found = replace(found, estimate=estimate, printed=printed, name=label or found.name)
            yield values, replace(found, unit=self.unit, margin=self.margin)

    def effects(
        self, numbers: Numbers, a: str = ""
    ) -> tuple[Effect, tuple[Effect, ...], Effect | None]:
        """Return the estimate, the effects that it is the mean of, and its other interval."""
        rows = list(self._rows(numbers, a or self.a))
        if not rows:
            raise KeyError(f"{self.table} has nothing called {self.a!r}")
        fixed = [[effect] for _, effect in rows]
        name, pool = (self.spread, over) if self.spread else (self.least, _least)
        if name:  # one effect for all of its values
            by = defaultdict(list)
            for values, effect in rows:
                by[tuple(item for item in values.items() if item[0] != name)].append(effect)
            pooled = ((dict(rest), some) for rest, some in by.items())
            rows = [(rest, pool(some, ", ".join(rest.values()))) for rest, some in pooled]
        groups = defaultdict(list)
        for values, effect in rows:
            groups[values.get(self.independent, "")].append(effect)
        whole, other = mean(self.name, [*groups.values()]), None
        if self.spread and len(rows) == 1:
            other = mean("these sets", fixed)
        elif self.independent == "set" and len(groups) > 2:
            other = over([mean("", [group]) for group in groups.values()], "new sets")
        printed = self.printed if self.printed is not None else whole.printed
        return replace(whole, printed=printed), tuple(effect for _, effect in rows), other

    def says(self, effect: Effect, m: int = 1) -> tuple[str, Verdict]:
        """Return the answer of an effect, in a word and as a verdict."""
        low, high = (end - self.than for end in effect.interval(m=m))
        little = -self.margin < low and high < self.margin
        if self.side == "within":
            if little:
                return "within the margin", Verdict.BORNE_OUT
            if low > self.margin or high < -self.margin:
                return "beyond the margin", Verdict.CONTRADICTED
        elif low > 0:
            return "on the side claimed", Verdict.BORNE_OUT
        elif high < 0:
            return "on the other side", Verdict.CONTRADICTED
        elif little and self.than >= 0:
            return "within the margin, though a difference is claimed", Verdict.CONTRADICTED
        return "cannot decide", Verdict.UNDECIDED

    def answer(self, numbers: Numbers) -> Outcome:
        """Return a word for readers and a verdict for the JSON. Of several effects the mean is
        judged; if `how` is "all", one on the other side contradicts the sentence too."""
        whole, parts, other = self.effects(numbers)
        word, verdict = self.says(whole)
        several, every = len(parts) > 1, self.how == "all"
        each = [self.says(part, len(parts) if every else 1) for part in parts]
        wrong = ("on the other side", "beyond the margin")
        against = [part for part, said in zip(parts, each, strict=True) if said[0] in wrong]
        if several and every and against:
            word, verdict = f"on the other side for {against[0].name}", Verdict.CONTRADICTED
        others = {self.says(self.effects(numbers, a)[0])[1] for a in self.also}
        why = self.not_run or self.turned
        if others - {verdict} and not why:
            why = "Another reading of the protocol gives another answer."
        if why:
            word = "not compared" if self.not_run else "depends on the protocol"
        measured, more = f"{shown(whole)}: {word}", []
        if other is not None:
            measured += f" (for {other.name} {shown(other)})"
            more.append(other.document())
        if word == "cannot decide":
            measured += f"; {self.needed(whole, parts)}"
        if several:
            for_it = sum(said[1] == Verdict.BORNE_OUT for said in each)
            measured += f". By itself {for_it} of {len(parts)} for, {len(against)} against"
            more += [part.document(len(parts)) for part in parts]
        details = {"judged from": f"{self.table}: {numbers.source}", "table": self.table}
        details |= {"answer": word, "protocol": bool(why)}
        details |= {key: getattr(self, key) for key in ("side", "than", "margin")}
        return Outcome(
            Verdict.UNDECIDED if why else verdict,
            f"{measured}. {why}" if why else measured,
            printed=None if whole.printed is None else in_unit(whole.printed, self.unit),
            details=details,
            tolerance=self.test(len(parts)),
            turned_by=self.turn(whole, why),
            effects=(whole.document(), *more),
            protocol=self.protocol,
        )

    def test(self, parts: int) -> str:
        """Return the estimand of so many effects, and the rule, in words."""
        sign, limit = (">", self.than) if self.side == "above" else ("within", self.margin)
        rule = f"the mean of {parts} effects" if parts > 1 else "the effect"
        rule += f", with the {self.least} that speaks against it most," if self.least else ""
        rule += f" {sign} {in_unit(limit, self.unit)}"
        rule += ", and none of them on the other side" if parts > 1 and self.how == "all" else ""
        rule += " and in another reading of the protocol" if self.also else ""
        margin = self.margin * shown_unit(self.unit)[0]
        return f"{rule}; Student's interval of 95 %" + (f"; margin {margin:g}" if margin else "")

    def turn(self, whole: Effect, why: str) -> str:
        """Return by how much the estimate would have to change to be answered otherwise."""
        edges = [0.0] if self.side == "above" else [-self.margin, self.margin]
        by = min(abs(end - self.than - edge) for end in whole.interval() for edge in edges)
        change = f"a change of {in_unit(by, self.unit, '.2g')} in the estimate"
        return f"none while this stands: {why} Without it {change}" if why else change

    def needed(self, whole: Effect, parts: Sequence[Effect]) -> str:
        """Return how many repetitions would narrow the interval to what has to be distinguished."""
        count = min(part.df for part in parts) + 1
        low, high = whole.interval()
        room = abs(whole.estimate - self.than)  # half the width that tells it from its limit
        if self.side == "within":
            room = abs(self.margin - room)
        elif self.than >= 0:
            room = max(room, self.margin - room)
        if not math.isfinite(low) or not room:
            return f"no number of {self.counts} is known to"
        left = (1 / count + self.overlap) * (room / ((high - low) / 2)) ** 2 - self.overlap
        if left <= 1 / MOST:
            return f"no number of {self.counts} of these rows can"
        return f"about {math.ceil(1 / left):,} {self.counts} could, for {round(count):,} here"

    def entered(self) -> Claim:
        table = tables()[self.table]
        lines = [line for line, spent in table.experiment.lines("full") if spent != line.paper]
        regime = "; ".join(map(_departure, lines)) or "As printed"
        departures = [line["says"] + WAYS[line["way"]] for line in self.protocol]
        said = self.name, table.paper, self.place or table.place, "finding", self.statement
        return Claim(
            *said,
            expected_verdict=recorded_verdict(self.name),
            run=lambda _: self.answer(numbers_of(self.table)),
            quote=self.quote,
            regime=" ".join([f"{regime}.", *departures]),
            tuning=table.experiment.search or "Nothing is tuned.",
        )


WAYS = {
    "for": " (Can only help the statement.)",
    "against": " (Can only hurt the statement.)",
    "either": " (Can work either way.)",
    "neither": "",
}


def _expanded(text: str, each: Mapping[str, Any], numbers: Numbers) -> Iterator[dict[str, str]]:
    """Yield the values of the names in braces; "*" is what the page has in that place."""
    for values in product(*(["*"] if some == "*" else some for some in each.values())):
        known, pattern = dict(zip(each, values, strict=True)), re.escape(text)
        if "*" not in values:
            yield known
            continue
        for name, value in known.items():
            there = f"(?P<{name}>.+)" if value == "*" else re.escape(value)
            pattern = pattern.replace(re.escape(f"{{{name}}}"), there)
        for name in numbers.known:
            found = re.fullmatch(pattern, name)
            if found and not name.startswith("average | "):  # of the rows
                yield known | found.groupdict()


def _least(effects: Sequence[Effect], name: str) -> Effect:
    """Return the effect that speaks against the sentence most: first those wholly below zero."""
    against = min(effects, key=lambda one: (one.interval()[1] >= 0, one.interval()[0]))
    return replace(against, name=name)


def shown(effect: Effect) -> str:
    """Return an estimate with its interval and its unit."""
    (scale, unit), ends = shown_unit(effect.unit), effect.interval()
    low, high = (scale * end for end in ends)
    return f"{scale * effect.estimate:+.3g} [{low:.3g}, {high:.3g}] {unit}".rstrip()


def in_unit(value: float, unit: str, digits: str = ".3g") -> str:
    """Return a number in the unit that a reader sees."""
    scale, name = shown_unit(unit)
    return f"{scale * value:{digits}} {name}".rstrip()


def _departure(line: Budget) -> str:
    """Return a line of the budget in words; a list is counted, the page of the table has it."""
    where = "in the authors' programs" if line.programs else "in print"
    theirs = line.theirs if line.paper is None else f"{_spent(line.paper)} {where}"
    return f"{line.what}: {theirs}, {_spent(line.full, ends=line.paper is not None)} here"


def _spent(value: Any, ends: bool = True) -> str:
    """Return what is spent: of more than two numbers, how many, and with `ends` their range."""
    if not isinstance(value, list | tuple):
        return shown_value(value)
    if len(value) < 3 or isinstance(value[0], str):
        return " and ".join(map(shown_value, value))
    low, high = (shown_value(end(value)) for end in (min, max))
    return f"{len(value)} values" + f" from {low} to {high}" * ends


def _found(tables: Mapping[str, Any], **given: str) -> dict[str, Finding]:
    """Return the findings below tables, each with what its table states for all of them;
    findings.toml explains `per` and `loses`."""
    keys, found = {key.name for key in fields(Finding)}, {}
    for table, entries in tables.items():
        shared = {key: value for key, value in entries.items() if key in keys}
        for name in [key for key in entries if key not in keys]:
            own = dict(entries[name])
            if "per" in own:
                own = {"unit": RATIO, "b": own.pop("per"), "ratio": True} | own
            if "loses" in own:
                own |= {"than": -own["loses"], "margin": own.pop("loses")}
            found[name] = Finding(**{"name": name, "table": table, **given, **shared, **own})
    return found


FINDINGS, OURS = _found(STATED), _found(STATED_BY_US, quote="", statement="")


@dataclass(frozen=True)
class Said:
    name: str
    statement: str
    verdict: str
    measured: str

    def __str__(self) -> str:
        return f"**{self.verdict}**: {self.statement} {self.measured} (`{self.name}`)"


def said_on(table: Table, page: Page, results: Results) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict on a page of it; a quick run decides none."""
    if results.run.profile == "printed":  # whose numbers are judged once they replace the full ones
        return ()
    whole = len(results.documents) == len(results.parts)
    numbers = of_page(table.name, "this page", page) if whole else Numbers(table.name, "this page")
    return said_by(numbers, results.run.profile == "full")


def said_by(numbers: Numbers, full: bool = True) -> tuple[Said, ...]:
    """Return each finding of a table with its verdict by these numbers."""
    found = []
    for finding in (one for one in FINDINGS.values() if one.table == numbers.table):
        try:
            answer = finding.answer(numbers)
            verdict = answer.verdict if full else Verdict.UNDECIDED
            measured = str(answer.measured) if full else f"{answer.measured}. Not decided: {QUICK}"
        except (KeyError, ValueError, ZeroDivisionError):  # of numbers that are not there
            verdict, measured = Verdict.UNDECIDED, NOT_RUN
        found.append(Said(finding.name, finding.statement, str(verdict), measured))
    return tuple(found)


def run_ours(finding: Finding) -> Outcome:
    """Return that a statement of ours holds where each interval shows it; else it fails to."""
    numbers = numbers_of(finding.table)
    _, parts, _ = finding.effects(numbers)
    holds = all(finding.says(part, len(parts))[1] == Verdict.BORNE_OUT for part in parts)
    return replace(finding.answer(numbers), verdict=Verdict.HOLDS if holds else Verdict.FAILS)


def enter_all() -> None:
    """Enter the findings and what we state of our own figures as claims; each name once."""
    for finding in FINDINGS.values():
        if finding.name in REGISTRY:
            raise InputError(f"two claims are called {finding.name!r}")
        REGISTRY[finding.name] = finding.entered()
    enter({name: lambda _, ours=ours: run_ours(ours) for name, ours in OURS.items()})
