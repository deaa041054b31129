"""Write the tables of verdicts.md from the recorded verdicts: python docs/verdicts.py"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from aucert.validation import suite
from aucert.validation.claims.claim import Claim
from aucert.validation.claims.recorded import record, statements
from aucert.validation.claims.verdicts import FILED, KINDS, PAPERS, Verdict, vocabulary
from aucert.validation.effects import FINDINGS

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- recorded -->\n).*?(<!-- end -->)", re.DOTALL)


def counts() -> list[str]:
    """Return the table of papers and kinds by verdict."""
    verdicts = [*Verdict]
    heads = [*verdicts, "all"]
    lines = [f"| paper | kind | {' | '.join(heads)} |", "|---" * (len(heads) + 2) + "|"]
    for paper in FILED:
        for kind in KINDS:
            entries = [e for e in suite.claims() if (e.paper, e.kind) == (paper, kind)]
            found = Counter(entry.expected_verdict for entry in entries)
            cells = [str(found[v] or "") if v in vocabulary(kind) else "" for v in verdicts]
            lines.append(f"| {paper} | {kind} | {' | '.join(cells)} | {len(entries)} |")
    return lines


def mutations() -> str:
    """Return how many claims a planted mistake turns."""
    faults = [entry["fault"] for entry in statements().values() if "fault" in entry]
    entries = suite.claims()
    findings = sum(entry.kind == "finding" for entry in entries)
    arithmetic = sum(entry.arithmetic for entry in entries)
    by_hand = sum("test" in fault for fault in faults)
    return (
        f"Of {len(entries)} claims {findings} are findings, each turned by a mistake in the "
        f"numbers "
        f"of its page; {arithmetic} are arithmetic, which no fault in the library turns; "
        f"{len(PAPERS)} run evidence again; {len(faults)} others are turned by one planted mistake "
        f"({by_hand} by hand, the rest by rule), so that none is left."
    )


def stories(kind: str) -> list[str]:
    """Return a line for each statement of a kind."""
    lines = ["| paper | place | statement | verdict |", "|---|---|---|---|"]
    return lines + [
        f"| {e.paper} | {e.place} | {_cell(e)} | {e.expected_verdict} |"
        for e in suite.claims()
        if e.kind == kind
    ]


def caps() -> str:
    """Return how many findings are undecided, and why."""
    opened = [f for f in FINDINGS.values() if verdict_of(f.name) == Verdict.UNDECIDED]
    not_run = sum(bool(finding.not_run) for finding in opened)
    turned = sum(bool(finding.turned or finding.also) for finding in opened)
    return (
        f"Of {len(FINDINGS)} findings {len(opened)} are undecided: for {not_run} the paper's "
        f"comparison was not run, for {turned} the answer depends on the protocol, and for "
        f"{len(opened) - not_run - turned} an interval crosses the line."
    )


def verdict_of(name: str) -> str:
    """Return the recorded verdict."""
    return record()["verdicts"][name]


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
        "",
    ]
    page = HERE / "verdicts.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(lambda m: m[1] + "\n".join(parts) + m[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
