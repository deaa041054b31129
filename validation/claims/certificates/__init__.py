"""The claims of this project about its certificates beyond the papers' pairs.

Importing this package enters all of them:

    pair_problems   ordered pairs, partial AUC, the logistic loss, penalties: the interval holds
    statistics      DeLong's variance from placements is that of the pairs
"""

from __future__ import annotations

from . import pair_problems, statistics

MODULES = (pair_problems, statistics)
