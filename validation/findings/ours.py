"""What this project states of its own figures, judged from the numbers of the same pages.

Where a finding is capped because our rival is a better program than the paper's, what that program
comes to is a statement of ours, and stands here.
"""

from __future__ import annotations

from ..claims.claim import Context, Outcome
from ..claims.recorded import enter
from ..claims.verdicts import Verdict
from .judging import Judged, above, turned
from .numbers import numbers_of
from .papers.scaling_up_judges import feasible, seconds


def _shown(found: Judged, table: str) -> Outcome:
    """Return that it holds where the intervals show it; else it fails to be shown."""
    return Outcome(
        Verdict.HOLDS if found.verdict == Verdict.BORNE_OUT else Verdict.FAILS,
        found.measured,
        details={"judged from": f"{table}: {numbers_of(table).source}"},
        tolerance=found.test,
        turned_by=found.turned_by,
    )


def all_pairs_take_less_time_than_drawn_pairs(context: Context) -> Outcome:
    table = "scaling-up-table-1"
    return _shown(seconds(numbers_of(table), "s, incomplete", "s, full"), table)


def all_pairs_are_feasible_beyond_10000(context: Context) -> Outcome:
    table = "scaling-up-table-1"
    return _shown(feasible(numbers_of(table)), table)


def all_pairs_take_less_time_on_real_sets(context: Context) -> Outcome:
    table = "scaling-up-table-3"
    return _shown(seconds(numbers_of(table), "s", "s, all pairs"), table)


def sht_fig_1_with_one_step_for_all_shares(context: Context) -> Outcome:
    table = "sht-fig-1"
    slower = numbers_of(table).test("one step for all r: epochs at r = 0.05 minus at r = 0.5")
    return _shown(above([turned(slower)], unit=" epochs"), table)


def enter_ours() -> None:
    """Enter the statements; once."""
    judges = (
        all_pairs_take_less_time_than_drawn_pairs,
        all_pairs_are_feasible_beyond_10000,
        all_pairs_take_less_time_on_real_sets,
        sht_fig_1_with_one_step_for_all_shares,
    )
    enter({judge.__name__.replace("_", "-"): judge for judge in judges})
