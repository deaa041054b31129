"""Moved to `benchmarks.exact.profile`; this address goes with version 0.3."""

from .exact.profile import main

if __name__ == "__main__":
    raise SystemExit(main())
