"""Theorem 4 as printed, its readings, and Theorem 4'."""
