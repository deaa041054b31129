"""Sums over all pairs straight from the rows: one loop scores and counts, one scores and pulls."""
