"""CPU minutes of the experiments, all parts together, measured once: for estimates and the order.

They are sums over all parts: 19 minutes for "quick", 365 for "full", those of the evidence.
"""

from __future__ import annotations

# Experiment to profile to minutes.
CPU_MINUTES: dict[str, dict[str, float]] = {
    "scaling-up-table-1": {"quick": 0.3, "full": 3.4},
    "scaling-up-table-2": {"quick": 5.8, "full": 14.0},
    "scaling-up-table-3": {"quick": 0.9, "full": 49.0},
    "sauc-toy-data": {"quick": 0.1, "full": 0.1},
    "sauc-toy": {"quick": 0.5, "full": 19.0},
    "sauc-real": {"quick": 1.2, "full": 45.0},
    "sauc-geometry": {"quick": 0.1, "full": 0.1},
    "sauc-neighbours": {"quick": 0.3, "full": 11.0},
    "sauc-lambda": {"quick": 0.1, "full": 0.2},
    "sht-synthetic": {"quick": 1.2, "full": 42.0},
    "sht-genes": {"quick": 4.1, "full": 52.0},
    "sht-convergence": {"quick": 0.3, "full": 3.2},
    "nonlinear-table-1": {"quick": 0.1, "full": 0.1},
    "nonlinear-batch": {"quick": 3.3, "full": 77.0},
    "nonlinear-online": {"quick": 0.8, "full": 49.0},
}
