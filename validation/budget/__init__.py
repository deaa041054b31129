"""What the approximations behind a fitted model cost, one by one."""

from __future__ import annotations

from .picture import budget_picture
from .terms import ErrorBudget, Term, error_budget

__all__ = ["ErrorBudget", "Term", "budget_picture", "error_budget"]
