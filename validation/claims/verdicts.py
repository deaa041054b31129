"""What a claim can come to, and the kinds of statement, each with the verdicts that it can have."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Kind = Literal["theorem", "finding", "corrected", "convergence", "suite"]
PAPERS = ("ScalingUp", "SAUC", "SHT", "Nonlinear")
FILED = (*PAPERS, "aucert")  # what we state of our own work is filed under none of the papers
SEVERITIES = {
    "A": "changes a conclusion",
    "B": "wrong and repaired; the conclusion stands",
    "C": "a slip of the pen or of arithmetic",
}
KINDS: dict[str, str] = {
    "theorem": "an equation, lemma, bound or cost of a paper, judged by mathematics as printed",
    "finding": "what a paper says that its experiments show, judged from the full reproduction",
    "corrected": "what a paper should have stated, by our derivation",
    "convergence": "how an approximation of a paper comes to the exact answer, and how fast",
    "suite": "what this project states about its own solvers and figures",
}
PAPER_KINDS = ("theorem", "finding")  # Statements of the papers; those of the other kinds are ours.

PROFILES = ("quick", "full")
# Stands in the place of a verdict where the claim could not be judged because it raised.
ERROR = "error"


class Verdict(StrEnum):
    """What the run of a claim came to."""

    HOLDS = "holds"  # proved, or true in everything that was run
    FAILS = "fails"  # an explicit instance within the assumptions contradicts it
    VACUOUS = "vacuous"  # not contradicted, but it says nothing: it is always true
    LOOSE = "loose"  # true, but at least ten times the quantity that it bounds
    # What the full reproduction shows, beyond chance: what the paper says, or the opposite.
    BORNE_OUT = "borne-out"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"  # neither, or its deviations leave it open
    NOT_TESTABLE = "not-testable"  # cannot be run here; the measured column says why


# Verdicts of findings.
FINDINGS = (Verdict.BORNE_OUT, Verdict.CONTRADICTED, Verdict.UNDECIDED, Verdict.NOT_TESTABLE)

# Verdicts of all other kinds.
STATEMENTS = (Verdict.HOLDS, Verdict.FAILS, Verdict.VACUOUS, Verdict.LOOSE, Verdict.NOT_TESTABLE)


def vocabulary(kind: str) -> tuple[Verdict, ...]:
    """Return the verdicts that a claim of a kind can have."""
    return FINDINGS if kind == "finding" else STATEMENTS
