"""Moved to `benchmarks.approx.every_method`; this address goes with version 0.3."""

from .approx.every_method import main

if __name__ == "__main__":
    raise SystemExit(main())
