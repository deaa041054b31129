"""Moved to `benchmarks.exact.scale`; this address goes with version 0.3."""

from .exact.scale import main

if __name__ == "__main__":
    raise SystemExit(main())
