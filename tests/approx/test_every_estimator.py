"""What all estimators owe their users: progress, a limit of time, a search, saving, no warnings."""

from __future__ import annotations

import inspect
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from aucert import approx
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
    RankSVM,
    SubsampledRankSVM,
)
from aucert.exact import ROCSVM, SAUCSVM
from aucert.exact.errors import InputError
from aucert.exact.estimators.base import AUCClassifier
from loops import each

RNG = np.random.default_rng(0)
Y = np.arange(120) % 3 == 0
X = RNG.normal(size=(120, 4)) + 0.8 * Y[:, None]

SEARCHED = {
    FSAUC: {"radius": [0.3, 3.0]},
    IncompleteROCSVM: {"lam": [0.05, 0.5]},
    IncompleteSAUCSVM: {"structure": [0.0, 5.0]},
    NBAUC: {"lam": [1e-2, 1e-1]},
    NSAUC: {"lam": [1e-2, 1e-1]},
    NSVMSGD2: {"lam": [1e-2, 1e-1]},
    OAM: {"C": [1e-3, 1e-2]},
    RankSVM: {"lam": [1e-2, 1e-1]},
    SHTAUC: {"k": [1, 3]},
    SOLAM: {"radius": [0.3, 3.0]},
    SPAM: {"l1": [0.0, 1e-2]},
    SubsampledRankSVM: {"lam": [1e-2, 1e-1]},
}
FAST = {"max_epochs": 20, "n_landmarks": 10, "max_passes": 3, "max_rows": 60}


def make(model: type, **parameters):
    known = inspect.signature(model).parameters
    fast = {name: value for name, value in FAST.items() if name in known and model is not SHTAUC}
    seed = {"random_state": 0} if "random_state" in known else {}
    return model(**{**fast, **seed, **parameters})


def test_no_estimator_is_forgotten_here() -> None:
    public = (getattr(approx, name) for name in approx.__all__)
    found = {x for x in public if inspect.isclass(x) and issubclass(x, AUCClassifier)}
    assert found == set(SEARCHED)


@each("model", SEARCHED, ids=lambda m: m.__name__)
def test_it_can_be_searched_over(model: type) -> None:
    search = GridSearchCV(make(model), SEARCHED[model], scoring="roc_auc", cv=2).fit(X, Y)
    assert search.best_score_ > 0.75


@each("model", SEARCHED, ids=lambda m: m.__name__)
def test_sparse_rows_give_the_dense_scores(model: type) -> None:
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = make(model).fit(thin, Y), make(model).fit(sp.csr_matrix(thin), Y)
    one, other = dense.decision_function(thin), sparse.decision_function(sp.csr_matrix(thin))
    # A descent that is stopped early ends elsewhere after a rounding.
    loose = 0.05 if isinstance(dense, IncompleteROCSVM) else 1e-5
    np.testing.assert_allclose(other, one, atol=loose * np.ptp(one))


@each("model", [*SEARCHED, ROCSVM, SAUCSVM], ids=lambda m: m.__name__)
def test_progress_is_shown_and_changes_nothing(model: type) -> None:
    plain, seen = make(model).fit(X, Y), []
    watched = make(model).fit(X, Y, callback=seen.append)
    assert seen and all(a.n_iter <= b.n_iter for a, b in pairwise(seen))
    np.testing.assert_array_equal(watched.coef_, plain.coef_)


@each("model", [*SEARCHED, ROCSVM, SAUCSVM], ids=lambda m: m.__name__)
def test_every_estimator_takes_a_limit_of_time(model: type) -> None:
    assert clone(make(model, max_time=100.0)).fit(X, Y).score(X, Y) > 0.6
    for wrong in (0.0, -1.0, "long"):
        with pytest.raises(InputError, match="max_time"):
            make(model, max_time=wrong).fit(X, Y)


@each("model", [SPAM, SOLAM, FSAUC])
def test_no_pass_is_begun_after_the_time(model: type) -> None:
    with pytest.warns(ConvergenceWarning, match="time ran out before the last pass"):
        short = make(model, max_time=1e-12).fit(X, Y)
    assert short.status_ == "time_limit" == short.solution_.status
    whole = make(model, max_time=1e3).fit(X, Y)
    assert short.n_iter_ < whole.n_iter_ and whole.status_ == "iteration_limit"
    assert make(model).fit(X, Y).objective_ == whole.objective_


@each("model", [NSAUC, NSVMSGD2, OAM, SPAM, SOLAM])
def test_the_online_ones_go_on_with_more_rows(model: type) -> None:
    first = make(model).partial_fit(X[:60], Y[:60], classes=[False, True])
    steps, before = first.n_iter_, first.coef_.copy()
    first.partial_fit(X[60:], Y[60:])
    assert first.n_iter_ > steps and not np.array_equal(first.coef_, before)
    assert not hasattr(first, "status_")


def test_wide_rows_cost_ranksvm_no_more_than_their_number() -> None:
    wide = np.random.default_rng(1).normal(size=(40, 900))
    wide[:, 0] += 2 * Y[:40]
    model = RankSVM(1e-3).fit(wide, Y[:40])
    assert model.certificate_.reaches(1e-9) and model.coef_.shape == (1, 900)
    again = ROCSVM(1e-3, loss="squared_hinge").fit(wide, Y[:40])
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)


@each("chain", [approx.rfauc, approx.noam, approx.nsolam, approx.linear_svm])
def test_the_pipelines_rank_with_their_defaults(chain) -> None:
    model = chain(seed=0)
    assert isinstance(model, Pipeline) and model.fit(X, Y).score(X, Y) > 0.7


@each("model", [m for m in SEARCHED if m is not SubsampledRankSVM], ids=lambda m: m.__name__)
def test_rows_whose_squares_overflow_are_refused(model: type) -> None:
    with pytest.raises(InputError, match="overflow: rescale it"):
        make(model).fit(X * 1e200, Y)  # in a kernel machine of all rows they are merely far apart


@each("model", [NSAUC, NSVMSGD2, OAM, SPAM, SOLAM, FSAUC])
def test_a_batch_whose_squares_overflow_is_refused_and_changes_nothing(model: type) -> None:
    fitted = make(model).fit(X, Y)
    before = fitted.decision_function(X)
    for rows in (X * 1e200, sp.csr_matrix(X * 1e200)):
        with pytest.raises(InputError, match="squares overflow: rescale it"):
            fitted.partial_fit(rows, Y)
    np.testing.assert_array_equal(fitted.decision_function(X), before)
