"""The pairwise AUC problem, stated exactly and solved with a proof of optimality."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .api.certify import certify
from .api.path import Path, PathPoint, regularization_path
from .api.solve import solve, solve_problem
from .certificate.audit import Audit
from .certificate.certificate import Certificate
from .certificate.exact_certificate import ExactCertificate, exact_certificate
from .certificate.solution import Solution, Status, Step
from .errors import CertificateError, InputError, TooLargeError
from .formulation.formulation import ordered_problem
from .losses.registry import (
    EXPONENTIAL,
    HINGE,
    LOGISTIC,
    SMOOTH_HINGE,
    SQUARE,
    SQUARED_HINGE,
    SmoothHinge,
)
from .pairs.all_pairs import AllPairs, PairList
from .pairs.auc import partial_auc
from .pairs.concordance import (
    Comparison,
    Concordance,
    Estimate,
    compare_models,
    concordance,
    concordance_index,
    delong,
    group_auc,
    uno_concordance,
)
from .pairs.kinds import (
    cross_group_pairs,
    group_auc_pairs,
    ordinal_pairs,
    query_pairs,
    survival_pairs,
    uno_pairs,
)
from .pairs.ordered_pairs import OrderedPairs
from .problem.minorant import Minorant
from .problem.penalties import ElasticNet, GroupLasso, Sign
from .problem.problem import Problem, Ridge, linear_problem, pair_problem
from .problem.risk import Mean
from .problem.scalings import C_from_lam, lam_from_C
from .problem.tail import Tail, tail_risk
from .problem.worst import Worst
from .spaces.blocks import StreamedRows
from .spaces.gram import Gram
from .spaces.groups import GroupedRows
from .spaces.partitions import PartitionedRows
from .spaces.rows import Rows

if TYPE_CHECKING:
    from .api.cross_validation import CVPath, cross_validated_path
    from .estimators.roc_svm import ROCSVM, ROCSVMCV, SAUCSVM
    from .estimators.solved import load_model, recertify, save_model
    from .estimators.survival import RankingSVM, SurvivalSVM, SurvivalSVMCV
    from .proof.write import save_partitions, write_partitioned_proof, write_proof, write_proof_of
    from .solvers.convex_reference import convex_reference
    from .square_loss.convex_square import ConvexSquare
    from .subsets.best_subset import BestSubset, best_subset

__all__ = [
    "EXPONENTIAL",
    "HINGE",
    "LOGISTIC",
    "ROCSVM",
    "ROCSVMCV",
    "RankingSVM",
    "SAUCSVM",
    "SMOOTH_HINGE",
    "SQUARE",
    "SQUARED_HINGE",
    "AllPairs",
    "Audit",
    "BestSubset",
    "CVPath",
    "C_from_lam",
    "Certificate",
    "CertificateError",
    "Comparison",
    "Concordance",
    "ConvexSquare",
    "Estimate",
    "ElasticNet",
    "ExactCertificate",
    "Gram",
    "GroupLasso",
    "GroupedRows",
    "InputError",
    "OrderedPairs",
    "PairList",
    "Mean",
    "Minorant",
    "PartitionedRows",
    "Path",
    "PathPoint",
    "Problem",
    "Ridge",
    "Rows",
    "Sign",
    "SmoothHinge",
    "Solution",
    "Status",
    "Step",
    "StreamedRows",
    "SurvivalSVM",
    "SurvivalSVMCV",
    "Tail",
    "TooLargeError",
    "Worst",
    "best_subset",
    "certify",
    "compare_models",
    "concordance",
    "concordance_index",
    "convex_reference",
    "cross_group_pairs",
    "cross_validated_path",
    "delong",
    "exact_certificate",
    "group_auc",
    "group_auc_pairs",
    "lam_from_C",
    "linear_problem",
    "ordered_problem",
    "ordinal_pairs",
    "pair_problem",
    "partial_auc",
    "query_pairs",
    "load_model",
    "recertify",
    "regularization_path",
    "save_model",
    "solve",
    "solve_problem",
    "survival_pairs",
    "tail_risk",
    "uno_concordance",
    "uno_pairs",
    "save_partitions",
    "write_partitioned_proof",
    "write_proof",
    "write_proof_of",
]

# scikit-learn is heavy: import it only when it is asked for.
_LAZY = {
    "api.cross_validation": ("CVPath", "cross_validated_path"),
    "estimators.roc_svm": ("ROCSVM", "ROCSVMCV", "SAUCSVM"),
    "estimators.solved": ("load_model", "recertify", "save_model"),
    "estimators.survival": ("RankingSVM", "SurvivalSVM", "SurvivalSVMCV"),
    "proof.write": ("save_partitions", "write_partitioned_proof", "write_proof", "write_proof_of"),
    "solvers.convex_reference": ("convex_reference",),
    "square_loss.convex_square": ("ConvexSquare",),
    "subsets.best_subset": ("BestSubset", "best_subset"),
}


def __getattr__(name: str) -> object:
    for module, names in _LAZY.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
