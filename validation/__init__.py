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
    "bound_against_error",
    "budget_bars",
    "budget_picture",
    "check_solver",
    "decision_surface",
    "error_budget",
    "gap_curves",
    "margin_distribution",
    "roc_with_thresholds",
    "sht_theorem1",
    "theorem4",
    "theorem4_prime",
]

# The command line imports this package first, so nothing heavy may come with it.
_LAZY = {
    name: module
    for module, names in {
        ".bounds.prime": "theorem4_prime",
        ".bounds.printed": "theorem4",
        ".bounds.sht": "sht_theorem1",
        ".budget.terms": "budget_picture error_budget",
        ".checking.check_solver": "check_solver",
        ".checking.gap_curves": "gap_curves",
        ".report.pictures": "bound_against_error budget_bars decision_surface margin_distribution "
        "roc_with_thresholds",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
