"""Sums over ordered pairs without the pairs: a merge tree over the blocks of equal keys."""
