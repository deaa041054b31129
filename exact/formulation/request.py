"""What the caller asks for, in one noun: checked once, frozen, and passed on whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..losses.registry import HINGE, get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Ridge
from ..spaces.kernel import Kernel, name_of
from ..spaces.kernels import PRECOMPUTED, check_kernel_name
from ..structure.scatter import SOURCES
from ..tools.checks import check_choice, check_number


@dataclass(frozen=True, eq=False)
class Request:
    """Which problem is meant, whatever the rows are. `Request.of` makes one of a caller's words.

    Attributes
    ----------
    penalty : Ridge
    loss : Loss
    pairs : AllPairs or PairList
        Row weights are part of `AllPairs`.
    positive : label, optional
        The larger one by default.
    kernel : {"linear", "rbf", "laplacian", "precomputed"} or Kernel
        For "precomputed", the data are the Gram matrix (n, n).
    gamma : float, optional
        > 0; 1 / d by default.
    structure : float
        >= 0: the weight of SAUC's structure, 0 for none. [SAUC, eq. (8), eq. (12)]
    structure_source : {"full", "sampled"}
        Whether the structure is that of all data or of the listed pairs.

    Raises
    ------
    InputError
        If a part is not what it should be.
    """

    penalty: Ridge
    loss: Loss = HINGE
    pairs: AllPairs | PairList = field(default_factory=AllPairs)
    positive: object = None
    kernel: str | Kernel = "linear"
    gamma: float | None = None
    structure: float = 0.0
    structure_source: str = "full"

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, AllPairs | PairList):
            raise InputError(f"pairs must be AllPairs() or a PairList, not {self.pairs!r}")
        check_kernel_name(self.kernel, self.gamma)
        check_number("structure", self.structure, closed="low")
        check_choice("structure_source", self.structure_source, SOURCES)

    @classmethod
    def of(
        cls,
        lam: float,
        loss: str | Loss = "hinge",
        pairs: AllPairs | PairList | None = None,
        positive: object = None,
        kernel: str | Kernel = "linear",
        gamma: float | None = None,
        structure: float = 0.0,
        structure_source: str = "full",
        sample_weight: np.ndarray | None = None,
    ) -> Request:
        """Return the request that these words make; all but `lam` and the names as above.

        Parameters
        ----------
        lam : float
            > 0, weight of the penalty.
        loss : str or Loss
            Its name, or a loss of one's own.
        sample_weight : array (n,), optional
            >= 0; a weight means repetition. Only with all pairs.

        Raises
        ------
        InputError
            If a word is not understood, or weights are given twice.
        """
        if sample_weight is not None:
            if pairs is not None:
                raise InputError("give row weights in `pairs` or as `sample_weight`, not both")
            pairs = AllPairs(sample_weight)
        penalty, chosen, over = Ridge(lam), get_loss(loss), AllPairs() if pairs is None else pairs
        return cls(penalty, chosen, over, positive, kernel, gamma, structure, structure_source)

    def at(self, lam: float) -> Request:
        """Return the same request at another lam."""
        return replace(self, penalty=replace(self.penalty, lam=lam))

    @property
    def lam(self) -> float:
        """The penalty's weight."""
        return float(self.penalty.lam)

    @property
    def kernel_name(self) -> str:
        """What to call the kernel."""
        return name_of(self.kernel)

    @property
    def gives_matrix(self) -> bool:
        """Whether the data are the Gram matrix itself."""
        return self.kernel == PRECOMPUTED

    @property
    def is_linear_hinge(self) -> bool:
        """Whether this is the plain problem: hinge, all pairs, linear, no structure."""
        plain = self.kernel == "linear" and self.structure == 0
        return plain and self.loss == HINGE and isinstance(self.pairs, AllPairs)
