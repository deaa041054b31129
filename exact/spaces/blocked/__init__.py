"""Kernel matrices in blocks: products with them, and those that are made again or held in tiles."""
