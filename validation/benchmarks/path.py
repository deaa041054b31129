"""Moved to `benchmarks.exact.path`; this address goes with version 0.3."""

from .exact.path import main

if __name__ == "__main__":
    raise SystemExit(main())
