"""The pairwise AUC problem, stated exactly and solved with a proof of optimality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .audit import Audit
from .auditing import certify
from .certificate import Certificate, Witness
from .errors import CertificateError, InputError, TooLargeError
from .exact_certificate import ExactCertificate, exact_certificate
from .gram import Gram, StreamedGram
from .losses import HINGE, SQUARE, SQUARED_HINGE
from .pairs import AllPairs, PairList
from .path import Path, PathPoint, regularization_path
from .problem import Problem, Ridge, linear_problem
from .scalings import C_from_lam, lam_from_C
from .solution import Solution, Status, Step
from .solving import solve
from .spaces import Rows
from .streamed import StreamedRows

if TYPE_CHECKING:
    from .convex_reference import convex_reference
    from .convex_square import ConvexSquare
    from .estimators import ROCSVM, SAUCSVM
    from .path_estimators import ROCSVMCV
    from .path_selection import CVPath, cross_validated_path
    from .proof import write_proof, write_proof_of
    from .saved_models import load_model, recertify, save_model
    from .subset import BestSubset, best_subset

__all__ = [
    "HINGE",
    "ROCSVM",
    "ROCSVMCV",
    "SAUCSVM",
    "SQUARE",
    "SQUARED_HINGE",
    "AllPairs",
    "Audit",
    "BestSubset",
    "CVPath",
    "C_from_lam",
    "Certificate",
    "CertificateError",
    "ConvexSquare",
    "ExactCertificate",
    "Gram",
    "InputError",
    "PairList",
    "Path",
    "PathPoint",
    "Problem",
    "Ridge",
    "Rows",
    "Solution",
    "Status",
    "Step",
    "StreamedGram",
    "StreamedRows",
    "TooLargeError",
    "Witness",
    "best_subset",
    "certify",
    "convex_reference",
    "cross_validated_path",
    "exact_certificate",
    "lam_from_C",
    "linear_problem",
    "load_model",
    "recertify",
    "regularization_path",
    "save_model",
    "solve",
    "write_proof",
    "write_proof_of",
]

# scikit-learn is heavy: import it only when it is asked for.
_LAZY = {
    "ROCSVM": ".estimators",
    "ConvexSquare": ".convex_square",
    "convex_reference": ".convex_reference",
    "SAUCSVM": ".estimators",
    "ROCSVMCV": ".path_estimators",
    "CVPath": ".path_selection",
    "cross_validated_path": ".path_selection",
    "write_proof": ".proof",
    "write_proof_of": ".proof",
    "load_model": ".saved_models",
    "recertify": ".saved_models",
    "save_model": ".saved_models",
    "BestSubset": ".subset",
    "best_subset": ".subset",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
