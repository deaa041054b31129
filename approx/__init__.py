"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""

from .drawn_pairs import draw_pairs
from .fsauc import FSAUC, MultiStageSaddle
from .incomplete import IncompleteROCSVM, IncompleteSAUCSVM, incomplete_sauc
from .landmarks import leverage_scores
from .logistic_thresholding import hsg_ht, stoiht
from .newton.nbauc import NBAUC, SubsampledRankSVM
from .newton.truncated_newton import RankSVM, TruncatedNewton
from .nsauc import NSAUC, NSVMSGD2, PairSGD
from .nystrom import Nystrom, against_true_kernel, nystrom_map
from .oam import OAM, OnlineAUC
from .pipelines import kernel_svm, linear_svm, noam, nsolam, rfauc
from .saved_models import load_model, save_model
from .sht import SHTAUC, StochasticHardThresholding, sparse_problem
from .solam import SOLAM, StochasticSaddle
from .spam import SPAM, StochasticProximal
from .sparse_baselines import mean_difference, oracle_support, top_fisher, top_mean_difference
from .subgradient import Adamax, GradientDescent
from .thresholding import hard_threshold

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
