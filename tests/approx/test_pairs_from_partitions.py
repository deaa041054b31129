"""Drawn pairs over partitions: the same pairs as in memory, only the named rows, the same model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.approx import IncompleteROCSVM, IncompleteSAUCSVM, incomplete
from aucert.approx.drawn_pairs import draw_pairs
from aucert.approx.incomplete import certificate_over_all, named_rows
from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import LOSSES
from aucert.exact.spaces.partitions import PartitionedRows
from cutting import cut
from loops import each


def some_rows(n: int = 800) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 3)) + 0.7 * y[:, None], y


def in_parts(places: list[int]) -> PartitionedRows:
    X, y = some_rows()
    return PartitionedRows(cut(X, y, None, places))


@each("places", [[], [5, 5, 300], list(range(0, 800, 7))])
@each("replace", [True, False])
def test_the_same_pairs_are_drawn_and_only_their_rows_fetched(
    places: list[int], replace: bool
) -> None:
    X, y = some_rows()
    held = draw_pairs(y, 90, 4, replace)
    rows, positive, pairs = named_rows(in_parts(places), 90, 4, not replace)
    np.testing.assert_array_equal(rows[pairs.i], X[held.i])
    np.testing.assert_array_equal(rows[pairs.j], X[held.j])
    assert positive[pairs.i].all() and not positive[pairs.j].any()
    assert rows.shape[0] == np.unique(np.concatenate([held.i, held.j])).size


@each("loss", sorted(LOSSES))
def test_the_model_is_that_in_memory_and_its_certificate_holds(loss: str) -> None:
    X, y = some_rows()
    words: dict[str, Any] = {"lam": 0.1, "loss": loss, "step": 0.02, "n_pairs": 300}
    apart = IncompleteROCSVM(**words, random_state=1).fit(in_parts([100, 500]), None)
    held = IncompleteROCSVM(**words, random_state=1).fit(X, y)
    np.testing.assert_allclose(apart.coef_, held.coef_, atol=5e-3)
    assert apart.intercept_ == pytest.approx(held.intercept_, abs=0.05)
    assert apart.n_pairs_ == 300
    best = solve(X, y, 0.1, loss=loss).certificate
    stated = apart.certificate_
    assert stated.primal - stated.gap - stated.rounding <= best.primal <= stated.primal
    # In memory the square's and the squared hinge's dual points are shrunk by their own rule.
    assert stated.gap <= (1.3 if loss == "hinge" else 2.0) * held.certificate_.gap + 1e-3


def test_the_certificate_of_any_weights_is_one_over_all_pairs() -> None:
    X, y = some_rows()
    w = np.array([0.5, 0.1, -0.2])
    stated = certificate_over_all(in_parts([50]), LOSSES["hinge"], 0.1, w)
    z = 1 - (X[y] @ w)[:, None] + (X[~y] @ w)[None]
    assert stated.primal == pytest.approx(np.maximum(z, 0).mean() + 0.05 * w @ w, abs=1e-6)


def test_what_cannot_be_drawn_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = some_rows()
    weighted = PartitionedRows(cut(X, y, np.ones(800), [9]))
    with pytest.raises(InputError, match="whose rows have no weights"):
        IncompleteROCSVM().fit(weighted, None)
    with pytest.raises(InputError, match="give none"):
        IncompleteROCSVM().fit(in_parts([9]), y)
    with pytest.raises(InputError, match="take a sample of the rows"):
        IncompleteSAUCSVM().fit(in_parts([9]), None)
    monkeypatch.setattr(incomplete, "MOST_NUMBERS", 300)
    with pytest.raises(InputError, match=r"draw at most 50 pairs"):
        IncompleteROCSVM().fit(in_parts([9]), None)


@pytest.mark.slow
def test_a_dask_array_is_taken_too() -> None:
    pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    X, y = some_rows()
    words: dict[str, Any] = {"lam": 0.1, "step": 0.02, "random_state": 1}
    apart = IncompleteROCSVM(**words).fit(da.from_array(X, chunks=(200, 3)), y)
    np.testing.assert_allclose(apart.coef_, IncompleteROCSVM(**words).fit(X, y).coef_, atol=5e-3)
