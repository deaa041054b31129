"""The one door for data, bounds of rounding, threads, the one door to numba, writing files."""
