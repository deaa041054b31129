"""Frames as people have them: encoders in pipelines, categories, nullable columns, polars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucert.approx import SPAM, RankSVM
from aucert.exact import ROCSVM, save_model, solve
from aucert.exact.errors import InputError
from loops import each

RNG = np.random.default_rng(1)
CITY = RNG.choice(["Bern", "Oslo", "Rome"], 60)
AGE = RNG.integers(20, 70, 60)
Y = (AGE + 10 * (CITY == "Rome") + RNG.normal(0, 10, 60) > 50).astype(int)
PLAIN = np.column_stack([*(CITY == c for c in ("Bern", "Oslo", "Rome")), (AGE - 45.0) / 15])


def encoded(city: object, age: object) -> ColumnTransformer:
    parts = [("city", OneHotEncoder(), city), ("age", StandardScaler(), age)]
    return ColumnTransformer(parts)


def same_order(model: object, table: object) -> bool:
    """Whether the model ranks as one on columns that were encoded by hand."""
    scaled = PLAIN.copy()
    scaled[:, 3] = (AGE - AGE.mean()) / AGE.std()
    scores = scaled @ solve(scaled, Y, 0.01).w
    found = model.decision_function(table) - model[-1].intercept_[0]  # type: ignore[attr-defined]
    return bool(np.allclose(found, scores, atol=1e-5))


def test_a_pipeline_with_a_transformer_of_any_code_is_not_saved(tmp_path: Path) -> None:
    model = make_pipeline(encoded([0], [1]), ROCSVM()).fit(np.array([CITY, AGE], object).T, Y)
    with pytest.raises(InputError, match=r"ColumnTransformer.*; save the step after it"):
        save_model(model, tmp_path / "m.npz")
    assert not (tmp_path / "m.npz").exists()


def test_pandas_categories_and_nullable_columns() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"city": pandas.Categorical(CITY), "age": AGE})
    model = make_pipeline(encoded(["city"], ["age"]), ROCSVM(lam=0.01)).fit(table, Y)
    assert same_order(model, table[["age", "city"]])
    nullable = pandas.DataFrame({"age": AGE, "rome": CITY == "Rome"})
    nullable = nullable.astype({"age": "Int64", "rome": "boolean"})
    fitted = ROCSVM(lam=0.1).fit(nullable, Y)
    assert fitted.feature_names_in_.tolist() == ["age", "rome"]
    nullable.loc[3, "age"] = pandas.NA
    with pytest.raises(ValueError, match=r"NaN|missing|NA"):
        ROCSVM(lam=0.1).fit(nullable, Y)
    with pytest.raises(InputError, match="'city'"):
        ROCSVM().fit(table, Y)


def test_two_columns_of_one_name_are_refused_by_estimators() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame(PLAIN, columns=["a", "b", "a", "c"])
    for model in (ROCSVM(), RankSVM(), SPAM()):
        with pytest.raises(InputError, match="X has two columns called 'a': rename or drop one"):
            model.fit(table, Y)


def test_polars_frames() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = polars.DataFrame({"city": CITY, "age": AGE})
    model = make_pipeline(encoded(["city"], ["age"]), ROCSVM(lam=0.01)).fit(table, Y)
    assert same_order(model, table)
    numbers = table.select("age")
    fitted = ROCSVM(lam=0.1).fit(numbers, Y)
    assert fitted.feature_names_in_.tolist() == ["age"]


@each("method", ["isotonic", "sigmoid"])
def test_calibration_gives_probabilities_in_the_order_of_the_scores(method: str) -> None:
    model = CalibratedClassifierCV(ROCSVM(lam=0.1), method=method, cv=3, ensemble=False)
    shares = model.fit(PLAIN, Y).predict_proba(PLAIN)[:, 1]
    assert ((shares >= 0) & (shares <= 1)).all()
    order = np.argsort(ROCSVM(lam=0.1).fit(PLAIN, Y).decision_function(PLAIN))
    assert (np.diff(shares[order]) >= -1e-9).all()
    assert not hasattr(ROCSVM(), "predict_proba")
