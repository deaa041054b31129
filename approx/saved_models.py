"""Saving and loading the estimators of `aucert.approx`: see `exact/model_files.py`."""

from __future__ import annotations

from sklearn.kernel_approximation import RBFSampler

from ..exact.model_codec import leave_out, register
from ..exact.model_files import load_model, save_model
from .baseline_svms import SubsampledRankSVM
from .estimators import IncompleteROCSVM
from .newton_estimators import NBAUC, RankSVM
from .nystrom import Nystrom, NystromMap
from .oam import Stream
from .online import OnlineSolution, Pass
from .online_estimators import NSAUC, NSVMSGD2, OAM
from .pair_steps import Walk
from .sht_estimator import SHTAUC
from .sparse_estimators import FSAUC, SOLAM, SPAM
from .sparse_solution import Epoch, SparseSolution, Stop
from .structured_incomplete import IncompleteSAUCSVM

__all__ = ["load_model", "save_model"]

register(IncompleteROCSVM, RankSVM, NBAUC, NSAUC, NSVMSGD2, OAM, SHTAUC)
register(IncompleteSAUCSVM, SubsampledRankSVM)
register(SPAM, SOLAM, FSAUC, OnlineSolution, Pass)
register(Nystrom, NystromMap, RBFSampler, Stream, Walk, SparseSolution, Epoch, Stop)

for walker in (SPAM, SOLAM, FSAUC):
    leave_out(walker, "_walk")  # it holds the training rows
