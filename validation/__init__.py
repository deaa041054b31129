"""Published claims, and anybody's solver, checked against the exact answers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bounds.prime import theorem4_prime
    from .bounds.printed import theorem4
    from .bounds.sht import sht_theorem1
    from .budget.picture import budget_picture
    from .budget.terms import error_budget
    from .checking.check_solver import check_solver

__all__ = [
    "budget_picture",
    "check_solver",
    "error_budget",
    "sht_theorem1",
    "theorem4",
    "theorem4_prime",
]

# The command line imports this package first, so nothing heavy may come with it.
_LAZY = {
    "budget_picture": ".budget.picture",
    "check_solver": ".checking.check_solver",
    "error_budget": ".budget.terms",
    "sht_theorem1": ".bounds.sht",
    "theorem4": ".bounds.printed",
    "theorem4_prime": ".bounds.prime",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
