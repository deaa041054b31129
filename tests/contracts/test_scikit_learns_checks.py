"""Every public estimator passes scikit-learn's own checks but those that it declares to fail."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

from aucert import approx, exact
from aucert.approx import (
    FSAUC,
    NBAUC,
    NSAUC,
    NSVMSGD2,
    OAM,
    SHTAUC,
    SOLAM,
    SPAM,
    IncompleteROCSVM,
    IncompleteSAUCSVM,
    Nystrom,
    RankSVM,
    SubsampledRankSVM,
)
from aucert.approx.landmarks import LANDMARKS
from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM, RankingSVM, SurvivalSVM, SurvivalSVMCV

FAST = [ROCSVM]
SLOW = [SHTAUC, NBAUC, OAM, ROCSVMCV, SurvivalSVM]
RELEASE = [
    *(SAUCSVM, RankingSVM, SurvivalSVMCV, IncompleteROCSVM, IncompleteSAUCSVM, RankSVM),
    SubsampledRankSVM,
    *(NSAUC, NSVMSGD2, SPAM, SOLAM, FSAUC, Nystrom),
]
# Defaults leave these paths out. Some checks compare weights to 1e-7: hence the tolerance.
VARIANTS = [
    *(ROCSVM(lam=1.0, loss=loss, tol=1e-12) for loss in ("squared_hinge", "square")),
    ROCSVM(lam=1.0, kernel="rbf", gamma=0.5),
    ROCSVM(lam=1.0, l1=0.01, tol=1e-4),
    ROCSVM(lam=1.0, pairs="nearest:2"),
    ROCSVM(lam=1.0, fpr_max=0.5),
    SAUCSVM(lam=1.0, kernel="rbf"),
    SHTAUC(k=2, mode="authors", step=0.1),
    NBAUC(landmarks="uniform", n_landmarks=7),
    SPAM(l1=0.0, average=True),
    OAM(update="gradient", average=True),
    NSAUC(landmarks="leverage"),
    *(Nystrom(landmarks=landmarks, n_landmarks=5) for landmarks in LANDMARKS),
]


def keeps_the_contract(model: Any) -> None:
    """Run all checks; those that may fail are the model's own word, each with its reason."""
    expected = model.expected_failed_checks
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of their data are nearly collinear, or few
        found = check_estimator(model, expected_failed_checks=expected, on_fail=None)
    failed = [f"{one['check_name']}: {one['exception']!r}" for one in found]
    failed = [said for said, one in zip(failed, found, strict=True) if one["status"] == "failed"]
    assert len(found) > 40 and not failed, failed
    assert all(expected.values()) and set(expected) <= {one["check_name"] for one in found}


def test_every_public_estimator_is_checked() -> None:
    public = {getattr(room, name) for room in (exact, approx) for name in room.__all__}
    public = {one for one in public if isinstance(one, type) and hasattr(one, "get_params")}
    assert {*FAST, *SLOW, *RELEASE} == public


@pytest.mark.parametrize("kind", FAST)
def test_its_defaults_keep_scikit_learns_contract(kind: type) -> None:
    keeps_the_contract(kind())


@pytest.mark.slow
@pytest.mark.parametrize("kind", SLOW)
def test_the_defaults_of_slower_ones_keep_it(kind: type) -> None:
    keeps_the_contract(kind())


@pytest.mark.release
@pytest.mark.parametrize("kind", RELEASE)
def test_the_defaults_of_all_others_keep_it(kind: type) -> None:
    keeps_the_contract(kind())


@pytest.mark.release
@pytest.mark.parametrize("model", VARIANTS, ids=str)
def test_what_defaults_leave_out_keeps_it(model: Any) -> None:
    keeps_the_contract(model)
