"""What the approximations behind a fitted model cost, one by one."""

from __future__ import annotations

from .picture import budget_picture
from .rows import ErrorBudget, Term
from .terms import error_budget

__all__ = ["ErrorBudget", "Term", "budget_picture", "error_budget"]
