"""Moved to `benchmarks.exact.sweep`; this address goes with version 0.3."""

from .exact.sweep import main

if __name__ == "__main__":
    raise SystemExit(main())
