"""Everybody's scaling of the pairwise objective, converted to the house's lam and back.

The house: lam/2 |f|^2 + mean over pairs. N is the number of pairs, n_pos n_neg or as drawn. Of a
sum over pairs lam is 1 / (C N), or 2 / (C N) where C/2 stands before it; of a mean 1 / C; and where
C stands before the penalty, C. With what settings each program has its objective is in
`docs/certify.md`; scikit-survival: Poelsterl, Navab and Katouzian, ECML PKDD 2015, eq. (4), r = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError, brief
from ..tools.arrays import check_choice, check_number


@dataclass(frozen=True)
class Scaling:
    """One convention: its losses, the usual one first, and what its C multiplies."""

    losses: tuple[str, ...]
    of: str = "sum"
    factor: float = 1.0


BOTH = "hinge", "squared_hinge"

SCALINGS: dict[str, Scaling] = {
    "auc-svm": Scaling(("hinge",)),  # 1/2 |w|^2 + C sum hinge [SAUC, eq. (2)]
    "nonlinear-1": Scaling(("hinge",)),  # the same [Nonlinear, eq. (3)]
    "nonlinear-2": Scaling(("squared_hinge",)),  # 1/2 |w|^2 + C sum hinge^2 [Nonlinear, eq. (5)]
    "prsvm": Scaling(("squared_hinge",), factor=2.0),  # 1/2 |w|^2 + C/2 sum hinge^2
    "liblinear-ranksvm": Scaling(("squared_hinge",)),  # 1/2 |w|^2 + C sum hinge^2
    "svm-rank": Scaling(("hinge",)),  # 1/2 |w|^2 + C sum hinge (one query, swapped pairs)
    "scikit-learn": Scaling(BOTH[::-1]),  # 1/2 |w|^2 + C sum: LinearSVC on x_i - x_j
    "scikit-survival": Scaling(("squared_hinge",), factor=2.0),  # 1/2 |w|^2 + C/2 sum hinge^2
    "scikit-survival-hinge": Scaling(("hinge",)),  # 1/2 |w|^2 + C sum hinge
    "dlib": Scaling(("hinge",), "mean"),  # 1/2 |w|^2 + C mean hinge
    "roclab": Scaling(BOTH, "penalty"),  # lam/2 |w|^2 + mean, C read as lam
    "torch": Scaling((*BOTH, "logistic"), "penalty"),  # mean + C/2 |w|^2, C: weight decay; LibAUC
    "knn": Scaling(("hinge",)),  # 1/2 |w|^2 + C sum over the near pairs [SAUC, Section 4]
    "sht-authors": Scaling(("square",), "penalty"),  # r (1 - r) mean square + C/2 |w|^2
}

ALIASES = {  # other names that people write
    "svmrank": "svm-rank",
    "sklearn": "scikit-learn",
    "sksurv": "scikit-survival",
    "sksurv-hinge": "scikit-survival-hinge",
    "fastsurvivalsvm": "scikit-survival",
    "hingelosssurvivalsvm": "scikit-survival-hinge",
    "pytorch": "torch",
    "libauc": "torch",
}


def convention_name(name: object) -> str:
    plain = str(name).strip().lower().replace("_", "-")
    return check_choice("convention", ALIASES.get(plain, plain), SCALINGS)


def convention_loss(convention: str, loss: object = None) -> str:
    """Return the usual loss of a convention, or `loss` if it is another of its losses."""
    name = convention_name(convention)
    losses = SCALINGS[name].losses
    if loss is None:
        return losses[0]
    asked = loss if isinstance(loss, str) else getattr(loss, "name", loss)
    if asked not in losses:
        raise InputError(
            f"the objective of {name} has the loss {' or '.join(losses)}, not {asked}: "
            "leave the loss out, or give lam"
        )
    return str(asked)


def lam_from_C(
    C: float, n_pairs: float, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return the lam whose minimiser is that of the convention's objective at `C`.

    Arguments out of range, an unknown convention or a missing share raise `InputError`.

    Parameters
    ----------
    C : float > 0, in the convention's own units
    n_pairs : float > 0, the number N of pairs in the convention's sum
    convention : str, a key of `SCALINGS`
    share_pos : float in (0, 1), for "sht-authors": r = n_pos / n
    """
    C = check_number("C", C)
    factor, direct = _rule(convention, n_pairs, share_pos)
    return C * factor if direct else factor / C


def C_from_lam(
    lam: float, n_pairs: float, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return the convention's C whose minimiser is that of our objective at `lam`: the inverse of
    `lam_from_C`, with its other arguments and errors."""
    lam = check_number("lam", lam)
    factor, direct = _rule(convention, n_pairs, share_pos)
    return lam / factor if direct else factor / lam


def objective_scale(
    C: float, n_pairs: float, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return what our objective is multiplied by to be the convention's; as `lam_from_C`."""
    lam = lam_from_C(C, n_pairs, convention, share_pos)
    factor, direct = _rule(convention, n_pairs, share_pos)
    return 1.0 / (factor if direct else lam)


def _rule(convention: str, n_pairs: float, share_pos: float | None) -> tuple[float, bool]:
    """Return the factor with which lam is C * factor, and true, or factor / C, and false."""
    name = convention_name(convention)
    if not n_pairs > 0:
        raise InputError(f"n_pairs must be > 0, not {brief(n_pairs)}")
    scaling, factor = SCALINGS[name], 1.0
    if name == "sht-authors":
        if share_pos is None or not 0 < share_pos < 1:
            raise InputError("sht-authors needs share_pos = n_pos / n between 0 and 1")
        factor = 1.0 / (share_pos * (1.0 - share_pos))
    elif scaling.of == "sum":
        factor = scaling.factor / n_pairs
    return factor, scaling.of == "penalty"
