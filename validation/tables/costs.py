"""CPU minutes of the experiments, all parts together, measured once: for estimates and the order.

They stand apart from the experiments so that a new measurement makes no finished part invalid.
Those of "quick" are sums over all parts of one run. Those of "full" are, for each kind of part (a
set, a method, a size), the mean of those that were run times their number: 1,728 of 2,072 parts,
219 of 404 minutes. The kinds that were not run, in Nonlinear, Tables 2 and 3, count as the mean of
that experiment's others.
"""

from __future__ import annotations

CPU_MINUTES: dict[str, dict[str, float]] = {
    "scaling-up-table-1": {"quick": 0.2, "full": 4.0},
    "scaling-up-table-2": {"quick": 4.8, "full": 19.0},
    "scaling-up-table-3": {"quick": 0.8, "full": 60.0},
    "sauc-toy-data": {"quick": 0.1, "full": 0.1},
    "sauc-toy": {"quick": 0.4, "full": 21.0},
    "sauc-real": {"quick": 0.9, "full": 47.0},
    "sauc-geometry": {"quick": 0.1, "full": 0.1},
    "sauc-neighbours": {"quick": 0.2, "full": 14.0},
    "sauc-lambda": {"quick": 0.1, "full": 0.2},
    "sht-synthetic": {"quick": 1.9, "full": 48.0},
    "sht-genes": {"quick": 6.2, "full": 54.0},
    "sht-convergence": {"quick": 0.2, "full": 2.0},
    "nonlinear-table-1": {"quick": 0.1, "full": 0.1},
    "nonlinear-batch": {"quick": 3.9, "full": 90.0},
    "nonlinear-online": {"quick": 0.8, "full": 44.0},
}
"""Experiment to profile to minutes."""
