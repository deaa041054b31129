"""The names of the machines in SAUC, and the numbers that its tables print."""

from __future__ import annotations

from ...data.printed_numbers import numbers, printed

PAPER = "SAUC"

SVM, PLAIN, STRUCTURED, EXACT = "SVM", "AUC-SVM", "SAUC-SVM", "AUC-SVM, all pairs"
RAW, RAW_STRUCTURED = "AUC-SVM, raw units", "SAUC-SVM, raw units"

TOY = numbers(PAPER, "Table 1")  # Of each Gaussian: mean, two variances, covariance, rows.

AUC = printed(PAPER, "Table 3")
TASKS = [name for name in AUC if name != "average"]
