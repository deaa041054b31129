"""Sums of smooth losses over all pairs: by one convolution, or as a product."""
