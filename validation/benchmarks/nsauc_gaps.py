"""Moved to `benchmarks.approx.nsauc_gaps`; this address goes with version 0.3."""

from .approx.nsauc_gaps import main

if __name__ == "__main__":
    raise SystemExit(main())
