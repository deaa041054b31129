"""A thousand hard values, minorants and claims of the core types: none is false.

`python tests/helpers/fuzzing.py core SEED` reruns one; `fuzzing.py core 0:1000` all. Those of
ordered pairs, tails, zeros and statistics are `fuzzing.py pairs 0:300`.
"""

from __future__ import annotations

import pytest

from fuzz_core import CORE, PAIRS
from fuzzing import run
from loops import each

CHUNKS, SIZE = 10, 100


@pytest.mark.release
@each("chunk", range(CHUNKS))
def test_nothing_false_is_claimed_in_a_thousand_hard_cores(chunk: int) -> None:
    tally = run(range(SIZE * chunk, SIZE * (chunk + 1)), CORE)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= SIZE


def test_nothing_false_is_claimed_in_a_few_hard_cores() -> None:
    tally = run(range(5000, 5020), CORE)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= 50


@pytest.mark.release
@each("chunk", range(3))
def test_nothing_false_is_claimed_in_three_hundred_solved_pairs(chunk: int) -> None:
    tally = run(range(SIZE * chunk, SIZE * (chunk + 1)), PAIRS)
    print(f"\n{tally}")
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= SIZE


def test_nothing_false_is_claimed_in_a_few_solved_pairs() -> None:
    tally = run(range(5000, 5010), PAIRS)
    assert not tally.false, f"\n{tally}"
    assert tally.made.total() >= 12
