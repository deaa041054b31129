"""All estimators: scikit-learn's own checks, progress, limits, a search, saving, streams."""

import inspect
import warnings
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from aucert import approx, exact
from aucert.approx import FSAUC, NSAUC, OAM, SHTAUC, SOLAM, SPAM, Nystrom, load_model, save_model
from aucert.approx.landmarks import LANDMARKS
from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM, RankingSVM, SurvivalSVM, SurvivalSVMCV
from aucert.exact.errors import InputError
from aucert.exact.estimators import saving
from aucert.exact.estimators.base import AUCClassifier
from aucert.exact.spaces.kernels import Gaussian
from loops import each, refuses

SLOW = [SHTAUC(), approx.NBAUC(), OAM(), ROCSVMCV(n_lams=2, cv=2), SurvivalSVM()]
RELEASE = [
    *(SAUCSVM, ROCSVMCV, RankingSVM, SurvivalSVMCV, NSAUC, SPAM, SOLAM, FSAUC, Nystrom),
    *(approx.IncompleteROCSVM, approx.IncompleteSAUCSVM, approx.RankSVM, approx.NSVMSGD2),
    approx.SubsampledRankSVM,
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
    approx.NBAUC(landmarks="uniform", n_landmarks=7),
    SPAM(l1=0.0, average=True),
    OAM(update="gradient", average=True),
    NSAUC(landmarks="leverage"),
    *(Nystrom(landmarks=landmarks, n_landmarks=5) for landmarks in LANDMARKS),
]
CHECKED = [
    ROCSVM(),
    *(pytest.param(model, marks=pytest.mark.slow) for model in SLOW),
    *(pytest.param(kind(), marks=pytest.mark.release) for kind in RELEASE),
    *(pytest.param(model, marks=pytest.mark.release) for model in VARIANTS),
]


@pytest.mark.parametrize("model", CHECKED, ids=str)
def test_it_keeps_scikit_learns_contract(model: Any) -> None:
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
    assert {ROCSVM, *map(type, SLOW), *RELEASE} == public


RNG = np.random.default_rng(0)
Y = np.arange(120) % 3 == 0
X = RNG.normal(size=(120, 4)) + 0.8 * Y[:, None]
FRESH = RNG.normal(size=(15, 4))
SEARCHED = {
    SPAM: {"l1": [0.0, 1e-2]},
    approx.IncompleteROCSVM: {"lam": [0.05, 0.5]},
    approx.IncompleteSAUCSVM: {"structure": [0.0, 5.0]},
    approx.NBAUC: {"lam": [1e-2, 1e-1]},
    NSAUC: {"lam": [1e-2, 1e-1]},
    OAM: {"C": [1e-3, 1e-2]},
    approx.NSVMSGD2: {"lam": [1e-2, 1e-1]},
    approx.RankSVM: {"lam": [1e-2, 1e-1]},
    SHTAUC: {"k": [1, 3]},
    SOLAM: {"radius": [0.3, 3.0]},
    FSAUC: {"radius": [0.3, 3.0]},
    approx.SubsampledRankSVM: {"lam": [1e-2, 1e-1]},
}
FAST = {"max_epochs": 20, "n_landmarks": 10, "max_passes": 3, "max_rows": 60}
STREAMS = [NSAUC, approx.NSVMSGD2, OAM, FSAUC, SPAM, SOLAM]  # by default the first and the last
DRAWING = [m for m in SEARCHED if m not in (approx.RankSVM, SHTAUC, approx.SubsampledRankSVM)]


def make(model: type, **parameters: Any):
    known = inspect.signature(model).parameters
    fast = {name: value for name, value in FAST.items() if name in known and model is not SHTAUC}
    seed = {"random_state": 0} if "random_state" in known else {}
    return model(**{**fast, **seed, **parameters})


@each("kind", [int, np.random.RandomState])
@each("model", DRAWING, ids=lambda m: m.__name__)
def test_a_random_state_gives_the_same_model_again(model: type, kind: type) -> None:
    fitted = [make(model, random_state=kind(seed)).fit(X, Y) for seed in (7, 7, 8)]
    one, again, other = (one.decision_function(FRESH) for one in fitted)
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@each("model", [m for m in SEARCHED if m is not approx.SubsampledRankSVM], ids=lambda m: m.__name__)
def test_rows_whose_squares_overflow_are_refused(model: type) -> None:
    with pytest.raises(InputError, match="overflow"):
        make(model).fit(X * 1e200, Y)  # in a kernel machine of all rows they are merely far apart


