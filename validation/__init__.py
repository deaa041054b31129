"""Published claims, and anybody's solver, checked against the exact answers."""

from importlib import import_module

TYPE_CHECKING = False  # `typing` takes most of the time until interrupts are answered
if TYPE_CHECKING:
    from .bounds.prime import theorem4_prime
    from .bounds.printed import theorem4
    from .bounds.sht import sht_theorem1
    from .budget.terms import budget_picture, error_budget
    from .checking.check_solver import check_solver
    from .checking.gap_curves import gap_curves
    from .report.pictures import (
        bound_against_error,
        budget_bars,
        decision_surface,
        margin_distribution,
        roc_with_thresholds,
    )

__all__ = [
    "bound_against_error", "budget_bars", "budget_picture", "check_solver", "decision_surface",
    "error_budget", "gap_curves", "margin_distribution", "roc_with_thresholds", "sht_theorem1",
    "theorem4", "theorem4_prime",
]  # fmt: skip

# The command line imports this package first, so nothing heavy may come with it.
_LAZY = {
    "theorem4": "bounds.printed",
    "theorem4_prime": "bounds.prime",
    "sht_theorem1": "bounds.sht",
    "check_solver": "checking.check_solver",
    "gap_curves": "checking.gap_curves",
    "error_budget": "budget.terms",
    "budget_picture": "budget.terms",
}  # the others are pictures


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f".{_LAZY.get(name, 'report.pictures')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
