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

HERE = Path(__file__).resolve().parent
FAULTS = HERE.parent / "tests" / "validation"
BLOCK = re.compile(r"(<!-- recorded -->\n).*?(<!-- end -->)", re.DOTALL)


def counts() -> list[str]:
    """Return the table of papers and kinds by verdict."""
    verdicts = [*Verdict]
    lines = [f"| paper | kind | {' | '.join(verdicts)} | all |", "|---" * (len(verdicts) + 3) + "|"]
    for paper in PAPERS:
        for kind in KINDS:
            entries = [e for e in suite.claims() if (e.paper, e.kind) == (paper, kind)]
            found = Counter(entry.expected_verdict for entry in entries)
            cells = [str(found[v] or "") if v in vocabulary(kind) else "" for v in verdicts]
            lines.append(f"| {paper} | {kind} | {' | '.join(cells)} | {len(entries)} |")
    return lines


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
        f"| {e.paper} | {e.place} | {_cell(e)} | {e.expected_verdict} |"
        for e in suite.claims()
        if e.kind == kind
    ]


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
