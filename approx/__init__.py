"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""

from .adamax import Adamax, GradientDescent
from .baseline_svms import SubsampledRankSVM, kernel_svm, linear_svm
from .baselines import mean_difference, oracle_support, top_fisher, top_mean_difference
from .estimators import IncompleteROCSVM
from .fsauc import MultiStageSaddle
from .hard_threshold import hard_threshold
from .hsg_ht import hsg_ht
from .incomplete_u import draw_pairs
from .leverage import leverage_scores
from .newton_estimators import NBAUC, RankSVM
from .nsauc import PairSGD
from .nystrom import Nystrom, against_true_kernel, nystrom_map
from .oam import OnlineAUC
from .online_estimators import NSAUC, NSVMSGD2, OAM
from .pipelines import noam, nsolam, rfauc
from .saved_models import load_model, save_model
from .sht_auc import StochasticHardThresholding, sparse_problem
from .sht_estimator import SHTAUC
from .solam import StochasticSaddle
from .spam import StochasticProximal
from .sparse_estimators import FSAUC, SOLAM, SPAM
from .stoiht import stoiht
from .structured_incomplete import IncompleteSAUCSVM, incomplete_sauc
from .truncated_newton import TruncatedNewton

__all__ = [
    "FSAUC",
    "NBAUC",
    "NSAUC",
    "NSVMSGD2",
    "OAM",
    "SHTAUC",
    "SOLAM",
    "SPAM",
    "Adamax",
    "GradientDescent",
    "IncompleteROCSVM",
    "IncompleteSAUCSVM",
    "MultiStageSaddle",
    "Nystrom",
    "OnlineAUC",
    "PairSGD",
    "RankSVM",
    "StochasticHardThresholding",
    "StochasticProximal",
    "SubsampledRankSVM",
    "StochasticSaddle",
    "TruncatedNewton",
    "against_true_kernel",
    "draw_pairs",
    "hard_threshold",
    "hsg_ht",
    "incomplete_sauc",
    "kernel_svm",
    "leverage_scores",
    "linear_svm",
    "load_model",
    "mean_difference",
    "noam",
    "nsolam",
    "nystrom_map",
    "oracle_support",
    "rfauc",
    "save_model",
    "sparse_problem",
    "stoiht",
    "top_fisher",
    "top_mean_difference",
]
