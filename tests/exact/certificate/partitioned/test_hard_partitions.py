"""Four hundred hard problems over partitions, their folds and proof files: nothing is false.

`python tests/helpers/fuzzing.py parted SEED` reruns one.
"""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api import cross_validation as judged
from aucert.exact.certificate.evaluation import Evaluation
from aucert.exact.spaces import partitions as chosen
from fuzz_partitions import PARTED, folds, partitioned
from fuzzing import Kind, one, run
from loops import each

CHUNKS, SIZE = 4, 100

OVERFLOWING = 2166
"""At this seed the pull of a trial step had a square that overflowed, with a warning."""


@pytest.mark.release
@each("chunk", range(CHUNKS))
def test_nothing_false_is_claimed_over_many_hard_partitions(chunk: int) -> None:
    tally = run(range(SIZE * chunk, SIZE * (chunk + 1)), PARTED)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= SIZE


def test_nothing_false_is_claimed_over_a_few_hard_partitions() -> None:
    tally = run([OVERFLOWING, 5001, 5003, 5004], PARTED)
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= 10


def seen(kind: Kind, problems: int = 40) -> bool:
    return any(one(seed, kind).false for seed in range(problems))


def test_a_dual_that_is_raised_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Evaluation.dual
    monkeypatch.setattr(Evaluation, "dual", lambda self, *of: honest(self, *of) * (1 + 1e-6))
    assert seen(partitioned)


@pytest.mark.slow
def test_a_range_of_auc_that_is_no_range_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = judged.auc_within
    monkeypatch.setattr(judged, "auc_within", lambda rows, w, radius: honest(rows, w, 0.0))
    assert seen(folds)


@pytest.mark.slow
def test_rows_in_two_folds_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = chosen.rows_of_fold

    def leaking(side: int, start: int, count: int, *of: int) -> np.ndarray:
        return np.union1d(honest(side, start, count, *of), np.arange(min(count, 1)))

    monkeypatch.setattr(chosen, "rows_of_fold", leaking)
    assert seen(folds)
