"""Moved to `benchmarks.exact.evaluation`; this address goes with version 0.3."""

from .exact.evaluation import main

if __name__ == "__main__":
    raise SystemExit(main())
