"""What the benchmarks measure with: the best of several times, and memory of processes."""
