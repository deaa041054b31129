"""The names of the methods in SHT, and the numbers that its tables print."""

from __future__ import annotations

from ...data.printed_numbers import printed

PAPER = "SHT"

STARS = (20, 40, 60, 80)
METHODS = ("SHT-AUC", "SPAM-l1", "SPAM-l2", "FSAUC", "SOLAM", "StoIHT", "HSG-HT")
BOTH = "SPAM-l1/l2"

AUC = printed(PAPER, "Table I")
GENES = printed(PAPER, "Table III")
SETS = ("colon", "leukemia")
