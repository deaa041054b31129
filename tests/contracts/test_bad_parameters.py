"""Parameters out of their range: what is called, and what it refuses."""

from __future__ import annotations

import inspect
from ast import literal_eval
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from aucert import approx
from aucert.approx import (
    FSAUC,
    NBAUC,
    NSAUC,
    OAM,
    SHTAUC,
    SOLAM,
    SPAM,
    Adamax,
    IncompleteROCSVM,
    IncompleteSAUCSVM,
    Nystrom,
    SubsampledRankSVM,
    kernel_svm,
    linear_svm,
    noam,
    nsolam,
    rfauc,
)
from aucert.approx.logistic_thresholding import hsg_ht, stoiht
from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.approx.sht import StochasticHardThresholding
from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM, SurvivalSVM
from aucert.exact.errors import InputError
from loops import each

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
SEEDED = [one for one in vars(approx).values() if inspect.isclass(one) and hasattr(one, "fit")]
SEEDED = [one for one in SEEDED if "random_state" in inspect.signature(one).parameters]


def thresholding(k: Any = 2, **parameters: Any) -> None:
    StochasticHardThresholding(k, **parameters)


def by_stoiht(k: Any = 3, **parameters: Any) -> None:
    stoiht(X, Y, k, **parameters)


def by_hsg_ht(k: Any = 3, **parameters: Any) -> None:
    hsg_ht(X, Y, k, **parameters)


def rbf(**parameters: Any) -> None:
    SAUCSVM(kernel="rbf", **parameters).fit(X, Y)


def survival(**parameters: Any) -> None:
    SurvivalSVM(**parameters).fit(X, 1.0 + np.arange(60) % 7, Y)


# What each of them is called with, one parameter at a time.
REFUSED: dict[Callable[..., Any], str] = {
    ROCSVM: "lam=0.0 lam=-1.0 lam=1e999 lam='small' lam=None loss='cubic' loss=None"
    " method='simplex' method=None method='quasi-newton' tol=0.0 tol='tight' max_time=0"
    " max_time='short' threshold='best' threshold=None l1=-1.0",
    SAUCSVM: "structure=-1.0 structure='big' structure_source='half' kernel='poly'"
    " pairs='nearest:0' pairs='some' anchor_filter='B'",
    ROCSVMCV: "lams=[] lams=['a'] cv=1 cv='many' cv=None choice='worst' n_lams=0 cv_tol=0.0"
    " structure=-1.0 random_state='seed'",
    rbf: "gamma=0.0",
    survival: "lam=0.0 tol=0.0",
    FSAUC: "max_passes=0 step='x' threshold='x'",
    IncompleteROCSVM: "lam=0.0 lam='small' n_pairs='all' n_pairs=0 loss='logistic' optimizer='adam'"
    " step=-1.0 decay=2.0 max_iter=0 tol=-1e-3 threshold='best'",
    IncompleteSAUCSVM: "structure=-1.0 structure='much' max_time=0.0",
    NBAUC: "lam=0.0 lam='small' kernel='precomputed' gamma=0.0 n_landmarks=1.5 landmarks='grid'"
    " rcond=1.0 tol=0.0 max_iter=0 max_time=0.0 threshold='best'",
    NSAUC: "lam=0.0 gamma=-1.0 n_landmarks=0 landmarks='grid' max_epochs=0 t0=0.0 rskip=0 tol=-1.0"
    " max_time=0.0 threshold='best'",
    Nystrom: "kernel='precomputed' gamma=-1.0 n_landmarks=0 landmarks='grid' rcond=2.0",
    OAM: "C=0.0 C='1' update='none' n_buffer=0 max_epochs=0 max_time=-1",
    SOLAM: "radius=0 share='x'",
    SPAM: "l1=-1 schedule='x'",
    SubsampledRankSVM: "share=0.0 share=1.5 max_rows=1 lam=0.0",
    linear_svm: "C=0.0",
    kernel_svm: "C=0.0 kernel='poly' gamma=-1.0",
    rfauc: "gamma=0.0 n_features=0 seed=-1 seed='one' seed=0.5 seed=True",
    noam: "seed=-1 seed='one' seed=0.5 seed=True",
    nsolam: "seed=-1 seed='one' seed=0.5 seed=True",
    TruncatedNewton: "tol=0.0 max_iter=0 forcing=1.0 forcing=0.0 max_cg=0 max_time=-1.0"
    " gradient_tol=-1.0 drawn=-1",
    Adamax: "step=0.0 step='fast' decay=1.5 tol=-1.0 step_tol=-1.0 max_iter=0 max_iter=2.5"
    " keep='first' max_time=0.0 beta1=1.0 beta2=-0.1 variant='roclab'",
    thresholding: "k=0 k=2.0 n_blocks=0 block_size=0 step=0.0 step='long' max_epochs=0 tol=-1.0"
    " keep='first' mode='wrong' max_time=0.0",
    by_stoiht: "n_blocks=0 step='x' step=-1 max_epochs=0 intercept='x' intercept=1e999 k=0"
    " positive=3",
    by_hsg_ht: "first=0 ratio=1.0 ratio=0 step='x' step=0 max_passes=0 mode='x' k=0 intercept='x'",
}


@each("call", REFUSED, ids=lambda call: call.__name__)
def test_a_parameter_out_of_its_range_is_refused_by_its_name(call: Callable[..., Any]) -> None:
    for word in REFUSED[call].split():
        name, _, value = word.partition("=")
        with pytest.raises(InputError, match=name):
            made = call(**{name: literal_eval(value)})
            if hasattr(made, "fit"):
                clone(made).fit(X, Y)
            pytest.fail(f"{word} is taken")


@each("kind", SEEDED, ids=lambda kind: kind.__name__)
def test_a_negative_seed_is_refused_by_its_name(kind: type) -> None:
    with pytest.raises(InputError, match="random_state must be >= 0, not -1"):
        kind(random_state=-1).fit(X, Y)


def test_parameters_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InputError):
        IncompleteROCSVM(n_pairs=2000, replace=False).fit(X, Y)
    with pytest.raises(InputError):
        Nystrom(landmarks="stratified").fit(X)
    with pytest.raises(InputError):
        SPAM(step=1e6, schedule="constant").fit(X, Y)
    with pytest.raises(InputError, match="not both"):
        thresholding(n_blocks=2, block_size=3)
    with pytest.raises(InputError, match="61 blocks"):
        by_stoiht(n_blocks=61)
    for bad in ({"lam": 0.0}, {"t0": 0.0}, {"rskip": 0}):
        with pytest.raises(InputError):
            NSAUC(**bad).partial_fit(X, Y, classes=[False, True])
    assert rfauc(seed=np.random.RandomState(0)).fit(X, Y).score(X, Y) > 0.5
    assert SHTAUC(k=1).fit(X, Y).score(X, Y) > 0.5
