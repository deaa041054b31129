"""Everybody's scaling of the pairwise objective, converted to the house's lam and back.

The house: lam/2 |f|^2 + mean over pairs. N is the number of pairs, n_pos n_neg or as drawn.

| convention | objective | lam |
|---|---|---|
| auc-svm [SAUC, eq. (2)] | 1/2 |w|^2 + C sum hinge | 1 / (C N) |
| nonlinear-1, nonlinear-2 [Nonlinear, eq. (5)] | 1/2 |w|^2 + C sum hinge^p | 1 / (C N) |
| prsvm | 1/2 |w|^2 + C/2 sum hinge^2 | 2 / (C N) |
| liblinear-ranksvm | 1/2 |w|^2 + C sum hinge^2 | 1 / (C N) |
| svm-rank | 1/2 |w|^2 + C sum hinge (one query, swapped pairs) | 1 / (C N) |
| dlib | 1/2 |w|^2 + C mean hinge | 1 / C |
| roclab | lam/2 |w|^2 + mean hinge, C read as lam | C |
| knn [SAUC, Section 4] | 1/2 |w|^2 + C sum over the N_s near pairs | 1 / (C N_s) |
| sht-authors | r (1 - r) mean square + C/2 |w|^2 | C / (r (1 - r)) |
"""

from __future__ import annotations

import numpy as np

from .errors import InputError

CONVENTIONS: dict[str, str] = {
    "auc-svm": "hinge",
    "nonlinear-1": "hinge",
    "nonlinear-2": "squared_hinge",
    "prsvm": "squared_hinge",
    "liblinear-ranksvm": "squared_hinge",
    "svm-rank": "hinge",
    "dlib": "hinge",
    "roclab": "hinge",
    "knn": "hinge",
    "sht-authors": "square",
}
"""Each convention's loss."""


def lam_from_C(
    C: float, n_pairs: int, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return the lam whose minimiser is that of the convention's objective at `C`.

    Parameters
    ----------
    C : float
        > 0, in the convention's own units.
    n_pairs : int
        N, the number of pairs in the convention's sum.
    convention : str
        A key of `CONVENTIONS`.
    share_pos : float, optional
        r = n_pos / n in (0, 1), for "sht-authors".

    Raises
    ------
    InputError
        For C <= 0, an unknown convention, or a missing share.
    """
    if not (np.isfinite(C) and C > 0):
        raise InputError(f"C must be > 0 and finite, not {C!r}")
    factor = _factor(convention, n_pairs, share_pos)
    return float(C) * factor if _direct(convention) else factor / float(C)


def C_from_lam(
    lam: float, n_pairs: int, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return the convention's C whose minimiser is that of the house's objective at `lam`.

    Arguments as in `lam_from_C`; raises alike.
    """
    if not (np.isfinite(lam) and lam > 0):
        raise InputError(f"lam must be > 0 and finite, not {lam!r}")
    factor = _factor(convention, n_pairs, share_pos)
    return float(lam) / factor if _direct(convention) else factor / float(lam)


def _direct(convention: str) -> bool:
    """Whether the convention's number grows with the penalty."""
    return convention in ("roclab", "sht-authors")


def _factor(convention: str, n_pairs: int, share_pos: float | None) -> float:
    if convention not in CONVENTIONS:
        raise InputError(
            f"unknown convention {convention!r}: choose one of {', '.join(CONVENTIONS)}"
        )
    if not n_pairs > 0:
        raise InputError(f"n_pairs must be > 0, not {n_pairs!r}")
    if convention == "sht-authors":
        if share_pos is None or not 0 < share_pos < 1:
            raise InputError("sht-authors needs share_pos = n_pos / n between 0 and 1")
        return 1.0 / (share_pos * (1.0 - share_pos))
    if convention in ("dlib", "roclab"):
        return 1.0
    return (2.0 if convention == "prsvm" else 1.0) / n_pairs
