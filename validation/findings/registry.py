"""All findings, entered in the registry of claims beside the theorems."""

from __future__ import annotations

from .finding import Finding, enter
from .ours import enter_ours
from .papers import nonlinear, sauc_figures, sauc_real, sauc_toy, scaling_up, sht, sht_genes
from .reruns import enter_reruns

# Name to finding.
FINDINGS: dict[str, Finding] = {
    finding.name: finding
    for module in (scaling_up, sauc_toy, sauc_real, sauc_figures, sht, sht_genes, nonlinear)
    for finding in module.FINDINGS
}


def enter_all() -> None:
    """Enter the findings, what we state of our own figures, and the re-runs; each name once."""
    enter(tuple(FINDINGS.values()))
    enter_ours()
    enter_reruns()
