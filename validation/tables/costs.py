"""CPU minutes of the experiments, all parts together, measured once: for estimates and the order.

They stand apart from the experiments so that a new measurement makes no finished part invalid.
Those of "quick" are sums over all parts. Those of "full" are one part of each kind times the number
of parts; for ScalingUp Tables 2 and 3, SHT's tables and Nonlinear's they are the larger and older
times by the clock of one part of each kind, halved since that clock ran on a busy machine.
"""

from __future__ import annotations

CPU_MINUTES: dict[str, dict[str, float]] = {
    "scaling-up-table-1": {"quick": 0.2, "full": 12.0},
    "scaling-up-table-2": {"quick": 4.8, "full": 76.0},
    "scaling-up-table-3": {"quick": 0.8, "full": 65.0},
    "sauc-toy-data": {"quick": 0.1, "full": 0.2},
    "sauc-toy": {"quick": 0.4, "full": 30.0},
    "sauc-real": {"quick": 0.9, "full": 85.0},
    "sauc-geometry": {"quick": 0.1, "full": 0.3},
    "sauc-neighbours": {"quick": 0.2, "full": 20.0},
    "sauc-lambda": {"quick": 0.1, "full": 0.2},
    "sht-synthetic": {"quick": 1.9, "full": 115.0},
    "sht-genes": {"quick": 6.2, "full": 75.0},
    "sht-convergence": {"quick": 0.2, "full": 2.6},
    "nonlinear-table-1": {"quick": 0.1, "full": 0.1},
    "nonlinear-batch": {"quick": 3.9, "full": 135.0},
    "nonlinear-online": {"quick": 0.8, "full": 90.0},
}
"""Experiment to profile to minutes."""
