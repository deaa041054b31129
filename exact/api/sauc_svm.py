"""SAUC-SVM as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from ..formulation.request import Request
from .roc_svm import ROCSVM


@dataclass(eq=False, repr=False)
class SAUCSVM(ROCSVM):
    """SAUC-SVM: the ROC-SVM that also keeps the scores of each class close together.

    [SAUC, eq. (8), eq. (12)]: minimise over f

        lam/2 (|f|^2 + structure f'Sigma f) + mean over the pairs of loss(f(x_i) - f(x_j)),

    Sigma = Sigma_+ + Sigma_-, the covariances of the two classes (divided by n). The scores of
    new rows are [SAUC, eq. (11)], and (20) made right for a kernel.

    Differs from the paper: 1. lam = 1 / (C N), N the number of pairs; the paper's lambda is
    `structure`. 2. The printed inverse (17) does not exist and (20) lacks a factor; neither is
    used. 3. The pairs are all pairs by default.

    Parameters
    ----------
    lam : float
        > 0.
    structure : float
        >= 0, weight of the structure relative to |f|^2; 0 gives `ROCSVM`.
    structure_source : {"full", "sampled"}
        The covariances of all rows, as in the paper, or of the nearest pairs actually used.
    kernel, gamma, loss, pairs, anchor_filter, tol, method, threshold, max_time, n_jobs
        As in `ROCSVM`.
    fpr_max, tpr_min : float
        As in `ROCSVM`; partial AUC goes with structure = 0 only.
    l1, groups, sign
        As in `ROCSVM`; they go with structure = 0 only: the structured norm turns the features, and
        what acts on single weights has no bound there.

    Attributes
    ----------
    certificate_ : Certificate
        In the structured norm, of the true kernel; all others as in `ROCSVM`.
    """

    structure: float = 1.0
    _: KW_ONLY
    structure_source: str = "full"

    def _request(self) -> Request:
        source = self.structure_source
        return replace(super()._request(), structure=self.structure, structure_source=source)
