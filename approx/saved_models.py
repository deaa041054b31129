"""Saving and loading the estimators of `aucert.approx`: see `exact/classifier/model_files.py`."""

from __future__ import annotations

from sklearn.kernel_approximation import RBFSampler

from ..exact.classifier.model_codec import leave_out, register
from ..exact.classifier.model_files import load_model, save_model
from .drawn_pairs.incomplete_roc_svm import IncompleteROCSVM
from .drawn_pairs.incomplete_sauc_svm import IncompleteSAUCSVM
from .hard_thresholding.sht_estimator import SHTAUC
from .hard_thresholding.sparse_solution import Epoch, SparseSolution, Stop
from .newton.baseline_svms import SubsampledRankSVM
from .newton.nbauc import NBAUC
from .newton.rank_svm import RankSVM
from .nystrom.nystrom import Nystrom, NystromMap
from .online.row_stream import OnlineSolution, Pass
from .random_pairs.nsauc_estimators import NSAUC, NSVMSGD2
from .random_pairs.oam import Stream
from .random_pairs.oam_estimator import OAM
from .random_pairs.pair_steps import Walk
from .square_loss.saddle_estimators import FSAUC, SOLAM
from .square_loss.spam_estimator import SPAM

__all__ = ["load_model", "save_model"]

register(IncompleteROCSVM, RankSVM, NBAUC, NSAUC, NSVMSGD2, OAM, SHTAUC)
register(IncompleteSAUCSVM, SubsampledRankSVM)
register(SPAM, SOLAM, FSAUC, OnlineSolution, Pass)
register(Nystrom, NystromMap, RBFSampler, Stream, Walk, SparseSolution, Epoch, Stop)

for walker in (SPAM, SOLAM, FSAUC):
    leave_out(walker, "_walk")  # it holds the training rows
