"""Benchmarks of the exact solvers and of the certificate."""
