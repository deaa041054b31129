"""Counts by bin, and the sums of the rows of each bin: pairs in one pass over the rows."""
