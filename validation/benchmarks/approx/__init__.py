"""Benchmarks of the approximations."""
