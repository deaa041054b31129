from __future__ import annotations

import numpy as np
import pytest

from aucert.validation.benchmarks.approx.online_passes import main, sparse_rows


def test_the_rows_are_of_the_shape_asked_for_and_length_one() -> None:
    X, positive = sparse_rows(300, 2000, 20)
    assert X.shape == (300, 2000)
    assert 19 < X.nnz / 300 <= 20
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    assert 0.2 < positive.mean() < 0.45


@pytest.mark.slow
def test_the_tables_have_every_method_and_its_ratio(capsys) -> None:
    main("--rows 200 --features 300 --nonzeros 10 --repeats 1 --dims 200 --batches 1".split())
    shown = capsys.readouterr().out
    for name in ("SGDClassifier l1", "SPAM l1=1e-05", "SOLAM R=1", "FSAUC R=1000", "H_50 b=1"):
        assert name in shown
    assert shown.count("x SGD") == 12
