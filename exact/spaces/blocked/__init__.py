"""Rows and kernel matrices in blocks: their sums, and whether a block is what it was before."""
