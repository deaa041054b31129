"""The fuzzer: a kind makes one hard problem from a seed and judges every claim about it.

    python tests/helpers/fuzzing.py 17 18 500:600       reruns these seeds and prints what they do
    python tests/helpers/fuzzing.py core 0:1000         the same for the kinds of `CORE`
    python tests/helpers/fuzzing.py pairs 0:300         and for those of `PAIRS`
    python tests/helpers/fuzzing.py routes 0:1000       and for those of `ROUTES`
    python tests/helpers/fuzzing.py parted 0:200        and for those of `PARTED`

A new kind is one function in a list of `KINDS`: it takes a random generator and returns the `Found`
of what was claimed. Input that is refused with `InputError` is counted; anything else that is
raised is a fault.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from aucert.exact import InputError, TooLargeError


@dataclass
class Found:
    """What one problem showed.

    Attributes
    ----------
    name : str
    made, refused : int
        Claims made, and refusals.
    false : list of str
        What is false in the claims.
    """

    name: str
    made: int = 0
    refused: int = 0
    false: list[str] = field(default_factory=list)

    def judged(self, wrong: list[str]) -> Found:
        """Count one claim and what is wrong with it."""
        self.made += 1
        self.false += wrong
        return self


Kind = Callable[[np.random.Generator, Found], object]


@dataclass
class Tally:
    """Counts of many problems, by kind."""

    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)

    def add(self, kind: str, seed: int, found: Found) -> None:
        """Count one problem."""
        self.made[kind] += found.made
        self.refused[kind] += found.refused
        self.wrong[kind] += bool(found.false)
        self.false += [f"seed {seed}, {kind}: {found.name}: {text}" for text in found.false]

    def __str__(self) -> str:
        """Return the counts, one line a kind, and every false claim with its seed."""
        kinds = sorted(self.made | self.refused | self.wrong)
        lines = [
            f"{kind:14} made {self.made[kind]:5} refused {self.refused[kind]:4} "
            f"false {self.wrong[kind]:3}"
            for kind in kinds
        ]
        lines.append(
            f"{'all':14} made {self.made.total():5} refused {self.refused.total():4} "
            f"false {self.wrong.total():3}"
        )
        return "\n".join(lines + self.false)


def run(seeds: Iterable[int], kinds: list[Kind]) -> Tally:
    """Return the tally of the problems of these seeds; seed s is of kind s modulo their number."""
    tally = Tally()
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        tally.add(kind.__name__, seed, one(seed, kind))
    return tally


def one(seed: int, kind: Kind) -> Found:
    """Return what the problem of one seed shows."""
    found = Found("not made")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)  # overflow, or something divided by 0
            kind(np.random.default_rng([1618, seed]), found)
    except (InputError, TooLargeError):
        found.refused += 1
    except Exception as error:  # whatever it is: nothing but a refusal may be raised
        found.false.append(f"{type(error).__name__}: {error}")
    return found


def seeds_of(arguments: list[str]) -> list[int]:
    """Return the seeds named: numbers, and ranges like 500:600."""
    ends = [argument.partition(":") for argument in arguments]
    return [seed for a, _, b in ends for seed in range(int(a), int(b) if b else int(a) + 1)]


if __name__ == "__main__":
    from fuzz_kinds import KINDS
    from fuzz_ordered import PAIRS
    from fuzz_partition_proofs import PARTED
    from fuzz_penalties import CORE
    from fuzz_routes import ROUTES

    begin = time.process_time()
    named = {"core": CORE, "pairs": PAIRS, "parted": PARTED, "routes": ROUTES}
    chosen = named.get(sys.argv[1] if len(sys.argv) > 1 else "", KINDS)
    seeds = sys.argv[1:] if chosen is KINDS else sys.argv[2:]
    tally = run(seeds_of(seeds), chosen)
    print(tally, f"{time.process_time() - begin:.1f} s", sep="\n")
    sys.exit(bool(tally.false))
