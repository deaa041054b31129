"""Checks of arguments, bounds of rounding, the one door to numba, writing files."""
