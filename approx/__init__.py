"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""

from .drawn_pairs.descent import Adamax, GradientDescent
from .drawn_pairs.draw_pairs import draw_pairs
from .drawn_pairs.incomplete_roc_svm import IncompleteROCSVM
from .drawn_pairs.incomplete_sauc_svm import IncompleteSAUCSVM, incomplete_sauc
from .hard_thresholding.baselines import (
    mean_difference,
    oracle_support,
    top_fisher,
    top_mean_difference,
)
from .hard_thresholding.hard_threshold import hard_threshold
from .hard_thresholding.hsg_ht import hsg_ht
from .hard_thresholding.sht_auc import StochasticHardThresholding, sparse_problem
from .hard_thresholding.sht_estimator import SHTAUC
from .hard_thresholding.stoiht import stoiht
from .newton.baseline_svms import SubsampledRankSVM, kernel_svm, linear_svm
from .newton.nbauc import NBAUC
from .newton.rank_svm import RankSVM
from .newton.truncated_newton import TruncatedNewton
from .nystrom.leverage import leverage_scores
from .nystrom.nystrom import Nystrom, against_true_kernel, nystrom_map
from .pipelines import noam, nsolam, rfauc
from .random_pairs.nsauc import PairSGD
from .random_pairs.nsauc_estimators import NSAUC, NSVMSGD2
from .random_pairs.oam import OnlineAUC
from .random_pairs.oam_estimator import OAM
from .saved_models import load_model, save_model
from .square_loss.fsauc import MultiStageSaddle
from .square_loss.saddle_estimators import FSAUC, SOLAM
from .square_loss.solam import StochasticSaddle
from .square_loss.spam import StochasticProximal
from .square_loss.spam_estimator import SPAM

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
