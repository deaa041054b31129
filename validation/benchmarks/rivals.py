"""Moved to `benchmarks.exact.rivals`; this address goes with version 0.3."""

from .exact.rivals import main

if __name__ == "__main__":
    raise SystemExit(main())