@each("model", STREAMS)
def test_a_stream_goes_on_with_more_rows_and_its_seed_names_it(model: type) -> None:
    def stream(seed: int):
        full = {"n_buffer": 9} if model is OAM else {}  # a buffer that keeps all draws nothing
        fresh = make(model, random_state=seed, **full)
        fresh.partial_fit(X[:60], Y[:60], classes=[False, True])
        steps, before = fresh.n_iter_, fresh.coef_.copy()
        fresh.partial_fit(X[60:], Y[60:])
        assert fresh.n_iter_ > steps and not np.array_equal(fresh.coef_, before)
        assert not hasattr(fresh, "status_")
        return fresh.decision_function(FRESH)

    np.testing.assert_array_equal(stream(1), stream(1))
    if model in (NSAUC, approx.NSVMSGD2, OAM):  # the others step on each row in its order
        assert not np.array_equal(stream(1), stream(2))


@each("model", STREAMS)
def test_batches_of_one_class_are_taken(model: type) -> None:
    fitted = make(model).partial_fit(X[Y], Y[Y], classes=[False, True])
    assert fitted.intercept_ == 0.0
    before = fitted.partial_fit(X, Y).intercept_.copy()
    assert before != 0.0
    fitted.partial_fit(X[Y], Y[Y])
    assert model not in (SPAM, SOLAM, FSAUC) or fitted.intercept_ == before
    assert fitted.score(X, Y) > 0.6


@each("model", STREAMS)
def test_a_batch_that_does_not_fit_is_refused_and_changes_nothing(model: type) -> None:
    for word, more in (("first call", {}), ("two labels", {"classes": [0, 1, 2]})):
        refuses(word, make(model).partial_fit, X, Y, **more)
    fitted = make(model).fit(X, Y)
    before = fitted.decision_function(X)
    for word, rows, labels, more in (
        ("the label 3 is not among", X, 3 * Y, {}),
        ("since the first call", X, Y, {"classes": [1, 2]}),
        ("features", X[:, :2], Y, {}),
        ("overflow", X * 1e200, Y, {}),
        ("overflow", sp.csr_matrix(X * 1e200), Y, {}),
    ):
        refuses(word, fitted.partial_fit, rows, labels, **more, error=ValueError)
    np.testing.assert_array_equal(fitted.decision_function(X), before)


SAVED = [
    *(make(model) for model in SEARCHED),
    approx.NBAUC(kernel="laplacian", landmarks="leverage", n_landmarks=10, random_state=0),
    *(approx.rfauc(seed=0), approx.noam(seed=0), approx.nsolam(seed=0)),
    make_pipeline(StandardScaler(), Nystrom(n_landmarks=9, random_state=0), ROCSVM()),
]


@each("model", SAVED, ids=lambda m: type(m).__name__)
def test_a_saved_model_comes_back_bit_for_bit(model, tmp_path: Path) -> None:
    model = clone(model).fit(X, Y)
    save_model(model, tmp_path / "m.npz")
    for load in (load_model, exact.load_model):
        loaded = load(tmp_path / "m.npz")
        assert repr(loaded) == repr(model)
        scores = loaded.decision_function(FRESH), model.decision_function(FRESH)
        np.testing.assert_array_equal(*scores)


