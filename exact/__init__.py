"""The pairwise AUC problem, stated exactly and solved with a proof of optimality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .auditing import Audit, certify
from .certificate import Certificate, Witness
from .errors import CertificateError, InputError, TooLargeError
from .gram import Gram, StreamedGram
from .losses import HINGE, SQUARE, SQUARED_HINGE
from .pairs import AllPairs, PairList
from .problem import Problem, Ridge, linear_problem
from .scalings import C_from_lam, lam_from_C
from .solution import Solution, Status, Step
from .solving import solve
from .spaces import Rows

if TYPE_CHECKING:
    from .estimators import ROCSVM, SAUCSVM

__all__ = [
    "HINGE",
    "ROCSVM",
    "SAUCSVM",
    "SQUARE",
    "SQUARED_HINGE",
    "AllPairs",
    "Audit",
    "C_from_lam",
    "Certificate",
    "CertificateError",
    "Gram",
    "InputError",
    "PairList",
    "Problem",
    "Ridge",
    "Rows",
    "Solution",
    "Status",
    "Step",
    "StreamedGram",
    "TooLargeError",
    "Witness",
    "certify",
    "lam_from_C",
    "linear_problem",
    "solve",
]

# scikit-learn is heavy: import it only when it is asked for.
_LAZY = {"ROCSVM": ".estimators", "SAUCSVM": ".estimators"}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
