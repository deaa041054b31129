"""Cuts of a bundle with what the data make of each: one product a cut, and the small problem."""