@each("model", STREAMS)
def test_a_loaded_stream_goes_on_or_says_that_it_cannot(model: type, tmp_path: Path) -> None:
    begun = make(model).partial_fit(X[:60], Y[:60], classes=[False, True])
    save_model(begun, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    begun.partial_fit(X[60:], Y[60:])
    if model in (SPAM, SOLAM, FSAUC):  # their state holds the rows
        refuses("cannot go on", loaded.partial_fit, X[60:], Y[60:])
        return
    loaded.partial_fit(X[60:], Y[60:])
    np.testing.assert_array_equal(loaded.coef_, begun.coef_)
    assert loaded.n_iter_ == begun.n_iter_
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(saving.KNOWN, "Stream")
        with pytest.raises(InputError, match="not known here") if model is OAM else nullcontext():
            load_model(tmp_path / "m.npz")
    with pytest.raises(InputError, match="RandomState"):
        save_model(make(model, random_state=np.random.RandomState(0)).fit(X, Y), tmp_path / "n")


@each("kind", [SHTAUC, SPAM, SOLAM, FSAUC])
def test_bounds_of_a_loaded_model_are_as_saved_until_it_is_fitted_again(kind, tmp_path) -> None:
    model = kind(random_state=0).fit(X, Y)
    save_model(model, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert not model.solution_.as_saved and loaded.solution_.as_saved
    assert (loaded.gap_, loaded.lower_bound_) == (model.gap_, model.lower_bound_)
    save_model(loaded, tmp_path / "again.npz")
    assert load_model(tmp_path / "again.npz").solution_.as_saved
    assert not loaded.fit(X, Y).solution_.as_saved
    if kind is not SHTAUC:
        return
    model = SHTAUC(2, random_state=0).fit(X, Y)
    model.lower_bound_, model.gap_, model.proved_ = model.objective_, 0.0, True  # a forged file
    save_model(model, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")  # a judge takes nothing over from it
    with pytest.raises(InputError):
        loaded.judge(exact.best_subset(X, Y, 1))
    loaded.judge(replace(exact.best_subset(X, Y, 2), lower=0.1))  # as of a stopped search
    assert not loaded.proved_ and loaded.lower_bound_ == 0.1


@each("chain", [approx.rfauc, approx.noam, approx.nsolam, approx.linear_svm, approx.kernel_svm])
def test_the_pipelines_rank_with_their_defaults(chain) -> None:
    model = chain(seed=0) if "seed" in inspect.signature(chain).parameters else chain()
    assert isinstance(model, Pipeline) and model.fit(X, Y).score(X, Y) > 0.7


@each("gamma", [None, 0.2])
def test_the_random_features_mean_our_gaussian(gamma: float | None) -> None:
    features = approx.rfauc(gamma=gamma, n_features=4000, seed=0)[:-1].fit(X[:40]).transform(X[:40])
    rows = StandardScaler().fit_transform(X[:40])
    wanted = Gaussian(gamma or 1 / 4)(rows, rows)
    assert np.abs(features @ features.T - wanted).max() < 5 / np.sqrt(4000)


CHAINS = [
    (approx.noam(0.05, 0.3, 15, "gradient", 20, seed=2), OAM(0.05, update="gradient", n_buffer=20)),
    (approx.nsolam(0.3, 0.3, 15, 0.2, 3, seed=2), SOLAM(0.3, step=0.2, max_passes=3)),
    (
        approx.incomplete_sauc(0.01, 2.0, gamma=0.3, n_landmarks=15, n_pairs=300, seed=2),
        approx.IncompleteSAUCSVM(0.01, 2.0, n_pairs=300),
    ),
]


@each(("chain", "learner"), CHAINS)
def test_a_pipeline_is_its_learner_on_nystrom_features(chain: Pipeline, learner) -> None:
    features = Nystrom(gamma=0.3, n_landmarks=15, landmarks="kmeans", random_state=2)
    Z = features.fit_transform(StandardScaler().fit_transform(X), Y)
    alone = clone(learner).set_params(random_state=2).fit(Z, Y)
    np.testing.assert_allclose(chain.fit(X, Y)[-1].coef_, alone.coef_, rtol=1e-9)


@each("model", SEARCHED, ids=lambda m: m.__name__)
def test_it_can_be_searched_over_and_sparse_rows_give_the_dense_scores(model: type) -> None:
    public = (getattr(approx, name) for name in approx.__all__)
    assert {x for x in public if inspect.isclass(x) and issubclass(x, AUCClassifier)} == {*SEARCHED}
    search = GridSearchCV(make(model), SEARCHED[model], scoring="roc_auc", cv=2).fit(X, Y)
    assert search.best_score_ > 0.75
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = make(model).fit(thin, Y), make(model).fit(sp.csr_matrix(thin), Y)
    one, other = dense.decision_function(thin), sparse.decision_function(sp.csr_matrix(thin))
    # A descent that is stopped early ends elsewhere after a rounding.
    loose = 0.05 if isinstance(dense, approx.IncompleteROCSVM) else 1e-5
    np.testing.assert_allclose(other, one, atol=loose * np.ptp(one))


@each("model", [*SEARCHED, ROCSVM, SAUCSVM], ids=lambda m: m.__name__)
def test_progress_is_shown_and_a_limit_of_time_taken_and_change_nothing(model: type) -> None:
    plain, seen = make(model).fit(X, Y), []
    watched = clone(make(model, max_time=1e3)).fit(X, Y, callback=seen.append)
    assert seen and all(a.n_iter <= b.n_iter for a, b in pairwise(seen))
    np.testing.assert_array_equal(watched.coef_, plain.coef_)
    assert plain.score(X, Y) > 0.6
    for wrong in (0.0, -1.0, "long"):
        refuses("max_time", make(model, max_time=wrong).fit, X, Y)
    if model in (SPAM, SOLAM, FSAUC):  # no pass is begun after the time
        with pytest.warns(ConvergenceWarning, match="time ran out"):
            short = make(model, max_time=1e-12).fit(X, Y)
        assert short.status_ == "time_limit" == short.solution_.status
        assert short.n_iter_ < plain.n_iter_ and plain.status_ == "iteration_limit"
