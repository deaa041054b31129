"""Sums in blocks: of rows, and products with kernel matrices, made again or held in tiles."""
