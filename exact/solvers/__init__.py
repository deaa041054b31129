"""CLOSED to approx: one algorithm a file."""
