"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""

from .adamax import Adamax, GradientDescent
from .estimators import IncompleteROCSVM
from .hard_threshold import hard_threshold
from .incomplete_u import draw_pairs
from .newton_estimators import NBAUC, RankSVM
from .nystrom import Nystrom, against_true_kernel, nystrom_map
from .sht_auc import StochasticHardThresholding, sparse_problem
from .sht_estimator import SHTAUC
from .truncated_newton import TruncatedNewton

__all__ = [
    "NBAUC",
    "SHTAUC",
    "Adamax",
    "GradientDescent",
    "IncompleteROCSVM",
    "Nystrom",
    "RankSVM",
    "StochasticHardThresholding",
    "TruncatedNewton",
    "against_true_kernel",
    "draw_pairs",
    "hard_threshold",
    "nystrom_map",
    "sparse_problem",
]
