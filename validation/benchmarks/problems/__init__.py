"""What the benchmarks work on: rows drawn from a seed, and usual forms to compare with."""
