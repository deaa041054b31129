"""Write the tables of verdicts.md from the recorded verdicts: python docs/verdicts.py"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from aucert.validation import suite
from aucert.validation.claims.claim import Claim
from aucert.validation.claims.recorded import record
from aucert.validation.claims.verdicts import KINDS, PAPERS, Verdict, vocabulary
from aucert.validation.findings.numbers import numbers_of
from aucert.validation.findings.registry import FINDINGS

HERE = Path(__file__).resolve().parent
FAULTS = HERE.parent / "tests" / "validation"
BLOCK = re.compile(r"(<!-- recorded -->\n).*?(<!-- end -->)", re.DOTALL)
FATES = {
    Verdict.HOLDS: "stands",
    Verdict.BORNE_OUT: "stands",
    Verdict.FAILS: "falls",
    Verdict.CONTRADICTED: "falls",
}
"""Verdict to what it says of the statement; the others leave it open, or say that it is empty."""


def first() -> dict[str, str]:
    """Return the verdicts of version 0.1, by the name of the claim."""
    return json.loads((HERE / "verdicts-0.1.json").read_text(encoding="utf-8"))


def turned(name: str, verdict: str) -> bool:
    """Whether a statement of version 0.1 has another fate now."""
    before = first().get(name)
    return before is not None and _fate(before) != _fate(verdict)


def _fate(verdict: str) -> str:
    return FATES.get(Verdict(verdict), verdict)


def counts() -> list[str]:
    """Return the table of papers and kinds by verdict, with what turned since version 0.1."""
    verdicts = [*Verdict]
    heads = [*verdicts, "all", "turned", "new"]
    lines = [f"| paper | kind | {' | '.join(heads)} |", "|---" * (len(heads) + 2) + "|"]
    for paper in PAPERS:
        for kind in KINDS:
            entries = [e for e in suite.claims() if (e.paper, e.kind) == (paper, kind)]
            found = Counter(entry.expected_verdict for entry in entries)
            cells = [str(found[v] or "") if v in vocabulary(kind) else "" for v in verdicts]
            other = sum(turned(e.name, e.expected_verdict) for e in entries)
            new = sum(e.name not in first() for e in entries)
            cells += [str(len(entries)), str(other or ""), str(new or "")]
            lines.append(f"| {paper} | {kind} | {' | '.join(cells)} |")
    return lines


def since() -> list[str]:
    """Return what became of the claims of version 0.1: a sentence and a table."""
    now = {entry.name: str(entry.expected_verdict) for entry in suite.claims()}
    gone = [name for name in first() if name not in now]
    other = [name for name in first() if name in now and turned(name, now[name])]
    new = sum(name not in first() for name in now)
    lines = [
        f"Of the {len(first())} claims of version 0.1 {len(other)} have turned (what stood, fell, "
        f"was open or empty is now something else) and {len(gone)} are withdrawn; {new} statements "
        "are new. Toy experiments in small regimes gave way to findings from the full "
        "reproduction; where that leaves a statement open it is undecided, in either direction. "
        "The names are those of version 0.1: where one ends in as-printed and the claim holds, the "
        "statement says in which reading.",
        "",
        "| claim | 0.1 | now |",
        "|---|---|---|",
    ]
    rows = [name for name in first() if name in other or name in gone]
    return lines + [f"| {n} | {first()[n]} | {now.get(n, 'withdrawn')} |" for n in rows]


def mutations() -> str:
    """Return how many claims a planted mistake turns."""
    faults = json.loads((FAULTS / "planted_faults.json").read_text(encoding="utf-8"))
    unturned = json.loads((FAULTS / "unturned_claims.json").read_text(encoding="utf-8"))
    entries = suite.claims()
    findings = sum(entry.kind == "finding" for entry in entries)
    arithmetic = sum(entry.arithmetic for entry in entries)
    by_hand = sum("test" in fault for fault in faults.values())
    return (
        f"Of {len(entries)} claims {findings} are findings, each turned by a mistake in the "
        f"numbers "
        f"of its page; {arithmetic} are arithmetic, which no fault in the library turns; "
        f"{len(PAPERS)} run evidence again; {len(faults)} others are turned by one planted mistake "
        f"({by_hand} by hand, the rest by rule)"
        + (f"; for {len(unturned)} none was found yet." if unturned else ", so that none is left.")
    )


def stories(kind: str) -> list[str]:
    """Return a line for each statement of a kind."""
    lines = ["| paper | place | statement | verdict |", "|---|---|---|---|"]
    return lines + [
        f"| {e.paper} | {e.place} | {_cell(e)} | {e.expected_verdict}{_capped(e)} |"
        for e in suite.claims()
        if e.kind == kind
    ]


def alone(name: str) -> Verdict:
    """Return what the numbers say of a finding before any deviation caps it."""
    finding = FINDINGS[name]
    return finding.judge(numbers_of(finding.table)).verdict


def _capped(entry: Claim) -> str:
    if entry.kind != "finding" or alone(entry.name) == entry.expected_verdict:
        return ""
    return f" (the numbers alone: {alone(entry.name)})"


def caps() -> str:
    """Return how many findings a deviation from the protocol leaves open, either way."""
    entries = [e for e in suite.claims() if e.kind == "finding"]
    opened = [e for e in entries if e.expected_verdict == Verdict.UNDECIDED]
    found = Counter(alone(entry.name) for entry in opened)
    return (
        f"Of {len(entries)} findings {len(opened)} are undecided. By the numbers alone "
        f"{found[Verdict.BORNE_OUT]} of these would be borne out and {found[Verdict.CONTRADICTED]} "
        "would be contradicted, but a named deviation from the paper's protocol could have made "
        f"that verdict; for {found[Verdict.UNDECIDED]} an interval crosses the line."
    )


def _cell(entry: Claim) -> str:
    return entry.statement.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write the tables between the comments."""
    made = record()
    parts = [
        "",
        f"Recorded on {made['date']} by version {made['version']}, profile {made['profile']}.",
        "",
        *counts(),
        "",
        mutations(),
        "",
        "## Findings",
        "",
        caps(),
        "",
        *stories("finding"),
        "",
        "## Theorems",
        "",
        *stories("theorem"),
        "",
        "## Turned since version 0.1",
        "",
        *since(),
        "",
        "",
    ]
    page = HERE / "verdicts.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(lambda m: m[1] + "\n".join(parts) + m[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
