"""Saving and loading the estimators of `aucert.approx`: see `exact/estimators/saving.py`."""

from __future__ import annotations

from sklearn.kernel_approximation import RBFSampler

from ..exact.estimators.saving import load_model, register, save_model
from .fsauc import FSAUC
from .incomplete import IncompleteROCSVM, IncompleteSAUCSVM
from .newton.nbauc import NBAUC, SubsampledRankSVM
from .newton.truncated_newton import RankSVM
from .nsauc import NSAUC, NSVMSGD2, Walk
from .nystrom import Nystrom, NystromMap
from .oam import OAM, Stream
from .online import OnlineSolution, Pass
from .sht import SHTAUC, Epoch, SparseSolution, Stop
from .solam import SOLAM
from .spam import SPAM

__all__ = ["load_model", "save_model"]

register(IncompleteROCSVM, RankSVM, NBAUC, NSAUC, NSVMSGD2, OAM, SHTAUC)
register(IncompleteSAUCSVM, SubsampledRankSVM)
register(SPAM, SOLAM, FSAUC, OnlineSolution, Pass)
register(Nystrom, NystromMap, RBFSampler, Stream, Walk, SparseSolution, Epoch, Stop)
