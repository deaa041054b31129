"""The rows of an error budget, and the table that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...exact.certificate.solution import Solution
from ..bounds.printed import Bound

OPTIMISATION, SAMPLING, KERNEL = "optimisation", "pair sampling", "kernel approximation"
# The terms of Theorem 4' (I) that belong to the rows.
BOUND_TERMS = {OPTIMISATION: "inexact", SAMPLING: "sampling", KERNEL: "nystrom"}


@dataclass(frozen=True)
class Term:
    """One row of the budget."""

    name: str
    value: float
    bound: float | None = None
    auc_lost: float | None = None
    auc_error: float | None = None


@dataclass(frozen=True)
class FiniteTest:
    """What the test rows say about the model, each number with its standard error."""

    auc: float
    auc_error: float
    loss: float
    loss_error: float
    auc_lost: float
    auc_lost_error: float


@dataclass(frozen=True)
class ErrorBudget:
    """What the approximations behind one model cost."""

    terms: tuple[Term, ...]
    objective: float
    optimum: float
    slack: float
    own_gap: float
    bound: Bound | None = None
    test: FiniteTest | None = None
    solutions: Mapping[str, Solution] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> float:
        """F(f) - F(f^)."""
        return self.objective - self.optimum

    @property
    def allowed(self) -> float | None:
        """What Theorem 4' allows the total; None without an eps that was fixed before the draw."""
        promised = self.bound is not None and self.terms[0].bound is not None
        return self.bound.total if promised and self.bound is not None else None

    @property
    def table(self) -> str:
        """The budget as text, one row a term."""
        lines = [f"{'':>22} {'F - p*':>11} {'Theorem 4 prime':>16} {'test AUC lost':>20}"]
        for term in self.terms:
            lines.append(_line(term.name, term.value, term.bound, term.auc_lost, term.auc_error))
        allowed = self.allowed
        lost = (None, None) if self.test is None else (self.test.auc_lost, self.test.auc_lost_error)
        lines.append(_line("total", self.total, allowed, *lost))
        if self.test is not None:
            shown = f"AUC {self.test.auc:.5f} +- {self.test.auc_error:.5f}"
            lines.append(
                f"{'finite test set':>22} {self.test.loss_error:11.2e} {'':>16} {shown:>20}"
            )
        lines.append(f"F(f) = {self.objective:.8g}, p* = {self.optimum:.8g} +- {self.slack:.1g}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table


def _line(
    name: str, value: float, bound: float | None, lost: float | None, error: float | None
) -> str:
    allowed = "-" if bound is None else f"{bound:.2e}"
    auc = "" if lost is None else f"{lost:+.5f} +- {error:.5f}"
    return f"{name:>22} {value:11.2e} {allowed:>16} {auc:>20}"
