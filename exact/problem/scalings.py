"""Everybody's scaling of the pairwise objective, converted to the house's lam and back.

The house: lam/2 |f|^2 + mean over pairs. N is the number of pairs, n_pos n_neg or as drawn.

| convention | objective | lam |
|---|---|---|
| auc-svm [SAUC, eq. (2)] | 1/2 |w|^2 + C sum hinge | 1 / (C N) |
| nonlinear-1, nonlinear-2 [Nonlinear, eq. (3), eq. (5)] | 1/2 |w|^2 + C sum hinge^p | 1 / (C N) |
| prsvm | 1/2 |w|^2 + C/2 sum hinge^2 | 2 / (C N) |
| liblinear-ranksvm | 1/2 |w|^2 + C sum hinge^2 | 1 / (C N) |
| svm-rank | 1/2 |w|^2 + C sum hinge (one query, swapped pairs) | 1 / (C N) |
| scikit-learn | 1/2 |w|^2 + C sum hinge^2 or hinge: LinearSVC on x_i - x_j | 1 / (C N) |
| scikit-survival | 1/2 |w|^2 + C/2 sum hinge^2: FastSurvivalSVM, C its alpha | 2 / (C N) |
| scikit-survival-hinge | 1/2 |w|^2 + C sum hinge: HingeLossSurvivalSVM, C its alpha | 1 / (C N) |
| dlib | 1/2 |w|^2 + C mean hinge | 1 / C |
| roclab | lam/2 |w|^2 + mean hinge or hinge^2, C read as lam | C |
| torch, LibAUC | mean hinge, hinge^2 or logistic + C/2 |w|^2, C the weight decay | C |
| knn [SAUC, Section 4] | 1/2 |w|^2 + C sum over the N_s near pairs | 1 / (C N_s) |
| sht-authors | r (1 - r) mean square + C/2 |w|^2 | C / (r (1 - r)) |

LinearSVC is meant with `fit_intercept=False` on one difference a pair. Where each pair is there
twice, as x_i - x_j and x_j - x_i, its C counts double. A last weight of w that belongs to a
constant feature, an intercept, cancels in every pair.

scikit-survival [Poelsterl, Navab and Katouzian, ECML PKDD 2015, eq. (4) at r = 1] sums over the
comparable pairs. Divide 1/2 |w|^2 + C/2 sum hinge^2 by C N / 2: the sum becomes the mean, and
1/2 |w|^2 becomes 1 / (C N) |w|^2 = lam/2 |w|^2 with lam = 2 / (C N). Division by C N does the same
for the hinge. `FastSurvivalSVM` is meant with `rank_ratio=1` and no two equal times, of which it
orders some at random; its `coef_` has the opposite sign, since it predicts survival time inside.
`HingeLossSurvivalSVM` is meant with `pairs="all"` and the linear kernel, where w is
-(coef_ @ X)[0].

A linear booster of XGBoost has no constant of its own kind here, since its penalty counts rows:
see `validation.files.models`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError, brief
from ..tools.checks import check_choice, check_number

_SUM, _MEAN, _PENALTY = "sum", "mean", "penalty"


@dataclass(frozen=True)
class Scaling:
    """One convention: its losses, the usual one first, and what its C multiplies."""

    losses: tuple[str, ...]
    of: str = _SUM
    factor: float = 1.0


SCALINGS: dict[str, Scaling] = {
    "auc-svm": Scaling(("hinge",)),
    "nonlinear-1": Scaling(("hinge",)),
    "nonlinear-2": Scaling(("squared_hinge",)),
    "prsvm": Scaling(("squared_hinge",), factor=2.0),
    "liblinear-ranksvm": Scaling(("squared_hinge",)),
    "svm-rank": Scaling(("hinge",)),
    "scikit-learn": Scaling(("squared_hinge", "hinge")),
    "scikit-survival": Scaling(("squared_hinge",), factor=2.0),
    "scikit-survival-hinge": Scaling(("hinge",)),
    "dlib": Scaling(("hinge",), _MEAN),
    "roclab": Scaling(("hinge", "squared_hinge"), _PENALTY),
    "torch": Scaling(("hinge", "squared_hinge", "logistic"), _PENALTY),
    "knn": Scaling(("hinge",)),
    "sht-authors": Scaling(("square",), _PENALTY),
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
    """Return the convention named `name`, ignoring case and underscores."""
    plain = str(name).strip().lower().replace("_", "-")
    return check_choice("convention", ALIASES.get(plain, plain), SCALINGS)


def convention_loss(convention: str, loss: object = None) -> str:
    """Return the loss of a convention, or `loss` if it is one that the convention has."""
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

    Parameters
    ----------
    C : float
        > 0, in the convention's own units.
    n_pairs : float
        N, the number of pairs in the convention's sum.
    convention : str
        A key of `SCALINGS`.
    share_pos : float, optional
        r = n_pos / n in (0, 1), for "sht-authors".

    Raises
    ------
    InputError
        For C <= 0, an unknown convention, or a missing share.
    """
    C = check_number("C", C)
    factor = _factor(convention, n_pairs, share_pos)
    return C * factor if _direct(convention) else factor / C


def C_from_lam(
    lam: float, n_pairs: float, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return the convention's C whose minimiser is that of our objective at `lam`.

    Arguments as for `lam_from_C`, which it inverts; it raises the same errors.
    """
    lam = check_number("lam", lam)
    factor = _factor(convention, n_pairs, share_pos)
    return lam / factor if _direct(convention) else factor / lam


def objective_scale(
    C: float, n_pairs: float, convention: str = "auc-svm", share_pos: float | None = None
) -> float:
    """Return what our objective and its gaps are multiplied by to be the convention's. Arguments
    and errors are those of `lam_from_C`."""
    lam = lam_from_C(C, n_pairs, convention, share_pos)
    return 1.0 / (_factor(convention, n_pairs, share_pos) if _direct(convention) else lam)


def _direct(convention: str) -> bool:
    """Whether the convention's number grows with the penalty."""
    return SCALINGS[convention_name(convention)].of == _PENALTY


def _factor(convention: str, n_pairs: float, share_pos: float | None) -> float:
    name = convention_name(convention)
    if not n_pairs > 0:
        raise InputError(f"n_pairs must be > 0, not {brief(n_pairs)}")
    if name == "sht-authors":
        if share_pos is None or not 0 < share_pos < 1:
            raise InputError("sht-authors needs share_pos = n_pos / n between 0 and 1")
        return 1.0 / (share_pos * (1.0 - share_pos))
    scaling = SCALINGS[name]
    return scaling.factor / n_pairs if scaling.of == _SUM else 1.0
