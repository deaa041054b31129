"""CLOSED to approx: what users call."""
