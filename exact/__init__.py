"""The pairwise AUC problem, stated exactly and solved with a proof of optimality.

[ScalingUp]: Bae and Shin, Scaling Up ROC-Optimizing Support Vector Machines.
[SAUC]: Wang, Chen and Xue, Structure-embedded AUC-SVM.
[SHT]: Yang, Zhou, Lei and Ying, Stochastic Hard Thresholding Algorithms for AUC Maximization.
[Nonlinear]: Khalid, Ray and Chitsaz, Scalable Nonlinear AUC Maximization Methods.
"""

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
from .problem.penalties import ElasticNet, GroupLasso, Sign
from .problem.problem import Problem, Ridge, linear_problem, pair_problem
from .problem.risk import Mean, Minorant
from .problem.scalings import C_from_lam, lam_from_C
from .problem.tail import Tail, Worst, tail_risk
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
    "solve", "solve_problem", "certify", "regularization_path", "best_subset",
    "exact_certificate", "convex_reference", "cross_validated_path", "recertify",
    "Solution", "Status", "Step", "Certificate", "ExactCertificate", "Minorant", "Audit", "Path",
    "PathPoint", "CVPath", "BestSubset",
    "Problem", "Mean", "Tail", "Worst", "Ridge", "ElasticNet", "GroupLasso", "Sign",
    "ConvexSquare", "linear_problem", "ordered_problem", "pair_problem", "tail_risk",
    "C_from_lam", "lam_from_C",
    "Rows", "StreamedRows", "PartitionedRows", "GroupedRows", "Gram",
    "HINGE", "SQUARED_HINGE", "SQUARE", "LOGISTIC", "SMOOTH_HINGE", "EXPONENTIAL", "SmoothHinge",
    "AllPairs", "PairList", "OrderedPairs", "query_pairs", "ordinal_pairs", "survival_pairs",
    "uno_pairs", "cross_group_pairs", "group_auc_pairs",
    "partial_auc", "delong", "concordance", "concordance_index", "uno_concordance", "group_auc",
    "compare_models", "Estimate", "Concordance", "Comparison",
    "ROCSVM", "ROCSVMCV", "SAUCSVM", "RankingSVM", "SurvivalSVM", "SurvivalSVMCV", "load_model",
    "save_model", "write_proof", "write_proof_of", "write_partitioned_proof", "save_partitions",
    "InputError", "TooLargeError", "CertificateError",
]  # fmt: skip

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
