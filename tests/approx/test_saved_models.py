from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert import exact
from aucert.approx import (
    NBAUC,
    NSAUC,
    NSVMSGD2,
    OAM,
    SHTAUC,
    IncompleteROCSVM,
    Nystrom,
    RankSVM,
    load_model,
    noam,
    nsolam,
    rfauc,
    save_model,
)
from aucert.approx.fsauc import FSAUC
from aucert.approx.solam import SOLAM
from aucert.approx.spam import SPAM
from aucert.exact.errors import InputError
from aucert.exact.estimators import saving
from loops import each

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
FRESH = RNG.normal(size=(15, 3))

MODELS = [
    IncompleteROCSVM(0.1, random_state=0),
    RankSVM(),
    NBAUC(n_landmarks=10, random_state=0),
    NBAUC(kernel="laplacian", landmarks="leverage", n_landmarks=10, random_state=0),
    NSAUC(0.01, n_landmarks=10, random_state=0),
    NSVMSGD2(0.01, n_landmarks=10, random_state=0),
    OAM(random_state=0),
    SHTAUC(2, random_state=0),
    rfauc(seed=0),
    noam(seed=0),
    nsolam(seed=0),
    SPAM(random_state=0),
    SOLAM(random_state=0),
    FSAUC(random_state=0),
    make_pipeline(StandardScaler(), Nystrom(n_landmarks=9, random_state=0), exact.ROCSVM()),
]


@each("model", MODELS, ids=lambda m: type(m).__name__)
def test_estimators_of_approx_come_back_bit_for_bit(model, tmp_path: Path) -> None:
    model = clone(model).fit(X, Y)
    save_model(model, tmp_path / "m.npz")
    for load in (load_model, exact.load_model):
        loaded = load(tmp_path / "m.npz")
        assert repr(loaded) == repr(model)
        np.testing.assert_array_equal(
            loaded.decision_function(FRESH), model.decision_function(FRESH)
        )


@each("model", [MODELS[4], MODELS[6]], ids=["NSAUC", "OAM"])
def test_a_stream_goes_on_after_it_was_saved(model, tmp_path: Path) -> None:
    begun = clone(model).partial_fit(X[:30], Y[:30], classes=[False, True])
    save_model(begun, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    for model in (begun, loaded):
        model.partial_fit(X[30:], Y[30:])
    np.testing.assert_array_equal(loaded.coef_, begun.coef_)
    assert loaded.n_iter_ == begun.n_iter_


@each("model", [SPAM(random_state=0), SOLAM(random_state=0)], ids=repr)
def test_a_stream_whose_state_holds_the_rows_says_that_it_cannot_go_on(model, tmp_path) -> None:
    save_model(model.fit(X, Y), tmp_path / "m.npz")
    with pytest.raises(InputError, match="cannot go on: its run was not saved"):
        load_model(tmp_path / "m.npz").partial_fit(X, Y)
    model.partial_fit(X, Y)


def test_a_type_that_is_not_imported_is_named(tmp_path: Path, monkeypatch) -> None:
    save_model(OAM().fit(X, Y), tmp_path / "m.npz")
    monkeypatch.delitem(saving.KNOWN, "Stream")
    with pytest.raises(InputError, match="holds a Stream, which is not known here: import"):
        load_model(tmp_path / "m.npz")


def test_a_generator_as_random_state_is_refused(tmp_path: Path) -> None:
    model = OAM(random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.raises(InputError, match=r"random_state is a RandomState"):
        save_model(model, tmp_path / "m.npz")


@each("kind", [SHTAUC, SPAM, SOLAM, FSAUC])
def test_bounds_of_a_loaded_model_are_as_saved_until_it_is_fitted_again(
    kind: type, tmp_path: Path
) -> None:
    model = kind(random_state=0).fit(X, Y)
    save_model(model, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert not model.solution_.as_saved and loaded.solution_.as_saved
    assert (loaded.gap_, loaded.lower_bound_) == (model.gap_, model.lower_bound_)
    save_model(loaded, tmp_path / "again.npz")
    assert load_model(tmp_path / "again.npz").solution_.as_saved
    assert not loaded.fit(X, Y).solution_.as_saved


def test_judging_a_loaded_model_takes_nothing_over_from_its_file(tmp_path: Path) -> None:
    model = SHTAUC(2, random_state=0).fit(X, Y)
    model.lower_bound_, model.gap_, model.proved_ = model.objective_, 0.0, True  # a forged file
    save_model(model, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert loaded.proved_ and loaded.solution_.as_saved
    bound = exact.best_subset(X, Y, 1)
    with pytest.raises(InputError):
        loaded.judge(bound)
    bound = replace(exact.best_subset(X, Y, 2), lower=0.1)  # as of a search that was stopped
    loaded.judge(bound)
    assert not loaded.proved_ and loaded.lower_bound_ == 0.1
