"""Published claims, and anybody's solver, checked against the exact answers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bounds import theorem4
    from .bounds_prime import theorem4_prime
    from .bounds_sht import sht_theorem1
    from .checking import check_solver

__all__ = ["check_solver", "sht_theorem1", "theorem4", "theorem4_prime"]

# The command line imports this package first, so nothing heavy may come with it.
_LAZY = {
    "check_solver": ".checking",
    "sht_theorem1": ".bounds_sht",
    "theorem4": ".bounds",
    "theorem4_prime": ".bounds_prime",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
