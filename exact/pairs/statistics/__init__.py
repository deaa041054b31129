"""Statistics of pairs: AUC, concordance, their standard errors, and comparisons."""
